"""The width is cut into heads."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def split_heads(x, heads):
    """x (B, T, H·Dh) -> (B, H, T, Dh)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


QUESTION = Question(
    name="split_heads",
    title="Cut the width",
    points=2,
    difficulty=1,
    minutes=10,
    page="heads.html#sec-heads-split",
    hint="Two steps. Cut the last axis in two, (B, T, H, Dh), which moves nothing; then swap the "
    "axes of the places and of the heads.",
    reference=split_heads,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="two places, width 4, two heads")
def two_places_width_4_two_heads(student):
    return student.split_heads(torch.arange(8.0).reshape(1, 2, 4), 2)


@QUESTION.visible(says="two sentences, five places, width 12, three heads")
def two_sentences_five_places_width_12(student):
    return student.split_heads(randn(2, 5, 12), 3)


@QUESTION.visible(says="six places, width 12, six heads")
def six_places_width_12_six_heads(student):
    return student.split_heads(randn(1, 6, 12, seed=1), 6)


QUESTION.mistake(
    "reshaped without a transpose",
    old="x.unflatten(-1, (heads, -1)).transpose(1, 2)",
    new="x.reshape(x.shape[0], heads, x.shape[1], -1)",
    hint="Your shape is right and your numbers are in the wrong places: reshape keeps the order "
    "of the numbers, so your first head holds the whole width of the first words and not "
    "the first columns of all words. Cut the last axis alone, then transpose.",
)

QUESTION.mistake(
    "not transposed",
    old=".transpose(1, 2)",
    new="",
    hint="You have cut the width, (B, T, H, Dh). Attention takes the last two axes for places "
    "and width, so the heads must move in front of the places: transpose(1, 2).",
)

QUESTION.mistake(
    "columns dealt out in turn",
    old="(heads, -1)).transpose(1, 2)",
    new="(-1, heads)).permute(0, 3, 1, 2)",
    hint="You deal the columns out like cards: the first head gets columns 0, H, 2H … A head "
    "holds neighbours: the first Dh columns, the next Dh, and so on.",
)

QUESTION.mistake(
    "heads taken for the width of a head",
    old="(heads, -1)",
    new="(-1, heads)",
    hint="heads is how many there are; you take it for the width of each. The width of a head "
    "is the whole width divided by heads.",
)

QUESTION.mistake(
    "heads before the batch",
    old="x.unflatten(-1, (heads, -1)).transpose(1, 2)",
    new="torch.stack(x.chunk(heads, dim=-1))",
    hint="Your heads are the first axis. The batch stays in front: (B, H, T, Dh).",
)

QUESTION.mistake(
    "the sequence cut in place of the width",
    old="x.unflatten(-1, (heads, -1)).transpose(1, 2)",
    new="x.reshape(x.shape[0], heads, -1, x.shape[-1])",
    hint="You cut the sequence into pieces. Every head sees all the places, and of each a piece "
    "of its width: cut the last axis.",
)
