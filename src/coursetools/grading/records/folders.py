"""Where a class lives: the folders of one assignment below the course, and nbgrader's settings.

Everything of a class is below `autograder/`, and git ignores it. The database's address and the
settings of plugins are read from `autograder/nbgrader_config.py`, the file that nbgrader itself
reads, so that both always look at the same gradebook.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit.submission.resource_limits import Limits
from coursetools.assignments.sources import check_beside
from coursetools.course import Course
from coursetools.settings.assignment_settings import settings_of
from coursetools.settings.class_settings import checked


@dataclass(frozen=True)
class Folders:
    """The folders of assignment `name` in a course."""

    course: Course
    name: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w][\w .+-]*", self.name):
            raise CourseError(f"{self.name!r} cannot be the name of an assignment")

    @property
    def class_folder(self) -> Path:
        """The folder of everything that belongs to a class."""
        return self.course / "autograder"

    @property
    def source(self) -> Path:
        """The instructor's notebooks, with what students get beside them."""
        return self.course.source(self.name)

    @property
    def private(self) -> Path:
        """The folder of the hidden cases and of `assignment.toml`."""
        return self.course.private(self.name)

    @property
    def release(self) -> Path:
        """The folder that students get."""
        return self.course.released(self.name)

    @property
    def verdicts(self) -> Path:
        """The folder of all verdicts."""
        return self.class_folder / "verdicts" / self.name

    @property
    def kept(self) -> Path:
        """The file of what a gradebook holds that cannot be computed again."""
        return self.class_folder / "kept" / f"{self.name}.jsonl"

    @property
    def history(self) -> Path:
        """The file of what everybody's points were, and what has gone out."""
        return self.class_folder / "history" / f"{self.name}.jsonl"

    @property
    def ledger(self) -> Path:
        """The file of what was not taken when collecting, and of what is known of times."""
        return self.class_folder / "collected" / f"{self.name}.json"

    @property
    def report(self) -> Path:
        """The instructor's page about the assignment."""
        return self.class_folder / "report" / f"{self.name}.html"

    @property
    def marking(self) -> Path:
        """The folder of the pages on which answers in words are marked."""
        return self.class_folder / "marking" / self.name

    @property
    def own_code(self) -> Path:
        """The folder of questions about what students have written."""
        return self.class_folder / "own_code" / self.name

    @property
    def export(self) -> Path:
        """The folder of exported tables."""
        return self.class_folder / "export"

    def submitted(self, student: str) -> Path:
        """The folder of the attempt that counts."""
        return self.class_folder / "submitted" / student / self.name

    def attempts(self, student: str) -> Path:
        """The folder of everything that a student submitted."""
        return self.class_folder / "attempts" / student / self.name

    def autograded(self, student: str) -> Path:
        """The folder of the graded notebook."""
        return self.class_folder / "autograded" / student / self.name

    def feedback(self, student: str) -> Path:
        """The folder of what the student reads."""
        return self.class_folder / "feedback" / student / self.name

    def students(self) -> Iterator[str]:
        """Yield, in order, the students of whom something is in `submitted/`."""
        submitted = self.class_folder / "submitted"
        for student in sorted(os.listdir(submitted)) if submitted.is_dir() else ():
            link = os.path.islink(submitted / student)
            if not link and not student.startswith(".") and self.submitted(student).is_dir():
                yield student

    def notebooks(self) -> list[str]:
        """Return the names of the instructor's notebooks, "a01_kernels", without the suffix."""
        names = sorted(path.stem for path in self.source.glob("*.ipynb"))
        if not names:
            raise CourseError(no_such("assignment", self.name, self.course.assignments))
        check_beside(self.course, self.name)
        return [self.name] if self.name in names else names

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What `assignment.toml` says, empty where there is no such file."""
        return settings_of(self.private)

    @cached_property
    def limits(self) -> Limits:
        """The limits of the assignment: ours, with what its own file changes."""
        path, known = self.private / "assignment.toml", tuple(Limits.__dataclass_fields__)
        return Limits(**checked(path, "limits", self.settings.get("limits", {}), known))

    @cached_property
    def config(self) -> Any:
        """nbgrader's settings, as traitlets reads them."""
        from traitlets.config import Config
        from traitlets.config.loader import PyFileConfigLoader

        path = self.class_folder / "nbgrader_config.py"
        if not path.is_file():
            return Config()
        return PyFileConfigLoader(path.name, path=str(path.parent)).load_config()

    @property
    def database(self) -> str:
        """The address of the gradebook; a SQLite file unless the settings say otherwise."""
        address = self.config.get("CourseDirectory", {}).get("db_url")
        return address or f"sqlite:///{(self.class_folder / 'gradebook.db').resolve()}"

    @property
    def has_gradebook(self) -> bool:
        """Whether there is one; of a database on a server it is taken for granted."""
        kind, _, path = self.database.partition(":///")
        return kind != "sqlite" or Path(path).is_file()

    @property
    def exchange(self) -> Path:
        """The course's folder in nbgrader's exchange."""
        root = self.config.get("Exchange", {}).get("root") or "/usr/local/share/nbgrader/exchange"
        return Path(root, self.course_id)

    @property
    def course_id(self) -> str:
        """nbgrader's name of the course."""
        return self.config.get("CourseDirectory", {}).get("course_id") or "default_course"


def read_plain(path: Path, most: int) -> bytes:
    """Return at most `most` bytes and one more of a file that must be a file: no link, no pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path.name} is not a plain file")
        return file.read(most + 1)
