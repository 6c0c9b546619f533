"""Grading a class beside nbgrader's own autograde: seconds a submission, and memory for many.

    python benchmarks/grading.py [--rounds 5] [--class 10000] [--smoke]

The assignment has three functions of tensors with plain asserts, visible and hidden ones, which
both sides run; both must give the same points. nbgrader grades four submissions of it a round, with
its own preprocessors and a notebook kernel for each, from within one process; we grade 1,000 by
`coursekit grade` with two workers, whose start counts each round. Then 200 of our own first
assignment, judged elsewhere. `--class` grades a class of that size at once, of either assignment,
and writes feedback for all; these rows stay in the results until they are measured again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import RESULTS, arguments, resident, write

from coursetools.assignments.rebuild import release_of
from coursetools.course import SOURCES, Course, quick_imports
from coursetools.grading.results.feedback import write_feedback
from coursetools.grading.running.grade_class import Options, grade_class

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "autograder" / "demo"))
from demo import make_course  # noqa: E402
from invented import make_class  # noqa: E402

NAME, OWN = "tensors", "a01_kernels"
WORKERS = 1 if "--smoke" in sys.argv else 2
QUESTIONS = {  # name: points, right, wrong, visible test, hidden test
    "shares": (
        2,
        "def shares(scores):\n    return torch.softmax(scores, dim=-1)",
        "def shares(scores):\n    return torch.softmax(scores, dim=0)",
        "assert torch.allclose(shares(torch.zeros(2, 2)), torch.full((2, 2), 0.5))",
        "assert torch.allclose(shares(torch.randn(3, 5)).sum(-1), torch.ones(3))",
    ),
    "scores": (
        3,
        "def scores(q, k):\n    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5",
        "def scores(q, k):\n    return q @ k.transpose(-2, -1)",
        "assert scores(torch.ones(2, 1), torch.ones(3, 1)).shape == (2, 3)",
        "assert torch.allclose(scores(torch.eye(4), torch.eye(4)), torch.eye(4) / 2)",
    ),
    "causal": (
        5,
        "def causal(scores):\n    future = torch.ones_like(scores).triu(1).bool()\n"
        "    return scores.masked_fill(future, -torch.inf)",
        "def causal(scores):\n    return scores.tril()",
        "assert causal(torch.zeros(2, 2))[1].tolist() == [0, 0]",
        "assert causal(torch.zeros(3, 3))[0].tolist() == [0, -torch.inf, -torch.inf]",
    ),
}


class Instructor(Namespace):
    """The notebook of the assignment, as `rebuild` wants to have it."""

    @staticmethod
    def cells() -> Iterator[dict]:
        """Yield the cells with solutions and tests."""
        yield _cell("imports", "import torch")
        for name, (points, right, _, visible, hidden) in QUESTIONS.items():
            head, _, body = right.partition("\n")
            solution = f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
            yield _cell(name, solution, solution=True)
            tests = f"{visible}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
            yield _cell(f"test_{name}", tests, grade=True, locked=True, points=points)

    @property
    def notebook(self) -> str:
        """The text of the file."""
        kernel = {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        }
        cells = list(self.cells())
        return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def _cell(name: str, source: str, **nbgrader: Any) -> dict:
    made: dict = {"cell_type": "code", "id": name, "metadata": {}, "source": source}
    if nbgrader:
        about = {"grade": False, "solution": False, "locked": False, "task": False}
        about |= {"grade_id": name, "schema_version": 3, "cell_type": "code"}
        made["metadata"]["nbgrader"] = about | nbgrader
    return made | {"outputs": [], "execution_count": None}


class Ours:
    """A course of ours in a folder: `grade(count)` grades as many more."""

    def __init__(self, root: Path) -> None:
        self.root, self.done = root, 0
        Course(root).source(NAME).mkdir(parents=True)
        (root / "notebooks").mkdir()
        (root / "_config.yml").write_text("title: a benchmark\n")
        (Course(root).source(NAME) / f"{NAME}.ipynb").write_text(Instructor().notebook)
        self.release = release_of(Instructor())
        self.wanted: dict[str, float] = {}

    def hand_in(self, number: int) -> None:
        """Write what student `number` hands in, of eight kinds, and note the points for it."""
        notebook, points = json.loads(json.dumps(self.release)), 0.0
        for place, cell in enumerate(c for c in notebook["cells"] if c["id"] in QUESTIONS):
            worth, right, wrong, *_ = QUESTIONS[cell["id"]]
            is_right = not number >> place & 1
            cell["source"] = f"# by student {number}\n{right if is_right else wrong}"
            points += worth * is_right
        folder = self.root / "autograder" / "submitted" / f"s{number:05}" / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook))
        self.wanted[f"s{number:05}"] = points

    def grade(self, count: int) -> float:
        """Return the seconds that one submission took."""
        for number in range(self.done, self.done + count):
            self.hand_in(number)
        self.done += count
        start = time.perf_counter()
        grade_class(Course(self.root), NAME, Options(workers=WORKERS))
        return (time.perf_counter() - start) / count


class Stock(Ours):
    """The same course in nbgrader's hands, with its own settings."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        with quick_imports():
            from nbgrader.apps import NbGraderAPI
        from traitlets.config import Config

        config = Config()
        config.CourseDirectory.root = str(root)
        config.CourseDirectory.source_directory = SOURCES
        config.CourseDirectory.submitted_directory = "autograder/submitted"
        config.CourseDirectory.autograded_directory = "autograder/autograded"
        config.CourseDirectory.db_url = f"sqlite:///{root}/autograder/gradebook.db"
        (root / "autograder").mkdir()
        self.api = NbGraderAPI(config=config)
        self._do(self.api.generate_assignment, NAME)

    def grade(self, count: int) -> float:
        """Return the seconds that one submission took."""
        numbers = range(self.done, self.done + count)
        for number in numbers:
            self.hand_in(number)
        self.done += count
        start = time.perf_counter()
        for number in numbers:
            self._do(self.api.autograde, NAME, f"s{number:05}")
        return (time.perf_counter() - start) / count

    @staticmethod
    def _do(action: Any, *names: str) -> None:
        said = action(*names)
        assert said["success"], said


def points(root: Path) -> dict[str, float]:
    """Return what the gradebook says of each student."""
    with contextlib.closing(sqlite3.connect(root / "autograder" / "gradebook.db")) as base:
        found = base.execute(
            "select a.student_id, sum(g.auto_score) from grade g"
            " join submitted_notebook n on n.id = g.notebook_id"
            " join submitted_assignment a on a.id = n.assignment_id group by 1"
        )
        return dict(found.fetchall())


def own_class(root: Path, students: int, name: str = OWN, *, hostile: bool = True) -> Path:
    """Make a course with an invented class that hands in one of our own assignments.

    Broken and hostile notebooks come once each, however many students there are; what never ends
    takes seconds, so a small class is measured without.
    """
    course = make_course(Course(ROOT), root, name)
    make_class(course, name, students, hostile=hostile)
    return course.root


def grade_own(root: Path, students: int) -> float:
    """Return the seconds that one submission of an invented class took."""
    course = own_class(root, students, hostile=False)
    start = time.perf_counter()
    summary = grade_class(Course(course), OWN, Options(workers=WORKERS))
    assert summary.exit_code == 0, summary
    return (time.perf_counter() - start) / students


def contest(rounds: int, theirs: int, ours: int, own: int, folder: Path) -> list[dict]:
    """Let all grade in turn, and return the rows."""
    mine, stock = Ours(folder / "ours"), Stock(folder / "stock")
    seconds: dict[str, list[float]] = {"ours": [], "own": [], "nbgrader": []}
    for number in range(rounds):
        seconds["nbgrader"].append(stock.grade(theirs))
        seconds["ours"].append(mine.grade(ours))
        if own:
            seconds["own"].append(grade_own(folder / f"own-{number}", own))
    assert points(folder / "stock") == stock.wanted, "nbgrader's points are not those deserved"
    assert points(folder / "ours") == mine.wanted, "our points are not those deserved"
    made = rows("plain asserts", seconds["ours"], "nbgrader", seconds["nbgrader"])
    if own:
        peer = "nbgrader's plain asserts"
        made += rows("judged elsewhere", seconds["own"], peer, seconds["nbgrader"])
    return made


def rows(name: str, ours: list[float], peer: str, theirs: list[float], **more: Any) -> list[dict]:
    """Return and print the two rows of a contest, milliseconds a submission."""
    made = []
    for who, seconds in (("ours", ours), (peer, theirs)):
        ratios = [one / mine for one, mine in zip(seconds, ours)]
        row = {
            "contest": name,
            "name": who,
            "milliseconds": round(1e3 * statistics.median(seconds), 1),
            "times_ours": round(statistics.median(ratios), 2),
            "peak_MB": more.get("peak") if who == "ours" else None,
        }
        made.append(row)
        print(f"{name:24} {who:24} {row['milliseconds']:9.1f} ms", end=" ")
        print(f"{row['times_ours']:6.2f} × ours {row['peak_MB'] or ''}", flush=True)
    return made


def at_once(students: int, folder: Path, stock: float) -> Iterator[dict]:
    """Yield the rows of a whole class in one run of a fresh process, feedback for all included."""
    plain = Ours(folder / "plain")
    for number in range(students):
        plain.hand_in(number)
    own = own_class(folder / "own", students)
    for label, course, name in (
        ("plain asserts", plain.root, NAME),
        ("judged elsewhere", own, OWN),
    ):
        command = [sys.executable, __file__, "--graded-class", str(course), name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        graded, feedback, peak = json.loads(done.stdout.splitlines()[-1])
        contest = f"{students:,} at once, {label}"
        yield from rows(contest, [graded / students], "nbgrader", [stock], peak=peak)
        print(f"{graded:.0f} s, and {feedback:.0f} s for feedback", flush=True)
        yield {
            "contest": contest,
            "name": "ours, feedback",
            "milliseconds": round(1e3 * feedback / students, 1),
            "times_ours": round(feedback / graded, 2),
            "peak_MB": None,
        }
    assert points(plain.root) == plain.wanted, "our points are not those deserved"


def graded_class(course: Path, name: str) -> None:
    """Be the process that grades a class; print seconds, those for feedback, and the peak in MB."""
    start = time.perf_counter()
    grade_class(Course(course), name, Options(workers=WORKERS))
    graded = time.perf_counter()
    write_feedback(Course(course), name)
    peak = round(resident("VmHWM") / 1e6, 1)
    print(json.dumps([graded - start, time.perf_counter() - graded, peak]))


def main() -> None:
    """Run what the options say."""
    whole = {"type": int, "dest": "students", "help": "students of a whole class"}
    args = arguments("grading", **{"class": whole, "graded-class": {"nargs": 2}})
    if args.graded_class:
        course, name = args.graded_class
        return graded_class(Path(course), name)
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")  # SQLAlchemy's, of nbgrader
    folder = Path(sys.executable).parent  # nbgrader's kernels are started by the name "python"
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    os.environ["JUPYTER_PATH"] = str(folder.parent / "share" / "jupyter")
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        if args.smoke:
            contest(1, 1, 2, 0, place)
            return None
        made = contest(args.rounds, 4, 1000, 200, place)
        if args.students:
            made += at_once(args.students, place, made[1]["milliseconds"] / 1e3)
    measured = {row["contest"] for row in made}
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    kept = before.get("grading", {}).get("rows", [])
    made += [r for r in kept if "at once" in r["contest"] and r["contest"] not in measured]
    what = f"milliseconds a submission, {WORKERS} workers; nbgrader: one process, one kernel each"
    return write("grading", what, made, args)


if __name__ == "__main__":
    main()
