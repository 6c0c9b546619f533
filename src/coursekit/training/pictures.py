"""Classifiers of pictures: what they read, their loss, and how often they are right.

Shapes: N pictures, C channels, R rows and L columns of a picture, V classes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from coursekit._base.checks import check_fraction, check_int, check_numbers, check_tensor
from coursekit.training.loop import Loss

Labelled = tuple[Tensor, Tensor]


def as_input(images: Tensor) -> Tensor:
    """Bytes (N, R, L) or (N, R, L, C), 0 to 255 -> what a model reads, −1 to 1: (N, C, R, L)."""
    check_tensor(images, "images")
    if images.dtype != torch.uint8 or images.ndim not in (3, 4):
        raise ValueError(
            "images must be bytes (N, rows, columns) or (N, rows, columns, channels), "
            f"found {images.dtype} of shape {tuple(images.shape)}"
        )
    images = images[..., None] if images.ndim == 3 else images
    return images.permute(0, 3, 1, 2) / 127.5 - 1  # (N, C, R, L)


def collate_pictures(rows: list[Labelled]) -> Labelled:
    """Pictures with their labels, [((C, R, L), ()), …] -> (B, C, R, L), (B,)."""
    pictures, labels = zip(*rows, strict=True)
    return torch.stack(pictures), torch.stack(labels)


def picture_loss(smoothing: float = 0.0) -> Loss:
    """Return the loss for `train`: cross-entropy, summed over a batch, and how many pictures."""
    check_fraction(smoothing=smoothing)

    def loss(model: nn.Module, batch: Labelled) -> tuple[Tensor, int]:
        pictures, labels = batch
        scores = model(pictures)  # (B, V)
        summed = cross_entropy(scores, labels, reduction="sum", label_smoothing=smoothing)
        return summed, len(labels)

    return loss


@torch.no_grad()
def class_scores(model: nn.Module, pictures: Tensor, *, batch: int = 500) -> Tensor:
    """Pictures (N, C, R, L) -> scores (N, V), read in eval mode; the mode is left as it was."""
    check_int(batch=batch)
    was = model.training
    model.eval()
    try:
        return torch.cat([model(part) for part in pictures.split(batch)])
    finally:
        model.train(was)


def accuracy(model: nn.Module, pictures: Tensor, labels: Tensor, *, batch: int = 500) -> float:
    """Share of the pictures (N, C, R, L) whose largest score is that of their label (N,)."""
    if len(pictures) != len(labels) or not len(labels):
        raise ValueError(f"one label a picture, found {len(pictures)} and {len(labels)} labels")
    scores = class_scores(model, pictures, batch=batch)  # (N, V)
    check_numbers(scores, "the model's scores")
    return (scores.argmax(dim=-1) == labels).double().mean().item()
