"""Gradients, no longer than a limit all together."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question

READY_CLIP = ("torch.nn.utils", "coursekit")


def clip_together(gradients, limit):
    """Return the gradients, no longer than limit all together, and how long they were."""
    norm = math.sqrt(sum(g.square().sum().item() for g in gradients.values()))
    factor = limit / norm if norm > limit else 1.0
    return {name: factor * g for name, g in gradients.items()}, norm


QUESTION = Question(
    name="clip_together",
    title="Shorter, and in the same direction",
    points=3,
    difficulty=2,
    minutes=20,
    page="training.html#sec-training-clipping",
    hint="Add the squares of all numbers of all tensors, take one root: that is the norm. If it is "
    "above the limit, multiply every tensor by the one factor limit / norm, else by 1.",
    reference=clip_together,
    forbidden=READY_CLIP,
)


def three_gradients(seed: int = 0, scale: float = 1.0) -> dict[str, Tensor]:
    """Return gradients of three shapes and of three sizes."""
    return {
        "embed": scale * 3 * randn(4, 3, seed=seed),
        "weight": scale * randn(2, 3, 2, seed=seed + 1),
        "bias": scale * 0.1 * randn(5, seed=seed + 2),
    }


@QUESTION.visible(says="3 and 4 in two tensors, limit 1")
def case_3_and_4_in_two_tensors(student):
    return student.clip_together({"a": torch.tensor([3.0]), "b": torch.tensor([4.0])}, 1.0)


@QUESTION.visible(says="a norm below the limit")
def a_norm_below_the_limit(student):
    return student.clip_together({"a": torch.tensor([0.3, -0.4])}, 2.0)


@QUESTION.visible(says="three tensors, limit 2")
def three_tensors_limit_2(student):
    return student.clip_together(three_gradients(), 2.0)


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays_as_it(student):
    return after(student.clip_together, three_gradients(3), 0.5)


QUESTION.mistake(
    "each tensor by itself",
    old="factor * g",
    new="g * min(1.0, limit / g.norm())",
    hint="You bring each tensor below the limit by itself, so large ones shrink and small ones "
    "do not, and the step points elsewhere. There is one norm, over all tensors, and one "
    "factor.",
)

QUESTION.mistake(
    "each number by itself",
    old="factor * g",
    new="g.clamp(-limit, limit)",
    hint="You cut each number at the limit. That changes the direction; here the whole "
    "gradient is made shorter, by one factor.",
)

QUESTION.mistake(
    "small ones made larger",
    old=" if norm > limit else 1.0",
    new="",
    hint="You bring every gradient to the limit, small ones too: at the end of a training that "
    "would blow noise up. A norm that is not above the limit changes nothing.",
)

QUESTION.mistake(
    "norms added",
    old="math.sqrt(sum(g.square().sum().item() for g in gradients.values()))",
    new="sum(g.norm().item() for g in gradients.values())",
    hint="You add the norms of the tensors. Add their squares and take the root at the end: "
    "3 and 4 make 5, not 7.",
)

QUESTION.mistake(
    "no root",
    old="math.sqrt(sum(g.square().sum().item() for g in gradients.values()))",
    new="sum(g.square().sum().item() for g in gradients.values())",
    hint="You compare the sum of squares with the limit. Its root is the norm.",
)

QUESTION.mistake(
    "the mean of squares",
    old="math.sqrt(sum(g.square().sum().item() for g in gradients.values()))",
    new="torch.cat([g.flatten() for g in gradients.values()]).square().mean().sqrt().item()",
    hint="You take the root of the mean of squares, the size of a typical number. The norm is "
    "the root of their sum, and grows with the model.",
)

QUESTION.mistake(
    "the largest number",
    old="math.sqrt(sum(g.square().sum().item() for g in gradients.values()))",
    new="max(g.abs().max().item() for g in gradients.values())",
    hint="You take the largest number for the norm. All numbers count: the root of the sum of "
    "squares.",
)

QUESTION.mistake(
    "thrown away",
    old="limit / norm if norm > limit else 1.0",
    new="float(norm <= limit)",
    hint="A gradient above the limit is set to zero in yours. It is made shorter, to the limit "
    "exactly, and used.",
)

QUESTION.mistake(
    "the norm afterwards",
    old="}, norm",
    new="}, min(norm, limit)",
    hint="The gradients are right. The norm to return is that before clipping: afterwards it "
    "would hardly ever tell anything but the limit.",
)

QUESTION.mistake(
    "changed in place",
    old="factor * g",
    new="g.mul_(factor)",
    hint="The values are right, and the tensors that you were given have changed. Make new "
    "ones: g * factor, not g *= factor or g.mul_().",
)
