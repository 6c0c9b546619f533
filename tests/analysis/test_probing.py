"""A linear probe: the minimum that it claims, and a scale that does not matter."""

import pytest
import torch
import torch.nn.functional as F

from coursekit.analysis.probing import linear_probe, tuned_probe


def data(number=60, width=3, classes=3, seed=0):
    coin = torch.Generator().manual_seed(seed)
    x = torch.randn(number, width, generator=coin).double()
    true = torch.randn(classes, width, generator=torch.Generator().manual_seed(9)).double()
    noise = torch.randn(number, classes, generator=coin).double()
    return x, (x @ true.T + noise).argmax(dim=1)


def test_the_gradient_is_zero_at_what_it_finds():
    x, y = data()
    probe = linear_probe(x, y, classes=3, decay=0.1)
    weight, bias = (part.clone().requires_grad_() for part in (probe.weight, probe.bias))
    z = (x - x.mean(0)) / x.std(0, correction=0)
    loss = F.cross_entropy(z @ weight.T + bias, y) + 0.05 * weight.square().sum()
    for gradient in torch.autograd.grad(loss, (weight, bias)):
        assert gradient.abs().max() < 1e-4


def test_scale_and_place_of_a_feature_do_not_matter():
    x, y = data()
    moved = x * torch.tensor([1e3, 1e-2, 1.0]) + torch.tensor([5.0, -2.0, 100.0])
    one, other = (linear_probe(some, y, classes=3) for some in (x, moved))
    torch.testing.assert_close(one.scores(x), other.scores(moved), rtol=1e-3, atol=1e-3)


def test_a_feature_that_never_changes_is_left_out():
    x, y = data()
    probe = linear_probe(torch.cat([x, torch.full((60, 1), 7.0)], dim=1), y, classes=3)
    assert probe.weight[:, 3].abs().max() == 0
    same = linear_probe(x, y, classes=3)
    new = torch.cat([x, torch.full((60, 1), -50.0)], dim=1)  # it does change later
    torch.testing.assert_close(probe.scores(new), same.scores(x), rtol=1e-3, atol=1e-3)


def test_what_a_line_can_part_is_found():
    x, _ = data()
    y = (x[:, 0] > 0).long()
    assert linear_probe(x, y, classes=2, decay=1e-4).accuracy(x, y) == 1


def test_the_decay_is_chosen_on_other_data():
    train, valid = data(30, width=8), data(500, width=8, seed=1)
    decays = (1e-4, 1e-2, 1.0)
    probe, decay = tuned_probe(train, valid, classes=3, decays=decays)
    fitted = {d: linear_probe(*train, classes=3, decay=d) for d in decays}
    scores = {d: one.accuracy(*valid) for d, one in fitted.items()}
    assert scores[decay] == max(scores.values()) == probe.accuracy(*valid)
    assert len(set(scores.values())) == 3
    learned = {d: one.accuracy(*train) for d, one in fitted.items()}
    assert learned[decay] < max(learned.values())  # the training data would choose another
    constant = (torch.zeros(5, 2), torch.zeros(5, dtype=torch.int64))
    assert tuned_probe(constant, constant, classes=2, decays=decays)[1] == 1.0  # of equals


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"features": torch.zeros(3)}, r"found \(3,\) and \(4,\)"),
        ({"features": torch.zeros(3, 2)}, r"found \(3, 2\) and \(4,\)"),
        ({"features": torch.zeros(4, 0)}, r"found \(4, 0\)"),
    ],
)
def test_bad_input_gets_a_sentence(change, sentence):
    given = {"features": torch.zeros(4, 2), "labels": torch.zeros(4, dtype=torch.int64)}
    with pytest.raises(ValueError, match=sentence):
        linear_probe(**(given | {"classes": 2} | change))


def test_no_decay_at_all_is_refused():
    with pytest.raises(ValueError, match="at least one value"):
        tuned_probe(data(), data(), classes=3, decays=())
