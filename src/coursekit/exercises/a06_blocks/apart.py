"""How much of x tells its tokens apart."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def apart(x):
    """x (..., T, D) -> (...), which part of x tells its tokens apart."""
    rest = x - x.mean(dim=-2, keepdim=True)  # (..., T, D)
    return rest.norm(dim=(-2, -1)) / x.norm(dim=(-2, -1))


QUESTION = Question(
    name="apart",
    title="How many tokens are left?",
    points=2,
    difficulty=1,
    minutes=15,
    page="blocks.html#sec-blocks-collapse",
    hint="The mean token is a mean over the places, and stays a row, (..., 1, D). Subtract it, "
    "square, sum over the last two axes, take the root; divide by the same of x.",
    reference=apart,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="two tokens of two numbers")
def two_tokens_of_two_numbers(student):
    return student.apart(torch.tensor([[3.0, 1.0], [1.0, 3.0]]))


@QUESTION.visible(says="five tokens, width 3")
def five_tokens_width_3(student):
    return student.apart(randn(5, 3) + 1)


@QUESTION.visible(says="a batch of four sentences", weight=2)
def a_batch_of_four_sentences(student):
    return student.apart(randn(4, 6, 3) + 0.5)


@QUESTION.visible(says="twice the same token")
def twice_the_same_token(student):
    return student.apart(torch.tensor([[1.0, 2.0, -4.0], [1.0, 2.0, -4.0]]))


QUESTION.mistake(
    "mean of each token",
    old="mean(dim=-2",
    new="mean(dim=-1",
    hint="You subtract from each token the mean of its own numbers. The mean token is the mean "
    "over the tokens, axis -2.",
)

QUESTION.mistake(
    "one mean for all numbers",
    old="mean(dim=-2",
    new="mean(dim=(-2, -1)",
    hint="You subtract one number. The mean token is a vector: a mean over the tokens alone, "
    "axis -2, with keepdim=True.",
)

QUESTION.mistake(
    "not divided",
    old=" / x.norm(dim=(-2, -1))",
    new="",
    hint="You return the length of what differs, which doubles when the tokens double. Divide "
    "by the length of x.",
)

QUESTION.mistake(
    "squares for lengths",
    old="rest.norm(dim=(-2, -1)) / x.norm(dim=(-2, -1))",
    new="rest.square().sum(dim=(-2, -1)) / x.square().sum(dim=(-2, -1))",
    hint="Your number is the square of the right one. Lengths are asked for, so take roots.",
)

QUESTION.mistake(
    "divided by the mean token",
    old="/ x.norm",
    new="/ (x - rest).norm",
    hint="You divide by the common part. Divide by the length of x itself; then the result "
    "lies between 0 and 1.",
)

QUESTION.mistake(
    "a number for each token",
    old="rest.norm(dim=(-2, -1)) / x.norm(dim=(-2, -1))",
    new="rest.norm(dim=-1) / x.norm(dim=-1)",
    hint="You return a number for each token. Sum over tokens and width, both: (..., T, D) "
    "becomes (...).",
)

QUESTION.mistake(
    "one number for the batch",
    old="rest.norm(dim=(-2, -1)) / x.norm(dim=(-2, -1))",
    new="rest.norm() / x.norm()",
    hint="You take the norm of the whole batch. Each sentence has a number of its own: only "
    "the last two axes go.",
)
