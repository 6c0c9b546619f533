"""What "RoBERTa and many languages" says beyond `test_findings`, seed by seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"
SEEDS = ("", ", seed 2")
TASKS = ("filled, alone", "filled, full", "marks")


def metrics(path):
    """Return the metrics of each run of a sweep by its name."""
    runs = json.loads((RESULTS / f"{path}.json").read_text(encoding="utf-8"))["runs"]
    return {run["name"]: run["metrics"] for run in runs}


R = {
    name: found
    for part in ("batches", "inputs", "masks")
    for name, found in metrics(f"formats/cpu-{part}").items()
}
FORMATS = ("segments, asked", "segments", "sentences, asked", "sentences", "full", "documents")
WHOLE = json.loads((RESULTS / "languages/cpu.json").read_text(encoding="utf-8"))["metrics"]
PIECES = metrics("languages/cpu-pieces")
SHARED = (WHOLE, PIECES["shared, seed 2"])
NOTHING = (PIECES["nothing shared"], PIECES["nothing shared, seed 2"])


def of(kind, what):
    return [R[f"{kind}{seed}"][what] for seed in SEEDS]


def mean(values):
    return sum(values) / len(values)


def spread(values):
    return max(values) - min(values)


CLAIMS = {
    "a part of the text with dynamic masking costs one to three points": lambda: all(
        0.005 < mean(of("full", what)) - mean(of("anew", what)) < 0.035 for what in TASKS
    ),
    "in a single sentence the two formats differ by no more than their seeds": lambda: (
        abs(mean(of("full", "filled, alone")) - mean(of("sentences", "filled, alone")))
        < spread(of("full", "filled, alone"))
    ),
    "no encoder fills as many blanks as counting two neighbours": lambda: all(
        max(of(kind, f"filled, {where}")) < R["full"][f"counting, a word on each side, {where}"]
        for kind in FORMATS
        for where in ("alone", "full")
    ),
    "punctuation is within two points for all but single sentences": lambda: (
        spread([v for kind in FORMATS if "sentences" not in kind for v in of(kind, "marks")]) < 0.02
    ),
    "without short inputs hardly more than half as many blanks": lambda: all(
        0.5 < mean(of("full, from the start", what)) / mean(of("full", what)) < 0.6
        for what in ("filled, alone", "filled, full")
    ),
    "single sentences lose little in single sentences without the first phase": lambda: (
        mean(of("sentences", "filled, alone")) - mean(of("sentences, from the start",
                                                         "filled, alone")) < 0.03
    ),
    "at one learning rate large batches would seem to do harm": lambda: (
        R["4096 at 0.004"]["filled, full"]
        < min(R["256 at 0.004"]["filled, full"], R["1024 at 0.004"]["filled, full"]) - 0.02
    ),
    "the embeddings find most, the top less": lambda: all(
        m["layer 0"] > 0.8 * m["layer 2"] and m["layer 4"] < m["layer 0"] - 0.03 for m in SHARED
    ),
    "nothing shared: most is gone, but more than before and than by length": lambda: all(
        n["layer 2"] < s["layer 2"] / 4
        and n["layer 2"] > 2 * max(n["layer 2 at the start"], n["counting, length"])
        for s, n in zip(SHARED, NOTHING)
    ),
    "zero-shot beats the most frequent part with shared pieces only": lambda: all(
        s["zero-shot, layer 2"] > WHOLE["most frequent part"] + 0.05
        and n["zero-shot, layer 2"] < WHOLE["most frequent part"] + 0.01
        for s, n in zip(SHARED, NOTHING)
    ),
    "translate-train is as good as French labels": lambda: all(
        abs(m["translate-train, layer 2"] - m["French, layer 2"]) < 0.02 for m in SHARED
    ),
}  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_page_says(claim):
    assert CLAIMS[claim]()
