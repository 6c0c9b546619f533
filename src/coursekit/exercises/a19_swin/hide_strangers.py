"""Who may attend to whom within the windows of a rolled map."""

from __future__ import annotations

import torch

from coursekit.exercises.question import Question


def hide_strangers(rows, columns, side, shift):
    """The sizes of a rolled map -> (W, M², M²), True = may attend."""
    down = torch.arange(rows) >= rows - shift  # (R,), True for what has come around
    right = torch.arange(columns) >= columns - shift  # (C,)
    region = 2 * down[:, None] + right  # (R, C), one of four numbers
    region = region.reshape(rows // side, side, columns // side, side)
    region = region.transpose(1, 2).reshape(-1, side * side)  # (W, M²)
    return region[:, :, None] == region[:, None, :]  # (W, M², M²)


QUESTION = Question(
    name="hide_strangers",
    title="Who came around",
    points=4,
    difficulty=3,
    minutes=35,
    page="swin.html#sec-swin-mask",
    hint="Take a map of 4 × 4 cells with windows of 2 and a shift of 1. Write the number of each "
    "cell into a table, roll it on paper, and mark what has come around the edge, rows in one "
    "colour and columns in another. Then go through the four windows. What must two cells of one "
    "window have in common, so that they lay side by side before? Give each cell of the map a name "
    "that says it, cut the map of names into windows, and compare each with each.",
    reference=hide_strangers,
    forbidden=("coursekit",),
    needs=("windows",),
)


@QUESTION.visible(says="4 × 4 cells, windows of 2, a shift of 1")
def four_windows(student):
    return student.hide_strangers(4, 4, 2, 1)


@QUESTION.visible(says="8 × 8 cells, windows of 4, a shift of 2, as on the page", weight=2)
def as_on_the_page(student):
    return student.hide_strangers(8, 8, 4, 2)


@QUESTION.visible(says="wider than high, and higher than wide", weight=2)
def not_square(student):
    return student.hide_strangers(4, 6, 2, 1), student.hide_strangers(9, 6, 3, 1)


@QUESTION.visible(says="windows of 5: shifts of 1, 2, 3 and 4 cells")
def other_shifts(student):
    return [student.hide_strangers(10, 15, 5, shift) for shift in (1, 2, 3, 4)]


@QUESTION.visible(says="no shift", weight=0.5)
def no_shift(student):
    return student.hide_strangers(6, 9, 3, 0), student.hide_strangers(2, 3, 1, 0)


@QUESTION.visible(says="a single window, a single row of windows, a single column of windows")
def single_windows(student):
    return [student.hide_strangers(*size, 3, 1) for size in ((3, 3), (3, 9), (6, 3))]


DOWN = "torch.arange(rows) >= rows - shift"
RIGHT = "torch.arange(columns) >= columns - shift"
AROUND = f"down = {DOWN}  # (R,), True for what has come around\n    right = {RIGHT}  # (C,)"
REGION = "region = 2 * down[:, None] + right"
PIECES = "region = region.reshape(rows // side, side, columns // side, side)"
CELLS = "region = region.transpose(1, 2).reshape(-1, side * side)"
CUT = f"{PIECES}\n    {CELLS}  # (W, M²)"
END = "return region[:, :, None] == region[:, None, :]"

for name, old, new, hint in (
    (
        "True means hidden",
        END,
        "return region[:, :, None] != region[:, None, :]",
        "Your True hides. In this course True means that a cell may attend.",
    ),
    (
        "all strangers but oneself",
        END,
        "return torch.eye(side * side, dtype=torch.bool).expand(len(region), -1, -1)",
        "In yours each cell may attend to itself alone. All cells of its own region are open to "
        "it.",
    ),
    (
        "nothing hidden",
        END,
        "return torch.ones(len(region), side * side, side * side, dtype=torch.bool)",
        "You let everybody attend to everybody. In windows at the lower and the right edge of the "
        "rolled map there are strangers. (Whoever compares the windows of the rolled map finds all "
        "cells of a window alike; ask who was a neighbour before the roll.)",
    ),
    (
        "all of the last window hidden",
        END,
        "allowed = torch.ones(len(region), side * side, side * side, dtype=torch.bool)\n"
        "    allowed[-1] = shift == 0\n"
        "    return allowed",
        "You hide all of the last window and nothing else. Each window of the last row and of the "
        "last column has strangers, and within it cells of one region may attend to each other.",
    ),
    (
        "whole windows at the edge hidden",
        END,
        "return (region == 0).all(dim=1)[:, None, None].expand(-1, side * side, side * side)",
        "You hide whole windows, all that hold anything that came around. In such a window the "
        "cells of one region may attend to each other, those that came around too.",
    ),
    (
        "what came around hidden",
        END,
        "return ((region == 0)[:, None, :]).expand(-1, side * side, -1)",
        "You hide all that has come around, from everybody. Cells that came around the same edges "
        "were neighbours and stay so; only those of different regions are strangers.",
    ),
    (
        "one direction only",
        END,
        "return region[:, :, None] >= region[:, None, :]",
        "What came around looks at the others in yours, but not the other way round. Strangers "
        "are strangers to each other.",
    ),
    (
        "what came around, not among itself",
        END,
        "return ((region == 0)[:, :, None] & (region == 0)[:, None, :]) "
        "| torch.eye(side * side, dtype=torch.bool)",
        "In yours the cells that came around may not attend to each other. Those that came around "
        "the same edges were neighbours before, and may.",
    ),
    (
        "rows only",
        REGION,
        "region = 2 * down[:, None] + 0 * right",
        "You ask only whether a cell's row has come around. Its column may have, too.",
    ),
    (
        "columns only",
        REGION,
        "region = 0 * down[:, None] + right",
        "You ask only whether a cell's column has come around. Its row may have, too.",
    ),
    (
        "either edge",
        REGION,
        "region = down[:, None] | right",
        "You ask whether a cell has come around at all. One that came around from above and one "
        "that came around from the left are strangers as well: there are four regions.",
    ),
    (
        "counted edges",
        REGION,
        "region = down[:, None].long() + right.long()",
        "You count the edges around which a cell has come, and from above and from the left give "
        "the same number, 1. Make four numbers of the two answers.",
    ),
    (
        "both edges",
        REGION,
        "region = down[:, None] & right",
        "In yours a cell is a stranger only if it has come around both edges. One is enough.",
    ),
    (
        "the roll's sign",
        AROUND,
        "down = torch.arange(rows) < shift\n    right = torch.arange(columns) < shift",
        "You look for what has come around in the first rows and columns. The roll goes up and to "
        "the left: what falls off above comes in below, so it stands in the last ones.",
    ),
    (
        "one more came around",
        AROUND,
        "down = torch.arange(rows) >= rows - shift - (shift > 0)\n"
        "    right = torch.arange(columns) >= columns - shift - (shift > 0)",
        "One row and one column too many have come around in yours. There are `shift` of each; "
        "places count from 0.",
    ),
    (
        "one fewer came around",
        AROUND,
        "down = torch.arange(rows) > rows - shift\n"
        "    right = torch.arange(columns) > columns - shift",
        "One row and one column too few have come around in yours. There are `shift` of each, and "
        "places count from 0: the first of them is rows − shift.",
    ),
    (
        "what is left of the window",
        AROUND,
        "down = (torch.arange(rows) >= rows - side + shift) & (shift > 0)\n"
        "    right = (torch.arange(columns) >= columns - side + shift) & (shift > 0)",
        "In yours `side - shift` rows and columns have come around. It is `shift` of each that "
        "fall off above and come in below.",
    ),
    (
        "half a window, whatever the shift",
        AROUND,
        "down = torch.arange(rows) >= rows - side // 2\n"
        "    right = torch.arange(columns) >= columns - side // 2",
        "You take half a window as the shift, whatever `shift` says.",
    ),
    (
        "the shift of rows and columns mixed up",
        AROUND,
        "down = torch.arange(rows) >= columns - shift\n"
        "    right = torch.arange(columns) >= rows - shift",
        "You ask the rows about the number of columns, and the columns about that of the rows. "
        "Maps need not be square.",
    ),
    (
        "square maps",
        AROUND,
        f"down = {DOWN}\n    right = torch.arange(columns) >= rows - shift",
        "For your columns you use the number of rows. Maps need not be square.",
    ),
    (
        "the windows of the picture that was not rolled",
        f"{AROUND}\n    {REGION}  # (R, C), one of four numbers",
        "down, right = (torch.arange(n).roll(-shift) // side for n in (rows, columns))\n"
        "    region = down[:, None] * columns + right",
        "You ask in which window a cell lay in the layer before, without the shift. To bring cells "
        "of different windows together is what the shift is for; strangers are only those that "
        "came around an edge.",
    ),
    (
        "by the place in the window",
        f"{CUT}",
        "place = torch.arange(side) >= side - shift\n"
        "    place = (2 * place[:, None] + place).flatten()\n"
        "    region = place.expand(rows * columns // side**2, -1)",
        "Every window has the same mask in yours, made from the place in the window. Only windows "
        "of the last row and of the last column hold strangers.",
    ),
    (
        "the last windows alike",
        CUT,
        f"{CUT}\n    place = torch.arange(side) >= side - shift\n"
        "    edge = (region > 0).any(dim=1)\n"
        "    region = torch.where(edge[:, None], (2 * place[:, None] + place).flatten(), region)",
        "All windows at an edge have the mask of the last one in yours. At the right edge only "
        "columns have come around, at the lower edge only rows.",
    ),
    (
        "view without transpose",
        CUT,
        "region = region.reshape(-1, side * side)",
        "Your regions are right, but you cut them into stretches of whole rows. Cut the map into "
        "windows as your `windows` does.",
    ),
    (
        "windows down the columns",
        CUT,
        f"{PIECES}\n    region = region.permute(2, 0, 1, 3).reshape(-1, side * side)",
        "Your masks are right, but the windows follow each other down the columns of windows. They "
        "are in reading order.",
    ),
    (
        "cells down the columns",
        CUT,
        f"{PIECES}\n    region = region.permute(0, 2, 3, 1).reshape(-1, side * side)",
        "The windows are in order, but you read the cells of each down its columns.",
    ),
    (
        "the whole map",
        f"{CUT}\n    {END}",
        "region = region.flatten()\n    return region[:, None] == region",
        "You compare all cells of the map with each other. Cells meet within a window: a table for "
        "each, (W, M², M²).",
    ),
    (
        "the whole map at a time",
        f"{CUT}\n    {END}",
        "region = region.flatten()\n    return (region[:, None] == region)[None]",
        "You compare all cells of the map with each other. Cells meet within a window: a table for "
        "each, (W, M², M²).",
    ),
    (
        "the last window's table",
        END,
        "return region[-1, :, None] == region[-1]",
        "You return one table. Each window has its own: (W, M², M²).",
    ),
    (
        "an axis for the heads",
        END,
        "return (region[:, :, None] == region[:, None, :])[:, None]",
        "Your masks are right, but there is an axis for heads. Here it is (W, M², M²).",
    ),
    (
        "an axis for the maps",
        END,
        "return (region[:, :, None] == region[:, None, :])[None]",
        "Your masks are right, but there is an axis for maps in front. Here it is (W, M², M²).",
    ),
    (
        "the regions",
        END,
        "return region",
        "You return the regions. The mask says for each two cells of a window whether one may "
        "attend to the other, (W, M², M²).",
    ),
    (
        "ones and zeros",
        END,
        "return (region[:, :, None] == region[:, None, :]).long()",
        "Your mask has the numbers 0 and 1. A boolean one is asked for.",
    ),
    (
        "floating ones and zeros",
        END,
        "return (region[:, :, None] == region[:, None, :]).float()",
        "Your mask has floating point numbers. A boolean one is asked for.",
    ),
    (
        "minus a hundred",
        END,
        "return -100.0 * (region[:, :, None] != region[:, None, :])",
        "Your mask is one to be added, with −100 for strangers, as in the authors' code. Here it "
        "is boolean, True = may attend.",
    ),
    (
        "minus infinity",
        END,
        "return torch.zeros(len(region), side**2, side**2).masked_fill("
        "region[:, :, None] != region[:, None, :], -torch.inf)",
        "Your mask is one to be added, with −∞ for strangers. Here it is boolean, True = may "
        "attend.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)

OPPOSITE = END.replace("==", "!=")

for name, old, new, hint in (
    (
        "True means hidden, the roll's sign",
        f"{AROUND}\n    {REGION}  # (R, C), one of four numbers\n    {CUT}\n    {END}",
        "down = torch.arange(rows) < shift\n    right = torch.arange(columns) < shift\n"
        f"    {REGION}\n    {CUT}\n    {OPPOSITE}",
        "Two things: your True hides, and here it means that a cell may attend; and you look for "
        "what has come around in the first rows and columns, where it stands in the last ones.",
    ),
    (
        "True means hidden, rows only",
        f"{REGION}  # (R, C), one of four numbers\n    {CUT}\n    {END}",
        f"region = 2 * down[:, None] + 0 * right\n    {CUT}\n    {OPPOSITE}",
        "Two things: your True hides, and here it means that a cell may attend; and you ask only "
        "whether a cell's row has come around, not its column.",
    ),
    (
        "True means hidden, view without transpose",
        f"{CUT}\n    {END}",
        f"region = region.reshape(-1, side * side)\n    {OPPOSITE}",
        "Two things: your True hides, and here it means that a cell may attend; and you cut the "
        "map into stretches of whole rows, where `windows` cuts windows.",
    ),
    (
        "the roll's sign, view without transpose",
        f"{AROUND}\n    {REGION}  # (R, C), one of four numbers\n    {CUT}",
        "down = torch.arange(rows) < shift\n    right = torch.arange(columns) < shift\n"
        f"    {REGION}\n    region = region.reshape(-1, side * side)",
        "Two things: what has come around stands in the last rows and columns, not in the first "
        "ones; and you cut the map into stretches of whole rows, where `windows` cuts windows.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)
