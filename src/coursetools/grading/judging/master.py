"""What a class is graded against: the instructor's notebook and its questions, as plain data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Self

from coursetools.assignments.sources import source
from coursetools.course import Course
from coursetools.notebooks.header_lines import without_header
from coursetools.questions.catalogue import Texts, texts


@dataclass(frozen=True)
class Master:
    """The private half of an assignment; small, and the same on every machine."""

    name: str
    notebook: str  # the source notebook, JSON, with solutions and hidden tests, without its header
    files: Texts = ()  # those of `solutions/NAME/`: answers, cases and mistakes
    key: str = ""  # names all that a grade depends on but for submission, limits and our own code

    @classmethod
    def read(cls, course: Course, name: str) -> Self:
        """Read the assignment `name` of a course."""
        notebook = source(course, name).read_text(encoding="utf-8")
        return cls.of(name, notebook, texts(course, name))

    @classmethod
    def of(cls, name: str, notebook: str, files: Texts = ()) -> Self:
        """Return a master without its header, and with the key that belongs to its content."""
        notebook = without_header(notebook)
        digest = hashlib.sha256()
        for part in (name, notebook, *(part for file in files for part in file)):
            digest.update(hashlib.sha256(part.encode("utf-8", "replace")).digest())
        return cls(name, notebook, files, digest.hexdigest()[:32])
