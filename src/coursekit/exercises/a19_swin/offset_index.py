"""Which number of a table belongs to each pair of cells of a window."""

from __future__ import annotations

import torch

from coursekit.exercises.question import Question


def offset_index(rows, columns):
    """A window of N = rows · columns cells -> (N, N), from 0 to (2·rows − 1)(2·columns − 1) − 1."""
    row = torch.arange(rows).repeat_interleave(columns)  # (N,), of each cell in reading order
    column = torch.arange(columns).repeat(rows)  # (N,)
    down = row[:, None] - row[None, :] + rows - 1  # (N, N), from 0 to 2·rows − 2
    right = column[:, None] - column[None, :] + columns - 1
    return down * (2 * columns - 1) + right


QUESTION = Question(
    name="offset_index",
    title="A number for each offset",
    points=3,
    difficulty=2,
    minutes=20,
    page="swin.html#sec-swin-bias",
    hint="First the row and the column of each cell, two lists of N numbers. Then every query "
    "against every key, twice: how many rows lie between them, and how many columns? These may be "
    "negative, so lift both until the smallest is 0. Two numbers that each begin at 0 become one "
    "as a row and a column of a table do: how many numbers stand in a row of it?",
    reference=offset_index,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="a window of 2 × 2, as on the page")
def as_on_the_page(student):
    return student.offset_index(2, 2)


@QUESTION.visible(says="windows of 3 × 3 and 4 × 4", weight=2)
def square(student):
    return student.offset_index(3, 3), student.offset_index(4, 4)


@QUESTION.visible(says="windows that are wider than high, or higher than wide", weight=2)
def not_square(student):
    return student.offset_index(2, 4), student.offset_index(5, 3)


@QUESTION.visible(says="a single row, a single column, a single cell", weight=0.5)
def single(student):
    return [student.offset_index(*size) for size in ((1, 4), (3, 1), (1, 1))]


@QUESTION.visible(says="a table that is looked up with it: pairs with one offset share a number")
def looked_up(student):
    return torch.arange(15.0).square().take(student.offset_index(3, 2))


ROW = "row = torch.arange(rows).repeat_interleave(columns)"
COLUMN = "column = torch.arange(columns).repeat(rows)"
DOWN = "down = row[:, None] - row[None, :] + rows - 1"
RIGHT = "right = column[:, None] - column[None, :] + columns - 1"
BOTH = f"{DOWN}  # (N, N), from 0 to 2·rows − 2\n    {RIGHT}"
END = "return down * (2 * columns - 1) + right"
CELLS = f"{ROW}  # (N,), of each cell in reading order\n    {COLUMN}"

for name, old, new, hint in (
    (
        "signed",
        f"{BOTH}\n    {END}",
        "down, right = row[:, None] - row, column[:, None] - column\n"
        "    return down * (2 * columns - 1) + right",
        "Your offsets are signed, and so are your numbers. As an index a negative one counts from "
        "the end of the table, and nobody hears of it: add rows − 1 and columns − 1.",
    ),
    (
        "signed rows",
        DOWN,
        "down = row[:, None] - row[None, :]",
        "The offsets of your rows are signed still: add rows − 1, so that the smallest is 0.",
    ),
    (
        "signed columns",
        RIGHT,
        "right = column[:, None] - column[None, :]",
        "The offsets of your columns are signed still: add columns − 1, so that the smallest is 0. "
        "Otherwise two different offsets share a number, or two that are equal do not.",
    ),
    (
        "from key to query turned around",
        BOTH,
        "down = row[None, :] - row[:, None] + rows - 1\n"
        "    right = column[None, :] - column[:, None] + columns - 1",
        "Your offsets go from the query to the key. It is the place of the query minus that of the "
        "key, and queries are the rows of your result.",
    ),
    (
        "rows turned around",
        DOWN,
        "down = row[None, :] - row[:, None] + rows - 1",
        "Your rows are those of the key minus those of the query; the columns are right. It is the "
        "query minus the key in both.",
    ),
    (
        "columns turned around",
        RIGHT,
        "right = column[None, :] - column[:, None] + columns - 1",
        "Your columns are those of the key minus those of the query; the rows are right. It is the "
        "query minus the key in both.",
    ),
    (
        "distances",
        BOTH,
        "down = (row[:, None] - row).abs()\n    right = (column[:, None] - column).abs()",
        "You take distances. Up and down, left and right are different offsets, each with a number "
        "of its own.",
    ),
    (
        "rows and columns swapped",
        END,
        "return right * (2 * rows - 1) + down",
        "In your table the columns are counted in large steps and the rows in small ones. The "
        "table is read row by row.",
    ),
    (
        "rows and columns of the cells swapped",
        CELLS,
        "row = torch.arange(rows).repeat(columns)\n"
        "    column = torch.arange(columns).repeat_interleave(rows)",
        "You number the cells of the window down its columns. They are in reading order: cell 1 "
        "stands to the right of cell 0.",
    ),
    (
        "rows and columns swapped, the length of the other",
        END,
        "return right * (2 * columns - 1) + down",
        "In your table the columns are counted in large steps and the rows in small ones. The "
        "table is read row by row.",
    ),
    (
        "2M − 2",
        END,
        "return down * (2 * columns - 2) + right",
        "You take rows of 2·columns − 2 numbers. From −(columns − 1) to columns − 1 there is one "
        "more: the 0 counts. The last number of one row and the first of the next coincide in "
        "yours.",
    ),
    (
        "2M",
        END,
        "return down * (2 * columns) + right",
        "You take rows of 2·columns numbers, one of which no pair uses. Offsets go from "
        "−(columns − 1) to columns − 1.",
    ),
    (
        "M",
        END,
        "return down * columns + right",
        "You multiply by the columns of the window, and get how far apart two cells stand in "
        "reading order: the last cell of a row and the first of the next are neighbours there. It "
        "is the table that has rows, and they are longer: offsets go from −(columns − 1) to "
        "columns − 1.",
    ),
    (
        "the rows' length from the rows",
        END,
        "return down * (2 * rows - 1) + right",
        "A row of the table has a number for each offset in columns; you count the offsets in "
        "rows. They are alike in a square window only.",
    ),
    (
        "added up",
        END,
        "return down + right",
        "You add the two. One down and one to the right are then the same number; each pair of "
        "offsets needs its own.",
    ),
    (
        "one for each pair",
        END,
        "return torch.arange((rows * columns) ** 2).reshape(rows * columns, -1)",
        "You give each pair a number of its own. Pairs with the same offset share one: that is how "
        "few numbers serve many pairs.",
    ),
    (
        "a number for each key",
        END,
        "return (row * columns + column).expand(rows * columns, -1)",
        "Yours is the number of the key, whatever the query. An offset is between two cells.",
    ),
    (
        "lifted too far",
        BOTH,
        "down = row[:, None] - row + rows\n    right = column[:, None] - column + columns",
        "Your smallest number is not 0: you add rows and columns, one too many of each.",
    ),
    (
        "counted from 1",
        END,
        f"{END} + 1",
        "Your numbers begin at 1. They count from 0, as an index does.",
    ),
    (
        "lifted by the other side",
        BOTH,
        "down = row[:, None] - row + columns - 1\n    right = column[:, None] - column + rows - 1",
        "You add columns − 1 to the offset in rows, and rows − 1 to that in columns.",
    ),
    (
        "the window as if it were square",
        f"{CELLS}  # (N,)\n    {BOTH}\n    {END}",
        "columns = rows\n"
        "    row, column = torch.arange(rows * rows) // rows, torch.arange(rows * rows) % rows\n"
        "    down = row[:, None] - row + rows - 1\n"
        "    return down * (2 * rows - 1) + column[:, None] - column + rows - 1",
        "You use `rows` for both sides. A window here may be wider than high.",
    ),
    (
        "the other way to read",
        CELLS,
        "cell = torch.arange(rows * columns)\n    row, column = cell // rows, cell % rows",
        "You divide by the rows to find a cell's row. In reading order there are `columns` cells "
        "in a row.",
    ),
    (
        "two numbers for each pair",
        END,
        "return torch.stack([down, right], dim=-1)",
        "You return two numbers for each pair. Make one of them: its place in the table, when that "
        "is read row by row.",
    ),
    (
        "signed, two numbers for each pair",
        f"{BOTH}\n    {END}",
        "return torch.stack([row[:, None] - row, column[:, None] - column], dim=-1)",
        "You return the offset itself, two signed numbers for each pair. What is asked for is its "
        "place in the table, one number, 0 for the smallest offset.",
    ),
    (
        "four axes",
        END,
        "return (down * (2 * columns - 1) + right).reshape(rows, columns, rows, columns)",
        "Rows and columns of the cells are axes of their own in yours. The cells of a window are "
        "one axis, for queries and for keys: (N, N).",
    ),
    (
        "one long row",
        END,
        "return (down * (2 * columns - 1) + right).flatten()",
        "You return one long row. It is (N, N), a row for each query.",
    ),
    (
        "the table",
        f"{BOTH}\n    {END}",
        "return torch.arange((2 * rows - 1) * (2 * columns - 1)).reshape(2 * rows - 1, -1)",
        "You return the numbers of the table itself. Asked for is which of them each pair takes: "
        "(N, N), a row for each query.",
    ),
    (
        "floats",
        END,
        "return (down * (2 * columns - 1) + right).float()",
        "Your index has floating point numbers. It is int64, or nothing can be looked up with it.",
    ),
    (
        "in 32 bits",
        END,
        "return (down * (2 * columns - 1) + right).int()",
        "Your index has 32 bits. It is int64, as torch.arange gives it.",
    ),
    (
        "a list",
        END,
        "return (down * (2 * columns - 1) + right).tolist()",
        "You return a list of lists. A tensor is asked for.",
    ),
    (
        "signed, from query to key",
        f"{BOTH}\n    {END}",
        "down, right = row - row[:, None], column - column[:, None]\n"
        "    return down * (2 * columns - 1) + right",
        "Two things: your offsets are signed, where the smallest should become 0; and they go from "
        "the query to the key, where it is the query minus the key.",
    ),
    (
        "M, from query to key",
        f"{BOTH}\n    {END}",
        "down, right = row - row[:, None] + rows - 1, column - column[:, None] + columns - 1\n"
        "    return down * columns + right",
        "Two things: a row of the table is longer than a row of the window, for offsets go from "
        "−(columns − 1) to columns − 1; and yours go from the query to the key, where it is the "
        "query minus the key.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)
