"""What "Swin" says of committed timings and runs: with another outcome the page would be wrong."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "results"


def rows(contest):
    """Return the rows of a contest of the benchmark by contestant."""
    record = json.loads((RESULTS / "benchmarks.json").read_text(encoding="utf-8"))
    found = record["shifted_windows"]["rows"]
    return {row["name"]: row for row in found if row["contest"] == contest}


def test_shifted_windows_are_faster_than_gathered_ones():
    windows = rows("windows, stage 1")
    gathered, blocks = windows["sliding, gathered"], windows["sliding, in blocks"]
    assert gathered["times_ours"] > 24 and gathered["peak_MB"] > 24 * windows["ours"]["peak_MB"]
    assert 2.5 < blocks["times_ours"] < 5 < gathered["times_ours"] / 4
    assert windows["all cells, masked"]["times_ours"] > 10
    assert 0.7 < windows["not shifted"]["times_ours"] < 0.9
    assert 0.6 < windows["sliding in a row"]["times_ours"] < 1.5


def test_the_vit_falls_behind_as_the_picture_grows_and_needs_less_memory():
    sides = [rows(f"forward, {side} pixels") for side in (224, 448, 672)]
    small, middle, large = (side["ViT, patches of 16"]["times_ours"] for side in sides)
    assert small < 0.95 < middle < 1.05 < 1.15 < large
    assert all(side["ViT, patches of 16"]["peak_MB"] < side["ours"]["peak_MB"] for side in sides)


def scores(sweep, what):
    """Return a metric of both seeds of each run, in %, by its name."""
    runs = json.loads((RESULTS / "swin" / f"cpu-{sweep}.json").read_text(encoding="utf-8"))["runs"]
    found = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        name = run["name"].removesuffix(", seed 2")
        found.setdefault(name, []).append(100 * run["metrics"][what])
    assert all(len(seeds) == 2 for seeds in found.values())
    return found


def test_after_few_steps_the_rows_of_table_4_do_not_differ():
    cells = scores("table4", "cells, new")
    swin, counted = cells["shifted, relative"], cells["histogram"]
    for other in ("no shift", "no mask", "no positions", "both"):
        assert abs(sum(cells[other]) - sum(swin)) / 2 < 1.5
    assert min(counted) > max(swin) and max(cells["absolute"]) - min(cells["absolute"]) > 6


def test_the_shift_is_worth_much_without_merging_and_little_with_it():
    cells, largest = (scores("unhurried", f"{what}, new") for what in ("cells", "largest"))
    merged, still = cells["shifted, relative"], cells["no shift"]
    assert min(merged) > max(still) and 1.5 < (sum(merged) - sum(still)) / 2 < 2.5
    known = scores("unhurried", "cells, known")
    assert min(known["shifted, relative"]) < max(known["no shift"])
    assert min(largest["shifted, relative"]) < max(largest["no shift"])
    for found, lead in ((cells, 5), (largest, 10)):
        assert min(found["no merging"]) > max(found["no merging, no shift"]) + lead


def test_a_vit_is_behind_in_the_cells_and_ahead_in_the_largest():
    cells, largest = (scores("unhurried", f"{what}, new") for what in ("cells", "largest"))
    assert max(cells["vit"]) < min(cells["shifted, relative"]) - 5
    assert min(largest["vit"]) > max(largest["shifted, relative"])


def test_without_merging_the_cells_are_named_better_and_the_largest_worse():
    for sweep in ("table4", "unhurried"):  # after the short training and after the longer one
        for photographs in ("new", "known"):
            cells, largest = (scores(sweep, f"{what}, {photographs}") for what in
                              ("cells", "largest"))  # fmt: skip
            if (sweep, photographs) != ("table4", "known"):
                assert min(cells["no merging"]) > max(cells["shifted, relative"]) + 1
            assert max(largest["no merging"]) < min(largest["shifted, relative"])
