"""What a masked autoencoder should paint, each patch on its own scale, and how a picture comes of
what it has painted.
"""

from __future__ import annotations

import torch

from coursekit.check.probe import after
from coursetools.questions import hidden, visible

from .shared import squares


def own_scale(patches, painted, eps=1e-6):
    """patches, painted (B, N, M) -> target (B, N, M), pixels (B, N, M)."""
    variance, mean = torch.var_mean(patches, dim=-1, keepdim=True)  # (B, N, 1) each
    spread = (variance + eps).sqrt()
    return (patches - mean) / spread, painted * spread + mean


@visible("two images of two patches, three numbers each")
def two_images(student):
    patches = torch.tensor([[[1.0, 4.0, 7.0], [0.0, 0.0, 3.0]], [[5.0, 6.0, 4.0], [2.0, 9.0, 4.0]]])
    painted = torch.tensor([[[0.0, 2.0, -1.0], [1.0, 0.0, 0.0]]]).repeat(2, 1, 1)
    return student.own_scale(patches, painted)


@visible("three images of four patches, 12 numbers each", weight=2)
def three_images(student):
    return student.own_scale(*squares(3, 4, 12, seed=10))


@visible("a flat patch, and one that is nearly flat")
def flat_patches(student):
    patches, painted = squares(2, 4, 12, seed=20)
    patches[0, 1], patches[1, 2] = 0.25, 0.5 + 0.001 * patches[1, 2]
    return student.own_scale(patches, painted)


@visible("other values of eps")
def other_eps(student):
    return [student.own_scale(*squares(2, 3, 6, seed=30), eps) for eps in (0.5, 1e-3, 4.0)]


@visible("pixels from 0 to 255, hardly any of them different", tolerance=2e-3)
def bytes_of_a_sky(student):
    patches, painted = squares(2, 3, 48, seed=50)
    return student.own_scale(200 + 0.4 * patches, painted)


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.own_scale, *squares(2, 3, 3, seed=60, dtype=torch.float64))


@hidden("49 patches of 48 numbers", weight=2)
def scale_many(student):
    return student.own_scale(*squares(5, 49, 48, seed=311))


@hidden("patches of six numbers, and of two")
def scale_small(student):
    return student.own_scale(*squares(3, 5, 6, seed=313)), student.own_scale(
        *(x[..., :2] for x in squares(4, 3, 6, seed=315))
    )


@hidden("as many images as patches and numbers", weight=2)
def scale_alike(student):
    return student.own_scale(*squares(6, 6, 6, seed=317))


@hidden("images of one grey each")
def scale_flat(student):
    _, answer = squares(3, 4, 12, seed=319)
    return student.own_scale(torch.arange(3.0)[:, None, None].expand(3, 4, 12).clone(), answer)


@hidden("very little contrast, and other values of eps")
def scale_contrast(student):
    patches, answer = squares(2, 5, 9, seed=321)
    return [student.own_scale(0.002 * patches, answer, eps) for eps in (1e-6, 1e-4, 0.1)]


@hidden("double precision", tolerance=1e-12)
def scale_double(student):
    return student.own_scale(*squares(2, 4, 15, seed=323, dtype=torch.float64))


@hidden("bright patches with little contrast", tolerance=2e-3)
def scale_bright(student):
    patches, answer = squares(3, 3, 27, seed=325)
    return student.own_scale(254.5 + 0.1 * patches, answer)


@hidden("what was given is left as it was", weight=0.5)
def scale_keeps(student):
    return after(student.own_scale, *squares(2, 2, 6, seed=327))
