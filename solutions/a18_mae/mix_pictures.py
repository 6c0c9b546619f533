"""Two pictures in one, and a label for both: mixup and CutMix."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import Chance, after, randn
from coursetools.questions import hidden, visible


def mix_pictures(images, labels, share, partner, centre=None):
    """images (B, C, H, W), labels (B, K), λ, partner (B,) -> images and labels, each mixed."""
    theirs = images[partner]  # (B, C, H, W)
    if centre is None:
        mixed = share * images + (1 - share) * theirs
    else:
        H, W = images.shape[2:]
        row, column = centre
        side = (1 - share) ** 0.5
        h, w = int(H * side / 2), int(W * side / 2)
        top, bottom = max(row - h, 0), min(row + h, H)
        left, right = max(column - w, 0), min(column + w, W)
        mixed = images.clone()
        mixed[:, :, top:bottom, left:right] = theirs[:, :, top:bottom, left:right]
        share = 1 - (bottom - top) * (right - left) / (H * W)
    return mixed, share * labels + (1 - share) * labels[partner]


def wardrobe(images, size, seed, dtype=torch.float32):
    """Return images of (C, H, W) with one-hot labels of four classes, and a permutation."""
    chance = Chance(8000 + seed)
    pictures = randn(images, *size, seed=seed, dtype=dtype)
    labels = F.one_hot(torch.arange(images) * 3 % 4, 4).to(dtype)
    return pictures, labels, chance.randperm(images)


def blend(student, given, share, *centre):
    """Call `mix_pictures` with the arguments in their order."""
    pictures, labels, partner = given
    return student.mix_pictures(pictures, labels, share, partner, *centre)


@visible("two images of two pixels, mixup")
def two_images(student):
    images = torch.tensor([[[[0.0, 1.0]]], [[[8.0, 5.0]]]])
    return student.mix_pictures(images, torch.eye(2), 0.75, torch.tensor([1, 0]))


@visible("five images, mixup at several shares", weight=2)
def several_shares(student):
    given = wardrobe(5, (3, 4, 6), seed=130)
    return [blend(student, given, share) for share in (0.3, 0.9, 1)]


@visible("a box within the picture", weight=2)
def a_box_within(student):
    return blend(student, wardrobe(4, (2, 8, 12), seed=134), 0.7, (3, 7))


@visible("boxes that reach over the border")
def over_the_border(student):
    given = wardrobe(3, (1, 10, 7), seed=138)
    return [blend(student, given, 0.35, centre) for centre in ((1, 6), (9, 0), (0, 3), (5, 2))]


@visible("a box too small for a pixel, and one as large as the picture")
def small_and_large(student):
    given = wardrobe(3, (2, 6, 6), seed=146)
    return [blend(student, given, share, (3, 3)) for share in (1.0, 0.95, 0.0)]


@visible("labels that are mixed already, with a box and without")
def mixed_already(student):
    images, labels, partner = wardrobe(4, (1, 6, 8), seed=150)
    given = images, (labels + 0.5) / 3, partner
    return blend(student, given, 0.4), blend(student, given, 0.4, (2, 5))


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    images, labels, partner = wardrobe(3, (1, 6, 4), seed=154, dtype=torch.float64)
    return after(student.mix_pictures, images, labels, 0.5, partner, (2, 1))


@hidden("sixteen images, mixup", weight=2)
def mix_many(student):
    return blend(student, wardrobe(16, (3, 8, 8), seed=391), 0.63)


@hidden("mixup with all of one and nothing of the other")
def mix_ends(student):
    return [blend(student, wardrobe(5, (1, 3, 4), seed=392), share) for share in (0.0, 1.0)]


@hidden("boxes of many sizes in a wide picture", weight=2)
def mix_sizes(student):
    given = wardrobe(6, (2, 9, 16), seed=393)
    return [blend(student, given, share, (4, 8)) for share in (0.05, 0.3, 0.5, 0.77, 0.9)]


@hidden("boxes at all four corners of a high picture")
def mix_corners(student):
    given, corners = wardrobe(4, (1, 15, 6), seed=396), [(0, 0), (0, 5), (14, 0), (14, 5)]
    return [blend(student, given, 0.55, corner) for corner in corners]


@hidden("boxes over one side each")
def mix_sides(student):
    given, sides = wardrobe(5, (3, 12, 12), seed=395), [(1, 6), (11, 5), (6, 1), (5, 11)]
    return [blend(student, given, 0.4, side) for side in sides]


@hidden("everybody is their own partner, and one image alone")
def mix_alone(student):
    pictures, labels, _ = wardrobe(4, (2, 6, 7), seed=396)
    given = [(pictures[:n], labels[:n], torch.arange(n)) for n in (4, 1)]
    return [blend(student, one, 0.35, *centre) for one in given for centre in ((), ((2, 2),))]


@hidden("labels that are mixed already")
def mix_again(student):
    pictures, labels, partner = wardrobe(5, (1, 6, 7), seed=399)
    given = pictures, 0.7 * labels + 0.3 * labels.roll(1, 0), partner
    return [blend(student, given, 0.45, *centre) for centre in ((), ((2, 4),))]


@hidden("double precision", tolerance=1e-12)
def mix_double(student):
    given = wardrobe(3, (1, 7, 5), seed=397, dtype=torch.float64)
    return [blend(student, given, 0.21, *centre) for centre in ((), ((3, 2),))]


@hidden("what was given is left as it was", weight=0.5)
def mix_keeps(student):
    pictures, labels, partner = wardrobe(4, (2, 5, 5), seed=398)
    return [
        after(student.mix_pictures, pictures, labels, 0.45, partner, centre)
        for centre in (None, (2, 3))
    ]
