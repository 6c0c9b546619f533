"""Canvases: the same kind of digit at both ends of a strip, and nothing between them.

Whoever paints one end has to know what is at the other, eight columns away. The two pictures
are different ones of one kind, so that a copy is not enough, and there are thousands of pairs of
each kind where there are about 140 pictures. The book uses them in "Attention in images".
Shapes: N canvases, R rows and L columns of a canvas, 8 and 16 + gap.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit._base.checks import check_int, check_tensor
from coursekit.data.digits import CARD
from coursekit.data.images import Images

__all__ = ["CARD", "GAP", "SIDE", "as_canvas", "ends", "paint_canvases"]

SIDE, GAP, WHITE = 8, 8, 16  # pixels of a digit's side and of the middle; the largest value


def paint_canvases(
    pictures: Images,
    count: int,
    *,
    gap: int = GAP,
    same: bool = True,
    generator: torch.Generator | None = None,
) -> Images:
    """Draw `count` canvases (N, 8, 16 + gap) uint8, labelled with the kind at the left end.

    All kinds are equally frequent. Left and right are drawn independently among the pictures of
    the kind; with `same=False` the right end has a kind of its own, so that only chance agrees.
    """
    check_int(count=count)
    check_int(least=0, gap=gap)
    by_kind = [(pictures.labels == kind).nonzero()[:, 0] for kind in range(len(pictures.names))]
    if not all(map(len, by_kind)):
        empty = [name for name, some in zip(pictures.names, by_kind, strict=True) if not len(some)]
        raise ValueError(f"each kind needs a picture, found none of {', '.join(empty)}")
    left, other = torch.randint(len(by_kind), (2, count), generator=generator)  # (N,) each
    right = left if same else other
    canvas = torch.zeros(count, SIDE, 2 * SIDE + gap, dtype=torch.uint8)  # (N, R, L)
    for kinds, part in ((left, canvas[..., :SIDE]), (right, canvas[..., -SIDE:])):
        lengths = torch.tensor([len(some) for some in by_kind])[kinds]  # (N,)
        drawn = (torch.rand(count, generator=generator) * lengths).long()  # (N,), below `lengths`
        starts = torch.tensor([0, *map(len, by_kind)]).cumsum(0)[kinds]
        part.copy_(pictures.images[torch.cat(by_kind)[starts + drawn]])
    return Images(canvas, left, pictures.names)


def as_canvas(images: Tensor) -> Tensor:
    """Values 0 to 16 (N, R, L) -> what a model reads and paints, −1 to 1: (N, 1, R, L)."""
    check_tensor(images, "images")
    if images.dtype != torch.uint8 or images.ndim != 3:
        raise ValueError(
            "images must be bytes (N, rows, columns), "
            f"found {images.dtype} of shape {tuple(images.shape)}"
        )
    return images[:, None] / (WHITE / 2) - 1  # (N, 1, R, L)


def ends(canvases: Tensor) -> tuple[Tensor, Tensor]:
    """Cut the left and the right end (..., 8, 8) out of canvases (..., 8, L)."""
    check_tensor(canvases, "canvases")
    if canvases.ndim < 2 or canvases.shape[-2] != SIDE or canvases.shape[-1] < 2 * SIDE:
        raise ValueError(
            f"canvases must have {SIDE} rows and at least {2 * SIDE} columns, "
            f"found the shape {tuple(canvases.shape)}"
        )
    return canvases[..., :SIDE], canvases[..., -SIDE:]
