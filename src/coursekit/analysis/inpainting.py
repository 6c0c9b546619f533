"""Painting hidden patches without learning anything: what a masked autoencoder has to beat.

Four painters that a sceptic would ask for: the mean of all pictures, the visible pixels nearby, the
training picture that looks most like what is visible, and the best linear guess. The book explains
them in "DeiT and MAE". Shapes: B batch, T training pictures, C channels, H rows and W columns,
N patches, M = C·H·W pixels of a picture.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit._base.checks import (
    check_at_least,
    check_images,
    check_int,
    check_numbers,
    check_positive,
    check_shape,
    check_tensor,
)
from coursekit.models.patches import grid_of, patchify, unpatchify


def hidden_pixels(masked: Tensor, patch: int, shape: tuple[int, ...]) -> Tensor:
    """masked (B, N), True = hidden -> which pixels are hidden, (B, C, H, W) as in `shape`."""
    check_tensor(masked, "masked")
    B, C, H, W = shape
    rows, columns = grid_of(H, W, patch=patch)
    if masked.dtype != torch.bool or masked.shape != (B, rows * columns):
        raise ValueError(
            f"masked must be boolean with shape {(B, rows * columns)}, "
            f"found {masked.dtype} {tuple(masked.shape)}"
        )
    return unpatchify(masked[..., None].expand(-1, -1, C * patch**2), patch, (H, W))


def fill_hidden(images: Tensor, guess: Tensor, masked: Tensor, patch: int) -> Tensor:
    """images, guess (B or 1, C, H, W) -> images (B, C, H, W), the hidden patches from `guess`."""
    check_shape(images, "images", "batch, channels, height, width")
    check_tensor(guess, "guess")
    return guess.where(hidden_pixels(masked, patch, images.shape), images)


def painting_error(painted: Tensor, images: Tensor, masked: Tensor, patch: int) -> float:
    """Root of the mean squared error of the hidden pixels, in the unit of the pixels."""
    check_tensor(painted, "painted")
    check_tensor(images, "images")
    if painted.shape != images.shape:
        raise ValueError(
            "painted and images must have one shape, "
            f"found {tuple(painted.shape)} and {tuple(images.shape)}"
        )
    hidden = hidden_pixels(masked, patch, images.shape)
    if not hidden.any():
        raise ValueError("no patch is hidden, so there is nothing to judge")
    return (painted - images)[hidden].double().square().mean().sqrt().item()


def paint_from_neighbours(
    images: Tensor, masked: Tensor, patch: int, *, power: float = 4.0
) -> Tensor:
    """Paint each hidden pixel with a mean of the visible ones, weighted by 1/distance^`power`.

    images (B, C, H, W), masked (B, N) -> (B, C, H, W).
    """
    check_positive(power=power)
    hidden = hidden_pixels(masked, patch, images.shape)
    B, C, H, W = images.shape
    places = torch.cartesian_prod(torch.arange(H), torch.arange(W)).to(images)  # (H·W, 2)
    weights = torch.cdist(places, places).clamp_min(0.5) ** -power  # (H·W, H·W)
    visible = (~hidden).to(images.dtype)  # (B, C, H, W)
    total = visible.reshape(B * C, H * W) @ weights  # (B·C, H·W)
    if (total == 0).any():
        raise ValueError("a picture has no visible patch, so there is nothing to paint from")
    guess = (visible * images).reshape(B * C, H * W) @ weights / total
    return guess.reshape(images.shape).where(hidden, images)


def paint_from_nearest(images: Tensor, masked: Tensor, patch: int, train: Tensor) -> Tensor:
    """Copy the hidden patches from the training picture that is nearest in the visible ones.

    images (B, C, H, W), masked (B, N), train (T, C, H, W) -> (B, C, H, W).
    """
    _check_train(images, train)
    hidden = hidden_pixels(masked, patch, images.shape)
    visible = (~hidden).flatten(1).to(images.dtype)  # (B, M)
    x, examples = images.flatten(1), train.flatten(1)  # (B, M), (T, M)
    cross = (visible * x) @ examples.T  # (B, T)
    distance = visible @ examples.square().T - 2 * cross  # (B, T), but for Σ x²
    check_numbers(distance, "the pictures")
    return train[distance.argmin(dim=1)].where(hidden, images)


class LinearPainter:
    """The best guess that is linear in the visible pixels: E[hidden | visible] of a normal law.

    It knows the training pictures' mean μ and covariance Σ and nothing else; with v the visible
    pixels and h the hidden ones, it paints μ_h + Σ_hv Σ_vv⁻¹ (x_v − μ_v).
    """

    def __init__(self, train: Tensor, *, ridge: float = 1e-2) -> None:
        """train (T, C, H, W); `ridge` is added to the variances, so that Σ_vv can be inverted."""
        check_images(train, train.shape[1])
        check_at_least(ridge=ridge)
        check_int(least=2, pictures=len(train))
        flat = train.flatten(1).double()  # (T, M)
        self.mean = flat.mean(dim=0)  # (M,)
        self.covariance = flat.T.cov() + ridge * torch.eye(flat.shape[1]).to(flat)  # (M, M)

    def paint(self, images: Tensor, masked: Tensor, patch: int, *, batch: int = 50) -> Tensor:
        """images (B, C, H, W), masked (B, N) -> (B, C, H, W); the rows must hide equally many."""
        hidden = hidden_pixels(masked, patch, images.shape)
        counts = masked.sum(dim=1)
        if (counts != counts[0]).any():
            raise ValueError(
                "every picture must hide equally many patches, found "
                f"{counts.min().item()} to {counts.max().item()}"
            )
        parts = zip(images.split(batch), hidden.split(batch), strict=True)
        return torch.cat([self._paint(x, h.flatten(1)) for x, h in parts])

    def _paint(self, images: Tensor, hidden: Tensor) -> Tensor:
        B = len(images)
        order = hidden.int().argsort(dim=1, stable=True)  # (B, M): visible pixels first
        number = int((~hidden[0]).sum())
        v, h = order[:, :number], order[:, number:]  # (B, n), (B, M − n)
        visible = images.flatten(1).double().gather(1, v) - self.mean[v]  # (B, n)
        inner = self.covariance[v[:, :, None], v[:, None, :]]  # (B, n, n)
        cross = self.covariance[h[:, :, None], v[:, None, :]]  # (B, M − n, n)
        weight = torch.cholesky_solve(visible[..., None], torch.linalg.cholesky(inner))  # (B, n, 1)
        guess = self.mean[h] + (cross @ weight).squeeze(2)  # (B, M − n)
        painted = images.flatten(1).double().scatter(1, h, guess)  # (B, M)
        return painted.to(images.dtype).reshape(B, *images.shape[1:])


def patch_means(images: Tensor, masked: Tensor, patch: int) -> Tensor:
    """Paint each hidden patch in its own mean: images (B, C, H, W) -> the same.

    No painter could know this mean. It is what is given away when normalised pixels get the mean
    and spread of the true patch back.
    """
    patches = patchify(images, patch)  # (B, N, P·P·C)
    flat = patches.mean(dim=-1, keepdim=True).expand_as(patches)
    size = (images.shape[2], images.shape[3])
    return fill_hidden(images, unpatchify(flat, patch, size), masked, patch)


def _check_train(images: Tensor, train: Tensor) -> None:
    check_images(images, images.shape[1])
    if train.shape[1:] != images.shape[1:] or not len(train):
        raise ValueError(
            f"train must be pictures of the same shape {tuple(images.shape[1:])}, "
            f"found {tuple(train.shape)}"
        )
