"""What "Attention in images" says of its committed runs, seed by seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results" / "canvases"


def runs(*sweeps):
    """Return the metrics of the plain run and of those of some sweeps, by name."""
    found = {"attention": json.loads((RESULTS / "cpu.json").read_text("utf-8"))["metrics"]}
    for sweep in sweeps:
        content = json.loads((RESULTS / f"cpu-{sweep}.json").read_text(encoding="utf-8"))
        found |= {run["name"]: run["metrics"] for run in content["runs"]}
    return found


SEEDS = ("", ", seed 2")


@pytest.mark.parametrize("seed", SEEDS)
def test_only_attention_makes_ends_agree_that_have_their_own_noise(seed):
    found = runs("middles")
    attention = found[f"attention{seed}"]
    assert attention["agree"] > attention["chance"] + 0.3 and attention["kinds"] > 7
    for middle in ("residual", "none"):
        other = found[f"{middle}{seed}"]
        assert abs(other["agree"] - other["chance"]) < 0.05, middle
        assert attention["distance"] < other["distance"] / 2, middle


@pytest.mark.parametrize("seed", SEEDS)
def test_with_the_usual_noise_nobody_has_to_look(seed):
    found = runs("middles", "dense")
    dense = found[f"dense{seed}"]
    assert dense["agree"] > dense["chance"] + 0.3 and dense["kinds"] > 9.5
    assert dense["distance"] < found[f"attention{seed}"]["distance"]


def test_gamma_leaves_zero_before_the_ends_agree_and_one_kind_would_agree_too():
    rows = json.loads((RESULTS / "cpu.json").read_text("utf-8"))["curves"]["canvases"]
    assert rows[0]["gamma"] == 0 and rows[0]["kinds"] < 2 and rows[0]["agree"] > 0.5
    assert rows[1]["gamma"] > 0.1 and abs(rows[1]["agree"] - rows[1]["chance"]) < 0.02
    assert rows[2]["agree"] > rows[2]["chance"] + 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_a_faster_discriminator_costs_kinds_and_no_spectral_norm_costs_nothing(seed):
    found = runs("knobs")
    rows = json.loads((RESULTS / "cpu.json").read_text("utf-8"))["curves"]["canvases"]
    half = next(row for row in rows if row["step"] == 1000)
    same, four, free = (
        found[name + seed] for name in ("one rate", "one to four", "no spectral norm")
    )
    at = rows.index(half)
    for look in rows[at - 1 : at + 2]:  # the look before and after say the same
        assert same["agree"] > max(look["agree"], same["chance"]) + 0.15
        assert same["kinds"] < look["kinds"] - 1 and same["distance"] > look["distance"]
    assert same["agree"] > max(half["agree"], same["chance"]) + 0.3
    assert same["kinds"] < half["kinds"] - 1 and same["distance"] > half["distance"]
    assert abs(four["agree"] - four["chance"]) < 0.02 and four["kinds"] < 5
    assert free["agree"] > half["agree"] - 0.02 and free["kinds"] > half["kinds"]


@pytest.mark.parametrize("seed", SEEDS)
def test_where_attention_is_needed_ends_agree_more_often_than_with_dense_noise(seed):
    found = runs("middles", "dense", "controls", "longer")
    assert found[f"attention{seed}"]["agree"] > found[f"dense{seed}"]["agree"] + 0.05
    twice = [found[f"{arm}, longer{seed}"] for arm in ("attention", "dense")]
    assert all(run["step"] == 2 * found["attention"]["step"] for run in twice)
    assert twice[0]["agree"] > twice[1]["agree"] + 0.1


def test_neither_weights_nor_attention_change_what_dense_noise_reaches():
    found = runs("middles", "dense", "controls", "longer")
    weights = {name: run["weights, generator"] for name, run in found.items()}
    assert weights["dense"] > 3.5 * weights["attention"] > 3.5 * weights["dense, few weights"]
    assert abs(weights["attention, many weights"] / weights["dense"] - 1) < 0.01

    def agree(arm):
        return [found[arm + seed]["agree"] for seed in SEEDS]

    dense = agree("dense")
    assert min(agree("dense, few weights")) > min(dense)  # as well as with all of its weights
    assert max(agree("dense, attention")) < max(dense)
    assert sum(agree("dense, attention, longer")) < sum(agree("dense, longer")) + 0.02
    assert sum(agree("attention, many weights")) < sum(agree("attention"))
    nearest = min(run["distance"] for name, run in found.items() if not name.startswith("dense"))
    assert all(run["distance"] < nearest for name, run in found.items() if name.startswith("dense"))
