"""How far a painted patch is from the true one, where nothing was to be seen."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible

from .shared import squares


def paint_loss(predicted, patches, hidden, normalised=True):
    """predicted, patches (B, N, M), hidden (B, N) -> the loss, one number."""
    target = patches
    if normalised:
        variance, mean = torch.var_mean(patches, dim=-1, keepdim=True)  # (B, N, 1) each
        target = (patches - mean) / (variance + 1e-6).sqrt()
    error = (predicted - target).square().mean(dim=-1)  # (B, N)
    return (error * hidden).sum() / hidden.sum().clamp(min=1)


def masks(images, patches, seed, hides=None):
    """Return masks, each of another number of patches unless told how many."""
    rank = randn(images, patches, seed=seed).argsort(dim=1).argsort(dim=1)
    many = torch.arange(images) * 2 % (patches + 1) if hides is None else torch.tensor(hides)
    return rank < many.reshape(-1, 1)


@visible("one image of three patches, their pixels as they are")
def three_patches(student):
    predicted = torch.tensor([[[1.0, 2.0], [0.0, 0.0], [1.0, 0.5]]])
    patches = torch.tensor([[[1.0, 0.0], [3.0, 1.0], [2.0, 0.0]]])
    return student.paint_loss(predicted, patches, torch.tensor([[True, False, True]]), False)


@visible("four images, each patch on its own scale, then their pixels as they are", weight=2)
def four_images(student):
    predicted, patches = squares(4, 8, 6, seed=70)[::-1]
    given = predicted, patches, masks(4, 8, seed=72, hides=6)
    return student.paint_loss(*given), student.paint_loss(*given, False)


@visible("images that hide different numbers of patches")
def different_numbers(student):
    predicted, patches = squares(4, 9, 6, seed=78)[::-1]
    given = predicted, patches, masks(4, 9, seed=80)
    return [student.paint_loss(*given, scaled) for scaled in (True, False)]


@visible("the gradient at what was predicted")
def with_gradient(student):
    predicted, patches = squares(3, 6, 6, seed=82)[::-1]
    given = predicted, patches, masks(3, 6, seed=84)
    loss, (at_predicted, *_) = gradients(student.paint_loss, *given)
    return loss, at_predicted


@visible("an image without a hidden patch, and a batch without one; flat patches")
def nothing_hidden(student):
    predicted, patches = squares(3, 7, 6, seed=86)[::-1]
    patches[:, ::3], patches[:, 1] = 0.25, 0.002 * patches[:, 1]
    some = [masks(3, 7, seed=88, hides=hides) for hides in ([5, 0, 3], [0, 0, 0])]
    return [student.paint_loss(predicted, patches, mask) for mask in some]


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    predicted, patches = squares(2, 5, 6, seed=94, dtype=torch.float64)[::-1]
    return after(student.paint_loss, predicted, patches, masks(2, 5, seed=96, hides=3))


@hidden("many images, three quarters hidden", weight=2)
def paint_many(student):
    predicted, patches = squares(6, 16, 12, seed=331)[::-1]
    return student.paint_loss(predicted, patches, masks(6, 16, seed=332, hides=12))


@hidden("raw pixels, three quarters hidden")
def paint_raw(student):
    predicted, patches = squares(4, 12, 6, seed=333)[::-1]
    return student.paint_loss(predicted, patches, masks(4, 12, seed=334, hides=9), normalised=False)


@hidden("each image hides another number, one of them none", weight=2)
def paint_uneven(student):
    predicted, patches = squares(5, 8, 6, seed=335)[::-1]
    return [
        student.paint_loss(predicted, patches, masks(5, 8, seed=336), own) for own in (True, False)
    ]


@hidden("everything hidden, one patch hidden, nothing hidden")
def paint_extremes(student):
    predicted, patches = squares(3, 4, 9, seed=337)[::-1]
    marked = [masks(3, 4, seed=338, hides=many) for many in ([4, 4, 4], [0, 1, 0], [0, 0, 0])]
    return [student.paint_loss(predicted, patches, one) for one in marked]


@hidden("the gradient at what was predicted, raw pixels too")
def paint_gradient(student):
    predicted, patches = squares(4, 7, 6, seed=339)[::-1]
    marked = masks(4, 7, seed=340)
    given = (marked, True), (marked, False), (marked & False, True)  # at last nothing is hidden
    return [gradients(student.paint_loss, predicted, patches, *one)[1][0] for one in given]


@hidden("what is perfect where it counts costs nothing")
def paint_perfect(student):
    predicted, patches = squares(2, 6, 6, seed=341)[::-1]
    marked = masks(2, 6, seed=342, hides=[2, 5])
    painted = torch.where(marked[..., None], patches, 50 * predicted)
    return student.paint_loss(painted, patches, marked, False), student.paint_loss(
        painted, patches, ~marked, False
    )


@hidden("double precision", tolerance=1e-12)
def paint_double(student):
    predicted, patches = squares(3, 5, 6, seed=343, dtype=torch.float64)[::-1]
    return student.paint_loss(predicted, patches, masks(3, 5, seed=344))


@hidden("what was given is left as it was", weight=0.5)
def paint_keeps(student):
    predicted, patches = squares(2, 5, 6, seed=345)[::-1]
    return after(student.paint_loss, predicted, patches, masks(2, 5, seed=346, hides=3))
