"""The pictures of "DETR" show what they are given."""

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from coursekit.boxes.geometry import Objects
from coursekit.figures.detr import (
    FOUND,
    TRUE,
    by_query,
    detections,
    influence,
    moments,
    over_steps,
    pairing,
    paths,
    precision_recall,
    same_distance,
    sine_channels,
    sliding,
    where_it_looks,
    whole_model,
)

A, B = torch.tensor([0.1, 0.2, 0.4, 0.5]), torch.tensor([0.5, 0.2, 0.9, 0.8])
PICTURE = torch.arange(3 * 16 * 16).view(3, 16, 16).remainder(256).to(torch.uint8)


def boxes(axis, colour):
    """Corners of the frames of one colour."""
    ends = [
        (*p.get_xy(), p.get_x() + p.get_width(), p.get_y() + p.get_height())
        for p in axis.patches
        if not p.get_fill() and to_hex(p.get_edgecolor()) == to_hex(colour)
    ]
    return torch.tensor(ends).float().view(-1, 4)


def words(axis):
    return [text.get_text() for text in axis.texts]


def some_objects(count):
    low = torch.rand(count, 2) * 8
    return Objects(
        labels=torch.arange(count) % 2,
        boxes=torch.cat([low, low + 2 + 4 * torch.rand(count, 2)], dim=1),
        scores=torch.linspace(1, 0.5, count),
    )


def test_true_and_guessed_boxes_stand_where_they_are():
    first, second, empty, _ = same_distance([(A, B), (B, A), (A, A)], ["a", "b", "c"]).axes
    torch.testing.assert_close(boxes(first, TRUE), A[None])
    torch.testing.assert_close(boxes(first, FOUND), B[None])
    torch.testing.assert_close(boxes(second, TRUE), B[None])
    assert [axis.get_title() for axis in (first, second, empty)] == ["a", "b", "c"]
    assert first.yaxis.get_inverted()  # rows are counted from above


def test_lines_join_the_pairs():
    truth, guesses = torch.stack([A, B]), torch.stack([B, A, A])
    top, below = pairing(
        truth,
        guesses,
        ["cat", "dog"],
        ["cat", "cat", "dog"],
        {"x": [(0, 1)], "y": [(1, 2), (0, 0)]},
    ).axes
    assert [line.get_xydata().round(3).tolist() for line in top.lines] == [[[0.25, 0.35]] * 2]
    ends = [line.get_xydata().round(3).tolist() for line in below.lines]
    assert ends == [[[0.7, 0.5], [0.25, 0.35]], [[0.25, 0.35], [0.7, 0.5]]]
    assert words(top) == ["cat", "dog", "1: cat", "2: cat", "3: dog"]
    torch.testing.assert_close(boxes(below, FOUND), guesses)


def test_curves_are_those_given():
    axis = sliding([0, 0.5, 1], {"IoU": [1, 0, 0], "GIoU": [1, 0, -0.5]}, 0.5, xlabel="far").axes[0]
    assert axis.lines[1].get_ydata().tolist() == [1, 0, -0.5]
    rows = [{"step": 1, "AP": 0.1, "AP50": 0.3}, {"step": 5, "AP": 0.2, "AP50": 0.6}]
    axis = over_steps(rows, {"AP50": "AP50", "AP": "AP"}).axes[0]
    assert axis.lines[0].get_xydata().tolist() == [[1, 0.3], [5, 0.6]]
    one, two = paths({"a": [[0.1, 0.9], [0.2, 0.8]], "b": [[0.5, 0.5]] * 2}, [0.3], ylabel="x").axes
    lines = {line.get_label(): list(line.get_ydata()) for line in one.lines}
    assert lines["query 1"] == [0.1, 0.2] and lines["query 2"] == [0.9, 0.8]
    assert (
        list(two.lines[0].get_ydata()) == [0.3, 0.3]
        and two.lines[1].get_ydata().tolist() == [0.5] * 2
    )
    axis = precision_recall({"raw": ([0, 1], [1, 0.5]), "best": ([0, 1], [1, 1])}, dots="raw").axes[
        0
    ]
    assert [line.get_linestyle() for line in axis.lines] == ["None", "-"]
    assert axis.lines[1].get_ydata().tolist() == [1, 1]


def test_maps_are_those_given():
    encoding = torch.rand(4, 4, 8)
    first, second = sine_channels(encoding, {"row": 0, "column": 5}).axes[:2]
    assert np.allclose(first.images[0].get_array(), encoding[..., 0])
    assert np.allclose(second.images[0].get_array(), encoding[..., 5])
    left, right = influence({"a": torch.eye(3), "b": torch.ones(3, 3)}, xlabel="x", ylabel="y").axes
    assert np.array_equal(left.images[0].get_array(), np.eye(3)) and right.get_title() == "b"


def test_attention_lies_on_the_picture_where_it_belongs():
    table = torch.zeros(4, 4)
    table[1, 2] = 0.5
    looks = {"a": (torch.tensor([4.0, 5.0, 8.0, 9.0]), table)}
    axis = where_it_looks(PICTURE, looks).axes[0]
    ground, shade = axis.images
    assert list(ground.get_extent()) == list(shade.get_extent()) == [0, 16, 16, 0]
    strength = np.asarray(shade.get_alpha())
    assert strength[1, 2] == pytest.approx(0.9) and strength.sum() == pytest.approx(0.9)
    torch.testing.assert_close(boxes(axis, TRUE), torch.tensor([[4.0, 5.0, 8.0, 9.0]]))
    axis = where_it_looks(PICTURE, {"a": (torch.tensor([3.0, 7.0]), table)}, points=True).axes[0]
    assert axis.lines[0].get_xydata().tolist() == [[3, 7]]


def test_the_matched_query_stands_on_its_box():
    truth = torch.tensor([[1.0, 1.0, 5.0, 5.0], [8.0, 8.0, 12.0, 12.0]])
    axis = moments(PICTURE, truth, {"step 0": [(7, truth[1]), (3, truth[0])]}).axes[0]
    assert words(axis) == ["7", "3"]
    # on the object, not on the box that may lie in a heap with others
    assert [text.get_position() for text in axis.texts] == [(3, 3), (10, 10)]
    torch.testing.assert_close(boxes(axis, FOUND), truth.flip(0))
    torch.testing.assert_close(boxes(axis, "white"), truth)
    assert axis.lines[0].get_xydata().tolist() == [[3, 3], [10, 10]]


def test_what_was_found_is_named_with_its_score():
    torch.manual_seed(0)
    found, truth = some_objects(3), some_objects(2)
    figure = detections([PICTURE], [found], ["cat", "dog"], truth=[truth], titles=["here"])
    axis = figure.axes[0]
    assert words(axis) == ["cat 100", "dog 75", "cat 50"] and axis.get_title() == "here"
    torch.testing.assert_close(boxes(axis, FOUND), found.boxes)
    torch.testing.assert_close(boxes(axis, "white"), truth.boxes)
    assert np.array_equal(axis.images[0].get_array(), PICTURE.permute(1, 2, 0))


def test_boxes_without_scores_are_refused():
    bare = Objects(labels=torch.zeros(1).long(), boxes=A[None] * 16)
    with pytest.raises(ValueError, match="boxes of picture 0 need scores"):
        detections([PICTURE], [bare], ["cat"])


def test_labels_of_boxes_that_meet_do_not_cover_each_other():
    """Two boxes on one object: the second label moves out of the way of the first."""
    one = torch.tensor([[4.0, 6.0, 11.0, 12.0], [4.2, 6.1, 11.0, 12.0], [4.1, 6.2, 10.0, 12.0]])
    found = Objects(labels=torch.zeros(3).long(), boxes=one, scores=torch.tensor([0.9, 0.8, 0.7]))
    figure = detections([PICTURE], [found], ["dog"])
    figure.draw_without_rendering()
    grounds = [text.get_bbox_patch().get_window_extent() for text in figure.axes[0].texts]
    for n, ground in enumerate(grounds):
        assert not any(ground.overlaps(other) for other in grounds[:n])
        assert figure.axes[0].get_window_extent().padded(3).containsx(ground.x0)


def test_boxes_of_a_query_stand_in_its_panel():
    centres = {0: torch.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), 5: torch.zeros(1, 2)}
    first, second, *_ = by_query(centres).axes
    (group,) = first.collections
    assert group.get_offsets().round(3).tolist() == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    assert second.get_title() == "query 5" and len(second.collections[0].get_offsets()) == 1


GUESSES = [("no object", None), ("cat 100%", torch.tensor([4.0, 4.0, 8.0, 12.0]))] * 6
SIZES = {"grid": (8, 8), "width": 96, "classes": 12, "depth": 2}


def test_the_whole_model_has_each_part_and_says_where_positions_are_added():
    axis = whole_model(PICTURE, GUESSES, **SIZES).axes[0]
    said = words(axis)
    assert said.count("self-attention") == 2 and said.count("feed-forward") == 2
    assert {"cross-attention", "ResNet", "encoder, 2 times", "decoder, 2 times"} <= set(said)
    assert {"+ sines to q, k", "+ sines to k", "+ object queries to q, k"} <= set(said)
    assert {"class (12, 13)", "box (12, 4)", "8 × 8 cells\n(64, 96)"} <= set(said)
    assert said.count("0: no object") == 1 and said.count("11: cat 100%") == 1
    ends = boxes(axis, FOUND)  # a quarter of the picture's width, a half of its height
    assert len(ends) == 6
    width, height = (ends[0, 2:] - ends[0, :2]).tolist()
    assert height == pytest.approx(2 * width, rel=1e-4)


def spread(count):
    """Boxes of kinds with short names that are apart."""
    corners = torch.tensor([[1.0, 4.0, 5.0, 8.0], [1.0, 10.0, 5.0, 14.0], [9.0, 7.0, 13.0, 11.0]])
    return Objects(
        labels=torch.arange(count), boxes=corners[:count], scores=torch.linspace(0.9, 0.5, count)
    )


TABLES = {name: torch.ones(3, 3) for name in ("DETR", "a translator", "one more")}
DRAWINGS = {
    "whole_model": lambda: whole_model(PICTURE, GUESSES, **SIZES),
    "same_distance": lambda: same_distance(
        [(A, B)] * 6, [f"moved to the right: IoU 0.{n}" for n in range(6)]
    ),
    "sliding": lambda: sliding(
        [0, 0.6], {"IoU": [1, 0], "GIoU": [1, -1], "−L1": [0, 0]}, 0.2, xlabel="x"
    ),
    "pairing": lambda: pairing(
        torch.stack([A, B]), torch.stack([A + 0.2, B - 0.15]), ["cat", "dog"],
        ["cat", "nothing"], {"greedy": [(0, 0)], "Hungarian": [(0, 1)]},
    ),
    "paths": lambda: paths(
        {f"panel {n}": torch.rand(9, 2) for n in range(3)}, [0.3], ylabel="centre x"
    ),
    "sine_channels": lambda: sine_channels(
        torch.rand(4, 4, 8), {f"column, sine, fast{n}": n for n in range(4)}
    ),
    "over_steps": lambda: over_steps([{"step": s, "AP": 0.1} for s in (0, 7000)], {"AP": "AP"}),
    "moments": lambda: moments(
        PICTURE, spread(3).boxes,
        {f"step {n:,}": list(enumerate(spread(3).boxes)) for n in (0, 350, 7000)},
    ),
    "detections": lambda: detections(
        [PICTURE] * 2, [spread(3)] * 2, ["bicycle", "banana", "football"]
    ),
    "precision_recall": lambda: precision_recall(
        {f"best, IoU {n}": ([0, 1], [1, 1]) for n in range(3)}
    ),
    "where_it_looks": lambda: where_it_looks(
        PICTURE, {f"from the bicycle {n}": (A * 16, torch.rand(8, 8)) for n in range(6)}
    ),
    "by_query": lambda: by_query({n: torch.rand(9, 2) for n in range(12)}),
    "influence": lambda: influence(TABLES, xlabel="input", ylabel="output"),
}  # fmt: skip
