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

from coursekit._base.errors import CourseError
from coursekit._base.progress import track
from coursetools.course import course_root
from coursetools.grading.folders import Folders
from coursetools.grading.results.export import export
from coursetools.grading.results.feedback import write_feedback
from coursetools.grading.results.report import write_report
from coursetools.grading.results.similarity import write_similarity
from coursetools.questions.catalogue import texts
from invented import Invented, make_class

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


def make_course(root: Path, output: Path, name: str) -> Path:
    """Make a small course around one assignment in `output`; return that folder."""
    output = output.resolve()
    if output.exists() and any(output.iterdir()):
        if not (output / MARK).is_file():
            raise CourseError(f"{output} is not empty and no earlier demo; name another folder")
        shutil.rmtree(output)
    ours, theirs = Folders(root, name), Folders(output, name)
    if not ours.source.is_dir():
        raise CourseError(f"there is no assignment {name} in {ours.source.parent}")
    output.mkdir(parents=True, exist_ok=True)
    (output / MARK).touch()
    shutil.copy(root / "_config.yml", output)
    shutil.copytree(ours.source, theirs.source)
    theirs.private.mkdir()
    for file, text in texts(root, name):
        (theirs.private / file).write_text(text, encoding="utf-8")
    (output / "notebooks").mkdir()
    (output / "autograder").mkdir()
    config = root / "autograder" / "nbgrader_config.py"
    if config.is_file():
        shutil.copy(config, output / "autograder")
    (theirs.private / "assignment.toml").write_text(SETTINGS, encoding="utf-8")
    return output


def run(arguments: argparse.Namespace) -> int:
    """The command: `students`, `output`, `name`, `workers`, `root`, `quiet`."""
    from coursetools.grading.running.run import Options, grade_class

    start = time.perf_counter()
    name = getattr(arguments, "name", None) or NAME
    workers = getattr(arguments, "workers", None) or min(2, os.cpu_count() or 1)
    root = Path(arguments.root)
    course = make_course(root, arguments.output or root / "build" / "demo", name)
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


def enrol(root: Path, name: str) -> None:
    """Put the invented class on the gradebook's list, as `coursekit collect --roster` does."""
    from coursetools.grading.collecting import roster
    from coursetools.grading.gradebook.database import Database

    folders = Folders(root, name)
    database = Database(folders)
    try:
        roster.save(database, roster.read_csv(folders.class_folder / "roster.csv"))
    finally:
        database.close()


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=60, help="how many (60)")
    parser.add_argument("--output", type=Path, help="where the class is made (build/demo)")
    parser.add_argument("--quiet", action="store_true", help="no progress, only results")
    arguments = parser.parse_args()
    try:
        arguments.root = course_root(Path.cwd())
        return run(arguments)
    except CourseError as error:
        print(f"demo: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
