"""The pictures of prompts show what they are given: each test fails if they drew a wrong thing."""

import pytest
import torch
from matplotlib.colors import to_rgba

from coursekit.figures import COLOURS
from coursekit.figures.prompts import by_shots, look_up, reading

PANELS = {
    "sums": {
        "1 block": {0: [0.1, 0.3], 1: [0.2, 0.2], 8: [0.4, 0.5]},
        "2 blocks": {0: [0.0, 0.2], 1: [0.9, 1.0], 8: [1.0, 1.0]},
    },
    "distances": {"1 block": {0: [0.5, 0.5], 8: [0.25, 0.75]}},
}
LEVELS = {"sums": {"possible": {1: 0.5, 8: 1.0}, "a guess": {0: 0.125, 1: 0.125, 8: 0.125}}}
TEXT = list("a1b2a")
ROWS = {"block 1, head 1": [0.5, 0.5, 0.0, 0.0, 0.0], "block 2, head 3": [0.0, 0.9, 0.0, 0.1, 0.0]}


DRAWINGS = {
    "by_shots": lambda: by_shots(PANELS, levels=LEVELS),
    "look_up": lambda: look_up("c7f2h0a4c7m9f2h"),
    "reading": lambda: reading(TEXT * 7, {name: row * 7 for name, row in ROWS.items()}),
}


def test_each_seed_has_a_point_and_their_mean_a_line():
    top, below = by_shots(PANELS, levels=LEVELS).axes
    first, points, second, _, possible, level = top.lines
    assert (first.get_label(), second.get_label()) == ("1 block", "2 blocks")
    assert first.get_xydata().tolist() == [[0, 20], [1, 20], [2, 45]]
    assert sorted(map(tuple, points.get_xydata())) == [
        (0, 10), (0, 30), (1, 20), (1, 20), (2, 40), (2, 50),
    ]  # fmt: skip
    assert points.get_linestyle() == "None" and points.get_color() == first.get_color()
    assert level.get_xydata().tolist() == [[0, 12.5], [1, 12.5], [2, 12.5]]
    assert possible.get_xydata().tolist() == [[1, 50], [2, 100]]
    assert to_rgba(level.get_color()) == to_rgba(COLOURS["grey"])
    assert [tick.get_text() for tick in top.get_xticklabels()] == ["0", "1", "8"]
    assert len(below.lines) == 2 and below.lines[0].get_xydata().tolist() == [[0, 50], [1, 50]]
    assert [tick.get_text() for tick in below.get_xticklabels()] == ["0", "8"]
    assert [axis.get_title(loc="left") for axis in (top, below)] == ["sums", "distances"]


def test_weights_stand_under_their_tokens():
    (axis,) = reading(TEXT, {name: torch.tensor(row) for name, row in ROWS.items()}).axes
    (image,) = axis.images
    assert torch.allclose(torch.tensor(image.get_array().tolist()), torch.tensor([*ROWS.values()]))
    assert image.get_clim() == (0, 1)
    assert [tick.get_text() for tick in axis.get_xticklabels()] == TEXT
    assert [tick.get_text() for tick in axis.get_yticklabels()] == list(ROWS)


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="'short' needs a weight for each of 5 tokens, found 2"):
        reading(TEXT, {"block 1": [0.2] * 5, "short": [0.5, 0.5]})


def test_a_look_up_leads_from_the_digit_behind_the_letter_that_is_asked():
    def drawn(prompt):
        axis = look_up(prompt).axes[0]
        red = [line for line in axis.lines if line.get_color() == COLOURS["vermilion"]]
        starts = [line.get_xdata()[0] for line in red if line.get_xdata()[0] != line.get_xdata()[1]]
        step = axis.get_xlim()[1] / len(prompt)
        answer = [t.get_text() for t in axis.texts if round(t.get_position()[1], 2) == 3.54]
        return sorted(round(float(x) / step - 0.5, 3) for x in starts), answer[0]

    assert drawn("c7h0a4h") == ([2, 3], "0")  # from h to 0, and from 0 to the end
    assert drawn("h0a4h5h") == ([0, 1, 4, 5], "0/5")
    assert drawn("c7a4h") == ([], "?")  # has not stood there
