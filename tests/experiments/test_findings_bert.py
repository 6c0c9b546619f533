"""What "BERT" says about its runs, seed by seed: a sentence, and what has to hold for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coursekit.data.relations import MEN, PLACES, THINGS, WOMEN, WORKERS, related_words

RESULTS = Path(__file__).resolve().parents[2] / "results"
SEEDS = ("", ", seed 2")


def metrics(name):
    """Return the metrics of each run of a sweep by its name."""
    text = (RESULTS / f"blanks/cpu-{name}.json").read_text(encoding="utf-8")
    return {run["name"]: run["metrics"] for run in json.loads(text)["runs"]}


R, RATES, EIGHT = metrics("readers"), metrics("rates"), metrics("table8")
EIGHT |= {f"80/10/10{seed}": R[f"both{seed}"] for seed in SEEDS}
SMALL = json.loads((RESULTS / "bert/cpu.json").read_text(encoding="utf-8"))["metrics"]
NOUNS = {*WORKERS, *WOMEN, *MEN, *THINGS, *PLACES}
COUNTED = R["left"]["counting, two words on each side"]


def of(kind, what="filled", runs=R):
    """Return the values of all seeds of a run."""
    names = (kind, f"{kind}, seed 2", f"{kind}, seed 3")
    return [found[what] for name, found in runs.items() if name in names]


def gain(kind):
    return [b - a for a, b in zip(of(kind, "tuned at the start"), of(kind, "tuned"))]


def mean(values):
    return sum(values) / len(values)


MIXED = ("100/0/0", "80/0/20", "80/10/10", "0/20/80", "0/0/100")
CLAIMS = {
    "the joined model fills most, left only fewest": lambda: (
        max(of("left")) < min(of("both")) and max(of("both, long")) < min(of("joined"))
    ),
    "at as many predicted words both ways is level with the joined model": lambda: all(
        R[f"joined{s}"]["filled, step 1600"] < R[f"both, long{s}"]["filled"]
        and R[f"both, long{s}"]["filled"] < R[f"joined{s}"]["filled, step 2400"]
        and 1600 < 0.15 * 12_000 < 2400
        for s in SEEDS
    ),
    "no model clearly beats counting": lambda: max(of("joined")) < COUNTED + 0.01,
    "both ways is the best tagger, by the widest margin when frozen": lambda: (
        min(of("both", "frozen")) - max(of("left", "frozen") + of("joined", "frozen"))
        > min(of("both", "tuned")) - max(of("left", "tuned") + of("joined", "tuned"))
        > 0.02
    ),
    "fine-tuned, the order is that of the papers": lambda: (
        max(of("left", "tuned")) < min(of("joined", "tuned")) - 0.05
    ),
    "frozen, left only and joined differ by less than the joined seeds": lambda: (
        abs(mean(of("left", "frozen")) - mean(of("joined", "frozen")))
        < max(of("joined", "frozen")) - min(of("joined", "frozen"))
    ),
    "pre-training gains both ways more than twice as much": lambda: (
        min(gain("both")) > 2 * max(mean(gain("left")), mean(gain("joined")))
    ),
    "the joined model starts far ahead": lambda: (
        min(of("joined", "tuned at the start"))
        > max(of("left", "tuned at the start") + of("both", "tuned at the start")) + 0.1
    ),
    "two stacks that read both ways do not": lambda: (
        max(of("halves", "tuned at the start", metrics("starts"))) < 0.31
    ),
    "the joined model is first at other learning rates": lambda: all(
        RATES[f"joined, {rate}"]["filled"] > RATES[f"both, {rate}"]["filled"] + 0.05
        for rate in ("half the rate", "twice the rate")
    ),
    "one mixture fails when frozen, and fine-tuning repairs one seed of three": lambda: (
        max(of("80/20/0", "frozen", EIGHT)) < min(v for m in MIXED for v in of(m, "frozen", EIGHT))
        and sum(v > 0.5 for v in of("80/20/0", "tuned", EIGHT)) == 1
    ),
    "[MASK] alone is not worse than 80/10/10": lambda: (
        min(of("100/0/0", "frozen", EIGHT)) > max(of("80/10/10", "frozen", EIGHT))
    ),
    "the small BERT is hardly better than counting two neighbours": lambda: (
        0 < SMALL["filled at the end"] - SMALL["counting, a word on each side"] < 0.03
    ),
    "of next sentences it gets more right than a count of shared words": lambda: (
        SMALL["follows at the end"] > SMALL["counting, shared words"] + 0.05
    ),
    "after a determiner the next noun is always the right one": lambda: all(
        one.head == next(n for n, word in enumerate(one.words)
                         if n > one.dependent and word in NOUNS)
        for one in related_words("determiner", "judge", 100)
    ),
}  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_page_says(claim):
    assert CLAIMS[claim]()
