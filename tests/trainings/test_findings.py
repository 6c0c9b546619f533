"""What pages say of committed runs, seed by seed: with another outcome a page would be wrong."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "results"


def metrics(path):
    """Return the metrics of each run of a sweep by its name."""
    runs = json.loads((RESULTS / path).read_text(encoding="utf-8"))["runs"]
    return {run["name"]: run["metrics"] for run in runs}


def test_the_next_sentence_was_not_needed_and_single_sentences_do_harm():
    runs = metrics("formats/cpu-inputs.json")
    for seed in ("", ", seed 2"):
        for what in ("filled, alone", "filled, full", "marks", "pairs"):
            for kind in ("segments", "sentences"):
                asked, left_out = runs[f"{kind}, asked{seed}"][what], runs[f"{kind}{seed}"][what]
                assert asked < left_out + 0.015, (kind, what, seed)
        for what in ("filled, full", "marks"):
            others = [runs[f"{kind}{seed}"][what] for kind in ("segments", "full", "documents")]
            assert runs[f"sentences{seed}"][what] < min(others) - 0.03, (what, seed)


def test_each_batch_has_a_rate_of_its_own_and_then_no_size_wins():
    runs = metrics("formats/cpu-batches.json")
    runs["1024 at 0.002"] = metrics("formats/cpu-inputs.json")["full"]
    rates = {256: (0.001, 0.002, 0.004), 1024: (0.002, 0.004, 0.008), 4096: (0.004, 0.008, 0.016)}
    best = []
    for batch, (low, middle, high) in rates.items():
        found = {rate: runs[f"{batch} at {rate}"] for rate in (low, middle, high)}
        assert min(found, key=lambda rate: found[rate]["loss"]) == middle
        assert max(found, key=lambda rate: found[rate]["filled, full"]) == middle
        best.append(found[middle]["filled, full"])
    assert max(best) - min(best) < 0.015


def test_masks_that_stay_are_learned_by_heart():
    runs = metrics("formats/cpu-masks.json")
    for seed in ("", ", seed 2"):
        once, ten, anew = (runs[f"{kind}{seed}"] for kind in ("once", "ten times", "anew"))
        assert once["loss"] < ten["loss"] - 1 and once["loss"] < anew["loss"] - 1
        for what in ("filled, alone", "filled, full", "marks"):
            assert once[what] < once[f"{what}, before"] < anew[what]
            assert once[what] < ten[what] - 0.05 and ten[what] < anew[what] < ten[what] + 0.03


def languages():
    runs = metrics("languages/cpu-pieces.json")
    whole = json.loads((RESULTS / "languages/cpu.json").read_text(encoding="utf-8"))
    return [(whole["metrics"], runs["nothing shared"]),
            (runs["shared, seed 2"], runs["nothing shared, seed 2"])]  # fmt: skip


def test_two_languages_align_and_mostly_through_what_they_share():
    for shared, nothing in languages():
        assert shared["layer 2"] > 2 * shared["layer 2 at the start"]
        assert nothing["layer 2"] > 2 * nothing["counting, length"]  # a little, and no accident
        assert nothing["layer 2"] < shared["layer 2"] / 4
        assert shared["layer 4"] < shared["layer 0"] < shared["layer 2"]
        assert shared["layer 2"] < shared["counting, shared pieces"] / 2


def test_what_was_learned_in_english_is_known_in_french_if_pieces_are_shared():
    for shared, nothing in languages():
        zero, often = "zero-shot, layer 2", shared["most frequent part"]
        assert shared[zero] > max(often, shared["zero-shot, counted pieces"]) + 0.05
        assert nothing[zero] < often + 0.01
        assert shared[zero] < shared["translate-train, layer 2"] - 0.05
        assert abs(shared["translate-train, layer 2"] - shared["French, layer 2"]) < 0.02


def pretexts():
    runs, holes = (metrics(f"pretext/cpu-{name}.json") for name in ("pretext", "holes"))
    assert all(
        abs(holes[name]["restored"] - runs[name]["restored"]) < 0.02
        for name in ("infilling", "infilling, seed 2")
    )
    runs |= {name: found for name, found in holes.items() if name.startswith(("any", "num"))}
    return runs, holes


def test_what_writes_the_whole_text_learns_to_copy_and_to_restore():
    runs, _ = pretexts()
    for seed in ("", ", seed 2"):
        found = {
            name: runs[name + seed]["restored"]
            for name in ("nothing", "nothing, longer", "prefix", "spans", "anywhere", "numbered")
        }
        for name in ("infilling", "deletion"):
            assert runs[name + seed]["restored"] > 2.5 * max(found.values())
            assert runs[name + seed]["restored"] > 4 * found["numbered"]
        both = runs[f"deletion{seed}"]["restored"] - runs[f"infilling{seed}"]["restored"]
        assert abs(both) < 0.02  # deletion, nearly the same task, is not ahead
        assert abs(found["anywhere"] - found["spans"]) < 0.02
        task = runs[f"restore{seed}"]
        assert task["restored"] > runs[f"infilling{seed}"]["restored"] + 0.08
        assert abs(task["restored"] - task["looked up in the examples"]) < 0.03  # a table does it
        longer = runs[f"nothing, longer{seed}"]
        assert longer["restored"] < 0.12 and longer["restore, best step"] < 300  # of 1,300


def test_a_pretext_helps_to_translate_and_most_of_it_is_french():
    runs, holes = pretexts()
    for seed in ("", ", seed 2"):
        loss = {
            name: runs[name + seed]["translate"]
            for name in (
                "nothing",
                "nothing, longer",
                "prefix",
                "spans",
                "anywhere",
                "numbered",
                "deletion",
                "infilling",
                "restore",
                "translate",
            )
        }
        assert loss["translate"] < min(v for name, v in loss.items() if name != "translate") - 0.1
        for name in ("deletion", "infilling", "restore"):
            assert loss[name] < loss["prefix"] - 0.1 < loss["nothing, longer"] - 0.1
            assert abs(loss[name] - loss["infilling"]) < 0.05  # and "restore" has read no English
        assert (
            loss["nothing, longer"] < min(loss["spans"], loss["anywhere"], loss["numbered"]) - 0.3
        )
        assert loss["nothing"] > max(v for name, v in loss.items() if name != "nothing") + 0.3
        saved = {
            name: holes[name + seed]["translate, wrong source"] - holes[name + seed]["translate"]
            for name in ("infilling", "numbered", "anywhere")
        }
        assert saved["infilling"] > 0.7 and max(saved["numbered"], saved["anywhere"]) < 0.4
