"""What "GPT" says of its heads on data, seed by seed: with another outcome the page is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"
NOISE = 0.032  # twice the standard error of a share of a thousand that is near a half


@pytest.fixture(scope="module")
def tuned():
    """Return the metrics of each seed by the name of the run."""
    found = {}
    path = RESULTS / "gpt_heads/cpu-heads.json"
    for run in json.loads(path.read_text(encoding="utf-8"))["runs"]:
        found.setdefault(run["name"], []).append(run["metrics"])
    assert all(len(seeds) == 2 for seeds in found.values())
    return found


def right(tuned, name, what="right"):
    return [run[what] for run in tuned[name]]


def test_fresh_numbers_stay_near_chance_with_four_times_as_many_steps(tuned):
    path = RESULTS / "gpt_heads/cpu-heads_longer.json"
    longer = [run["metrics"] for run in json.loads(path.read_text(encoding="utf-8"))["runs"]]
    assert len(longer) == 2 and max(run["right"] for run in longer) < 0.5 + 2 * NOISE
    short = {run["steps"] for run in tuned["speech, fresh"]}
    assert {run["steps"] for run in longer} == {4 * steps for steps in short}


@pytest.mark.parametrize("task", ["speech", "next"])
def test_with_speeches_the_writer_is_ahead_of_fresh_numbers(tuned, task):
    fresh, writer = right(tuned, f"{task}, fresh"), right(tuned, f"{task}, writer")
    assert min(writer) > max(fresh) + 4 * NOISE
    assert max(fresh) < tuned[f"{task}, fresh"][0]["chance"] + 2 * NOISE  # near chance


def test_with_film_reviews_the_seeds_do_not_tell_the_two_apart(tuned):
    fresh, writer = right(tuned, "reviews, fresh"), right(tuned, "reviews, writer")
    assert abs(sum(fresh) - sum(writer)) / 2 < max(fresh) - min(fresh) + NOISE
    assert min(fresh + writer) > tuned["reviews, writer"][0]["chance"] + NOISE  # both learn


def test_some_counting_does_better_in_each_task(tuned):
    for task, rival in {"reviews": "counting", "speech": "counting by decade",
                        "next": "counting by decade"}.items():  # fmt: skip
        best = max(right(tuned, f"{task}, writer") + right(tuned, f"{task}, fresh"))
        assert min(right(tuned, f"{task}, writer", rival)) > best + NOISE


def test_both_orders_are_no_more_often_right_and_one_order_depends_on_it(tuned):
    both, one = right(tuned, "speech, writer"), right(tuned, "speech, writer, one order")
    assert abs(sum(both) - sum(one)) / 2 < NOISE
    assert min(right(tuned, "speech, writer, one order", "changed")) > 0.05
    for name in ("speech, writer", "speech, writer, one order"):  # as many sequences read
        assert {run["steps"] for run in tuned[name]} == {125 if name == "speech, writer" else 250}


def test_the_writer_chooses_without_a_label_what_it_would_write(tuned):
    asked, chance = (tuned["next, writer"][0][name] for name in ("writer, no label", "chance"))
    assert chance + 4 * NOISE < asked < min(right(tuned, "next, writer"))
