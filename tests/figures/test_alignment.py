"""The picture of "Retrieval and alignment" shows what it is given."""

import pytest

from coursekit.figures.alignment import followed

WALK = [{"kl": 0.0, "reward": 0.0, "opinion": 0.1}, {"kl": 4.0, "reward": 2.0, "opinion": 1.0}]
FAR = [{"kl": -0.01, "reward": 0.0, "opinion": 0.0}, {"kl": 9.0, "reward": 3.0, "opinion": -1.0}]
PANELS = {"best of n": {"all": [WALK]}, "DPO": {"β 0.1": [WALK, FAR], "β 1": [WALK]}}


def test_every_word_can_be_read_on_a_telephone(readable):
    readable(followed(PANELS))


def test_each_walk_is_drawn_twice_over_the_root_of_its_distance():
    figure = followed(PANELS)
    _, dpo = figure.axes
    assert [axis.get_title(loc="left") for axis in figure.axes] == list(PANELS)
    walks = [line for line in dpo.lines if len(line.get_xdata()) == 2 and line.get_xdata()[1] > 1]
    drawn = [list(line.get_xydata()[1]) for line in walks]
    assert drawn == [[2, 2], [2, 1], [3, 3], [3, -1], [2, 2], [2, 1]]  # reward, then opinion
    assert walks[2].get_xdata()[0] == 0  # an estimate below zero is no distance
    assert [line.get_linestyle() for line in walks[:2]] == ["--", "-"]


def test_an_arm_has_one_colour_and_one_name():
    dpo = followed(PANELS).axes[1]
    labels = [line.get_label() for line in dpo.lines]
    assert labels.count("β 0.1") == labels.count("β 1") == 1
    colours = [line.get_color() for line in dpo.lines[:6]]
    assert len(set(colours[:4])) == 1 and colours[4] != colours[0]


def test_the_axis_has_names_for_the_distances_themselves():
    axis = followed({"DPO": PANELS["DPO"]}).axes[0]
    named = {
        text.get_text(): place
        for text, place in zip(axis.get_xticklabels(), axis.get_xticks(), strict=True)
    }
    assert named["4"] == pytest.approx(2)
