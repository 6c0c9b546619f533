"""The pictures of "BERT" show what they are given: each test fails if one drew a wrong thing."""

import itertools
from statistics import mean

import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyBboxPatch

from coursekit.figures import COLOURS
from coursekit.figures import bert as figures

TOKENS = ["[CLS]", "the", "word", "came", "[SEP]", "he", "sat", "##s", "[SEP]"]
SEGMENTS = [0] * 5 + [1] * 4
PARTS = {"not chosen": 0.852, "[MASK]": 0.12, "same": 0.013, "random": 0.015}
CURVES = {
    name: [[(step, top * step / (step + 300) + seed / 100) for step in (0, 200, 900)]
           for seed in range(3)]
    for name, top in (("left only", 0.3), ("both ways in all layers", 0.5))
}  # fmt: skip
LEVELS = {"trigrams": 0.2, "trigrams of both sides": 0.21, "unigram": 0.03, "nothing": 0.0}
SCORES = {
    "features, last four layers": {1000: [0.7, 0.74], 50: [0.5, 0.46, 0.6]},
    "fine-tuned": {50: [0.3, 0.35], 5000: [0.8]},
}
SENTENCE = ["[CLS]", "the", "word", "of", "yahweh", "[MASK]", "to", "jo", "##n", "##ah", "[SEP]"]
IDS = [2, 118, 946, 122, 345, 4, 130, 1435, 99, 253, 3]
GUESSES = {"said": 0.55, "came": 0.08, ",": 0.03, "sent": 0.02}
DRAWINGS = {
    "whole_model": lambda: whole_model(),
    "input_sum": lambda: figures.input_sum(TOKENS, SEGMENTS),
    "input_sum of long words": lambda: figures.input_sum(["incomprehensibly"] * 11, [0] * 11),
    "who_may_see": lambda: figures.who_may_see(5, 2),
    "fates": lambda: figures.fates(PARTS),
    "fates, all one": lambda: figures.fates({**PARTS, "[MASK]": 0.0, "random": 0.135}),
    "four_heads": figures.four_heads,
    "learning": lambda: figures.learning(CURVES, LEVELS, "step"),
    "tagging_by_labels": lambda: figures.tagging_by_labels(SCORES),
}


def boxes(axis):
    """Return (text, x, y, patch) of each box with a text in its middle."""
    middles = {text.get_position(): text.get_text() for text in axis.texts}
    found = []
    for patch in axis.patches:
        if not isinstance(patch, FancyBboxPatch):
            continue  # a bar
        place = patch.get_path().get_extents()
        middle = next(m for m in middles if abs(m[0] - (place.x0 + place.x1) / 2) < 1e-6
                      and abs(m[1] - (place.y0 + place.y1) / 2) < 1e-6)  # fmt: skip
        found.append((middles[middle], *middle, patch))
    return found


def colour(artist):
    return artist.get_facecolor()[:3]


# --- the machine ---


def whole_model(tokens=SENTENCE, ids=IDS):
    return figures.whole_model(
        tokens, ids, GUESSES, width=128, depth=4, vocabulary=2000, truth="came"
    )


def test_a_sentence_goes_through_the_model_with_its_ids_and_positions():
    (axis,) = whole_model().axes
    rows = {}
    for text, x, y, _ in boxes(axis):
        rows.setdefault(round(y, 2), []).append((x, text))
    rows = [[text for _, text in sorted(rows[y])] for y in sorted(rows, reverse=True)]
    positions = [str(n) for n in range(11)]
    assert rows[:4] == [SENTENCE, [str(i) for i in IDS], positions, ["A"] * 11]
    shapes = [text.get_text() for text in axis.texts if text.get_text().startswith("(")]
    assert shapes == ["(11, 128)", "(11, 128)", "(2,000,)"]
    assert "4\nblocks" in [text.get_text() for text in axis.texts]


def test_bars_are_the_guesses_and_what_stood_there_is_marked():
    (axis,) = whole_model().axes
    bars = [bar for bar in axis.patches if hasattr(bar, "get_width") and bar.get_x() == 1.0]
    long = [bar.get_width() / bars[0].get_width() for bar in bars]
    assert long == pytest.approx([share / 0.55 for share in GUESSES.values()])
    marked = [colour(bar) == to_rgb(COLOURS["vermilion"]) for bar in bars]
    assert marked == [token == "came" for token in GUESSES]
    texts = [text.get_text() for text in axis.texts]
    assert "55%" in texts and "8%  (stood there)" in texts


@pytest.mark.parametrize(("tokens", "ids"), [(SENTENCE[:5], IDS[:5]), (SENTENCE, IDS[1:])])
def test_a_text_without_one_mask_or_with_other_ids_is_refused(tokens, ids):
    with pytest.raises(ValueError, match=r"tokens with one \[MASK\] are expected, found"):
        whole_model(tokens, ids)


def test_each_token_has_its_segment_and_its_place():
    (axis,) = figures.input_sum(TOKENS, SEGMENTS).axes
    lines = {}
    for text, x, y, patch in boxes(axis):
        lines.setdefault(-y, []).append((x, text, patch))
    rows = [sorted(lines[y], key=lambda cell: cell[0]) for y in sorted(lines)]
    for place, row in enumerate(rows):
        letter = "AB"[SEGMENTS[place]]
        assert [cell[1] for cell in row] == [TOKENS[place], letter, f"{place}", f"$x_{{{place}}}$"]
        segment = COLOURS["orange" if letter == "A" else "green"]
        assert colour(row[1][2]) == to_rgb(segment)
    signs = sorted(text.get_text() for text in axis.texts if text.get_text() in ("+", "="))
    assert signs == ["+"] * 18 + ["="] * 9


@pytest.mark.parametrize("segments", [[0] * 8, [0] * 8 + [2], [0] * 8 + [-1]])
def test_segments_that_do_not_fit_are_refused(segments):
    with pytest.raises(ValueError, match=r"each of 9 tokens needs segment 0 or 1, found \[0, 0"):
        figures.input_sum(TOKENS, segments)


def edges(axis, kind):
    """Return the lines from a cell to one above it, of this kind."""
    return {
        tuple((round(float(x), 3), int(y)) for x, y in line)
        for collection in axis.collections
        if collection.get_gid() == kind
        for line in collection.get_segments()
    }


def expected(length, layers, rule, beside, last):
    """Return the lines of all ways up a stack of which each step obeys the rule and `last` too."""
    found = set()
    for way in itertools.product(range(length), repeat=layers + 1):
        if last(way[-1]) and all(rule(below, above) for below, above in itertools.pairwise(way)):
            at = [round(p + 0.5 + beside * (n > 0), 3) for n, p in enumerate(way)]
            found |= {((at[n], n), (at[n + 1], n + 1)) for n in range(layers)}
    return found


@pytest.mark.parametrize(("length", "place", "layers"), [(5, 2, 2), (4, 0, 1), (4, 3, 3)])
def test_strong_lines_are_what_may_flow_into_the_output(length, place, layers):
    gpt, elmo, bert = figures.who_may_see(length, place, layers=layers).axes
    stacks = {  # how far before the output the last cell stands that it reads
        "left": (gpt, lambda below, above: below <= above, 0, 0),
        "elmo left": (elmo, lambda below, above: below <= above, -figures.BESIDE, 1),
        "elmo right": (elmo, lambda below, above: below >= above, figures.BESIDE, -1),
        "both": (bert, lambda below, above: True, 0, 0),
    }
    strong = {axis: set() for axis in (gpt, elmo, bert)}
    every = {axis: set() for axis in (gpt, elmo, bert)}
    for axis, rule, beside, back in stacks.values():
        strong[axis] |= expected(length, layers, rule, beside, lambda p, b=back: p == place - b)
        every[axis] |= expected(length, layers, rule, beside, lambda p: True)
        for token in range(length) if beside else ():
            if 0 <= token + back < length:
                join = (round(token + 0.5 + beside, 3), layers), (token + back + 0.5, layers + 1)
                every[axis].add(join)
                strong[axis] |= {join} if token + back == place else set()
    for axis in strong:
        assert edges(axis, "strong") == strong[axis]
        assert edges(axis, "faint") == every[axis] - strong[axis]


def test_in_elmo_no_cell_below_the_join_knows_both_sides():
    length, layers = 5, 2
    known = []
    for axis in figures.who_may_see(length, 2, layers=layers).axes:
        knows = {(token + 0.5, 0): {token} for token in range(length)}
        for below, above in sorted(edges(axis, "faint") | edges(axis, "strong"),
                                   key=lambda line: line[0][1]):  # fmt: skip
            knows.setdefault(above, set()).update(knows[below])
        both = {cell for cell, told in knows.items()
                if min(told) < int(cell[0]) < max(told)}  # fmt: skip
        known.append({height for _, height in both})
    assert known == [set(), {layers + 1}, {1, 2}]


def test_coloured_cells_are_those_on_strong_lines_and_the_ring_is_the_output():
    marks = {"<": COLOURS["blue"], ">": COLOURS["orange"], "o": COLOURS["green"]}
    gpt, elmo, bert = figures.who_may_see(5, 2).axes
    for axis, top in ((gpt, 2), (elmo, 3), (bert, 2)):
        *cells, ring = (line for line in axis.lines if line.get_marker() in marks)
        assert ring.get_xydata().tolist() == [[2.5, top]] and ring.get_mec() == COLOURS["vermilion"]
        on = {point for line in edges(axis, "strong") for point in line if point[1]}
        for cell in cells:
            x, y = cell.get_xydata()[0].tolist()
            wanted = marks[cell.get_marker()] if (round(x, 3), y) in on else figures.FAINT
            assert cell.get_color() == wanted, (x, y)
        squares = [line for line in axis.lines
                   if line.get_marker() == "s" and line.get_color() == "black"]  # fmt: skip
        seen = [line.get_xdata()[0] - 0.5 for line in squares]
        assert seen == {gpt: [0, 1, 2], elmo: [0, 1, 3, 4], bert: [0, 1, 2, 3, 4]}[axis]
        hidden = [line.get_xdata()[0] - 0.5 for line in squares if line.get_mfc() == "white"]
        assert hidden == ([2] if axis is bert else [])


@pytest.mark.parametrize("place", range(5))
def test_no_output_hears_the_word_that_it_has_to_guess(place):
    for axis, guessed in zip(figures.who_may_see(5, place).axes, (place + 1, place, place)):
        told = {(token + 0.5, 0): {token} for token in range(5)}
        for line in axis.lines:  # a hidden word tells nothing
            if line.get_marker() == "s" and line.get_mfc() == "white":
                told[line.get_xdata()[0], 0] = set()
        for below, above in sorted(edges(axis, "strong"), key=lambda line: line[0][1]):
            told.setdefault(above, set()).update(told[below])
        heard = told[max(told, key=lambda cell: cell[1])]
        assert heard and guessed not in heard, (axis.get_title(), heard)


def test_a_place_outside_the_text_is_refused():
    with pytest.raises(ValueError, match="place must lie between 0 and 4, found 5"):
        figures.who_may_see(5, 5)


def test_bars_are_the_shares_and_the_zoom_is_the_chosen_ones():
    (axis,) = figures.fates(PARTS).axes
    bars = {}
    for bar in (patch for patch in axis.patches if hasattr(patch, "get_width")):
        bars.setdefault(bar.get_y() + bar.get_height() / 2, []).append(bar)
    whole = bars.pop(-1.5)
    assert [bar.get_width() for bar in whole] == pytest.approx([100 * s for s in PARTS.values()])
    chosen = list(PARTS.values())[1:]
    ends = [100 * sum(chosen[:n]) / 0.148 for n in range(4)]
    for row, (first, above) in enumerate(zip(sorted(bars), whole[1:])):
        (bar,) = bars[first]
        assert first == row and colour(bar) == colour(above)
        assert bar.get_x() == pytest.approx(ends[row])
        assert bar.get_x() + bar.get_width() == pytest.approx(ends[row + 1])
        assert f"{chosen[row] / 0.148:.1%}" in {text.get_text() for text in axis.texts}
    assert whole[-1].get_x() + whole[-1].get_width() == pytest.approx(100) == ends[-1]
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == ["all tokens", "[MASK]", "same", "random"]


@pytest.mark.parametrize("parts", [{**PARTS, "same": 0.1}, {"a": 0.9, "b": 0.1}])
def test_shares_that_are_no_whole_are_refused(parts):
    with pytest.raises(ValueError, match="parts must be four shares with sum 1, found"):
        figures.fates(parts)


def test_heads_read_the_outputs_that_their_task_needs():
    axes = figures.four_heads().axes
    read = []
    for axis in axes:
        tokens = {x: (text, patch) for text, x, y, patch in boxes(axis) if y < 0.3}
        (body,) = (patch for text, *_, patch in boxes(axis) if text == "BERT")
        heads = [patch.get_path().get_extents() for _, _, y, patch in boxes(axis) if y > 1.4]
        dots = {line.get_xdata()[0]: line for line in axis.lines if line.get_marker() == "o"}
        assert dots.keys() == tokens.keys()
        assert all(body.get_path().get_extents().containsx(x) for x in dots)
        first = next(x for x in sorted(tokens) if tokens[x][0] == "[SEP]")
        for x, (_, patch) in tokens.items():
            assert colour(patch) == to_rgb(COLOURS["green" if x > first else "orange"])
        filled = [x for x in sorted(dots) if dots[x].get_mfc() != "white"]
        assert all(dots[x].get_color() == COLOURS["vermilion"] for x in filled)
        for x in dots:
            assert any(head.containsx(x) for head in heads) == (x in filled) or len(filled) == 1
        read.append([(tokens[x][0], x > first) for x in filled])
        assert any(head.containsx(filled[0]) for head in heads)
    pair, single, span, tags = read
    assert pair == single == [("[CLS]", False)]
    assert [text for text, _ in span] == ["then", "Ann", "sang"] and all(two for _, two in span)
    assert [text for text, _ in tags] == ["Ann", "left", "Ka"]
    assert len([1 for _, _, y, _ in boxes(axes[3]) if y > 1.4]) == 3


# --- the results ---


def test_learning_draws_every_seed_thin_and_their_mean_thick():
    (axis,) = figures.learning(CURVES, LEVELS, "step").axes
    lines = [line for line in axis.lines if line.get_gid() != "level"][: 2 * 4]
    for (name, seeds), drawn in zip(CURVES.items(), (lines[:4], lines[4:])):
        *thin, thick = drawn
        assert thick.get_label() == name and thick.get_linewidth() > 2 > thin[0].get_linewidth()
        assert {line.get_color() for line in drawn} == {thick.get_color()}
        for seed, line in zip(seeds, thin, strict=True):
            assert line.get_xydata().tolist() == [[step, 100 * share] for step, share in seed]
        means = [100 * mean(share for _, share in column) for column in zip(*seeds)]
        assert list(thick.get_ydata()) == pytest.approx(means)
    assert lines[3].get_color() != lines[7].get_color()


@pytest.mark.parametrize(
    "levels",
    [LEVELS, {f"level {n}": 0.5 + n / 1000 for n in range(5)}, {"a": 0.55, "b": 0.549, "c": 0.3}],
)
def test_names_of_levels_stand_apart_within_the_axes_and_lead_to_their_level(levels):
    figure = figures.learning(CURVES, levels, "step")
    (axis,) = figure.axes
    figure.draw_without_rendering()
    room, last = axis.get_window_extent().padded(1), 900
    placed = {text.get_text(): text for text in axis.texts}
    assert placed.keys() == levels.keys()
    dashed = [line for line in axis.lines if line.get_gid() == "level"]
    assert sorted(line.get_ydata()[0] for line in dashed) == sorted(
        100 * v for v in levels.values()
    )
    assert all(line.get_linestyle() == "--" and line.get_xdata()[1] == last for line in dashed)
    for name, text in placed.items():
        place = text.get_window_extent()
        assert room.x0 < place.x0 and place.x1 < room.x1 and room.y0 < place.y0, name
        assert place.y1 < room.y1 and text.get_position()[0] > last
        leads = [line for line in axis.lines if list(line.get_ydata()) ==
                 [100 * levels[name], text.get_position()[1]]]  # fmt: skip
        assert any(line.get_xdata()[0] == last for line in leads), name
    for one, other in itertools.combinations(placed.values(), 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent())
    assert all(tick <= last for tick in axis.get_xticks())


@pytest.mark.parametrize("levels", [{}, LEVELS])
def test_a_training_of_one_step_is_drawn_with_levels_and_without(levels, readable):
    figure = figures.learning({"left only": [[(10, 0.1)], [(10, 0.2)]]}, levels, "step")
    readable(figure)
    assert len(figure.axes[0].texts) == len(levels)


def test_what_cannot_be_compared_or_told_apart_is_refused():
    with pytest.raises(ValueError, match="the seeds of 'a' must be measured at the same steps"):
        figures.learning({"a": [[(0, 0.1)], [(1, 0.1)]]}, {}, "step")
    with pytest.raises(ValueError, match="from 1 to 6 curves can be told apart, found 7"):
        figures.tagging_by_labels({f"{n}": {1: [0.5]} for n in range(7)})


def test_tagging_draws_every_seed_at_its_number_of_sentences():
    (axis,) = figures.tagging_by_labels(SCORES).axes
    assert axis.get_xscale() == "log"
    assert [label.get_text() for label in axis.get_xticklabels()] == ["50", "1,000", "5,000"]
    means = {line.get_label(): line for line in axis.lines if line.get_label() in SCORES}
    assert means.keys() == SCORES.keys()
    for name, scores in SCORES.items():
        line = means[name]
        wanted = sorted((n, 100 * mean(values)) for n, values in scores.items())
        assert line.get_xydata().tolist() == [pytest.approx(point) for point in wanted]
        seeds = {
            tuple(point)
            for dots in axis.lines
            if dots.get_linestyle() == "None" and dots.get_mec() == line.get_color()
            for point in dots.get_xydata().tolist()
        }
        assert seeds == {(n, 100 * value) for n, values in scores.items() for value in values}
