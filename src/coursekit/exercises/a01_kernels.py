"""Assignment 1, to the page "Attention kernels": a soft lookup, three ways to score, and a word
that asks its own sentence.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a01_kernels.py`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.assignments.forbidden import LIBRARY, SOFTMAX
from coursekit.attention import attention, masked_softmax, nadaraya_watson
from coursekit.exercises.mistakes import a01_kernels as wrong
from coursekit.exercises.probe import gradients, randn
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written
from coursekit.kernels import Additive, gaussian

# --- shares


SHARES = Question(
    name="shares",
    title="Scores become shares",
    points=3,
    difficulty=1,
    minutes=15,
    hint="Three steps, each along the last axis: subtract the largest score, take exp, divide by "
    "the sum. keepdim=True keeps the rows where they are.",
    page="kernels.html#sec-kernels-regression",
    reference=masked_softmax,
    cases=(
        Case(
            "two queries, three keys",
            lambda student: student.shares(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])),
        ),
        Case("a batch of four", lambda student: student.shares(randn(4, 2, 5))),
        Case(
            "scores of a thousand",
            lambda student: student.shares(torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0]])),
        ),
        Case("gradients", lambda student: gradients(student.shares, randn(3, 4, seed=1))),
    ),
    misconceptions=(
        Misconception(
            "over the queries",
            wrong.shares_of_columns,
            "Your columns sum to 1. Each row belongs to one query, and its shares run over the "
            "keys, so sum along the last axis: dim=-1.",
        ),
        Misconception(
            "largest score not subtracted",
            wrong.shares_overflow,
            "Right on paper. But exp(1000) is infinite on a computer, exp(-1000) is 0, and the "
            "quotient is nan. Subtract the largest score of the row before exp; the ratio stays.",
        ),
        Misconception(
            "one maximum for all rows",
            wrong.shares_one_maximum,
            "You subtract the largest score of the whole tensor. A row that lies far below it is "
            "rounded to 0 everywhere, and 0/0 is nan. Every row needs its own maximum: "
            "amax(dim=-1, keepdim=True).",
        ),
        Misconception(
            "one sum for all rows",
            wrong.shares_of_everything,
            "All your numbers together sum to 1. Each row must: it is the shares of one query. "
            "Take maximum and sum along dim=-1, with keepdim=True.",
        ),
        Misconception(
            "no exponential",
            wrong.shares_without_exp,
            "You divide the scores themselves by their sum. Scores may be negative, or sum to 0; "
            "exp makes them positive first.",
        ),
        Misconception(
            "not divided by the sum",
            wrong.shares_not_divided,
            "Positive, and in the right order, but your rows do not sum to 1. Divide each by its "
            "sum.",
        ),
    ),
    forbidden=SOFTMAX,
)

# --- gaussian_scores


GAUSSIAN = Question(
    name="gaussian_scores",
    title="Near is high",
    points=3,
    difficulty=1,
    minutes=15,
    hint="Give q and k an axis of length 1 each, so that their difference has all pairs: "
    "q[..., :, None, :] - k[..., None, :, :] is (..., T, S, D). Square, and sum over D.",
    page="kernels.html#sec-kernels-six",
    reference=gaussian,
    cases=(
        Case(
            "one query, two keys on a plane",
            lambda student: student.gaussian_scores(
                torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]), 0.5
            ),
        ),
        Case(
            "four queries, six keys",
            lambda student: student.gaussian_scores(randn(4, 3), randn(6, 3, seed=1), 2.0),
        ),
        Case(
            "a batch, with bandwidth 1",
            lambda student: student.gaussian_scores(randn(2, 4, 3), randn(2, 6, 3, seed=1), 1.0),
        ),
    ),
    misconceptions=(
        Misconception(
            "plus for minus",
            wrong.gaussian_plus,
            "Your sign is turned round: the farthest key gets the highest score. Near should be "
            "high, so the squared distance needs a minus. (One lecture deck lost it too.)",
        ),
        Misconception(
            "bandwidth not squared",
            wrong.gaussian_plain_bandwidth,
            "You divide by 2h; the formula has 2h². At h = 1 the two agree, so that case passes.",
        ),
        Misconception(
            "the two forgotten",
            wrong.gaussian_no_two,
            "Your scores are twice as large as they should be: divide by 2h², not by h².",
        ),
        Misconception(
            "distance not squared",
            wrong.gaussian_distance,
            "You take the distance itself. A Gaussian falls with its square, ‖q − k‖²: the sum of "
            "squares, without a root.",
        ),
        Misconception(
            "mean over the width",
            wrong.gaussian_mean,
            "You average the squares over the width. The squared length is their sum.",
        ),
        Misconception(
            "the bump itself",
            wrong.gaussian_bump,
            "You return the bump, exp of the score. The exponential belongs to the softmax, which "
            "comes later; here only the exponent is asked for.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- predict


def _places() -> Tensor:
    return torch.tensor([0.0, 1.0, 2.0, 4.0])


def _heights() -> Tensor:
    return torch.tensor([1.0, 3.0, 2.0, -1.0])


PREDICT = Question(
    name="predict",
    title="A curve from noisy points, in 1964",
    points=4,
    difficulty=2,
    minutes=20,
    hint="The places you ask about are queries, the places you have seen are keys, what you saw "
    "there are values, all of width 1: query[:, None] is (T, 1). shares and gaussian_scores do "
    "the rest, and shares does not mind a tiny bandwidth.",
    page="kernels.html#sec-kernels-regression",
    reference=nadaraya_watson,
    cases=(
        Case(
            "three places, four samples",
            lambda student: student.predict(
                torch.tensor([0.5, 1.5, 3.0]), _places(), _heights(), 0.7
            ),
        ),
        Case(
            "twenty places, fifty samples",
            lambda student: student.predict(randn(20), randn(50, seed=1), randn(50, seed=2), 0.3),
        ),
        Case(
            "as many places as samples, with bandwidth 1",
            lambda student: student.predict(_places() + 0.25, _places(), _heights(), 1.0),
        ),
        Case(
            "a bandwidth of a thousandth",
            lambda student: student.predict(torch.tensor([0.3, 2.9]), _places(), _heights(), 0.001),
        ),
    ),
    misconceptions=(
        Misconception(
            "the fraction as it is printed",
            wrong.predict_fraction,
            "This is the formula of 1964, and it is right until every bump is rounded to 0: then "
            "it is 0/0. Take the weights from a softmax that subtracts the largest score.",
        ),
        Misconception(
            "bandwidth not squared in a prediction",
            wrong.predict_plain_bandwidth,
            "The case with bandwidth 1 passes and the others do not: you divide by 2h, and it "
            "should be 2h².",
        ),
        Misconception(
            "shares over the places",
            wrong.predict_over_queries,
            "Your weights sum to 1 over the places you ask about. For each place they should sum "
            "to 1 over the samples: the last axis of (T, S).",
        ),
        Misconception(
            "the nearest sample",
            wrong.predict_nearest,
            "You return the y of the nearest sample. All samples count, nearer ones more; the "
            "nearest alone is where a tiny bandwidth ends, which is why that case passes.",
        ),
        Misconception(
            "a sum for a mean",
            wrong.predict_sum,
            "You add up the bumps times y and do not divide by the sum of the bumps. Weights have "
            "to sum to 1; then the prediction stays between the smallest and the largest y.",
        ),
        Misconception(
            "the farthest sample wins",
            wrong.predict_farthest,
            "Your weights grow with the distance: a minus is missing in the scores.",
        ),
    ),
    forbidden=LIBRARY,
    needs=("shares", "gaussian_scores"),
)

# --- AdditiveScores


def _scores(student: object, q: Tensor, k: Tensor, hidden: int) -> Tensor:
    """Build the module, give it weights that are always the same, and score q and k with it."""
    module = student.AdditiveScores(query_width=q.shape[-1], key_width=k.shape[-1], hidden=hidden)
    module.load_state_dict(_weights(q.shape[-1], k.shape[-1], hidden))
    return module(q, k)


def _weights(query_width: int, key_width: int, hidden: int) -> dict[str, Tensor]:
    return {
        "query.weight": randn(hidden, query_width, seed=11),
        "key.weight": randn(hidden, key_width, seed=12),
        "score.weight": randn(1, hidden, seed=13),
    }


ADDITIVE = Question(
    name="AdditiveScores",
    title="Bahdanau's kernel",
    points=5,
    difficulty=3,
    minutes=30,
    hint="self.query(q) is (..., T, hidden) and self.key(k) is (..., S, hidden). Give each an axis "
    "of length 1 so that their sum is (..., T, S, hidden); then tanh, then self.score, whose last "
    "axis of length 1 goes.",
    page="kernels.html#sec-kernels-bahdanau",
    reference=Additive,
    cases=(
        Case(
            "one query, one key",
            lambda student: _scores(student, randn(1, 2), randn(1, 2, seed=1), 3),
        ),
        Case(
            "queries and keys of different widths",
            lambda student: _scores(student, randn(4, 3), randn(6, 5, seed=1), 8),
        ),
        Case(
            "a batch of two",
            lambda student: _scores(student, randn(2, 4, 3), randn(2, 6, 5, seed=1), 8),
        ),
        Case(
            "names and shapes of the weights",
            lambda student: {
                name: list(weight.shape)
                for name, weight in student.AdditiveScores(query_width=3, key_width=5, hidden=8)
                .state_dict()
                .items()
            },
        ),
    ),
    misconceptions=(
        Misconception(
            "no tanh",
            wrong.NoTanh,
            "Your scores equal those without a tanh. Then a score is one number for the query plus "
            "one number for the key, and the softmax over the keys forgets the query altogether.",
        ),
        Misconception(
            "tanh after the score",
            wrong.TanhLast,
            "You take tanh of the score. It belongs between the two layers: tanh of the sum, then "
            "self.score.",
        ),
        Misconception(
            "tanh of each part",
            wrong.TanhEach,
            "You take tanh of the query's part and of the key's part and then add. Add first: the "
            "two can only talk to each other inside one tanh.",
        ),
        Misconception(
            "relu for tanh",
            wrong.Relu,
            "Your scores equal those with a relu. Bahdanau's network has a tanh.",
        ),
        Misconception(
            "biases",
            wrong.WithBias,
            "Your layers have biases, which are not in the formula. nn.Linear adds one unless it "
            "is told bias=False.",
        ),
        Misconception(
            "shares in place of scores",
            wrong.AlreadyShares,
            "You return shares. A kernel returns scores; the softmax is the same for all kernels "
            "and comes later.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- self_attention


def _reference_self_attention(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor) -> Tensor:
    """x (..., T, D), wq and wk (D, Dk), wv (D, Dv) -> (..., T, Dv)."""
    return attention(x @ wq, x @ wk, x @ wv)


def _matrices(width: int, inner: int, out: int) -> tuple[Tensor, Tensor, Tensor]:
    return randn(width, inner, seed=1), randn(width, inner, seed=2), randn(width, out, seed=3)


SELF = Question(
    name="self_attention",
    title="A sentence that asks itself",
    points=4,
    difficulty=2,
    minutes=20,
    hint="First the three projections, q = x @ wq and so on. The scores are q times k with its "
    "last two axes swapped, divided by the root of the width of q; shares makes weights of them.",
    page="kernels.html#sec-kernels-self",
    reference=_reference_self_attention,
    cases=(
        Case(
            "three words of two numbers",
            lambda student: student.self_attention(
                torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.5, 0.5]]), *_matrices(2, 2, 2)
            ),
        ),
        Case(
            "every width its own",
            lambda student: student.self_attention(randn(5, 6), *_matrices(6, 3, 4)),
        ),
        Case(
            "two sentences",
            lambda student: student.self_attention(randn(2, 5, 6), *_matrices(6, 3, 4)),
        ),
    ),
    misconceptions=(
        Misconception(
            "no scale",
            wrong.self_no_scale,
            "Your output equals attention without the 1/√d. Divide the scores by the root of the "
            "width of the queries; the next chapter is about why.",
        ),
        Misconception(
            "width of x",
            wrong.self_width_of_x,
            "You divide by the root of the width of x. What grows with its width is the dot "
            "product of q and k, so the width of q counts: q.shape[-1].",
        ),
        Misconception(
            "softmax over the queries",
            wrong.self_over_queries,
            "Your weights sum to 1 down the columns. Each row belongs to one word that asks, and "
            "its weights run over the words that answer: the last axis.",
        ),
        Misconception(
            "values not projected",
            wrong.self_values_are_x,
            "You average x itself. What is handed over are the values, x @ wv.",
        ),
        Misconception(
            "queries and keys changed over",
            wrong.self_keys_ask,
            "Your scores are transposed: the keys ask and the queries answer. Row t of the scores "
            "belongs to query t: q @ k.transpose(-2, -1).",
        ),
        Misconception(
            "no softmax",
            wrong.self_no_softmax,
            "You mix the values with the raw scores. They may be negative and sum to anything; "
            "shares makes a weighted mean of it.",
        ),
    ),
    forbidden=LIBRARY,
    needs=("shares",),
)

ASSIGNMENT = Assignment(
    name="a01_kernels",
    title="Attention kernels",
    questions=(SHARES, GAUSSIAN, PREDICT, ADDITIVE, SELF),
    written=(
        Written(
            name="shuffled",
            title="The same words in another order",
            points=3,
            minutes=15,
            page="kernels.html#sec-kernels-properties",
        ),
    ),
)
