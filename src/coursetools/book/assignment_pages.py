"""Assignments as pages: what is asked, how much it counts, what to read first, where to get it.

The page of an assignment is its notebook, as students get it, with a table of its questions at the
top. `assignment` is the card at the end of a chapter, `assignment-list` the table of all of them.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit.check.compiled import FOLDER
from coursetools.book.build import pages
from coursetools.book.dependencies import note_input
from coursetools.book.guide_directives import Guide
from coursetools.course import Course
from coursetools.notebooks.header_cells import colab_link
from coursetools.notebooks.header_lines import SETUP_ID
from coursetools.notebooks.imports import read_notebook
from coursetools.settings.exam_settings import private_exam

PAGES = "notebooks/assignments/"
HEADER = re.compile(
    r"\A# (?P<title>[^\n]+)\n(?P<about>.*?)\s*It goes with\s*"
    r"\[[^\]]*\]\(\S*/(?P<chapter>\w+)\.(?:html|md)\);\s*"
    r"(?P<points>\d+) points(?:,\s*of\s+which\s+a\s+human\s+reads\s+(?P<human>\d+))?;\s*"
    r"(?P<time>about [^.]+)\.(?P<rest>.*)\Z",
    re.DOTALL,
)
QUESTION = re.compile(
    r"^## (?:\d+\. )?(?P<title>.+)\n+"
    r"\*(?P<points>\S+) points? · (?P<kind>[^·*]+) · (?P<time>[^*]+)\*",
    re.MULTILINE,
)
EXPECTED = (
    "must begin with `# Title`, then `It goes with [the page …](…); N points; about … hours.`"
)


@dataclass(frozen=True)
class Asked:
    """A question of an assignment, as its heading says."""

    title: str
    points: str
    kind: str  # "easy", "medium", "hard", "in words"
    time: str  # "30 minutes"


@dataclass(frozen=True)
class Assignment:
    """An assignment as students get it."""

    name: str  # "a17_vit"
    title: str  # "Assignment 17: ViT"
    about: str  # its introduction
    chapter: str  # the stem of the page that it goes with
    points: int
    human: int  # points that a human gives
    time: str  # "about three hours"
    rest: str  # how to work on it
    asked: tuple[Asked, ...]

    @property
    def page(self) -> str:
        """The page, from the top of the book."""
        return f"{PAGES}{self.name}/{self.name}"


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.connect("source-read", show_assignment)
    app.add_directive("assignment", AssignmentCard)
    app.add_directive("assignment-list", AssignmentList)


def read_assignment(course: Course, name: str) -> Assignment:
    """Return what the released notebook of an assignment says of itself."""
    path = _file(course, name)
    if not path.is_file():
        released = (one for one in course.assignments if _file(course, one).is_file())
        raise CourseError(no_such("assignment", name, released))
    if exam := private_exam(course, name):
        raise exam.wait("no page shows it")
    texts = [cell["source"] for cell in read_notebook(path)["cells"]]
    header = HEADER.match(texts[0] if texts else "")
    if header is None:
        raise CourseError(f"{course.relative(path)} {EXPECTED}")
    asked = tuple(Asked(**match.groupdict()) for text in texts for match in QUESTION.finditer(text))
    return Assignment(
        name=name,
        title=header["title"].strip(),
        about=header["about"].strip(),
        chapter=header["chapter"],
        points=int(header["points"]),
        human=int(header["human"] or 0),
        time=" ".join(header["time"].split()),
        rest=header["rest"].strip(),
        asked=asked,
    )


def assignments(course: Course) -> list[Assignment]:
    """Return all assignments that have a page, in the order of the contents."""
    listed = [page for page in pages(course) if page.startswith(PAGES)]
    return [read_assignment(course, page.rpartition("/")[2]) for page in listed]


def reading(course: Course, name: str) -> list[str]:
    """Return the section of the book that explains each question, as `check` names it."""
    try:
        with zipfile.ZipFile(FOLDER / f"{name}.zip") as file:
            questions = json.loads(file.read("index.json"))["questions"]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return []
    return [str(question["page"]) for question in questions]


# --- The page ---


def show_assignment(app: Sphinx, docname: str, content: list[str]) -> None:
    """Make a released notebook the page of its assignment."""
    if not docname.startswith(PAGES):
        return
    course, name = Course(Path(app.srcdir)), docname.rpartition("/")[2]
    note_input(app.env, docname, FOLDER / f"{name}.zip")
    content[0] = json.dumps(as_page(course, name, json.loads(content[0])))


def as_page(course: Course, name: str, notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with what a reader of its page wants first, and without its set-up."""
    cells = [cell for cell in notebook["cells"] if cell.get("id") != SETUP_ID]
    numbers = iter(range(1, len(cells)))
    for cell in cells[1:]:
        text = "".join(cell["source"])
        if QUESTION.search(text):
            cell["source"] = f"({name}-{next(numbers)})=\n{text}"
    cells[0]["source"] = "\n".join(_introduction(course, read_assignment(course, name)))
    return notebook | {"cells": cells}


def _introduction(course: Course, one: Assignment) -> list[str]:
    shown = f"{one.points} points, {one.time}"
    colab = colab_link(_file(course, one.name), course)
    buttons = [f"{{download}}`Download the notebook <{one.name}.ipynb>`"]
    buttons += [f"[Open it in Colab]({colab})"] if colab else []
    sections = reading(course, one.name)
    rows = [
        f"| {number}. {{ref}}`{_plain(asked.title)} <{one.name}-{number}>` | {asked.points} "
        f"| {asked.kind}, {asked.time.replace(' minutes', ' min')} | {_link(sections, number)} |"
        for number, asked in enumerate(one.asked, start=1)
    ]
    return [
        f"({one.name})=", f"# {one.title}", "", one.about, "",
        f":::{{admonition}} {shown}", ":class: assignment", "",
        f"It goes with {{doc}}`/book/{one.chapter}`. " + _graded(one), "",
        "| Question | Points | Level | Read first |", "|---|--:|---|---|", *rows, "",
        " · ".join(buttons) + " · {doc}`How to work, and what comes back </book/check>`", ":::", "",
        one.rest,
    ]  # fmt: skip


def _graded(one: Assignment) -> str:
    return f"A human reads the answers in words, {one.human} points." if one.human else ""


def _link(sections: list[str], number: int) -> str:
    if number > len(sections):
        return ""
    stem, _, anchor = sections[number - 1].partition(".html")
    return f"{{ref}}`{anchor[1:]}`" if anchor else f"{{doc}}`/book/{stem}`"


def _plain(text: str) -> str:
    """Return a heading as the text of a link."""
    return re.sub(r"[`<>|]", "", text)


def _file(course: Course, name: str) -> Path:
    return course.released(name) / f"{name}.ipynb"


# --- Links to it ---


class AssignmentCard(Guide):
    """The end of a chapter: `{assignment} a17_vit`."""

    required_arguments = 1

    def make(self) -> list[nodes.Node]:
        """Return one paragraph."""
        name = self.arguments[0]
        self.note(_file(self.course, name))
        one = read_assignment(self.course, name)
        return self.markdown(
            [f"**Solve it:** {{doc}}`{one.title} </{one.page}>`, {one.points} points, {one.time}."]
        )


class AssignmentList(Guide):
    """The table `tab-assignments`: questions, points, time, and the chapters that they go with."""

    def make(self) -> list[nodes.Node]:
        """Return one table."""
        listed = assignments(self.course)
        self.note(*(_file(self.course, one.name) for one in listed))
        rows = [
            f"| {{doc}}`{one.title.removeprefix('Assignment ')} </{one.page}>` "
            f"| {{doc}}`/book/{one.chapter}` | {len(one.asked)} | {one.points} "
            f"| {one.time.removeprefix('about ')} |"
            for one in listed
        ]
        head = ["| Assignment | Chapter | Questions | Points | About |", "|---|---|--:|--:|---|"]
        begin = ["```{table} The assignments.", ":name: tab-assignments", ""]
        return self.markdown([*begin, *head, *rows, "```"])
