"""What "Training practice" says of committed runs; its notebook asserts what it computes itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"
PRACTICE = json.loads((RESULTS / "practice/cpu.json").read_text(encoding="utf-8"))
COLD = json.loads((RESULTS / "cold/cpu.json").read_text(encoding="utf-8"))
ENDS = {name: curve[-1]["valid"] for name, curve in PRACTICE["curves"].items()}
WARM, NONE, RADAM = "Adam, warm-up", "Adam, none", "RAdam, none"
LOW, HIGH, HIGHEST = COLD["settings"]["rates"]


def fair(rate: float, start: str) -> list[dict[int, float]]:
    """Return step -> held-out loss of a setting, seed by seed."""
    return [{look["step"]: look["valid"] for look in run["looks"]}
            for run in COLD["tables"]["runs"]
            if (run["rate"], run["start"]) == (rate, start)]  # fmt: skip


def gaps(rate: float, start: str) -> list[float]:
    """Return how far a setting ends above Adam with a warm-up, seed by seed."""
    return [a[200] - b[200] for a, b in zip(fair(rate, start), fair(rate, WARM), strict=True)]


def apart(rate: float) -> float:
    """Return by how much two seeds of one setting differ at most."""
    ends = [[run[200] for run in fair(rate, start)] for start in (WARM, NONE, RADAM)]
    return max(max(of) - min(of) for of in ends)


def half_below(name: str) -> Mapping[int, float]:
    """Return step -> the log10 that half of the gradients are below."""
    edges, found = PRACTICE["tables"]["edges"], {}
    for row in PRACTICE["tables"]["histograms"][name]:
        below, bin_ = 0.0, 0
        while below < 0.5:
            below, bin_ = below + row["gradient"][bin_], bin_ + 1
        found[row["of"]] = edges[bin_]
    return found


def close_to_the_end(one: str, other: str) -> bool:
    return abs(ENDS[one] - ENDS[other]) < 0.05


CLAIMS: list[tuple[str, Callable[[], bool]]] = [
    ("Post-LN ends at about the same loss with and without a warm-up, within two seeds",
     lambda: abs(ENDS["Post-LN, warm-up"] - ENDS["Post-LN, none"]) < apart(LOW)),
    ("Pre-LN without a warm-up is the lowest of four, by less than two seeds differ",
     lambda: 0 < ENDS["Pre-LN, warm-up"] - ENDS["Pre-LN, none"] < apart(LOW)
     and ENDS["Pre-LN, none"] < min(ENDS["Post-LN, warm-up"], ENDS["Post-LN, none"])),
    ("RAdam and Adam end together", lambda: close_to_the_end("Post-LN, RAdam, none",
     "Post-LN, warm-up") and close_to_the_end("Post-LN, RAdam, none", "Post-LN, none")),
    ("a tenth of the rate learns, and is far behind",
     lambda: ENDS["Post-LN, none"] + 1 < ENDS["Post-LN, a tenth, none"]
     < PRACTICE["curves"]["Post-LN, a tenth, none"][0]["valid"] - 1),
    ("at the two higher rates RAdam is not behind Adam with a warm-up, in both seeds",
     lambda: max(gaps(HIGH, RADAM) + gaps(HIGHEST, RADAM)) < 0.01),
    ("there Adam alone is far behind, in both seeds",
     lambda: min(gaps(HIGH, NONE)) > 1 and min(gaps(HIGHEST, NONE)) > 0.7),
    ("at the lowest rate Adam alone is behind by about what seeds differ by",
     lambda: 0 < min(gaps(LOW, NONE)) < apart(LOW) < max(gaps(LOW, NONE)) < 3 * apart(LOW)),
    ("Adam alone is still falling at the middle rate and brings nothing at the highest",
     lambda: all(run[200] < run[100] - 0.3 for run in fair(HIGH, NONE))
     and all(abs(run[200] - run[100]) < 0.06 for run in fair(HIGHEST, NONE))),
    ("the gradients of run 2 shrink by step 20 and are back near run 1's at step 200",
     lambda: half_below("Post-LN, none")[20] < half_below("Post-LN, none")[1] - 1.3
     and half_below("Post-LN, none")[200] > half_below("Post-LN, warm-up")[200] - 0.4
     and min(half_below("Post-LN, warm-up").values())
     > min(half_below("Post-LN, none").values()) + 0.3),
    ("growing batches end lower by less than two seeds differ, and no lower than without a warm-up",
     lambda: 0 < ENDS["Pre-LN, warm-up"] - ENDS["Pre-LN, growing batch"] < apart(LOW)
     and close_to_the_end("Pre-LN, growing batch", "Pre-LN, none")),
    ("short sentences first end at the same loss and take no less time",
     lambda: close_to_the_end("Pre-LN, then all", "Pre-LN, warm-up")
     and sum(PRACTICE["curves"][name][-1]["seconds"]
             for name in ("Pre-LN, short first", "Pre-LN, then all"))
     > PRACTICE["curves"]["Pre-LN, warm-up"][-1]["seconds"]),
    ("without smoothing the likeliest token gets less than half",
     lambda: PRACTICE["tables"]["smoothing"][0]["surest"] < 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "holds"), CLAIMS, ids=[claim for claim, _ in CLAIMS])
def test_the_page_says(claim, holds):
    assert holds(), claim
