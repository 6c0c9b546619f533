"""The picture of "RoBERTa" shows what it is given: each test fails if it drew a wrong thing."""

import pytest
from matplotlib.colors import to_rgb

from coursekit.figures import COLOURS
from coursekit.figures.roberta import packed, two_languages, whole_steps

HOMES = {10: (0, 0), 11: (0, 0), 12: (0, 1), 20: (1, 0), 21: (1, 0)}
FORMATS = {"FULL": [[0, 10, 11, 12, 2, 20, 21, 2]], "DOC": [[0, 10, 11, 12, 2], [0, 20, 21, 2]]}


CURVES, FLOORS = {"shared": [1.0, 2.0, 1.5], "nothing shared": [0.5, 0.4, 0.3]}, {"by length": 0.7}


def strips(axis):
    """Return for each strip, from the top, (start, width, colour) of its parts."""
    found = {}
    for bar in axis.patches:
        if bar.get_facecolor()[3]:
            row = round(-bar.get_y() - bar.get_height() / 2)
            part = bar.get_x(), bar.get_width(), bar.get_facecolor()[:3]
            found.setdefault(row, []).append(part)
    return [sorted(found[row]) for row in sorted(found)]


def steps():
    return whole_steps(CURVES, xlabel="layer", ylabel="found (%)", first=1, floors=FLOORS)


def searched():
    found = [("Josaphat fut en paix avec le roi", 0.8, True), ("Jésus lui dit", 0.6, False)]
    return two_languages("Jehoshaphat made peace with the king of Israel.", found[0][0], found,
                         width=64, layer=2, verses=1000)  # fmt: skip


def test_bars_are_cosines_and_the_translation_is_marked():
    (axis,) = searched().axes
    bars = [bar for bar in axis.patches if bar.get_height() == pytest.approx(0.24)]
    assert bars[1].get_width() / bars[0].get_width() == pytest.approx(0.6 / 0.8)
    assert [bar.get_facecolor()[:3] for bar in bars] == [
        to_rgb(COLOURS["vermilion"]), to_rgb(COLOURS["blue"])]  # fmt: skip
    said = [text.get_text() for text in axis.texts]
    assert "0.80  Josaphat fut en paix avec le roi" in said
    assert said.count("(T, 64)") == said.count("(64,)") == 2


DRAWINGS = {
    "packed": lambda: packed(FORMATS, HOMES, 10),
    "whole_steps": steps,
    "two_languages": searched,
}


def test_lines_stand_at_whole_numbers():
    (axis,) = steps().axes
    for line, (name, values) in zip(axis.lines, CURVES.items(), strict=False):
        assert line.get_label() == name
        assert line.get_xydata().tolist() == [[n, value] for n, value in enumerate(values, 1)]
    assert list(axis.lines[2].get_ydata()) == [0.7, 0.7]
    assert [text.get_text() for text in axis.texts] == ["by length"]
    assert all(tick == int(tick) for tick in axis.get_xticks())


def test_each_strip_has_its_tokens_in_order():
    (axis,) = packed(FORMATS, HOMES, 10).axes
    for strip, ids in zip(strips(axis), (*FORMATS["FULL"], *FORMATS["DOC"]), strict=True):
        drawn = [colour for start, width, colour in strip for _ in range(int(width))]
        names = {None: "black", 0: "sky", 1: "orange"}
        homes = [HOMES[i][0] if i in HOMES else None for i in ids]
        assert drawn == [to_rgb(COLOURS[names[home]]) for home in homes]
        assert [start for start, _, _ in strip] == sorted(start for start, _, _ in strip)
        assert strip[0][0] == 0 and sum(width for _, width, _ in strip) == len(ids)


def test_sentences_have_their_names():
    (axis,) = packed(FORMATS, HOMES, 10).axes
    said = [text.get_text() for text in axis.texts]
    assert said == ["FULL", "A1", "B1", "DOC", "A1", "B1"]  # A2 has one token, no room


def test_more_documents_than_colours_are_refused():
    with pytest.raises(ValueError, match="at most 4 documents"):
        packed({"FULL": [[1]]}, {1: (4, 0)}, 4)
