"""Colab as it is: nothing that the course installs changes a package that is there already."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import sys
import tomllib
from datetime import date
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from coursetools.course import Course
from coursetools.notebooks import header_cells, header_lines
from coursetools.notebooks.data_packages import packages
from coursetools.notebooks.imports import read_notebook
from coursetools.notebooks.lint import all_notebooks

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("colab", Path(__file__).with_name("colab.py"))
colab = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(colab)
TEXT = colab.LIST.read_text(encoding="utf-8")
THERE = colab.listed(TEXT)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def needed() -> dict[str, list[Requirement]]:
    """Return what `pip install coursekit` asks for on Colab, through what Colab lacks."""
    waiting = [Requirement(text) for text in PROJECT["dependencies"]]
    found: dict[str, list[Requirement]] = {}
    while waiting:
        one = waiting.pop()
        name = one.name.lower()
        if one.marker and not one.marker.evaluate({"extra": ""}):
            continue
        new = name not in found
        found.setdefault(name, []).append(one)
        if new and name not in THERE:
            waiting += map(Requirement, importlib.metadata.requires(name) or [])
    return found


@pytest.mark.parametrize("name", sorted(needed()))
def test_a_requirement_is_met_as_it_is_or_only_added(name):
    for requirement in needed()[name]:
        if name in THERE:
            assert requirement.specifier.contains(THERE[name], prereleases=True), requirement


def test_the_course_runs_on_its_python():
    (requirement,) = [Requirement(f"python{PROJECT['requires-python']}")]
    assert requirement.specifier.contains(THERE["python"])


def test_what_every_door_depends_on_is_in_the_list():
    assert {"torch", "numpy", "matplotlib", "ipython", "ipywidgets"} <= set(THERE)
    assert {Requirement(t).name for t in PROJECT["dependencies"]} - set(THERE) <= {
        "sacrebleu",
        "tqdm",
    }


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_data_of_a_notebook_are_added_alone(path):
    course = Course(ROOT)
    wanted = packages(read_notebook(path)["cells"], path.parent, course)
    for module, text in wanted.items():
        name = Requirement(text).name.lower()
        assert name not in THERE and module not in THERE
    source = header_cells.setup_source(course, read_notebook(path)["cells"], path.parent)
    assert not wanted or "%pip install -q --no-deps" in source


def test_a_first_cell_is_read_by_ipython_7_as_by_ours():
    """Its rule for a magic: at the beginning of a line, also an indented one."""
    text = header_cells.SETUP.format(repository="a/b") + header_cells.PACKAGES.format(rows="    ")
    text += header_cells.INSTALLED.format(names="*data")
    magics = [line for line in text.splitlines() if "%" in line.split("#")[0]]
    assert magics and all(line.lstrip().startswith("%pip install") for line in magics)


def test_the_day_of_the_trial_is_that_of_this_list():
    said = header_cells.TRIED
    on, of = map(date.fromisoformat, re.findall(r"\d{4}-\d\d-\d\d", said))
    assert of == colab.read_on(TEXT) <= on
    python, torch = re.search(r"Python ([\d.]+), torch ([\d.]+)$", said).groups()
    assert THERE["python"].startswith(python + ".") and THERE["torch"].startswith(torch + ".")
    assert "{colab-tried}" in (ROOT / "book" / "index.md").read_text(encoding="utf-8")


def test_a_newer_list_is_compared_and_written(monkeypatch, tmp_path, capsys):
    lists = {
        "os-info.txt": "Ubuntu 22.04.5 LTS\nPython 3.14.1\nR version 4.5\n",
        "pip-freeze.txt": "numpy==2.1.3\nnot-ours==1\nipywidgets==7.7.1\n"
        "torch @ https://x/torch-2.12.0%2Bcu128-cp314-cp314-linux_x86_64.whl#sha256=0\n",
    }

    class Answer:
        def __init__(self, text):
            self.text = text

        def read(self):
            return self.text.encode()

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(colab, "urlopen", lambda url, timeout: Answer(lists[url.rsplit("/")[-1]]))
    own = tmp_path / "colab.txt"
    own.write_text(
        "# About.\n# read: 2026-08-19, from there\npython==3.13.15\nnumpy==2.1.3\n"
        "ipywidgets==7.7.1\ntorch==2.11.0\n"
    )
    monkeypatch.setattr(colab, "LIST", own)
    assert colab.main(["newest"]) == 1
    assert capsys.readouterr().out == "python: 3.13.15 -> 3.14.1\ntorch: 2.11.0 -> 2.12.0\n"
    now = own.read_text()
    assert colab.listed(now)["torch"] == "2.12.0" and "not-ours" not in now
    assert colab.read_on(now) >= date(2026, 11, 27) and "from there" in now
    assert colab.main(["newest"]) == 0
    assert colab.main(["requirements"]) == 0
    assert "python" not in capsys.readouterr().out.split("as on")[1].split("\n", 1)[1]


def test_with_an_address_every_notebook_says_when_its_door_was_tried():
    link = header_cells.COLAB.format(repository="a/b", branch="main", path="notebooks/x.ipynb")
    assert header_cells.TRIED in header_cells.colab_door(link)
    assert re.fullmatch(header_lines.COLAB_DOOR, header_cells.colab_door(link))
    old = f"[Open in Colab]({link}) (last tried on 2020-01-01 with something)"
    assert re.sub(header_lines.COLAB_DOOR, "", f"a {old} b") == "a  b"
    assert len(all_notebooks(Course(ROOT))) > 60


@pytest.mark.skipif(sys.platform == "win32", reason="a script of POSIX's paths")
def test_cells_are_run_to_the_first_error(tmp_path):
    import json
    import subprocess

    script = Path(__file__).with_name("cells.py")

    def run(*cells):
        job = json.dumps({"cells": cells, "folder": str(tmp_path)})
        return subprocess.run([sys.executable, script], input=job, text=True, capture_output=True)

    assert run("x = 1", "assert x == 1").returncode == 0
    done = run("1 / 0", "print('never')")
    assert done.returncode == 1 and "never" not in done.stdout
    assert done.stderr.strip().endswith("ZeroDivisionError: division by zero")
