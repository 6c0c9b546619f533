"""The pictures of "DeiT and MAE" show what they are given: each test fails if one drew it wrong."""

import pytest
import torch
from matplotlib.colors import to_rgb

from coursekit.figures.mae import HIDDEN, by_labels, by_ratio, gallery, shuffled, warmed

RATIOS = {"MAE": {0.9: 50.0, 0.25: 30.0}, "mean picture": {0.25: 74.0, 0.9: 75.0}}
LABELS = {"scratch": {100: [0.5, 0.6], 8976: [0.8, 0.82]}, "probe": {8976: [0.9], 100: [0.7]}}
SHARES = {"T = 1": [0.9, 0.1], "T = 4": [0.6, 0.4]}
NOISE, KEEP, RESTORE = [0.6, 0.1, 0.9, 0.3], [1, 3], [2, 0, 3, 1]


def pictures():
    return {name: [torch.full((4, 4), value) for value in values]
            for name, values in {"seen": (-1.0, 1.0), "painted": (0.5, 0.0)}.items()}  # fmt: skip


ROWS = {f"row {n}": [torch.zeros(4, 4)] * 4 for n in range(5)}
DRAWINGS = {
    "gallery": lambda: gallery(ROWS, tuple("abcd")),
    "shuffled": lambda: shuffled(NOISE, KEEP, RESTORE),
    "by_ratio": lambda: by_ratio(RATIOS, ylabel="error", trained=0.75),
    "by_labels": lambda: by_labels(LABELS),
    "warmed": lambda: warmed(SHARES, ("shirt", "ankle boot")),
}


def test_a_gallery_has_its_pictures_in_their_places():
    some = pictures()
    some["seen"][0][1, 2] = torch.nan
    axes = gallery(some, ("one", "two")).axes
    drawn = [axis.images[0] for axis in axes]
    assert [image.get_array()[0, 0] for image in drawn] == [-1.0, 1.0, 0.5, 0.0]
    assert all(image.get_clim() == (-1, 1) for image in drawn)
    assert [axis.get_title() for axis in axes[:2]] == ["one", "two"]
    assert [axes[0].get_ylabel(), axes[2].get_ylabel()] == ["seen", "painted"]
    assert drawn[0].get_array().mask.sum() == 1 and drawn[0].get_array().mask[1, 2]
    assert axes[0].get_facecolor()[:3] == to_rgb(HIDDEN)


def test_shuffled_patches_stand_where_noise_puts_them():
    (axis,) = shuffled(NOISE, KEEP, RESTORE).axes
    words = [text.get_text() for text in axis.texts][:-1]
    lines = [words[start : start + 5] for start in range(0, 20, 5)]
    assert lines == [
        ["patch", "0", "1", "2", "3"],
        ["noise", "0.60", "0.10", "0.90", "0.30"],
        ["shuffle", "1", "3", "0", "2"],
        ["restore", "2", "0", "3", "1"],
    ]
    sand = [bar.get_facecolor()[:3] == to_rgb(HIDDEN) for bar in axis.patches]
    assert sand == [True, False] * 2 + [True, False] * 2 + [False, False, True, True] + [
        True, False] * 2  # fmt: skip


def test_lines_by_ratio_go_from_left_to_right():
    (axis,) = by_ratio(RATIOS, ylabel="error", trained=0.75).axes
    assert axis.lines[0].get_xydata().tolist() == [[25, 30], [90, 50]]
    assert axis.lines[1].get_label() == "mean picture"
    assert list(axis.lines[2].get_xdata()) == [75, 75]
    assert list(axis.get_xticks()) == [25, 90] and axis.get_ylim()[0] == 0


def test_labels_have_a_line_of_means_and_a_dot_for_each_seed():
    (axis,) = by_labels(LABELS).axes
    means = [line for line in axis.lines if line.get_gid() != "seeds"]
    assert [line.get_label() for line in means] == ["scratch", "probe"]
    assert means[0].get_xydata().tolist() == pytest.approx(torch.tensor([[100, 55], [8976, 81]]))
    assert means[1].get_xdata().tolist() == [100, 8976]
    dots = [line for line in axis.lines if line.get_gid() == "seeds"]
    assert sorted(len(line.get_xdata()) for line in dots) == [1, 1, 2, 2]
    assert dots[0].get_ydata().tolist() == [50, 60] and axis.get_xscale() == "log"


def test_each_temperature_has_its_bars():
    axes = warmed(SHARES, ("shirt", "ankle boot")).axes
    heights = [[bar.get_height() for bar in axis.patches] for axis in axes]
    assert heights == [pytest.approx([90, 10]), pytest.approx([60, 40])]
    assert [axis.get_title(loc="left") for axis in axes] == list(SHARES)


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda: gallery({"a": [torch.zeros(2, 2)], "b": []}), "every row must have 1 pictures"),
        (lambda: gallery({"a": [torch.zeros(2, 2)]}, ("x", "y")), "must be 1 titles.*found 2"),
        (lambda: shuffled(NOISE, KEEP, [0, 0, 1, 2]), "permutation of 4 places"),
    ],
)
def test_what_does_not_fit_is_refused(draw, sentence):
    with pytest.raises(ValueError, match=sentence):
        draw()
