"""Average precision as COCO defines it: how good is a detector, in one number and in twelve.

A detector says boxes, classes and how sure it is. Sorted by that score, its answers give a curve of
precision over recall; AP is the area under it, averaged over ten demands on the overlap (IoU 0.50,
0.55 … 0.95) and over the classes. The book explains it in "DETR", section
"Average precision: how good is a detector?".

The rules for what counts neither way: an object that is a crowd, or not of the size asked for, is
*ignored*; so is a detection that found an ignored object, or that found nothing and is itself not
of the size. Shapes: K thresholds, R recall levels, D detections and G objects of one class in one
image, C classes, S size ranges, M caps on the detections of an image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coursekit.boxes.geometry import Objects, area, check_corners, intersection

THRESHOLDS = np.linspace(0.50, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)
SIZES = {  # area in pixels, ends included
    "all": (0.0, 1e5**2),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e5**2),
}
CAPS = (1, 10, 100)


@dataclass(frozen=True)
class Evaluation:
    """All curves; −1 is where a class has no object of that size."""

    classes: list[int]  # C class ids that occur among the true objects
    precision: np.ndarray  # (K, R, C, S, M)
    recall: np.ndarray  # (K, C, S, M), the highest that was reached

    def summary(self) -> dict[str, float]:
        """Return COCO's twelve numbers; one is −1 where there is nothing to take a mean of."""
        sizes = list(SIZES)[1:]
        table = {
            "AP": _mean(self.precision[:, :, :, 0, -1]),
            "AP50": _mean(self.precision[0, :, :, 0, -1]),
            "AP75": _mean(self.precision[5, :, :, 0, -1]),
        }
        for s, name in enumerate(sizes, 1):
            table[f"AP_{name}"] = _mean(self.precision[:, :, :, s, -1])
        for m, cap in enumerate(CAPS):
            table[f"AR{cap}"] = _mean(self.recall[:, :, 0, m])
        for s, name in enumerate(sizes, 1):
            table[f"AR_{name}"] = _mean(self.recall[:, :, s, -1])
        return table


def average_precision(
    detections: Sequence[Objects],
    truth: Sequence[Objects],
    *,
    sizes: Mapping[str, tuple[float, float]] = SIZES,
) -> dict[str, float]:
    """Detections and true objects, image by image, corners in pixels -> COCO's twelve numbers.

    AP, AP50 and AP75 (IoU 0.50 and 0.75 alone), AP of small, medium and large objects; AR, the mean
    recall with 1, 10 and 100 detections for an image, and of the three sizes. COCO's limits of the
    sizes are made for its photographs; pictures of another size need others, under the same names.
    """
    return evaluate(detections, truth, sizes=sizes).summary()


def evaluate(
    detections: Sequence[Objects],
    truth: Sequence[Objects],
    *,
    sizes: Mapping[str, tuple[float, float]] = SIZES,
) -> Evaluation:
    """Return every curve behind `average_precision`, by threshold, class, size and cap."""
    _check(detections, truth)
    if list(sizes) != list(SIZES):
        raise ValueError(f"sizes must have limits for {', '.join(SIZES)}, found {', '.join(sizes)}")
    classes = sorted({int(label) for objects in truth for label in objects.labels})
    shape = (len(classes), len(SIZES), len(CAPS))
    precision = np.full((len(THRESHOLDS), len(RECALLS), *shape), -1.0)
    recall = np.full((len(THRESHOLDS), *shape), -1.0)
    for c, label in enumerate(classes):
        images = [_Image(f, t, label) for f, t in zip(detections, truth, strict=True)]
        for s, limits in enumerate(sizes.values()):
            verdicts = [image.judge(limits) for image in images]
            total = sum(count for _, _, count in verdicts)
            if total == 0:
                continue
            for m, cap in enumerate(CAPS):
                scores = np.concatenate([image.scores[:cap] for image in images])
                hit = np.concatenate([hit[:, :cap] for hit, _, _ in verdicts], axis=1)  # (K, ΣD)
                ignored = np.concatenate([ignored[:, :cap] for _, ignored, _ in verdicts], axis=1)
                order = np.argsort(-scores, kind="stable")
                for k in range(len(THRESHOLDS)):
                    counted = order[~ignored[k, order]]
                    precision[k, :, c, s, m], recall[k, c, s, m] = curve(hit[k, counted], total)
    return Evaluation(classes, precision, recall)


def curve(hit: np.ndarray, total: int) -> tuple[np.ndarray, float]:
    """hit (D,), best score first, of `total` objects -> precision at each level (R,), recall.

    The precision at a level is the best that is reached there or at any higher recall, so the curve
    never rises; it is 0 at levels that are never reached.
    """
    if len(hit) == 0:
        return np.zeros(len(RECALLS)), 0.0
    right = np.cumsum(hit)  # (D,): true positives among the first 1, 2, … detections
    recall = right / total  # (D,)
    precision = right / np.arange(1, len(hit) + 1)  # (D,)
    best = np.maximum.accumulate(precision[::-1])[::-1]  # (D,)
    reached = np.searchsorted(recall, RECALLS, side="left")  # (R,): first place with this recall
    return np.append(best, 0.0)[reached], float(recall[-1])


def match(
    overlap: np.ndarray, ignored: np.ndarray, crowd: np.ndarray, thresholds: np.ndarray
) -> np.ndarray:
    """overlap (D, G), best detection first -> (K, D): the object each detection found, −1 for none.

    In the order of their scores, detections take the free object they overlap most, if by enough;
    an ignored one only if no other will do. A crowd is never used up.
    """
    detections, objects = overlap.shape
    partner = np.full((len(thresholds), detections), -1)
    if objects == 0:
        return partner
    taken = np.zeros((len(thresholds), objects), dtype=bool)  # (K, G)
    for d in range(detections):
        free = (overlap[d] >= thresholds[:, None]) & (~taken | crowd)  # (K, G)
        counting = free & ~ignored  # (K, G)
        free = np.where(counting.any(axis=1, keepdims=True), counting, free)
        worth = np.where(free, overlap[d], -1.0)  # (K, G)
        best = objects - 1 - worth[:, ::-1].argmax(axis=1)  # (K,): of equals COCO takes the last
        k = free.any(axis=1).nonzero()[0]  # the thresholds at which something was found
        partner[k, d] = best[k]
        taken[k, best[k]] = True
    return partner


class _Image:
    """The detections and objects of one class in one image, and how they overlap."""

    def __init__(self, detections: Objects, truth: Objects, label: int) -> None:
        assert detections.scores is not None  # see `_check`
        chosen = (detections.labels == label).nonzero()[:, 0]
        order = detections.scores[chosen].argsort(descending=True, stable=True)
        chosen = chosen[order[: max(CAPS)]]  # (D,), the best score first
        boxes = detections.boxes[chosen].double()  # (D, 4)
        own = truth.labels == label
        true = truth.boxes[own].double()  # (G, 4)
        crowd = own.new_zeros(len(true)) if truth.crowd is None else truth.crowd[own].bool()
        areas = area(true) if truth.areas is None else truth.areas[own].double()
        both = intersection(boxes[:, None], true)  # (D, G)
        either = area(boxes)[:, None] + area(true) - both
        # Of a crowd no detection covers all; it is enough to lie inside.
        either = either.where(~crowd, area(boxes)[:, None])
        overlap = (both / either.where(either > 0, 1)).cpu().numpy()
        self.overlap = overlap  # (D, G)
        self.scores = detections.scores[chosen].double().cpu().numpy()  # (D,)
        self.found_areas = area(boxes).cpu().numpy()  # (D,)
        self.areas, self.crowd = areas.cpu().numpy(), crowd.cpu().numpy()  # 2 × (G,)

    def judge(self, limits: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, int]:
        """Return hit (K, D), ignored (K, D), and how many objects there are to find."""
        ignored = self.crowd | _outside(self.areas, limits)  # (G,)
        # 1 − 1e-10: at a threshold of 1, two equal boxes must match in spite of rounding.
        partner = match(self.overlap, ignored, self.crowd, np.minimum(THRESHOLDS, 1 - 1e-10))
        hit = partner >= 0  # (K, D)
        found_ignored = np.append(ignored, False)[partner]  # (K, D): −1 reads the False at the end
        skip = np.where(hit, found_ignored, _outside(self.found_areas, limits))
        return hit & ~skip, skip, int((~ignored).sum())


def _outside(areas: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    return (areas < limits[0]) | (areas > limits[1])


def _mean(values: np.ndarray) -> float:
    values = values[values > -1]
    return float(values.mean()) if values.size else -1.0


def _check(detections: Sequence[Objects], truth: Sequence[Objects]) -> None:
    if len(detections) != len(truth):
        raise ValueError(
            f"detections and truth must be of the same images, "
            f"got {len(detections)} and {len(truth)}"
        )
    if len(truth) == 0:
        raise ValueError("average precision needs at least one image, found none")
    for image, (f, t) in enumerate(zip(detections, truth, strict=True)):
        if f.scores is None:
            raise ValueError(f"what was found in image {image} has no scores to sort it by")
        if not f.scores.isfinite().all():
            raise ValueError(f"a score in image {image} is not finite")
        check_corners(f.boxes, f"the boxes found in image {image}")
        check_corners(t.boxes, f"the true boxes of image {image}")
