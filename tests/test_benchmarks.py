"""The benchmarks run from end to end; what they measured is in `results`, this only runs them.

Those of models and tokenizers share one process: to import what their peers are made of takes
longer than they do. Each is run as the program that it is, by its path. The one that grades has a
process of its own, since it changes the environment and starts kernels.
"""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"
sys.path.insert(0, str(FOLDER))
import all as everything  # noqa: E402


def alone(script):
    done = subprocess.run(
        [sys.executable, FOLDER / f"{script}.py", "--smoke", "--threads", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("script", everything.SCRIPTS)
def test_a_benchmark_runs(script, monkeypatch, capsys):
    before = (ROOT / "results" / "benchmarks.json").read_bytes()
    if script == "grading":
        said = alone(script)
    else:
        monkeypatch.setattr(sys, "argv", [f"{script}.py", "--smoke", "--threads", "1"])
        runpy.run_path(str(FOLDER / f"{script}.py"), run_name="__main__")
        said = capsys.readouterr().out
    contests = {line[:24].strip() for line in said.splitlines()}
    ours = {line[:24].strip() for line in said.splitlines() if line[25:30] == "ours "}
    assert ours
    assert ours == contests, "a contest without us"
    assert (ROOT / "results" / "benchmarks.json").read_bytes() == before


def test_every_result_is_of_a_script_and_has_us_in_it():
    results = json.loads((ROOT / "results" / "benchmarks.json").read_text(encoding="utf-8"))
    sizes = results.pop("class_sizes")  # how long a class takes, beside nobody
    names = {row["contest"].rpartition(" ")[2] for row in sizes["rows"]}
    assert set(Course(ROOT).assignments) <= names
    assert set(results) == set(everything.SCRIPTS)
    for record in results.values():
        assert record["rounds"] >= 5
        for contest in {row["contest"] for row in record["rows"]}:
            rows = {row["name"]: row for row in record["rows"] if row["contest"] == contest}
            assert rows["ours"]["times_ours"] == 1.0
            assert len(rows) > 1, contest


def test_the_section_on_a_forward_pass_is_what_was_measured():
    results = json.loads((ROOT / "results" / "benchmarks.json").read_text(encoding="utf-8"))
    rows = {(row["contest"], row["name"]): row for row in results["inference"]["rows"]}
    for contest in ("ALiBi, T 1,024", "T5, T 512", "Swin-T, windows, stage 1"):
        assert rows[contest, "three axes"]["times_ours"] > 1
        assert rows[contest, "three axes"]["peak_MB"] > 2 * rows[contest, "ours"]["peak_MB"]
    bert = "BERT base, 8 × 256"
    assert rows[bert, "ours, all states"]["peak_MB"] > 1.5 * rows[bert, "ours"]["peak_MB"]
