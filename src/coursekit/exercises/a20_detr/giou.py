"""How much two boxes overlap, and, if they do not, how far they are from it."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def giou(a, b):
    """a, b (..., 4), centre x, centre y, width, height -> (...), from −1 to 1."""
    a_low, a_high = a[..., :2] - a[..., 2:] / 2, a[..., :2] + a[..., 2:] / 2  # (..., 2) each
    b_low, b_high = b[..., :2] - b[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2  # (..., 2) each
    sides = (torch.minimum(a_high, b_high) - torch.maximum(a_low, b_low)).clamp(min=0)
    both = sides.prod(dim=-1)  # (...), the area that both cover
    either = a[..., 2:].prod(dim=-1) + b[..., 2:].prod(dim=-1) - both  # (...)
    around = torch.maximum(a_high, b_high) - torch.minimum(a_low, b_low)  # (..., 2)
    hull = around.prod(dim=-1)  # (...)
    iou = both / either.where(either > 0, 1)
    return iou - (hull - either) / hull.where(hull > 0, 1)


QUESTION = Question(
    name="giou",
    title="How far from an overlap",
    points=4,
    difficulty=2,
    minutes=25,
    page="detr.html#sec-detr-boxes",
    hint="Go from centres to corners first; everything else is about left, top, right and bottom. "
    "What both boxes cover is a box as well: which of the two left sides is its own? What if the "
    "boxes do not touch, and its right side lies to the left of its left side? The box around both "
    "is found in the same way, with the other choice at each side. Three areas then do.",
    reference=giou,
    forbidden=("coursekit",),
)


def box_list(many: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return boxes in parts of an image, of many places and forms, some of them thin."""
    numbers = randn(many, 4, seed=seed, dtype=dtype).sigmoid()
    return torch.cat([numbers[:, :2], 0.05 + 0.8 * numbers[:, 2:].square()], dim=-1)


@QUESTION.visible(says="two boxes that overlap, and two that do not")
def two_pairs(student):
    a = torch.tensor([[2.0, 2.0, 4.0, 4.0], [1.0, 1.0, 2.0, 2.0]])
    return student.giou(a, torch.tensor([[4.0, 3.0, 4.0, 2.0], [5.0, 2.0, 2.0, 4.0]]))


@QUESTION.visible(says="boxes apart: side by side, one above the other, corner to corner")
def apart(student):
    one = torch.tensor([[0.2, 0.3, 0.2, 0.1]])
    others = torch.tensor(
        [[0.7, 0.3, 0.3, 0.2], [0.2, 0.8, 0.1, 0.3], [0.6, 0.7, 0.2, 0.4], [0.9, 0.9, 0.1, 0.1]]
    )
    return student.giou(one.expand(4, 4).clone(), others)


@QUESTION.visible(says="twelve pairs of boxes", weight=2)
def twelve_pairs(student):
    return student.giou(box_list(12, seed=1), box_list(12, seed=2))


@QUESTION.visible(says="every box of one list with every box of another", weight=2)
def every_pair(student):
    return student.giou(box_list(5, seed=3)[:, None], box_list(4, seed=4))


@QUESTION.visible(says="one box within the other, and a box with itself")
def within(student):
    a = torch.tensor([[0.5, 0.5, 0.8, 0.6], [0.5, 0.5, 0.2, 0.3], [0.3, 0.6, 0.2, 0.4]])
    return student.giou(
        a, torch.tensor([[0.6, 0.4, 0.3, 0.2], [0.4, 0.5, 0.7, 0.9], a[2].tolist()])
    )


@QUESTION.visible(says="boxes without width or height, two of them the same point")
def without_area(student):
    a = torch.tensor([[0.2, 0.2, 0.0, 0.4], [0.3, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    b = torch.tensor([[0.4, 0.2, 0.2, 0.2], [0.6, 0.7, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    return student.giou(a, b)


@QUESTION.visible(says="small boxes, and boxes in pixels")
def small_and_large(student):
    a, b = box_list(6, seed=5), box_list(6, seed=6)
    return [student.giou(a * scale, b * scale) for scale in (1 / 256, 640.0)]


@QUESTION.visible(says="gradients, of boxes that overlap and of boxes that do not")
def with_gradients(student):
    return gradients(student.giou, box_list(8, seed=7), box_list(8, seed=8))


@QUESTION.visible(says="what was given stays as it was; double precision", tolerance=1e-9)
def what_was_given_stays(student):
    given = (box_list(5, seed=n, dtype=torch.float64) for n in (9, 10))
    return after(student.giou, *given)


A_CORNERS = "a_low, a_high = a[..., :2] - a[..., 2:] / 2, a[..., :2] + a[..., 2:] / 2"
B_CORNERS = "b_low, b_high = b[..., :2] - b[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2"
CORNERS = f"{A_CORNERS}  # (..., 2) each\n    {B_CORNERS}"
OVERLAP = "(torch.minimum(a_high, b_high) - torch.maximum(a_low, b_low))"
EITHER = "either = a[..., 2:].prod(dim=-1) + b[..., 2:].prod(dim=-1) - both"
AROUND = "around = torch.maximum(a_high, b_high) - torch.minimum(a_low, b_low)"
IOU = "iou = both / either.where(either > 0, 1)"
END = "return iou - (hull - either) / hull.where(hull > 0, 1)"
READ = "def giou(a, b):\n"

QUESTION.mistake(
    "the IoU alone",
    old=END,
    new="return iou",
    hint="You return the IoU. It is 0 for all boxes that do not touch, near or far: the empty part "
    "of the box around both is still to be taken off.",
)

QUESTION.mistake(
    "clipped at 0",
    old=END,
    new=f"{END.replace('return ', 'return (')}).clamp(min=0)",
    hint="You clip what is below 0. That is where the generalized IoU has something to say: the "
    "farther apart, the lower it is.",
)

QUESTION.mistake(
    "lower by 1",
    old=END,
    new=f"{END} - 1",
    hint="Your numbers are lower by 1. A box has a generalized IoU of 1 with itself.",
)

QUESTION.mistake(
    "enclosing minus intersection",
    old="(hull - either)",
    new="(hull - both)",
    hint="You count as empty what is not covered by both boxes. Empty is what neither of them "
    "covers: the box around both minus the area that either covers.",
)

QUESTION.mistake(
    "enclosing minus the larger box",
    old="(hull - either)",
    new="(hull - torch.maximum(a[..., 2:].prod(dim=-1), b[..., 2:].prod(dim=-1)))",
    hint="You take the larger box from the box around both. What both boxes cover together is not "
    "empty.",
)

QUESTION.mistake(
    "the empty part by the area of either",
    old="/ hull.where(hull > 0, 1)",
    new="/ either.where(either > 0, 1)",
    hint="You divide the empty part by the area that either covers. It is a share of the box "
    "around both, and so at most 1.",
)

QUESTION.mistake(
    "the empty part not divided",
    old="(hull - either) / hull.where(hull > 0, 1)",
    new="(hull - either)",
    hint="You take off the empty area itself. Its share of the box around both is meant, which "
    "does not depend on how large the picture is.",
)

QUESTION.mistake(
    "plus for minus",
    old="return iou - (hull",
    new="return iou + (hull",
    hint="You add the empty part. It makes two boxes worse: take it off.",
)

QUESTION.mistake(
    "the full part taken off",
    old="(hull - either) / hull.where(hull > 0, 1)",
    new="either / hull.where(hull > 0, 1)",
    hint="You take off the part of the box around both that is covered. The empty part is the "
    "rest.",
)

QUESTION.mistake(
    "the loss",
    old=END,
    new=END.replace("return iou - (", "return 1 - iou + ("),
    hint="You return 1 minus the generalized IoU. That is a loss; the generalized IoU itself is "
    "asked for, 1 for two boxes that are the same.",
)

QUESTION.mistake(
    "the distance of the centres",
    old=END,
    new="apart = (a[..., :2] - b[..., :2]).square().sum(dim=-1)\n"
    "    across = around.square().sum(dim=-1)\n"
    "    return iou - apart / across.where(across > 0, 1)",
    hint="You take off the distance of the centres over the diagonal of the box around both. That "
    "is another measure, the DIoU; here the empty part of that box is taken off.",
)

QUESTION.mistake(
    "corners for centres",
    old=CORNERS,
    new="a_low, a_high = a[..., :2], a[..., 2:]\n    b_low, b_high = b[..., :2], b[..., 2:]\n"
    "    a, b = (torch.cat([x, y - x], dim=-1) for x, y in ((a_low, a_high), (b_low, b_high)))",
    hint="You read the four numbers as corners, left, top, right, bottom. They are the centre, "
    "then width and height.",
)

QUESTION.mistake(
    "corners for centres, areas of width and height",
    old=CORNERS,
    new="a_low, a_high = a[..., :2], a[..., 2:]\n    b_low, b_high = b[..., :2], b[..., 2:]",
    hint="Your areas are right, but where the boxes meet you read the four numbers as corners. The "
    "first two are the centre, and the sides lie half a width and half a height from it.",
)

QUESTION.mistake(
    "centres, areas as of corners",
    old=EITHER,
    new="either = (a[..., 2:] - a[..., :2]).prod(dim=-1) + (b[..., 2:] - b[..., :2]).prod(dim=-1)"
    " - both",
    hint="For the areas you subtract the first two numbers from the last two, as if they were "
    "corners. The last two are width and height already.",
)

QUESTION.mistake(
    "the corner for the centre",
    old=CORNERS,
    new="a_low, a_high = a[..., :2], a[..., :2] + a[..., 2:]\n"
    "    b_low, b_high = b[..., :2], b[..., :2] + b[..., 2:]",
    hint="Your boxes begin where their centre is. The first two numbers are the middle of a box, "
    "not its upper left corner.",
)

QUESTION.mistake(
    "a whole width to each side",
    old=CORNERS,
    new="a_low, a_high = a[..., :2] - a[..., 2:], a[..., :2] + a[..., 2:]\n"
    "    b_low, b_high = b[..., :2] - b[..., 2:], b[..., :2] + b[..., 2:]",
    hint="You go a whole width and a whole height from the centre in each direction. Half of it is "
    "meant.",
)

QUESTION.mistake(
    "a whole width to each side, areas too",
    old=CORNERS,
    new="a_low, a_high = a[..., :2] - a[..., 2:], a[..., :2] + a[..., 2:]\n"
    "    b_low, b_high = b[..., :2] - b[..., 2:], b[..., :2] + b[..., 2:]\n"
    "    a, b = (torch.cat([x[..., :2], 2 * x[..., 2:]], dim=-1) for x in (a, b))",
    hint="Your boxes are twice as wide and twice as high as they should be: you go a whole width "
    "from the centre in each direction, where half of it is meant.",
)

QUESTION.mistake(
    "width and height exchanged",
    old=READ
    + '    """a, b (..., 4), centre x, centre y, width, height -> (...), from −1 to 1."""\n',
    new=READ + "    a, b = (x[..., [0, 1, 3, 2]] for x in (a, b))\n",
    hint="The sizes have gone to the wrong sides: the order is centre x, centre y, width, height, "
    "so the third number belongs to the first, and the fourth to the second.",
)

QUESTION.mistake(
    "a negative width",
    old=f"{OVERLAP}.clamp(min=0)",
    new=OVERLAP,
    hint="Boxes that do not touch have a common width or height below 0, and two such numbers even "
    "make a positive area. What is below 0 counts as 0, before you multiply.",
)

QUESTION.mistake(
    "clipped behind the product",
    old=f"{OVERLAP}.clamp(min=0)\n    both = sides.prod(dim=-1)",
    new=f"{OVERLAP}\n    both = sides.prod(dim=-1).clamp(min=0)",
    hint="You clip the common area at 0 after you multiplied. Boxes that lie corner to corner have "
    "a width and a height below 0, whose product is above: clip both before.",
)

QUESTION.mistake(
    "the width clipped alone",
    old=f"{OVERLAP}.clamp(min=0)",
    new=f"{OVERLAP}\n    sides = torch.stack([sides[..., 0].clamp(min=0), sides[..., 1]], dim=-1)",
    hint="You clip the common width at 0, but not the common height.",
)

QUESTION.mistake(
    "the distance for a gap",
    old=f"{OVERLAP}.clamp(min=0)",
    new=f"{OVERLAP}.abs()",
    hint="You take the absolute value of the common width and height, so that a gap counts as an "
    "overlap. Where there is a gap nothing is common.",
)

QUESTION.mistake(
    "a gap for an overlap",
    old=OVERLAP,
    new="(torch.maximum(a_high, b_high) - torch.minimum(a_low, b_low))",
    hint="For what both cover you take the outermost sides: that is the box around both. The "
    "common box begins at the larger of the two left sides and ends at the smaller of the two "
    "right ones.",
)

QUESTION.mistake(
    "the common box for the box around",
    old=AROUND,
    new="around = torch.minimum(a_high, b_high) - torch.maximum(a_low, b_low)",
    hint="Your box around both is the common one. It begins at the smaller of the two left sides "
    "and ends at the larger of the two right ones.",
)

QUESTION.mistake(
    "widths and heights added up",
    old=AROUND,
    new="around = a[..., 2:] + b[..., 2:]",
    hint="Your box around both is as wide as both together. How wide it is depends on where they "
    "lie: take the outermost sides.",
)

QUESTION.mistake(
    "the picture for the box around",
    old="hull = around.prod(dim=-1)",
    new="hull = torch.ones_like(both)",
    hint="You take the whole picture, an area of 1, for the box around both. Take the smallest box "
    "that holds them.",
)

QUESTION.mistake(
    "the common part counted twice",
    old=" - both  # (...)",
    new="  # (...)",
    hint="The area that either covers is too large: what both cover stands in it twice.",
)

QUESTION.mistake(
    "the common part over the smaller box",
    old=IOU,
    new="least = torch.minimum(a[..., 2:].prod(dim=-1), b[..., 2:].prod(dim=-1))\n"
    "    iou = both / least.where(least > 0, 1)",
    hint="You divide the common area by the smaller of the two boxes. Then a small box within a "
    "large one is perfect; divide by the area that either covers.",
)

QUESTION.mistake(
    "the common part over both areas, twice",
    old=IOU,
    new="total = either + both\n    iou = 2 * both / total.where(total > 0, 1)",
    hint="You take twice the common area over the sum of the two areas, the Dice coefficient. The "
    "IoU has the area that either covers below.",
)

QUESTION.mistake(
    "perimeters for areas",
    old="both = sides.prod(dim=-1)",
    new="both = sides.sum(dim=-1)",
    hint="The common area is a width times a height; yours is their sum.",
)

QUESTION.mistake(
    "widths alone",
    old="both = sides.prod(dim=-1)",
    new="both = sides[..., 0]",
    hint="Your common area is the common width alone. The height belongs to it.",
)

QUESTION.mistake(
    "pixels counted",
    old="sides.prod(dim=-1)",
    new="((sides + 1) * (sides > 0)).prod(dim=-1)",
    hint="You count a pixel more in the common width and height, as old code does whose corners "
    "are the last pixels within. Here a width is right minus left.",
)

QUESTION.mistake(
    "all pairs, always",
    old=READ
    + '    """a, b (..., 4), centre x, centre y, width, height -> (...), from −1 to 1."""\n',
    new=READ + "    a = a[:, None]\n",
    hint="You compare every box of the first list with every box of the second. Each is compared "
    "with the one at its own place; whoever wants all pairs gives a an axis more, and then "
    "broadcasting does it.",
)

QUESTION.mistake(
    "one axis only",
    old=READ
    + '    """a, b (..., 4), centre x, centre y, width, height -> (...), from −1 to 1."""\n',
    new=READ + "    shape = a.shape[:-1]\n    a, b = a.reshape(-1, 4), b.reshape(-1, 4)\n",
    hint="You flatten both lists, so that lists of different sizes cannot be compared. Leave the "
    "axes before the last as they are, and broadcasting does the rest.",
)

QUESTION.mistake(
    "the mean",
    old=END,
    new=f"{END.replace('return ', 'return (')}).mean()",
    hint="You return the mean of all pairs. A number for each pair is asked for.",
)

QUESTION.mistake(
    "an axis more",
    old=END,
    new=f"{END.replace('return ', 'return (')})[..., None]",
    hint="Your answer keeps an axis of length 1 at its end, as slices such as [..., 2:3] and "
    "keepdim do. Each pair gets a number, and the last axis is gone.",
)

QUESTION.mistake(
    "0 divided by 0",
    old=f"{IOU}\n    {END}",
    new="iou = both / either\n    return iou - (hull - either) / hull",
    hint="Where neither box has an area you divide 0 by 0. That IoU counts as 0, and nothing is "
    "taken off if the box around both has no area either.",
)

QUESTION.mistake(
    "0 divided by 0, in the box around alone",
    old="/ hull.where(hull > 0, 1)",
    new="/ hull",
    hint="Two equal points have a box around them without an area, and you divide 0 by 0. Nothing "
    "is taken off there.",
)

QUESTION.mistake(
    "every nan a 0",
    old=f"{IOU}\n    {END}",
    new="iou = both / either\n    return (iou - (hull - either) / hull).nan_to_num(0.0)",
    hint="You turn the whole result into 0 where a division fails. Only the IoU counts as 0 there; "
    "two points that lie apart still have an empty box around them, which is taken off.",
)

QUESTION.mistake(
    "a point like itself",
    old=IOU,
    new="iou = torch.where(either > 0, both / either, 1)",
    hint="Boxes without area have an IoU of 1 with you. It counts as 0, also where both are the "
    "same.",
)

QUESTION.mistake(
    "an eps in the divisors",
    old=f"{IOU}\n    {END}",
    new="iou = both / (either + 1e-6)\n    return iou - (hull - either) / (hull + 1e-6)",
    hint="You add a small number to what you divide by. Small boxes have an area not much larger "
    "than that, and theirs comes out wrong. Treat an area of 0 apart.",
)

QUESTION.mistake(
    "a smaller eps in the divisors",
    old=f"{IOU}\n    {END}",
    new="iou = both / (either + 1e-7)\n    return iou - (hull - either) / (hull + 1e-7)",
    hint="You add 1e-7 to what you divide by. Small boxes have an area not much larger than that, "
    "and theirs comes out wrong. Treat an area of 0 apart.",
)

QUESTION.mistake(
    "an eps in the IoU's divisor",
    old=IOU,
    new="iou = both / (either + 1e-6)",
    hint="You add a small number to the area that either covers. Small boxes have an area not much "
    "larger than that, and their IoU comes out wrong. Treat an area of 0 apart.",
)

QUESTION.mistake(
    "an eps as the smallest divisor",
    old=f"{IOU}\n    {END}",
    new="iou = both / either.clamp(min=1e-6)\n"
    "    return iou - (hull - either) / hull.clamp(min=1e-6)",
    hint="You divide by 0.000001 at least. Small boxes have areas below that, and theirs comes out "
    "wrong. Treat an area of 0 apart.",
)

QUESTION.mistake(
    "only within the picture",
    old=CORNERS,
    new=f"{CORNERS}\n    a_low, a_high, b_low, b_high = "
    "(x.clamp(0, 1) for x in (a_low, a_high, b_low, b_high))",
    hint="You cut corners off at 0 and 1. Boxes may lie anywhere, and may be given in pixels.",
)

QUESTION.mistake(
    "no gradient",
    old=END,
    new=f"{END.replace('return ', 'return (')}).detach()",
    hint="The numbers are right, but no gradient reaches the boxes: it goes lost where you detach, "
    "use numpy, .item() or torch.no_grad.",
)

QUESTION.mistake(
    "no gradient at the second box",
    old=READ
    + '    """a, b (..., 4), centre x, centre y, width, height -> (...), from −1 to 1."""\n',
    new=READ + "    b = b.detach()\n",
    hint="The numbers are right, but no gradient reaches the second box. Both may be moved.",
)

QUESTION.mistake(
    "in single precision",
    old=END,
    new=f"{END.replace('return ', 'return (')}).float()",
    hint="You return float32, whatever the dtype of the boxes.",
)

QUESTION.mistake(
    "corners written into the boxes",
    old=END,
    new=f"a.data[..., :2], a.data[..., 2:] = a_low.clone(), a_high.clone()\n"
    f"    b.data[..., :2], b.data[..., 2:] = b_low.clone(), b_high.clone()\n    {END}",
    hint="The numbers are right, but the boxes are no longer what you were given: you wrote their "
    "corners into them. Make new tensors.",
)

ALL = (
    "both = sides.prod(dim=-1)  # (...), the area that both cover\n"
    f"    {EITHER}  # (...)\n    {AROUND}  # (..., 2)\n"
    f"    hull = around.prod(dim=-1)  # (...)\n    {IOU}\n    {END}"
)
REST = (
    f"    {EITHER}\n    {AROUND}\n    hull = around.prod(dim=-1)\n"
    "    return both / either - (hull - either) / hull"
)

QUESTION.mistake(
    "clipped behind the product, 0 divided by 0",
    old=f"{OVERLAP}.clamp(min=0)\n    {ALL}",
    new=f"{OVERLAP}\n    both = sides.prod(dim=-1).clamp(min=0)\n{REST}",
    hint="Two things: you clip the common area at 0 after you multiplied, where boxes that lie "
    "corner to corner have a width and a height below 0, whose product is above; and you divide 0 "
    "by 0 where neither box has an area.",
)

QUESTION.mistake(
    "a negative width, 0 divided by 0",
    old=f"{OVERLAP}.clamp(min=0)\n    {ALL}",
    new=f"{OVERLAP}\n    both = sides.prod(dim=-1)\n{REST}",
    hint="Two things: boxes that do not touch have a common width or height below 0, which counts "
    "as 0, before you multiply; and you divide 0 by 0 where neither box has an area.",
)

QUESTION.mistake(
    "the IoU alone, 0 divided by 0",
    old=f"{IOU}\n    {END}",
    new="return both / either",
    hint="Two things: you return the IoU, from which the empty part of the box around both is "
    "still to be taken off; and you divide 0 by 0 where neither box has an area.",
)

QUESTION.mistake(
    "an eps of 1e-8 in the divisors",
    old=f"{IOU}\n    {END}",
    new="iou = both / (either + 1e-8)\n    return iou - (hull - either) / (hull + 1e-8)",
    hint="You add 1e-8 to what you divide by. Small boxes have an area not so much larger than "
    "that, and theirs comes out wrong. Treat an area of 0 apart.",
)

QUESTION.mistake(
    "an eps of 1e-9 in the divisors",
    old=f"{IOU}\n    {END}",
    new="iou = both / (either + 1e-9)\n    return iou - (hull - either) / (hull + 1e-9)",
    hint="You add 1e-9 to what you divide by. That is little, but small boxes have small areas, "
    "and theirs comes out wrong. Treat an area of 0 apart.",
)
