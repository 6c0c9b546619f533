"""DETR's set loss: equal to transformers, by hand, its laws, and bad input."""

from dataclasses import dataclass, replace
from functools import partial

import pytest
import torch
from transformers import DetrConfig
from transformers.loss.loss_for_object_detection import ForObjectDetectionLoss

from coursekit.boxes.geometry import Objects
from coursekit.objectives.detection import DetectionLoss
from coursekit.objectives.matcher import HungarianMatcher


@dataclass(frozen=True)
class Said:
    """A model's output, made by hand."""

    logits: torch.Tensor
    boxes: torch.Tensor
    earlier: tuple = ()


def said(batch: int, queries: int, classes: int, layers: int = 1, dtype=torch.double) -> Said:
    rows = [
        Said(
            torch.randn(batch, queries, classes + 1, dtype=dtype).requires_grad_(),
            (torch.rand(batch, queries, 4, dtype=dtype) / 2 + 0.1).requires_grad_(),
        )
        for _ in range(layers)
    ]
    return replace(rows[-1], earlier=tuple(rows[:-1]))


def objects(n: int, classes: int, dtype=torch.double) -> Objects:
    boxes = torch.rand(n, 4, dtype=dtype) / 2 + 0.1
    return Objects(labels=torch.randint(classes, (n,)), boxes=boxes)


def leaves(output: Said) -> list[torch.Tensor]:
    return [t for layer in (*output.earlier, output) for t in (layer.logits, layer.boxes)]


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize(
    ("counts", "layers", "weights"),
    [
        ((3, 1), 1, (1, 5, 2, 0.1)),
        ((2, 0, 5), 3, (1, 5, 2, 0.1)),
        ((0, 0), 2, (1, 5, 2, 0.1)),
        ((4, 1), 2, (1, 3, 7, 0.4)),
    ],
)
def test_equal_to_transformers_forward_and_backward(
    counts, layers, weights, dtype, atol, monkeypatch
):
    torch.manual_seed(0)
    queries, classes = 5, 4
    output = said(len(counts), queries, classes, layers, dtype)
    targets = [objects(n, classes, dtype) for n in counts]
    _, l1, giou, no_object = weights
    config = DetrConfig(
        num_labels=classes, auxiliary_loss=layers > 1, decoder_layers=layers, bbox_cost=l1,
        giou_cost=giou, bbox_loss_coefficient=l1, giou_loss_coefficient=giou,
        eos_coefficient=no_object,
    )  # fmt: skip
    every = (*output.earlier, output)
    monkeypatch.setattr(
        torch, "ones", partial(torch.ones, dtype=dtype)
    )  # theirs knows float32 only
    expected, parts, _ = ForObjectDetectionLoss(
        output.logits,
        [{"class_labels": target.labels, "boxes": target.boxes} for target in targets],
        "cpu",
        output.boxes,
        config,
        [layer.logits for layer in every],
        [layer.boxes for layer in every],
    )
    its = torch.autograd.grad(expected, leaves(output))

    loss = DetectionLoss(
        matcher=HungarianMatcher(l1_cost=l1, giou_cost=giou),
        l1_weight=l1,
        giou_weight=giou,
        no_object=no_object,
    )
    total, mine = loss(output, targets)
    torch.testing.assert_close(total, expected, atol=atol, rtol=atol)
    names = {"loss_ce": "class", "loss_bbox": "l1", "loss_giou": "giou"}
    parts = {
        name.replace(key, names[key]): value
        for name, value in parts.items()
        for key in names
        if key in name
    }
    assert mine.keys() == parts.keys()
    torch.testing.assert_close(mine, parts, atol=atol, rtol=atol)
    for grad, other in zip(torch.autograd.grad(total, leaves(output)), its):
        torch.testing.assert_close(grad, other, atol=atol, rtol=atol)


def test_by_hand():
    """Two queries, one object of class 1: the first query is matched, the second says nothing."""
    logits = torch.tensor([[[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]]).double()
    boxes = torch.tensor([[[0.5, 0.5, 0.4, 0.4], [0.1, 0.1, 0.1, 0.1]]]).double()
    one = Objects(labels=torch.tensor([1]), boxes=torch.tensor([[0.5, 0.5, 0.2, 0.4]]))
    total, parts = DetectionLoss()(Said(logits, boxes), [one])
    surprise = -logits.log_softmax(-1)
    by_class = (surprise[0, 0, 1] + 0.1 * surprise[0, 1, 2]) / 1.1
    assert parts["class"].item() == pytest.approx(by_class.item())
    assert parts["l1"].item() == pytest.approx(0.2)
    assert parts["giou"].item() == pytest.approx(0.5)
    assert total.item() == pytest.approx(by_class.item() + 5 * 0.2 + 2 * 0.5)


def test_the_answer_that_is_right_costs_nearly_nothing():
    target = objects(3, 4)
    order = torch.tensor([2, 0, 4])
    logits = torch.full((1, 6, 5), -30.0).double()
    logits[0, :, 4] = 30.0
    logits[0, order] = -30.0
    logits[0, order, target.labels] = 30.0
    boxes = torch.rand(1, 6, 4).double()
    boxes[0, order] = target.boxes
    total, _ = DetectionLoss()(Said(logits, boxes), [target])
    assert total < 1e-9


def test_order_of_the_targets_and_of_the_queries_does_not_matter():
    torch.manual_seed(0)
    output, target = said(1, 6, 4, layers=2), objects(4, 4)
    turn, swap = torch.randperm(4), torch.randperm(6)
    turned = Objects(labels=target.labels[turn], boxes=target.boxes[turn])

    def swapped(layer):
        return Said(layer.logits[:, swap], layer.boxes[:, swap], tuple(map(swapped, layer.earlier)))

    expected, _ = DetectionLoss()(output, [target])
    torch.testing.assert_close(DetectionLoss()(output, [turned])[0], expected)
    torch.testing.assert_close(DetectionLoss()(swapped(output), [target])[0], expected)


def test_only_matched_boxes_and_every_class_get_a_gradient():
    torch.manual_seed(0)
    output, target = said(2, 5, 4), [objects(2, 4), objects(0, 4)]
    matched = HungarianMatcher()(output.logits, output.boxes, target)[0]
    DetectionLoss()(output, target)[0].backward()
    touched = output.boxes.grad.abs().sum(-1) > 0
    expected = torch.zeros(2, 5, dtype=torch.bool)
    expected[0, matched] = True
    assert torch.equal(touched, expected)
    assert (output.logits.grad.abs().sum(-1) > 0).all()


def test_earlier_layers_are_matched_for_themselves():
    """The last layer's queries stand the other way round; the first pays nothing for that."""
    torch.manual_seed(0)
    target = objects(3, 4)
    logits = torch.nn.functional.one_hot(target.labels, 5).double()[None] * 50
    right = Said(logits, target.boxes[None])
    turned = Said(logits.flip(1), target.boxes[None].flip(1), (right,))
    total, parts = DetectionLoss()(turned, [target])
    assert total < 1e-6 and list(parts) == ["class", "l1", "giou", "class_0", "l1_0", "giou_0"]


def test_boxes_are_divided_by_the_number_of_objects():
    torch.manual_seed(0)
    output, target = said(2, 5, 4), [objects(3, 4), objects(1, 4)]
    _, parts = DetectionLoss()(output, target)
    _, other = DetectionLoss()(output, target, count=8)
    torch.testing.assert_close(other["l1"], parts["l1"] / 2)
    torch.testing.assert_close(other["giou"], parts["giou"] / 2)
    torch.testing.assert_close(other["class"], parts["class"])
    _, alone = DetectionLoss()(output, target, count=0.25)  # other processes had next to nothing
    torch.testing.assert_close(alone["l1"], parts["l1"] * 4)


@pytest.mark.parametrize(("off", "left"), [("l1", "giou"), ("giou", "l1")])
def test_a_box_loss_that_is_turned_off_moves_no_box(off, left):
    """As in Table 4 of the paper: the other one alone moves the boxes, the class loss stays."""
    torch.manual_seed(0)
    output, target = said(1, 5, 4), [objects(3, 4)]
    total, parts = DetectionLoss(**{f"{off}_weight": 0.0})(output, target)
    weight = {"l1": 5.0, "giou": 2.0}[left]
    torch.testing.assert_close(total, parts["class"] + weight * parts[left])
    (alone,) = torch.autograd.grad(weight * parts[left], output.boxes, retain_graph=True)
    (moved,) = torch.autograd.grad(total, output.boxes)
    torch.testing.assert_close(moved, alone)


def test_bad_input_gets_a_sentence():
    torch.manual_seed(0)
    output = said(1, 2, 3)
    with pytest.raises(ValueError, match="image 0 has 3 objects, more than the 2 queries"):
        DetectionLoss()(output, [objects(3, 3)])
    with pytest.raises(ValueError, match="class id 3, expected ids from 0 to 2"):
        DetectionLoss()(output, [Objects(labels=torch.tensor([3]), boxes=torch.rand(1, 4))])
    with pytest.raises(ValueError, match="there must be one target for each of 1 images"):
        DetectionLoss()(output, [])
