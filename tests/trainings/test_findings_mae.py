"""What "DeiT and MAE" says of committed runs: with another outcome the page would be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

RESULTS = Path(__file__).resolve().parents[2] / "results"


def read(path):
    return json.loads((RESULTS / path).read_text(encoding="utf-8"))


def metrics(path):
    """Return the metrics of each run of a sweep by its name."""
    return {run["name"]: run["metrics"] for run in read(path)["runs"]}


def test_the_autoencoder_looks_and_barely_beats_a_straight_line_where_it_was_trained():
    """One seed: the page says so."""
    m = read("mae/cpu.json")["metrics"]
    at = {r: {name: m[f"{name}, {r}%"] for name in
              ("MAE", "best linear guess", "nearest training picture", "mean picture of the kind",
               "pixels nearby", "mean picture", "MAE, visible patches of another picture")}
          for r in (25, 50, 75, 90)}  # fmt: skip
    assert 0.5 < at[75]["best linear guess"] - at[75]["MAE"] < 2
    for r in (25, 50, 90):
        assert at[r]["best linear guess"] < at[r]["MAE"] - 3, r
    for name in ("nearest training picture", "mean picture of the kind", "pixels nearby"):
        assert at[75]["MAE"] < at[75][name] - 9, name
    assert at[75]["MAE"] < 0.55 * at[75]["mean picture"]
    assert at[75]["MAE, visible patches of another picture"] > at[75]["mean picture"] + 10
    assert at[25]["MAE"] > at[50]["MAE"] > at[75]["MAE"]  # it sees more and paints worse
    assert at[25]["MAE"] > at[25]["pixels nearby"] > at[25]["nearest training picture"]


def test_no_student_passes_its_teacher_and_mixed_pictures_want_one():
    runs = metrics("deit/cpu-deit.json").values()
    arms = ("label, nothing", "soft, nothing", "hard, nothing", "label, moved", "label, mixed",
            "soft, mixed", "hard, mixed")  # fmt: skip
    for m in runs:
        right = {arm: m[f"{arm}, both"] for arm in arms}
        assert max(right.values()) < m["teacher"] - 0.01
        assert right["label, mixed"] < right["soft, mixed"] < right["hard, mixed"]
        assert right["label, nothing"] - 0.06 > right["label, moved"] > right["label, mixed"] + 0.02
        for told in ("label", "soft", "hard"):
            assert m[f"{told}, nothing, tokens, last"] > 0.98
            assert 0.2 < m[f"{told}, nothing, tokens, first"] < 0.55
    plain = {arm: mean(m[f"{arm}, both"] for m in runs) for arm in arms[:3]}
    assert max(plain.values()) - min(plain.values()) < 0.012  # about what a seed changes
