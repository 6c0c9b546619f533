"""The drawn machines of "Attention kernels" are joined as the formulas say."""

import itertools

import numpy as np
import pytest

from coursekit.figures import kernels as figures

WORDS = ["november", "21st", ",", "2026"]
TABLES = [
    (title, np.array([[-1.5, 0.25], [2.0, 1.0], [0.5, 3.0]]), ["I", "am", "Sam"], ["1st", "2nd"])
    for title in ("inputs X", "raw scores w′", "weights w")
]
DRAWINGS = {
    "self_attention_flow": figures.self_attention_flow,
    "decoder_2014": lambda: figures.decoder_2014(WORDS),
    "matrices": lambda: figures.matrices(TABLES),
}


def joined(figure):
    """Return (from, to) for each arrow of a machine, a box called by what stands in it."""
    (axes,) = figure.axes
    places = {}
    for patch in axes.patches:
        extent = patch.get_path().get_extents()
        (text,) = (t for t in axes.texts if t.get_text() and extent.contains(*t.get_position()))
        places[text.get_text()] = extent.padded(1e-6)

    def at(point):
        return next((name for name, place in places.items() if place.contains(*point)), "")

    return {tuple(at(point) for point in line.get_xydata()[[0, -1]]) for line in axes.lines}


def test_x_becomes_q_k_and_v_and_these_become_y():
    q, k, v = ("Q:  T × d", "K:  T × d", "V:  T × d")
    x, scores, a, y = (
        "X:  T × d",
        "scores $QK^T/\\sqrt{d}$:  T × T",
        "weights A:  T × T",
        ("Y = A V:  T × d"),
    )
    wanted = {(x, q), (x, k), (x, v), (q, scores), (k, scores), (scores, a), (a, y), (v, y)}
    assert joined(figures.self_attention_flow()) == wanted


def test_the_old_state_asks_the_annotations_answer_and_the_mixture_makes_the_new_state():
    h = [f"$h_{number}$" for number in range(1, 5)]
    compare = "scores, then softmax:  $α_{t1} … α_{t4}$"
    mix = "$c_t = α_{t1}h_1 + … + α_{t4}h_4$"
    before, state, says = "$s_{t-1}$", "$s_t$", "$y_t$"
    wanted = {(one, compare) for one in h} | {("", one) for one in h}  # from the words below
    wanted |= {(one, other) for one, other in itertools.pairwise(h)}
    wanted |= {(other, one) for one, other in itertools.pairwise(h)}
    wanted |= {(before, compare), (compare, mix), (mix, state), (before, state), (state, says)}
    assert joined(figures.decoder_2014(WORDS)) == wanted


def test_each_word_of_the_source_has_an_annotation():
    with pytest.raises(ValueError, match="argument"):
        figures.decoder_2014(WORDS[:3])


def test_a_matrix_is_drawn_with_its_numbers_and_an_odd_place_stays_empty():
    *drawn, last = figures.matrices(TABLES).axes
    assert [axes.get_title() for axes in drawn] == [title for title, *_ in TABLES]
    assert [text.get_text() for text in drawn[0].texts] == [
        "−1.50", "0.25", "2.00", "1.00", "0.50", "3.00"
    ]  # fmt: skip
    assert not last.get_visible()
