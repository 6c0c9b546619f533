"""`make demo`: an invented class of sixty is graded before your eyes, in a folder of its own.

The folder is a small course: the assignment, nbgrader's settings, and what the class handed in.
Everything that `coursekit grade` and its sister commands do can be tried in it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from invented import Invented, make_class

from coursekit._base.errors import CourseError
from coursekit._base.progress import track
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.export import export
from coursetools.grading.results.feedback import write_feedback
from coursetools.grading.results.report import write_report
from coursetools.grading.results.similarity import write_similarity
from coursetools.questions.catalogue import texts

__all__ = ["Invented", "make_class", "make_course", "run"]

NAME = "a01_kernels"
MARK = ".coursekit-demo"  # a folder that has it may be made anew
SETTINGS = """# Of the demo: short, so that what never ends is stopped soon.
due = 2026-11-20T12:00:00+00:00

[limits]
cell_seconds = 0.5
question_seconds = 1.0
notebook_seconds = 3.0
memory = 268435456

[late]
rate = 0.1
grace_hours = 1
most = 0.5
"""


def make_course(ours: Course, output: Path, name: str) -> Course:
    """Make a small course around one assignment of ours in `output`."""
    course = Course(output)
    if course.root.exists() and any(course.root.iterdir()):
        if not (course / MARK).is_file():
            raise CourseError(f"{course} is not empty and no earlier demo; name another folder")
        shutil.rmtree(course.root)
    if not ours.source(name).is_dir():
        raise CourseError(f"there is no assignment {name} in {ours.source(name).parent}")
    for folder in (course.notebooks, course / "autograder", course.private(name)):
        folder.mkdir(parents=True)
    (course / MARK).touch()
    shutil.copy(ours / "_config.yml", course.root)
    shutil.copytree(ours.source(name), course.source(name))
    for file, text in texts(ours, name):
        (course.private(name) / file).write_text(text, encoding="utf-8")
    config = Path("autograder", "nbgrader_config.py")
    if (ours / config).is_file():
        shutil.copy(ours / config, course / config)
    (course.private(name) / "assignment.toml").write_text(SETTINGS, encoding="utf-8")
    return course


def run(arguments: argparse.Namespace) -> int:
    """The command: `students`, `output`, `name`, `workers`, `course`, `quiet`."""
    from coursetools.grading.running.grade_class import Options, grade_class

    start = time.perf_counter()
    name = getattr(arguments, "name", None) or NAME
    workers = getattr(arguments, "workers", None) or min(2, os.cpu_count() or 1)
    ours = arguments.course
    course = make_course(ours, arguments.output or ours / "build" / "demo", name)
    people = make_class(course, name, arguments.students or 60)
    enrol(course, name)
    handed_in = sum(person.kind != "missing" for person in people)
    with track(handed_in, "grading", arguments.quiet) as progress:
        summary = grade_class(course, name, Options(workers=workers), progress)
    with track(len(people), "feedback", arguments.quiet) as progress:
        write_feedback(course, name, progress=progress)
    report = write_report(course, name)
    alike, _ = write_similarity(course, name)
    table, _ = export(course, name)
    if not arguments.quiet:
        print(summary.as_table(), file=sys.stderr)
    example = next((one for one in people if one.kind == "mistake"), people[0])
    seconds = time.perf_counter() - start
    page = Folders(course, name).feedback(example.id) / f"{name}.html"
    for label, path in (
        ("report", report),
        ("feedback", page.parents[2]),
        ("one student's", page),
        ("similarity", alike),
        ("scores", table),
    ):
        print(f"{label:14}{path}")
    if not arguments.quiet:
        print(
            f"{len(people)} invented students in {seconds:.0f} s. To look on: "
            f"coursekit grade {name} --root {course}",
            file=sys.stderr,
        )
    return summary.exit_code


def enrol(course: Course, name: str) -> None:
    """Put the invented class on the gradebook's list, as `coursekit collect` does."""
    from coursetools.grading.collecting import roster

    folders = Folders(course, name)
    roster.enter(folders, roster.read_csv(folders.class_folder / "roster.csv"))


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=60, help="how many (60)")
    parser.add_argument("--output", type=Path, help="where the class is made (build/demo)")
    parser.add_argument("--quiet", action="store_true", help="no progress, only results")
    arguments = parser.parse_args()
    try:
        arguments.course = Course.around(Path.cwd())
        return run(arguments)
    except CourseError as error:
        print(f"demo: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
