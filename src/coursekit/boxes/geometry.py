"""Boxes: two ways to write them, how much two of them overlap, and what to do with duplicates.

A box is four numbers on the last axis. *Corners* are (x1, y1, x2, y2), left, top, right, bottom;
*centre form* is (centre x, centre y, width, height). Everything that measures works on corners and
broadcasts over the other axes: `iou(a, b)` compares a_i with b_i, `iou(a[:, None], b)` all pairs.
The book explains it in "DETR", section "When is a box a good box? L1 and generalized IoU".
Shapes: n boxes of one image, ... any axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from coursekit._base.checks import check_fraction, check_numbers, check_shape, check_tensor


@dataclass(frozen=True, kw_only=True)
class Objects:
    """The objects of one image, true ones or found ones; n may be 0.

    DETR and its loss speak of boxes in centre form, in parts of the image (0 to 1); average
    precision and the eye want corners in pixels. `in_pixels` goes from the first to the second.
    """

    labels: Tensor  # (n,) class ids, from 0
    boxes: Tensor  # (n, 4)
    scores: Tensor | None = None  # (n,) how sure the model is; found objects only
    crowd: Tensor | None = None  # (n,) True: one box around many, as COCO has; true objects only
    areas: Tensor | None = None  # (n,) of the true outline, where it is not the box's

    def __post_init__(self) -> None:
        check_shape(self.labels, "labels", "n")
        check_shape(self.boxes, "boxes", (len(self), 4))
        for name in ("scores", "crowd", "areas"):
            if getattr(self, name) is not None:
                check_shape(getattr(self, name), name, (len(self),))

    def __len__(self) -> int:
        return len(self.labels)

    def in_pixels(self, height: int, width: int) -> Objects:
        """Centre form in parts of an image -> corners in pixels of an image of this size."""
        size = self.boxes.new_tensor([width, height, width, height])  # (4,)
        return Objects(
            labels=self.labels,
            boxes=to_corners(self.boxes) * size,
            scores=self.scores,
            crowd=self.crowd,
            areas=None if self.areas is None else self.areas * height * width,
        )


def to_corners(boxes: Tensor) -> Tensor:
    """(centre x, centre y, width, height) -> (x1, y1, x2, y2), both (..., 4)."""
    _check_four(boxes, "boxes")
    x, y, width, height = boxes.unbind(-1)
    left, top = x - width / 2, y - height / 2
    right, bottom = x + width / 2, y + height / 2
    return torch.stack([left, top, right, bottom], dim=-1)  # (..., 4)


def to_centres(corners: Tensor) -> Tensor:
    """(x1, y1, x2, y2) -> (centre x, centre y, width, height), both (..., 4)."""
    _check_four(corners, "corners")
    left, top, right, bottom = corners.unbind(-1)
    return torch.stack(
        [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top], dim=-1
    )  # (..., 4)


def area(corners: Tensor) -> Tensor:
    """(..., 4) -> (...)."""
    _check_four(corners, "corners")
    left, top, right, bottom = corners.unbind(-1)
    return (right - left) * (bottom - top)


def intersection(a: Tensor, b: Tensor) -> Tensor:
    """a, b (..., 4) -> (...): the area that both cover."""
    _check_four(a, "a")
    _check_four(b, "b")
    top_left = torch.maximum(a[..., :2], b[..., :2])
    bottom_right = torch.minimum(a[..., 2:], b[..., 2:])
    width, height = (bottom_right - top_left).clamp_min(0).unbind(-1)  # 2 × (...), 0 if apart
    return width * height


def iou(a: Tensor, b: Tensor) -> Tensor:
    """a, b (..., 4) -> (...): the area that both cover over the area that either covers, in [0, 1].

    Two boxes without any area have IoU 0, even where they are the same.
    """
    check_corners(a, "a")
    check_corners(b, "b")
    both = intersection(a, b)
    return _ratio(both, area(a) + area(b) - both)


def generalized_iou(a: Tensor, b: Tensor) -> Tensor:
    """a, b (..., 4) -> (...) in [−1, 1]: IoU minus the empty part of the hull (Rezatofighi, 2019).

    The hull is the smallest box around both. IoU is 0 for all boxes that do not touch, near or far,
    and gives no direction to move in; the hull's empty part still shrinks as they come closer. A
    hull without area has no empty part.
    """
    check_corners(a, "a")
    check_corners(b, "b")
    both = intersection(a, b)
    either = area(a) + area(b) - both
    top_left = torch.minimum(a[..., :2], b[..., :2])
    bottom_right = torch.maximum(a[..., 2:], b[..., 2:])
    hull = area(torch.cat([top_left, bottom_right], dim=-1))
    return _ratio(both, either) - _ratio(hull - either, hull)


def non_maximum_suppression(boxes: Tensor, scores: Tensor, threshold: float = 0.5) -> Tensor:
    """Corners (n, 4), scores (n,) -> indices (k,) of the boxes that stay, best first.

    The best box stays and removes every box that overlaps it by more than `threshold`; then the
    best of the rest, and so on. DETR does without: its queries look at each other, and the matching
    allows one of them to each object. To keep classes apart, call it once for each class.
    """
    check_shape(boxes, "boxes", "n, 4")
    check_shape(scores, "scores", boxes.shape[:1])
    check_fraction(threshold=threshold)
    check_numbers(scores, "scores")
    order = scores.argsort(descending=True, stable=True)  # (n,)
    overlap = iou(boxes[:, None], boxes)  # (n, n)
    removed = torch.zeros_like(scores, dtype=torch.bool)  # (n,)
    stays = []
    for best in order.tolist():
        if not removed[best]:
            stays.append(best)
            removed |= overlap[best] > threshold
    return torch.tensor(stays, dtype=torch.long, device=boxes.device)


def check_corners(boxes: Tensor, name: str = "boxes") -> None:
    """Raise unless `boxes` (..., 4) are corners with x1 ≤ x2 and y1 ≤ y2."""
    _check_four(boxes, name)
    x1, y1, x2, y2 = boxes.unbind(-1)
    ordered = (x1 <= x2) & (y1 <= y2) & boxes.isfinite().all(dim=-1)  # (...), False at NaN
    _check_all(ordered, boxes, f"{name} must be corners (x1, y1, x2, y2) with x1 ≤ x2 and y1 ≤ y2")


def check_centres(boxes: Tensor, name: str = "boxes") -> None:
    """Raise unless `boxes` (..., 4) are in centre form and inside [0, 1]: parts of an image."""
    _check_four(boxes, name)
    inside = ((boxes >= 0) & (boxes <= 1)).all(dim=-1)  # (...), False at NaN
    centre_form = "(centre x, centre y, width, height), each a part of the image between 0 and 1"
    _check_all(inside, boxes, f"{name} must be {centre_form}")


def _check_four(boxes: Tensor, name: str) -> None:
    """Raise unless `boxes` (..., 4) have four numbers each."""
    check_tensor(boxes, name)
    if boxes.shape[-1:] != (4,):
        raise ValueError(f"{name} must have shape (..., 4), found {tuple(boxes.shape)}")


def _check_all(right: Tensor, boxes: Tensor, sentence: str) -> None:
    """Raise with the first box that is not `right` (...), unless there are no numbers to read."""
    if not right.is_meta and not right.all():
        wrong = [round(number, 6) for number in boxes[~right][0].tolist()]
        raise ValueError(f"{sentence}, found {wrong}")


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """Return part / whole, and 0 with gradient 0 where the whole is 0."""
    empty = whole == 0
    return (part / torch.where(empty, 1, whole)).masked_fill(empty, 0)
