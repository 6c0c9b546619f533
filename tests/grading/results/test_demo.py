"""The invented class: the same each time, everything in it, and graded with nobody's fault ours."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from demo import make_class, make_course, run
from hostile import BROKEN, HOSTILE

from coursekit._base.errors import CourseError
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[3]
NAME = "a01_kernels"


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_same_seed_same_class(tmp_path: Path) -> None:
    made = []
    for place, seed in (("one", 5), ("two", 5), ("three", 6)):
        course = make_course(Course(ROOT), tmp_path / place, NAME)
        made.append((make_class(course, NAME, 30, seed), contents(course / "autograder")))
    assert made[0] == made[1] != made[2]


def test_sixty_have_every_mistake_and_some_of_everything(tmp_path: Path) -> None:
    from coursetools.questions import load

    course = make_course(Course(ROOT), tmp_path / "course", NAME)
    people = make_class(course, NAME, 60)
    kinds = Counter(person.kind for person in people)
    assert set(kinds) == {
        "right", "copy", "mistake", "partly", "blank", "missing", "broken", "hostile",
    }  # fmt: skip
    held = {one for p in people if p.kind == "mistake" for one in p.what.split("+")}
    known = {
        f"{q.name}: {m.name}" for q in load(Course(ROOT), NAME).questions for m in q.misconceptions
    }
    assert held == known
    assert min(kinds["broken"], kinds["hostile"]) >= 10
    submitted = course / "autograder" / "submitted"
    assert len(list(submitted.iterdir())) == 60 - kinds["missing"]


def test_large_class_has_each_broken_and_hostile_file_once(tmp_path: Path) -> None:
    course = make_course(Course(ROOT), tmp_path / "course", NAME)
    people = make_class(course, NAME, 150)
    special = Counter(p.what for p in people if p.kind in ("broken", "hostile"))
    assert special == dict.fromkeys([*BROKEN, *HOSTILE], 1)
    assert len({person.id for person in people}) == len({p.email for p in people}) == 150
    plain = make_class(make_course(Course(ROOT), tmp_path / "plain", NAME), NAME, 40, hostile=False)
    assert not {"broken", "hostile"} & {person.kind for person in plain}


def test_release_of_a_blank_student_has_no_solution(tmp_path: Path) -> None:
    course = make_course(Course(ROOT), tmp_path / "course", NAME)
    blank = next(p for p in make_class(course, NAME, 12) if p.kind == "blank")
    path = course / "autograder" / "submitted" / blank.id / NAME / f"{NAME}.ipynb"
    text = path.read_text()
    assert "BEGIN SOLUTION" not in text and "NotImplementedError" in text
    assert json.loads(text)["nbformat"] == 4


def test_never_writes_over_somebodys_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(CourseError, match="not empty"):
        make_course(Course(ROOT), tmp_path / "mine", NAME)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "x"
    with pytest.raises(CourseError, match="no assignment"):
        make_course(Course(ROOT), tmp_path / "other", "a99_nothing")


@pytest.mark.usefixtures("quick_gradebook")
def test_demo_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten students with something of everything; what is printed leads to what was made."""
    arguments = argparse.Namespace(
        students=14, output=tmp_path / "demo", name=None, workers=1, course=Course(ROOT), quiet=True
    )
    assert run(arguments) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    made = {line[0]: Path(line[-1].removeprefix("student's").strip()) for line in lines}
    assert set(made) == {"report", "feedback", "one", "similarity", "scores"}
    assert all(path.exists() for path in made.values())
    pages = list(made["feedback"].rglob("*.html"))
    assert len(pages) == 14
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text and text.endswith("</html>\n")
    assert made["scores"].read_text(encoding="utf-8-sig").count("\n") == 15
