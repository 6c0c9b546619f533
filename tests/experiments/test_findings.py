"""What pages say of committed runs, seed by seed: with another outcome a page would be wrong."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from coursekit.data.speeches import speeches
from coursetools.notebooks.imports import read_notebook

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


def test_the_writer_needs_fewer_bits_than_counting_and_counting_fewer_than_a_compressor():
    """One seed: the distances are many times what a seed changes."""
    found = json.loads((RESULTS / "writer/cpu.json").read_text(encoding="utf-8"))
    m, counted = found["metrics"], found["tables"]["counting by order"]
    names = ("writer", "counting", "xz", "xz alone", "single bytes")
    needs = [m[f"bits per byte, {name}"] for name in names]
    assert all(less < more - 0.1 for less, more in pairwise(needs))
    assert min(counted) == m["bits per byte, counting"] == counted[m["order"]]


def test_the_writer_hears_the_year_and_counting_hears_it_better():
    found = json.loads((RESULTS / "writer/cpu.json").read_text(encoding="utf-8"))
    m, dated = found["metrics"], found["tables"]["dating"]
    assert m["dating, writer, speech"] < m["dating, writer"] < m["dating, constant"] / 2
    assert m["dating, counting"] < m["dating, writer"] / 2
    right = [guess // 100 == row["year"] // 100 for row in dated for guess in row["guesses"]]
    assert len(right) == m["stretches"] and 0.65 < sum(right) / len(right) < 0.8  # the century
    true = [row["year"] // 100 for row in dated for _ in row["guesses"]]
    assert max(true.count(century) for century in true) / len(true) < 0.45  # always the same one
    near = [abs(guess - row["year"]) <= 5 for row in dated for guess in row["guesses"]]
    assert sum(near) / len(near) < 0.25  # the decade


def test_the_writer_goes_on_learning_until_its_last_step():
    """It has not learned its speeches by heart; how far it would go, a falling rate hides."""
    curve = json.loads((RESULTS / "writer/cpu.json").read_text(encoding="utf-8"))["curves"][
        "writer"
    ]
    valid = [row["valid"] for row in curve]
    assert valid[-1] == min(valid) and abs(curve[-1]["loss"] - valid[-1]) < 0.1


def test_two_blocks_look_up_what_only_the_prompt_says_and_one_does_not():
    runs = metrics("examples/cpu-lookups.json")
    for seed in ("", ", seed 2"):
        two, one, long = (runs[f"lookups, {name}{seed}"] for name in
                          ("2 blocks", "1 block", "1 block, 1800 steps"))  # fmt: skip
        assert two["steps to 90%"] <= 350
        assert runs[f"lookups, 2 blocks, from 0.02{seed}"]["new, shown"] < 0.5  # not yet
        for n in (0, 1, 2, 4, 8, 16):
            assert abs(two[f"new, after {n}"] - two[f"best possible, after {n}"]) < 0.05
        assert two["new, shown"] > 0.98 and two["new pairs, shown"] > 0.9
        assert one["new, shown"] + 0.1 < long["new, shown"] < 0.6  # it rises, slowly
        assert one["new pairs, shown"] <= long["new pairs, shown"] < 0.05
        assert max(one["new, after 16"], long["new, after 16"]) < 0.5


def test_a_shift_of_the_alphabet_is_told_by_one_example():
    runs = metrics("examples/cpu-lookups.json")
    for seed in ("", ", seed 2"):
        two, one = (runs[f"functions, {blocks}{seed}"] for blocks in ("2 blocks", "1 block"))
        for known in (two, one):  # nothing has to be found for that, so one block will do
            assert known["known shifts, after 0"] < 0.2 < 0.98 < known["known shifts, after 1"]
            assert known["new shifts, after 0"] == 0 and known["new shifts, after 1"] > 0.7
        assert two["new shifts, after 1"] < 0.9 < 0.98 < two["new shifts, after 8"]
    bad, good = (runs[f"functions, 1 block{seed}"] for seed in ("", ", seed 2"))
    assert min(good[f"new shifts, after {n}"] for n in (1, 2, 4, 8)) > 0.99  # its seeds disagree
    assert bad["new shifts, after 8"] < bad["new shifts, after 1"] - 0.1


def test_sums_need_an_example_and_a_model_that_is_large_enough():
    runs = metrics("examples/cpu-sums.json")
    for seed in (1, 2):
        large, middle = runs[f"2x64, seed {seed}"], runs[f"2x32, seed {seed}"]
        for run in (large, middle):
            gain = run["new, after 1"] - run["new, after 0"]
            assert run["new, after 0"] < 0.45 and gain > 0.25
            assert run["new, distances, after 1"] < run["new, sums, after 1"] - 0.25
        assert large["new, after 1"] > middle["new, after 1"] + 0.1
        assert large["new, sums, after 3"] > 0.98
        for size in ("1x16", "2x16"):
            assert max(runs[f"{size}, seed {seed}"][f"new, after {n}"] for n in range(4)) < 0.05
        assert abs(large["new, after 3"] - large["new, after 1"]) < 0.06  # one example is enough
    assert runs["2x32, seed 1"]["new, after 3"] < 0.1  # a place that one run did not learn


def test_twins_in_training_are_no_help_with_sums():
    for name, run in metrics("examples/cpu-sums.json").items():
        assert run["found, new"] == run["found in either order, new"] == 0
        assert run["found, twin seen"] == 0 and run["found in either order, twin seen"] == 1
        for n in range(4):
            for kind in ("twin seen", "seen"):
                assert run[f"{kind}, after {n}"] < run[f"new, after {n}"] + 0.07, (name, kind, n)


def law(seeds=(1, 2), cost="flops of a step", last=1024):
    """Return the frontier of a GPT's sizes, and the name of the size of each of its points."""
    from coursekit.analysis.laws import frontier

    runs = json.loads((RESULTS / "scaling/cpu-sizes.json").read_text(encoding="utf-8"))["runs"]
    runs = [run for run in runs if run["seed"] in seeds]
    curves = []
    for run in (run["metrics"] for run in runs):
        steps = [int(name[8:]) for name in run if name.startswith("loss at ")]
        points = [(step * run[cost], run[f"loss at {step}"]) for step in steps if step <= last]
        curves.append(zip(*points))
    found = frontier(*zip(*curves))
    return found, [runs[number]["name"] for number in found.curve]


@pytest.mark.parametrize("seeds", [(1,), (2,), (1, 2)])
def test_the_loss_falls_as_a_power_of_the_compute(seeds):
    from coursekit.analysis.laws import power_law

    found, names = law(seeds)
    assert -0.08 < power_law(found.compute, found.loss).exponent < -0.06
    middle = found.compute.log().mean()
    for part in (found.compute.log() < middle, found.compute.log() >= middle):
        assert -0.09 < power_law(found.compute[part], found.loss[part]).exponent < -0.055
    assert names == sorted(names, key=("1x16", "1x32", "2x32", "2x48", "3x64", "3x96").index)
    counted, _ = law(seeds, cost="flops of a step, output")  # is another law, and steeper
    steeper = power_law(counted.compute, counted.loss).exponent
    assert steeper < power_law(found.compute, found.loss).exponent - 0.005


def test_the_law_of_short_trainings_is_flatter():
    from coursekit.analysis.laws import power_law

    for seeds in ((1,), (2,), (1, 2)):
        edges = [law(seeds, last=last)[0] for last in (362, 512, 724, 1024)]
        exponents = [power_law(found.compute, found.loss).exponent for found in edges]
        assert exponents == sorted(exponents, reverse=True)
        assert exponents[0] > exponents[-1] + 0.01


def test_a_larger_gpt_ends_lower_with_each_seed():
    runs = json.loads((RESULTS / "scaling/cpu-sizes.json").read_text(encoding="utf-8"))["runs"]
    for seed in (1, 2):
        ends = [run["metrics"]["loss"] for run in runs if run["seed"] == seed]
        assert all(b < a - 0.1 for a, b in pairwise(ends)) and len(ends) == 6


def ladder():
    """Return the metrics of each rung from GPT-2's block to today's, a list with one a seed."""
    runs = json.loads((RESULTS / "scaling/cpu-modern.json").read_text(encoding="utf-8"))["runs"]
    rungs = {}
    for run in runs:
        rungs.setdefault(run["name"], []).append(run["metrics"])
    return rungs


def test_of_todays_changes_the_places_gain_most_and_norm_and_gate_nothing():
    rungs = ladder()
    bits = {name: [run["bits per byte"] for run in some] for name, some in rungs.items()}
    for seed in (0, 1):
        gpt2, rotary, rms, swiglu, plain, grouped, window = (bits[name][seed] for name in bits)
        assert rotary < gpt2 - 0.4
        assert abs(rms - rotary) < 0.02 and abs(swiglu - rms) < 0.02  # seeds differ by as much
        assert plain > swiglu + 0.025
        assert abs(grouped - plain) < 0.02
        assert window < grouped - 0.04
    assert max(max(found) - min(found) for found in bits.values()) < 0.025


def test_the_rungs_cost_the_same():
    for name, some in ladder().items():
        for run in some:
            cost = run["steps"] * run["flops of a step, output"]
            assert cost == pytest.approx(8.1e11, rel=2e-3), name


def test_gpt2s_block_has_only_learned_pairs_by_then():
    rungs = ladder()
    for seed in (0, 1):
        gpt2, rotary = rungs["GPT-2"][seed], rungs["rotary"][seed]
        assert abs(gpt2["bits, early"] - gpt2["bits, late"]) < 0.003
        assert rotary["bits, early"] - rotary["bits, late"] > 0.02


def test_what_was_copied_is_easier_than_its_neighbours_with_both_roles():
    runs = json.loads((RESULTS / "scaling/cpu-copies.json").read_text(encoding="utf-8"))["runs"]
    assert [run["seed"] for run in runs] == [1, 2]
    for run in (run["metrics"] for run in runs):
        none, one, three, ten = (run[f"neighbours {n}"] - run[f"copied {n}"] for n in (0, 1, 3, 10))
        assert abs(none) < 0.02 < one and one < three - 0.02 and three < ten - 0.1
        assert ten < 10 * one
        assert 0.5 < run["passes"] < 1.1


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


def test_whole_speeches_teach_a_little_more_and_most_of_it_late_in_the_window():
    runs = json.loads((RESULTS / "scaling/cpu-order.json").read_text(encoding="utf-8"))["runs"]
    found = {(run["name"], run["seed"]): run["metrics"] for run in runs}
    for seed in (1, 2):
        whole, across = (found[f"order={order}", seed] for order in ("whole", "across"))
        lost = {what: across[what] - whole[what] for what in ("bits, early", "bits, late")}
        assert 0 < lost["bits, early"] < lost["bits, late"] < 0.03
        assert 0.005 < across["bits per byte"] - whole["bits per byte"] < 0.025
        assert whole["bits, early"] - whole["bits, late"] > 0.004
        assert abs(across["bits, early"] - across["bits, late"]) < 0.002


def test_rates_were_tried_on_both_sides_of_the_best():
    runs = metrics("scaling/cpu-peaks.json")
    tried = {"GPT-2": (0.003, 0.006, 0.012, 0.024), "1x32": (0.004, 0.008, 0.016, 0.032)}
    tried |= {"today": tried["GPT-2"], "3x96": (0.002, 0.004, 0.008, 0.016)}
    best = {}
    for name, rates in tried.items():
        best[name] = min(rates, key=lambda rate: runs[f"{name} at {rate}"]["loss"])
        assert best[name] not in (rates[0], rates[-1])
    assert best == {"GPT-2": 0.012, "today": 0.012, "1x32": 0.008, "3x96": 0.004}


def test_with_more_budget_gpt2s_block_passes_the_pairs_and_the_gap_closes_a_little():
    short, long = ladder(), {}
    for run in json.loads((RESULTS / "scaling/cpu-longer.json").read_text(encoding="utf-8"))[
        "runs"
    ]:
        long.setdefault(run["name"], []).append(run["metrics"])
    for seed in (0, 1):
        before = short["GPT-2"][seed]["bits per byte"], short["rotary"][seed]["bits per byte"]
        full, third, rotary, window = (long[name][seed]["bits per byte"] for name in long)
        assert full < before[0] - 0.1 and third < full - 0.04  # the rate held it back, too
        assert 0.3 < third - rotary < before[0] - before[1] - 0.05
        assert rotary - 0.03 < window < rotary  # what the later rungs gained is small by then


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


def test_two_blocks_learn_to_look_up_within_about_a_hundred_steps():
    runs = metrics("examples/cpu-lookups.json")
    for name in ("lookups, 2 blocks", "lookups, 2 blocks, seed 2"):
        shares = [runs[name][f"new, shown, step {step}"] for step in range(50, 650, 50)]
        assert any(before < 0.5 and after > 0.9 for before, after in zip(shares, shares[2:]))


def test_a_run_of_the_sums_breaks_down_at_the_last_problem_only():
    failed = metrics("examples/cpu-sums.json")["2x32, seed 1"]
    assert failed["new, after 3"] < 0.1 < 0.4 < failed["new, after 2"]


def test_the_law_has_as_many_steps_as_tokens_in_each():
    runs = json.loads((RESULTS / "scaling/cpu-sizes.json").read_text(encoding="utf-8"))["runs"]
    for run in runs:
        assert run["metrics"]["steps"] == run["metrics"]["tokens of a step"]
        assert run["settings"]["parts"] == 4  # Llama's block
    assert {run["settings"]["depth"] for run in runs} == {1, 2, 3}


def test_what_the_changes_of_today_s_block_are():
    text = (RESULTS / "scaling/cpu-modern.json").read_text(encoding="utf-8")
    names = list(dict.fromkeys(run["name"] for run in json.loads(text)["runs"]))
    assert names[1:5] == ["rotary", "RMSNorm", "SwiGLU", "no biases"]  # the first Llama's
    assert names[5:] == ["grouped heads", "window"]


def test_how_much_is_read_beside_roberta():
    """A millionth of its reading, a small part of the text forty times, about twice as much."""
    (full, *_) = json.loads((RESULTS / "formats/cpu-inputs.json").read_text(encoding="utf-8"))[
        "runs"
    ]
    settings, found = full["settings"], full["metrics"]
    read = 8000 * 500_000 * 512 / (settings["first"] + settings["tokens"])
    assert 0.5e6 < read < 2e6
    assert 1.5 < found["steps"] * found["inputs of a step"] / (found["inputs"] / 3) < 2.5
    assert found["inputs"] / 3 > 17 * metrics("formats/cpu-masks.json")["once"]["inputs"]


def test_longer_on_the_task_is_best_at_the_first_look():
    runs = json.loads((RESULTS / "pretext/cpu-pretext.json").read_text(encoding="utf-8"))["runs"]
    longer = next(run for run in runs if run["name"] == "nothing, longer")
    assert longer["metrics"]["restore, best step"] * 5 == longer["settings"]["steps"]


def test_the_right_century_is_the_right_century():
    """And not the right side of 1900, which is another number; the cell itself is executed."""
    found = json.loads((RESULTS / "writer/cpu.json").read_text(encoding="utf-8"))
    dated, glued = found["tables"]["dating"], {}
    pairs = [(row["year"], guess) for row in dated for guess in row["guesses"]]
    true, guessed = zip(*pairs)
    given = {"true": true, "guessed": guessed, "dated": dated, "m": found["metrics"]}
    given |= {"glue": glued.__setitem__, "in_words": str, "median": median, "stretches": "5"}
    cells = read_notebook(RESULTS.parent / "notebooks" / "gpt.ipynb")["cells"]
    (code,) = (cell["source"] for cell in cells if cell["id"] == "gpt-dating-glue")
    exec(code, given | {"DECADES": range(1790, 2030, 10)})
    right = sum(str(year)[:2] == str(guess)[:2] for year, guess in pairs)
    assert glued["gpt-dating-century"] == 100 * right / len(pairs)
    side = sum((year < 1900) == (guess < 1900) for year, guess in pairs)
    assert glued["gpt-dating-side"] == 100 * side / len(pairs) > 90
    assert glued["gpt-dating-speeches"] == len(speeches("valid")) + len(speeches("test"))
