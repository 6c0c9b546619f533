"""Clipping against its definition, against torch, and against what `train` does."""

import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

from coursekit.training.gradients import clip_gradients


def two_alike() -> list[nn.Module]:
    made = []
    for _ in range(2):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3), nn.Linear(3, 3))
        net[2](net[1](net[0](torch.randn(6, 5)))).square().sum().backward()  # the last has none
        made.append(net)
    return made


@pytest.mark.parametrize("largest", [1e-3, 0.5, 1e6])
def test_it_is_torchs(largest):
    ours, theirs = two_alike()
    found = clip_gradients(ours, largest)
    torch.testing.assert_close(found, clip_grad_norm_(theirs.parameters(), largest))
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert (mine.grad is None) == (other.grad is None)
        if mine.grad is not None:
            torch.testing.assert_close(mine.grad, other.grad)


def test_it_shortens_and_keeps_the_direction():
    weights = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(()))]
    weights[0].grad, weights[1].grad = torch.tensor([3.0, 0.0]), torch.tensor(4.0)
    assert clip_gradients(iter(weights), 10.0) == 5
    assert weights[0].grad.tolist() == [3, 0] and weights[1].grad == 4  # short enough
    assert clip_gradients(weights, 1.0) == 5
    torch.testing.assert_close(weights[0].grad, torch.tensor([0.6, 0.0]), atol=1e-5, rtol=0)
    torch.testing.assert_close(weights[1].grad, torch.tensor(0.8), atol=1e-5, rtol=0)


def test_without_gradients_there_is_nothing_to_do():
    assert clip_gradients([nn.Parameter(torch.ones(2))], 1.0) == 0
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.zeros(2)
    assert clip_gradients([weight], 1.0) == 0 and weight.grad.tolist() == [0, 0]
