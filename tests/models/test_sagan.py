"""SelfAttention2d: the paper's equations as a loop, γ = 0 is the identity, spectral norm."""

import pytest
import torch

from coursekit.models.sagan import SelfAttention2d


def layer(gamma: float = 0.7, **changes) -> SelfAttention2d:
    torch.manual_seed(0)
    net = SelfAttention2d(**({"channels": 8, "reduction": 4} | changes)).double()
    with torch.no_grad():
        net.gamma.fill_(gamma)
    return net.eval()  # in training each call improves the estimate of the singular values


def maps(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=torch.double)


@pytest.mark.parametrize("spectral", [True, False])
@pytest.mark.parametrize("value_reduction", [None, 2])
def test_it_is_what_the_paper_says_written_out(spectral, value_reduction):
    """Equations 1 to 3 of the paper, one pair of places at a time."""
    net = layer(spectral_norm=spectral, value_reduction=value_reduction)
    x = maps(2, 8, 2, 3)
    y, weights = net(x), net.weights(x)
    matrices = (net.key.weight, net.query.weight, net.value.weight, net.out.weight)
    Wf, Wg, Wh, Wv = (weight[:, :, 0, 0] for weight in matrices)
    for b in range(2):
        places = [x[b, :, row, column] for row in range(2) for column in range(3)]
        for j, xj in enumerate(places):
            s = torch.stack([(Wf @ xi) @ (Wg @ xj) for xi in places])
            beta = s.exp() / s.exp().sum()
            o = Wv @ sum(share * (Wh @ xi) for share, xi in zip(beta, places))
            torch.testing.assert_close(y[b, :, j // 3, j % 3], net.gamma * o + xj)
            torch.testing.assert_close(weights[b, j], beta)


@pytest.mark.parametrize("pool", [True, False])
def test_weights_are_shares_of_all_positions(pool):
    net = layer(pool=pool)
    weights = net.weights(maps(2, 8, 4, 6))
    assert weights.shape == (2, 24, 6 if pool else 24)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 24).double())


def test_gamma_zero_is_the_identity_and_gamma_learns_first():
    net = SelfAttention2d(channels=8).double()
    assert net.gamma.item() == 0 and net.gamma.requires_grad
    x = maps(2, 8, 3, 5).requires_grad_()
    y = net(x)
    assert torch.equal(y, x)
    (y * maps(2, 8, 3, 5).flip(0)).sum().backward()
    assert net.gamma.grad.abs() > 0
    others = {name: p.grad for name, p in net.named_parameters() if name != "gamma"}
    assert all(grad.eq(0).all() for grad in others.values())
    with torch.no_grad():
        net.gamma.fill_(0.5)
    net(x).square().sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in net.parameters())


def test_numerical_gradients():
    net = layer(channels=4, reduction=2)
    x = maps(1, 4, 2, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, _: net(x), (x, net.gamma))


def test_every_place_reaches_every_place_and_their_order_does_not_matter():
    net = layer()
    x = maps(1, 8, 3, 4)
    changed = x.clone()
    changed[0, :, 2, 3] += 1
    difference = (net(changed) - net(x)).abs().sum(1)
    assert difference.gt(1e-9).all()  # a 3×3 convolution would have changed four places
    order = torch.randperm(12, generator=torch.Generator().manual_seed(2))
    moved = x.flatten(2)[:, :, order].unflatten(2, (3, 4))
    torch.testing.assert_close(net(moved), net(x).flatten(2)[:, :, order].unflatten(2, (3, 4)))


def test_a_batch_equals_its_items_and_one_place_works():
    net = layer()
    x = maps(3, 8, 2, 2)
    for i in range(3):
        torch.testing.assert_close(net(x)[i : i + 1], net(x[i : i + 1]))
    x = maps(1, 8, 1, 1)
    single = net.out(net.value(x))
    torch.testing.assert_close(net(x), net.gamma * single + x)


def test_spectral_norm_makes_the_largest_singular_value_one():
    net = SelfAttention2d(channels=16, reduction=2).double().train()
    for _ in range(50):
        net(maps(1, 16, 2, 2))  # each call refines the power iteration
    for part in (net.key, net.query, net.value, net.out):
        largest = torch.linalg.svdvals(part.weight[:, :, 0, 0])[0]
        assert largest.item() == pytest.approx(1, abs=1e-3)
    plain = SelfAttention2d(channels=16, spectral_norm=False)
    assert {name for name, _ in plain.named_parameters()} == {
        "key.weight",
        "query.weight",
        "value.weight",
        "out.weight",
        "gamma",
    }


def test_sizes_of_the_paper():
    """C / 8 channels for f, g and h; the paper's code has C / 2 for h."""

    def count(**changes):
        with torch.device("meta"):
            net = SelfAttention2d(channels=64, **changes)
        return sum(p.numel() for p in net.parameters())

    assert count() == 4 * 64 * 8 + 1
    assert count(value_reduction=2, pool=True) == 2 * 64 * 8 + 2 * 64 * 32 + 1


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="must divide the channels, found 8, 8 and 12"):
        SelfAttention2d(channels=12)
