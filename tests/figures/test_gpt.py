"""The pictures of "GPT" show what they are given: each test fails if they drew a wrong thing."""

import pytest
from matplotlib.colors import to_rgb

from coursekit.figures import COLOURS
from coursekit.figures.gpt import dating, knobs, paddings, sampled, then_and_now, whole

SHARES = {
    "as the model says": [0.5, 0.25, 0.15, 0.06, 0.04],
    "the best 2": [2 / 3, 1 / 3, 0.0, 0.0, 0.0],
    "greedy": [1.0, 0.0, 0.0, 0.0, 0.0],
}
DECADES = [1790, 1800, 1850]
LINES = {"1797, Adams": [0.0, 3.0, 9.0], "1845, Polk": [20.0, 4.0, 0.0]}

WORDS = ["The", "United", "States", "have", "a"]
TWO = [["The", "people", "of", "the"], ["We", "must"]], [["United", "States"], ["not", "be"]]


def knobs_drawn():
    return knobs(SHARES, [" the", " of", "."], shown=4)


def dating_drawn():
    return dating(DECADES, LINES, true=[1797, 1845, 1845], guessed=[1800, 1850, 1790])


POINTS = {"one": {"greedy": [(0.2, 30.0)], "hot": [(2.0, 0.0), (3.0, 1.0)]},
          "two": {"greedy": [(0.8, 41.0)]}}  # fmt: skip


def sampled_drawn():
    return sampled(POINTS, (1.5, 0.5))


DRAWINGS = {
    "sampled": sampled_drawn,
    "knobs": knobs_drawn,
    "dating": dating_drawn,
    "whole": lambda: whole(WORDS),
    "paddings": lambda: paddings(*TWO),
    "then_and_now": then_and_now,
}


def test_each_panel_has_the_shares_of_its_way():
    panels = knobs_drawn().axes
    for axis, (title, some) in zip(panels, SHARES.items(), strict=True):
        left = sum(share > 0 for share in some)
        said = f"{title}: {left} token{'s' if left > 1 else ''}"
        assert axis.get_title(loc="left") == said
        bars = [bar for bar in axis.patches if bar.get_facecolor()[:3] == to_rgb(COLOURS["sky"])]
        assert [bar.get_height() for bar in bars] == pytest.approx([100 * p for p in some[:4]])
        assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == pytest.approx([1, 2, 3, 4])


def test_the_models_own_shares_are_outlined_in_the_other_panels():
    first, *others = knobs_drawn().axes
    assert len(first.patches) == 4
    for axis in others:
        (outline,) = [patch for patch in axis.patches if hasattr(patch, "get_data")]
        assert list(outline.get_data().values) == pytest.approx([50, 25, 15, 6])


def test_words_stand_on_their_bars():
    first = knobs_drawn().axes[0]
    assert [text.get_text() for text in first.texts] == [" the", " of", "."]
    assert [text.xy for text in first.texts] == [(1, 50.0), (2, 25.0), (3, 15.0)]


def test_speeches_are_lines_over_years_and_stretches_are_dots():
    likely, guesses = dating_drawn().axes
    for line, (name, values) in zip(likely.lines, LINES.items(), strict=True):
        assert line.get_label() == name
        assert line.get_xydata().tolist() == [list(pair) for pair in zip(DECADES, values)]
    assert list(guesses.get_xticks()) == list(likely.get_xticks()) == [1800, 1850]
    diagonal, dots = guesses.lines
    assert diagonal.get_xydata().tolist() == [[1790, 1790], [1850, 1850]]
    assert dots.get_xydata().tolist() == [[1797, 1800], [1845, 1850], [1845, 1790]]


def test_each_seed_has_a_mark_and_each_way_one_at_its_mean():
    for axis, (model, ways) in zip(sampled_drawn().axes, POINTS.items(), strict=True):
        assert axis.get_title(loc="left") == model
        *marks, real = axis.lines
        for (seeds, middle), pairs in zip(zip(marks[::2], marks[1::2]), ways.values(), strict=True):
            assert [tuple(pair) for pair in seeds.get_xydata()] == pairs
            mean = [sum(values) / len(pairs) for values in zip(*pairs)]
            assert middle.get_xydata()[0] == pytest.approx(mean)
        assert axis.get_legend_handles_labels()[1] == [*ways, "real speeches"]
        assert real.get_xydata().tolist() == [[1.5, 0.5]]


def at(axis):
    """Return what is written in a drawing: (text, x, y), rounded."""
    return [(text.get_text(), *(round(float(v), 2) for v in text.get_position()))
            for text in axis.texts if text.get_text()]  # fmt: skip


def test_each_token_stands_below_the_one_that_follows_it():
    axis = whole(WORDS).axes[0]
    places = at(axis)
    below = {text: x for text, x, y in places if y == 0.2}
    above = {text: x for text, x, y in places if y == 5.2}
    assert list(below) == WORDS[:-1] and list(above) == WORDS[1:]
    assert list(below.values()) == list(above.values()) == sorted(below.values())


def test_a_token_looks_at_itself_and_back_and_never_ahead():
    axis = whole(WORDS).axes[0]
    looks = [line.get_xdata() for line in axis.lines if line.get_gid() == "look"]
    assert all(start <= end for start, end in looks)
    count = len(WORDS) - 1
    assert len(looks) == 2 * count * (count + 1) / 2  # in two blocks


@pytest.mark.parametrize(("side", "padded"), [(0, [0, 1]), (1, [2, 3])])
def test_a_row_counts_its_places_without_the_padding(side, padded):
    axis = paddings(*TWO).axes[side]
    rows = {}
    for text, _, y in sorted(at(axis), key=lambda one: one[1]):
        rows.setdefault(y, []).append(text)
    first, first_places, second, second_places = (rows[y] for y in sorted(rows, reverse=True))
    assert first == ["The", "people", "of", "the", "United", "States"]
    assert first_places == [f"position {n}" for n in range(6)]
    assert [n for n, word in enumerate(second) if word == "pad"] == padded
    assert [word for word in second if word != "pad"] == ["We", "must", "not", "be"]
    assert [second_places[n] for n in padded] == ["–", "–"]
    assert [place for place in second_places if place != "–"] == [f"position {n}" for n in range(4)]


def test_the_blocks_differ_in_what_has_changed():
    then, now = ({text for text, *_ in at(axis)} for axis in then_and_now().axes)
    assert {"LayerNorm", "D → 4·D, GELU"} <= then - now
    changed = {"RMSNorm", "turn q and k by\ntheir positions", "attention to the\nlast w tokens"}
    assert changed <= now - then
    assert {"x (B, T, D)", "join heads, D → D"} <= then & now
