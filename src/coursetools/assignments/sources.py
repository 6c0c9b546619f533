"""Where an assignment's notebooks are: the instructor's source, and what students get."""

from __future__ import annotations

from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursetools.course import SOURCES, Course

PRIVATE = (".py", ".md", ".toml")  # questions, settings; a picture or a table may go to students


def sources(course: Course) -> list[str]:
    """Return the names of all assignments that have a source."""
    paths = (course / SOURCES).glob("*/*.ipynb")
    return sorted({path.stem for path in paths if path.stem == path.parent.name})


def source(course: Course, name: str) -> Path:
    """Return where the instructor's notebook is."""
    path = course.source(name) / f"{name}.ipynb"
    if not path.is_file():
        raise CourseError(no_such("assignment", name, sources(course)))
    check_beside(course, name)
    return path


def check_beside(course: Course, name: str) -> None:
    """Refuse what is private beside a source notebook, where nbgrader gives it to students."""
    folder = course.source(name)
    private = sorted(path for path in folder.rglob("*") if path.suffix in PRIVATE)
    if private:
        raise CourseError(
            f"{course.relative(private[0])} stands beside a source notebook, so nbgrader would "
            f"give it to every student; move it to {course.relative(course.private(name))}/"
        )


def released(course: Course, name: str) -> Path:
    """Return where the students' notebook belongs."""
    return course.released(name) / f"{name}.ipynb"
