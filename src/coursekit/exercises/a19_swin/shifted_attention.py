"""Attention within shifted windows, one head of it, from the roll to the roll back."""

from __future__ import annotations

import torch

from coursekit.exercises.edits import source_of
from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def shifted_attention(q, k, v, bias, side, shift=0):
    """q, k (B, R, C, D), v (B, R, C, E), bias (M², M²) -> (B, R, C, E)."""
    R, C = q.shape[1:3]

    def cut(x):  # (B, R, C, D) -> (B, W, M², D)
        x = x.reshape(len(x), R // side, side, C // side, side, -1).transpose(2, 3)
        return x.flatten(3, 4).flatten(1, 2)

    q, k, v = (cut(x.roll((-shift, -shift), dims=(1, 2))) for x in (q, k, v))
    around = 2 * (torch.arange(R) >= R - shift)[:, None] + (torch.arange(C) >= C - shift)
    region = cut(around[None, :, :, None])  # (1, W, M², 1)
    scores = q @ k.mT / q.shape[3] ** 0.5 + bias  # (B, W, M², M²)
    scores = scores.masked_fill(region != region.mT, -torch.inf)
    seen = scores.softmax(dim=-1) @ v  # (B, W, M², E)
    seen = seen.reshape(-1, R // side, C // side, side, side, v.shape[3]).transpose(2, 3)
    return seen.reshape(-1, R, C, v.shape[3]).roll((shift, shift), dims=(1, 2))


QUESTION = Question(
    name="shifted_attention",
    title="Roll, look around, roll back",
    points=5,
    difficulty=3,
    minutes=45,
    page="swin.html#sec-swin-shift",
    hint="You have nearly all of it. Roll queries, keys and values alike, cut each with your "
    "`windows`, and let the queries of a window meet its keys. The mask of `hide_strangers` has a "
    "table for each window of one map, the batch has the windows of all maps: which axes must you "
    "bring together, or how often does the mask have to be repeated? At the end everything goes "
    "back in the other order.",
    reference=shifted_attention,
    forbidden=("coursekit",),
    needs=("windows", "hide_strangers"),
)


def looking(B, R, C, D, side, seed, E=None, dtype=torch.float32):
    """Return queries, keys, values of E numbers, and biases for a window."""
    widths = D, D, E or D
    given = [randn(B, R, C, d, seed=seed + n, dtype=dtype) for n, d in enumerate(widths)]
    given[0] = 1.5 * given[0]
    return *given, randn(side**2, side**2, seed=seed + 3, dtype=dtype)


@QUESTION.visible(says="one map, windows that stay")
def windows_that_stay(student):
    return student.shifted_attention(*looking(1, 4, 4, 3, 2, seed=10), 2)


@QUESTION.visible(says="one map, windows of 2, a shift of 1", weight=2)
def a_shift_of_one(student):
    return student.shifted_attention(*looking(1, 4, 4, 3, 2, seed=14), 2, 1)


@QUESTION.visible(says="three maps, wider than high", weight=2)
def three_maps(student):
    return [student.shifted_attention(*looking(3, 4, 6, 2, 2, seed=18), 2, s) for s in (0, 1)]


@QUESTION.visible(says="higher than wide, windows of 3, values of another width")
def another_width(student):
    given = looking(2, 6, 3, 2, 3, seed=22, E=5)
    return [student.shifted_attention(*given, 3, shift) for shift in (1, 2)]


@QUESTION.visible(says="what a cell hears of: the mean of the numbers of the cells it may see")
def what_is_heard(student):
    q, k, _, bias = looking(1, 8, 8, 2, 4, seed=26)
    cells = torch.arange(64.0).reshape(1, 8, 8, 1)
    return student.shifted_attention(0 * q, 0 * k, cells, 0 * bias, 4, 2)


@QUESTION.visible(says="strangers with very large scores get nothing", tolerance=2e-3)
def loud_strangers(student):
    q, k, v, bias = looking(1, 4, 4, 2, 2, seed=30)
    q, k = torch.ones_like(q), 0.01 * k
    k[:, 0], k[:, :, 0] = k[:, 0] + 400, k[:, :, 0] + 500  # what comes around, when it is rolled
    return student.shifted_attention(q, k, v, bias, 2, 1)


@QUESTION.visible(says="scores in the thousands", tolerance=2e-3)
def thousands(student):
    q, k, v, bias = looking(1, 4, 4, 2, 2, seed=34)
    return student.shifted_attention(70 * q, 70 * k, v, 1000 * bias, 2, 1)


@QUESTION.visible(says="gradients at queries, keys, values and biases")
def with_gradients(student):
    return gradients(student.shifted_attention, *looking(2, 4, 4, 2, 2, seed=38), 2, 1)


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    given = looking(2, 4, 2, 3, 2, seed=42, dtype=torch.float64)
    return after(student.shifted_attention, *given, 2, 1)


HEAD = "def shifted_attention(q, k, v, bias, side, shift=0):"
ROLL = "cut(x.roll((-shift, -shift), dims=(1, 2))) for x in (q, k, v)"
TURN = "side, -1).transpose(2, 3)"
HOME = "seen = seen.reshape(-1, R // side, C // side, side, side, v.shape[3]).transpose(2, 3)"
BACK = "return seen.reshape(-1, R, C, v.shape[3]).roll((shift, shift), dims=(1, 2))"
MASK = "scores = scores.masked_fill(region != region.mT, -torch.inf)"
AROUND = "around = 2 * (torch.arange(R) >= R - shift)[:, None] + (torch.arange(C) >= C - shift)"
SCORES = "scores = q @ k.mT / q.shape[3] ** 0.5 + bias"
SEEN = "seen = scores.softmax(dim=-1) @ v"
WHOLE = source_of(shifted_attention)


def changed(*edits):
    """Return our answer with several passages changed."""
    text = WHOLE
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


for name, edits, hint in (
    (
        "the roll's sign, and back",
        (
            (ROLL, ROLL.replace("-shift, -shift", "shift, shift")),
            (BACK, BACK.replace("(shift, shift", "(-shift, -shift")),
        ),
        "You roll by +shift first and by −shift at the end. It is the other way round: windows "
        "that move down are a map that moves up. The mask looks for strangers in the last rows "
        "and columns, and yours stand in the first ones.",
    ),
    (
        "the roll's sign, and back, no mask",
        (
            (ROLL, ROLL.replace("-shift, -shift", "shift, shift")),
            (BACK, BACK.replace("(shift, shift", "(-shift, -shift")),
            (MASK, "pass"),
        ),
        "Two things: you have forgotten the mask; and you roll by +shift first and by −shift at "
        "the end, where it is the other way round.",
    ),
    (
        "no roll back, no mask",
        ((BACK, "return seen.reshape(-1, R, C, v.shape[3])"), (MASK, "pass")),
        "Two things: you have forgotten the mask; and you do not roll back at the end.",
    ),
    (
        "nothing rolled, masked all the same",
        ((ROLL, "cut(x) for x in (q, k, v)"), (BACK, "return seen.reshape(-1, R, C, v.shape[3])")),
        "You do not roll the map, and hide cells that are real neighbours. The mask undoes a side "
        "effect of the roll; without that there is nothing to undo.",
    ),
    (
        "rows rolled only, and back",
        (
            (ROLL, "cut(x.roll(-shift, dims=1)) for x in (q, k, v)"),
            (BACK, "return seen.reshape(-1, R, C, v.shape[3]).roll(shift, dims=1)"),
        ),
        "You roll the rows, and the columns stay. Windows move in both directions: rows and "
        "columns are the axes 1 and 2, and axis 0 is the batch.",
    ),
    (
        "columns rolled only, and back",
        (
            (ROLL, "cut(x.roll(-shift, dims=2)) for x in (q, k, v)"),
            (BACK, "return seen.reshape(-1, R, C, v.shape[3]).roll(shift, dims=2)"),
        ),
        "You roll the columns, and the rows stay. Windows are shifted in both directions.",
    ),
    (
        "all numbers rolled",
        (
            (ROLL, "cut(x.roll(-shift)) for x in (q, k, v)"),
            (BACK, "return seen.reshape(-1, R, C, v.shape[3]).roll(shift)"),
        ),
        "Without `dims` roll takes all numbers for one long row. Roll rows and columns, the axes 1 "
        "and 2.",
    ),
    (
        "view without transpose, there and back",
        ((TURN, "side, -1)"), (HOME, HOME.removesuffix(".transpose(2, 3)"))),
        "Your windows are stretches of whole rows: reshape alone moves no cell. Cut with your "
        "`windows`.",
    ),
    (
        "view without transpose, there and back, no mask",
        ((TURN, "side, -1)"), (HOME, HOME.removesuffix(".transpose(2, 3)")), (MASK, "pass")),
        "Two things: your windows are stretches of whole rows, for reshape alone moves no cell; "
        "and you have forgotten the mask.",
    ),
    (
        "all cells see all",
        (
            ("x.flatten(3, 4).flatten(1, 2)", "x.flatten(1, 4)[:, None]"),
            (" + bias", " + bias.mean()"),
        ),
        "Each of your cells looks at the whole map. It is its window only.",
    ),
):
    QUESTION.mistake(name, old=WHOLE, new=changed(*edits), hint=hint)

for name, old, new, hint in (
    (
        "no mask",
        f"    {MASK}\n",
        "",
        "You have forgotten the mask. In the rolled map cells from opposite edges share a window, "
        "and nothing breaks when they look at each other; so nobody notices.",
    ),
    (
        "True means hidden",
        "region != region.mT",
        "region == region.mT",
        "You hide whom a cell may see, and keep the strangers; where nobody is left the result is "
        "nan. True means: may attend.",
    ),
    (
        "the roll's sign",
        ROLL,
        ROLL.replace("-shift, -shift", "shift, shift"),
        "You roll down and to the right before the attention, and once more behind it. "
        "Windows that move down and to the right are a map that moves up and to the left: −shift "
        "first, +shift at the end.",
    ),
    (
        "no roll back",
        BACK,
        "return seen.reshape(-1, R, C, v.shape[3])",
        "You do not roll back. Each result belongs to the place of its query.",
    ),
    (
        "rolled on",
        BACK,
        BACK.replace("(shift, shift", "(-shift, -shift"),
        "At the end you roll in the same direction once more. To undo it, roll by +shift.",
    ),
    (
        "the shift ignored",
        HEAD,
        f"{HEAD}\n    shift = 0",
        "Your windows stay where they are, whatever `shift` says.",
    ),
    (
        "half a window, whatever the shift",
        HEAD,
        f"{HEAD}\n    shift = side // 2",
        "You shift by half a window, whatever `shift` says.",
    ),
    (
        "half a window if nothing is said",
        "shift=0",
        "shift=1",
        "Without the last argument you shift. The default is 0, windows that stay.",
    ),
    (
        "rows rolled only",
        ROLL,
        "cut(x.roll(-shift, dims=1)) for x in (q, k, v)",
        "Before the attention you roll the rows only. Columns go along.",
    ),
    (
        "keys that stay",
        ROLL,
        ROLL.replace("-shift, -shift", "-shift * (x is not k), -shift * (x is not k)"),
        "Your keys are not rolled. Queries, keys and values belong to the same cells and go "
        "together.",
    ),
    (
        "values that stay",
        ROLL,
        ROLL.replace("-shift, -shift", "-shift * (x is not v), -shift * (x is not v)"),
        "Your values are not rolled. Queries, keys and values belong to the same cells and go "
        "together.",
    ),
    (
        "queries that stay",
        ROLL,
        ROLL.replace("-shift, -shift", "-shift * (x is not q), -shift * (x is not q)"),
        "Your queries are not rolled. Queries, keys and values belong to the same cells and go "
        "together.",
    ),
    (
        "rows only",
        AROUND,
        "around = 2 * (torch.arange(R) >= R - shift)[:, None] + 0 * torch.arange(C)",
        "Your mask asks only whether a row has come around. A column may have, too.",
    ),
    (
        "columns only",
        AROUND,
        "around = 0 * torch.arange(R)[:, None] + (torch.arange(C) >= C - shift)",
        "Your mask asks only whether a column has come around. A row may have, too.",
    ),
    (
        "counted edges",
        AROUND,
        AROUND.replace("2 *", "1 *"),
        "Your mask takes what came around from above and what came around from the left for "
        "neighbours. They are two regions.",
    ),
    (
        "one region of strangers",
        AROUND,
        "down, right = torch.arange(R) >= R - shift, torch.arange(C) >= C - shift\n"
        "    around = down[:, None] | right",
        "Your mask has two regions, what came around and what did not. There are four: a cell may "
        "have come around from above, from the left, from both or from neither.",
    ),
    (
        "all of the last window hidden",
        MASK,
        "if shift:\n        scores[:, -1] = -torch.inf",
        "You hide all of the last window, so its cells see nobody and become nan. In it cells of "
        "one region may look at each other.",
    ),
    (
        "minus a hundred",
        "masked_fill(region != region.mT, -torch.inf)",
        "add(-100.0 * (region != region.mT))",
        "You take 100 off the scores of strangers, as the authors' code does. One whose score is "
        "larger by more than that still gets through: −∞ lets nobody.",
    ),
    (
        "score zero",
        "masked_fill(region != region.mT, -torch.inf)",
        "masked_fill(region != region.mT, 0.0)",
        "You set the scores of strangers to 0, or multiply them by the mask, which is the same. e⁰ "
        "is 1: they get a share. −∞ gives exactly 0.",
    ),
    (
        "masked behind the softmax",
        f"{MASK}\n    {SEEN}",
        "seen = (scores.softmax(dim=-1) * (region == region.mT)) @ v",
        "You take the strangers' shares away behind the softmax. What is left does not sum to 1; "
        "put −∞ before it.",
    ),
    (
        "only the strangers' values gone",
        f"{MASK}\n    {SEEN}",
        "shares = scores.softmax(dim=-1).masked_fill(region != region.mT, 0.0)\n"
        "    seen = (shares / shares.sum(dim=-1, keepdim=True)) @ v",
        "You take the strangers' shares away behind the softmax and divide by what is left. Where "
        "strangers have very large scores nothing is left to divide by: put −∞ before the softmax.",
    ),
    (
        "not scaled",
        " / q.shape[3] ** 0.5",
        "",
        "Your scores are not divided by the root of D.",
    ),
    (
        "scaled by the width of the values",
        "q.shape[3] ** 0.5",
        "v.shape[3] ** 0.5",
        "You divide by the root of the width of the values. It is that of queries and keys.",
    ),
    (
        "scaled by the keys",
        "q.shape[3] ** 0.5",
        "side",
        "You divide by the side of the window, the root of the number of keys. It is the root of "
        "D, of the width of queries and keys.",
    ),
    (
        "scaled by D",
        "q.shape[3] ** 0.5",
        "q.shape[3]",
        "You divide by D. It is its root.",
    ),
    (
        "no biases",
        "** 0.5 + bias",
        "** 0.5",
        "You have forgotten the biases.",
    ),
    (
        "biases turned around",
        "** 0.5 + bias",
        "** 0.5 + bias.mT",
        "You add the biases turned around. Their rows are the queries, their columns the keys.",
    ),
    (
        "biases scaled",
        SCORES,
        "scores = (q @ k.mT + bias) / q.shape[3] ** 0.5",
        "You divide the biases by the root of D as well. They are added behind that.",
    ),
    (
        "biases behind the softmax",
        f"{SCORES}  # (B, W, M², M²)\n    {MASK}\n    {SEEN}",
        "scores = q @ k.mT / q.shape[3] ** 0.5\n"
        f"    {MASK}\n    seen = (scores.softmax(dim=-1) + bias) @ v",
        "You add the biases to the shares. They belong to the scores, before the softmax.",
    ),
    (
        "biases rolled",
        "** 0.5 + bias",
        "** 0.5 + bias.roll((-shift, -shift), dims=(0, 1))",
        "You roll the biases. They belong to the places within a window, and these do not move.",
    ),
    (
        "queries and keys swapped",
        SCORES,
        "scores = k @ q.mT / q.shape[3] ** 0.5 + bias",
        "Your keys ask and your queries answer. Rows of the scores are queries.",
    ),
    (
        "softmax down the queries",
        "softmax(dim=-1)",
        "softmax(dim=-2)",
        "Your softmax runs down the queries. Each query has one share for each key, and these sum "
        "to 1.",
    ),
    (
        "softmax across the windows",
        "softmax(dim=-1)",
        "softmax(dim=1)",
        "Your softmax runs across the windows. Each query has a share for each key of its own.",
    ),
    (
        "no softmax",
        f"{MASK}\n    {SEEN}",
        "seen = scores.masked_fill(region != region.mT, 0.0) @ v",
        "There is no softmax in yours.",
    ),
    (
        "softmax by hand",
        "scores.softmax(dim=-1)",
        "(scores.exp() / scores.exp().sum(dim=-1, keepdim=True))",
        "With scores in the thousands your exponentials are infinite. Use softmax, or take the "
        "largest score off first.",
    ),
    (
        "view without transpose, back",
        HOME,
        HOME.removesuffix(".transpose(2, 3)"),
        "The windows do not go back to where they were: reshape alone puts the cells of a window "
        "one behind the other into the rows of the map. Your `windows` knows the way back.",
    ),
    (
        "cut into stretches, back as windows",
        TURN,
        "side, -1)",
        "Your windows are stretches of whole rows: reshape alone moves no cell. Cut with your "
        "`windows`.",
    ),
    (
        "the windows of all maps in one",
        "scores.softmax(dim=-1) @ v",
        "scores.mean(dim=0, keepdim=True).softmax(dim=-1) @ v",
        "Your maps share their shares. Each map looks at itself only.",
    ),
    (
        "the first window's mask for all",
        "region != region.mT",
        "(region != region.mT)[:, :1]",
        "All windows have the mask of the first one, in which nobody is a stranger. Each window "
        "has a table of its own.",
    ),
    (
        "the last window's mask for all",
        "region != region.mT",
        "(region != region.mT)[:, -1:]",
        "All windows have the mask of the last one. Each window has a table of its own.",
    ),
    (
        "the masks repeated each",
        MASK,
        "closed = (region != region.mT).repeat_interleave(len(q), dim=1)\n"
        "    closed = closed.reshape(len(q), -1, side**2, side**2)\n"
        "    scores = scores.masked_fill(closed, -torch.inf)",
        "You repeat the mask of each window for all maps, window by window. The batch has all "
        "windows of map 0 first, then those of map 1: repeat the whole list.",
    ),
    (
        "the masks of one map only",
        f"{MASK}\n    {SEEN}",
        "scores = scores.flatten(0, 1).masked_fill((region != region.mT)[0], -torch.inf)\n"
        "    seen = scores.softmax(dim=-1) @ v.flatten(0, 1)",
        "With more maps than one your mask does not fit the scores: it has a table for each window "
        "of one map, and the batch has the windows of all of them.",
    ),
    (
        "the masks of one map only, for the first",
        f"{MASK}\n    {SEEN}",
        "scores[:1] = scores[:1].masked_fill(region != region.mT, -torch.inf)\n"
        "    seen = scores.softmax(dim=-1) @ v",
        "Your mask reaches the first map only. The batch has the windows of all maps.",
    ),
    (
        "a window's results as a list",
        f"{HOME}\n    {BACK}",
        "return seen",
        "You return the windows. Put them back, and roll: (B, R, C, E).",
    ),
    (
        "the shares as well",
        BACK,
        f"{BACK}, scores.softmax(dim=-1)",
        "You return the shares as well. One tensor is asked for.",
    ),
    (
        "in single precision",
        BACK,
        f"{BACK}.float()",
        "Your result is float32, whatever the dtype of what you were given.",
    ),
    (
        "no gradient at the biases",
        "** 0.5 + bias",
        "** 0.5 + bias.detach()",
        "No gradient reaches the biases. They are learned: leave out detach, `.data` and "
        "torch.tensor.",
    ),
    (
        "no gradient",
        BACK,
        f"{BACK}.detach()",
        "The numbers are right, but no gradient gets back. Leave out detach, `.data`, numpy and "
        "torch.tensor.",
    ),
    (
        "the biases masked in place",
        f"{SCORES}  # (B, W, M², M²)",
        f"{SCORES}\n    bias.data[0] = 0.0",
        "The result is right, but the biases are no longer what you were given. += and "
        "masked_fill_ write into them.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)
