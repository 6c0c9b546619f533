"""Bad input to anything about boxes gets a message that names the argument."""

from __future__ import annotations

import pytest
import torch

from coursekit import boxes as b

from ..refusals import Good, missing, public

CORNERS = torch.tensor([[0.1, 0.2, 0.5, 0.6], [0.2, 0.2, 0.9, 0.7]])
LABELS, SCORES = torch.tensor([0, 1]), torch.tensor([0.9, 0.4])
FOUND = [b.Objects(labels=LABELS, boxes=CORNERS, scores=SCORES)]
TRUE = [b.Objects(labels=LABELS, boxes=CORNERS)]

TABLE = {
    "Objects": lambda: Good(
        b.Objects, {"labels": LABELS, "boxes": CORNERS, "scores": SCORES}, free="labels:dtype"
    ),
    "to_corners": lambda: Good(b.to_corners, {"boxes": CORNERS}),
    "to_centres": lambda: Good(b.to_centres, {"corners": CORNERS}),
    "area": lambda: Good(b.area, {"corners": CORNERS}),
    "intersection": lambda: Good(b.intersection, {"a": CORNERS, "b": CORNERS}),
    "iou": lambda: Good(b.iou, {"a": CORNERS, "b": CORNERS}),
    "generalized_iou": lambda: Good(b.generalized_iou, {"a": CORNERS, "b": CORNERS}),
    "non_maximum_suppression": lambda: Good(
        b.non_maximum_suppression, {"boxes": CORNERS, "scores": SCORES}
    ),
    "average_precision": lambda: Good(b.average_precision, {"detections": FOUND, "truth": TRUE}),
    "evaluate": lambda: Good(b.evaluate, {"detections": FOUND, "truth": TRUE}),
}


def test_everything_about_boxes_has_an_entry():
    assert missing(TABLE, public(b, b.__all__)) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []
