"""The pictures of scale show what they are given: each test fails if they drew a wrong thing."""

import pytest
import torch
from matplotlib.colors import to_rgb

from coursekit.analysis.laws import Interval, PowerLaw, frontier
from coursekit.figures import COLOURS
from coursekit.figures.laws import ladder, loss_by_compute

SIZES = ("1x16", "1x32", "2x32", "2x48", "3x64", "3x96", "4x128")
CURVES = {
    name: [
        [(10.0 ** (8 + k / 2) * 2**n, (6 - n / 4) * 0.93**k + 0.02 * seed) for n in range(9)]
        for seed in (0, 1)
    ]
    for k, name in enumerate(SIZES)
}
LOSSES = {"GPT-2": [1.90, 1.92], "rotary": [1.85, 1.86], "SwiGLU": [1.87, 1.84]}
TIMES = {
    "training": {"GPT-2": 1.0, "rotary": 1.2, "SwiGLU": 1.1},
    "writing": {"GPT-2": 1.0, "rotary": 1.4, "SwiGLU": 1.3},
}


def law():
    runs = [run for some in CURVES.values() for run in some]
    edge = frontier(*zip(*(zip(*run) for run in runs)))
    fit, about = PowerLaw(-0.07, 20.0), Interval(-0.09, -0.05)
    names = {"xlabel": "FLOPs without embeddings", "ylabel": "loss (nats per token)"}
    return loss_by_compute(CURVES, edge, fit, about, **names), edge


def steps(times=TIMES):
    return ladder(LOSSES, times, xlabel="bits per byte", first="GPT-2's block")


DRAWINGS = {
    "loss_by_compute": lambda: law()[0],
    "ladder": steps,
    "ladder without times": lambda: steps(None),
}


def test_every_run_is_a_thin_curve_and_sizes_have_shades():
    figure, edge = law()
    (axis,) = figure.axes
    curves = [line for line in axis.lines if line.get_gid() == "curve"]
    drawn = [[tuple(point) for point in line.get_xydata().tolist()] for line in curves]
    assert drawn == [run for runs in CURVES.values() for run in runs]
    assert len({line.get_color() for line in curves}) == len(SIZES)
    light = [sum(to_rgb(line.get_color())) for line in curves]
    assert light == sorted(light, reverse=True)
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    (points,) = (line for line in axis.lines if line.get_label() == "frontier")
    assert points.get_xdata().tolist() == edge.compute.tolist()
    assert points.get_ydata().tolist() == edge.loss.tolist()


def test_the_law_is_a_straight_line_with_its_interval_around_the_middle():
    figure, edge = law()
    (axis,) = figure.axes
    (line,) = (line for line in axis.lines if line.get_label() == "exponent -0.070")
    x, y = (torch.tensor(values) for values in (line.get_xdata(), line.get_ydata()))
    torch.testing.assert_close(y, 20.0 * x**-0.07)
    (band,) = axis.collections
    assert band.get_label() == "-0.090 to -0.050"
    corners = band.get_paths()[0].vertices
    first = corners[abs(corners[:, 0] - x[0].item()) < 1e-6 * x[0].item()][:, 1]
    middle, height = edge.compute.log().mean(), edge.loss.log().mean()
    for exponent, found in ((-0.05, first.min()), (-0.09, first.max())):
        assert found == pytest.approx((height + exponent * (x[0].log() - middle)).exp().item())


def test_a_rung_has_a_dot_for_each_seed_and_a_mark_for_each_work():
    above, below = steps().axes
    for row, (name, found) in enumerate(LOSSES.items()):
        dots = [line for line in above.lines if list(line.get_ydata()) == [row] * 2]
        assert [line.get_xdata().tolist() for line in dots] == [found], name
    assert [text.get_text() for text in below.get_yticklabels()] == list(LOSSES)
    marks = {line.get_label(): line for line in below.lines}
    for work, found in TIMES.items():
        assert list(marks[work].get_xdata()) == list(found.values())
    assert marks["training"].get_color() == COLOURS["vermilion"]
    assert below.get_xlabel() == "time, GPT-2's block = 1"
    assert above.get_ylim()[0] > above.get_ylim()[1]  # the first rung stands on top
    assert len(steps(None).axes) == 1
