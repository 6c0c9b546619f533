"""A question has a file of its own, and whatever depends on the questions reads all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import coursekit
from coursekit.exercises import catalogue
from coursekit.grading.judging.master import Master
from coursekit.grading.running.keys import engine_version
from coursekit.grading.sandbox.hiding import hidden

EXERCISES = Path(coursekit.__file__).parent / "exercises"
FILES = [
    pytest.param(path, id=f"{path.parent.name}/{path.stem}")
    for path in sorted(EXERCISES.glob("a0[16]*/*.py"))
]


@pytest.mark.parametrize("name", catalogue.names())
def test_each_question_is_in_a_file_of_its_own(name):
    questions = catalogue.load(name).questions
    homes = [question.reference.__module__ for question in questions]
    assert len(set(homes)) == len(questions)
    for question, home in zip(questions, homes):
        assert home.startswith(f"coursekit.exercises.{name}.")
        assert question.reference.__name__ == question.name
        assert {case.run.__module__ for case in question.cases} == {home}


@pytest.mark.parametrize("path", FILES)
def test_whoever_changes_a_file_has_another_master_and_another_engine(path, monkeypatch):
    name = path.parent.name
    master, engine = Master.of(name, "{}").key, engine_version.__wrapped__(name)
    text, raw = Path.read_text, Path.read_bytes
    more = "# changed"
    monkeypatch.setattr(
        Path, "read_text", lambda at, *a, **k: text(at, *a, **k) + (more if at == path else "")
    )
    monkeypatch.setattr(
        Path, "read_bytes", lambda at: raw(at) + (more.encode() if at == path else b"")
    )
    assert Master.of(name, "{}").key != master
    assert engine_version.__wrapped__(name) != engine


def test_all_of_them_are_out_of_sight_while_a_notebook_is_graded():
    package = EXERCISES.parent
    hide, _, _ = hidden(package, [], ["torch.softmax"], [])
    assert str(EXERCISES) in hide
    _, show, _ = hidden(package, [], ["coursekit"], [(0, "from coursekit.exercises import check")])
    assert not [path for path in show if "/exercises/a" in path]
