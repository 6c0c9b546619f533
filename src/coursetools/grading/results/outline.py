"""What an assignment asks, as plain data: its questions, their titles, hints and pages.

It is read from the instructor's notebook, and from `solutions/NAME/` where the course has its
questions there; somebody else's gets its cells' own names. Nothing of it is a solution or a test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.submission import parsing, regions
from coursetools.grading.records.folders import Folders
from coursetools.questions import catalogue
from coursetools.questions.catalogue import texts

LEVELS = {1: "easy", 2: "medium", 3: "hard"}


@dataclass(frozen=True, kw_only=True)
class Part:
    """One graded cell of an assignment."""

    cell: str  # its grade_id, the gradebook's name for it
    title: str
    points: float
    written: bool  # read by a human
    answers: tuple[str, ...] = ()  # grade_ids of the cells that the student fills in
    ids: tuple[str, ...] = ()  # notebook ids of the same cells
    stub: str = ""  # of an answer in words, what is there before anybody answers
    test: str = ""  # notebook id of the cell with the tests, which no student's page may show
    hint: str = ""
    name: str = ""  # as the student writes it, "dot_scores"
    needs: tuple[str, ...] = ()  # names of parts whose answers this one calls
    page: str = ""  # of the book, "scaling.html#an-anchor"
    level: str = ""
    minutes: int = 0

    def is_answer(self, source: str) -> bool:
        """Return whether a text is more than what the release has in its place."""
        blank = bool(self.stub) and regions.is_blank(self.stub, source, "markdown")
        return bool(source.strip()) and not blank


@dataclass(frozen=True, kw_only=True)
class Outline:
    """An assignment's parts, in the order of its notebook."""

    name: str
    title: str
    parts: tuple[Part, ...]
    ours: bool = False  # with questions in `solutions/NAME/`

    @property
    def points(self) -> float:
        """What can be earned in all."""
        return sum(part.points for part in self.parts)

    @classmethod
    def of(cls, name: str, notebook: dict[str, Any], assignment: Any = None) -> Outline:
        """Read an instructor's notebook; `assignment` is what its questions say."""
        parts: list[Part] = []
        pending: list[tuple[str, str]] = []  # solution cells that wait for the cell that grades
        for cell in notebook["cells"]:
            about, grade_id = regions.meta(cell), regions.grade_id(cell)
            if not grade_id:
                continue
            fills = (grade_id, cell["id"])
            by_hand = regions.is_by_hand(cell)
            if by_hand or regions.is_grade(cell):
                answers = [*pending, fills] if by_hand else pending
                pending = []
                parts.append(
                    Part(
                        cell=grade_id,
                        title=grade_id.removeprefix("test_").replace("_", " "),
                        points=float(about.get("points", 0) or 0),
                        written=by_hand,
                        answers=tuple(one for one, _ in answers),
                        ids=tuple(one for _, one in answers),
                        stub=regions.release_source(cell) if by_hand else "",
                        test="" if by_hand else fills[1],
                    )
                )
            elif regions.is_solution(cell):
                pending.append(fills)
        if assignment is None:
            return cls(name=name, title=name, parts=tuple(parts))
        named = tuple(_titled(part, assignment) for part in parts)
        return cls(name=name, title=assignment.title, parts=named, ours=True)


def outlines(folders: Folders) -> dict[str, Outline]:
    """Read the outline of each notebook of an assignment, by the notebook's name."""
    by_notebook = {}
    files = texts(folders.course, folders.name)
    for notebook in folders.notebooks():
        path = folders.source / f"{notebook}.ipynb"
        try:
            text = path.read_text(encoding="utf-8")
            content = parsing.master(text)
        except (OSError, ValueError) as error:
            raise CourseError(f"{path} cannot be read ({error}); save it again") from error
        assignment = catalogue.of(folders.name, text, files)
        by_notebook[notebook] = Outline.of(notebook, content, assignment)
    return by_notebook


def columns(asked: dict[str, Outline]) -> dict[str, tuple[str, Part]]:
    """Return each part with its notebook, by its name in tables, which may need the notebook's."""
    return {
        f"{notebook}.{part.cell}" if len(asked) > 1 else part.cell: (notebook, part)
        for notebook, outline in asked.items()
        for part in outline.parts
    }


def safe_name(name: str) -> bool:
    """Return whether a student's or assignment's name can be a folder's, and nothing but that."""
    odd = any(character in "/\\\0" or ord(character) < 32 for character in name)
    return bool(name) and not odd and name.strip(". ") != "" and len(name.encode()) < 250


def _titled(part: Part, assignment: Any) -> Part:
    for question in assignment.questions:
        if question.name in (part.cell, part.cell.removeprefix("test_"), *part.answers):
            return replace(
                part,
                title=question.title,
                name=question.name,
                needs=tuple(question.needs),
                hint=question.hint,
                page=question.page,
                level=LEVELS.get(question.difficulty, ""),
                minutes=question.minutes,
            )
    for written in assignment.written:
        if written.name == part.cell:
            return replace(part, title=written.title, page=written.page, minutes=written.minutes)
    return part
