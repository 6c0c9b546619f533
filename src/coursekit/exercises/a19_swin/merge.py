"""Four cells of a map become one, twice as wide."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def merge(x, gain, bias, weight, eps=1e-5):
    """x (B, R, C, D), gain and bias (4D,), weight (E, 4D) -> (B, ⌈R/2⌉, ⌈C/2⌉, E)."""
    x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))
    corners = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
    x = torch.cat(corners, dim=-1)  # (B, R/2, C/2, 4D)
    x = x - x.mean(dim=-1, keepdim=True)
    x = x / (x.var(dim=-1, keepdim=True, correction=0) + eps).sqrt()
    return (gain * x + bias) @ weight.T  # (B, R/2, C/2, E)


QUESTION = Question(
    name="merge",
    title="Four cells in one",
    points=3,
    difficulty=2,
    minutes=25,
    page="swin.html#sec-swin-merging",
    hint="Which slice of the map has all the upper left cells, and which the lower left ones? Four "
    "such slices, joined end to end, are the long vectors. What is done to them next is a "
    "LayerNorm over all their numbers, and last comes the matrix.",
    reference=merge,
    forbidden=("coursekit",),
)


def maps(B, R, C, D, seed, E=None, dtype=torch.float32):
    """Return maps, and what a norm over four cells and a matrix behind it need."""
    wide, out = 4 * D, 2 * D if E is None else E
    return (
        2 + randn(B, R, C, D, seed=seed, dtype=dtype),
        1 + 0.3 * randn(wide, seed=seed + 1, dtype=dtype),
        randn(wide, seed=seed + 2, dtype=dtype),
        randn(out, wide, seed=seed + 3, dtype=dtype) / wide**0.5,
    )


@QUESTION.visible(says="one map of 2 × 2 cells with one number each")
def four_cells(student):
    cells = torch.tensor([[1.0, 3.0], [2.0, 5.0]]).reshape(1, 2, 2, 1)
    steps = torch.tensor([[1.0, 10.0, 100.0, 1000.0], [1.0, 0.0, 0.0, 0.0]])
    return student.merge(cells, torch.ones(4), torch.zeros(4), steps)


@QUESTION.visible(says="two maps, wider than high", weight=2)
def wider_than_high(student):
    return student.merge(*maps(2, 4, 6, 3, seed=50))


@QUESTION.visible(says="an odd number of rows, of columns, of both", weight=2)
def odd_sides(student):
    return [student.merge(*maps(2, R, C, 2, seed=54)) for R, C in ((3, 4), (2, 5), (5, 3))]


@QUESTION.visible(says="another width than twice the old one")
def another_width(student):
    return [student.merge(*maps(1, 4, 2, 2, seed=58, E=E)) for E in (1, 5, 8)]


@QUESTION.visible(says="four cells that are nearly alike; other values of eps", tolerance=1e-3)
def alike(student):
    x, *weights = maps(1, 2, 4, 2, seed=62)
    x = 0.1 + 0.01 * x
    return [student.merge(x, *weights, *eps) for eps in ((), (1e-3,), (0.5,))]


@QUESTION.visible(says="gradients")
def with_gradients(student):
    return gradients(student.merge, *maps(2, 3, 4, 2, seed=66))


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.merge, *maps(2, 4, 3, 2, seed=70, dtype=torch.float64))


PAD = "x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))"
CORNERS = "corners = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]"
JOIN = "x = torch.cat(corners, dim=-1)"
JOINED = f"{CORNERS}\n    {JOIN}  # (B, R/2, C/2, 4D)"
MEAN = "x = x - x.mean(dim=-1, keepdim=True)"
SPREAD = "x = x / (x.var(dim=-1, keepdim=True, correction=0) + eps).sqrt()"
NORM = f"{MEAN}\n    {SPREAD}"
END = "return (gain * x + bias) @ weight.T"

for name, old, new, hint in (
    (
        "order of four",
        "for column in (0, 1) for row in (0, 1)",
        "for row in (0, 1) for column in (0, 1)",
        "Your four are in reading order. Here it is the row that changes first: upper left, lower "
        "left, upper right, lower right.",
    ),
    (
        "clockwise",
        CORNERS,
        "corners = [x[:, r::2, c::2] for r, c in ((0, 0), (0, 1), (1, 1), (1, 0))]",
        "You go around the four cells. The order is upper left, lower left, upper right, lower "
        "right.",
    ),
    (
        "against the clock",
        CORNERS,
        "corners = [x[:, r::2, c::2] for r, c in ((0, 0), (1, 0), (1, 1), (0, 1))]",
        "You go around the four cells, against the clock. The order is upper left, lower left, "
        "upper right, lower right.",
    ),
    (
        "view without transpose",
        JOINED,
        "x = x.reshape(len(x), x.shape[1] // 2, x.shape[2] // 2, -1)",
        "You reshape only: your four cells stand side by side in one row. They are two of one row "
        "and the two below.",
    ),
    (
        "number by number",
        JOIN,
        "x = torch.stack(corners, dim=-1).flatten(3)",
        "Your long vectors have the first number of all four cells, then the second. The cells are "
        "joined end to end: first all numbers of the upper left one.",
    ),
    (
        "in reading order, number by number",
        JOINED,
        "corners = [x[:, row::2, column::2] for row in (0, 1) for column in (0, 1)]\n"
        "    x = torch.stack(corners, dim=-1).flatten(3)",
        "Two things: the row changes first, upper left, lower left, upper right, lower right; and "
        "the cells are joined end to end, first all numbers of the upper left one.",
    ),
    (
        "2 × 2 mean",
        f"{JOINED}\n    {NORM}\n    {END}",
        "x = torch.stack([x[:, a::2, b::2] for a in (0, 1) for b in (0, 1)]).mean(dim=0)\n"
        "    return x.repeat(1, 1, 1, 4) @ weight.T",
        "You average over the four cells, and what distinguishes them is gone. They are joined end "
        "to end, and the matrix decides what is kept.",
    ),
    (
        "4D kept",
        END,
        "return gain * x + bias",
        "Your cells have all 4D numbers still. The matrix brings them to E.",
    ),
    (
        "norm after",
        f"{NORM}\n    {END}",
        "x = x @ weight.T\n"
        "    x = x - x.mean(dim=-1, keepdim=True)\n"
        "    x = x / (x.var(dim=-1, keepdim=True, correction=0) + eps).sqrt()\n"
        "    return gain[: len(weight)] * x + bias[: len(weight)]",
        "Your norm stands behind the matrix. It comes before, over all 4D numbers, as gain and "
        "bias tell, which have so many.",
    ),
    (
        "no norm",
        f"{NORM}\n    {END}",
        "return x @ weight.T",
        "There is no LayerNorm in yours. It stands before the matrix.",
    ),
    (
        "gain and bias without a norm",
        f"{NORM}\n    ",
        "",
        "You multiply by the gain and add the bias, but nothing is brought to one scale before: "
        "subtract the mean of the 4D numbers, and divide by their spread.",
    ),
    (
        "each cell for itself",
        NORM,
        "x = x.unflatten(-1, (4, -1))\n"
        "    x = x - x.mean(dim=-1, keepdim=True)\n"
        "    x = x / (x.var(dim=-1, keepdim=True, correction=0) + eps).sqrt()\n"
        "    x = x.flatten(3)",
        "You norm each of the four cells for itself. It is one norm over all 4D numbers, so that "
        "the differences between the cells stay.",
    ),
    (
        "over the map",
        NORM,
        "x = x - x.mean(dim=(1, 2), keepdim=True)\n"
        "    x = x / (x.var(dim=(1, 2), keepdim=True, correction=0) + eps).sqrt()",
        "Your norm takes means over the map. A LayerNorm takes them over the numbers of one cell.",
    ),
    (
        "the unbiased variance",
        "correction=0",
        "correction=1",
        "Your variance is divided by 4D − 1. A LayerNorm divides by 4D.",
    ),
    (
        "eps outside of the root",
        "(x.var(dim=-1, keepdim=True, correction=0) + eps).sqrt()",
        "(x.var(dim=-1, keepdim=True, correction=0).sqrt() + eps)",
        "You add eps to the standard deviation, behind the root. It is added to the variance.",
    ),
    (
        "no eps",
        " + eps).sqrt()",
        ").sqrt()",
        "You leave eps out. Four cells that are alike have no spread by which to divide.",
    ),
    (
        "its own eps",
        "correction=0) + eps)",
        "correction=0) + 1e-5)",
        "Your eps is always 0.00001, whatever `eps` says.",
    ),
    (
        "another eps",
        "eps=1e-5",
        "eps=1e-6",
        "Your eps is another one, if none is given. Its default is 0.00001.",
    ),
    (
        "not divided",
        f"\n    {SPREAD}",
        "",
        "You subtract the mean and do not divide by the spread.",
    ),
    (
        "the mean stays",
        f"{MEAN}\n    ",
        "",
        "You divide by the spread and do not subtract the mean.",
    ),
    (
        "divided by the variance",
        "+ eps).sqrt()",
        "+ eps)",
        "You divide by the variance. It is its root.",
    ),
    (
        "no gain",
        "gain * x",
        "x",
        "You leave the gain out.",
    ),
    (
        "no bias",
        " + bias",
        "",
        "You leave the bias of the norm out.",
    ),
    (
        "neither gain nor bias",
        "(gain * x + bias)",
        "x",
        "You leave gain and bias out. They are a part of the norm.",
    ),
    (
        "the bias behind the matrix",
        END,
        "return (gain * x) @ weight.T + bias[: len(weight)]",
        "You add the bias behind the matrix. It belongs to the norm, 4D numbers; the matrix has "
        "none.",
    ),
    (
        "the matrix turned around",
        "@ weight.T",
        "@ weight.reshape(weight.shape[::-1])",
        "You read the matrix as (4D, E). It is (E, 4D), as in torch's Linear: a row for each new "
        "number.",
    ),
    (
        "the remainder cut off",
        PAD,
        "x = x[:, : x.shape[1] // 2 * 2, : x.shape[2] // 2 * 2]",
        "Where a side is odd you drop its last row or column. It is filled up with zeros.",
    ),
    (
        "the remainder cut off, order of four",
        f"{PAD}\n    {CORNERS}",
        "x = x[:, : x.shape[1] // 2 * 2, : x.shape[2] // 2 * 2]\n"
        "    corners = [x[:, row::2, column::2] for row in (0, 1) for column in (0, 1)]",
        "Two things: the order of the four is upper left, lower left, upper right, lower right; "
        "and where a side is odd you drop its last row or column, which is filled up with zeros.",
    ),
    (
        "odd sides not filled up",
        f"{PAD}\n    ",
        "",
        "Where a side is odd your slices have different sizes. The map is filled up with zeros, a "
        "row below or a column on the right.",
    ),
    (
        "odd sides not filled up, order of four",
        f"{PAD}\n    {CORNERS}",
        "corners = [x[:, row::2, column::2] for row in (0, 1) for column in (0, 1)]",
        "Two things: the order of the four is upper left, lower left, upper right, lower right; "
        "and where a side is odd the map is filled up with zeros, a row below or a column on the "
        "right.",
    ),
    (
        "rows not filled up",
        PAD,
        "x = F.pad(x, (0, 0, 0, x.shape[2] % 2))",
        "You fill up the columns. The number of rows may be odd, too.",
    ),
    (
        "columns not filled up",
        PAD,
        "x = F.pad(x, (0, 0, 0, 0, 0, x.shape[1] % 2))",
        "You fill up the rows. The number of columns may be odd, too.",
    ),
    (
        "filled up above and on the left",
        PAD,
        "x = F.pad(x, (0, 0, x.shape[2] % 2, 0, x.shape[1] % 2, 0))",
        "Where a side is odd you put the zeros above or on the left. They stand below and on the "
        "right.",
    ),
    (
        "always filled up",
        PAD,
        "x = F.pad(x, (0, 0, 0, 2 - x.shape[2] % 2, 0, 2 - x.shape[1] % 2))",
        "You add rows and columns where the map is even already.",
    ),
    (
        "filled up with the last row again",
        PAD,
        "x = torch.cat([x, x[:, -1:]] if x.shape[1] % 2 else [x], dim=1)\n"
        "    x = torch.cat([x, x[:, :, -1:]] if x.shape[2] % 2 else [x], dim=2)",
        "Where a side is odd you repeat its last row or column. It is filled up with zeros.",
    ),
    (
        "overlapping",
        f"{PAD}\n    {JOINED}",
        "x = F.pad(x, (0, 0, 0, 1, 0, 1))\n"
        "    x = torch.cat([x[:, :-1, :-1], x[:, 1:, :-1], x[:, :-1, 1:], x[:, 1:, 1:]], dim=-1)",
        "Your fours overlap, and the map stays as large as it was. Each cell goes into one four: "
        "half the rows, half the columns.",
    ),
    (
        "the four on another axis",
        JOIN,
        "x = torch.cat([c.repeat(1, 1, 1, 4) for c in corners], dim=1)",
        "You join the four along the rows. They are joined to one longer vector, along the last "
        "axis.",
    ),
    (
        "one long row",
        END,
        "return ((gain * x + bias) @ weight.T).flatten(1, 2)",
        "Your cells are one long row for each map. The new map has rows and columns.",
    ),
    (
        "in single precision",
        END,
        "return ((gain * x + bias) @ weight.T).float()",
        "Your result is float32, whatever the dtype of what you were given.",
    ),
    (
        "detached",
        END,
        "return ((gain * x + bias) @ weight.T).detach()",
        "The numbers are right, but no gradient gets back. Leave out detach, `.data`, numpy and "
        "torch.tensor.",
    ),
    (
        "written into the map",
        f"{PAD}\n    {CORNERS}",
        f"given = x.data\n    {PAD}\n"
        "    corners = [x[:, b::2, a::2].clone() for a in (0, 1) for b in (0, 1)]\n"
        "    given.zero_()",
        "The result is right, but the map is no longer what you were given.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)
