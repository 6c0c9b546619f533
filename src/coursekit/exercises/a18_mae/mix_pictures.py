"""Two pictures in one, and a label for both: mixup and CutMix."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def mix_pictures(images, labels, share, partner, centre=None):
    """images (B, C, H, W), labels (B, K), λ, partner (B,) -> images and labels, each mixed."""
    theirs = images[partner]  # (B, C, H, W)
    if centre is None:
        mixed = share * images + (1 - share) * theirs
    else:
        H, W = images.shape[2:]
        row, column = centre
        h, w = int(H * (1 - share) ** 0.5 / 2), int(W * (1 - share) ** 0.5 / 2)
        top, bottom = max(row - h, 0), min(row + h, H)
        left, right = max(column - w, 0), min(column + w, W)
        mixed = images.clone()
        mixed[:, :, top:bottom, left:right] = theirs[:, :, top:bottom, left:right]
        share = 1 - (bottom - top) * (right - left) / (H * W)
    return mixed, share * labels + (1 - share) * labels[partner]


QUESTION = Question(
    name="mix_pictures",
    title="Two pictures in one",
    points=5,
    difficulty=2,
    minutes=35,
    page="mae.html#sec-mae-augment",
    hint="Put the partners of all images into one tensor first, and those of all labels into "
    "another. Mixup is a weighted mean of each pair. For CutMix work out the four sides of the box "
    "as plain numbers, cut them off at the border, and count its pixels: their share of the "
    "picture is what the partner has in the label.",
    reference=mix_pictures,
    forbidden=("coursekit",),
)


def batch(
    images: int, channels: int, height: int, width: int, seed: int, dtype=torch.float32
) -> tuple[Tensor, Tensor]:
    """Return images, and one-hot labels of five classes."""
    chance = torch.Generator().manual_seed(seed)
    labels = torch.randint(5, (images,), generator=chance)
    labels[0], labels[-1] = 0, 3
    return (
        randn(images, channels, height, width, seed=seed, dtype=dtype),
        F.one_hot(labels, 5).to(dtype),
    )


@QUESTION.visible(says="two images of two pixels, mixup")
def two_images(student):
    images = torch.tensor([[[[0.0, 1.0]]], [[[8.0, 5.0]]]])
    return student.mix_pictures(images, torch.eye(2), 0.75, torch.tensor([1, 0]))


@QUESTION.visible(says="five images in a ring, mixup at several shares", weight=2)
def a_ring(student):
    partner = torch.tensor([2, 0, 4, 1, 3])
    return [
        student.mix_pictures(*batch(5, 3, 4, 6, seed=130), share, partner)
        for share in (0.3, 0.9, 1)
    ]


@QUESTION.visible(says="a box within the picture", weight=2)
def a_box_within(student):
    given = batch(4, 2, 8, 12, seed=134)
    return student.mix_pictures(*given, 0.7, torch.tensor([3, 0, 1, 2]), (3, 7))


@QUESTION.visible(says="boxes that reach over the border")
def over_the_border(student):
    given, partner = batch(3, 1, 10, 7, seed=138), torch.tensor([1, 2, 0])
    return [
        student.mix_pictures(*given, 0.35, partner, (y, x))
        for y, x in ((1, 6), (9, 0), (0, 3), (5, 2))
    ]


@QUESTION.visible(says="as many images as channels, rows and columns")
def all_alike(student):
    given, partner = batch(4, 4, 4, 4, seed=142), torch.tensor([1, 3, 0, 2])
    return [
        student.mix_pictures(*given, 0.2, partner),
        student.mix_pictures(*given, 0.45, partner, (1, 2)),
    ]


@QUESTION.visible(says="a box too small for a pixel, and one as large as the picture")
def small_and_large(student):
    given, partner = batch(3, 2, 6, 6, seed=146), torch.tensor([2, 0, 1])
    return [student.mix_pictures(*given, share, partner, (3, 3)) for share in (1.0, 0.95, 0.0)]


@QUESTION.visible(says="an image that is its own partner, labels that are mixed already")
def own_partner(student):
    images, labels = batch(4, 1, 6, 8, seed=150)
    given = images, (labels + 0.5) / 3.5, 0.4, torch.tensor([0, 3, 1, 2])
    return [student.mix_pictures(*given), student.mix_pictures(*given, (2, 5))]


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    given = *batch(3, 1, 6, 4, seed=154, dtype=torch.float64), 0.5, torch.tensor([1, 2, 0])
    return [after(student.mix_pictures, *given), after(student.mix_pictures, *given, (2, 1))]


BLEND = "mixed = share * images + (1 - share) * theirs"
HALF = "h, w = int(H * (1 - share) ** 0.5 / 2), int(W * (1 - share) ** 0.5 / 2)"
ROWS = "top, bottom = max(row - h, 0), min(row + h, H)"
COLUMNS = "left, right = max(column - w, 0), min(column + w, W)"
PASTE = "mixed[:, :, top:bottom, left:right] = theirs[:, :, top:bottom, left:right]"
AREA = "share = 1 - (bottom - top) * (right - left) / (H * W)"
END = "return mixed, share * labels + (1 - share) * labels[partner]"

QUESTION.mistake(
    "labels unmixed",
    old=END,
    new="return mixed, labels.clone()",
    hint="Your labels are those of the first picture alone, though a part of each picture is "
    "another's. The label has the same two shares.",
)

QUESTION.mistake(
    "the label of the larger share",
    old=END,
    new="return mixed, labels.clone() if share >= 0.5 else labels[partner]",
    hint="You give each picture the label of whoever has the larger share. Both labels count, by "
    "their shares.",
)

QUESTION.mistake(
    "λ and 1−λ exchanged",
    old="theirs = images[partner]",
    new="if centre is None:\n        share = 1 - share\n    theirs = images[partner]",
    hint="In mixup your shares are exchanged: λ is that of the image itself, 1 − λ that of its "
    "partner.",
)

QUESTION.mistake(
    "λ and 1−λ exchanged, with a box in the labels too",
    old=f"{BLEND}\n    else:",
    new="mixed = share * theirs + (1 - share) * images\n"
    "        return mixed, share * labels[partner] + (1 - share) * labels\n"
    "    else:\n"
    "        labels, partner = labels[partner], partner.argsort()",
    hint="Your shares are exchanged, in mixup those of pictures and labels, with a box those of "
    "the labels: λ is that of the image itself, 1 − λ that of its partner.",
)

QUESTION.mistake(
    "shares of the pictures exchanged",
    old=BLEND,
    new="mixed = share * theirs + (1 - share) * images",
    hint="In mixup the labels have the right shares, the pictures those of the other one: λ "
    "belongs to the image itself.",
)

QUESTION.mistake(
    "shares of the labels exchanged",
    old=END,
    new="return mixed, share * labels[partner] + (1 - share) * labels",
    hint="Your labels have each other's shares: λ belongs to the image itself, 1 − λ to the "
    "partner.",
)

QUESTION.mistake(
    "half of each",
    old=BLEND,
    new="share = 0.5\n        mixed = share * images + (1 - share) * theirs",
    hint="Your mixup takes half of each, whatever λ is.",
)

QUESTION.mistake(
    "a weight for the partner's labels alone",
    old=END,
    new="return mixed, labels + (1 - share) * labels[partner]",
    hint="Your labels add up to more than 1: the own one counts λ, not 1.",
)

QUESTION.mistake(
    "the neighbour as partner",
    old="theirs = images[partner]",
    new="partner = torch.arange(len(images)).roll(-1)\n    theirs = images[partner]",
    hint="You mix each image with its neighbour. Its partner is told by `partner`.",
)

QUESTION.mistake(
    "the batch turned around",
    old="theirs = images[partner]",
    new="partner = torch.arange(len(images)).flip(0)\n    theirs = images[partner]",
    hint="You mix the batch with itself turned around. Whose partner is who is told by `partner`.",
)

QUESTION.mistake(
    "the partner the wrong way round",
    old="theirs = images[partner]",
    new="partner = partner.argsort()\n    theirs = images[partner]",
    hint="You give each image to its partner. It is given its partner: image b is mixed with image "
    "partner[b].",
)

QUESTION.mistake(
    "partners of the images only",
    old="labels[partner]",
    new="labels.roll(-1, 0)",
    hint="The pictures have their partners, and the labels those of their neighbours. Both are "
    "told by `partner`.",
)

QUESTION.mistake(
    "labels of the batch turned around",
    old="labels[partner]",
    new="labels.flip(0)",
    hint="The pictures have their partners, and the labels those of the batch turned around. Both "
    "are told by `partner`.",
)

QUESTION.mistake(
    "pictures of the batch turned around",
    old="images[partner]",
    new="images.flip(0)",
    hint="The labels have their partners, and the pictures those of the batch turned around. Both "
    "are told by `partner`.",
)

QUESTION.mistake(
    "each pixel on its own",
    old=BLEND,
    new="own = torch.rand(images.shape, generator=torch.Generator().manual_seed(0)) < share\n"
    "        mixed = torch.where(own, images, theirs)",
    hint="You let chance decide for each pixel whose it is. In mixup each pixel is a mean, λ times "
    "one and 1 − λ times the other.",
)

QUESTION.mistake(
    "λ for each pixel",
    old=BLEND,
    new="shares = torch.rand(images.shape, generator=torch.Generator().manual_seed(0))\n"
    "        shares = (shares * 2 * share).clamp(max=1).to(images.dtype)\n"
    "        mixed = shares * images + (1 - shares) * theirs",
    hint="You draw another share for each pixel. One λ is given, and it holds for every pixel of "
    "the batch.",
)

QUESTION.mistake(
    "mixup with a box too",
    old="if centre is None:",
    new="if True:",
    hint="You always blend whole pictures. With a centre the partner's pixels are pasted in a box, "
    "and outside of it nothing changes.",
)

QUESTION.mistake(
    "blended within the box",
    old=PASTE,
    new="mixed[:, :, top:bottom, left:right] = (share * images + (1 - share) * theirs)"
    "[:, :, top:bottom, left:right]",
    hint="You blend within the box. There the partner's pixels stand alone; it is the size of the "
    "box that makes the shares.",
)

QUESTION.mistake(
    "a black box",
    old=PASTE,
    new="mixed[:, :, top:bottom, left:right] = 0.0",
    hint="Your box is black. The partner's pixels of the same places go there.",
)

QUESTION.mistake(
    "the partner around the box",
    old=f"mixed = images.clone()\n        {PASTE}",
    new="mixed = theirs.clone()\n"
    "        mixed[:, :, top:bottom, left:right] = images[:, :, top:bottom, left:right]",
    hint="Your partner stands around the box and the image in it. It is the partner that is "
    "pasted in.",
)

QUESTION.mistake(
    "the first channel alone",
    old=PASTE,
    new="mixed[:, 0, top:bottom, left:right] = theirs[:, 0, top:bottom, left:right]",
    hint="You paste into the first channel alone. A box has all channels of the partner.",
)

QUESTION.mistake(
    "λ as it was",
    old=AREA,
    new="pass",
    hint="The pictures of CutMix are right; their labels have the λ that was given. The box was "
    "rounded, and perhaps cut off at the border: count what it really covers.",
)

QUESTION.mistake(
    "the area before it was cut off",
    old=AREA,
    new="share = 1 - 4 * h * w / (H * W)",
    hint="You count the whole box, also what lies outside of the picture. Only pixels that are "
    "really the partner's count.",
)

QUESTION.mistake(
    "not cut off",
    old=f"{ROWS}\n        {COLUMNS}",
    new="top, bottom, left, right = row - h, row + h, column - w, column + w",
    hint="Your box is not cut off at the border. A side below 0 counts from the other end in "
    "Python, and beyond the last pixel the area counts what is not there.",
)

QUESTION.mistake(
    "not cut off, λ as it was",
    old=f"{ROWS}\n        {COLUMNS}\n        mixed = images.clone()\n        {PASTE}\n"
    f"        {AREA}",
    new="top, bottom, left, right = row - h, row + h, column - w, column + w\n"
    f"        mixed = images.clone()\n        {PASTE}",
    hint="Two things: your box is not cut off at the border, and a side below 0 counts from the "
    "other end in Python; and the labels have the λ that was given, where what the box really "
    "covers counts.",
)

QUESTION.mistake(
    "cut off too early",
    old=f"{ROWS}\n        {COLUMNS}",
    new="top, bottom = max(row - h, 0), min(row + h, H - 1)\n"
    "        left, right = max(column - w, 0), min(column + w, W - 1)",
    hint="Your box never reaches the last row and the last column: you cut it off at H − 1 and "
    "W − 1. What it goes up to is not included, so H and W are the limits.",
)

QUESTION.mistake(
    "not cut off above and left",
    old=f"{ROWS}\n        {COLUMNS}",
    new="top, bottom, left, right = row - h, min(row + h, H), column - w, min(column + w, W)",
    hint="Your box may begin below 0, and such places count from the other end in Python. Cut it "
    "off at 0.",
)

QUESTION.mistake(
    "not cut off below and right",
    old=f"{ROWS}\n        {COLUMNS}",
    new="top, bottom, left, right = max(row - h, 0), row + h, max(column - w, 0), column + w",
    hint="Your box may end beyond the last pixel. Python pastes what fits, but your area counts "
    "what is not there: cut it off at H and W.",
)

QUESTION.mistake(
    "moved into the picture",
    old=ROWS,
    new="row, column = min(max(row, h), H - h), min(max(column, w), W - w)\n        " + ROWS,
    hint="You push the box into the picture where it would reach over the border. It stays where "
    "it is and is cut off.",
)

QUESTION.mistake(
    "the area the wrong way round",
    old=AREA,
    new="share = (bottom - top) * (right - left) / (H * W)",
    hint="You give the own label the area of the box. The box is the partner's; the own label has "
    "the rest.",
)

QUESTION.mistake(
    "the area of all channels",
    old="/ (H * W)",
    new="/ (H * W * images.shape[1])",
    hint="You divide by the channels too. They have all been pasted: count places, not numbers.",
)

QUESTION.mistake(
    "λ for the sides",
    old=HALF,
    new="h, w = int(H * (1 - share) / 2), int(W * (1 - share) / 2)",
    hint="Your sides are in proportion to 1 − λ, so that the area is its square. The root is "
    "missing.",
)

QUESTION.mistake(
    "a box of λ",
    old=HALF,
    new="h, w = int(H * share**0.5 / 2), int(W * share**0.5 / 2)",
    hint="Your box has the share λ of the picture. It is the partner's, and has 1 − λ.",
)

QUESTION.mistake(
    "twice as long",
    old=HALF,
    new="h, w = int(H * (1 - share) ** 0.5), int(W * (1 - share) ** 0.5)",
    hint="Your box is twice as high and twice as wide: you go a whole side to each direction from "
    "the centre. Half of it is meant.",
)

QUESTION.mistake(
    "to the nearest",
    old=HALF,
    new="h, w = round(H * (1 - share) ** 0.5 / 2), round(W * (1 - share) ** 0.5 / 2)",
    hint="You round half the sides to the nearest number. int cuts off what stands behind the "
    "point.",
)

QUESTION.mistake(
    "the centre as a corner",
    old=f"{ROWS}\n        {COLUMNS}",
    new="top, bottom, left, right = row, min(row + 2 * h, H), column, min(column + 2 * w, W)",
    hint="Your centre is the upper left corner of the box. It goes from there to all four sides.",
)

QUESTION.mistake(
    "rows and columns exchanged",
    old="row, column = centre",
    new="column, row = centre",
    hint="Rows and columns have changed places: the centre is given as (row, column).",
)

QUESTION.mistake(
    "height and width exchanged",
    old=HALF,
    new="w, h = int(H * (1 - share) ** 0.5 / 2), int(W * (1 - share) ** 0.5 / 2)",
    hint="Your box has its height by the width of the picture. It has the picture's form: h comes "
    "from H, and w from W.",
)

QUESTION.mistake(
    "the axes of the box exchanged",
    old=PASTE,
    new="mixed[:, :, left:right, top:bottom] = theirs[:, :, left:right, top:bottom]",
    hint="You paste with the axes exchanged. Images are (B, C, H, W): rows come first.",
)

QUESTION.mistake(
    "the last row and column too",
    old=ROWS + "\n        " + COLUMNS,
    new="top, bottom = max(row - h, 0), min(row + h + 1, H)\n"
    "        left, right = max(column - w, 0), min(column + w + 1, W)",
    hint="Your box has one row and one column too many: it ends before row + h, and before "
    "column + w.",
)

QUESTION.mistake(
    "a square box",
    old=HALF,
    new="h = w = int((H * W * (1 - share)) ** 0.5 / 2)",
    hint="Your box is a square. It has the form of the picture: h comes from H, and w from W.",
)

QUESTION.mistake(
    "three results",
    old=END,
    new=f"{END}, share",
    hint="You return λ as well. Images and labels are asked for.",
)

QUESTION.mistake(
    "both labels and the share",
    old=END,
    new="return mixed, labels, labels[partner], share",
    hint="You return both labels and the share, as the paper's code does for its loss. Mix the "
    "labels: they are one-hot, and a weighted mean of them is a label too.",
)

QUESTION.mistake(
    "labels first",
    old=END,
    new="return share * labels + (1 - share) * labels[partner], mixed",
    hint="Your two results have changed places: images first.",
)

QUESTION.mistake(
    "the images alone",
    old=END,
    new="return mixed",
    hint="You return the images alone. Their labels belong to them.",
)

QUESTION.mistake(
    "in single precision",
    old=END,
    new=END.replace("mixed, ", "mixed.float(), (") + ").float()",
    hint="Your results are float32, whatever the dtype of what you were given.",
)

QUESTION.mistake(
    "in place, with what was pasted already",
    old="mixed = images.clone()\n        " + PASTE,
    new="mixed = images\n"
    "        for b, p in enumerate(partner.tolist()):\n"
    "            mixed[b, :, top:bottom, left:right] = mixed[p, :, top:bottom, left:right].clone()",
    hint="You paste into `images` one by one, so that some partner has a box of its own already "
    "when it is asked for its pixels. Paste into a clone, from what was given.",
)

QUESTION.mistake(
    "in place",
    old="images.clone()",
    new="images",
    hint="The results are right, but with a box `images` are no longer what you were given. Paste "
    "into a clone.",
)

QUESTION.mistake(
    "in place, λ as it was",
    old=f"mixed = images.clone()\n        {PASTE}\n        {AREA}",
    new=f"mixed = images\n        {PASTE}",
    hint="Two things: with a box the labels have the λ that was given, where what the box really "
    "covers counts; and you paste into `images`, which should stay as they were.",
)

QUESTION.mistake(
    "labels in place",
    old=END,
    new="theirs = labels[partner]\n    return mixed, labels.mul_(share).add_((1 - share) * theirs)",
    hint="The results are right, but `labels` are no longer what you were given. *= and += write "
    "into them; make a new tensor.",
)
