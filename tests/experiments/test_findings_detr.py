"""What "DETR" says of committed runs: with another outcome the page would be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"


def detectors():
    """Return the runs of the detector: that of the page, and those with another seed."""
    runs = [json.loads((RESULTS / "detector" / "cpu.json").read_text(encoding="utf-8"))]
    more = RESULTS / "detector" / "cpu-seeds.json"
    return runs + json.loads(more.read_text(encoding="utf-8"))["runs"]


def test_another_seed_says_the_same():
    one, other = (run["metrics"] for run in detectors())
    assert abs(one["AP"] - other["AP"]) < 0.01 and abs(one["AP50"] - other["AP50"]) < 0.025
    assert abs(one["AP, windows"] - other["AP, windows"]) < 0.01
    assert abs(one["AP, same scenes"] - other["AP, same scenes"]) < 0.01
    assert abs(one["AP50, same scenes"] - other["AP50, same scenes"]) < 0.026  # the page glues it


@pytest.mark.parametrize("run", detectors(), ids=lambda run: run.get("name"))
class TestDetector:
    def test_the_aim_is_met_on_photographs_that_it_has_never_seen(self, run):
        assert run["metrics"]["AP50"] > 0.85 and run["metrics"]["AP"] > 0.55
        assert run["settings"]["turned"] == 30 if "settings" in run else True

    def test_the_gap_is_the_photographs_and_not_the_scenes(self, run):
        found = run["metrics"]
        seen, known, new = (
            found[name] for name in ("AP, in training", "AP, known photographs", "AP")
        )
        assert seen - known < 0.06 and known - new > 0.08

    def test_small_objects_are_the_hard_ones(self, run):
        found = run["metrics"]
        assert found["AP_small"] + 0.1 < found["AP_medium"] < found["AP_large"]

    def test_an_empty_slot_gains_little_by_its_second_best_answer(self, run):
        found = run["metrics"]
        assert 0 < found["AP"] - found["AP, empty kept empty"] < 0.02

    def test_the_window_finds_more_and_knows_the_place_worse_at_a_hundred_times_the_cost(self, run):
        found = run["metrics"]
        assert found["AP50, windows"] > found["AP50, same scenes"] + 0.03
        assert found["AP, windows"] < found["AP, same scenes"] - 0.1
        assert found["GFLOP, windows"] > 100 * found["GFLOP, detector"]


def test_the_window_had_stopped_learning():
    (run, *_) = detectors()
    losses = [row["loss"] for row in run["curves"]["windows"]]
    assert abs(losses[-1] - losses[-2]) < 0.005 and losses[-1] < losses[0] / 10


def test_the_second_layer_is_better_and_suppression_helps_the_first_more():
    (run, *_) = detectors()
    first, second = run["tables"]["layers"]
    assert second["AP50"] > first["AP50"] and second["AP"] > first["AP"]
    gains = [layer["AP50, suppressed"] - layer["AP50"] for layer in (first, second)]
    assert gains[0] > gains[1] and gains[0] > 0.01
    assert second["AP, suppressed"] < second["AP"]  # it removes right boxes too


def test_turned_further_than_ever_in_training_the_boxes_become_worse():
    (run, *_) = detectors()
    by = {row["degrees"]: row["AP"] for row in run["tables"]["turned"]}
    assert by[30] > by[60] > by[90] > by[180] > by[30] / 2


def test_the_tables_hold_what_the_page_draws():
    (run, *_) = detectors()
    tables, queries = run["tables"], run["settings"]["queries"]
    boxes = tables["boxes"]
    assert len(boxes["query"]) == len(boxes["label"]) == len(boxes["box"]) > 900
    assert set(boxes["query"]) <= set(range(queries)) and max(boxes["label"]) < 12
    watched = tables["assignment"]
    assert len(watched["moments"]) >= 12 and watched["moments"][0]["step"] == 0
    for moment in watched["moments"]:
        for truth, matched, said in zip(watched["truth"], moment["matched"], moment["boxes"]):
            assert len(truth["labels"]) == len(set(matched)) == len(matched)  # one query an object
            assert len(said) == queries
    assert len(tables["classes"]) == 12
    assert sum(kind["objects"] for kind in tables["classes"].values()) == run["metrics"]["objects"]


def test_most_objects_keep_their_query_from_an_early_moment_on():
    (run, *_) = detectors()
    moments = run["tables"]["assignment"]["moments"]

    def kept(one, other):
        pairs = [
            (a, b)
            for left, right in zip(one["matched"], other["matched"])
            for a, b in zip(left, right)
        ]
        return sum(a == b for a, b in pairs) / len(pairs)

    last = moments[-1]
    assert kept(moments[0], last) < 0.2  # before training: chance
    assert kept(moments[7], last) > 0.6  # a third of the training
    assert kept(moments[-2], last) > 0.8


def changed(*sweeps):
    """Return the metrics of both seeds of each run of `queries`, by what was changed."""
    found = {}
    for sweep in sweeps:
        path = RESULTS / "queries" / f"cpu-{sweep}.json"
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
        for run in sorted(runs, key=lambda run: run["seed"]):
            name = run["name"].removesuffix(", seed 2")
            found.setdefault(name, []).append(run["metrics"])
    assert all(len(seeds) == 2 for seeds in found.values())
    return found


def each(found, name, what="AP"):
    return [seed[what] for seed in found[name]]


def test_without_places_it_is_far_worse_and_three_ways_to_tell_them_are_alike():
    found = changed("boxes", "known")
    told = [each(found, name) for name in ("as it is", "input", "learned")]
    assert max(each(found, "none")) + 0.1 < min(map(min, told))
    assert max(each(found, "none")) + 0.04 < min(each(found, "decoder"))
    assert max(each(found, "decoder")) < min(map(min, told))
    assert max(map(min, told)) - min(map(min, told)) < 0.05  # less than between seeds of one
    assert any(max(one) - min(one) > 0.04 for one in told)


def test_l1_alone_finds_as_many_and_places_them_worse():
    found = changed("boxes")
    assert max(each(found, "l1", "AP75")) < min(each(found, "as it is", "AP75"))
    assert max(each(found, "l1", "AP_small")) < min(each(found, "as it is", "AP_small"))
    assert min(each(found, "l1", "AP50")) > min(each(found, "as it is", "AP50"))


def test_feed_forward_networks_make_no_difference_here_and_auxiliary_losses_help():
    found = changed("boxes", "parts")
    whole, bare = each(found, "as it is"), each(found, "no feed-forward")
    assert max(bare) > min(whole) and abs(sum(bare) - sum(whole)) / 2 < 0.03
    assert found["no feed-forward"][0]["weights"] < 0.6 * found["as it is"][0]["weights"]
    assert max(each(found, "last layer only")) < min(whole)


def test_giou_alone_had_begun_late_and_what_is_left_of_table_4_are_the_small_objects():
    short, long = changed("boxes"), changed("boxes_longer")
    assert min(each(short, "giou")) < 0.1 and min(each(long, "giou")) > 0.45
    scores = [each(long, name) for name in ("as it is", "l1", "giou")]
    assert max(map(min, scores)) < min(map(max, scores)) + 0.02
    small = {name: each(long, name, "AP_small") for name in long}
    assert max(small["l1"]) < min(*small["giou"], *small["as it is"])
