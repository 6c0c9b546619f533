"""Assignment 3, to the page "Masking": who may look at whom, a row that may look at nobody, and a
window that never pays for what it may not see.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a03_masking.py`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit import masks
from coursekit.assignments.forbidden import LIBRARY
from coursekit.attention import masked_softmax
from coursekit.exercises.mistakes import a03_masking as wrong
from coursekit.exercises.probe import gradients, randn
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written
from coursekit.local import local_attention

# --- causal_mask


CAUSAL = Question(
    name="causal_mask",
    title="Not ahead",
    points=2,
    difficulty=1,
    minutes=10,
    hint="The keys stand at the places 0 to S - 1, the queries at the last T of them: S - T to "
    "S - 1. With the queries as a column (T, 1) and the keys as a row (1, S) the mask is one "
    "comparison.",
    page="masking.html#sec-masking-causal",
    reference=masks.causal,
    cases=(
        Case("four queries, four keys", lambda student: student.causal_mask(4, 4)),
        Case("two new queries, five keys", lambda student: student.causal_mask(2, 5)),
        Case("the newest query alone, six keys", lambda student: student.causal_mask(1, 6)),
    ),
    misconceptions=(
        Misconception(
            "transposed",
            wrong.causal_transposed,
            "Your triangle is the other one: the queries see themselves and what comes after them. "
            "Rows are queries, columns are keys, and a key may be seen if it stands at or before "
            "the query.",
        ),
        Misconception(
            "blind to itself",
            wrong.causal_not_itself,
            "Your triangle is one place too small: a query does not see its own place, and the "
            "first sees nothing at all. The rule is key ≤ query, with equality.",
        ),
        Misconception(
            "one place ahead",
            wrong.causal_one_ahead,
            "Your triangle is one place too large: each query sees the key after its own, and that "
            "is the very token which it has to guess.",
        ),
        Misconception(
            "counted from the start",
            wrong.causal_from_the_start,
            "Right where T = S. With fewer queries than keys, yours stand at the first T places; "
            "they are the newest, the last T. The triangle moves to the right by S - T.",
        ),
        Misconception(
            "polarity",
            wrong.causal_polarity,
            "You mark what is forbidden. In this course True means may attend (torch itself uses "
            "both conventions, so look twice).",
        ),
        Misconception(
            "numbers for truth values",
            wrong.causal_numbers,
            "The pattern is right, but it is made of the numbers 0 and 1. A mask is boolean: "
            "compare, or give dtype=torch.bool.",
        ),
        Misconception(
            "zero and minus infinity",
            wrong.causal_infinities,
            "This is the M of the papers, to be added to the scores. Here the mask is boolean, "
            "True = may attend; minus infinity comes in later.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- padding_mask


def _right() -> Tensor:
    return torch.tensor([[5, 3, 8, 2], [7, 1, 0, 0]])  # 0 is padding


def _nines() -> Tensor:
    """9 is padding, 0 is not."""
    return torch.tensor([[0, 3, 0, 9, 9], [4, 0, 2, 1, 6], [0, 9, 9, 9, 9]])


PADDING = Question(
    name="padding_mask",
    title="What is not there",
    points=2,
    difficulty=1,
    minutes=10,
    hint="Compare first: a token is real where it is not pad. Then give the result, (B, S), two "
    "axes of length 1 in the middle, for the heads and for the queries; None in an index does it.",
    page="masking.html#sec-masking-padding",
    reference=masks.padding,
    cases=(
        Case("two sentences, pad = 0", lambda student: student.padding_mask(_right(), 0)),
        Case("three sentences, pad = 9", lambda student: student.padding_mask(_nines(), 9)),
        Case("padding on the left", lambda student: student.padding_mask(_right().flip(-1), 0)),
    ),
    misconceptions=(
        Misconception(
            "polarity",
            wrong.padding_polarity,
            "You mark the padding itself. True means may attend: mark what is real.",
        ),
        Misconception(
            "the axis of the queries",
            wrong.padding_of_queries,
            "Your tokens lie along the queries, (B, 1, S, 1). Then padding does not ask, but it is "
            "still seen by everybody. The last axis is that of the keys: (B, 1, 1, S).",
        ),
        Misconception(
            "queries as well",
            wrong.padding_both_ways,
            "You also forbid padded queries to look. Nobody reads what they compute, so nothing is "
            "gained, and their rows are left with nothing to attend to. Mask the keys only: "
            "(B, 1, 1, S).",
        ),
        Misconception(
            "two axes only",
            wrong.padding_two_axes,
            "The truth values are right, but (B, S) does not fit the scores (B, H, T, S): "
            "broadcasting starts at the last axis and would take B for the queries. Put two axes "
            "of length 1 in between.",
        ),
        Misconception(
            "one axis short",
            wrong.padding_three_axes,
            "(B, 1, S) lacks an axis. Against scores (B, H, T, S) your B would be taken for the "
            "heads. One axis of length 1 for the heads and one for the queries: (B, 1, 1, S).",
        ),
        Misconception(
            "zero taken for padding",
            wrong.padding_is_zero,
            "You compare with 0. Which token is the padding is told by pad; in the second case it "
            "is 9, and 0 is a word.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- masked_shares


def _far() -> Tensor:
    return torch.tensor([[-20000.0, 0.0, -20001.0], [0.0, 2.0, 0.0], [50.0, -200.0, 60.0]])


def _far_mask() -> Tensor:
    return torch.tensor([[True, False, True], [True, True, True], [False, True, False]])


def _empty() -> Tensor:
    return torch.tensor([[True, True, False, True], [False] * 4, [False, False, True, False]])


def _keep() -> Tensor:
    return torch.tensor([[True, True, True, False, True], [False, True, True, False, False]])


TEN_THOUSAND = (  # people write each of these in two ways, which differ in their gradients
    "-1e4 is not minus infinity. If the allowed scores lie lower still, the forbidden key wins; "
    "in a row where all is forbidden, equal scores give equal weights. Use -torch.inf, and see to "
    "such rows yourself."
)
BILLION = (
    "With -1e9 nothing becomes nan, and a row where all is forbidden attends evenly to just that, "
    "since equal scores give equal weights. Such a row should be zeros."
)
NAN = (
    "Right, but for a row where all is forbidden: it is 0/0, nan, and one such row spoils the "
    "gradients of all values. Find these rows before the softmax, compute them on zeros, and erase "
    "the result."
)


SHARES = Question(
    name="masked_shares",
    title="Before the softmax",
    points=5,
    difficulty=2,
    minutes=25,
    hint="Scores become -inf where the mask is False, and then the softmax takes the last axis. "
    "That leaves the rows that are False all over: find them first, mask.any(dim=-1, "
    "keepdim=True), let them compute on harmless numbers, and erase their result.",
    page="masking.html#sec-masking-empty",
    reference=masked_softmax,
    cases=(
        Case(
            "two queries, three keys",
            lambda student: student.masked_shares(
                torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]),
                torch.tensor([[True, True, False], [False, True, True]]),
            ),
        ),
        Case(
            "two sentences, three heads, one mask (2, 1, 1, 5)",
            lambda student: student.masked_shares(randn(2, 3, 4, 5), _keep()[:, None, None, :]),
        ),
        Case(
            "scores of 0, and scores of -20000",
            lambda student: student.masked_shares(_far(), _far_mask()),
        ),
        Case(
            "a row with nothing to attend to",
            lambda student: student.masked_shares(randn(3, 4, seed=1), _empty()),
        ),
        Case(
            "gradients, with such a row",
            lambda student: gradients(student.masked_shares, randn(2, 3, 4, seed=2), _empty()),
        ),
    ),
    misconceptions=(
        Misconception(
            "polarity",
            wrong.shares_polarity,
            "You forbid where the mask is True. In this course True means may attend: fill where "
            "it is False, ~mask.",
        ),
        Misconception(
            "polarity, and empty rows",
            wrong.shares_polarity_and_nan,
            "You forbid where the mask is True, and it means may attend: fill where it is False, "
            "~mask. After that a row without any True will give nan; see to it as well.",
        ),
        Misconception(
            "mask after the softmax",
            wrong.shares_masked_late,
            "You erase weights after the softmax. The forbidden keys have voted by then: they "
            "stand in the sum that every weight was divided by, and your rows do not sum to 1. "
            "Mask the scores, before the softmax.",
        ),
        Misconception(
            "divided once more",
            wrong.shares_divided_again,
            "Erasing weights and dividing again is right on paper. Where a forbidden key leads by "
            "a lot, the allowed weights have been rounded to 0 by then, and 0/0 is nan. Mask the "
            "scores, before the softmax.",
        ),
        Misconception(
            "a score of zero",
            wrong.shares_scores_of_zero,
            "You multiply the scores by the mask, so a forbidden key has the score 0. That is a "
            "score like any other, and exp(0) is 1. Its weight is 0 if its score is -inf.",
        ),
        Misconception(
            "mask taken from the scores",
            wrong.shares_mask_from_scores,
            "You look for zeros in the scores to find out what is forbidden. An allowed score may "
            "be 0 by itself, and then its key is lost. What is forbidden is told by the mask: "
            "masked_fill(~mask, -torch.inf).",
        ),
        Misconception("minus ten thousand", wrong.shares_ten_thousand, TEN_THOUSAND),
        Misconception("ten thousand taken off", wrong.shares_ten_thousand_added, TEN_THOUSAND),
        Misconception("minus a billion", wrong.shares_billion, BILLION),
        Misconception("a billion taken off", wrong.shares_billion_added, BILLION),
        Misconception("nan in empty rows", wrong.shares_nan, NAN),
        Misconception("nan in empty rows, minus infinity added", wrong.shares_nan_added, NAN),
        Misconception(
            "nan cleaned up afterwards",
            wrong.shares_nan_cleaned,
            "Your weights are right and your gradients are nan. Cleaning up mends the way there; "
            "the way back still goes through 0/0. No nan may arise at all: give the empty rows "
            "other scores before the softmax.",
        ),
    ),
    forbidden=LIBRARY,
)

# --- decoder_mask


def _decoder_mask(tokens: Tensor, pad: int) -> Tensor:
    """tokens (B, T) -> (B, 1, T, T): neither ahead nor at padding."""
    return masks.causal(tokens.shape[-1]) & masks.padding(tokens, pad)


DECODER = Question(
    name="decoder_mask",
    title="Two rules at once",
    points=3,
    difficulty=2,
    minutes=15,
    hint="You have both masks already. (T, T) and (B, 1, 1, T) broadcast to (B, 1, T, T); what is "
    "left is the right operator between them.",
    page="masking.html#sec-masking-combine",
    reference=_decoder_mask,
    cases=(
        Case(
            "one sentence, one place padded",
            lambda student: student.decoder_mask(torch.tensor([[5, 3, 8, 0]]), 0),
        ),
        Case("three sentences, pad = 9", lambda student: student.decoder_mask(_nines(), 9)),
        Case("padding on the left", lambda student: student.decoder_mask(_nines().flip(-1), 9)),
    ),
    misconceptions=(
        Misconception(
            "either rule is enough",
            wrong.decoder_either,
            "Your pairs need to pass one of the two rules. They must pass both: & in place of |.",
        ),
        Misconception(
            "padded queries do not look",
            wrong.decoder_queries_too,
            "You forbid padded queries to look. Only what is seen counts; keys that are padding "
            "are forbidden, for every query. The rows of padded queries are not read by anybody.",
        ),
        Misconception(
            "padding on the axis of the queries",
            wrong.decoder_of_queries,
            "Your padding lies along the queries: it does not look, but it is looked at. It "
            "belongs along the last axis, that of the keys.",
        ),
        Misconception(
            "transposed",
            wrong.decoder_transposed,
            "Your queries see themselves and what comes after them. Row t belongs to query t and "
            "should be True up to place t.",
        ),
        Misconception(
            "blind to itself",
            wrong.decoder_not_itself,
            "Your queries do not see their own place. The rule is key ≤ query, with equality.",
        ),
        Misconception(
            "polarity",
            wrong.decoder_polarity,
            "You mark what is forbidden. True means may attend.",
        ),
        Misconception(
            "no axis for the heads",
            wrong.decoder_no_heads,
            "Your truth values are right, in (B, T, T). Scores are (B, H, T, T), and against them "
            "your B would be taken for the heads: put an axis of length 1 behind the batch.",
        ),
    ),
    forbidden=("coursekit",),
    needs=("causal_mask", "padding_mask"),
)

# --- window_attention


def _window_attention(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    """q, k (..., T, d), v (..., T, Dv) -> (..., T, Dv)."""
    shape = (*q.shape[:-1], v.shape[-1])
    q, k, v = (x.reshape(-1, 1, *x.shape[-2:]) for x in (q, k, v))
    return local_attention(q, k, v, radius=radius).reshape(shape)


def _sequence(*front: int, width: int = 4, out: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    return randn(*front, width), randn(*front, width, seed=1), randn(*front, out, seed=2)


WINDOW = Question(
    name="window_attention",
    title="A window that costs no square",
    points=6,
    difficulty=3,
    minutes=40,
    hint="Which keys does query t see? Write their places as (T, 2·radius + 1), a column of "
    "queries plus a row of steps from -radius to radius. k[..., places, :] fetches them, once "
    "the places are brought back into the sequence by clamp; those that lay outside it are what "
    "masked_shares must hide.",
    page="masking.html#sec-masking-cost",
    reference=_window_attention,
    cases=(
        Case(
            "three places of one number, radius 1",
            lambda student: student.window_attention(
                torch.zeros(3, 1),
                torch.tensor([[1.0], [2.0], [3.0]]),
                torch.tensor([[1.0], [3.0], [8.0]]),
                1,
            ),
        ),
        Case(
            "seven places, radius 2",
            lambda student: student.window_attention(*_sequence(7), 2),
        ),
        Case(
            "two sentences, three heads, radius 1",
            lambda student: student.window_attention(*_sequence(2, 3, 6), 1),
        ),
        Case(
            "a window wider than the sequence",
            lambda student: student.window_attention(*_sequence(4), 6),
        ),
    ),
    misconceptions=(
        Misconception(
            "the filling takes part",
            wrong.window_filling_counts,
            "In the middle you are right, at the ends not: the zeros beyond them take part. Their "
            "score is 0, so their weight is not. Hide them before the softmax.",
        ),
        Misconception(
            "the ends count several times",
            wrong.window_ends_repeated,
            "You bring places outside the sequence back to its ends and leave it at that, so the "
            "first and the last key count several times. Hide what lay outside, by a mask made "
            "from the places before clamp.",
        ),
        Misconception(
            "round the end",
            wrong.window_round_the_end,
            "Your window goes round: the first place sees the last. So do negative indices, and "
            "torch.roll. Hide what lies outside the sequence.",
        ),
        Misconception(
            "looks back only",
            wrong.window_looks_back,
            "Your queries look back only. This window has two sides: radius places before the "
            "query and radius places after it.",
        ),
        Misconception(
            "one place short",
            wrong.window_one_short,
            "Your window ends one place early on the right: arange leaves its end out. Steps from "
            "-radius to radius are 2·radius + 1 of them.",
        ),
        Misconception(
            "radius taken for the whole width",
            wrong.window_diameter,
            "Your window is about half as wide as it should be: radius is the distance to either "
            "side, so 2·radius + 1 keys are seen.",
        ),
        Misconception(
            "no scale",
            wrong.window_no_scale,
            "Your output equals window attention without the 1/√d. Divide the scores by the root "
            "of the width of q.",
        ),
    ),
    forbidden=LIBRARY,
    needs=("masked_shares",),
)

ASSIGNMENT = Assignment(
    name="a03_masking",
    title="Masking",
    questions=(CAUSAL, PADDING, SHARES, DECODER, WINDOW),
    written=(
        Written(
            name="peeking",
            title="Is it peeking?",
            points=3,
            minutes=20,
            page="masking.html#sec-masking-causal",
        ),
    ),
)
