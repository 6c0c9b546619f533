"""What "Positions" says about the race: with another outcome of the run the page would be wrong."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

RACE = Path(__file__).resolve().parents[2] / "results" / "race" / "cpu.json"
ROWS = json.loads(RACE.read_text(encoding="utf-8"))["tables"]["races"]
RACES = defaultdict(list)  # (reader, steps, learning rate) -> per seed, in %, at 16, 32, 64
for row in ROWS:
    key = (row["reader"], row["steps"], row["lr"])
    RACES[key].append([100 * row[length] for length in ("16", "32", "64")])
LEARNED = ("learned", "binary", "sinusoidal", "rotary", "T5")


def seeds(reader, at, steps=1000, lr=0.015):
    return [row[(16, 32, 64).index(at)] for row in RACES[reader, steps, lr]]


def mean(*args, **options):
    values = seeds(*args, **options)
    return sum(values) / len(values)


def places(reader):
    """Return the mean accuracy at each position, in %."""
    found = [row["places"] for row in ROWS if row["reader"] == reader and "places" in row]
    return [100 * sum(column) / len(column) for column in zip(*found, strict=True)]


ROTARY, TABLE, WAVES = places("rotary"), places("learned"), places("sinusoidal")
CLAIMS = {
    "after 250 steps all but ALiBi have learned the task": (
        all(min(seeds(name, 16, 250)) > 95 for name in LEARNED)
        and max(seeds("ALiBi", 16, 250)) < 40
    ),
    "four times the steps: ALiBi names most tokens, then more": (
        min(seeds("ALiBi", 16)) > max(seeds("ALiBi", 16, 250)) + 35
        and min(seeds("ALiBi", 16, 4000)) > max(seeds("ALiBi", 16)) + 4
    ),
    "of three learning rates ours is the best for ALiBi": (
        mean("ALiBi", 16) > max(mean("ALiBi", 16, lr=lr) for lr in (0.005, 0.03))
    ),
    "at 64 sinusoids and bits overlap, both above the table": (
        min(seeds("sinusoidal", 64)) < max(seeds("binary", 64))
        and min(seeds("binary", 64)) < max(seeds("sinusoidal", 64))
        and min(*seeds("sinusoidal", 64), *seeds("binary", 64)) > max(seeds("learned", 64)) + 5
    ),
    "more steps give sinusoids a point or so": (
        all(abs(mean("sinusoidal", at, 4000) - mean("sinusoidal", at)) < 2 for at in (32, 64))
    ),
    "rotary reads 32 and breaks at 64; T5 loses earlier": (
        min(seeds("rotary", 32)) > 99 and max(seeds("rotary", 64)) < 70
        and max(seeds("T5", 32)) < 90
    ),
    "ALiBi ends far above sinusoids, below rotary and T5": (
        min(seeds("ALiBi", 64, 4000)) > mean("sinusoidal", 64, 4000) + 15
        and max(seeds("ALiBi", 64, 4000))
        < min(*seeds("rotary", 64, 4000), *seeds("T5", 64, 4000))
    ),
    "the table fails where training ended, sinusoids fall": (
        min(TABLE[3:16]) > 99 and max(TABLE[16:]) < 20
        and WAVES[15] > 99 and max(WAVES[17:20]) < 30
    ),
    "from anywhere, sinusoids read on": (
        min(seeds("sinusoidal, anywhere", 64)) > max(seeds("sinusoidal", 64)) + 40
    ),
    "with every bucket trained T5 reads on": (
        min(seeds("T5, buckets to 16", 64)) > max(seeds("T5", 64)) + 25
    ),
    "rotary makes no mistakes to 33, falls at 34, 41, 47": (
        min(ROTARY[3:34]) > 99.5
        and all(ROTARY[at - 1] - ROTARY[at] > 7 for at in (34, 41, 47))
    ),
    "one block with a mask and no positions stays at the floor": max(seeds("none", 16)) < 35,
}  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_race_shows_what_the_page_says(claim):
    assert CLAIMS[claim], claim
