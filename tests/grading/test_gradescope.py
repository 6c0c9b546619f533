"""The autograder for Gradescope, unpacked into an empty folder and run as Gradescope runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from coursetools import cli
from coursetools.grading import gradescope
from coursetools.grading.records.verdict import Verdict

PAGE = Path(__file__).parents[2] / "book" / "grading_platforms.md"


@pytest.fixture
def autograder(classroom, tmp_path, capsys, monkeypatch) -> Path:
    """A folder as `/autograder` is there, with the zip of `ps1` unpacked and a file submitted."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8").split("(sec-grading-gradescope)=")[1]
    (line,) = re.findall(r"```bash\n(.*?)\n```", text, re.DOTALL)
    program, *words = shlex.split(line.replace("a02_scaling", "ps1"))
    assert program == "coursekit"
    packed, place = tmp_path / words[-1], tmp_path / "autograder"
    assert cli.main([*words, "--root", str(classroom.root)]) == 0
    said = capsys.readouterr().out
    assert "it has the hidden cases" in said and "by hand, as questions of their own: why" in said
    with zipfile.ZipFile(packed) as zipped:
        zipped.extractall(place / "source")
    (place / "submission").mkdir()
    handed = json.dumps(classroom.answered(cube="0"))
    (place / "submission" / "my work.ipynb").write_text(handed)
    return place


def results(autograder: Path) -> dict:
    return json.loads((autograder / "results" / "results.json").read_text())


def test_a_submission_is_graded_there(autograder, monkeypatch, capsys):
    setup = (autograder / "source" / "setup.sh").read_text()
    assert "torch==" in setup and "+cpu" not in setup
    there = {"PATH": os.environ["PATH"], "AUTOGRADER": str(autograder), "PYTHON": sys.executable}
    script = ["bash", "source/run_autograder"]  # nothing of this checkout is on its path
    subprocess.run(script, cwd=autograder, env=there, check=True)
    found = results(autograder)
    square, cube, told = found["tests"]
    assert found["score"] == 2.0 == square["score"] == square["max_score"]
    assert (cube["name"], cube["score"], cube["max_score"]) == ("cube", 0.0, 3.0)
    assert {square["visibility"], cube["visibility"]} == {"visible"}
    assert told["visibility"] == "hidden" and "layers of the sandbox" in told["output"]
    assert "hidden-secret" not in json.dumps(found)
    assert (autograder / "source" / "assignment.json").stat().st_mode & 0o077 == 0

    # what is no notebook is a zero with its reason; our own fault is none
    (autograder / "submission" / "my work.ipynb").rename(autograder / "submission" / "work.txt")
    assert gradescope.main(autograder) == 0
    found = results(autograder)
    assert found["score"] == 0 and found["output"] == "MISSING: the notebook was not submitted"
    (autograder / "results" / "results.json").unlink()
    failed = Verdict(assignment="ps1", status="INTERNAL", reason="", points=0.0, max_points=0.0)
    monkeypatch.setattr(gradescope, "no_file", lambda *_: failed)
    assert gradescope.main(autograder) == 1
    assert "which is not a zero: rerun" in capsys.readouterr().err
    assert not (autograder / "results" / "results.json").exists()
