"""The course's own training runs, by papermill and a kernel, and the results that they have left.

Two go this whole way with the profile `smoke`; `test_micro_batches.py` executes the cells of all.
"""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path

import pytest

from coursetools.course import Course
from coursetools.experiments.sweep_plan import plan
from coursetools.experiments.train import find, train

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
TRAININGS = ROOT / "notebooks" / "training"
NAMES = sorted(path.stem for path in (ROOT / "notebooks" / "training").glob("*.ipynb"))


def steps_of(settings):
    """How many steps were asked for, in steps or in tokens of two phases."""
    if "steps" in settings:
        return settings["steps"]
    sizes = (("first", "first_batch"), ("tokens", "batch"))
    return sum(settings[tokens] // settings[batch] for tokens, batch in sizes)


def check(result):
    """Check what a training says at its end, with the settings that it says at its start."""
    assert all(value is None or math.isfinite(value) for value in result["metrics"].values())
    assert all(len(curve) >= 2 for curve in result["curves"].values())
    end = result["curves"][next(iter(result["curves"]))][-1]["step"]
    assert end == steps_of(result["settings"])


@pytest.mark.parametrize(("name", "processes"), [("translation", None), ("ablations", 2)])
def test_it_runs(name, processes):
    changes = {} if processes is None else {"seed": 7, "heads": 4}
    training = find(OURS, name)
    trained = train(
        training, profile="smoke", changes=changes, processes=processes, threads=1, quiet=True
    )
    result = trained.result
    assert trained.file == trained.executed.with_suffix(".json")  # and not in results/
    check(result)
    if processes:
        assert (result["seed"], result["settings"]["heads"], result["processes"]) == (7, 4, 2)


def test_the_rows_of_table_3_are_those_of_the_model():
    from coursekit.models.seq2seq import TABLE3

    runs = plan(TRAININGS / "ablations" / "table3.toml", find(OURS, "ablations").known)
    names = {run.name for run in runs if not run.name.startswith("base, seed")}
    assert names == set(TABLE3)


@pytest.mark.parametrize("path", sorted((ROOT / "results").glob("*/*-*.json")), ids=str)
def test_a_committed_sweep_has_every_run_of_its_file(path):
    name, sweep = path.parent.name, path.stem.split("-", 1)[1]
    result = json.loads(path.read_text(encoding="utf-8"))
    runs = plan(TRAININGS / name / f"{sweep}.toml", find(OURS, name).known)
    assert result["sweep"] == sweep and not result["failed"]
    planned = [(run.name, run.values) for run in runs]
    assert [(run["name"], run["set"]) for run in result["runs"]] == planned


def cells(path):
    notebook = json.loads((ROOT / "notebooks" / path).read_text(encoding="utf-8"))
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}


def test_the_race_of_positions_has_the_reader_that_its_chapter_explains():
    chapter, training = cells("positions.ipynb"), cells("training/race.ipynb")
    chapter["race-forward"] += "\n\n\n" + chapter["race-forward-go-on"]
    for name in ("race-model", "race-forward", "race-task", "race-look"):
        # the same program, in lines that fit on a page
        assert ast.dump(ast.parse(chapter[name])) == ast.dump(ast.parse(training[name]))


def test_the_race_of_positions_has_converged():
    """A race of 250 steps once led the page to an explanation of what was under-training."""
    result = json.loads((ROOT / "results" / "race" / "cpu.json").read_text(encoding="utf-8"))
    assert result["settings"]["seeds"] >= 3 and result["settings"]["steps"] >= 4000
    steps = result["settings"]["steps"]
    for reader in ("sinusoidal", "rotary", "ALiBi", "T5"):
        middle, long = result["curves"][reader][-2:]
        assert (middle["step"], long["step"]) == (steps // 4, steps)
        assert long["16"] > 0.8 and long["16"] - middle["16"] < 0.07, reader
    for reader in ("learned", "binary"):
        assert result["curves"][reader][-1]["16"] > 0.99, reader
    assert result["curves"]["ALiBi"][0]["16"] < 0.5  # what was believed


@pytest.mark.parametrize("path", sorted((ROOT / "results").glob("*/*.json")), ids=str)
def test_a_committed_result_says_how_it_was_made(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["profile"] in ("cpu", "gpu") and "provisional" not in result
    assert path.stem.split("-")[0] == result["profile"] and path.parent.name == result["name"]
    assert {"cpu", "cores", "memory_GB", "gpu"} == set(result["hardware"])
    assert {"python", "torch", "coursekit"} <= set(result["versions"])
    assert result["data"] and all(len(digest) == 64 for digest in result["data"].values())
    assert path.stat().st_size < 400_000
