"""The pictures of "Retrieval and alignment" show what they are given."""

import pytest

from coursekit.figures.alignment import conversation, followed, look_up, pursued, rlhf

NEAR = [{"kl": 0.0, "reward": 0.0, "opinion": 0.1}, {"kl": 4.0, "reward": 2.0, "opinion": 1.0}]
FAR = [{"kl": -0.01, "reward": 0.0, "opinion": 0.3}, {"kl": 14.0, "reward": 4.0, "opinion": -2.0}]
PANELS = {"20 comparisons": [NEAR, FAR], "200 comparisons": [NEAR]}


def drawn(axis):
    return [[tuple(point) for point in line.get_xydata()] for line in axis.lines]


def test_each_walk_and_the_means_stand_over_the_root_of_the_distance():
    first, second = followed(PANELS).axes
    assert [axis.get_title(loc="left") for axis in (first, second)] == list(PANELS)
    near, far, opinion, reward, _ = drawn(first)
    assert near == [(0, 0.1), (2, 1)] and far == [(0, 0.3), (14**0.5, -2)]
    assert opinion[1] == pytest.approx((3, -0.5)) and reward[1] == pytest.approx((3, 3))
    assert drawn(second)[0] == near


def test_the_axis_has_names_for_the_distances_themselves():
    axis = followed(PANELS).axes[-1]
    names = [text.get_text() for text in axis.get_xticklabels()]
    assert dict(zip(names, axis.get_xticks(), strict=True))["4"] == pytest.approx(2)


def test_the_reward_is_told_apart_without_colours():
    lines = followed(PANELS).axes[0].lines
    assert [line.get_linestyle() for line in lines[2:4]] == ["-", "--"]
    assert lines[2].get_linewidth() > lines[0].get_linewidth()


WAYS = {"best of n": [NEAR, NEAR], "DPO": [FAR]}


def test_ways_stand_over_the_root_of_the_distance_opinion_above_reward():
    above, below = pursued(WAYS).axes
    assert drawn(above)[:3] == [[(0, 0.1), (2, 1)]] * 2 + [[(0, 0.3), (14**0.5, -2)]]
    assert drawn(below)[2] == [(0, 0), (14**0.5, 4)]
    assert [line.get_linestyle() for line in above.lines[:3]] == ["-", ":", "-"]
    first, again, other = above.lines[:3]
    assert first.get_marker() == again.get_marker() != other.get_marker()
    assert first.get_color() == again.get_color() != other.get_color()


DRAWINGS = {"followed": lambda: followed(PANELS), "pursued": lambda: pursued(WAYS)}


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_the_look_up_sums_over_its_documents():
    documents = ["Ada Quist city Faro", "Ada Quist trade baker"]
    figure = look_up("Ada Quist city", documents, "Faro", [0.5, 0.5], [0.9, 0.1], [-0.4, 0.4])
    said = words(figure)
    assert "p(Faro | x) = 0.5 · 0.9 + 0.5 · 0.1 = 0.5" in said
    assert "score of z1: derivative\n−0.4, so it rises" in said
    assert "score of z2: derivative\n+0.4, so it falls" in said


def test_a_conversation_shows_the_next_token_below_each_and_what_counts():
    tokens = ["user:", "Peru", "model:", "Lima", "<end>", "<pad>"]
    counted = [False, False, False, True, True, False]
    figure = conversation(tokens, counted, [0.1, 0.1, 0.1, 0.5, 0.9, 0.1])
    assert words(figure)[:4] == ["user:", "Peru", "Peru", "model:"]
    assert [word for word in words(figure) if word.startswith("0.")] == ["0.5", "0.9"]


def test_rlhf_takes_the_leash_off_the_reward():
    said = words(rlhf("This is a film.", 2.5, 1.2, 1.0))
    assert any(text.endswith("= 2.5 − 1 · 1.2 = 1.3") for text in said)
    assert "y: This is a film." in said


DIAGRAMS = {
    "look_up": lambda: look_up("a b", ["a b c", "a d e"], "c", [0.5, 0.5], [0.9, 0.1], [-0.4, 0.4]),
    "conversation": lambda: conversation(
        ["user:", "model:", "Lima", "<end>"], [False] * 2 + [True] * 2, [0.5] * 4
    ),
    "rlhf": lambda: rlhf("This is a film.", 2.5, 1.2, 1.0),
}
