"""Gradients, no longer than a limit all together."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def clip_together(gradients, limit):
    """Return the gradients, no longer than limit all together, and how long they were."""
    norm = math.sqrt(sum(g.square().sum().item() for g in gradients.values()))
    factor = limit / norm if norm > limit else 1.0
    return {name: factor * g for name, g in gradients.items()}, norm


def three_gradients(seed: int = 0, scale: float = 1.0) -> dict[str, Tensor]:
    """Return gradients of three shapes and of three sizes."""
    return {
        "embed": scale * 3 * randn(4, 3, seed=seed),
        "weight": scale * randn(2, 3, 2, seed=seed + 1),
        "bias": scale * 0.1 * randn(5, seed=seed + 2),
    }


@visible("3 and 4 in two tensors, limit 1")
def case_3_and_4_in_two_tensors(student):
    return student.clip_together({"a": torch.tensor([3.0]), "b": torch.tensor([4.0])}, 1.0)


@visible("a norm below the limit")
def a_norm_below_the_limit(student):
    return student.clip_together({"a": torch.tensor([0.3, -0.4])}, 2.0)


@visible("three tensors, limit 2")
def three_tensors_limit_2(student):
    return student.clip_together(three_gradients(), 2.0)


@visible("what was given stays as it was")
def what_was_given_stays_as_it(student):
    return after(student.clip_together, three_gradients(3), 0.5)


@hidden("the direction stays", weight=2)
def clip_direction(student):
    given = {"a": randn(3, 4, seed=51), "b": 30 * randn(7, seed=52), "c": randn(2, seed=53)}
    clipped, norm = student.clip_together(given, 1.5)
    before, behind = (torch.cat([d[name].flatten() for name in "abc"]) for d in (given, clipped))
    assert abs(float(F.cosine_similarity(before, behind, dim=0)) - 1) < 1e-5
    assert abs(float(behind.norm()) - 1.5) < 1e-4
    return clipped, norm


@hidden("all gradients zero")
def clip_zero(student):
    return student.clip_together({"w": torch.zeros(2, 3), "b": torch.zeros(3)}, 0.7)


@hidden("each tensor below the limit, all together above", weight=2)
def clip_many(student):
    return student.clip_together({f"layer{n}": torch.full((2,), 0.5) for n in range(20)}, 1.0)


@hidden("a norm that equals the limit")
def clip_equal(student):
    return student.clip_together({"x": torch.tensor([6.0, 0.0]), "y": torch.tensor([[8.0]])}, 10.0)


@hidden("a single number, negative")
def clip_scalar(student):
    return student.clip_together({"scale": torch.tensor(-20.0)}, 4.0)


@hidden("the gradients are left as they were")
def clip_keeps(student):
    return after(student.clip_together, {"w": randn(3, 2, seed=55), "b": randn(4, seed=56)}, 0.9)


@hidden("double precision stays double")
def clip_double(student):
    given = {"u": randn(5, seed=54, dtype=torch.float64), "v": randn(2, 2, dtype=torch.float64)}
    return student.clip_together(given, 0.1)


@hidden("gradients of several sizes, together below the limit", weight=2)
def clip_below(student):
    return student.clip_together(three_gradients(57, scale=0.05), 1.0)
