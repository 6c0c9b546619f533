"""How many multiplications one layer of attention takes, on a whole map and within windows."""

from __future__ import annotations

from coursekit.exercises.edits import source_of
from coursekit.exercises.question import Question


def window_flops(rows, columns, width, heads, side=None):
    """Sizes of a map and of a layer, the side of the windows (None: none) -> multiplications."""
    if side is not None:
        rows, columns = -(-rows // side) * side, -(-columns // side) * side  # whole windows
    cells = rows * columns
    keys = cells if side is None else side**2
    return 4 * cells * width**2 + 2 * cells * keys * width


QUESTION = Question(
    name="window_flops",
    title="What is saved",
    points=2,
    difficulty=1,
    minutes=15,
    page="swin.html#sec-swin-cost",
    hint="Ask what a single cell costs, and with how many keys it meets. A product of a vector of "
    "n numbers and a matrix of n × m takes n · m multiplications. And the heads: each has fewer "
    "numbers, and there are more of them.",
    reference=window_flops,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="one head, a small map, windows of 2")
def small(student):
    return student.window_flops(4, 4, 3, 1, 2)


@QUESTION.visible(says="a whole map that looks at itself", weight=2)
def whole_maps(student):
    return [student.window_flops(*sizes) for sizes in ((4, 4, 3, 1), (5, 7, 8, 1), (1, 1, 2, 1))]


@QUESTION.visible(says="the first stage of Swin-T, with windows and without", weight=2)
def first_stage(student):
    return student.window_flops(56, 56, 96, 3, 7), student.window_flops(56, 56, 96, 3)


@QUESTION.visible(says="wider than high; one, two and four heads")
def heads_and_sides(student):
    return [
        student.window_flops(6, 12, 8, heads, side) for heads in (1, 2, 4) for side in (None, 3)
    ]


@QUESTION.visible(says="maps that windows do not divide")
def not_divided(student):
    return [student.window_flops(*size, 4, 2, 4) for size in ((5, 8), (8, 5), (7, 9), (3, 2))]


FILLED = "rows, columns = -(-rows // side) * side, -(-columns // side) * side  # whole windows"
KEYS = "keys = cells if side is None else side**2"
WHOLE = source_of(window_flops)
END = "return 4 * cells * width**2 + 2 * cells * keys * width"

SINGLE = (
    (
        "projections forgotten",
        END,
        "return 2 * cells * keys * width",
        "You count the scores and the sum of the values. Queries, keys, values and the output are "
        "projections, and they are the larger part.",
    ),
    (
        "the output's projection forgotten",
        END,
        END.replace("4 *", "3 *"),
        "You count three projections. The output has one, too.",
    ),
    (
        "one projection",
        END,
        END.replace("4 *", "1 *"),
        "You count one projection. There are four: queries, keys, values and the output.",
    ),
    (
        "the projections alone",
        END,
        "return 4 * cells * width**2",
        "You count the projections. The scores and the sum of the values cost, too.",
    ),
    (
        "the scores alone",
        END,
        END.replace("2 *", "1 *"),
        "You count the scores, and not the sum of the values, or the other way round. Each takes "
        "D multiplications for every pair.",
    ),
    (
        "n² in any case",
        KEYS,
        "keys = cells",
        "With windows, too, you let every cell look at every other. It looks at the M² of its "
        "window.",
    ),
    (
        "always windows",
        KEYS,
        "keys = (side or 7) ** 2",
        "Without windows you count windows of 7. If `side` is None each cell looks at all.",
    ),
    (
        "M for M²",
        KEYS,
        "keys = cells if side is None else side",
        "You let a cell look at M others. A window has M rows and M columns, M² cells.",
    ),
    (
        "M⁴",
        KEYS,
        "keys = cells if side is None else side**4",
        "You count the pairs of a window for each cell. A window has M⁴ pairs, each of its cells "
        "has M² of them.",
    ),
    (
        "one window",
        END,
        "return 4 * cells * width**2 + 2 * keys * keys * width",
        "Your second term counts the pairs of one window. There are as many windows as fit into "
        "the map.",
    ),
    (
        "heads multiply",
        END,
        "return 4 * cells * width**2 + 2 * heads * cells * keys * width",
        "You multiply the pairs by the heads. Each head has D/H numbers, and there are H of them: "
        "D in all.",
    ),
    (
        "heads multiply all",
        END,
        "return heads * (4 * cells * width**2 + 2 * cells * keys * width)",
        "You multiply by the heads. Each head has D/H numbers, and there are H of them: D in all.",
    ),
    (
        "heads divide",
        END,
        "return 4 * cells * width**2 + 2 * cells * keys * width // heads",
        "You divide the pairs by the heads. Each head has D/H numbers, and there are H of them: D "
        "in all.",
    ),
    (
        "one head of the width",
        END,
        "return 4 * cells * width**2 // heads + 2 * cells * keys * width // heads",
        "You count one head. There are H of them.",
    ),
    (
        "width once",
        END,
        "return 4 * cells * width + 2 * cells * keys * width",
        "A projection of one cell takes a matrix of D × D: D² multiplications, not D.",
    ),
    (
        "pairs without the width",
        END,
        "return 4 * cells * width**2 + 2 * cells * keys",
        "You count a pair once. Its score is a product of vectors of D numbers.",
    ),
    (
        "additions too",
        END,
        "return 2 * (4 * cells * width**2 + 2 * cells * keys * width)",
        "You count additions as well, and come to twice as many. Multiplications are asked for.",
    ),
    (
        "nothing filled up",
        FILLED,
        "pass",
        "You count the cells of the map as it is. Where windows do not divide it, it is filled up "
        "to whole windows, and the cells that were filled in cost as much as others.",
    ),
    (
        "rounded down",
        FILLED,
        "rows, columns = rows // side * side, columns // side * side",
        "You drop what does not fill a window. The map is filled up, to the next whole window.",
    ),
    (
        "one more window",
        FILLED,
        "rows, columns = (rows // side + 1) * side, (columns // side + 1) * side",
        "You fill up where nothing is missing: a map that windows divide stays as it is.",
    ),
    (
        "filled up by cells",
        f"{FILLED}\n    cells = rows * columns",
        "pass\n    cells = rows * columns\n"
        "    cells = cells if side is None else -(-cells // side**2) * side**2",
        "You fill up the number of cells to a multiple of a window's. It is rows and columns that "
        "are filled up, each for itself.",
    ),
    (
        "the projections not filled up",
        f"    if side is not None:\n        {FILLED}\n    cells = rows * columns\n",
        "    given = rows * columns\n    if side is not None:\n"
        f"        {FILLED}\n    cells = rows * columns\n"
        "    return 4 * given * width**2 + 2 * cells * (side or 0) ** 2 * width if side else (\n"
        "        4 * given * width**2 + 2 * given**2 * width)\n",
        "Your projections leave out the cells that were filled in. They have queries, keys and "
        "values as well.",
    ),
    (
        "nothing filled up, in whole windows",
        f"{FILLED}\n    cells = rows * columns",
        "pass\n    cells = rows * columns\n"
        "    if side is not None:\n"
        "        windows = (rows // side) * (columns // side)\n"
        "        return 4 * cells * width**2 + 2 * windows * side**4 * width",
        "Where windows do not divide the map you count only the whole ones. It is filled up below "
        "and on the right, and all windows count.",
    ),
    (
        "the rows alone",
        "cells = rows * columns",
        "cells = rows * rows",
        "You take the map for square.",
    ),
    (
        "a side, not cells",
        "cells = rows * columns",
        "cells = rows + columns",
        "You add rows and columns. A map has R · C cells.",
    ),
    (
        "a float",
        END,
        "return float(4 * cells * width**2 + 2 * cells * keys * width)",
        "The number is right, but a float. Return an int: // in the place of /, where you divide.",
    ),
    (
        "two numbers",
        END,
        "return 4 * cells * width**2, 2 * cells * keys * width",
        "You return two numbers. Add them.",
    ),
    (
        "in billions",
        END,
        "return (4 * cells * width**2 + 2 * cells * keys * width) / 1e9",
        "You count in billions. The number itself is asked for.",
    ),
    (
        "heads multiply, projections forgotten",
        END,
        "return 2 * heads * cells * keys * width",
        "Two things: queries, keys, values and the output are projections, and cost as well; and "
        "heads do not multiply anything, since each has D/H numbers only.",
    ),
    (
        "M for M², projections forgotten",
        f"{KEYS}\n    {END}",
        "keys = cells if side is None else side\n    return 2 * cells * keys * width",
        "Two things: queries, keys, values and the output are projections, and cost as well; and a "
        "cell looks at the M² cells of its window, not at M.",
    ),
)

for name, old, new, hint in SINGLE:
    QUESTION.mistake(name, old=old, new=new, hint=hint)

MORE = "where windows do not divide the map it is filled up to whole ones, which cost as well."

for name, old, new, hint in SINGLE[:14]:
    QUESTION.mistake(
        f"{name}, nothing filled up",
        old=WHOLE,
        new=WHOLE.replace(old, new).replace(FILLED, "pass"),
        hint=f"Two things. {hint} And {MORE}",
    )

QUESTION.mistake(
    "heads multiply, projections forgotten, nothing filled up",
    old=WHOLE,
    new=WHOLE.replace(END, "return 2 * heads * cells * keys * width").replace(FILLED, "pass"),
    hint="Three things: queries, keys, values and the output are projections, and cost as well; "
    f"heads do not multiply anything, since each has D/H numbers only; and {MORE}",
)
