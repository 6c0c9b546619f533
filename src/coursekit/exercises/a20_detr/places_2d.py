"""Where a place of a picture is: sines of its row and of its column, as DETR has them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def places_2d(keep, width):
    """keep (B, h, w), True at real pixels -> (B, h, w, width)."""
    half = width // 2
    speeds = 10_000.0 ** (-torch.arange(0, half, 2) / half)  # (width / 4,)
    halves = []
    for dim in (1, 2):
        count = keep.cumsum(dim=dim)  # (B, h, w), real pixels up to here
        total = keep.sum(dim=dim, keepdim=True).clamp(min=1)
        angles = (2 * math.pi * count / total)[..., None] * speeds  # (B, h, w, width / 4)
        halves.append(torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2))
    return torch.cat(halves, dim=-1)


QUESTION = Question(
    name="places_2d",
    title="Where in the picture",
    points=3,
    difficulty=2,
    minutes=25,
    page="detr.html#sec-detr-places",
    hint="Do one half first, that of the rows: a number for each place of the picture, then as "
    "many angles for each place as there are speeds, then a sine and a cosine of each angle, next "
    "to each other. The other half is the same along another axis. Which sum over a boolean mask "
    "says how many real pixels there are up to each place?",
    reference=places_2d,
    forbidden=("coursekit",),
)


def real(sizes: tuple[tuple[int, int], ...], height: int, columns: int) -> Tensor:
    """Return masks of pictures of these sizes in the upper left corner, (B, height, columns)."""
    keep = torch.zeros(len(sizes), height, columns, dtype=torch.bool)
    for one, (rows, width) in zip(keep, sizes):
        one[:rows, :width] = True
    return keep


@QUESTION.visible(says="a picture of two rows and four columns, width 4")
def small(student):
    return student.places_2d(torch.ones(1, 2, 4, dtype=torch.bool), 4)


@QUESTION.visible(says="a picture without padding, width 16", weight=2)
def no_padding(student):
    return student.places_2d(torch.ones(1, 5, 7, dtype=torch.bool), 16)


@QUESTION.visible(says="three pictures of different sizes in one batch", weight=2)
def different_sizes(student):
    return student.places_2d(real(((4, 6), (7, 3), (2, 5)), 7, 6), 12)


@QUESTION.visible(says="as many pictures as rows, columns and numbers")
def all_alike(student):
    return student.places_2d(
        real(((8, 8), (3, 5), (8, 2), (1, 1), (5, 8), (2, 8), (6, 6), (7, 1)), 8, 8), 8
    )


@QUESTION.visible(says="a wide picture, of one row, in a square")
def one_row(student):
    return student.places_2d(real(((1, 9),), 9, 9), 8)


@QUESTION.visible(says="a mask with holes")
def holes(student):
    return student.places_2d(randn(2, 6, 5, seed=130) > 0, 8)


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.places_2d, real(((3, 4), (2, 2)), 4, 4), 20)


SPEEDS = "speeds = 10_000.0 ** (-torch.arange(0, half, 2) / half)"
DIMS = "for dim in (1, 2):"
COUNT = "count = keep.cumsum(dim=dim)"
TOTAL = "total = keep.sum(dim=dim, keepdim=True).clamp(min=1)"
ANGLES = "angles = (2 * math.pi * count / total)[..., None] * speeds"
WAVES = "halves.append(torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2))"
END = "return torch.cat(halves, dim=-1)"

QUESTION.mistake(
    "rows and columns swapped",
    old=DIMS,
    new="for dim in (2, 1):",
    hint="Your halves have changed places. The first tells the row, which grows from top to "
    "bottom, the second the column.",
)

QUESTION.mistake(
    "not normalised",
    old="2 * math.pi * count / total",
    new="count.float()",
    hint="You take the counts themselves. They are divided by the number of real pixels of their "
    "column or row, and multiplied by 2π: the last real pixel of each picture is at 2π.",
)

QUESTION.mistake(
    "not normalised, from 0",
    old="2 * math.pi * count / total",
    new="(count - 1).clamp(min=0).float()",
    hint="You take the numbers of rows and columns, counted from 0. Count from 1, divide by the "
    "number of real pixels of the column or row, and multiply by 2π.",
)

QUESTION.mistake(
    "counts times 2π",
    old="2 * math.pi * count / total",
    new="2 * math.pi * count",
    hint="Your counts are multiplied by 2π, but not divided by the number of real pixels.",
)

QUESTION.mistake(
    "from 0 to 1",
    old="2 * math.pi * count / total",
    new="count / total",
    hint="Your places go up to 1. They go up to 2π, so that the fastest sine turns once.",
)

QUESTION.mistake(
    "up to π",
    old="2 * math.pi * count / total",
    new="math.pi * count / total",
    hint="Your places go up to π. They go up to 2π, so that the fastest sine turns once.",
)

QUESTION.mistake(
    "counted from 0",
    old="count / total",
    new="(count - 1).clamp(min=0) / total",
    hint="You count from 0. The first real pixel is 1, so that the last one of each picture is at "
    "2π.",
)

QUESTION.mistake(
    "counted from 0 up to 2π",
    old="count / total",
    new="(count - 1).clamp(min=0) / (total - 1).clamp(min=1)",
    hint="Your first real pixel is at 0. It counts as 1, and the last one is at 2π: the count is "
    "divided by how many there are.",
)

QUESTION.mistake(
    "the middle of a pixel",
    old="count / total",
    new="(count - 0.5).clamp(min=0) / total",
    hint="You take the middle of each pixel. The count itself is taken, 1 at the first real pixel.",
)

QUESTION.mistake(
    "divided by the padded size",
    old=TOTAL,
    new="total = keep.shape[dim]",
    hint="You divide by the size of the padded picture. A picture should get the same numbers with "
    "padding and without: divide by the number of its real pixels.",
)

QUESTION.mistake(
    "the padding counted",
    old=f"{COUNT}  # (B, h, w), real pixels up to here\n        {TOTAL}",
    new="count = torch.ones_like(keep).cumsum(dim=dim)\n        total = keep.shape[dim]",
    hint="You count all pixels, the padding too. Only real ones count, those at which `keep` is "
    "True.",
)

QUESTION.mistake(
    "the padding counted, divided by the real pixels",
    old=COUNT,
    new="count = torch.ones_like(keep).cumsum(dim=dim)",
    hint="You go on counting in the padding. Only real pixels count, those at which `keep` is "
    "True.",
)

QUESTION.mistake(
    "the padding instead",
    old="half = width // 2\n",
    new="half, keep = width // 2, ~keep\n",
    hint="You count the padding. `keep` is True at real pixels (torch's own masks often have it "
    "the other way round).",
)

QUESTION.mistake(
    "all pixels of the picture",
    old=TOTAL,
    new="total = keep.sum(dim=(1, 2), keepdim=True).clamp(min=1)",
    hint="You divide by the number of all real pixels of the picture. Divide rows by those of "
    "their column, columns by those of their row.",
)

QUESTION.mistake(
    "the largest of the batch",
    old=TOTAL,
    new="total = keep.sum(dim=dim).max()",
    hint="You divide by the largest picture of the batch. Each picture is divided by its own size.",
)

QUESTION.mistake(
    "the largest of the picture",
    old=TOTAL,
    new="total = count.amax(dim=(1, 2), keepdim=True).clamp(min=1)",
    hint="You divide by the largest count of the picture. With holes in the mask columns have "
    "different numbers of real pixels: each has its own.",
)

QUESTION.mistake(
    "the mask of the first",
    old=COUNT,
    new="count = keep[:1].expand_as(keep).cumsum(dim=dim)",
    hint="All your pictures are counted with the mask of the first. Each has its own.",
)

QUESTION.mistake(
    "counted over the batch",
    old=DIMS,
    new="for dim in (0, 1):",
    hint="You count along the batch and the rows. Axis 0 is the batch; rows go along axis 1, "
    "columns along axis 2.",
)

QUESTION.mistake(
    "nan in the padding",
    old=".clamp(min=1)",
    new="",
    hint="A column or row without a real pixel makes you divide 0 by 0. It is at 0 everywhere.",
)

QUESTION.mistake(
    "nothing in the padding",
    old=END,
    new="return torch.cat(halves, dim=-1) * keep[..., None]",
    hint="You put zeros into the padding. Its places follow from the counts as all others do; it "
    "is attention's mask that hides them.",
)

QUESTION.mistake(
    "the padding at 0",
    old=COUNT,
    new="count = keep.cumsum(dim=dim) * keep",
    hint="You put the count to 0 in the padding. It is the number of real pixels up to there, and "
    "stays what it was at the last one.",
)

QUESTION.mistake(
    "one frequency twice",
    old=SPEEDS,
    new="speeds = 10_000.0 ** (-(2 * ((torch.arange(0, half, 2) // 2 + 1) // 2)) / half)",
    hint="Some of your frequencies come twice. Each pair of a sine and a cosine has one of its "
    "own, $10000^{-2i/m}$ with i = 0, 1, 2 and so on.",
)

QUESTION.mistake(
    "the first frequency twice",
    old=SPEEDS,
    new="speeds = 10_000.0 ** (-(torch.arange(0, half, 2) - 2).clamp(min=0) / half)",
    hint="Your first frequency comes twice. Pair 0 has the frequency 1, pair 1 the next.",
)

QUESTION.mistake(
    "half as fast",
    old=SPEEDS,
    new="speeds = 10_000.0 ** (-torch.arange(0, half, 2) / width)",
    hint="Your frequencies fall half as fast as they should. The exponent of pair i has 2i above, "
    "and below it the width of a half, not the whole width.",
)

QUESTION.mistake(
    "down to the base",
    old=SPEEDS,
    new="speeds = 10_000.0 ** (-torch.linspace(0, 1, half // 2))",
    hint="Your last frequency is 1/10000. The exponents go in steps of 2/m and end before 1.",
)

QUESTION.mistake(
    "frequencies that grow",
    old="(-torch.arange(0, half, 2) / half)",
    new="(torch.arange(0, half, 2) / half)",
    hint="Your frequencies grow. The minus in the exponent is missing.",
)

QUESTION.mistake(
    "a frequency for each number",
    old=f"{ANGLES}  # (B, h, w, width / 4)\n        {WAVES}",
    new="speeds = 10_000.0 ** (-torch.arange(half) / half)\n"
    "        angles = (2 * math.pi * count / total)[..., None] * speeds\n"
    "        waves = torch.stack([angles[..., ::2].sin(), angles[..., 1::2].cos()], dim=-1)\n"
    "        halves.append(waves.flatten(-2))",
    hint="Your sine and cosine of a pair have different frequencies. A pair has one, so its "
    "exponents stay the same for two numbers.",
)

QUESTION.mistake(
    "another base",
    old="10_000.0",
    new="1_000.0",
    hint="Your base is 1000. It is 10,000.",
)

QUESTION.mistake(
    "halves interleaved",
    old=END,
    new="return torch.stack(halves, dim=-1).flatten(-2)",
    hint="Your numbers for the row and for the column alternate. The first half of the width tells "
    "the row, the second the column.",
)

QUESTION.mistake(
    "pairs of the halves interleaved",
    old=END,
    new="return torch.stack([x.unflatten(-1, (-1, 2)) for x in halves], dim=-2).flatten(-3)",
    hint="Your pairs for the row and for the column alternate. The first half of the width tells "
    "the row, the second the column.",
)

QUESTION.mistake(
    "first the sines",
    old="torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)",
    new="torch.cat([angles.sin(), angles.cos()], dim=-1)",
    hint="Within a half all your sines come first and then all cosines. They alternate: the sine "
    "of an angle, then its cosine.",
)

QUESTION.mistake(
    "cosine first",
    old="[angles.sin(), angles.cos()]",
    new="[angles.cos(), angles.sin()]",
    hint="Your cosines stand before their sines.",
)

QUESTION.mistake(
    "sines of rows, cosines of columns",
    old=WAVES,
    new="halves.append((angles.sin() if dim == 1 else angles.cos()).repeat_interleave(2, dim=-1))",
    hint="Your rows have sines alone, and your columns cosines. Each half has both.",
)

QUESTION.mistake(
    "twice as wide",
    old="half = width // 2\n",
    new="half = width\n",
    hint="Each of your two codes has the whole width. Each has half of it.",
)

QUESTION.mistake(
    "the sum of both",
    old=END,
    new="return torch.cat([halves[0] + halves[1]] * 2, dim=-1)",
    hint="You add the codes of row and column. They stand one behind the other, each in its own "
    "half of the width.",
)

QUESTION.mistake(
    "numbers before places",
    old=END,
    new="return torch.cat(halves, dim=-1).movedim(-1, 1)",
    hint="Your numbers stand on axis 1, as channels of a picture do. They belong on the last axis.",
)

QUESTION.mistake(
    "one long list of places",
    old=END,
    new="return torch.cat(halves, dim=-1).flatten(1, 2)",
    hint="You put the places of a picture into one list already. Leave rows and columns apart.",
)

QUESTION.mistake(
    "degrees",
    old="2 * math.pi * count / total",
    new="360.0 * count / total",
    hint="You go up to 360. Sines of torch take 2π for a turn.",
)

QUESTION.mistake(
    "in double precision",
    old=END,
    new="return torch.cat(halves, dim=-1).double()",
    hint="You return float64. float32 is asked for.",
)

QUESTION.mistake(
    "written into the mask",
    old=END,
    new="keep.fill_(True)\n    return torch.cat(halves, dim=-1)",
    hint="The numbers are right, but `keep` is no longer what you were given.",
)

COUNTED = f"{COUNT}  # (B, h, w), real pixels up to here\n        {TOTAL}\n        {ANGLES}"

QUESTION.mistake(
    "as in a sentence",
    old=COUNTED,
    new="count = torch.ones_like(keep).cumsum(dim=dim) - 1\n"
    "        angles = count[..., None] * speeds",
    hint="You take the numbers of rows and columns, as for the words of a sentence. Count the real "
    "pixels, beginning with 1, divide by how many the column or row has, and multiply by 2π.",
)

QUESTION.mistake(
    "as in a sentence, from 1",
    old=COUNTED,
    new="count = torch.ones_like(keep).cumsum(dim=dim)\n        angles = count[..., None] * speeds",
    hint="You count all pixels and do not divide. Count the real ones, divide by how many the "
    "column or row has, and multiply by 2π.",
)

QUESTION.mistake(
    "rows and columns swapped, not normalised",
    old=f"{DIMS}\n        {COUNTED}",
    new=f"for dim in (2, 1):\n        {COUNT}\n        angles = count[..., None] * speeds",
    hint="Two things: your halves have changed places, where the first tells the row; and the "
    "counts are to be divided by the number of real pixels and multiplied by 2π.",
)

QUESTION.mistake(
    "rows and columns swapped, the padding counted",
    old=f"{DIMS}\n        {COUNTED}",
    new="for dim in (2, 1):\n        count = torch.ones_like(keep).cumsum(dim=dim)\n"
    f"        total = keep.shape[dim]\n        {ANGLES}",
    hint="Two things: your halves have changed places, where the first tells the row; and you "
    "count the padding too, where only real pixels count.",
)

QUESTION.mistake(
    "rows and columns swapped, first the sines",
    old=f"{DIMS}\n        {COUNTED}  # (B, h, w, width / 4)\n        {WAVES}",
    new=f"for dim in (2, 1):\n        {COUNT}\n        {TOTAL}\n        {ANGLES}\n"
    "        halves.append(torch.cat([angles.sin(), angles.cos()], dim=-1))",
    hint="Two things: your halves have changed places, where the first tells the row; and within a "
    "half sines and cosines alternate.",
)
