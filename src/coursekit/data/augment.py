"""Augmentation: pictures changed in ways that leave their kind alone, and pictures mixed in pairs.

What DeiT needs to learn from a million pictures (Touvron et al., 2021): shifts and flips, mixup
(Zhang et al., 2018), CutMix (Yun et al., 2019) and erased rectangles (Zhong et al., 2020). All take
a batch of tensors, change each picture by a draw of its own, and leave what they are given as it
was. The book explains it in "DeiT and MAE".

Where it departs from the papers' code: that draws one λ for a whole batch.
Shapes: B batch, C channels, H rows and W columns of a picture, V classes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from coursekit._base.checks import (
    check_at_least,
    check_fraction,
    check_images,
    check_int,
    check_positive,
)

Random = torch.Generator | None


class Mixed(NamedTuple):
    """Pictures mixed in pairs."""

    images: Tensor  # (B, C, H, W)
    targets: Tensor  # (B, V): a share for each class, with sum 1
    kept: Tensor  # (B,): λ, the share of the picture itself; 1 − λ is its partner's
    partner: Tensor  # (B,): who was mixed into it


def random_flip(images: Tensor, *, share: float = 0.5, generator: Random = None) -> Tensor:
    """images (B, C, H, W) -> the same, each turned left to right with probability `share`."""
    _check(images)
    check_fraction(share=share)
    turned = torch.rand(len(images), generator=generator) < share  # (B,)
    return images.flip(3).where(turned.to(images.device)[:, None, None, None], images)


def random_shift(
    images: Tensor, *, most: int = 2, fill: float = 0.0, generator: Random = None
) -> Tensor:
    """images (B, C, H, W) -> the same, each moved by −`most` to `most` whole pixels on both axes.

    What moves in from outside has the value `fill`.
    """
    _check(images)
    check_int(least=0, most=most)
    B, _, H, W = images.shape
    moves = torch.randint(-most, most + 1, (2, B), generator=generator)  # down, to the right
    for axis, (size, move) in enumerate(zip((H, W), moves.to(images.device)), start=2):
        source = torch.arange(size, device=images.device) - move[:, None]  # (B, size)
        inside = (source >= 0) & (source < size)
        shape = (B, 1, size, 1) if axis == 2 else (B, 1, 1, size)
        index = source.clamp(0, size - 1).reshape(shape).expand(images.shape)
        images = images.gather(axis, index).where(inside.reshape(shape), fill)
    return images


def random_erase(
    images: Tensor,
    *,
    share: float = 0.25,
    area: tuple[float, float] = (0.02, 1 / 3),
    aspect: float = 0.3,
    generator: Random = None,
) -> Tensor:
    """images (B, C, H, W) -> the same; a share of them lose a rectangle to noise of spread 1.

    Its area is a share of the picture between those of `area`, its height divided by its width lies
    between `aspect` and 1/`aspect`. What would stick out of the picture is cut off.
    """
    _check(images)
    check_fraction(share=share, smallest=area[0], largest=area[1])
    check_positive(aspect=aspect)
    if not (area[0] <= area[1] and aspect <= 1):
        raise ValueError(
            "area must go from the smaller to the larger share and aspect be at most 1, "
            f"found {area} and {aspect}"
        )
    B, _, H, W = images.shape
    chosen, size, form = torch.rand(3, B, generator=generator)  # 3 × (B,)
    pixels = (area[0] + (area[1] - area[0]) * size) * H * W  # (B,)
    form = torch.exp(math.log(aspect) * (2 * form - 1))  # (B,): height / width, even on a log scale
    inside = _boxes(images, (pixels * form).sqrt(), (pixels / form).sqrt(), generator)
    inside = inside & (chosen < share).to(images.device)[:, None, None, None]
    noise = torch.randn(images.shape, generator=generator, dtype=images.dtype)
    return noise.to(images.device).where(inside, images)


def mixup(
    images: Tensor, targets: Tensor, *, alpha: float = 0.8, generator: Random = None
) -> Mixed:
    """Blend each picture with another: λ of it, 1 − λ of its partner, and the targets likewise.

    images (B, C, H, W), targets (B, V) with a share for each class -> `Mixed`. λ is drawn from
    Beta(`alpha`, `alpha`), one for each picture.
    """
    _check(images, targets)
    kept, partner = _draw(images, alpha, generator)
    weight = kept[:, None, None, None].to(images.dtype)  # (B, 1, 1, 1)
    blended = weight * images + (1 - weight) * images[partner]
    return Mixed(blended, _shares(targets, kept, partner), kept, partner)


def cutmix(
    images: Tensor, targets: Tensor, *, alpha: float = 1.0, generator: Random = None
) -> Mixed:
    """Cut a rectangle out of each picture and put that part of another one in.

    images (B, C, H, W), targets (B, V) with a share for each class -> `Mixed`. The rectangle is
    meant to have the share 1 − λ of the area, λ from Beta(`alpha`, `alpha`), and the form of the
    picture; its centre lies anywhere, what sticks out is cut off. `kept` is what was really kept.
    """
    _check(images, targets)
    wanted, partner = _draw(images, alpha, generator)
    H, W = images.shape[2:]
    side = (1 - wanted).clamp_min(0).sqrt().cpu()  # (B,): of the picture's
    inside = _boxes(images, side * H, side * W, generator)  # (B, 1, H, W)
    kept = 1 - inside.double().mean(dim=(1, 2, 3))  # (B,)
    pasted = images[partner].where(inside, images)
    return Mixed(pasted, _shares(targets, kept, partner), kept, partner)


def _draw(images: Tensor, alpha: float, generator: Random) -> tuple[Tensor, Tensor]:
    """Return λ (B,) in double precision, and each picture's partner (B,): a permutation."""
    check_positive(alpha=alpha)
    B = len(images)
    draws = torch._standard_gamma(torch.full((2, B), float(alpha)).double(), generator=generator)
    kept = (draws[0] / draws.sum(dim=0)).nan_to_num(0.5)  # (B,): Beta(α, α)
    partner = torch.randperm(B, generator=generator)
    return kept.to(images.device), partner.to(images.device)


def _shares(targets: Tensor, kept: Tensor, partner: Tensor) -> Tensor:
    weight = kept[:, None].to(targets.dtype)  # (B, 1)
    return weight * targets + (1 - weight) * targets[partner]  # (B, V)


def _boxes(images: Tensor, height: Tensor, width: Tensor, generator: Random) -> Tensor:
    """Sides in pixels, 2 × (B,) -> where a rectangle around a random centre lies, (B, 1, H, W)."""
    places = []
    for size, side in zip(images.shape[2:], (height, width)):
        centre = torch.randint(size, (len(side),), generator=generator)  # (B,)
        first = (centre - side / 2).round().clamp(0, size)
        last = (centre + side / 2).round().clamp(0, size)
        line = torch.arange(size)
        places.append((line >= first[:, None]) & (line < last[:, None]))  # (B, size)
    rows, columns = places
    return (rows[:, None, :, None] & columns[:, None, None, :]).to(images.device)


def _check(images: Tensor, targets: Tensor | None = None) -> None:
    check_images(images, images.shape[1] if getattr(images, "ndim", 0) > 1 else 0)
    if targets is None:
        return
    if not isinstance(targets, Tensor) or targets.ndim != 2 or len(targets) != len(images):
        shape = tuple(targets.shape) if isinstance(targets, Tensor) else type(targets).__name__
        raise ValueError(
            f"targets must have a share for each class, ({len(images)}, classes), found {shape}"
        )
    if not targets.is_floating_point():
        raise TypeError(
            f"targets must be shares, as `one_hot(labels).float()`, found {targets.dtype}"
        )
    check_at_least(smallest_share=float(targets.min()) if targets.numel() else 0.0)
