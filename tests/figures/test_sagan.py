"""The pictures of "Attention in images" show what they are given."""

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from coursekit.figures import COLOURS
from coursekit.figures.sagan import (
    agreement,
    by_count,
    canvas_rows,
    drawn_module,
    fields,
    game,
    networks,
    over_steps,
    where_it_looks,
)


def strips(count):
    return torch.linspace(-1, 1, count * 8 * 24).view(count, 8, 24)


def images(figure):
    return [axis.images[0].get_array().data for axis in figure.axes if axis.images]


PANELS = {
    "alike (%)": {
        "attention": [[{"step": 0, "value": 1.0}, {"step": 9, "value": 5.0}],
                      [{"step": 0, "value": 2.0}, {"step": 9, "value": 6.0}]],
        "nothing": [[{"step": 0, "value": 3.0}, {"step": 9, "value": 4.0}]],
    },
    "kinds": {"nothing": [[{"step": 0, "value": 7.0}, {"step": 9, "value": 8.0}]]},
}  # fmt: skip


def test_canvases_stand_in_rows_under_their_names():
    figure = canvas_rows({"real": strips(6), "painted": -strips(3)}, columns=4)
    shown = images(figure)
    assert len(shown) == 9
    for found, wanted in zip(shown, [*strips(6), *(-strips(3))], strict=True):
        np.testing.assert_array_equal(found, wanted)
    visible = [axis.get_visible() for axis in figure.axes]
    assert visible == [True] * 4 + [True] * 2 + [False] * 2 + [True] * 3 + [False]
    named = {
        number: axis.texts[0].get_text() for number, axis in enumerate(figure.axes) if axis.texts
    }
    assert named == {0: "real", 8: "painted"}
    figure.draw_without_rendering()
    first, second = (axis.get_window_extent().x0 for axis in figure.axes[:2])
    long = canvas_rows({"a name that is longer than one picture is wide": strips(6)}, columns=4)
    long.draw_without_rendering()
    assert [axis.get_window_extent().x0 for axis in long.axes[:2]] == pytest.approx([first, second])
    assert all(axis.images[0].get_clim() == (-1, 1) for axis in figure.axes if axis.images)


def test_fields_mark_the_place_and_what_it_sees():
    mask = torch.zeros(4, 12, dtype=torch.bool)
    mask[1:3, 2:6] = True
    figure = fields({"near": (mask, (1, 3)), "far": (~mask, (3, 11))})
    for axis, wanted, place in zip(figure.axes, (mask, ~mask), ((1, 3), (3, 11)), strict=True):
        shown = axis.collections[0].get_array().reshape(4, 12)
        np.testing.assert_array_equal(shown, wanted.float())
        assert (axis.lines[0].get_ydata()[0], axis.lines[0].get_xdata()[0]) == place
        assert axis.yaxis_inverted()
    assert [axis.get_title("left") for axis in figure.axes] == ["near", "far"]


def test_looks_stand_beside_their_canvas():
    canvas, weights = strips(1)[0], torch.rand(4, 12)
    figure = where_it_looks(canvas, {"left": ((2, 1), weights), "right": ((1, 10), 1 - weights)})
    shown = images(figure)
    for pair, wanted in zip((shown[:2], shown[2:]), (weights, 1 - weights), strict=True):
        np.testing.assert_array_equal(pair[0], canvas)
        np.testing.assert_allclose(pair[1], 100 * wanted)
    panels = figure.axes[:4]  # behind them stands the bar of their common scale
    marks = [(axis.lines[0].get_ydata()[0], axis.lines[0].get_xdata()[0]) for axis in panels]
    assert marks == [(4.5, 2.5), (2, 1), (2.5, 20.5), (1, 10)]
    top = 100 * max(weights.max(), (1 - weights).max()).item()
    assert [axis.images[0].get_clim() for axis in panels[1::2]] == [pytest.approx((0, top))] * 2
    assert figure.axes[4].get_xlabel() == "weight (%)"


def test_an_arm_has_one_look_in_all_panels_and_each_seed_a_line():
    figure = over_steps(PANELS, floors={"kinds": 10.0})
    first, second = figure.axes
    assert [line.get_ydata()[1] for line in first.lines] == [5.0, 6.0, 4.0]
    assert first.lines[0].get_color() == first.lines[1].get_color() == COLOURS["blue"]
    assert first.lines[2].get_color() == second.lines[0].get_color()
    assert to_rgb(first.lines[2].get_color()) != to_rgb(first.lines[0].get_color())
    assert second.lines[1].get_ydata()[0] == 10.0 and len(first.lines) == 3
    assert [text.get_text() for text in figure.legends[0].texts] == ["attention", "nothing"]
    assert first.get_ylim()[0] == second.get_ylim()[0] == 0
    with pytest.raises(ValueError, match="at most 4 arms can be told apart, found 5"):
        over_steps({"x": {arm: [[{"step": 0, "value": 1.0}]] for arm in "abcde"}})


def test_agreement_stands_beside_chance():
    (axis,) = agreement({"attention": [(0.75, 0.1), (0.8, 0.2)], "nothing": [(0.4, 0.4)]}).axes
    chances, alike = ([line.get_xdata()[0] for line in axis.lines[n::3]] for n in (1, 2))
    assert chances == [10, 20, 40] and alike == [75, 80, 40]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["attention", "nothing"]


def words(figure):
    return " ".join(text.get_text() for text in figure.axes[0].texts if text.get_text())


def test_the_game_shows_its_example_and_both_losses():
    figure = game(*strips(2), (0.5, -0.25))
    painted, real = (image.get_array().data for image in figure.axes[0].images[1:])
    np.testing.assert_array_equal(painted, strips(2)[1])
    np.testing.assert_array_equal(real, strips(2)[0])
    said = words(figure)
    assert "D(x) = 0.5" in said and "D(G(z)) = -0.25" in said
    assert "L_D = 1.25" in said and "L_G = 0.25" in said  # 0.5 + 0.75


def test_the_module_has_the_shapes_of_its_map():
    weights = torch.rand(4, 12)
    figure = drawn_module(weights, (2, 1), channels=32)
    np.testing.assert_array_equal(figure.axes[0].images[1].get_array().data, weights)
    for shape in ("(48, 4)", "(48, 48)", "(48, 32)"):
        assert shape in words(figure)


def test_networks_stand_side_by_side():
    layers = {"one": [("", "(B, 2)"), ("dense", "(B, 3)")], "two": [("", "(B, 1)")]}
    figure = networks(layers, marked="dense")
    assert words(figure) == "one (B, 2) dense (B, 3) two (B, 1)"


def test_distances_over_counts():
    figure = by_count({"real": ([10, 100, 1000], [5.0, 0.5, 0.05])}, ylabel="distance")
    (axis,) = figure.axes
    assert axis.lines[0].get_xydata().tolist() == [[10, 5.0], [100, 0.5], [1000, 0.05]]
    assert axis.get_xscale() == axis.get_yscale() == "log" and axis.get_ylabel() == "distance"


STEPS = [("", "noise (B, 2, 32)"), ("4 × 4 convolution, stride 2", "(B, 32, 4, 12)")]
DRAWINGS = {
    "over_steps": lambda: over_steps(PANELS),
    "game": lambda: game(*strips(2), (0.5, -0.5)),
    "drawn_module": lambda: drawn_module(torch.rand(4, 12), (2, 1), channels=32),
    "networks": lambda: networks({"one": STEPS, "two": STEPS}, marked=""),
    "agreement": lambda: agreement(
        {"attention": [(0.75, 0.1)], "nothing, dense noise": [(0.4, 0.4)]}
    ),
    "by_count": lambda: by_count(
        {"real against real": ([10, 100, 1000], [5.0, 0.5, 0.05])}, ylabel="d"
    ),
    "fields": lambda: fields(
        {name: (torch.ones(4, 12).bool(), (1, 3)) for name in ("near", "far")}
    ),
}
