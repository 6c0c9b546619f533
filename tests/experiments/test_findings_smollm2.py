"""What "GPT" says of sampled texts and of few-shot prompts, seed by seed."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pytest

RESULT = Path(__file__).resolve().parents[2] / "results/smollm2/cpu.json"
READERS = ("SmolLM2", "the writer")
WARMER = ("temperature 0.5", "temperature 1", "temperature 1.3")


@pytest.fixture(scope="module")
def found():
    return json.loads(RESULT.read_text(encoding="utf-8"))


def seeds(found, reader, way, what):
    rows = found["tables"]["scores"]
    return [row[what] for row in rows if (row["reader"], row["way"]) == (reader, way)]


def right(found, task, reader, order):
    """The proportions of right answers, one for each draw of examples."""
    rows = found["tables"]["few-shot"]
    return [row["right"] for row in rows
            if (row["task"], row["reader"], row["examples"]) == (task, reader, order)]  # fmt: skip


def noise(found):
    """Two standard errors of a proportion near a tenth, over the questions of one draw."""
    cases = min(row["cases"] for row in found["tables"]["few-shot"])
    return 2 * math.sqrt(0.09 / cases)


def test_there_are_enough_texts_and_questions(found):
    assert found["settings"]["seeds"] >= 3 and len(found["tables"]["prompts"]) == 4
    assert all(row["cases"] >= 30 for row in found["tables"]["few-shot"])


@pytest.mark.parametrize("reader", READERS)
def test_greedy_texts_repeat_themselves_and_are_predictable(found, reader):
    (again,) = seeds(found, reader, "greedy", "repeated")
    (bits,) = seeds(found, reader, "greedy", "bits")
    assert again > 0.15 + found["metrics"]["speeches, repeated"]
    for way in ("temperature 1", "temperature 1.3", "top-k, k = 40", "top-p, p = 0.9"):
        assert max(seeds(found, reader, way, "repeated")) < again / 2
        assert min(seeds(found, reader, way, "bits")) > bits


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", ["nats", "bits"])
def test_surprisal_rises_with_the_temperature_in_every_seed(found, reader, what):
    for colder, warmer in pairwise(WARMER):
        low, high = (seeds(found, reader, way, what) for way in (colder, warmer))
        assert max(low) < min(high)


@pytest.mark.parametrize("way", ["greedy", "temperature 0.5", "temperature 1"])
def test_the_writer_is_the_odder_one_at_each_setting(found, way):
    ours, theirs = (seeds(found, reader, way, "bits") for reader in ("the writer", "SmolLM2"))
    assert min(ours) > max(theirs)


def test_real_speeches_hardly_repeat_and_are_far_from_noise(found):
    assert found["metrics"]["speeches, repeated"] < 0.02
    for reader in READERS:
        hot = min(seeds(found, reader, "temperature 1.3", "bits"))
        assert found["metrics"]["speeches, bits"] < hot


def test_examples_do_not_teach_french(found):
    for order in ("drawn", "reversed"):
        assert max(right(found, "French words", "SmolLM2", order)) < 0.3


def test_a_look_up_needs_its_entry(found):
    none, drawn, turned = (right(found, "look-ups", "SmolLM2", order)
                           for order in ("none", "drawn", "reversed"))  # fmt: skip
    assert max(none) < 0.1 + noise(found)  # chance is a tenth
    assert min(drawn + turned) > 0.5


def test_only_look_ups_gain_clearly_and_reviews_lose(found):
    cases = sum(row["cases"] for row in found["tables"]["few-shot"]
                if (row["task"], row["reader"], row["examples"])
                == ("look-ups", "SmolLM2", "none"))  # fmt: skip
    clear = 2 * math.sqrt(0.5 / cases)

    def gain(task, order):
        return mean(right(found, task, "SmolLM2", order)) - mean(
            right(found, task, "SmolLM2", "none")
        )

    for order in ("drawn", "reversed"):
        assert gain("look-ups", order) > clear
        assert abs(gain("French words", order)) < clear
        assert abs(gain("sums of two digits", order)) < clear
        assert gain("film reviews", order) < 0
    assert gain("film reviews", "drawn") < -clear


def test_the_writer_answers_nothing(found):
    for task in ("French words", "sums of two digits", "film reviews", "look-ups"):
        for order in ("none", "drawn", "reversed"):
            assert max(right(found, task, "the writer", order)) < 0.1
