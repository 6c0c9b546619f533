"""Both rules at once: neither ahead nor at padding."""

from __future__ import annotations

import torch

from coursekit.exercises.a03_masking.shared import nines
from coursekit.exercises.question import Question


def decoder_mask(tokens, pad):
    """tokens (B, T) -> (B, 1, T, T), True where neither rule forbids it."""
    T = tokens.shape[-1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    return past & (tokens != pad)[:, None, None, :]


QUESTION = Question(
    name="decoder_mask",
    title="Two rules at once",
    points=3,
    difficulty=2,
    minutes=15,
    page="masking.html#sec-masking-combine",
    hint="You have both masks already. (T, T) and (B, 1, 1, T) broadcast to (B, 1, T, T); what is "
    "left is the right operator between them.",
    reference=decoder_mask,
    forbidden=("coursekit",),
    needs=("causal_mask", "padding_mask"),
)


@QUESTION.visible(says="one sentence, one place padded")
def one_sentence_one_place_padded(student):
    return student.decoder_mask(torch.tensor([[5, 3, 8, 0]]), 0)


@QUESTION.visible(says="three sentences, pad = 9")
def three_sentences_pad_9(student):
    return student.decoder_mask(nines(), 9)


@QUESTION.visible(says="padding on the left")
def padding_on_the_left(student):
    return student.decoder_mask(nines().flip(-1), 9)


QUESTION.mistake(
    "either rule is enough",
    old="past & ",
    new="past | ",
    hint="Your pairs need to pass one of the two rules. They must pass both: & in place of |.",
)

QUESTION.mistake(
    "padded queries do not look",
    old="[:, None, None, :]",
    new="[:, None, None, :] & (tokens != pad)[:, None, :, None]",
    hint="You forbid padded queries to look. Only what is seen counts; keys that are padding "
    "are forbidden, for every query. The rows of padded queries are not read by anybody.",
)

QUESTION.mistake(
    "padding on the axis of the queries",
    old="[:, None, None, :]",
    new="[:, None, :, None]",
    hint="Your padding lies along the queries: it does not look, but it is looked at. It "
    "belongs along the last axis, that of the keys.",
)

QUESTION.mistake(
    "transposed",
    old=".tril()",
    new=".triu()",
    hint="Your queries see themselves and what comes after them. Row t belongs to query t and "
    "should be True up to place t.",
)

QUESTION.mistake(
    "blind to itself",
    old=".tril()",
    new=".tril(-1)",
    hint="Your queries do not see their own place. The rule is key ≤ query, with equality.",
)

QUESTION.mistake(
    "polarity",
    old="past & (tokens != pad)[:, None, None, :]",
    new="~(past & (tokens != pad)[:, None, None, :])",
    hint="You mark what is forbidden. True means may attend.",
)

QUESTION.mistake(
    "no axis for the heads",
    old="[:, None, None, :]",
    new="[:, None, :]",
    hint="Your truth values are right, in (B, T, T). Scores are (B, H, T, T), and against them "
    "your B would be taken for the heads: put an axis of length 1 behind the batch.",
)
