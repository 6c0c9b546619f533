"""What "What a translator costs and needs" says of the sweeps, against the base model's seeds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results/ablations"


def runs(sweep: str) -> dict[str, dict[str, float]]:
    found = json.loads((RESULTS / f"cpu-{sweep}.json").read_text(encoding="utf-8"))["runs"]
    return {run["name"]: run["metrics"] for run in found}


SHORT, OTHER = runs("table3"), runs("suspects")
P = {name: run["perplexity"] for name, run in (SHORT | OTHER).items()}
WEIGHTS = {name: run["weights"] for name, run in (SHORT | OTHER).items()}
BASES = [P[name] for name in ("base", "base, seed 2", "base, seed 3")]
BLEU = [SHORT[name]["bleu"] for name in ("base", "base, seed 2", "base, seed 3")]
LONG = [P["long, base"], P["long, base, seed 2"]]
ROWS = [name for name in SHORT if not name.startswith("base")]


def change(name: str) -> float:
    """Return how much worse a run is than the base model of as many steps, as a fraction."""
    bases = LONG if name.startswith("long") else BASES
    return P[name] / (sum(bases) / len(bases)) - 1


CLAIMS: list[tuple[str, Callable[[], bool]]] = [
    ("width matters more than depth, with about as many weights",
     lambda: abs(WEIGHTS["C width=256"] / WEIGHTS["C depth=2"] - 1) < 0.1
     and change("C width=256") > 4 * change("C depth=2") > 0.2),
    ("every row differs from the base by more than its seeds differ",
     lambda: min(abs(change(name)) for name in ROWS) > (max(BASES) - min(BASES)) / min(BASES)),
    ("in BLEU most rows do not differ by more than the seeds of the base, or hardly",
     lambda: sum(min(BLEU) - 0.5 < SHORT[name]["bleu"] < max(BLEU) + 0.5 for name in ROWS)
     > len(ROWS) / 2),
    ("one head is the best number of heads",
     lambda: P["A heads=1"] < min(BASES + [P[f"A heads={n}"] for n in (4, 16, 32)]) - 1),
    ("one head with narrow keys is worse than the base; it has fewer weights",
     lambda: P["heads=1 keys=8"] > max(BASES) + 0.5
     and WEIGHTS["heads=1 keys=8"] < WEIGHTS["base"]),
    ("eight heads with wide keys are better, with more than twice the weights",
     lambda: P["heads=8 keys=64"] < min(BASES) - 1
     and WEIGHTS["heads=8 keys=64"] > 2 * WEIGHTS["base"]),
    ("the big model is the best of all", lambda: min(ROWS, key=P.get) == "big"),
    ("a fourth block does not help in short runs, nor beyond the seeds in long ones",
     lambda: P["C depth=8"] > max(BASES) and abs(change("long, four blocks")) < 0.01
     and P["long, four blocks"] > min(LONG) - 0.01),
    ("held-out perplexity rises without dropout, and falls with it, as training continues",
     lambda: P["long, no dropout"] > P["D dropout=0.0"] + 10
     and P["long, no dropout, seed 2"] > P["D dropout=0.0"] + 10
     and max(LONG) < min(BASES) - 10),
    ("learned positions: better at first, worse at the end",
     lambda: change("E learned") < -0.02 and change("long, learned positions") > 0.1),
    ("two shrank: no smoothing, and four blocks",
     lambda: change("D smoothing=0.0") < change("long, no smoothing") < -0.02
     and abs(change("long, four blocks")) < abs(change("C depth=8"))),
    ("one grew: one head", lambda: change("long, one head") < 2 * change("A heads=1") < -0.05),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "holds"), CLAIMS, ids=[claim for claim, _ in CLAIMS])
def test_the_page_says(claim, holds):
    assert holds(), claim
