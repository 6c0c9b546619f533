"""What students get is what nbgrader would make of the source, and nothing private is in it."""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools.assignments import release
from coursetools.assignments.sources import released, source, sources
from coursetools.course import Course
from coursetools.questions import publish
from coursetools.questions.compiling import PLACE
from coursetools.questions.leaks import leaks

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
NAMES = sources(OURS)


@pytest.fixture
def small(tmp_path, copied):
    """A course with one assignment and nothing else, in a folder of its own."""
    name = NAMES[0]
    copied(name, tmp_path / "course")
    (tmp_path / "course" / "notebooks" / "assignments").mkdir(parents=True)
    shutil.copy(ROOT / "_config.yml", tmp_path / "course" / "_config.yml")
    return tmp_path / "course"


def command(action, root, **more):
    arguments = {"names": [], "all": False, "quiet": True, "folder": None, **more}
    return publish.run(argparse.Namespace(action=action, course=Course(root), **arguments))


@pytest.mark.parametrize("name", NAMES)
def test_our_release_is_that_of_nbgraders_preprocessors(name):
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")
    import nbformat
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import SaveCells

    theirs = nbformat.read(source(OURS, name), as_version=4)
    resources = {"metadata": {}, "unique_key": name}
    for step in GenerateAssignment.preprocessors.default():
        if step is not SaveCells:  # the one that writes to the database and not to the notebook
            theirs, resources = step().preprocess(theirs, resources)
    assert json.loads(release.release_text(OURS, name)) == json.loads(nbformat.writes(theirs))


def test_our_release_is_that_of_nbgraders_command(tmp_path, monkeypatch):
    """The whole of `nbgrader generate_assignment`, database and all, for one assignment."""
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config import Config

    beside = str(Path(sys.executable).parent)  # nbgrader calls alembic, which is there
    monkeypatch.setenv("PATH", beside + os.pathsep + os.environ["PATH"])
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    name = NAMES[0]
    shutil.copytree(source(OURS, name).parent, tmp_path / "source" / name)
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.course_id = "course"
    config.CourseDirectory.db_url = f"sqlite:///{tmp_path}/gradebook.db"
    result = NbGraderAPI(config=config).generate_assignment(name)
    assert result["success"], result
    theirs = json.loads((tmp_path / "release" / name / f"{name}.ipynb").read_text())
    assert json.loads(release.release_text(OURS, name)) == theirs


@pytest.mark.parametrize("name", NAMES)
def test_checksums_are_nbgraders(name):
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")
    import nbformat
    from nbgrader.utils import compute_checksum

    notebook = nbformat.read(released(OURS, name), as_version=4)
    graded = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    assert graded
    assert [cell.metadata.nbgrader.checksum for cell in graded] == [*map(compute_checksum, graded)]


def test_nbgrader_validate_runs_a_source(tmp_path):
    """Its own `validate` executes the notebook in a kernel and finds nothing that failed."""
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")
    from nbgrader.validator import Validator

    path = tmp_path / f"{NAMES[0]}.ipynb"
    shutil.copy(source(OURS, NAMES[0]), path)
    assert Validator().validate(str(path)) == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_release_is_in_step(name):
    text = released(OURS, name).read_text(encoding="utf-8")
    assert text == release.release_text(OURS, name)


def test_releasing_twice_changes_nothing(small, capsys):
    name = NAMES[0]
    assert command("release", small, names=[name], quiet=False) == 0
    assert command("release", small, all=True, quiet=False) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[-2:] for line in said] == [
        [f"notebooks/assignments/{name}/{name}.ipynb", "written"],
        ["in", "step"],
    ]


def test_release_refuses_what_nobody_would_restore(small):
    path = source(Course(small), NAMES[0])
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        cell["metadata"].pop("nbgrader", None)
    path.write_text(json.dumps(notebook))
    with pytest.raises(CourseError, match="is not a solution cell"):
        command("release", small, names=[NAMES[0]])


def test_release_names_what_there_is(small):
    with pytest.raises(CourseError, match=rf"No assignment a99_nothing\. Choose from {NAMES[0]}"):
        command("release", small, names=["a99_nothing"])
    with pytest.raises(CourseError, match="name an assignment"):
        command("release", small)


RELEASED = {f"notebooks/assignments/{NAMES[0]}/{NAMES[0]}.ipynb", f"{PLACE}/{NAMES[0]}.zip"}


def files(folder):
    """Return the files of a public course, without its history."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if path.parts[0] != ".git"}


def test_the_public_tree_has_the_release_and_nothing_private(small, tmp_path):
    command("release", small, all=True)
    (small / "README.md").write_text("hello")
    out = tmp_path / "public"
    assert command("public", small, folder=out) == 0
    assert files(out) == {"README.md", "_config.yml", *RELEASED}
    with pytest.raises(CourseError, match="not empty"):
        command("public", small, folder=tmp_path)


def test_what_nobody_has_committed_is_not_published(small, tmp_path):
    command("release", small, all=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(small)]
    (small / "README.md").write_text("hello")
    for words in (["init", "-q"], ["add", "README.md", "solutions"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    (small / "grades.csv").write_text("who,points")
    assert command("public", small, folder=tmp_path / "public") == 0
    assert files(tmp_path / "public") == {"README.md", *RELEASED}


def test_the_public_tree_refuses_a_stale_release_and_a_leak(small, tmp_path):
    with pytest.raises(CourseError, match="not in step"):
        command("public", small, folder=tmp_path / "one")
    command("release", small, all=True)
    shutil.copy(small / "solutions" / NAMES[0] / "shares.py", small / "notes.md")
    with pytest.raises(CourseError, match=r"notes\.md has the line"):
        command("public", small, folder=tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_a_solution_in_a_released_notebook_is_seen(small):
    name = NAMES[0]
    command("release", small, all=True)
    path = released(Course(small), name)
    assert leaks(Course(small), path.parent) == []
    notebook = json.loads(source(Course(small), name).read_text())
    solved = {cell["id"]: cell for cell in notebook["cells"]}["shares"]
    shown = json.loads(path.read_text())
    for cell in shown["cells"]:
        if cell["id"] == "shares":
            cell["source"] = [line for line in solved["source"] if "SOLUTION" not in line]
    path.write_text(json.dumps(shown))
    found = leaks(Course(small), path.parent)
    assert len(found) == 1 and "has the line 'raised = (scores" in found[0]


def test_a_deadline_is_in_the_first_cell_and_in_the_metadata_and_nothing_else_changes(small):
    name, before = NAMES[0], release.release_text(OURS, NAMES[0])
    settings = Course(small).private(name) / "assignment.toml"
    settings.write_text("[late]\nrate = 0.1\n")
    assert release.release_text(Course(small), name) == before
    settings.write_text("due = 2026-11-20T12:00:00+01:00\n")
    notebook = json.loads(release.release_text(Course(small), name))
    assert notebook["metadata"].pop("coursekit") == {"due": "2026-11-20T12:00:00+01:00"}
    plain = json.loads(before)
    title, *text = "".join(plain["cells"][0]["source"]).rstrip().split("\n")
    due = ["", "**Due Friday 20 November 2026, 12:00 UTC+01:00.**"]
    assert "".join(notebook["cells"][0]["source"]).split("\n") == [title, *due, *text]
    assert notebook["cells"][1:] == plain["cells"][1:]
    assert {**notebook, "cells": []} == {**plain, "cells": []}


def test_a_cell_that_is_graded_or_locked_does_not_say_the_deadline(ps1):
    from datetime import datetime

    due = datetime.fromisoformat("2026-11-20T12:00:00+00:00")
    notebook = json.loads(ps1.notebook)
    del notebook["cells"][0], notebook["cells"][1]  # the texts that nobody grades
    said = release.with_due(release.release(notebook), due)
    assert said["cells"] == release.release(notebook)["cells"]
    assert said["metadata"]["coursekit"] == {"due": "2026-11-20T12:00:00+00:00"}
