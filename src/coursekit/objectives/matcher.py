"""The Hungarian matcher: which query of DETR answers for which object.

DETR predicts a set. Sets have no order, so before any loss can be taken it must be settled which of
the Q predictions belongs to which true object: one query to each object, all pairs together as
cheap as possible (Carion et al., 2020, equations 1 and 2). The queries left over belong to
"no object". The book explains it in "DETR", section "Matching: which guess answers for which
object".
Shapes: B batch, Q object queries, C classes, n objects of one image, N objects of the whole batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from coursekit._base.checks import check_at_least, check_numbers, check_shape, check_tensor
from coursekit.boxes.geometry import Objects, check_centres, generalized_iou, to_corners


@dataclass(frozen=True, kw_only=True)
class HungarianMatcher:
    """Give each true object its own query, at the smallest total cost.

    A query is cheap for an object if it is sure of the object's class and its box is near: in L1
    distance, and in generalized IoU, which unlike L1 does not weigh large boxes more. The three
    weights are those of DETR.
    """

    class_cost: float = 1.0
    l1_cost: float = 5.0
    giou_cost: float = 2.0

    def __post_init__(self) -> None:
        check_at_least(class_cost=self.class_cost, l1_cost=self.l1_cost, giou_cost=self.giou_cost)

    @torch.no_grad()
    def __call__(self, logits: Tensor, boxes: Tensor, targets: Sequence[Objects]) -> list[Tensor]:
        """logits (B, Q, C + 1), boxes (B, Q, 4) -> for each image (n,), the query of each object.

        All boxes are in centre form, in parts of the image. The last class is "no object".
        """
        check_targets(logits, boxes, targets)
        cost = self.cost(logits, boxes, targets).cpu()  # (N, Q)
        images = cost.split([len(objects) for objects in targets])  # B × (n, Q)
        return [assign(rows).to(logits.device) for rows in images]

    def cost(self, logits: Tensor, boxes: Tensor, targets: Sequence[Objects]) -> Tensor:
        """(N, Q): what each object of the batch would pay for each query of its own image."""
        image, labels, true = stack_targets(targets)  # (N,), (N,), (N, 4)
        probability = logits.softmax(dim=-1)[image, :, labels]  # (N, Q): of the object's class
        boxes, true = boxes[image], true[:, None].to(boxes.dtype)  # (N, Q, 4), (N, 1, 4)
        distance = (boxes - true).abs().sum(dim=-1)  # (N, Q)
        overlap = generalized_iou(to_corners(boxes), to_corners(true))  # (N, Q)
        # The probability itself, not its logarithm as in the loss: of one size with the other two.
        return (
            -self.class_cost * probability + self.l1_cost * distance - self.giou_cost * overlap
        )  # (N, Q)


def assign(cost: Tensor) -> Tensor:
    """cost (n, Q ≥ n) -> (n,): a different column for each row, with the smallest possible sum.

    SciPy solves it exactly in O(n² Q), by the successor of Kuhn's "Hungarian method" (1955).
    """
    from scipy.optimize import linear_sum_assignment  # here, for SciPy is slow to load

    check_tensor(cost, "the cost")
    if cost.ndim != 2 or cost.shape[0] > cost.shape[1]:
        raise ValueError(f"each row needs a column of its own, found a cost of {tuple(cost.shape)}")
    check_numbers(cost, "the cost", finite=True)
    numbers = cost.detach().cpu().double().numpy()
    _, columns = linear_sum_assignment(numbers)  # the rows come back as 0 … n − 1
    return torch.from_numpy(columns).long()


def stack_targets(targets: Sequence[Objects]) -> tuple[Tensor, Tensor, Tensor]:
    """Objects image by image -> image (N,), labels (N,), boxes (N, 4), one row for each object."""
    labels = torch.cat([objects.labels for objects in targets]).long()  # (N,)
    boxes = torch.cat([objects.boxes for objects in targets])  # (N, 4)
    counts = torch.tensor([len(objects) for objects in targets], device=labels.device)  # (B,)
    image = torch.arange(len(targets), device=labels.device).repeat_interleave(counts)  # (N,)
    return image, labels, boxes


def check_targets(logits: Tensor, boxes: Tensor, targets: Sequence[Objects]) -> None:
    """Raise unless predictions and targets fit: sizes, class ids, boxes, and queries enough."""
    check_shape(logits, "logits", "batch, queries, classes + 1")
    check_shape(boxes, "boxes", (*logits.shape[:2], 4))
    batch, queries, classes = logits.shape[0], logits.shape[1], logits.shape[2] - 1
    if len(targets) != batch:
        raise ValueError(
            f"there must be one target for each of {batch} images, found {len(targets)}"
        )
    for image, objects in enumerate(targets):
        if len(objects) > queries:
            raise ValueError(
                f"image {image} has {len(objects)} objects, more than the {queries} queries"
            )
        if objects.crowd is not None and objects.crowd.any():
            raise ValueError(f"image {image} has a crowd box; leave those out of the targets")
    _, labels, true = stack_targets(targets)
    wrong = labels[(labels < 0) | (labels >= classes)]
    if len(wrong):
        raise ValueError(f"targets have class id {wrong[0]}, expected ids from 0 to {classes - 1}")
    check_centres(true, "the targets' boxes")
