"""A question has files of its own, and whatever depends on the questions reads all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import ours
import pytest

import coursekit
from coursetools.course import Course
from coursetools.grading.judging.master import Master
from coursetools.grading.running.keys import engine_version
from coursetools.grading.sandbox.hiding import hidden
from coursetools.questions import catalogue

SOURCE = Path(coursekit.__file__).parents[1]
FILES = [
    pytest.param(name, file, id=f"{name}/{file}")
    for name in ("a01_kernels", "a06_blocks")
    for file, _ in catalogue.texts(ours.OURS, name)
]


@pytest.mark.parametrize("name", ours.names())
def test_each_question_is_in_a_file_of_its_own(name):
    for question in ours.load(name).questions:
        home = ours.module(name, catalogue.file_of(question.name)).__name__
        assert question.reference.__module__ == home
        assert question.reference.__name__ == question.name
        assert {case.run.__module__ for case in (*question.cases, *question.hidden)} == {home}


@pytest.mark.parametrize(("name", "file"), FILES)
def test_whoever_changes_a_file_has_another_master(name, file, tmp_path, copied):
    copied(name, tmp_path)
    before = Master.read(Course(tmp_path), name)
    assert before.key == Master.read(ours.OURS, name).key
    with (Course(tmp_path).private(name) / file).open("a", encoding="utf-8") as end:
        end.write("# changed")
    assert Master.read(Course(tmp_path), name).key != before.key


@pytest.mark.parametrize(
    "file",
    [
        "coursekit/check/probe.py",
        "coursekit/check/compare.py",
        "coursetools/questions/known_answers.py",
    ],
)
def test_whoever_changes_what_questions_are_judged_with_has_another_engine(file, monkeypatch):
    files, read = catalogue.texts(ours.OURS, "a01_kernels"), Path.read_bytes
    engine = engine_version.__wrapped__(files)
    monkeypatch.setattr(
        Path, "read_bytes", lambda at: read(at) + b"# changed" * (at == SOURCE / file)
    )
    assert engine_version.__wrapped__(files) != engine


def test_what_check_knows_is_out_of_sight_while_a_notebook_is_graded():
    hide, _, _ = hidden(SOURCE, [], ["torch.softmax"], [])
    assert str(SOURCE / "coursekit" / "check") in hide
    _, show, _ = hidden(SOURCE, [], ["coursekit"], [(0, "from coursekit.check import check")])
    rooms = {Path(path).relative_to(SOURCE).parts[1] for path in show}
    assert rooms and rooms.isdisjoint(("check", "questions"))


def test_other_texts_are_other_modules_which_nobody_else_finds():
    name, before = "a02_scaling", set(sys.modules)
    shared = dict(catalogue.texts(ours.OURS, name))["shared.py"]
    other = {"shared.py": f"{shared}\n\nOTHER = True\n"}
    theirs = ours.reread(name, other)
    assert ours.reread(name, other) is theirs and theirs is not ours.load(name)
    homes = {question.reference.__module__ for question in theirs.questions}
    assert homes.isdisjoint(question.reference.__module__ for question in ours.load(name).questions)
    assert not hasattr(ours.module(name, "shared"), "OTHER")
    new = set(sys.modules) - before
    assert homes < new and all(one.startswith("questions_") for one in new)
