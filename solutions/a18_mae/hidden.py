"""The hidden cases of assignment 18: students may read what a case `says`, and nothing else."""

import torch
import torch.nn.functional as F

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- hide_patches


def dice(rows, columns, seed, dtype=torch.float32):
    """Return numbers from 0 to 1, no two of a row equal."""
    cast = randn(rows, columns, seed=seed, dtype=torch.float64).argsort(dim=1)
    return ((cast + 0.5) / columns).to(dtype)


@hidden("hide_patches", says="eight images of 196 patches, as in the paper", weight=2)
def hide_paper(student):
    return student.hide_patches(dice(8, 196, seed=301), 0.75)


@hidden("hide_patches", says="many shares of 15 patches")
def hide_shares(student):
    shares = (0.1, 0.25, 0.5, 0.62, 0.7, 0.9)
    return [student.hide_patches(dice(2, 15, seed=302), share) for share in shares]


@hidden("hide_patches", says="nothing hidden, many images")
def hide_nothing(student):
    return student.hide_patches(dice(12, 7, seed=303), 0.0)


@hidden("hide_patches", says="a single patch stays of each image", weight=2)
def hide_nearly_all(student):
    return student.hide_patches(dice(5, 11, seed=304), 0.88)


@hidden("hide_patches", says="numbers that rise, and numbers that fall")
def hide_sorted(student):
    rising = torch.linspace(-2.0, 5.0, 12).repeat(2, 1)
    return student.hide_patches(rising, 0.5), student.hide_patches(-rising, 0.5)


@hidden("hide_patches", says="one image, and one patch")
def hide_one(student):
    return [student.hide_patches(dice(*size, seed=305), 0.0) for size in ((1, 6), (3, 1), (1, 1))]


@hidden("hide_patches", says="double precision: numbers that lie very close together")
def hide_close(student):
    numbers = 0.5 + 1e-12 * dice(3, 14, seed=306, dtype=torch.float64)
    return student.hide_patches(numbers, 0.6)


@hidden("hide_patches", says="what was given is left as it was", weight=0.5)
def hide_keeps(student):
    return after(student.hide_patches, dice(3, 8, seed=307), 0.5)


# --- own_scale and paint_loss


def squares(images, patches, numbers, seed, dtype=torch.float32):
    """Return patches of several brightnesses and contrasts, and a decoder's answer."""
    light = torch.linspace(-1.0, 3.0, images * patches, dtype=dtype).reshape(images, patches, 1)
    pixels = randn(images, patches, numbers, seed=seed, dtype=dtype)
    answer = randn(images, patches, numbers, seed=seed + 1, dtype=dtype)
    return light + (0.1 + light.square()) * pixels, 1.1 * answer - 0.1


@hidden("own_scale", says="49 patches of 48 numbers", weight=2)
def scale_many(student):
    return student.own_scale(*squares(5, 49, 48, seed=311))


@hidden("own_scale", says="patches of six numbers, and of two")
def scale_small(student):
    return student.own_scale(*squares(3, 5, 6, seed=313)), student.own_scale(
        *(x[..., :2] for x in squares(4, 3, 6, seed=315))
    )


@hidden("own_scale", says="as many images as patches and numbers", weight=2)
def scale_alike(student):
    return student.own_scale(*squares(6, 6, 6, seed=317))


@hidden("own_scale", says="images of one grey each")
def scale_flat(student):
    _, answer = squares(3, 4, 12, seed=319)
    return student.own_scale(torch.arange(3.0)[:, None, None].expand(3, 4, 12).clone(), answer)


@hidden("own_scale", says="very little contrast, and other values of eps")
def scale_contrast(student):
    patches, answer = squares(2, 5, 9, seed=321)
    return [student.own_scale(0.002 * patches, answer, eps) for eps in (1e-6, 1e-4, 0.1)]


@hidden("own_scale", says="double precision", tolerance=1e-12)
def scale_double(student):
    return student.own_scale(*squares(2, 4, 15, seed=323, dtype=torch.float64))


@hidden("own_scale", says="bright patches with little contrast", tolerance=2e-3)
def scale_bright(student):
    patches, answer = squares(3, 3, 27, seed=325)
    return student.own_scale(254.5 + 0.1 * patches, answer)


@hidden("own_scale", says="what was given is left as it was", weight=0.5)
def scale_keeps(student):
    return after(student.own_scale, *squares(2, 2, 6, seed=327))


def masks(images, patches, seed, hides=None):
    """Return masks, each of another number of patches unless told how many."""
    rank = randn(images, patches, seed=seed).argsort(dim=1).argsort(dim=1)
    many = torch.arange(images) * 2 % (patches + 1) if hides is None else torch.tensor(hides)
    return rank < many.reshape(-1, 1)


@hidden("paint_loss", says="many images, three quarters hidden", weight=2)
def paint_many(student):
    predicted, patches = squares(6, 16, 12, seed=331)[::-1]
    return student.paint_loss(predicted, patches, masks(6, 16, seed=332, hides=12))


@hidden("paint_loss", says="raw pixels, three quarters hidden")
def paint_raw(student):
    predicted, patches = squares(4, 12, 6, seed=333)[::-1]
    return student.paint_loss(predicted, patches, masks(4, 12, seed=334, hides=9), normalised=False)


@hidden("paint_loss", says="each image hides another number, one of them none", weight=2)
def paint_uneven(student):
    predicted, patches = squares(5, 8, 6, seed=335)[::-1]
    return [
        student.paint_loss(predicted, patches, masks(5, 8, seed=336), own) for own in (True, False)
    ]


@hidden("paint_loss", says="everything hidden, one patch hidden, nothing hidden")
def paint_extremes(student):
    predicted, patches = squares(3, 4, 9, seed=337)[::-1]
    marked = [masks(3, 4, seed=338, hides=many) for many in ([4, 4, 4], [0, 1, 0], [0, 0, 0])]
    return [student.paint_loss(predicted, patches, one) for one in marked]


@hidden("paint_loss", says="the gradient at what was predicted, raw pixels too")
def paint_gradient(student):
    predicted, patches = squares(4, 7, 6, seed=339)[::-1]
    given = predicted, patches, masks(4, 7, seed=340)
    return [gradients(student.paint_loss, *given, own)[1][0] for own in (True, False)]


@hidden("paint_loss", says="what is perfect where it counts costs nothing")
def paint_perfect(student):
    predicted, patches = squares(2, 6, 6, seed=341)[::-1]
    marked = masks(2, 6, seed=342, hides=[2, 5])
    painted = torch.where(marked[..., None], patches, 50 * predicted)
    return student.paint_loss(painted, patches, marked, False), student.paint_loss(
        painted, patches, ~marked, False
    )


@hidden("paint_loss", says="double precision", tolerance=1e-12)
def paint_double(student):
    predicted, patches = squares(3, 5, 6, seed=343, dtype=torch.float64)[::-1]
    return student.paint_loss(predicted, patches, masks(3, 5, seed=344))


@hidden("paint_loss", says="what was given is left as it was", weight=0.5)
def paint_keeps(student):
    predicted, patches = squares(2, 5, 6, seed=345)[::-1]
    return after(student.paint_loss, predicted, patches, masks(2, 5, seed=346, hides=3))


# --- distil


def taught(rows, classes, seed, spread=1.5, dtype=torch.float32):
    """Return three times logits, and labels of which the teacher has every third one right."""
    said = tuple(spread * randn(rows, classes, seed=seed + n, dtype=dtype) for n in (0, 1, 2))
    number = torch.arange(rows)
    return *said, torch.where(number % 3 == 0, said[2].argmax(dim=1), (number * 7) % classes)


@hidden("distil", says="many images and many classes, hard", weight=2)
def distil_hard(student):
    return student.distil(*taught(32, 20, seed=351))


@hidden("distil", says="many images and many classes, soft", weight=2)
def distil_soft(student):
    return [student.distil(*taught(32, 20, seed=355), heat, 0.1) for heat in (3, 5.5)]


@hidden("distil", says="one image, two classes")
def distil_one(student):
    return [student.distil(*taught(1, 2, seed=359), heat, 0.7) for heat in (None, 0.8)]


@hidden("distil", says="as many images as classes: gradients", weight=2)
def distil_gradients(student):
    given = taught(6, 6, seed=363)
    return [gradients(student.distil, *given, heat, 0.4) for heat in (None, 1.7)]


@hidden("distil", says="both heads say what the teacher says")
def distil_agree(student):
    _, _, teacher, labels = taught(4, 5, seed=367)
    said = teacher.clone(), teacher.clone(), teacher, labels
    return [student.distil(*said, heat, 1.0) for heat in (None, 2.0)]


@hidden("distil", says="a shift of all logits of an image changes nothing")
def distil_shift(student):
    *said, labels = taught(4, 3, seed=371)
    moved = [x + 40 * n for n, x in enumerate(said, 1)]
    return [student.distil(*logits, labels, 2.5) for logits in (said, moved)]


@hidden("distil", says="logits in the thousands: gradients")
def distil_thousands(student):
    given = taught(5, 4, seed=375, spread=4000.0)
    return [gradients(student.distil, *given, heat, 0.2) for heat in (None, 2.0)]


@hidden("distil", says="double precision", tolerance=1e-12)
def distil_double(student):
    given = taught(3, 7, seed=379, dtype=torch.float64)
    return [student.distil(*given, heat) for heat in (None, 3.0)]


@hidden("distil", says="what was given is left as it was", weight=0.5)
def distil_keeps(student):
    return [after(student.distil, *taught(3, 4, seed=383), heat) for heat in (None, 4.0)]


# --- mix_pictures


def wardrobe(images, size, seed, dtype=torch.float32):
    """Return images of (C, H, W) with one-hot labels of four classes, and a permutation."""
    chance = torch.Generator().manual_seed(8000 + seed)
    pictures = randn(images, *size, seed=seed, dtype=dtype)
    labels = F.one_hot(torch.arange(images) * 3 % 4, 4).to(dtype)
    return pictures, labels, torch.randperm(images, generator=chance)


def blend(student, given, share, *centre):
    """Call `mix_pictures` with the arguments in their order."""
    pictures, labels, partner = given
    return student.mix_pictures(pictures, labels, share, partner, *centre)


@hidden("mix_pictures", says="sixteen images, mixup", weight=2)
def mix_many(student):
    return blend(student, wardrobe(16, (3, 8, 8), seed=391), 0.63)


@hidden("mix_pictures", says="mixup with all of one and nothing of the other")
def mix_ends(student):
    return [blend(student, wardrobe(5, (1, 3, 4), seed=392), share) for share in (0.0, 1.0)]


@hidden("mix_pictures", says="boxes of many sizes in a wide picture", weight=2)
def mix_sizes(student):
    given = wardrobe(6, (2, 9, 16), seed=393)
    return [blend(student, given, share, (4, 8)) for share in (0.05, 0.3, 0.5, 0.77, 0.9)]


@hidden("mix_pictures", says="boxes at all four corners of a high picture")
def mix_corners(student):
    given, corners = wardrobe(4, (1, 15, 6), seed=394), [(0, 0), (0, 5), (14, 0), (14, 5)]
    return [blend(student, given, 0.55, corner) for corner in corners]


@hidden("mix_pictures", says="boxes over one side each")
def mix_sides(student):
    given, sides = wardrobe(5, (3, 12, 12), seed=395), [(1, 6), (11, 5), (6, 1), (5, 11)]
    return [blend(student, given, 0.4, side) for side in sides]


@hidden("mix_pictures", says="everybody is their own partner, and one image alone")
def mix_alone(student):
    pictures, labels, _ = wardrobe(4, (2, 6, 7), seed=396)
    given = [(pictures[:n], labels[:n], torch.arange(n)) for n in (4, 1)]
    return [blend(student, one, 0.35, *centre) for one in given for centre in ((), ((2, 2),))]


@hidden("mix_pictures", says="double precision", tolerance=1e-12)
def mix_double(student):
    given = wardrobe(3, (1, 7, 5), seed=397, dtype=torch.float64)
    return [blend(student, given, 0.21, *centre) for centre in ((), ((3, 2),))]


@hidden("mix_pictures", says="what was given is left as it was", weight=0.5)
def mix_keeps(student):
    pictures, labels, partner = wardrobe(4, (2, 5, 5), seed=398)
    return [
        after(student.mix_pictures, pictures, labels, 0.45, partner, centre)
        for centre in (None, (2, 3))
    ]
