"""What assignment 20 calls right is what the course's boxes, matcher, set loss, average precision
and places compute, what transformers and pycocotools do, and what loops give.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import math
from types import SimpleNamespace

import numpy as np
import ours
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.boxes.average_precision import average_precision, curve, evaluate, match
from coursekit.boxes.geometry import Objects, generalized_iou, iou, to_corners
from coursekit.check.outcome import observe
from coursekit.check.probe import randn
from coursekit.objectives.detection import DetectionLoss
from coursekit.objectives.matcher import HungarianMatcher, assign
from coursekit.positions import padded_sine_2d
from coursetools.questions import catalogue

ASSIGNMENT = ours.load("a20_detr")
RIGHT = catalogue.references(ASSIGNMENT)
DOUBLE = torch.float64
CASES = {one.name: (*one.cases, *one.hidden) for one in ASSIGNMENT.questions}
crowd = ours.module("a20_detr", "shared").crowd
hunt = ours.module("a20_detr", "ap_50").hunt


def giou(a, b):
    return generalized_iou(to_corners(a), to_corners(b))


def objects(labels, true):
    return [Objects(labels=c, boxes=box) for c, box in zip(labels, true)]


def pair_up(logits, boxes, labels, true, weights=(1.0, 5.0, 2.0)):
    costs = dict(zip(("class_cost", "l1_cost", "giou_cost"), map(float, weights)))
    return HungarianMatcher(**costs)(logits, boxes, objects(labels, true))


def set_loss(logits, boxes, labels, true, pairs, no_object=0.1):
    loss = DetectionLoss(matcher=lambda *_: pairs, no_object=no_object)
    predicted = SimpleNamespace(logits=logits, boxes=boxes, earlier=())
    _, parts = loss(predicted, objects(labels, true))
    return parts["class"], parts["l1"], parts["giou"]


def ap_50(scores, labels, true_labels, overlaps, threshold=0.5):
    """The two parts of the course's evaluation, which do not care how overlaps were found."""
    values = []
    for c in torch.cat(true_labels).unique():
        said, hit = [], []
        for score, label, true, overlap in zip(scores, labels, true_labels, overlaps):
            order = [d for d in score.argsort(descending=True).tolist() if label[d] == c]
            table = overlap[order][:, true == c].numpy()
            nothing = np.zeros(table.shape[1], dtype=bool)
            hit.append(match(table, nothing, nothing, np.array([threshold]))[0] >= 0)
            said.append(score[order].numpy())
        order = np.argsort(-np.concatenate(said))
        total = sum(int((true == c).sum()) for true in true_labels)
        values.append(curve(np.concatenate(hit)[order], total)[0].mean())
    return float(np.mean(values))


def places_2d(keep, width, temperature):
    return padded_sine_2d(keep, width, base=temperature)


@pytest.mark.parametrize(
    "part", [giou, pair_up, set_loss, ap_50, places_2d], ids=lambda f: f.__name__
)
def test_our_answer_and_the_part_of_the_course_agree_on_every_case(part):
    ours.agree(part.__name__, part, tolerance=1e-8)


# --- giou

boxes = st.tuples(*[st.floats(-20, 20, width=32)] * 2, *[st.floats(0.125, 9, width=32)] * 2)


@settings(deadline=None)
@given(boxes, boxes, st.floats(0.01, 50), st.floats(-30, 30))
def test_giou_is_symmetric_and_knows_neither_place_nor_unit(a, b, scale, shift):
    a, b = (torch.tensor(x, dtype=DOUBLE) for x in (a, b))
    move = torch.tensor([shift, -shift, 0, 0], dtype=DOUBLE)
    value = RIGHT.giou(a, b)
    assert -1 < value <= 1 + 1e-12
    torch.testing.assert_close(RIGHT.giou(b, a), value)
    torch.testing.assert_close(RIGHT.giou(a * scale + move, b * scale + move), value)
    torch.testing.assert_close(RIGHT.giou(a, a), torch.ones((), dtype=DOUBLE))
    turned = [x[[1, 0, 3, 2]] for x in (a, b)]
    torch.testing.assert_close(RIGHT.giou(*turned), value)


@pytest.mark.parametrize(("a", "b"), [((4, 4, 6, 2), (7, 4, 4, 4)), ((2, 2, 2, 2), (9, 7, 4, 2))])
def test_giou_is_what_counting_squares_gives(a, b):
    def squares(x, y, width, height):
        across, down = (
            range(x - width // 2, x + width // 2),
            range(y - height // 2, y + height // 2),
        )
        return set(itertools.product(across, down))

    first, second = squares(*a), squares(*b)
    sides = [[s[axis] for s in first | second] for axis in (0, 1)]
    hull = math.prod(max(side) - min(side) + 1 for side in sides)
    either = len(first | second)
    expected = len(first & second) / either - (hull - either) / hull
    found = RIGHT.giou(torch.tensor(a).double(), torch.tensor(b).double())
    assert found.item() == pytest.approx(expected)


def test_giou_is_that_of_transformers():
    theirs = pytest.importorskip("transformers.loss.loss_for_object_detection")
    a, b = (torch.cat([x[:, :2], 0.1 + x[:, 2:]], 1) for x in torch.rand(2, 30, 4, dtype=DOUBLE))
    expected = theirs.generalized_box_iou(to_corners(a), to_corners(b))
    torch.testing.assert_close(RIGHT.giou(a[:, None], b), expected)


# --- pair_up


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.integers(4, 5), st.integers(0, 99))
def test_no_other_choice_of_queries_is_cheaper(counts, queries, seed):
    logits, found, labels, true = crowd(tuple(counts), queries, 3, seed, dtype=DOUBLE)
    for b, chosen in enumerate(RIGHT.pair_up(logits, found, labels, true)):
        likely = logits[b].softmax(-1)

        def cost(some, b=b, likely=likely):
            return sum(
                -likely[q, labels[b][n]]
                + 5 * (true[b][n] - found[b, q]).abs().sum()
                - 2 * giou(true[b][n], found[b, q])
                for n, q in enumerate(some)
            )

        every = itertools.permutations(range(queries), counts[b])
        least = min(float(cost(some)) for some in every)
        assert float(cost(chosen.tolist())) == pytest.approx(least)
        assert len(set(chosen.tolist())) == counts[b]


def test_pairs_do_not_hang_on_rounding():
    """In every case the second-best choice is clearly dearer, in an image of any cost."""
    seen = []

    def watch(logits, boxes, labels, true, weights=(1.0, 5.0, 2.0)):
        cost = HungarianMatcher(**dict(zip(("class_cost", "l1_cost", "giou_cost"), weights))).cost(
            logits.double(), boxes.double(), objects(labels, [x.double() for x in true])
        )
        for rows in cost.detach().split([len(one) for one in labels]):
            best = assign(rows)
            lowest = rows[torch.arange(len(rows)), best].sum()
            for n in range(len(rows)):
                other = rows.clone()
                other[n, best[n]] = 1e6
                second = assign(other)
                seen.append(float(other[torch.arange(len(rows)), second].sum() - lowest))
        return pair_up(logits, boxes, labels, true, weights)

    theirs = catalogue.references(ASSIGNMENT, pair_up=watch)
    for case in CASES["pair_up"]:
        assert observe(case.run, theirs).error is None
    assert len(seen) > 300 and min(seen) > 1e-5


def test_pairs_and_losses_are_those_of_transformers():
    theirs = pytest.importorskip("transformers.loss.loss_for_object_detection")
    logits, found, labels, true = crowd((3, 1, 5), 7, 4, 7)
    targets = [{"class_labels": c, "boxes": box} for c, box in zip(labels, true)]
    said = {"logits": logits, "pred_boxes": found}
    matcher = theirs.HungarianMatcher(class_cost=1, bbox_cost=5, giou_cost=2)
    pairs = RIGHT.pair_up(logits, found, labels, true)
    for mine, (queries, order) in zip(pairs, matcher(said, targets)):
        assert torch.equal(mine[order], queries)
    loss = theirs.ImageLoss(matcher, 4, 0.1, ["labels", "boxes"])(said, targets)
    expected = [loss[name] for name in ("loss_ce", "loss_bbox", "loss_giou")]
    torch.testing.assert_close(list(RIGHT.set_loss(logits, found, labels, true, pairs)), expected)


# --- set_loss


def test_the_set_loss_is_a_loop_over_queries():
    logits, found, labels, true = crowd((2, 0, 4), 5, 3, 9, dtype=DOUBLE)
    pairs = [torch.tensor([4, 1]), torch.tensor([], dtype=torch.int64), torch.tensor([2, 0, 3, 4])]
    paid = weights = far = apart = 0.0
    for b in range(3):
        owner = {int(q): n for n, q in enumerate(pairs[b])}
        for q in range(5):
            y = int(labels[b][owner[q]]) if q in owner else 3
            w = 1.0 if q in owner else 0.25
            paid, weights = paid - w * float(logits[b, q].log_softmax(-1)[y]), weights + w
            if q in owner:
                goal = true[b][owner[q]]
                far += sum(abs(float(x) - float(y)) for x, y in zip(goal, found[b, q]))
                apart += 1 - float(giou(goal, found[b, q]))
    result = RIGHT.set_loss(logits, found, labels, true, pairs, 0.25)
    assert [x.item() for x in result] == pytest.approx([paid / weights, far / 6, apart / 6])


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 99), st.randoms(use_true_random=False))
def test_a_set_has_no_order(seed, chance):
    """Queries in another order, with their numbers, or objects in another: the same losses."""
    logits, found, labels, true = crowd((4,), 6, 3, seed, dtype=DOUBLE)
    pairs = RIGHT.pair_up(logits, found, labels, true)
    losses = RIGHT.set_loss(logits, found, labels, true, pairs)
    order, mixed = list(range(6)), list(range(4))
    chance.shuffle(order), chance.shuffle(mixed)
    place = torch.tensor(order).argsort()
    turned = logits[:, order], found[:, order], [labels[0][mixed]], [true[0][mixed]]
    again = RIGHT.pair_up(*turned)
    assert torch.equal(again[0], place[pairs[0][mixed]])
    torch.testing.assert_close(RIGHT.set_loss(*turned, again), losses)


# --- ap_50


def placed(seed):
    """Return boxes whose overlaps are a detector's, and the assignment's four lists of them."""
    chance = torch.Generator().manual_seed(seed)
    found, truth = [], []
    for _ in range(6):
        n = int(torch.randint(5, (), generator=chance))
        true = 60 * torch.rand(n, 2, generator=chance)
        true = torch.cat([true, true + 8 + 20 * torch.rand(n, 2, generator=chance)], dim=1).double()
        label = torch.randint(3, (n,), generator=chance)
        twice = torch.cat([true, true, true[: n // 2], 20 + true[:1]])
        boxes = twice + 3 * torch.randn(twice.shape, generator=chance, dtype=DOUBLE)
        boxes[:, 2:] = torch.maximum(boxes[:, 2:], boxes[:, :2] + 1)
        said = torch.cat([label, label, label[: n // 2], label[:1]])
        said = torch.where(torch.rand(len(said), generator=chance) < 0.1, 3, said)
        scores = torch.rand(len(said), generator=chance)
        found.append(Objects(labels=said, boxes=boxes, scores=scores))
        truth.append(Objects(labels=label, boxes=true))
    lists = [
        [f.scores for f in found],
        [f.labels for f in found],
        [t.labels for t in truth],
        [iou(f.boxes[:, None], t.boxes) for f, t in zip(found, truth)],
    ]
    return found, truth, lists


@pytest.mark.parametrize("seed", range(12))
def test_ap_is_the_course_s_on_real_boxes(seed):
    found, truth, lists = placed(seed)
    table = average_precision(found, truth)
    curves = evaluate(found, truth).precision[:, :, :, 0, -1]
    for place, threshold in ((0, 0.5), (5, 0.75)):
        # levels are rounded in another way there; a recall of just a level may be a step beside it
        assert RIGHT.ap_50(*lists, threshold) == pytest.approx(curves[place].mean(), abs=0.02)
    assert table["AP50"] == pytest.approx(curves[0].mean())


def test_ap_is_pycocotools_s():
    coco, evaluation = (pytest.importorskip(f"pycocotools.{name}") for name in ("coco", "cocoeval"))
    found, truth, lists = placed(40)
    sheet = {"images": [{"id": b + 1} for b in range(len(found))], "annotations": []}
    sheet["categories"] = [{"id": c} for c in range(4)]
    results = []
    for b, (f, t) in enumerate(zip(found, truth), 1):
        for box, label in zip(t.boxes.tolist(), t.labels.tolist()):
            flat = [box[0], box[1], box[2] - box[0], box[3] - box[1]]
            row = {"image_id": b, "category_id": label, "bbox": flat, "iscrowd": 0}
            number = len(sheet["annotations"]) + 1
            sheet["annotations"].append(row | {"id": number, "area": flat[2] * flat[3]})
        for box, label, score in zip(f.boxes.tolist(), f.labels.tolist(), f.scores.tolist()):
            flat = [box[0], box[1], box[2] - box[0], box[3] - box[1]]
            results.append({"image_id": b, "category_id": label, "bbox": flat, "score": score})
    with contextlib.redirect_stdout(io.StringIO()):
        book = coco.COCO()
        book.dataset = sheet
        book.createIndex()
        run = evaluation.COCOeval(book, book.loadRes(results), "bbox")
        run.evaluate(), run.accumulate(), run.summarize()
    assert RIGHT.ap_50(*lists) == pytest.approx(run.stats[1], abs=0.01)


def test_no_recall_of_a_case_lies_on_a_level_where_rounding_decides():
    """0 and 1 are exact in every way of counting; 57 of 100 is not."""
    counts = []

    def watch(scores, labels, true_labels, overlaps, threshold=0.5):
        counts.extend(torch.cat(true_labels).unique(return_counts=True)[1].tolist())
        every = torch.cat(scores)
        assert len(every.unique()) == len(every)
        for overlap in overlaps:
            for row in overlap.tolist():
                able = [x for x in row if x >= threshold]
                assert len(set(able)) == len(able)
        return ap_50(scores, labels, true_labels, overlaps, threshold)

    theirs = catalogue.references(ASSIGNMENT, ap_50=watch)
    for case in CASES["ap_50"]:
        assert observe(case.run, theirs).error is None, case.says
    risky = [n for n in counts if any(100 * k % n == 0 for k in range(1, n))]
    assert counts and not risky


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 999))
def test_ap_looks_at_the_order_of_the_scores_alone(seed):
    scores, labels, true, overlaps = hunt((3, 7), 4, seed)
    value = RIGHT.ap_50(scores, labels, true, overlaps)
    assert 0 <= value <= 1
    stretched = [torch.exp(3 * x.double()) for x in scores]
    assert RIGHT.ap_50(stretched, labels, true, overlaps) == value
    turned = [part[::-1] for part in (scores, labels, true, overlaps)]
    assert RIGHT.ap_50(*turned) == pytest.approx(value)


# --- places_2d


@settings(deadline=None)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 4), st.integers(1, 4))
def test_padding_changes_nothing_within_the_picture(rows, columns, more, quarter):
    keep = torch.zeros(1, rows + more, columns + 2 * more, dtype=torch.bool)
    keep[:, :rows, :columns] = True
    alone = RIGHT.places_2d(torch.ones(1, rows, columns, dtype=torch.bool), 4 * quarter, 20)
    inside = RIGHT.places_2d(keep, 4 * quarter, 20)[:, :rows, :columns]
    torch.testing.assert_close(inside, alone)
    turned = RIGHT.places_2d(keep.mT, 4 * quarter, 20).transpose(1, 2)
    torch.testing.assert_close(turned.roll(2 * quarter, -1)[:, :rows, :columns], alone)


@pytest.mark.parametrize("temperature", [1, 20.0, 10_000])
def test_places_are_the_formula_place_by_place(temperature):
    keep, width = randn(1, 4, 5, seed=3) > -0.3, 12
    found = RIGHT.places_2d(keep, width, temperature)[0]
    for i, j in itertools.product(range(4), range(5)):
        column, row = keep[0, :, j].tolist(), keep[0, i].tolist()
        numbers = []
        for upto, line in ((i, column), (j, row)):
            x = 2 * math.pi * sum(line[: upto + 1]) / sum(line) if any(line) else 0.0
            for n in range(width // 4):
                angle = x * temperature ** (-2 * n / (width // 2))
                numbers += [math.sin(angle), math.cos(angle)]
        assert found[i, j].tolist() == pytest.approx(numbers, abs=1e-5)
