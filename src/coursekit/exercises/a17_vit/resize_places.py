"""Learned positions for a picture of another size: stretched as a picture is, class token apart."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def resize_places(table, old, new):
    """table (1 + R·L, D) of the grid (R, L) -> (1 + r·l, D) for the grid (r, l)."""
    first, places = table[:1], table[1:]
    D = table.shape[1]
    x = places.reshape(1, *old, D).permute(0, 3, 1, 2)  # (1, D, R, L), a picture of D channels
    x = F.interpolate(x, size=new, mode="bilinear", align_corners=False)  # (1, D, r, l)
    x = x.permute(0, 2, 3, 1).reshape(-1, D)  # (r·l, D)
    return torch.cat([first, x])


QUESTION = Question(
    name="resize_places",
    title="The same places, more patches",
    points=4,
    difficulty=2,
    minutes=30,
    page="vit.html#sec-vit-resolution",
    hint="Take the row that is no place aside. What is left is a picture with one pixel a patch, "
    "and D numbers at each; which shape has it? torch stretches the last two axes of a tensor with "
    "four. Try it with a table whose entries say where they stand: D = 2, with the row and the "
    "column of each patch.",
    reference=resize_places,
    forbidden=("coursekit",),
)


def _table(grid, width, seed, dtype=torch.float32):
    return randn(1 + grid[0] * grid[1], width, seed=seed, dtype=dtype)


@QUESTION.visible(says="one row of two places becomes one row of four")
def two_to_four(student):
    return student.resize_places(torch.tensor([[9.0], [0.0], [4.0]]), (1, 2), (1, 4))


@QUESTION.visible(says="two rows of three become four rows of six", weight=2)
def twice_as_many(student):
    return student.resize_places(_table((2, 3), 4, seed=1), (2, 3), (4, 6))


@QUESTION.visible(says="other grids: more rows, more columns, sides that share no factor")
def other_grids(student):
    grids = ((3, 2), (7, 3)), ((2, 2), (2, 5)), ((4, 3), (5, 7))
    return [student.resize_places(_table(old, 3, seed=2), old, new) for old, new in grids]


@QUESTION.visible(says="fewer patches")
def fewer(student):
    return student.resize_places(_table((6, 5), 3, seed=3), (6, 5), (3, 2))


@QUESTION.visible(says="equally many patches in another shape, and a grid that stays")
def equally_many(student):
    return student.resize_places(_table((2, 6), 3, seed=4), (2, 6), (3, 4)), (
        student.resize_places(_table((3, 2), 3, seed=5), (3, 2), (3, 2))
    )


@QUESTION.visible(says="as wide as the grid is high: 3 × 3 places of 3 numbers")
def all_alike(student):
    return student.resize_places(_table((3, 3), 3, seed=6), (3, 3), (4, 4))


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    table = _table((2, 2), 3, seed=7, dtype=torch.float64)
    return after(student.resize_places, table, (2, 2), (3, 4))


PICTURE = "places.reshape(1, *old, D).permute(0, 3, 1, 2)"
STRETCH = 'F.interpolate(x, size=new, mode="bilinear", align_corners=False)'
BACK = "x.permute(0, 2, 3, 1).reshape(-1, D)"
END = "return torch.cat([first, x])"
LINES = (
    f"x = {PICTURE}  # (1, D, R, L), a picture of D channels\n"
    f"    x = {STRETCH}  # (1, D, r, l)\n"
    f"    x = {BACK}  # (r·l, D)\n"
)
ODD = 'mode="bilinear", align_corners=False'

QUESTION.mistake(
    "class place resized",
    old=f"{LINES}    {END}",
    new='x = F.interpolate(table.T[None], size=1 + new[0] * new[1], mode="linear")\n'
    "    return x[0].T",
    hint="You stretch the whole table as one line, the class token's row with it. That row is no "
    "place: take it out, stretch the others as a picture, and put it back in front.",
)

QUESTION.mistake(
    "one-dimensional",
    old=LINES,
    new='x = F.interpolate(places.T[None], size=new[0] * new[1], mode="linear")[0].T\n',
    hint="You stretch the places along one line. The last patch of a row and the first of the next "
    "are neighbours there, and in the picture they are far apart: make rows and columns of the "
    "line first.",
)

QUESTION.mistake(
    "nearest",
    old=ODD,
    new='mode="nearest"',
    hint="Each new place takes over the vector of one old place in yours, as torch does it where "
    "no mode is named. Between two old places it should be between their vectors: bilinear.",
)

QUESTION.mistake(
    "nearest, exact",
    old=ODD,
    new='mode="nearest-exact"',
    hint="Each new place takes over the vector of the nearest old one in yours. Between two old "
    "places it should be between their vectors: bilinear.",
)

QUESTION.mistake(
    "bicubic",
    old="bilinear",
    new="bicubic",
    hint="You interpolate with curves of third degree (bicubic). Straight lines between neighbours "
    "are asked for: bilinear.",
)

QUESTION.mistake(
    "area",
    old=ODD,
    new='mode="area"',
    hint="You take means over areas. Straight lines between neighbours are asked for: bilinear.",
)

QUESTION.mistake(
    "corners held",
    old="align_corners=False",
    new="align_corners=True",
    hint="You hold the corners: in yours the centres of the old corner patches are those of the "
    "new ones. Both grids cover the same picture up to its border, so the centre of a smaller "
    "patch in the corner lies farther out: align_corners=False.",
)

QUESTION.mistake(
    "smoothed first",
    old="align_corners=False",
    new="align_corners=False, antialias=True",
    hint="You smooth before you make the grid smaller (antialias). Only the neighbours of a place "
    "count here.",
)

QUESTION.mistake(
    "width first",
    old="size=new",
    new="size=new[::-1]",
    hint="You give the new columns first, then the rows. torch, like `new`, has the rows first: "
    "only tools for photographs say width before height.",
)

QUESTION.mistake(
    "old grid with the width first",
    old=PICTURE,
    new="places.reshape(1, old[1], old[0], D).permute(0, 3, 1, 2)",
    hint="You read the old table with as many places in a row as the grid has rows. Row by row: a "
    "row is as long as there are columns.",
)

QUESTION.mistake(
    "width first, both times",
    old=f"{PICTURE}  # (1, D, R, L), a picture of D channels\n    x = {STRETCH}",
    new="places.reshape(1, old[1], old[0], D).permute(0, 3, 1, 2)\n"
    f"    x = {STRETCH.replace('size=new', 'size=new[::-1]')}",
    hint="You have taken columns for rows in both grids, or read and write the tables column by "
    "column. A grid is (rows, columns), and a table has one row of patches after the other.",
)

QUESTION.mistake(
    "columns first in the old table",
    old=PICTURE,
    new="places.reshape(1, old[1], old[0], D).permute(0, 3, 2, 1)",
    hint="You read the table column by column. Its places follow row by row.",
)

QUESTION.mistake(
    "columns first in the new table",
    old=BACK,
    new="x.permute(0, 3, 2, 1).reshape(-1, D)",
    hint="You write the new table column by column. Its places follow row by row.",
)

QUESTION.mistake(
    "reshaped to channels",
    old=PICTURE,
    new="places.reshape(1, D, *old)",
    hint="You reshape the table to D channels, and the numbers of one place are now spread over "
    "many. A place's D numbers stand side by side: split the other axis into rows and columns, "
    "then move the numbers in front with permute.",
)

QUESTION.mistake(
    "reshaped back",
    old=BACK,
    new="x.reshape(-1, D)",
    hint="You reshape D channels to a table, and the numbers of one place come from many. Move the "
    "channels to the end with permute before you make one axis of rows and columns.",
)

QUESTION.mistake(
    "reshaped both ways",
    old=LINES,
    new=f"x = places.reshape(1, D, *old)\n    x = {STRETCH}\n    x = x.reshape(-1, D)\n",
    hint="You reshape the table to D channels and back. The numbers of one place are then spread "
    "over many: move them in front with permute before you stretch, and back afterwards.",
)

QUESTION.mistake(
    "class place lost",
    old=END,
    new="return x",
    hint="The class token's row is gone. It is not stretched, but it is kept: first in the table.",
)

QUESTION.mistake(
    "class place last",
    old=END,
    new="return torch.cat([x, first])",
    hint="You put the class token's row at the end. It stands first, as in the table that you were "
    "given.",
)

QUESTION.mistake(
    "class place taken to be last",
    old=f"first, places = table[:1], table[1:]\n    D = table.shape[1]\n    {LINES}    {END}",
    new="first, places = table[-1:], table[:-1]\n"
    f"    D = table.shape[1]\n    {LINES}    return torch.cat([x, first])",
    hint="You take the last row for that of the class token. It is the first.",
)

QUESTION.mistake(
    "class place zeros",
    old=END,
    new="return torch.cat([torch.zeros_like(first), x])",
    hint="You put zeros in place of the class token's row. It was learned, and stays as it is.",
)

QUESTION.mistake(
    "class place the mean",
    old=END,
    new="return torch.cat([x.mean(dim=0, keepdim=True), x])",
    hint="You put the mean of all places in place of the class token's row. It was learned, and "
    "stays as it is.",
)

QUESTION.mistake(
    "class place grows",
    old=END,
    new="return torch.cat([first * (new[0] * new[1] / (old[0] * old[1])), x])",
    hint="You change the class token's row. It was learned, and stays as it is.",
)

QUESTION.mistake(
    "cut off or filled up",
    old=f"x = {STRETCH}",
    new="x = F.pad(x, (0, new[1] - old[1], 0, new[0] - old[0]))",
    hint="You cut off what is too much and fill up with zeros what is missing. The new grid covers "
    "the same picture: the old one is stretched over it.",
)

QUESTION.mistake(
    "the border repeated",
    old=f"x = {STRETCH}",
    new="rows, columns = (torch.arange(n).clamp(max=o - 1) for n, o in zip(new, old))\n"
    "    x = x[:, :, rows][..., columns]",
    hint="Your new places repeat the last old one. The new grid covers the same picture: the old "
    "one is stretched over it.",
)

QUESTION.mistake(
    "begun again",
    old=f"x = {STRETCH}",
    new="rows, columns = (torch.arange(n) % o for n, o in zip(new, old))\n"
    "    x = x[:, :, rows][..., columns]",
    hint="Your new places begin again where the old ones end, like tiles. The new grid covers the "
    "same picture: the old one is stretched over it.",
)

QUESTION.mistake(
    "kept if there are equally many",
    old="first, places = table[:1], table[1:]\n",
    new="if old[0] * old[1] == new[0] * new[1]:\n        return table\n"
    "    first, places = table[:1], table[1:]\n",
    hint="You return the table as it is if there are equally many patches. 2 rows of 6 are not 3 "
    "rows of 4: compare the grids.",
)

QUESTION.mistake(
    "never made smaller",
    old="first, places = table[:1], table[1:]\n",
    new="if old[0] * old[1] >= new[0] * new[1]:\n"
    "        return table[: 1 + new[0] * new[1]]\n"
    "    first, places = table[:1], table[1:]\n",
    hint="With fewer patches you keep the first rows of the table. They are the places at the top "
    "of the picture; the new grid covers all of it.",
)

QUESTION.mistake(
    "square grids",
    old=PICTURE,
    new="places.reshape(1, round(len(places) ** 0.5), -1, D).permute(0, 3, 1, 2)",
    hint="You take the root of the number of places, as if every grid were a square. Its rows and "
    "columns are in `old`.",
)

QUESTION.mistake(
    "a new square",
    old="size=new",
    new="size=(new[0], new[0])",
    hint="You make a square of the new grid. It has new[0] rows and new[1] columns.",
)

QUESTION.mistake(
    "a factor for both sides",
    old="size=new, ",
    new="scale_factor=new[0] / old[0], ",
    hint="You stretch both sides by the same factor. Rows and columns have their own.",
)

QUESTION.mistake(
    "the grids exchanged",
    old=f"{PICTURE}  # (1, D, R, L), a picture of D channels\n    x = {STRETCH}",
    new="places.reshape(1, *new, D).permute(0, 3, 1, 2)\n"
    f"    x = {STRETCH.replace('size=new', 'size=old')}",
    hint="The two grids have changed places. The table that you are given is that of `old`.",
)

QUESTION.mistake(
    "a batch of one",
    old=END,
    new="return torch.cat([first, x])[None]",
    hint="There is one axis too many in front. A table (1 + r·l, D) is asked for.",
)

QUESTION.mistake(
    "still a picture",
    old=f"{BACK}  # (r·l, D)\n    {END}",
    new="x[0].permute(1, 2, 0)\n    return x",
    hint="You return the stretched picture. Make a table of it again, row by row, with the class "
    "token's row first.",
)

QUESTION.mistake(
    "lengths kept",
    old=END,
    new="x = x * places.norm(dim=1).mean() / x.norm(dim=1).mean()\n"
    "    return torch.cat([first, x])",
    hint="You give the new vectors the old length. What lies between two vectors is shorter than "
    "they are, and stays so.",
)

QUESTION.mistake(
    "in single precision",
    old=END,
    new="return torch.cat([first, x]).float()",
    hint="Your table is float32, whatever the dtype of the one that you were given.",
)

QUESTION.mistake(
    "written into the table",
    old=END,
    new="table[1:] = 0.0\n    return torch.cat([first, x])",
    hint="The new table is right, but the old one is no longer what it was. A slice is no copy.",
)
