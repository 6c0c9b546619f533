"""The pictures of "ViT" show what they are given: each test fails if it drew a wrong thing."""

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from coursekit.figures import COLOURS
from coursekit.figures.vit import (
    by_operations,
    by_pictures,
    distances,
    filters,
    looks,
    place_maps,
    reading_order,
    rearranged,
)

LINES = {"ResNet": {500: [0.8, 0.82], 8976: [0.88, 0.89]}, "ViT": {500: [0.7, 0.74], 8976: [0.8]}}
PICTURES = torch.arange(2 * 8 * 8.0).view(2, 8, 8)
MAPS = torch.rand(7, 7, 7, 7, generator=torch.Generator().manual_seed(0))
FILTERS = torch.linspace(-2, 1, 9 * 16).view(9, 4, 4)
SHARES = torch.linspace(0.4, 0.01, 9)


def patched():
    return rearranged([(p, p.flip(0)) for p in PICTURES], ["bag", "ankle boot"], 4)


def mapped():
    return place_maps(MAPS)


def rolled_out():
    return looks(PICTURES, [("roll-out", MAPS[0, :2])], ["bag", "ankle boot"])


DRAWINGS = {
    "reading_order": lambda: reading_order((4, 4), 2),
    "by_pictures": lambda: by_pictures(LINES),
    "by_operations": lambda: by_operations({"ResNet": {0.2: [0.8, 0.82], 1.2: [0.9]}}),
    "filters": lambda: filters(FILTERS, SHARES),
    "distances": lambda: distances([[1.0, 2.0], [3.0, 4.0]], 9.5, fresh=[[9.0, 9.1], [9.2, 9.3]]),
}


def drawn(axis):
    return np.asarray(axis.images[0].get_array())


def test_pictures_stand_above_what_became_of_them():
    figure = patched()
    top, bottom = np.array(figure.axes).reshape(2, 2)
    for number, picture in enumerate(PICTURES):
        assert np.array_equal(drawn(top[number]), picture)
        assert np.array_equal(drawn(bottom[number]), picture.flip(0))
        assert drawn(bottom[number]).min() >= bottom[number].images[0].get_clim()[0]
        assert list(bottom[number].get_xticks(minor=True)) == [3.5]
    assert [axis.get_title() for axis in top] == ["bag", "ankle boot"]
    assert [top[0].get_ylabel(), bottom[0].get_ylabel()] == ["as it is", "rearranged"]


def test_each_patch_has_one_colour_and_its_numbers_in_order():
    left, right = DRAWINGS["reading_order"]().axes
    assert [text.get_text() for text in left.texts] == [str(n) for n in range(16)]
    order = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]
    assert [int(text.get_text()) for text in right.texts] == order
    colours = [bar.get_facecolor()[:3] for bar in right.patches]
    names = ("sky", "orange", "green", "purple")
    assert colours == [to_rgb(COLOURS[name]) for name in names for _ in range(4)]
    assert left.patches[6].get_facecolor()[:3] == to_rgb(COLOURS["orange"])  # 6 is in the second


def test_lines_are_means_and_marks_are_seeds():
    (axis,) = DRAWINGS["by_pictures"]().axes
    assert axis.get_xscale() == "log" and list(axis.get_xticks()) == [500, 8976]
    first, *_ = axis.lines
    handles, labels = axis.get_legend_handles_labels()
    assert labels == ["ResNet", "ViT"]
    assert [handle.get_marker() for handle in handles] == ["o", "s"]  # which marks are whose
    assert handles[0].get_color() == first.get_color()
    assert first.get_xydata().tolist() == [[500, pytest.approx(81)], [8976, pytest.approx(88.5)]]
    lines = [line.get_xydata().tolist() for line in axis.lines if line.get_linestyle() == "None"]
    marks = [tuple(mark) for line in lines for mark in line]
    assert (500, pytest.approx(70)) in marks and len(marks) == 7


def test_operations_are_drawn_at_their_number_with_all_seeds():
    (axis,) = DRAWINGS["by_operations"]().axes
    lines = [line.get_xydata().tolist() for line in axis.lines if line.get_linestyle() == "None"]
    marks = [tuple(mark) for line in lines for mark in line]
    assert marks == [(0.2, pytest.approx(80)), (0.2, pytest.approx(82)), (1.2, pytest.approx(90))]
    assert axis.get_xscale() == "log" and "10¹²" in axis.get_xlabel()


def test_filters_have_one_scale_and_their_shares():
    figure = DRAWINGS["filters"]()
    shown = [axis for axis in figure.axes if axis.images]
    assert len(shown) == 9 and len(figure.axes) == 14
    for axis, one, share in zip(shown, FILTERS, SHARES, strict=True):
        assert np.array_equal(drawn(axis), one)
        assert axis.images[0].get_clim() == (-2, 2)
        assert axis.get_title() == f"{100 * float(share):.1f}%"


def test_each_map_stands_where_its_patch_stands():
    axes = np.array(mapped().axes[:49]).reshape(7, 7)
    for row, column in ((0, 0), (2, 5), (6, 1)):
        assert np.array_equal(drawn(axes[row, column]), MAPS[row, column])
        assert axes[row, column].images[0].get_clim() == (-1, 1)


def test_heads_stand_at_their_layer():
    (axis,) = DRAWINGS["distances"]().axes
    points = [line.get_xydata().tolist() for line in axis.lines]
    assert points[:2] == [[[1, 1.0], [1, 2.0]], [[2, 3.0], [2, 4.0]]]
    assert points[2] == [[1.12, 9.0], [1.12, 9.1]]
    assert list(axis.lines[-1].get_ydata()) == [9.5, 9.5]
    assert axis.get_ylim() == (0, pytest.approx(1.1 * 9.5))
    alone = distances([[1.0]], 2.0).axes[0]
    assert [line.get_label() for line in alone.lines] == ["a head", "all patches alike"]


def test_maps_stand_below_their_pictures():
    figure = rolled_out()
    axes = np.array(figure.axes).reshape(2, 2)
    assert np.array_equal(drawn(axes[0, 1]), PICTURES[1])
    assert np.array_equal(drawn(axes[1, 1]), MAPS[0, 1])
    assert axes[1, 0].images[0].get_clim() == (0, float(MAPS[0, :2].max()))
    assert axes[1, 0].get_ylabel() == "roll-out" and axes[0, 1].get_title() == "ankle boot"
