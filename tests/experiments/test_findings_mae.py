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
        for end in ("first", "last"):  # the control's tokens differ most: not so in the paper
            control, *taught = (m[f"{told}, mixed, tokens, {end}"] for told in
                                ("label", "soft", "hard"))  # fmt: skip
            assert control < min(taught) - 0.09
    plain = {arm: mean(m[f"{arm}, both"] for m in runs) for arm in arms[:3]}
    assert max(plain.values()) - min(plain.values()) < 0.012  # about what a seed changes


def test_two_other_autoencoders_paint_worse_when_they_see_more_and_their_target_does_not_matter():
    runs = metrics("mae/cpu-targets.json")
    for seed in ("", ", seed 2"):
        raw, normalised = runs[f"raw{seed}"], runs[f"normalised{seed}"]
        assert raw["MAE, 25%"] > raw["MAE, 50%"] + 10 and raw["MAE, 50%"] > raw["MAE, 75%"] + 2
        for name in ("mean of the patches", "class token"):
            read = [run[f"probe, trained, {name}"] for run in (raw, normalised)]
            assert abs(read[0] - read[1]) < 0.02
        assert min(read) > raw["probe, untrained, mean of the patches"] + 0.02
        given = normalised["MAE, visible patches of another picture, 75%"]
        assert normalised["MAE, 75%"] < given - 10 < raw["MAE, 75%"] - 7
        assert given < normalised["true mean of each patch, 75%"]  # mean and spread handed back


def test_the_fewer_labels_the_larger_the_lead_and_pixels_are_hard_to_beat():
    runs = list(metrics("labels/cpu-labels.json").values())
    for m in runs:
        lead = [m[f"fine-tuned, {n}"] - m[f"scratch, {n}"] for n in (100, 500, 2000, 8976)]
        assert min(lead) > 0.005 and lead[0] > 0.1 and lead[3] < 0.02
        assert m["probe, autoencoder, 100"] > m["fine-tuned, 100"] + 0.04
        assert m["probe, autoencoder, 100"] > m["probe, pixels, 100"] + 0.02
        assert m["probe, untrained, 100"] < m["probe, autoencoder, 100"] - 0.15
        assert m["probe, pixels, 500"] > m["fine-tuned, 500"] + 0.01
        assert m["probe, pixels, 8976"] > m["probe, autoencoder, 8976"] + 0.01

    def mean_of(name):
        return mean(m[name] for m in runs)

    leads = [mean_of(f"fine-tuned, {n}") - mean_of(f"scratch, {n}") for n in (100, 500, 2000, 8976)]
    assert leads == sorted(leads, reverse=True)
    assert mean_of("probe, pixels, 500") > mean_of("probe, autoencoder, 500")
    assert abs(mean_of("probe, pixels, 8976") - mean_of("scratch, 8976")) < 0.01
    assert mean_of("fine-tuned, 8976") > mean_of("probe, pixels, 8976") + 0.005


def test_augmentation_helps_where_pictures_would_be_learned_by_heart():
    runs = metrics("augment/cpu-augment.json")
    for seed in ("", ", seed 2"):
        plain, moved, mixed = (runs[f"{how}{seed}"] for how in ("nothing", "moved", "mixed"))
        assert plain["train"] == 1 and plain["loss"] < 0.01
        assert moved["test"] > plain["test"] + 0.04 and mixed["test"] > plain["test"] + 0.03
