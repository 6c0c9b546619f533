"""`coursekit assignment`: begin one, release some, or write the tree that students may see."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit.submission import regions
from coursekit.submission.deadline import spelled
from coursetools.assignments.release import release_text, write_release
from coursetools.assignments.sources import released, source, sources
from coursetools.course import Course, write_whole
from coursetools.notebooks.imports import notebook_text, read_notebook
from coursetools.notebooks.set_address import carry
from coursetools.questions import catalogue, compiling
from coursetools.questions.leaks import SOLVED, leaks
from coursetools.questions.new_assignment import new
from coursetools.questions.private_links import drop_private_links
from coursetools.settings.assignment_settings import due_of
from coursetools.settings.class_settings import zone_of
from coursetools.settings.exam_settings import Exam, private_exam, private_exams

# What of a course belongs to its instructors.
PRIVATE = ("solutions", "autograder", "_build", ".git", ".venv")
PRIVATE_TESTS = ("assignments", "check", "grading", "questions")
MARKER = re.compile(r"\s*### (BEGIN|END) SOLUTION")
AUTHOR = ("-c", "user.name=The course", "-c", "user.email=course@localhost")
STALE = "is not in step with its source; run coursekit assignment release"
PLACES = (released, compiling.place)  # of what a release writes


def run(arguments: argparse.Namespace) -> int:
    """Run the command `assignment`."""
    course = arguments.course
    if arguments.action == "public":
        count, done = publish(course, arguments.folder)
        if not arguments.quiet:
            print(f"{count} files in {arguments.folder}, none of them private; {done}")
        return 0
    if arguments.action == "solutions":
        for name in arguments.names:
            due = _still_due(course, name)
            path = write_solution(course, name, force=arguments.force)
            if due:
                print(f"{name} is due {due}; --force wrote its solutions before that")
            if not arguments.quiet:
                print(
                    f"{course.relative(path)}  commit it; the next assignment public publishes it"
                )
        return 0
    if arguments.action == "new":
        questions = arguments.questions or ["first"]
        written = new(course, arguments.name, questions, arguments.chapter)
        write_release(course, arguments.name)
        compiling.write(course, arguments.name)
        if not arguments.quiet:
            print("\n".join(course.relative(path) for path in written))
            print(f"Fill them in; coursekit audit {arguments.name} says what is missing.")
        return 0
    names = sources(course) if arguments.all else list(arguments.names)
    if not names:
        raise CourseError("name an assignment, or give --all")
    for name in names:
        changed = write_release(course, name)
        if name in catalogue.names(course):
            changed |= compiling.write(course, name)
        if not arguments.quiet:
            print(
                f"{course.relative(released(course, name))}  {'written' if changed else 'in step'}"
            )
    return 0


def publish(course: Course, folder: Path) -> tuple[int, str]:
    """Bring the course that students may see up to date in `folder`.

    Return how many files it has, and what was done about its history.
    """
    folder = Path(folder).resolve()
    earlier = (folder / ".git").is_dir() and (folder / "_config.yml").is_file()
    if not earlier:
        count = public(course, folder)
        _git(folder, "init", "--quiet", "--initial-branch=main")
    else:
        if _git(folder, "status", "--porcelain"):
            raise CourseError(
                f"{folder} has changes that are in no commit; commit them or take them back first"
            )
        with tempfile.TemporaryDirectory(dir=folder.parent) as new:
            count = public(course, Path(new) / "course")
            for path in _git(folder, "ls-files", "-z").split("\0"):
                if path:
                    (folder / path).unlink(missing_ok=True)
            shutil.copytree(Path(new) / "course", folder, dirs_exist_ok=True)
    _git(folder, "add", "--all")
    if not _git(folder, "status", "--porcelain"):
        return count, "nothing is new"
    _git(
        folder,
        *AUTHOR,
        "commit",
        "--quiet",
        f"--message={'Update' if earlier else 'Begin'} the course",
    )
    return count, "one commit more" if earlier else "its history begins"


def _git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it says."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise CourseError("git is not installed, and the public course has a history") from error
    if done.returncode:
        raise CourseError(f"git {arguments[0]} fails in {folder}: {done.stderr.strip()}")
    return done.stdout


def public(course: Course, folder: Path) -> int:
    """Write the tree that students may see into an empty `folder`; return how many files it has.

    That is what git knows, less `solutions/` and what else is private, and what releases write,
    which must be in step. Of a private exam there is nothing. Refuses a folder that holds anything.
    """
    folder = Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(
            f"{folder} is not empty, and no course that this command has written; "
            "name a folder that is not there yet"
        )
    if folder.is_relative_to(course.root) and not folder.is_relative_to(course / "_build"):
        raise CourseError(f"{folder} is inside the course; name a folder outside, or in _build")
    exams = {exam.name: exam for exam in private_exams(course)}
    for name in sources(course):
        if name in exams:
            continue
        path, known = released(course, name), compiling.place(course, name)
        if not path.is_file() or path.read_text(encoding="utf-8") != release_text(course, name):
            raise CourseError(f"{course.relative(path)} {STALE} {name} first")
        if name in catalogue.names(course) and not (
            known.is_file()
            and compiling.in_step(known.read_bytes(), catalogue.load(course, name), values=False)
        ):
            raise CourseError(f"{course.relative(known)} {STALE} {name} first")
    paths = [path for path in _files(course) if not _private(path)]
    for exam in exams.values():
        paths = _without(course, paths, exam)
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(course / path, folder / path)
    drop_private_links(course, folder, paths)
    carry(Course(folder))
    leaked = leaks(course, folder)
    if leaked:
        shutil.rmtree(folder)
        raise CourseError(f"nothing was written, for private text would be in it: {leaked[0]}")
    return len(paths)


def _without(course: Course, paths: list[Path], exam: Exam) -> list[Path]:
    """Return the paths without those of an exam; refuse a page that shows it."""
    name, own = exam.name, (course.released(exam.name), course / SOLVED / exam.name)
    shown = re.compile(rf"notebooks/assignments/{name}/|```{{assignment}} {name}\s")
    kept = []
    for path in paths:
        whole = course / path
        if whole == compiling.place(course, name) or any(map(whole.is_relative_to, own)):
            continue
        if path.suffix in (".md", ".yml") and shown.search(whole.read_text(encoding="utf-8")):
            raise exam.wait(f"{path.as_posix()} should not show it")
        kept.append(path)
    return kept


def write_solution(course: Course, name: str, *, force: bool = False) -> Path:
    """Write the notebook with its solutions to where students find it; return where that is.

    Before the deadline it is written only with `force`; those of a private exam never.
    """
    if exam := private_exam(course, name):
        raise exam.wait("its solutions are not written")
    if (due := _still_due(course, name)) and not force:
        raise CourseError(f"{name} is due {due}; --force writes its solutions before that")
    notebook = read_notebook(source(course, name))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        text = regions.strip_marking(regions.strip_hidden(cell["source"]))
        lines = (line for line in text.split("\n") if not MARKER.match(line))
        cell["source"] = "\n".join(lines)
        cell["metadata"].pop("nbgrader", None)
    path = course / SOLVED / name / f"{name}.ipynb"
    write_whole(path, notebook_text(notebook))
    return path


def _still_due(course: Course, name: str) -> str:
    """Return the deadline as people write it; nothing if it is over, or if there is none."""
    due = due_of(course.private(name))
    if due is None or datetime.now(UTC).replace(tzinfo=None) >= due:
        return ""
    return spelled(due.replace(tzinfo=UTC).astimezone(zone_of(course, name)))


def _files(course: Course) -> list[Path]:
    """Return the paths in the course of what git knows and of what a release writes.

    A file that nobody has committed may be an instructor's own, such as a list of grades. Where
    there is no git, all files count whose names begin with no dot.
    """
    listing = subprocess.run(
        ["git", "-C", str(course), "ls-files", "-z"], capture_output=True, check=False
    )
    if listing.returncode == 0 and listing.stdout:
        paths = {Path(name) for name in listing.stdout.decode().split("\0") if name}
        written = (place(course, name) for name in sources(course) for place in PLACES)
        paths |= {path.relative_to(course.root) for path in written}
    else:
        inside = (path.relative_to(course.root) for path in course.root.rglob("*"))
        paths = {path for path in inside if not any(part[0] == "." for part in path.parts)}
    plain = (
        path for path in paths if (course / path).is_file() and not (course / path).is_symlink()
    )
    return sorted(plain)


def _private(path: Path) -> bool:
    """Return whether a file is for instructors: their folders, and tests that show hidden cases."""
    parts = path.parts
    if parts[0] in PRIVATE or "__pycache__" in parts or ".ipynb_checkpoints" in parts:
        return True
    return parts[:2] in {("tests", room) for room in PRIVATE_TESTS}
