"""An exam: what students can get before it is over, and when what waits is set free."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursekit.check import compiled, handin, variant
from coursekit.check.exam import RAN, VARIANT, asked, exam_check
from coursetools.assignments.release import as_exam, with_numbers
from coursetools.assignments.sources import released
from coursetools.book.assignment_pages import read_assignment
from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.questions import compiling
from coursetools.questions.publish import public, write_solution
from coursetools.settings.exam_settings import exam_of
from coursetools.settings.extensions import Extensions
from coursetools.settings.late_rule import rule_of

HOUR = timedelta(hours=1)
QUESTION = '''"""Our answer and the cases."""

from coursekit.check.probe import randn
from coursetools.questions import hidden, visible


def {name}(x):
    """x (T, D) -> (T, D)."""
    return {factor} * x


@visible("two words of the {name}")
def two_words_of_the_{name}(student):
    return student.{name}(randn(2, 3))


@hidden("one word of the {name}")
def one_word_of_the_{name}(student):
    return student.{name}(randn(1, 4))
'''
ABOUT = """page: kernels

The first hint of the question {name}, for everybody.

## half as much
{factor} * x  ->  x / {factor}
You divide where the {name} multiplies.
"""
TEXT = "**Write** `{name}(x)`, which is {factor} times as much as the tensor that it is given."


def write_assignment(course: Course, name: str, question: str, factor: int, make_cell) -> None:
    """Write an assignment with one question in code and one in words."""
    folder = course.private(name)
    folder.mkdir(parents=True)
    facts = {"name": question, "factor": factor}
    (folder / f"{question}.py").write_text(QUESTION.format(**facts))
    (folder / f"{question}.md").write_text(ABOUT.format(**facts))
    (folder / f"why_{question}.md").write_text("page: kernels\n\nRead it.\n")
    body = f"    ### BEGIN SOLUTION\n    return x * {factor}\n    ### END SOLUTION"
    what = f"## 1. A factor\n\n*3 points · easy · 10 minutes*\n\n{TEXT.format(**facts)}"
    words = "### BEGIN SOLUTION\nBecause the {} is linear, as all can see.\n### END SOLUTION"
    notebook = {
        "cells": [
            make_cell("markdown", "title", f"# Assignment {name[1:3]}: factors\n\nFor you."),
            make_cell("code", "imports", "import torch\n\n"
                      "from coursekit.check import check, submit_check"),
            make_cell("markdown", "what", what),
            make_cell("code", question, f"def {question}(x):\n{body}", solution=True),
            make_cell("code", f"test_{question}", f"check({question})", grade=True, locked=True,
                      points=3),
            make_cell("markdown", "words", "## 2. Why\n\n*2 points · in words · 9 minutes*"),
            make_cell("markdown", f"why_{question}", words.format(question), grade=True,
                      solution=True, points=2),
            make_cell("code", "before-upload", "submit_check()"),
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    course.source(name).mkdir(parents=True)
    (course.source(name) / f"{name}.ipynb").write_text(json.dumps(notebook))


@pytest.fixture(scope="module")
def made(tmp_path_factory, make_cell) -> Path:
    """A course with homework and an exam to be, both released."""
    root = tmp_path_factory.mktemp("exam") / "course"
    (root / "book").mkdir(parents=True)
    (root / "notebooks").mkdir()
    (root / "_config.yml").write_text("title: A small course\n")
    (root / "_toc.yml").write_text("root: book/index\n")
    (root / "book" / "index.md").write_text("# Home\n")
    course = Course(root)
    write_assignment(course, "a20_home", "triple", 3, make_cell)
    write_assignment(course, "a21_exam", "double", 2, make_cell)
    assert main(["assignment", "release", "--all", "--quiet", "--root", str(root)]) == 0
    return root


@pytest.fixture
def course(made, tmp_path) -> Course:
    shutil.copytree(made, tmp_path / "course")
    return Course(tmp_path / "course")


def say(course: Course, *words: str) -> int:
    return main([*words, "--root", str(course)])


def examine(course: Course, start: timedelta, end: timedelta, more: str = "") -> None:
    """Make the second assignment an exam, from and to so long after now, and release it."""
    now = datetime.now(UTC).replace(microsecond=0)
    times = ["--due", (now + end).isoformat(), "--start", (now + start).isoformat()]
    assert say(course, "settings", "a21_exam", *times) == 0
    path = course.private("a21_exam") / "assignment.toml"
    path.write_text(path.read_text().replace("[exam]", f"[exam]\n{more}"))
    assert say(course, "assignment", "release", "a21_exam") == 0


def texts(folder: Path) -> dict[str, str]:
    """Return all that the files of a folder say, those in its zips too."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            found[name] = path.read_bytes().decode(errors="replace")
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    found |= {f"{name}/{n}": archive.read(n).decode(errors="replace")
                              for n in archive.namelist()}  # fmt: skip
    return found


TELLING = ("double", "a21_exam", "2 times as much as the tensor")


def test_before_it_is_over_nothing_of_it_is_public(course, tmp_path):
    known = compiling.place(course, "a21_exam")
    content = known.read_bytes()
    examine(course, HOUR, 2 * HOUR)
    assert not known.exists()
    known.write_bytes(content)  # as if nobody had released it since
    public(course, tmp_path / "public")
    there = texts(tmp_path / "public")
    assert "notebooks/assignments/a20_home/a20_home.ipynb" in there
    assert "src/coursekit/check/compiled/a20_home.zip/triple.py" in there  # all a wheel has
    for name, text in there.items():
        assert not [word for word in TELLING if word in name or word in text], name


def test_no_earlier_build_leaves_it_in_the_package(tmp_path):
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(Path(__file__).parents[3] / name, tmp_path)
    for name in ("src", "build/lib"):
        name = f"{name}/coursekit/check/compiled/{'a20' if name == 'src' else 'a21'}.zip"
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("known")
    for name in ("", "check/"):
        (tmp_path / "src" / "coursekit" / name / "__init__.py").touch()
    (tmp_path / "src" / "coursetools").mkdir()
    (tmp_path / "src" / "coursetools" / "__init__.py").touch()
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", "build/lib"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    there = {path.name for path in (tmp_path / "build").rglob("*.zip")}
    assert there == {"a20.zip"}


def test_what_would_show_it_is_refused(course, tmp_path):
    examine(course, -HOUR, HOUR)
    pages = {
        "_toc.yml": "root: book/index\nfiles: [notebooks/assignments/a21_exam/a21_exam]\n",
        "book/index.md": "# Home\n\n```{assignment} a21_exam\n```\n",
        "book/more.md": TEXT.format(name="double", factor=2),
    }
    for name, text in pages.items():
        before = (course / name).read_text() if (course / name).is_file() else None
        (course / name).write_text(text)
        with pytest.raises(CourseError, match=name):
            public(course, tmp_path / "public")
        assert not (tmp_path / "public").exists()
        (course / name).unlink() if before is None else (course / name).write_text(before)
    with pytest.raises(CourseError, match=r"a21_exam is an exam until .*: no page shows it before"):
        read_assignment(course, "a21_exam")
    with pytest.raises(CourseError, match="its solutions are not written before"):
        write_solution(course, "a21_exam", force=True)


def test_the_notebook_says_when_and_what_is_allowed_and_no_more(course):
    examine(course, -HOUR, HOUR, 'allowed = "The book."\n')
    exam = exam_of(course, "a21_exam")
    notebook = json.loads(released(course, "a21_exam").read_text())
    first, imports = ("".join(cell["source"]) for cell in notebook["cells"][:2])
    assert first.startswith("# Assignment 21: factors\n\n**Exam. It starts ")
    assert f"{exam.end:%H:%M} UTC.** Allowed: The book." in first and first.endswith("For you.")
    assert imports.endswith("from coursekit.check import exam_check as check, submit_check")
    assert notebook["metadata"]["coursekit"] == {"due": exam.end.isoformat(), "exam": True}
    text = json.dumps(notebook)
    assert not [word for word in ("hint", "multiplies", "two words", "return x") if word in text]


def test_afterwards_it_is_an_assignment_for_practice(course, tmp_path):
    examine(course, -2 * HOUR, HOUR)
    text = released(course, "a21_exam").read_text()
    examine(course, -2 * HOUR, -HOUR)
    assert compiled.load("a21_exam", course / compiling.PLACE).questions[0].cases
    assert "exam_check" in text and "exam_check" not in released(course, "a21_exam").read_text()
    public(course, tmp_path / "public")
    assert "double" in "".join(texts(tmp_path / "public").values())
    write_solution(course, "a21_exam")


def test_what_is_kept_for_next_year_stays_private(course, tmp_path):
    examine(course, -2 * HOUR, -HOUR, "practice = false\n")
    exam = exam_of(course, "a21_exam")
    assert exam.is_over and exam.is_private and not compiling.place(course, "a21_exam").exists()
    public(course, tmp_path / "public")
    assert "double" not in "".join(texts(tmp_path / "public").values())
    with pytest.raises(CourseError, match="with practice = false: no page shows it"):
        read_assignment(course, "a21_exam")


def test_it_is_over_when_the_last_extension_is(course):
    (course / "autograder").mkdir(exist_ok=True)
    examine(course, -2 * HOUR, -HOUR)
    exam = exam_of(course, "a21_exam")
    assert exam.is_over
    table = course / "autograder" / "extensions.csv"
    table.write_text("id,assignment,extension\nada,all,3d\nben,a20_home,3d\ncy,all,excused\n")
    assert exam_of(course, "a21_exam").is_over  # a day more everywhere is none in an exam
    known = Extensions.read(course)
    due = exam.end.astimezone(UTC).replace(tzinfo=None)
    assert not known.after("ada", "a21_exam", due) and known.after("ada", "a20_home", due)
    assert known.excused("cy", "a21_exam")
    table.write_text("id,assignment,extension\nada,a21_exam,90min\nben,a21_exam,30 minutes\n")
    later = exam_of(course, "a21_exam")
    assert later.over - later.end == 1.5 * HOUR and not later.is_over
    with pytest.raises(
        CourseError, match=r"the longest extension\): no feedback is written before it is over"
    ):
        raise later.wait("no feedback is written")


@pytest.mark.parametrize(
    ("late", "end"),
    [("", 0), ("grace_hours = 0.1", 360), ("rate = 0.1", float("inf")), ("end_hours = 2", 7200)],
)
def test_an_exam_has_an_end(course, late, end):
    examine(course, -HOUR, HOUR)
    path = course.private("a21_exam") / "assignment.toml"
    path.write_text(f"{path.read_text()}\n[late]\n{late}\n" if late else path.read_text())
    assert rule_of(path.parent).end == end


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[exam]\nstart = 2026-12-14T09:00:00Z\n", "has [exam], but no due, its end"),
        ("due = 2026-12-14T09:00:00Z\nexam = 1\n", "exam should be a table, [exam], found 1"),
        ("due = 2026-12-14T09:00:00Z\n[exam]\n", "[exam] start should be a time with its zone"),
        ("due = 2026-12-14T09:00:00Z\n[exam]\nstart = 2026-12-14T09:30:00Z\n", "is earlier"),
        (
            "due = 2026-12-14T09:00:00Z\n[exam]\nstart = 2026-12-14T08:00:00Z\npractice = 0\n",
            "practice should be true or false, found 0",
        ),
        (
            "due = 2026-12-14T09:00:00Z\n[exam]\nend = 2026-12-14T09:30:00Z\n",
            "expected start, allow",
        ),
    ],
)
def test_settings_that_make_no_exam_are_said(course, text, said, capsys):
    (course.private("a21_exam") / "assignment.toml").write_text(text)
    assert say(course, "assignment", "release", "a21_exam") == 1
    assert said in capsys.readouterr().err


def test_due_sets_it_and_leaves_the_rest(course, capsys):
    path = course.private("a21_exam") / "assignment.toml"
    path.write_text("# ours\n[exam]\nallowed = 'All.'\n")
    due = ("settings", "a21_exam", "--due")
    assert say(course, *due, "2026-12-14T11:00", "--start", "2026-12-14T09:00") == 0
    assert "is an exam from Monday 14 December 2026, 09:00 UTC to " in capsys.readouterr().out
    assert say(course, *due, "2026-12-14T12:00", "--start", "2026-12-14T10:00") == 0
    begun = "start = 2026-12-14T10:00:00+00:00"
    assert path.read_text() == (
        f"due = 2026-12-14T12:00:00+00:00\n# ours\n[exam]\n{begun}\nallowed = 'All.'\n"
    )
    for words in (("2026-12-14T09:00",), ("2026-12-14T12:00", "--start", "2026-12-14T12:00")):
        assert say(course, *due, *words) == 1
        assert "must start before it ends" in capsys.readouterr().err
    assert say(course, *due[:2], "--start", "2026-12-14T12:00") == 1
    assert begun in path.read_text()
    path.write_text("exam = 1\n")
    assert say(course, *due, "2026-12-14T12:00") == 1
    assert "exam should be a table" in capsys.readouterr().err and path.read_text() == "exam = 1\n"


def test_a_test_that_students_can_read_is_refused(classroom):
    exam = type("", (), {"start": datetime.now(UTC), "end": datetime.now(UTC), "allowed": ""})
    with pytest.raises(CourseError, match="the test test_square shows students what is right"):
        as_exam(classroom.release(), exam)


def test_check_says_that_it_ran_and_no_more():
    def double(x):
        raise NotImplementedError()

    assert exam_check(double).headline == "not written yet"
    assert exam_check(lambda x: 1 / 0).headline == exam_check(len).headline == RAN
    assert "not defined yet" in exam_check("triple").headline
    answer = exam_check(len)
    assert repr(answer) == f"len: {RAN}" and not answer.right and not answer.cases


def sit(week) -> dict[str, datetime]:
    """Let three sit the exam that `ps1` is, one of whom has more time; return when it was."""
    now = datetime.now(UTC).replace(microsecond=0)
    start, end = now - 3 * HOUR, now - HOUR
    week.settings("ps1", f"due = {end.isoformat()}\n[exam]\nstart = {start.isoformat()}\n")
    assert week.say("settings", "ps1", "--extend", "3h", "--student", "cy", "--quiet") == 0
    inbox = week.folder / "inbox"
    inbox.mkdir()
    for student in ("ada", "bob", "cy"):
        (inbox / f"{student}.ipynb").write_text(json.dumps(week.classroom.answered(cube="1")))
    came = {"ada": start - HOUR, "bob": end + HOUR / 60, "cy": end + HOUR / 2}
    times = "".join(f"{who},{when.isoformat()}\n" for who, when in came.items())
    (week.folder / "times.csv").write_text(f"id,time\n{times}")
    options = [str(inbox), str(week.folder / "times.csv")]
    assert week.say("collect", "ps1", *options) == 0
    week.grade("ps1")
    return {"start": start, "end": end}


def test_a_class_sits_an_exam_and_hears_of_it_when_the_last_is_done(week, capsys):
    sit(week)
    said = capsys.readouterr().out
    assert "submitted before the exam started, and counted: 1 (ada)" in said
    assert "1 submission came after the end and there is no earlier one: 0 points (bob)" in said
    assert week.say("review", "ps1") == 0
    page = Folders(week.course, "ps1").report.read_text()
    assert "Before the start, or after the end" in page
    assert (
        page.count("submitted before the exam started")
        == page.count("submitted after the end")
        == 1
    )
    scores = week.column("ps1", "score")
    assert [scores[who] for who in ("ada", "bob", "cy")] == ["2", "0", ""]  # cy still has time
    capsys.readouterr()
    assert week.say("return", "ps1") == 1
    said = capsys.readouterr().err
    assert "ps1 is an exam until" in said and "(the longest extension): no feedback" in said
    assert week.say("next", "ps1") == 0
    assert "feedback: ps1 is an exam until" in capsys.readouterr().out
    assert week.say("settings", "ps1", "--extend", "45min", "--student", "cy", "--quiet") == 0
    assert week.column("ps1", "score")["cy"] == "2"
    assert "2 of 10 points" in week.page("ps1", "cy")


@pytest.fixture
def written(made, tmp_path) -> dict:
    """The notebook of an exam that goes on, with an answer that is wrong."""
    shutil.copytree(made, tmp_path / "course")
    examine(Course(tmp_path / "course"), -HOUR, HOUR)
    path = released(Course(tmp_path / "course"), "a21_exam")
    notebook = json.loads(path.read_text())
    notebook["cells"][3]["source"] = "def double(x):\n    return x / 2"
    return notebook


def test_submit_check_runs_it_and_does_not_judge(written, tmp_path, monkeypatch):
    mine = tmp_path / "mine.ipynb"
    mine.write_text(json.dumps(written))
    report = handin.look_at(mine)
    said = repr(report)
    assert "it runs from top to bottom in a fresh process" in said and "due " in said
    assert report.mend == ["why_double, in words, is not answered"]
    assert "visible cases" not in said and "divide" not in said
    monkeypatch.setattr(handin, "rehearse", lambda *_: ([], ""))
    written["cells"][3]["source"] = "def double(x):\n    raise NotImplementedError()"
    mine.write_text(json.dumps(written))
    assert "double is not answered" in handin.look_at(mine).mend


GRADED = """
import json, sys
from coursekit.submission.resource_limits import Limits
from coursekit.submission.notebook import Notebook
notebook = Notebook(Limits(), graded=True)
for source in json.load(sys.stdin):
    assert "error" not in notebook.run(0, source, False)
print(notebook.names["check"](1))
"""


def test_a_grader_runs_it(written):
    """The stand-ins of `check` have the name that the notebook of an exam imports."""
    sources = ["".join(one["source"]).replace("import torch", "") for one in written["cells"]
               if one["cell_type"] == "code"]  # fmt: skip
    done = subprocess.run([sys.executable, "-c", GRADED], input=json.dumps(sources), text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert (done.stdout, done.returncode) == ("None\n", 0), done.stderr


def test_an_exam_brings_the_numbers_of_all_students_along():
    """Each sees the same number as with the package that has them, and is asked for an id."""
    course = Course(Path(__file__).resolve().parents[3])
    notebook = json.loads(released(course, "a16_sagan").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    own = with_numbers(notebook, course.private("a16_sagan"))
    (cell,) = [one for one in own["cells"] if VARIANT.search(one["source"])]
    for student in ("", "ada", "ben", "dee"):
        shown = eval(cell["source"], {"variant": variant, "student": student})
        assert repr(shown) == repr(variant("hinge", student))
    questions = {one.name: one for one in asked(own["cells"]).questions}
    assert [name for name, one in questions.items() if one.variants] == ["hinge"]
    with pytest.raises(CourseError, match=r"hinge\.py says no variants"):
        with_numbers(notebook, course.private("a14_t5"))
