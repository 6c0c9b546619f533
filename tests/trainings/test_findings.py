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


def commands_by_seed():
    runs = metrics("commands/cpu-compose.json")
    kept = json.loads((RESULTS / "commands/cpu.json").read_text(encoding="utf-8"))
    runs["transformer, jump"] = kept["metrics"]  # the first seed, whose model the chapter keeps
    return runs


def test_both_readers_learn_the_commands_and_neither_puts_jump_together():
    runs = commands_by_seed()
    for reader in ("transformer", "rnnsearch"):
        for seed in ("", ", seed 2"):
            assert runs[f"{reader}, random{seed}"]["right"] > 0.94, (reader, seed)
            hidden = runs[f"{reader}, jump{seed}"]
            assert hidden["right"] < 0.02 and hidden["right in training"] > 0.94, (reader, seed)
            assert hidden["right but for the verbs"] < 1 / 3  # not one word only is wrong


def test_with_few_pairs_the_recurrent_network_is_ahead_and_more_steps_would_not_help():
    runs = metrics("pairs/cpu-amounts.json")
    steps = 600
    for seed in ("", ", seed 2"):
        few, rnn = runs[f"transformer, 500{seed}"], runs[f"rnnsearch, 500{seed}"]
        assert rnn["loss"] < few["loss"] - 0.1 and rnn["weights"] <= few["weights"]
        for run in (few, rnn):
            assert run["best step"] < steps / 2 and run["loss"] < run["loss of frequencies"] - 1
        for pairs, ahead in ((1500, 0.03), (5000, 0.1)):  # after equal steps, both still improving
            many, rnn = runs[f"transformer, {pairs}{seed}"], runs[f"rnnsearch, {pairs}{seed}"]
            assert rnn["loss"] < many["loss"] - ahead
            assert many["best step"] == rnn["best step"] == steps
    whole = json.loads((RESULTS / "translation/cpu.json").read_text(encoding="utf-8"))["metrics"]
    assert whole["perplexity_transformer"] < whole["perplexity_rnnsearch"]
