"""Assignment 5, to the page "Positions": a table to add, waves, the matrix that moves them on, a
turn in place of an addition, and a number for each distance.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a05_positions.py`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit.assignments.forbidden import LIBRARY
from coursekit.attention import attention
from coursekit.exercises.mistakes import a05_positions as wrong
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written
from coursekit.positions import Rotary, shift_matrix, sinusoidal

BASE = 10_000.0

# --- add_places


def _add_places(x: Tensor, table: Tensor, first: int = 0) -> Tensor:
    """x (B, T, D), table (size, D) -> (B, T, D)."""
    return x + table[first : first + x.shape[1]]


ADD = Question(
    name="add_places",
    title="A vector for each place",
    points=2,
    difficulty=1,
    minutes=10,
    hint="Cut T rows out of the table, from row `first` on. They are (T, D), and broadcasting adds "
    "them to each sentence of x, which is (B, T, D).",
    page="positions.html#sec-positions-learned",
    reference=_add_places,
    cases=(
        Case(
            "one sentence of two words",
            lambda student: student.add_places(
                torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]),
                torch.tensor([[10.0, 0.0], [20.0, 0.5], [30.0, 1.0]]),
            ),
        ),
        Case(
            "three sentences that start at place 2",
            lambda student: student.add_places(randn(3, 4, 5), randn(9, 5, seed=1), 2),
        ),
        Case(
            "as many sentences as words",
            lambda student: student.add_places(randn(3, 3, 2), randn(6, 2, seed=1), 1),
        ),
    ),
    misconceptions=(
        Misconception(
            "multiplied",
            wrong.add_multiplied,
            "You multiply words and places. A place whose vector is near 0 would wipe the word "
            "out; the two are added.",
        ),
        Misconception(
            "always from place 0",
            wrong.add_from_zero,
            "Your first word always stands at place 0. It stands at place `first`: cut the table "
            "from that row on.",
        ),
        Misconception(
            "counted from 1",
            wrong.add_from_one,
            "You are one row too far: the first word gets row `first` itself, and places are "
            "counted from 0.",
        ),
        Misconception(
            "places along the batch",
            wrong.add_to_sentences,
            "You give each sentence a vector, the same for all its words. The place of a word "
            "runs along axis 1, not along the batch.",
        ),
        Misconception(
            "appended",
            wrong.add_appended,
            "You put the place behind the word, so the width has doubled. Here it is added, number "
            "by number; the page has a note on why both can work.",
        ),
        Misconception(
            "the place without the word",
            wrong.add_alone,
            "You return the places alone. The words in x are still needed: add.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- sinusoids


def _sinusoids(places: Tensor, width: int, base: float = BASE) -> Tensor:
    """places (...) -> (..., width), in the dtype of places."""
    return sinusoidal(places, width, base=base, dtype=places.dtype)


SINUSOIDS = Question(
    name="sinusoids",
    title="A shelf of clocks",
    points=3,
    difficulty=1,
    minutes=20,
    hint="Make the width/2 speeds first: torch.arange(0, width, 2) holds the exponents 2i. Then "
    "all angles at once, places[..., None] * speeds, (..., width/2). Sine and cosine alternate: "
    "stack the two on a new last axis and flatten it, or write into [..., 0::2] and [..., 1::2].",
    page="positions.html#sec-positions-sinusoidal",
    reference=_sinusoids,
    cases=(
        Case(
            "three places, width 4, base 100",
            lambda student: student.sinusoids(torch.tensor([0.0, 1.0, 2.0]), 4, 100.0),
        ),
        Case(
            "six places, width 8, the usual base",
            lambda student: student.sinusoids(torch.arange(6.0), 8),
        ),
        Case(
            "places with a batch axis, between the whole numbers too",
            lambda student: student.sinusoids(5 * randn(2, 3), 6, 50.0),
        ),
    ),
    misconceptions=(
        Misconception(
            "all sines, then all cosines",
            wrong.sines_concatenated,
            "Your numbers are right and stand in the wrong columns: all sines come first, then all "
            "cosines. In the formula they alternate, so that each clock's two numbers are "
            "neighbours.",
        ),
        Misconception(
            "frequencies squared",
            wrong.sines_squared,
            "Your clocks are too slow: each ω is the square of what it should be. "
            "torch.arange(0, width, 2) is 2i already, so do not multiply by 2 again.",
        ),
        Misconception(
            "half the exponent",
            wrong.sines_rooted,
            "Your clocks are too fast, the last ones most: the exponent is 2i / width, and you "
            "have i / width.",
        ),
        Misconception(
            "a speed for each column",
            wrong.sines_each_its_own,
            "Each of your columns has a speed of its own. The sine and the cosine of one pair are "
            "the two coordinates of one clock hand: columns 2i and 2i + 1 share ω_i.",
        ),
        Misconception(
            "cosine first",
            wrong.sines_cosine_first,
            "Sine and cosine are changed over: even columns are sines, so place 0 reads 0, 1, 0, "
            "1 and so on.",
        ),
        Misconception(
            "faster and faster",
            wrong.sines_faster_and_faster,
            "Your clocks run faster from pair to pair. The first has ω = 1 and the others are "
            "slower: a minus is missing in the exponent.",
        ),
        Misconception(
            "the base is always 10,000",
            wrong.sines_base_fixed,
            "The case with the usual base passes, the others do not: you use 10,000 whatever "
            "`base` says.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- shift


def _shift(delta: float, width: int, base: float = BASE) -> Tensor:
    """A (width, width) with sinusoids(t + delta) = A sinusoids(t) for every t."""
    return shift_matrix(delta, width, base=base)


SHIFT = Question(
    name="shift",
    title="Five places on",
    points=4,
    difficulty=2,
    minutes=25,
    hint="Write sin(a + b) and cos(a + b) out, with a = ωt and b = ωΔ. The two lines are the two "
    "rows of one block. Make the blocks, width/2 of them, and put them on the diagonal: "
    "torch.block_diag does, or a loop that fills a matrix of zeros.",
    page="positions.html#sec-positions-sinusoidal",
    reference=_shift,
    cases=(
        Case("one clock, one place on", lambda student: student.shift(1.0, 2)),
        Case("three clocks, five places on", lambda student: student.shift(5.0, 6, 100.0)),
        Case("the usual base, two places back", lambda student: student.shift(-2.0, 4)),
        Case(
            "from place 3 to place 10",
            lambda student: (
                student.shift(7.0, 8, 200.0) @ sinusoidal(torch.tensor(3.0), 8, base=200.0)
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "one speed for all clocks",
            wrong.shift_one_speed,
            "Right for one clock and no other: all your blocks turn by Δ. Each clock has a speed "
            "of its own and turns by ω_i Δ. (Some slides lose the ω too.)",
        ),
        Misconception(
            "turned back",
            wrong.shift_back,
            "Your matrix goes Δ places back. In a pair the sine stands first, so the minus "
            "belongs in the lower row: cos(a + b) = cos a cos b - sin a sin b.",
        ),
        Misconception(
            "no minus",
            wrong.shift_no_minus,
            "Your block has no minus, so it does not turn, it stretches. Look at the cosine of a "
            "sum once more.",
        ),
        Misconception(
            "blocks for halves",
            wrong.shift_halves,
            "This is the matrix for vectors with all sines first and all cosines behind. Here the "
            "two numbers of a clock are neighbours, so each block is a small square on the "
            "diagonal.",
        ),
        Misconception(
            "frequencies squared in the blocks",
            wrong.shift_squared,
            "Your later clocks turn too little: each ω is squared. torch.arange(0, width, 2) is "
            "2i already.",
        ),
    ),
    forbidden=("coursekit", "torch.linalg", "torch.Tensor.pinverse"),
)

# --- turn


def _turn(x: Tensor, places: Tensor, base: float = BASE) -> Tensor:
    """x (..., T, D), places (T,) -> (..., T, D)."""
    return Rotary(width=x.shape[-1], base=base)(x, places)


TURN = Question(
    name="turn",
    title="Turn in place of adding",
    points=4,
    difficulty=2,
    minutes=25,
    hint="The angles are (T, D/2): places[:, None] * speeds. a = x[..., 0::2] and b = x[..., 1::2] "
    "are (..., T, D/2) and meet them by broadcasting. The new pair is (a cos - b sin, "
    "a sin + b cos); stack on a new last axis and flatten.",
    page="positions.html#sec-positions-relative",
    reference=_turn,
    cases=(
        Case(
            "one pair, a quarter of a turn",
            lambda student: student.turn(
                torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]),
                torch.tensor([0.0, math.pi / 2, math.pi / 2]),
            ),
        ),
        Case(
            "four words of width 6",
            lambda student: student.turn(randn(4, 6), torch.tensor([0.0, 1.0, 5.0, 9.0]), 100.0),
        ),
        Case(
            "a batch of two, three heads",
            lambda student: student.turn(randn(2, 3, 5, 8), torch.arange(5.0)),
        ),
    ),
    misconceptions=(
        Misconception(
            "the wrong way round",
            wrong.turn_back,
            "You turn clockwise. Scores would not notice, since queries and keys turn the same "
            "way, but weights that somebody else has trained would. (1, 0) turned by a quarter is "
            "(0, 1): a cos - b sin comes first.",
        ),
        Misconception(
            "halves for pairs",
            wrong.turn_halves,
            "You pair number i with number i + D/2, as Llama's code does. This question pairs "
            "neighbours, (0, 1), (2, 3) and so on, as the paper does: x[..., 0::2] and "
            "x[..., 1::2].",
        ),
        Misconception(
            "speeds of halves, pairs of neighbours",
            wrong.turn_mixed,
            "You mix two conventions: you pair neighbours, but the angles are laid out for halves. "
            "Then the two numbers of a pair turn at different speeds, and lengths change. Both "
            "need the same angle; repeat_interleave gives each angle twice.",
        ),
        Misconception(
            "one speed for all pairs",
            wrong.turn_one_speed,
            "All your pairs turn by t. Pair i turns by ω_i t, the later ones ever more slowly.",
        ),
        Misconception(
            "frequencies squared in the turn",
            wrong.turn_squared,
            "Your later pairs turn too slowly: each ω is squared. torch.arange(0, D, 2) is 2i "
            "already.",
        ),
        Misconception(
            "places along the wrong axis",
            wrong.turn_wrong_axis,
            "Your angles have an axis of length 1 between place and width, so the place runs along "
            "the third axis from the end. T is the last but one: angles of shape (T, D/2) fit as "
            "they are.",
        ),
        Misconception(
            "waves added",
            wrong.turn_added,
            "You add the waves to x. Rotary positions add nothing: each pair is turned and keeps "
            "its length.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- relative_bias


def _relative_bias(table: Tensor, length: int) -> Tensor:
    """table (2K + 1, H) -> (H, T, T)."""
    place, limit = torch.arange(length), len(table) // 2
    distance = (place[None, :] - place[:, None]).clamp(-limit, limit)  # (T, T)
    return table[distance + limit].movedim(-1, 0)  # (H, T, T)


BIAS = Question(
    name="relative_bias",
    title="A number for each distance",
    points=3,
    difficulty=2,
    minutes=20,
    hint="place = torch.arange(length) with a new axis in front and behind gives the distances of "
    "all pairs, (T, T). Clamp them to -K … K, add K, and they are row numbers. table[rows] is "
    "(T, T, H); the heads still have to come to the front.",
    page="positions.html#sec-positions-relative",
    reference=_relative_bias,
    cases=(
        Case(
            "one head, K = 1, three words",
            lambda student: student.relative_bias(torch.tensor([[-1.0], [5.0], [2.0]]), 3),
        ),
        Case(
            "two heads, every distance its own row",
            lambda student: student.relative_bias(randn(7, 2), 4),
        ),
        Case(
            "three heads, K = 2, seven words",
            lambda student: student.relative_bias(randn(5, 3), 7),
        ),
    ),
    misconceptions=(
        Misconception(
            "sign turned round",
            wrong.bias_turned_round,
            "Your sign is turned round: a key that comes after the query gets the number of one "
            "that comes before. The distance is key minus query, j - i, and i counts the rows.",
        ),
        Misconception(
            "not centred",
            wrong.bias_not_centred,
            "You use the distance itself as row number. Then distance 0 reads row 0, and a "
            "negative one counts from the end of the table. Row K belongs to distance 0: add K.",
        ),
        Misconception(
            "before and after alike",
            wrong.bias_both_sides_alike,
            "You take the distance without its sign, so that a key before and one after get the "
            "same number. The table has rows for both.",
        ),
        Misconception(
            "heads last",
            wrong.bias_heads_last,
            "The right numbers, but the heads are the last axis. Scores are (B, H, T, T), so the "
            "bias must be (H, T, T) to be added: movedim or permute.",
        ),
        Misconception(
            "not clipped",
            wrong.bias_not_clipped,
            "Short sentences pass. In longer ones there are distances beyond K, for which the "
            "table has no row: clamp them to -K … K first. (Negative row numbers do not even "
            "raise an error; they count from the end.)",
        ),
        Misconception(
            "nothing beyond the limit",
            wrong.bias_zero_far_away,
            "You give distances beyond K a bias of 0. They share the number of the last distance "
            "that the table knows: clamp.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- RotaryAttention


class _RotaryAttention(nn.Module):
    """One head of self-attention whose scores know how far apart two words stand."""

    def __init__(self, *, width: int, base: float = BASE) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.base = base

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        """x (B, T, D), places (T,) -> (B, T, D)."""
        q, k = (_turn(part(x), places, self.base) for part in (self.query, self.key))
        return attention(q, k, self.value(x))  # (B, T, D)


def _attend(
    student: object, x: Tensor, places: Tensor, base: float = BASE, scale: float = 1.0
) -> Tensor:
    """Build the module, give it weights that are always the same, and call it."""
    width = x.shape[-1]
    module = student.RotaryAttention(width=width, base=base)
    names = ("query.weight", "key.weight", "value.weight")
    module.load_state_dict(
        {name: scale * randn(width, width, seed=n) for n, name in enumerate(names, 11)}
    )
    return module(x, places)


ROTARY = Question(
    name="RotaryAttention",
    title="Attention that knows how far",
    points=5,
    difficulty=3,
    minutes=30,
    hint="Project first, then turn: q = turn(self.query(x), places, base), k likewise, v as it is. "
    "The rest is scaled dot-product attention, with the root of the width.",
    page="positions.html#sec-positions-relative",
    reference=_RotaryAttention,
    cases=(
        Case(
            "two words of two numbers",
            lambda student: _attend(
                student, torch.tensor([[[1.0, 0.0], [0.5, 2.0]]]), torch.tensor([0.0, 1.0])
            ),
        ),
        Case(
            "two sentences of five words",
            lambda student: _attend(student, randn(2, 5, 6), torch.arange(5.0), 10_000.0, 0.5),
        ),
        Case(
            "base 50, and places with gaps",
            lambda student: _attend(
                student, randn(3, 4, 8), torch.tensor([2.0, 3.0, 9.0, 20.0]), 50.0, 0.5
            ),
        ),
        Case(
            "names and shapes of the weights",
            lambda student: {
                name: list(weight.shape)
                for name, weight in student.RotaryAttention(width=4).state_dict().items()
            },
        ),
    ),
    misconceptions=(
        Misconception(
            "values turned too",
            wrong.ValuesTurned,
            "You turn the values as well. Then what is handed over depends on where it stands, and "
            "no longer on distances alone. Only queries and keys meet in a product; turn those.",
        ),
        Misconception(
            "turned before the projections",
            wrong.TurnedFirst,
            "You turn x and project afterwards. The matrices then stand between the two turns, and "
            "the score no longer depends on the distance alone. Project first, then turn.",
        ),
        Misconception(
            "queries only",
            wrong.QueriesOnly,
            "You turn the queries and not the keys, so the score knows where the query stands and "
            "not how far away the key is. Turn both.",
        ),
        Misconception(
            "keys turned the other way",
            wrong.OppositeTurns,
            "Your keys turn against your queries, so the score depends on the sum of the two "
            "places. Turn both the same way; the product takes the difference by itself.",
        ),
        Misconception(
            "places not used",
            wrong.NotTurned,
            "Your result does not depend on `places` at all: this is attention over a bag of "
            "words. Turn queries and keys before the product.",
        ),
        Misconception(
            "no scale",
            wrong.NotScaled,
            "The turns are right; the 1/√d on the scores is missing.",
        ),
        Misconception(
            "base not passed on",
            wrong.BaseForgotten,
            "The case with a base of its own fails and the others pass: keep `base` in __init__ "
            "and give it to turn.",
        ),
    ),
    forbidden=LIBRARY,
    needs=("turn",),
)

ASSIGNMENT = Assignment(
    name="a05_positions",
    title="Positions",
    questions=(ADD, SINUSOIDS, SHIFT, TURN, BIAS, ROTARY),
    written=(
        Written(
            name="backwards",
            title="The clock that ran backwards",
            points=3,
            minutes=20,
            page="positions.html#sec-positions-relative",
        ),
    ),
)
