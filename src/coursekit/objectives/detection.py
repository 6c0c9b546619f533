"""DETR's set loss: match first, then compare each query with what it was matched to.

The class of every query (left-over ones should say "no object"), and the box of the matched ones:
L1 and generalized IoU (Carion et al., 2020, section 3.1 and appendix A.2). Every decoder layer is
asked for the answer and pays for its own mistakes, with a matching of its own. The book explains it
in "DETR", section "The set loss, and the loop that trains with it".
Shapes: B batch, Q object queries, C classes, N objects of the whole batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import check_at_least, check_positive
from coursekit.boxes.geometry import Objects, generalized_iou, to_corners
from coursekit.objectives.matcher import HungarianMatcher, stack_targets


class Predicted(Protocol):
    """What the loss reads of a model's output; `coursekit.models.detr.Detections` has it."""

    logits: Tensor  # (B, Q, C + 1), the last class is "no object"
    boxes: Tensor  # (B, Q, 4), centre form in parts of the image
    earlier: Sequence[Predicted]  # the same of the earlier decoder layers, or nothing


@dataclass(frozen=True, kw_only=True)
class DetectionLoss:
    """Class, L1 and GIoU loss of a predicted set; the weights are those of DETR.

    `no_object` is the weight of the class "no object" in the cross-entropy: it is the answer of
    most queries, and at weight 1 would drown the rest. The matcher's costs are weights of their
    own: they decide who is compared with whom, these decide how much it hurts.
    """

    matcher: HungarianMatcher = field(default_factory=HungarianMatcher)
    class_weight: float = 1.0
    l1_weight: float = 5.0
    giou_weight: float = 2.0
    no_object: float = 0.1

    def __post_init__(self) -> None:
        check_positive(no_object=self.no_object)
        check_at_least(
            class_weight=self.class_weight, l1_weight=self.l1_weight, giou_weight=self.giou_weight
        )

    def __call__(
        self, predicted: Predicted, targets: Sequence[Objects], *, count: float | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the loss and its parts, before weighting: "class", "l1", "giou" of the last layer.

        The parts of the earlier layers follow as "class_0", "l1_0", … from the first layer on. Box
        losses are divided by the number of objects in the batch, at least 1, or by `count`. A
        training loop that cuts its batches takes `pairs` instead, as `train` does.
        """
        count = sum(len(objects) for objects in targets) if count is None else count
        check_at_least(count=count)
        parts = self.parts(predicted, targets, max(count, 1))
        for index, layer in enumerate(predicted.earlier):
            for name, value in self.parts(layer, targets, max(count, 1)).items():
                parts[f"{name}_{index}"] = value
        weights = {"class": self.class_weight, "l1": self.l1_weight, "giou": self.giou_weight}
        first, *others = (weights[name.split("_")[0]] * value for name, value in parts.items())
        return sum(others, start=first), parts

    def pairs(self, predicted: Predicted, targets: Sequence[Objects]) -> list[tuple[Tensor, float]]:
        """Return the two means that the loss is made of, as sums of all layers and their divisors.

        The weighted sum of the class losses, with the weights of all queries together, and the
        sum of the box losses, with the number of objects. Over the micro-batches of a batch both
        may be added up; with the sums divided, the result is the loss of the whole batch.
        """
        layers = [self._sums(layer, targets) for layer in (predicted, *predicted.earlier)]
        classes = torch.stack([self.class_weight * layer["class"] for layer in layers]).sum()
        boxes = torch.stack(
            [self.l1_weight * layer["l1"] + self.giou_weight * layer["giou"] for layer in layers]
        ).sum()
        objects = sum(len(some) for some in targets)
        return [(classes, self._weights(predicted, objects)), (boxes, objects)]

    def parts(
        self, predicted: Predicted, targets: Sequence[Objects], count: float
    ) -> dict[str, Tensor]:
        """Return the three losses of one decoder layer."""
        sums = self._sums(predicted, targets)
        objects = sum(len(some) for some in targets)
        by = {"class": self._weights(predicted, objects), "l1": count, "giou": count}
        return {name: value / by[name] for name, value in sums.items()}

    def _weights(self, predicted: Predicted, objects: int) -> float:
        """Return the weights of all queries' classes together: each object has one query."""
        queries = predicted.logits.shape[0] * predicted.logits.shape[1]
        return objects + self.no_object * (queries - objects)

    def _sums(self, predicted: Predicted, targets: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the three losses of one decoder layer, summed over queries and over objects."""
        logits, boxes = predicted.logits, predicted.boxes
        query = torch.cat(self.matcher(logits, boxes, targets))  # (N,): who answers for whom
        image, labels, true = stack_targets(targets)  # (N,), (N,), (N, 4)

        nothing = logits.shape[-1] - 1  # the last class
        answer = labels.new_full(logits.shape[:2], nothing)  # (B, Q)
        answer[image, query] = labels
        weight = logits.new_ones(nothing + 1)  # (C + 1,)
        weight[nothing] = self.no_object
        class_loss = F.cross_entropy(
            logits.flatten(0, 1), answer.flatten(), weight, reduction="sum"
        )

        matched, true = boxes[image, query], true.to(boxes.dtype)  # 2 × (N, 4)
        overlap = generalized_iou(to_corners(matched), to_corners(true))  # (N,)
        return {
            "class": class_loss,
            "l1": (matched - true).abs().sum(),
            "giou": (1 - overlap).sum(),
        }
