"""The matcher: as cheap as trying everything, each cost counts, empty images, bad input."""

from itertools import permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.boxes.geometry import Objects, generalized_iou, to_corners
from coursekit.objectives.matcher import HungarianMatcher, assign


def objects(n: int, classes: int = 3) -> Objects:
    boxes = torch.rand(n, 4, dtype=torch.double) / 2 + 0.1
    return Objects(labels=torch.randint(classes, (n,)), boxes=boxes)


def predictions(batch: int, queries: int, classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    logits = torch.randn(batch, queries, classes + 1, dtype=torch.double)
    return logits, torch.rand(batch, queries, 4, dtype=torch.double)


def target(*rows) -> Objects:
    """One object a row: label, then centre x, centre y, width, height."""
    return Objects(
        labels=torch.tensor([row[0] for row in rows]),
        boxes=torch.tensor([row[1:] for row in rows], dtype=torch.double).reshape(-1, 4),
    )


@given(st.integers(0, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_no_other_assignment_is_cheaper(n, queries, seed):
    n = min(n, queries)
    cost = torch.randn(n, queries, generator=torch.Generator().manual_seed(seed)).double()
    found = assign(cost)
    assert found.shape == (n,) and len(set(found.tolist())) == n
    cheapest = min(
        sum(cost[i, q].item() for i, q in enumerate(choice))
        for choice in permutations(range(queries), n)
    )
    assert cost[range(n), found].sum().item() == pytest.approx(cheapest, abs=1e-12)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.integers(0, 10**6))
def test_each_image_is_matched_by_its_own_written_out_costs(counts, seed):
    torch.manual_seed(seed)
    logits, boxes = predictions(len(counts), 4)
    targets = [objects(n) for n in counts]
    found = HungarianMatcher()(logits, boxes, targets)
    for b, n in enumerate(counts):
        probability = logits[b].softmax(-1)

        def pay(i, q, b=b, probability=probability):
            true, box = targets[b].boxes[i], boxes[b, q]
            overlap = generalized_iou(to_corners(box), to_corners(true))
            chance = probability[q, targets[b].labels[i]]
            return (-chance + 5 * (box - true).abs().sum() - 2 * overlap).item()

        cheapest = min(
            sum(pay(i, q) for i, q in enumerate(choice)) for choice in permutations(range(4), n)
        )
        paid = sum(pay(i, q) for i, q in enumerate(found[b].tolist()))
        assert paid == pytest.approx(cheapest, abs=1e-9)


def test_each_of_the_three_costs_decides():
    one = target([1, 0.5, 0.5, 0.2, 0.2])
    sure, unsure = [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]
    near, far = [0.5, 0.5, 0.2, 0.2], [0.9, 0.1, 0.2, 0.2]

    def choose(logits, boxes, **costs):
        found = HungarianMatcher(**costs)(
            torch.tensor([logits]).double(), torch.tensor([boxes]).double(), [one]
        )
        return found[0].item()

    assert choose([unsure, sure], [near, near]) == 1  # same boxes: the class decides
    assert choose([unsure, sure], [near, far]) == 0  # boxes weigh more than the class
    assert choose([unsure, sure], [near, far], l1_cost=0, giou_cost=0) == 1
    # In L1 the first is nearer, 0.12 to 0.13, but the second holds all of the object.
    moved, larger = [0.56, 0.56, 0.2, 0.2], [0.5, 0.5, 0.265, 0.265]
    assert choose([unsure, unsure], [moved, larger]) == 1
    assert choose([unsure, unsure], [moved, larger], giou_cost=0) == 0
    # Too large or too thin: GIoU prefers the first, L1 the second.
    large, thin = [0.5, 0.5, 0.4, 0.4], [0.5, 0.5, 0.2, 0.02]
    assert choose([unsure, unsure], [large, thin], l1_cost=0) == 0
    assert choose([unsure, unsure], [large, thin]) == 1
    cost = HungarianMatcher(class_cost=1, l1_cost=5, giou_cost=2).cost(
        torch.tensor([[sure]]).double(), torch.tensor([[moved]]).double(), [one]
    )
    chance = torch.tensor(sure).double().softmax(-1)[1]
    shared = 0.14**2
    overlap = shared / (0.08 - shared) - (0.26**2 - (0.08 - shared)) / 0.26**2
    assert cost.item() == pytest.approx((-chance + 5 * 0.12 - 2 * overlap).item())


def test_order_of_queries_and_objects_does_not_matter():
    torch.manual_seed(0)
    logits, boxes = predictions(1, 6)
    mine = objects(4)
    found = HungarianMatcher()(logits, boxes, [mine])[0]
    swap, turn = torch.randperm(6), torch.randperm(4)
    turned = Objects(labels=mine.labels[turn], boxes=mine.boxes[turn])
    again = HungarianMatcher()(logits[:, swap], boxes[:, swap], [turned])[0]
    assert torch.equal(swap[again], found[turn])


def test_an_image_without_objects_matches_nothing():
    torch.manual_seed(0)
    logits, boxes = predictions(3, 4)
    found = HungarianMatcher()(logits, boxes, [objects(0), objects(4), objects(0)])
    assert [len(rows) for rows in found] == [0, 4, 0]
    assert sorted(found[1].tolist()) == [0, 1, 2, 3]
    assert HungarianMatcher().cost(logits, boxes, [objects(0)] * 3).shape == (0, 4)


def test_it_costs_no_gradient_and_takes_half_precision():
    torch.manual_seed(0)
    logits, boxes = predictions(1, 4)
    logits.requires_grad_()
    found = HungarianMatcher()(logits, boxes, [objects(2)])
    assert not found[0].is_floating_point()
    HungarianMatcher()(logits.bfloat16(), boxes.bfloat16(), [objects(2)])


BOX = [0.5, 0.5, 0.2, 0.2]


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        ([target(*([[0, *BOX]] * 3))], "image 0 has 3 objects, more than the 2 queries"),
        ([target([3, *BOX])], "class id 3, expected ids from 0 to 2"),
        ([target([-1, *BOX])], "class id -1, expected ids from 0 to 2"),
        ([target([0, 0.5, 0.5, 0.2, -0.2])], r"between 0 and 1, found \[0.5, 0.5, 0.2, -0.2\]"),
        ([target([0, 40.0, 0.5, 0.2, 0.2])], r"between 0 and 1, found \[40.0"),
        ([], "one target for each of 1 images, found 0"),
        ([target(), target()], "one target for each of 1 images, found 2"),
        (
            [Objects(labels=torch.tensor([0]), boxes=torch.tensor([BOX]), crowd=torch.ones(1) > 0)],
            "image 0 has a crowd box",
        ),
    ],
)
def test_bad_targets_get_a_sentence(targets, sentence):
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=sentence):
        HungarianMatcher()(*predictions(1, 2), targets)


def test_bad_predictions_get_a_sentence():
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=r"column of its own, found a cost of \(3, 2\)"):
        assign(torch.zeros(3, 2))
