"""What the pages on BERT, on fine-tuning and on alignment count and type, held against what ran."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from coursekit.data.relations import MEN, PLACES, THINGS, WOMEN, WORKERS, related_words
from coursekit.figures import bert as figures
from coursekit.models.bert import Bert, BertConfig
from coursekit.training.finetuning import fresh_top, stop_early
from coursekit.training.lora import add_lora, learned_weights

ROOT = Path(__file__).resolve().parents[2]


def result(path):
    return json.loads((ROOT / "results" / path).read_text(encoding="utf-8"))


def training(name):
    """Return the text of a training notebook, cell by cell."""
    path = ROOT / "notebooks" / "training" / f"{name}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


def chapter(name):
    """Return the text of a chapter's notebook, cell by cell."""
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


# --- BERT ---


def test_rows_of_the_readers():
    assert "LENGTH, SIZE = 24, 64" in training("blanks")["settings"]
    table = (ROOT / "notebooks" / "bert.ipynb").read_text(encoding="utf-8")
    assert f"words to predict, of {24 - 2}" in table


def test_how_the_small_bert_is_measured():
    done, cells = result("bert/cpu.json"), training("bert")
    assert 1 / 1300 < done["metrics"]["pieces, train"] / 3.3e9 < 1 / 700
    assert ">= 4 and letters[token]" in cells["overlap"]


def test_the_shapes_of_task_that_the_page_counts():
    assert len(figures.HEADS) == len(figures.four_heads().axes) == 4


def test_the_next_noun_is_always_the_determiner_s():
    nouns = {*WORKERS, *WOMEN, *MEN, *THINGS, *PLACES}
    for sentence in related_words("determiner", "judge", 100):
        behind = range(sentence.dependent + 1, len(sentence.words))
        assert next(n for n in behind if sentence.words[n] in nouns) == sentence.head


# --- fine-tuning ---


def recipes():
    """Return the settings and the metrics of the runs of each recipe, by its seeds."""
    found = {}
    for run in result("finetuning/cpu-recipes.json")["runs"]:
        found.setdefault(run["name"].split(",")[0], {})[run["seed"]] = run
    return found


def test_seeds_of_the_recipes():
    seeds = {name: sorted(runs) for name, runs in recipes().items()}
    assert seeds.pop("plain") == list(range(1, 21))
    assert len(seeds) == 4 and all(some == list(range(1, 7)) for some in seeds.values())


def test_the_loop_that_is_drawn():
    cells = chapter("finetuning")
    assert "linear(warmup=4, total=47), 47)" in cells["loop-drawn"]
    settings = recipes()["plain"][1]["settings"]
    steps = -(-settings["epochs"] * settings["labels"] // settings["batch"])
    assert (steps, steps // 10) == (47, 4)


def test_how_lora_is_run():
    cells = chapter("finetuning")
    assert "size=16" in cells["lora-taught"] and "steps=80, warmup=8" in cells["lora-taught"]
    assert "longest=10" in cells["lora-data"]
    made = Bert(BertConfig(width=128, depth=4, heads=4, hidden=512, vocabulary=2000, positions=128))
    few = add_lora(made, rank=4, alpha=8, names=("qkv", "out", "expand", "contract"))
    learn = sum(w.numel() for w in learned_weights(few).values())
    assert 25 < sum(w.numel() for w in few.parameters()) / learn < 40  # a thirtieth


def test_how_the_recipes_are_trained():
    cells, plain = training("finetuning"), recipes()["plain"][1]["settings"]
    assert "warmup=steps // 10, total=steps" in cells["training"]
    assert "ClipGradients(1.0)" in cells["training"]
    assert "weight_decay=0.01" in cells["model"]
    assert (plain["epochs"], plain["lr"], plain["decay"]) == (3, 1e-4, 0.8)
    assert recipes()["longer"][1]["settings"]["epochs"] * 3 == 9
    assert '3 if settings.recipe == "longer"' in cells["settings"]
    faster = {}
    for run in result("finetuning/cpu-faster.json")["runs"]:
        faster.setdefault(run["name"].split(",")[0], []).append(
            (run["seed"], run["settings"]["lr"])
        )
    assert faster["rates"] == [(seed, 3e-4) for seed in (1, 2, 3, 4)]
    assert faster["plain"] == [(seed, 2e-4) for seed in (1, 2, 3, 4)]


def test_who_is_stopped_early():
    runs = [run["metrics"] for run in recipes()["plain"].values()]
    settings = recipes()["plain"][1]["settings"]
    assert (settings["looks"], settings["valid"]) == (5, 200)
    parts = [[*(run[f"valid, look {n}"] for n in range(1, 5)), run["valid"]] for run in runs]
    kept = stop_early(parts, {2, 4})
    assert [kept.lasted.count(n) for n in range(1, 6)] == [0, 10, 0, 5, 5]


def test_a_single_early_look_loses_the_best_run_in_both_orders_and_a_tie_decides_the_rest():
    runs = [run["metrics"] for run in recipes()["plain"].values()]
    tested = [run["accuracy"] for run in runs]
    parts = [[*(run[f"valid, look {n}"] for n in range(1, 5)), run["valid"]] for run in runs]
    best, last = tested.index(max(tested)), len(runs) - 1
    kept = {stop_early(parts, {1}).run, last - stop_early(parts[::-1], {1}).run}
    assert best not in kept and len(kept) == 2
    assert len({parts[run][-1] for run in kept}) == 1
    places = sorted(sum(one > tested[run] for one in tested) + 1 for run in kept)
    assert places == [2, 12]
    for looks in ({2}, {3}, {4}, {2, 4}):
        assert stop_early(parts, looks).run == last - stop_early(parts[::-1], looks).run == best


def test_how_a_fresh_top_is_drawn():
    torch.manual_seed(0)
    model = fresh_top(Bert(BertConfig(width=64, depth=2, heads=2, hidden=256)), 1)
    matrices = [w for w in model.encoder.blocks[-1].parameters() if w.ndim == 2]
    for matrix in matrices:
        assert abs(matrix.std().item() - 0.02) < 0.001


def test_labels_and_steps_of_the_features():
    settings = result("features/cpu.json")["settings"]
    assert settings["labels"] == [50, 200, 1000] and settings["seeds"] == 3
    runs = {run["name"]: run["settings"] for run in result("tasks/cpu-tasks.json")["runs"]}
    for labels in settings["labels"]:
        assert {runs[f"marks, {labels}, seed {seed}"]["steps"] for seed in (1, 2)} == {125}
    layers = {name.split(",")[0] for name in result("features/cpu.json")["metrics"]}
    assert "concat_last_four" in layers


def test_what_size_gains_on_glue():
    page = (ROOT / "book" / "finetuning.md").read_text(encoding="utf-8")
    table = page[page.index("```{list-table} GLUE") :]
    rows = [row.split("\n  - ") for row in table[: table.index("\n```")].split("* - ")[2:]]
    gains = {}
    for name, *_, gpt, base, large in rows:
        *_, gpt, base, large = (float(cell.split("/")[0]) for cell in (gpt, base, large))
        gains[name.split(" (")[0]] = round(large - base, 1)
        last = round(base - gpt, 1), round(large - gpt, 1)
    assert last == (4.5, 7.0) and gains.pop("mean") == 2.5
    assert sorted(gains, key=gains.get)[:2] == ["MRPC", "STS-B"]
    assert sorted(gains, key=gains.get)[-2:] == ["RTE", "CoLA"]
    assert [gains[name] for name in ("CoLA", "RTE", "MRPC", "STS-B")] == [8.4, 3.7, 0.4, 0.7]


# --- alignment ---


def test_cells_of_the_alignment_notebook():
    path = ROOT / "notebooks" / "alignment.ipynb"
    made = json.loads(path.read_text(encoding="utf-8"))["cells"]
    cells = {cell["id"]: "".join(cell["source"]) for cell in made}
    assert "reward, chance = rewards[200, 0]" in cells["best-alike"]
    assert "for n in (1, 2, 4, 16, 64):" in cells["best-table"]
    assert "lr=0.05" in cells["reinforce"] and "compare(200, 0)" in cells["dpo-table"]
    assert "SHOWN = (20, 60, 200)" in cells["over"] and "[8 * 0.7**k" in cells["over"]
    assert "top - at > 0.5 for" in cells["over-table"] and ") > 0.5 for" in cells["over-table"]
    for writer in ('"best of 4": best_of(4, reward)', '"best of 64": best_of(64, reward)'):
        assert writer in cells["ratings-votes"]


def test_how_the_pairs_are_made():
    run, cells = result("preferences/cpu.json"), training("preferences")
    (again,) = result("preferences/cpu-again.json")["runs"]
    assert "tokenizer.encode(text)[:4]" in cells["write"]
    assert "combinations(range(settings.answers), 2))[:3]" in cells["pairs"]
    for some in (run, again):
        assert some["metrics"]["pairs"] == 3 * some["settings"]["prompts"]
    assert [row["n"] for row in run["tables"]["best"]] == [1, 2, 4, 8, 16]
    assert "a divergence of 8 nats" in cells["expectation"]
    free = [some["metrics"]["REINFORCE, β 0.001 at the end, kl"] for some in (again, run)]
    assert 0.2 < free[0] / free[1] < 0.3
