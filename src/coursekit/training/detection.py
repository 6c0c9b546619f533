"""Detectors: what they read, their loss, and what they say about many pictures.

Shapes: B pictures, R rows and L columns of a picture, N objects on all pictures of a batch, Q
queries, C classes. Boxes are in centre form, in parts of the picture, as DETR has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_fraction, check_int
from coursekit.boxes.geometry import Objects, to_centres
from coursekit.models.detr import Detections
from coursekit.objectives.detection import DetectionLoss
from coursekit.training.loop import Loss

Item = tuple[Tensor, Objects]


class Pictures(NamedTuple):
    """A batch of pictures (or of their maps) and the objects on all of them, one after another."""

    images: Tensor  # (B, channels, R, L)
    labels: Tensor  # (N,)
    boxes: Tensor  # (N, 4)
    counts: Tensor  # (B,): how many of the N are on each picture

    def targets(self) -> list[Objects]:
        """Return the objects picture by picture."""
        counts = self.counts.tolist()
        pairs = zip(self.labels.split(counts), self.boxes.split(counts), strict=True)
        return [Objects(labels=labels, boxes=boxes) for labels, boxes in pairs]


def detection_items(scenes: Iterable[Any]) -> list[Item]:
    """Scenes -> picture (3, R, L) in bytes and objects, the boxes from pixels to parts."""
    items = []
    for scene in scenes:
        rows, columns = scene.image.shape[1:]
        size = scene.boxes.new_tensor([columns, rows, columns, rows])  # (4,)
        boxes = to_centres(scene.boxes / size)  # (n, 4)
        items.append((scene.image, Objects(labels=scene.labels, boxes=boxes)))
    return items


def collate_objects(rows: list[Item]) -> Pictures:
    """Pictures with their objects -> a batch; bytes become −1 to 1, anything else stays."""
    pictures, objects = zip(*rows, strict=True)
    images = torch.stack(pictures)  # (B, channels, R, L)
    if images.dtype == torch.uint8:
        images = images / 127.5 - 1
    return Pictures(
        images.contiguous(memory_format=torch.channels_last),  # convolutions are quicker so
        torch.cat([some.labels for some in objects]),
        torch.cat([some.boxes for some in objects]),
        torch.tensor([len(some) for some in objects]),
    )


def random_mirror(
    batch: Pictures, *, share: float = 0.5, generator: torch.Generator | None = None
) -> Pictures:
    """Turn each picture left to right with probability `share`, and its boxes with it."""
    check_fraction(share=share)
    turned = torch.rand(len(batch.counts), generator=generator) < share  # (B,)
    turned = turned.to(batch.images.device)
    images = batch.images.flip(3).where(turned[:, None, None, None], batch.images)
    of_box = turned.repeat_interleave(batch.counts.to(turned.device))  # (N,)
    x, *others = batch.boxes.unbind(-1)  # 4 × (N,)
    boxes = torch.stack([torch.where(of_box, 1 - x, x), *others], dim=-1)  # (N, 4)
    return batch._replace(images=images, boxes=boxes)


def set_loss(objective: DetectionLoss, *, mirrored: float = 0.0) -> Loss:
    """Return the loss for `train`; a share of the pictures is turned left to right beforehand.

    It has two means: class losses over the weights of all queries, box losses over all objects.
    """
    check_fraction(mirrored=mirrored)

    def loss(model: nn.Module, batch: Pictures) -> list[tuple[Tensor, float]]:
        batch = random_mirror(batch, share=mirrored) if mirrored else batch
        return objective.pairs(model(batch.images), batch.targets())

    return loss


@torch.no_grad()
def detect(model: nn.Module, items: list[Item], *, batch: int = 100) -> list[Detections]:
    """Read all pictures in eval mode -> what each decoder layer says of them, first layer first.

    Each `Detections` holds all pictures; the mode of the model is left as it was.
    """
    check_int(batch=batch)
    was = model.training
    model.eval()
    device = next(model.parameters()).device
    try:
        parts = []
        for start in range(0, len(items), batch):
            predictions = model(collate_objects(items[start : start + batch]).images.to(device))
            parts.append((*predictions.earlier, predictions))
    finally:
        model.train(was)
    return [
        Detections(
            logits=torch.cat([part.logits for part in layer]).cpu(),  # (B, Q, C + 1)
            boxes=torch.cat([part.boxes for part in layer]).cpu(),  # (B, Q, 4)
            states=torch.cat([part.states for part in layer]).cpu(),  # (B, Q, D)
            grid=layer[0].grid,
        )
        for layer in zip(*parts, strict=True)
    ]
