"""The detector before detectors: a classifier of windows, slid over the picture in several sizes.

Each window is cut out, brought to one size and classified on its own; "background" is a class like
the others. A thing is seen by many windows, so duplicates have to be removed afterwards, one kind
at a time. That is what DETR's matching and its queries make unnecessary.
Shapes: B pictures, R rows and L columns, W windows, C classes without the background.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import check_fraction, check_int, check_numbers, check_shape
from coursekit.boxes.geometry import Objects, iou, non_maximum_suppression, to_corners
from coursekit.training.detection import Pictures
from coursekit.training.loop import Loss

SIDE = 24  # pixels of a window's side when it is read, whatever it was in the picture
ENOUGH, NOTHING = 0.5, 0.4  # IoU from which a window shows a thing, and up to which it shows none


def crop(images: Tensor, picture: Tensor, boxes: Tensor, side: int = SIDE) -> Tensor:
    """images (B, 3, R, L), picture (W,), boxes (W, 4) -> what is in them (W, 3, side, side).

    `picture` says which picture a window is cut from; boxes are in centre form, in parts of it.
    """
    check_shape(images, "images", "batch, 3, rows, columns")
    check_shape(boxes, "boxes", "windows, 4")
    check_int(side=side)
    x, y, width, height = boxes.unbind(-1)  # 4 × (W,)
    zero = torch.zeros_like(x)
    rows = [
        torch.stack(row, dim=-1) for row in ((width, zero, 2 * x - 1), (zero, height, 2 * y - 1))
    ]
    form = [len(boxes), images.shape[1], side, side]
    grid = F.affine_grid(torch.stack(rows, dim=1), form, align_corners=False)  # (W, side, side, 2)
    return F.grid_sample(images[picture], grid, padding_mode="border", align_corners=False)


def draw_windows(
    batch: Pictures, *, empty: int = 3, sides: tuple[float, float] = (0.1, 0.4)
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw square windows to learn from -> their picture (W,), boxes (W, 4), labels (W,).

    One for each object, moved and scaled a little, and `empty` times as many anywhere, of a side
    between those of `sides`, in parts of the picture. Who overlaps no object by more than `NOTHING`
    shows the background, label −1; who overlaps one by `ENOUGH` shows it; the others are left out.
    """
    check_int(0, empty=empty)
    check_fraction(smallest_side=sides[0], largest_side=sides[1])
    many = len(batch.labels)
    of = torch.arange(len(batch.counts), device=batch.boxes.device)
    number = of.repeat_interleave(batch.counts.to(of.device))  # (N,)
    side = (batch.boxes[:, 2] * batch.boxes[:, 3]).sqrt()[:, None]  # (N, 1)
    factor = 0.85 + 0.3 * torch.rand_like(side)
    centre = batch.boxes[:, :2] + side * (torch.rand(many, 2).to(side) - 0.5) / 4
    near = torch.cat([centre, side * factor, side * factor], dim=1)  # (N, 4)

    picture = torch.randint(len(batch.counts), (empty * many,)).to(of)  # (empty N,)
    side = sides[0] + (sides[1] - sides[0]) * torch.rand(empty * many, 1)
    centre = side / 2 + (1 - side) * torch.rand(empty * many, 2)  # inside the picture
    far = torch.cat([centre, side, side], dim=1).to(near)  # (empty N, 4)

    picture, boxes = torch.cat([number, picture]), torch.cat([near, far])  # (W,), (W, 4)
    overlap = iou(to_corners(boxes)[:, None], to_corners(batch.boxes))  # (W, N)
    if not many:
        return picture, boxes, batch.labels
    overlap = overlap.where(picture[:, None] == number, 0)  # things on other pictures do not count
    most, which = overlap.max(dim=1)  # 2 × (W,)
    labels = batch.labels[which].where(most >= ENOUGH, -1)  # (W,)
    clear = (most >= ENOUGH) | (most <= NOTHING)  # (W,)
    return picture[clear], boxes[clear], labels[clear]


def window_loss(sides: tuple[float, float], *, empty: int = 3) -> Loss:
    """Return the loss for `train`: cross-entropy over windows drawn anew, the last class empty."""
    check_int(0, empty=empty)

    def loss(model: nn.Module, batch: Pictures) -> tuple[Tensor, int]:
        picture, boxes, labels = draw_windows(batch, empty=empty, sides=sides)
        if not len(labels):  # a batch without objects has no windows
            return 0 * next(model.parameters()).sum(), 0
        scores = model(crop(batch.images, picture, boxes))  # (W, C + 1)
        labels = labels % scores.shape[1]  # −1 is the last class
        return F.cross_entropy(scores, labels, reduction="sum"), len(labels)

    return loss


def all_windows(size: int, sides: Sequence[int], step: float = 0.25) -> Tensor:
    """Return squares (W, 4) on a picture of `size` pixels; each moves on by `step` of its side."""
    check_fraction(step=step)
    check_int(size=size, sides=min(sides))
    boxes = []
    for side in sides:
        starts = torch.arange(0, size - side + 1, max(1, round(step * side))).float()
        y, x = torch.meshgrid(starts, starts, indexing="ij")
        corners = torch.stack([x, y], dim=-1).reshape(-1, 2) + side / 2
        boxes.append(torch.cat([corners, torch.full_like(corners, side)], dim=1))
    return torch.cat(boxes) / size


@torch.no_grad()
def scan(
    model: nn.Module, image: Tensor, windows: Tensor, *, least: float = 0.05, overlap: float = 0.3
) -> Objects:
    """Classify every window (W, 4) of an image (3, R, L) -> what is found, corners in pixels.

    Windows whose best class has a probability of less than `least` are dropped; of the others of
    one kind those go that overlap a surer one by more than `overlap`.
    """
    check_shape(image, "image", "3, rows, columns")
    check_shape(windows, "windows", "windows, 4")
    check_fraction(least=least, overlap=overlap)
    here = torch.zeros(len(windows), dtype=torch.long)  # all of them on the one image
    device = next(model.parameters()).device
    cut = crop(image[None].to(device), here.to(device), windows.to(device))  # (W, 3, side, side)
    probabilities = model(cut.contiguous(memory_format=torch.channels_last)).softmax(dim=1).cpu()
    check_numbers(probabilities, "the model's scores")
    scores, labels = probabilities[:, :-1].max(dim=1)  # 2 × (W,)
    sure = scores >= least
    objects = Objects(labels=labels[sure], boxes=windows[sure], scores=scores[sure])
    return without_duplicates(objects.in_pixels(*image.shape[1:]), overlap)


def without_duplicates(detections: Objects, overlap: float = 0.5) -> Objects:
    """Remove what overlaps a surer find of the same kind by more than `overlap`; corners."""
    check_fraction(overlap=overlap)
    scores = detections.scores
    if scores is None:
        raise ValueError("detections must have scores, found none: these are the true objects")
    stays = []
    for label in detections.labels.unique():
        own = (detections.labels == label).nonzero()[:, 0]
        stays.append(own[non_maximum_suppression(detections.boxes[own], scores[own], overlap)])
    kept = torch.cat(stays) if stays else detections.labels.new_zeros(0)
    return Objects(
        labels=detections.labels[kept], boxes=detections.boxes[kept], scores=scores[kept]
    )
