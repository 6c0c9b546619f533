"""The page on GPUs: each of its commands is one, as far as a machine without a GPU can tell."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

from coursekit.training.computing import NAMES, Computing
from coursetools.cli import parse
from coursetools.course import Course
from coursetools.experiments.all_trainings import FIRST
from coursetools.experiments.sweep_plan import plan
from coursetools.experiments.train import find

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "gpu.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|bash|python|ipython)\n(.*?)^```", PAGE, flags=re.M | re.S)
COMMANDS = re.findall(r"coursekit (?:train|results) [^\n`|>]*", "\n".join(b for _, b in BLOCKS))
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="scripts of a shell")


def understood(line: str) -> object:
    """Return what the command line makes of a command; the shell's own part is cut off."""
    words = [w for w in shlex.split(re.split(r"\s(?:&&|&|>)", line)[0]) if w != "nice"]
    words = ["writer" if word == "$1" else word for word in words[1:]]
    return parse(words)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_understood_and_names_what_there_is(line):
    asked = understood(line)
    names = [asked.name] if getattr(asked, "name", None) else getattr(asked, "compare", None) or []
    for name in names:
        if name.endswith(".json"):
            assert (ROOT / name).is_file()
            continue
        training = find(Course(ROOT), name.partition("/")[0])
        assert training.shared
        if asked.command == "train" and asked.sweep:
            assert plan(ROOT / asked.sweep, training.known)


def test_every_way_of_computing_is_in_the_table():
    rows = re.findall(r"^\* - `(\w+)=([\w`, ]+)`?$", PAGE, flags=re.M)
    assert {name for name, _ in rows} == set(NAMES) - {"log"}
    for name, values in rows:
        for value in re.findall(r"\w+", values):
            known = {"true": True, "false": False}.get(
                value, int(value) if value.isdigit() else value
            )
            Computing(**{name: known})


@POSIX
@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind in ("sh", "bash")])
def test_a_shell_can_read_it(text):
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)


@POSIX
@pytest.mark.parametrize(
    ("ends", "restarts", "expected"), [(0, 0, False), (1, 0, True), (1, 5, False)]
)
def test_a_job_of_slurm_queues_again_until_it_is_done(tmp_path, ends, restarts, expected):
    (job,) = (text for _, text in BLOCKS if "#SBATCH" in text)
    for name, code in (("coursekit", ends), ("scontrol", 0)):
        (tmp_path / name).write_text(
            f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/said\nexit {code}\n'
        )
        (tmp_path / name).chmod(0o755)
    subprocess.run(
        ["bash", "-s", "writer"], input=job, text=True, check=False,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path), "SLURM_JOB_ID": "7",
             "SLURM_RESTART_COUNT": str(restarts)},
    )  # fmt: skip
    said = (tmp_path / "said").read_text()
    assert said.startswith("coursekit train writer --profile gpu --resume")
    assert ("scontrol requeue 7" in said) == expected
    hours, minutes, seconds = map(int, re.search(r"--time=(\d+):(\d+):(\d+)", job).groups())
    limit = 60 * float(re.search(r"--budget ([\d.]+)", job)[1])
    assert 60 < 3600 * hours + 60 * minutes + seconds - limit < 600  # enough to save in


def test_a_rented_hour_asks_for_a_training(monkeypatch, tmp_path):
    (text,) = (text for kind, text in BLOCKS if "modal" in text and kind == "python")
    modal, ran = types.ModuleType("modal"), []

    class Anything:
        def __getattr__(self, name):
            return lambda *args, **options: Anything()

        def __call__(self, function):
            return function

    modal.App = lambda name: types.SimpleNamespace(function=lambda **options: lambda f: f)
    modal.Volume, modal.Image = Anything(), Anything()
    monkeypatch.setitem(sys.modules, "modal", modal)
    monkeypatch.setattr(subprocess, "run", lambda command, **options: ran.append(command))
    monkeypatch.setattr("shutil.copytree", lambda *places, **options: ran.append(places))
    names: dict = {}
    exec(compile(text, "train.py", "exec"), names)
    names["train"]("writer")
    (command, copied) = ran
    asked = parse(command[1:])
    assert (asked.name, asked.profile, str(asked.resume)) == ("writer", "gpu", "/keep")
    assert copied == ("/course/results", "/keep/results")


def test_the_runs_that_come_first_are_those_of_the_page():
    assert ", ".join(FIRST[:5]) in PAGE
