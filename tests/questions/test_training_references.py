"""What assignment 9 calls right is what the course's own optimisers and torch's clip do."""

from __future__ import annotations

import math

import ours
import pytest
import torch
from torch import nn

from coursekit.check.probe import randn
from coursekit.training.optimisers import AdamW, RAdam

RIGHT = {question.name: question.reference for question in ours.load("a09_training").questions}
STEPS = 12
SETTINGS = [
    {},
    {"lr": 0.1, "betas": (0.5, 0.75), "eps": 0.5, "decay": 0.2},
    {"lr": 0.03, "betas": (0.9, 0.98), "eps": 1e-9, "decay": 0.0},
]


def gradient(step):
    return (1 + step % 3) * randn(4, 3, seed=step, dtype=torch.float64)


def trained(optimiser, weight):
    """Yield the weights after each step of one of the course's optimisers."""
    for step in range(1, STEPS + 1):
        weight.grad = gradient(step)
        optimiser.step()
        yield weight.detach().clone()


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_step_of_adamw_is_that_of_the_course(settings):
    w = randn(4, 3, dtype=torch.float64)
    given = {"lr": 1e-3, "decay": 0.01, **settings}
    weight = nn.Parameter(w.clone())
    decay = {"weight_decay": given["decay"]}
    ours = AdamW([weight], **{k: x for k, x in given.items() if k != "decay"}, **decay)
    m = v = torch.zeros_like(w)
    for step, expected in enumerate(trained(ours, weight), 1):
        w, m, v = RIGHT["adamw_step"](w, gradient(step), m, v, step, **given)
        torch.testing.assert_close(w, expected, rtol=1e-12, atol=1e-12)


def test_trust_times_adam_is_radam():
    w, beta2 = randn(4, 3, dtype=torch.float64), 0.9
    weight = nn.Parameter(w.clone())
    m, v, divided = torch.zeros_like(w), torch.zeros_like(w), 0
    ours = RAdam([weight], lr=0.1, betas=(0.8, beta2), eps=0.0, weight_decay=0.0)
    for step, expected in enumerate(trained(ours, weight), 1):
        known, factor = RIGHT["trust"](step, beta2)
        m, v = 0.8 * m + 0.2 * gradient(step), beta2 * v + (1 - beta2) * gradient(step) ** 2
        move = m / (1 - 0.8**step)
        if factor is not None:
            divided += 1
            move = factor * move / (v / (1 - beta2**step)).sqrt()
        w = w - 0.1 * move
        assert (known > 5) == (factor is not None)
        torch.testing.assert_close(w, expected, rtol=1e-10, atol=1e-10)
    assert 0 < divided < STEPS


@pytest.mark.parametrize("limit", [0.5, 3.0, 100.0])
def test_a_clip_is_torchs(limit):
    weights = {name: nn.Parameter(randn(*shape)) for name, shape in (("a", (5, 2)), ("b", (3,)))}
    for seed, weight in enumerate(weights.values()):
        weight.grad = 2 * randn(*weight.shape, seed=seed)
    given = {name: weight.grad.clone() for name, weight in weights.items()}
    clipped, norm = RIGHT["clip_together"](given, limit)
    assert math.isclose(norm, nn.utils.clip_grad_norm_(weights.values(), limit), rel_tol=1e-6)
    for name, weight in weights.items():
        torch.testing.assert_close(clipped[name], weight.grad)
