"""AdamW and RAdam take the steps of torch's own, also with groups, gaps, and after a resume."""

import copy

import pytest
import torch
from torch import nn

from coursekit.training.optimisers import AdamW, RAdam

CHOICES = [
    {},
    {"lr": 0.1, "betas": (0.5, 0.6), "eps": 1e-3, "weight_decay": 0.3},
    {"lr": 0.02, "betas": (0.9, 0.98), "weight_decay": 0.0},
    {"lr": 0.02, "betas": (0.0, 0.0)},
]


def theirs(kind, parameters, **choices):
    if kind is AdamW:
        return torch.optim.AdamW(parameters, **choices)
    choices = {"weight_decay": 0.01} | choices
    return torch.optim.RAdam(parameters, decoupled_weight_decay=True, **choices)


def weights(seed=0):
    noise = torch.Generator().manual_seed(seed)
    return [nn.Parameter(torch.randn(4, 3, generator=noise).double()) for _ in range(3)]


def gradients(parameters, step, without=()):
    noise = torch.Generator().manual_seed(step)
    for number, parameter in enumerate(parameters):
        made = torch.randn(4, 3, generator=noise).double() * 10.0 ** (number - 1)
        parameter.grad = None if number in without else made


@pytest.mark.parametrize("kind", [AdamW, RAdam])
@pytest.mark.parametrize("choices", CHOICES)
def test_the_steps_of_torch(kind, choices):
    mine, others = weights(), weights()
    ours, peer = kind(mine, **choices), theirs(kind, others, **choices)
    for step in range(30):
        without = (1,) if step % 3 == 0 else ()  # a weight that was not used
        gradients(mine, step, without)
        gradients(others, step, without)
        ours.step()
        peer.step()
        for one, other in zip(mine, others):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [AdamW, RAdam])
def test_groups_and_a_resume(kind):
    mine, others = weights(), weights()
    groups = [{"params": mine[:1], "lr": 0.5}, {"params": mine[1:], "weight_decay": 0.0}]
    ours = kind(groups, lr=0.01)
    groups = [{"params": others[:1], "lr": 0.5}, {"params": others[1:], "weight_decay": 0.0}]
    peer = theirs(kind, groups, lr=0.01)
    for step in range(12):
        if step == 6:  # as if killed: only the state dict is left
            saved = copy.deepcopy(ours.state_dict())
            ours = kind([{"params": mine[:1]}, {"params": mine[1:]}], lr=9.0)
            ours.load_state_dict(saved)
        gradients(mine, step)
        gradients(others, step)
        ours.step()
        peer.step()
    for one, other in zip(mine, others):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [AdamW, RAdam])
@pytest.mark.parametrize("choices", CHOICES)
def test_complex_weights_take_the_steps_of_torch(kind, choices):
    """Both parts have a mean square of their own; also after a resume."""
    noise = torch.Generator().manual_seed(0)
    start = torch.randn(4, 3, generator=noise, dtype=torch.complex128)
    mine, other = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    ours, peer = kind([mine], **choices), theirs(kind, [other], **choices)
    for step in range(20):
        if step == 9:
            saved = copy.deepcopy(ours.state_dict())
            ours = kind([mine], **choices)
            ours.load_state_dict(saved)
        mine.grad = torch.randn(4, 3, generator=noise, dtype=torch.complex128) * 10 ** (step % 3)
        other.grad = mine.grad.clone()
        ours.step()
        peer.step()
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-12)


def test_radam_does_not_divide_at_first():
    small, large = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
    adam, radam = AdamW([small], lr=1.0, weight_decay=0.0), RAdam([large], lr=1.0)
    small.grad, large.grad = torch.tensor([1e-3]), torch.tensor([1e-3])
    adam.step(), radam.step()
    torch.testing.assert_close(small.detach(), torch.tensor([-1.0]), atol=1e-4, rtol=0)
    torch.testing.assert_close(large.detach(), torch.tensor([-1e-3]))


def test_the_first_step_is_as_long_as_the_rate_whatever_the_gradient():
    for size in (1e-4, 1.0, 1e4):
        weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
        weight.grad = torch.full((1,), size, dtype=torch.float64)
        AdamW([weight], lr=0.1, weight_decay=0.0).step()
        assert abs(weight.item() + 0.1) < 1e-4


def test_a_closure_is_called_with_gradients():
    weight = nn.Parameter(torch.ones(1))
    optimiser = AdamW([weight], lr=0.1)

    def closure():
        optimiser.zero_grad()
        loss = (weight**2).sum()
        loss.backward()
        return loss.item()

    assert optimiser.step(closure) == 1.0
    assert weight.item() < 1


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"betas": (float("nan"), 0.9)}, "betas must be at least 0 and below 1"),
        ({"betas": (0.9,)}, "betas must be at least 0 and below 1"),
        ({"betas": (0.9, 1.0)}, r"betas must be at least 0 and below 1, found \(0.9, 1.0\)"),
    ],
)
def test_bad_input_gets_a_sentence(choices, said):
    with pytest.raises(ValueError, match=said):
        AdamW(weights(), **choices)


def test_a_sparse_gradient_gets_a_sentence():
    words = nn.Embedding(5, 2, sparse=True)
    words(torch.tensor([1])).sum().backward()
    with pytest.raises(TypeError, match="sparse"):
        AdamW(words.parameters()).step()


def test_a_smaller_beta_2_forgets_a_loud_gradient_sooner():
    pace = {}
    for beta in (0.98, 0.999):
        weight = nn.Parameter(torch.zeros((), dtype=torch.float64))
        optimiser = AdamW([weight], lr=1.0, betas=(0.9, beta), weight_decay=0.0)
        for step in range(400):
            weight.grad = torch.tensor(30.0 if step == 200 else 1.0, dtype=torch.float64)
            before = weight.item()
            optimiser.step()
        pace[beta] = before - weight.item()  # the last step, 200 behind the loud one
    assert pace[0.98] > 0.8 > pace[0.999] + 0.1
