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
