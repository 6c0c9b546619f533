"""Nobody looks at padding."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.a03_masking.shared import nines
from coursekit.exercises.question import Question


def padding_mask(tokens, pad):
    """tokens (B, S) -> (B, 1, 1, S), True where a token is real."""
    return (tokens != pad)[:, None, None, :]


QUESTION = Question(
    name="padding_mask",
    title="What is not there",
    points=2,
    difficulty=1,
    minutes=10,
    page="masking.html#sec-masking-padding",
    hint="Compare first: a token is real where it is not pad. Then give the result, (B, S), two "
    "axes of length 1 in the middle, for the heads and for the queries; None in an index does it.",
    reference=padding_mask,
    forbidden=("coursekit",),
)


def _right() -> Tensor:
    return torch.tensor([[5, 3, 8, 2], [7, 1, 0, 0]])  # 0 is padding


@QUESTION.visible(says="two sentences, pad = 0")
def two_sentences_pad_0(student):
    return student.padding_mask(_right(), 0)


@QUESTION.visible(says="three sentences, pad = 9")
def three_sentences_pad_9(student):
    return student.padding_mask(nines(), 9)


@QUESTION.visible(says="padding on the left")
def padding_on_the_left(student):
    return student.padding_mask(_right().flip(-1), 0)


QUESTION.mistake(
    "polarity",
    old="tokens != pad",
    new="tokens == pad",
    hint="You mark the padding itself. True means may attend: mark what is real.",
)

QUESTION.mistake(
    "the axis of the queries",
    old="[:, None, None, :]",
    new="[:, None, :, None]",
    hint="Your tokens lie along the queries, (B, 1, S, 1). Then padding does not ask, but it is "
    "still seen by everybody. The last axis is that of the keys: (B, 1, 1, S).",
)

QUESTION.mistake(
    "queries as well",
    old="return (tokens != pad)[:, None, None, :]",
    new=("real = tokens != pad\n    return (real[:, :, None] & real[:, None, :])[:, None]"),
    hint="You also forbid padded queries to look. Nobody reads what they compute, so nothing is "
    "gained, and their rows are left with nothing to attend to. Mask the keys only: "
    "(B, 1, 1, S).",
)

QUESTION.mistake(
    "two axes only",
    old="[:, None, None, :]",
    new="",
    hint="The truth values are right, but (B, S) does not fit the scores (B, H, T, S): "
    "broadcasting starts at the last axis and would take B for the queries. Put two axes "
    "of length 1 in between.",
)

QUESTION.mistake(
    "one axis short",
    old="[:, None, None, :]",
    new="[:, None, :]",
    hint="(B, 1, S) lacks an axis. Against scores (B, H, T, S) your B would be taken for the "
    "heads. One axis of length 1 for the heads and one for the queries: (B, 1, 1, S).",
)

QUESTION.mistake(
    "zero taken for padding",
    old="tokens != pad",
    new="tokens != 0",
    hint="You compare with 0. Which token is the padding is told by pad; in the second case it "
    "is 9, and 0 is a word.",
)
