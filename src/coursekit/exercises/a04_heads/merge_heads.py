"""Heads are joined to the width again."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def merge_heads(x):
    """x (B, H, T, Dh) -> (B, T, H·Dh)."""
    return x.transpose(1, 2).flatten(-2)


QUESTION = Question(
    name="merge_heads",
    title="Side by side again",
    points=2,
    difficulty=1,
    minutes=10,
    page="heads.html#sec-heads-split",
    hint="The way back, in reverse order: first swap heads and places, (B, T, H, Dh), then make "
    "one axis of the last two. flatten and reshape do that; view refuses what lies apart in "
    "memory.",
    reference=merge_heads,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="two heads of width 2, three places")
def two_heads_of_width_2_three(student):
    return student.merge_heads(torch.arange(12.0).reshape(1, 2, 3, 2))


@QUESTION.visible(says="two sentences, three heads of width 4")
def two_sentences_three_heads_of_width(student):
    return student.merge_heads(randn(2, 3, 5, 4))


@QUESTION.visible(says="six heads of width 1")
def six_heads_of_width_1(student):
    return student.merge_heads(randn(2, 6, 3, 1, seed=1))


QUESTION.mistake(
    "reshaped without a transpose",
    old="x.transpose(1, 2).flatten(-2)",
    new="x.reshape(x.shape[0], x.shape[2], -1)",
    hint="Your shape is right and your numbers are in the wrong places: reshape keeps their "
    "order, so one row of yours holds several places of one head. Swap heads and places "
    "first.",
)

QUESTION.mistake(
    "columns dealt out in turn",
    old=".transpose(1, 2)",
    new=".permute(0, 2, 3, 1)",
    hint="You take one column of each head in turn. The heads stand side by side, each with "
    "all its columns: (B, T, H, Dh) before the last two axes become one.",
)

QUESTION.mistake(
    "heads added up",
    old="x.transpose(1, 2).flatten(-2)",
    new="x.sum(dim=1)",
    hint="You add the heads up. Here they only stand side by side; the adding up is done by "
    "the matrix that comes after.",
)

QUESTION.mistake(
    "heads averaged",
    old="x.transpose(1, 2).flatten(-2)",
    new="x.mean(dim=1)",
    hint="You average the heads, and with that they are one head again. They stand side by "
    "side, H times as wide as each.",
)

QUESTION.mistake(
    "joined along the batch",
    old="x.transpose(1, 2).flatten(-2)",
    new="torch.concat([x[:, head] for head in range(x.shape[1])])",
    hint="Your heads are joined along the first axis, the batch: that is where torch.concat "
    "joins unless it is told dim=-1. (One lecture deck fell into it too.)",
)

QUESTION.mistake(
    "joined along the places",
    old="x.transpose(1, 2).flatten(-2)",
    new="x.flatten(1, 2)",
    hint="Your heads stand one behind the other, as H times as many places. They should stand "
    "side by side: T rows, H·Dh columns.",
)
