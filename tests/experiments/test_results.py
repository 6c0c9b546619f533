"""The table of results, and two of them side by side."""

from __future__ import annotations

import json

import pytest

from coursetools import cli
from coursetools.course import Course
from coursetools.experiments.results import comparison

MACHINE = {"cpu": "Some CPU", "cores": 2, "memory_GB": 8.0, "gpu": None}


def made(profile, **more):
    return {
        "name": "toy",
        "profile": profile,
        "seed": 1,
        "settings": {"minutes": 25, "steps": 1000, "lr": 0.1},
        "metrics": {"bleu": 21.25, "loss": 1.5, "a": 1, "b": 2, "c": 3},
        "curves": {"toy": [{"step": 1}]},
        "tables": {"t": [1]},
        "data": {"verses": "0123456789"},
        "seconds": 1234.5,
        "hardware": MACHINE,
        "key": "abcdefghijkl",
        **more,
    }


@pytest.fixture
def results(course, monkeypatch):
    """Return the folder of results of a course; one file there is of no training."""
    monkeypatch.chdir(course.root)
    folder = course.root / "results"
    (folder / "toy").mkdir(parents=True)
    (folder / "benchmarks.json").write_text("[]")
    return folder


def ask(capsys, *arguments):
    code = cli.main(["results", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_table_has_a_row_for_each_file(results, capsys):
    gpu = {**MACHINE, "gpu": "Big GPU"}
    runs = [{"name": "a", "seconds": 10.0}, {"name": "b", "seconds": 20.4}]
    sweep = {"name": "toy", "profile": "cpu", "sweep": "heads", "runs": runs, "hardware": MACHINE}
    (results / "toy" / "cpu.json").write_text(json.dumps(made("cpu")))
    (results / "toy" / "gpu.json").write_text(
        json.dumps(made("gpu", hardware=gpu, seed=None, metrics={"bleu": None}))
    )
    (results / "toy" / "cpu-heads.json").write_text(json.dumps({**sweep, "failed": [{}]}))
    (results / "other").mkdir()
    (results / "other" / "cpu.json").write_text(json.dumps(made("cpu", name="other")))
    expected = """\
name   profile     seed  seconds  metrics                            hardware
other  cpu         1       1,234  bleu 21.25, loss 1.5, a 1, b 2, …  Some CPU, 2 cores
toy    cpu, heads  –          30  2 runs, 1 failed                   Some CPU, 2 cores
toy    cpu         1       1,234  bleu 21.25, loss 1.5, a 1, b 2, …  Some CPU, 2 cores
toy    gpu         –       1,234  bleu –                             Big GPU
"""
    assert ask(capsys) == (0, expected, "")
    code, out, _ = ask(capsys, "other")
    assert code == 0 and len(out.splitlines()) == 2


def test_two_results_side_by_side(results, course, capsys, tmp_path):
    (results / "toy" / "cpu.json").write_text(json.dumps(made("cpu")))
    other = made(
        "gpu",
        seconds=100,
        settings={"minutes": 25, "steps": 9000, "lr": 0.1},
        metrics={"bleu": 20.0, "loss": 1.75, "new": 1},
    )
    path = tmp_path / "x.json"
    path.write_text(json.dumps(other))
    compared = comparison(Course(course.root), "toy/cpu", str(path))
    assert compared["differ"] == {"steps": [1000, 9000], "seconds": [1234, 100]}
    assert compared["metrics"]["bleu"] == {"a": 21.25, "b": 20.0, "difference": -1.25}
    assert compared["metrics"]["new"] == {"a": None, "b": 1, "difference": None}
    (results / "toy" / "gpu.json").write_text(json.dumps(other))
    code, out, err = ask(capsys, "--compare", "toy/cpu", "results/toy/gpu.json")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines() if line] == [
        ["toy/cpu", "results/toy/gpu.json"],
        ["steps", "1,000", "9,000"],
        ["seconds", "1,234", "100"],
        ["metric", "toy/cpu", "results/toy/gpu.json", "difference"],
        ["bleu", "21.25", "20", "-1.25"],
        ["loss", "1.5", "1.75", "+0.25"],
        ["a", "1", "–", "–"],
        ["b", "2", "–", "–"],
        ["c", "3", "–", "–"],
        ["new", "–", "1", "–"],
    ]
    code, out, _ = ask(capsys, "--compare", "toy/cpu", "toy/cpu")
    assert out.startswith("made in the same way\n\nmetric")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "there are no results yet; coursekit train NAME makes one"),
        (["boat"], "No result boat. Choose from toy"),
        (["--compare", "toy/cpu", "toy/gpu"], "No result toy/cpu. Expected NAME/PROFILE or"),
        (["--compare", "toy/sweep", "toy/x"], "toy/sweep is a sweep; single runs can be compared"),
        (["--compare", "toy/odd", "toy/x"], "toy/odd.json is not the result of a training"),
        (["--compare", "toy/half", "toy/x"], "toy/half.json cannot be read"),
    ],
)
def test_what_is_not_there_is_one_sentence(results, capsys, arguments, said):
    if arguments[1:]:
        (results / "toy" / "sweep.json").write_text(json.dumps({**made("cpu"), "runs": []}))
        (results / "toy" / "odd.json").write_text("[]")
        (results / "toy" / "half.json").write_text("{")
    code, out, err = ask(capsys, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith(f"coursekit: error: {said}") and err.count("\n") == 1
