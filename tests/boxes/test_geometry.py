"""Boxes: two forms, IoU and GIoU by their laws and by counting pixels, suppression, bad input."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.boxes.geometry import (
    Objects,
    area,
    check_centres,
    generalized_iou,
    intersection,
    iou,
    non_maximum_suppression,
    to_centres,
    to_corners,
)


def corners(*rows) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.double)


@st.composite
def boxes(draw, least: float = 0.0) -> torch.Tensor:
    """Draw one box, corners; sides are at least `least` long and may be 0."""
    x, y = (draw(st.floats(-50, 50)) for _ in range(2))
    sides = st.floats(least, 50) if least else st.one_of(st.just(0.0), st.floats(1e-3, 50))
    return corners([x, y, x + draw(sides), y + draw(sides)])[0]


@st.composite
def integer_boxes(draw) -> list[int]:
    x, y = (draw(st.integers(0, 8)) for _ in range(2))
    return [x, y, x + draw(st.integers(0, 6)), y + draw(st.integers(0, 6))]


@given(boxes())
def test_the_two_forms_are_inverse(box):
    torch.testing.assert_close(to_corners(to_centres(box)), box, atol=1e-12, rtol=1e-12)
    centre = to_centres(box)
    assert centre[2] >= 0 and centre[3] >= 0
    torch.testing.assert_close(to_centres(to_corners(centre)), centre, atol=1e-12, rtol=1e-12)


def test_the_two_forms_by_hand():
    assert to_corners(corners([5, 3, 4, 2])).tolist() == [[3, 2, 7, 4]]
    assert to_centres(corners([3, 2, 7, 4])).tolist() == [[5, 3, 4, 2]]
    assert area(corners([3, 2, 7, 4])).tolist() == [8]


@given(integer_boxes(), integer_boxes())
def test_areas_are_what_counting_pixels_gives(a, b):
    def pixels(box):
        return {(x, y) for x in range(box[0], box[2]) for y in range(box[1], box[3])}

    hull = [min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])]
    either, both = len(pixels(a) | pixels(b)), len(pixels(a) & pixels(b))
    x, y = corners(a)[0], corners(b)[0]
    assert intersection(x, y) == both and area(x) == len(pixels(a))
    expected = both / either if either else 0.0
    assert iou(x, y).item() == pytest.approx(expected)
    size = len(pixels(hull))
    empty = (size - either) / size if size else 0.0
    assert generalized_iou(x, y).item() == pytest.approx(expected - empty)


@given(boxes(), boxes())
def test_bounds_and_symmetry(a, b):
    overlap, generalized = iou(a, b), generalized_iou(a, b)
    assert 0 <= overlap <= 1 + 1e-12 and -1 - 1e-12 <= generalized <= overlap + 1e-12
    torch.testing.assert_close(generalized, generalized_iou(b, a), atol=1e-12, rtol=0)
    torch.testing.assert_close(overlap, iou(b, a), atol=1e-12, rtol=0)


@given(boxes(least=0.1), boxes(least=0.1), st.floats(-20, 20), st.floats(0.01, 100))
def test_moving_and_scaling_both_boxes_changes_nothing(a, b, shift, scale):
    for measure in (iou, generalized_iou):
        expected = measure(a, b)
        for x, y in ((a + shift, b + shift), (a * scale, b * scale)):
            torch.testing.assert_close(measure(x, y), expected, atol=1e-9, rtol=0)


@given(boxes(least=0.1), st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_where_one_box_holds_the_other_the_hull_is_it_and_both_measures_agree(outer, cut):
    low, high = torch.tensor(sorted(cut[:2])), torch.tensor(sorted(cut[2:]))
    size = outer[2:] - outer[:2]
    inner = torch.stack([
        outer[0] + low[0] * size[0], outer[1] + high[0] * size[1],
        outer[0] + low[1] * size[0], outer[1] + high[1] * size[1],
    ])  # fmt: skip
    torch.testing.assert_close(
        generalized_iou(inner, outer), iou(inner, outer), atol=1e-9, rtol=1e-9
    )


def test_giou_still_falls_where_iou_is_blind():
    here = corners([0, 0, 1, 1])[0]
    apart = [corners([gap, 0, gap + 1, 1])[0] for gap in (2, 3, 9)]
    assert [iou(here, there).item() for there in apart] == [0, 0, 0]
    found = [generalized_iou(here, there).item() for there in apart]
    assert found == pytest.approx([-1 / 3, -2 / 4, -8 / 10])
    assert generalized_iou(here, here) == 1


def test_it_broadcasts():
    a, b = torch.rand(2, 3, 1, 4).double(), torch.rand(5, 4).double()
    a, b = to_corners(a), to_corners(b)
    found = generalized_iou(a, b)
    assert found.shape == (2, 3, 5)
    assert found[1, 2, 4] == generalized_iou(a[1, 2, 0], b[4])
    assert iou(a[:, :, 0, None][:0], b).shape == (0, 3, 5)


def test_boxes_without_area_give_0_and_finite_gradients():
    point, line, square = corners([1, 1, 1, 1], [0, 0, 2, 0], [0, 0, 2, 2])
    assert iou(point, point) == 0 and generalized_iou(point, point) == 0
    assert iou(line, line) == 0 and generalized_iou(line, line) == 0
    assert iou(point, square) == 0 and generalized_iou(point, square) == 0
    assert generalized_iou(point, point + 3) == -1  # the hull is all empty
    box = point.clone().requires_grad_()
    (generalized_iou(box, point) + generalized_iou(box, line) + iou(box, square)).backward()
    assert box.grad.isfinite().all()


def test_gradients():
    a = corners([0.1, 0.2, 0.9, 0.7], [0.0, 0.0, 0.3, 0.4]).requires_grad_()
    b = corners([0.3, 0.1, 0.8, 1.0], [0.5, 0.6, 0.9, 0.8]).requires_grad_()
    assert torch.autograd.gradcheck(generalized_iou, (a, b))
    assert torch.autograd.gradcheck(iou, (a, b))


def brute_force_suppression(boxes, scores, threshold):
    left = sorted(range(len(scores)), key=lambda i: -scores[i])
    stays = []
    while left:
        best = left.pop(0)
        stays.append(best)
        left = [i for i in left if not iou(boxes[i], boxes[best]) > threshold]
    return stays


@given(st.lists(integer_boxes(), max_size=8), st.floats(0, 1), st.randoms())
def test_suppression_equals_the_definition(rows, threshold, random):
    boxes = corners(*rows) if rows else torch.zeros(0, 4, dtype=torch.double)
    scores = torch.tensor([random.choice([0.1, 0.5, 0.9]) for _ in rows], dtype=torch.double)
    found = non_maximum_suppression(boxes, scores, threshold)
    assert found.tolist() == brute_force_suppression(boxes, scores.tolist(), threshold)


def test_suppression_by_hand():
    boxes = corners([0, 0, 10, 10], [0, 1, 10, 11], [20, 0, 30, 10], [0, 2, 10, 12])
    scores = torch.tensor([0.8, 0.9, 0.1, 0.7]).double()
    assert non_maximum_suppression(boxes, scores).tolist() == [1, 2]
    # A box that was removed itself removes nothing: 0 is gone, so 3 stays beside 1.
    assert non_maximum_suppression(boxes, scores, 9 / 11).tolist() == [1, 0, 3, 2]
    boxes = corners([0, 0, 10, 10], [0, 3, 10, 13], [0, 6, 10, 16])
    assert non_maximum_suppression(boxes, torch.tensor([3.0, 2, 1]), 0.5).tolist() == [0, 2]


def test_objects_in_pixels():
    objects = Objects(
        labels=torch.tensor([3]),
        boxes=torch.tensor([[0.5, 0.5, 0.2, 0.4]]),
        scores=torch.tensor([0.7]),
        areas=torch.tensor([0.05]),
    )
    pixels = objects.in_pixels(height=50, width=200)
    torch.testing.assert_close(pixels.boxes, torch.tensor([[80.0, 15.0, 120.0, 35.0]]))
    torch.testing.assert_close(pixels.areas, torch.tensor([500.0]))
    assert pixels.scores.item() == pytest.approx(0.7) and pixels.labels.tolist() == [3]
    assert len(objects) == 1


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: iou(corners([1, 0, 0, 1]), corners([0, 0, 1, 1])), ValueError,
         r"a must be corners .* found \[1.0, 0.0, 0.0, 1.0\]"),
        (lambda: generalized_iou(corners([0, 0, 1, 1]), corners([0, 2, 1, 1])), ValueError,
         r"b must be corners \(x1, y1, x2, y2\) with x1 ≤ x2 and y1 ≤ y2"),
        (lambda: iou(corners([0, 0, math.nan, 1]), corners([0, 0, 1, 1])), ValueError, "nan"),
        (lambda: check_centres(corners([0.5, 0.5, -0.1, 0.1])), ValueError, r"found .*-0.1"),
        (lambda: check_centres(corners([0.5, 1.5, 0.1, 0.1])), ValueError, "between 0 and 1"),
        
    ],
)  # fmt: skip
def test_bad_input_gets_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
