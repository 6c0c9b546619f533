"""The pictures of what heads look at show the numbers and the weights that they are given."""

import pytest
import torch
from matplotlib.colors import to_hex

from coursekit.figures import COLOURS, relations

FOUND = [  # relation, head, right, offset, right, untrained, guessing
    ["possessor", "6-7", 66.0, "-1", 67.0, 50.5, 13.0],
    ["determiner", "8-11", 97.0, "+1", 55.0, 60.0, 12.0],
    ["direct object", "8-10", 81.5, "-12", 40.0, 41.5, 11.0],
]
WORDS = [f"word{n}" for n in range(12)]
WEIGHTS = torch.rand(12, 12, generator=torch.Generator().manual_seed(0)).pow(4)
WANTED = [(2, 5), (7, 0), (3, 3)]


DRAWINGS = {
    "relation_bars": lambda: relations.relation_bars(FOUND),
    "attention_arrows": lambda: relations.attention_arrows(WORDS, WEIGHTS, WANTED),
}


def test_relations_stand_in_their_order_with_four_marks_each():
    figure = relations.relation_bars(FOUND)
    (axis,) = figure.axes
    handles = figure.legends[0].legend_handles
    marks = {text.get_text(): handle.get_marker()
             for text, handle in zip(figure.legends[0].get_texts(), handles)}  # fmt: skip
    columns = {"best head": 2, "best fixed offset": 4, "untrained encoder": 5, "guessing": 6}
    assert marks.keys() == columns.keys() and len(set(marks.values())) == 4
    for name, column in columns.items():
        drawn = [line.get_xydata()[0].tolist() for line in axis.lines
                 if line.get_marker() == marks[name]]  # fmt: skip
        assert drawn == [[row[column], place] for place, row in enumerate(FOUND)], name
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert axis.yaxis_inverted() and labels[0] == "possessor\nhead 6-7, offset −1"
    assert [label.split("\n")[0] for label in labels] == [row[0] for row in FOUND]


def test_lines_are_as_wide_as_the_weights_and_red_where_grammar_points():
    (axis,) = relations.attention_arrows(WORDS, WEIGHTS, WANTED).axes
    full = [line for line in axis.lines if line.get_linestyle() == "-"]
    assert len(full) == 12 * 12
    for line in full:
        i, j = (-int(y) for y in line.get_ydata())
        assert line.get_linewidth() == pytest.approx(relations.THICKEST * WEIGHTS[i, j].item())
        wanted = COLOURS["vermilion" if (i, j) in WANTED else "blue"]
        assert to_hex(line.get_color()) == wanted.lower()
    assert {tuple(-int(y) for y in line.get_ydata()) for line in full[-3:]} == set(WANTED)
    dotted = [line for line in axis.lines if line.get_linestyle() == ":"]
    assert [tuple(-int(y) for y in line.get_ydata()) for line in dotted] == WANTED
    left, right = full[0].get_xdata()
    for i, word in enumerate(WORDS):
        at = [text.get_position() for text in axis.texts if text.get_text() == word]
        assert [y for _, y in at] == [-i, -i] and at[0][0] < left < right < at[1][0]


def test_weights_of_other_words_are_refused():
    with pytest.raises(ValueError, match=r"shape \(11, 11\), found \(12, 12\)"):
        relations.attention_arrows(WORDS[1:], WEIGHTS, [])
