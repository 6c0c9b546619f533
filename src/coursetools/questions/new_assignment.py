"""`coursekit assignment new`: an assignment that runs, to be filled in.

The files have the form of all others; `coursekit audit` lists what is still missing in them. What
all notebooks share, such as the set-up cell, is taken from the course's first assignment. The
assignment gets its line in the contents and its link at the end of its chapter.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.assignments.sources import released, source, sources
from coursetools.book import contents, routes
from coursetools.course import SOURCES, Course, write_whole
from coursetools.notebooks.header_cells import book_link
from coursetools.notebooks.imports import notebook_text, read_notebook
from coursetools.questions.catalogue import file_of

QUESTION = '''"""What is asked, in one sentence."""

from __future__ import annotations

from coursekit.check.probe import randn
from coursetools.questions import hidden, visible


def {question}(x):
    """x (T, D) -> (T, D), twice as much."""
    return 2 * x


@visible("two words")
def two_words(student):
    return student.{question}(randn(2, 3))


@hidden("one word only")
def one_word(student):
    return student.{question}(randn(1, 4))
'''

ABOUT = """page: {page}

The first step, for everybody who is stuck.

## half as much
2 * x  ->  x / 2
You divide by two.
"""

TITLE = """# Assignment {number}: {title}

What it is about, in a few sentences. It goes with
[the page "{chapter}"]({page}); {points} points; about {minutes} minutes.

Replace each `raise NotImplementedError()` by your answer. The cell below each answer calls `check`,
which says at once what passes and, if something does not, shows your values beside the expected
ones. You may add cells and functions of your own. Leave the cells with `check` as they are."""

WHAT = """## {place}. {heading}

*3 points · easy · 15 minutes*

What this is good for.

**Write** `{question}(x)`: `x` is (T, D). Return twice as much, (T, D).

For example, `{question}(torch.ones(1, 2))` is `[[2., 2.]]`."""

ANSWER = '''def {question}(x):
    """x (T, D) -> (T, D), twice as much."""
    ### BEGIN SOLUTION
    return x + x
    ### END SOLUTION'''


TAKE_AWAY = "## What to take away\n"  # the section of a chapter that ends with its assignment


def new(course: Course, name: str, questions: list[str], chapter: str | None = None) -> list[Path]:
    """Write the files of the assignment `name` with these questions; return which.

    It goes with the chapter that the name ends in, `a21_mixing` with `mixing`, or with `chapter`.
    """
    private, notebooks = course.private(name), course.source(name)
    _refuse(name, questions, (private, notebooks))
    pattern = next(iter(sources(course)), None)
    if pattern is None:
        raise CourseError(f"{SOURCES}/ has no assignment whose first cell a new one could take")
    chapter = _chapter(course, name, chapter)
    facts = {
        "name": name,
        "number": int(name[1:3]),
        "title": name[4:].replace("_", " "),
        "points": 3 * len(questions),
        "minutes": 15 * len(questions),
        "chapter": contents.title(course, chapter),
        "page": book_link(chapter, notebooks / f"{name}.ipynb", course),
    }
    labels = (label for label, one in contents.sections(course).items() if one.chapter == chapter)
    section = f"{chapter}.html#{next(labels)}"
    texts = {}
    for one in questions:
        names = {"question": one, "page": section}
        texts[private / f"{file_of(one)}.py"] = QUESTION.format(**names)
        texts[private / f"{file_of(one)}.md"] = ABOUT.format(**names)
    texts[notebooks / f"{name}.ipynb"] = _notebook(
        read_notebook(source(course, pattern)), facts, questions
    )
    listed, page = course / "_toc.yml", course.page(chapter)
    texts[listed] = _in_contents(listed.read_text(encoding="utf-8"), name)
    texts[page] = _in_chapter(page.read_text(encoding="utf-8"), name)
    for path, text in texts.items():
        write_whole(path, text)
    return [*texts, released(course, name)]


def _chapter(course: Course, name: str, chapter: str | None) -> str:
    """Return the chapter that the assignment goes with; raise unless it can have one."""
    chapters, chapter = contents.chapters(course), chapter or name[4:]
    if chapter not in chapters:
        raise CourseError(
            f"there is no chapter {chapter} for {name}; name one with --chapter, or begin it with "
            f"coursekit chapter new; there are {', '.join(chapters)}"
        )
    if there := routes.assignments(course).get(chapter):
        raise CourseError(f"the chapter {chapter} has an assignment already, {there.stem}")
    if TAKE_AWAY not in course.page(chapter).read_text(encoding="utf-8"):
        raise CourseError(
            f"book/{chapter}.md has no section `{TAKE_AWAY.strip()}`, which ends with the "
            "assignment; write it first"
        )
    return chapter


def _in_contents(text: str, name: str) -> str:
    """Enter the assignment into the contents, in the order of the names."""
    entry = "          - file: notebooks/{}\n"
    listed = re.compile(f"({entry.format('check')})((?:{entry.format('assignments/.*')})*)")

    def longer(found: re.Match[str]) -> str:
        lines = [*found[2].splitlines(keepends=True), entry.format(f"assignments/{name}/{name}")]
        return found[1] + "".join(sorted(lines))

    return listed.sub(longer, text, count=1)


def _in_chapter(text: str, name: str) -> str:
    """Let the chapter end with the assignment, before any further reading."""
    start, end = text.split(TAKE_AWAY, 1)
    last, heading, rest = end.partition("\n## ")
    return f"{start}{TAKE_AWAY}{last.rstrip()}\n\n```{{assignment}} {name}\n```\n{heading}{rest}"


def _refuse(name: str, questions: list[str], folders: tuple[Path, ...]) -> None:
    """Raise unless such files can be written."""
    if not re.fullmatch(r"a\d\d_[a-z]\w*", name):
        raise CourseError(f"an assignment is called like a21_mixing, found {name!r}")
    for one in questions:
        if not one.isidentifier() or keyword.iskeyword(one) or one.startswith("_"):
            raise CourseError(f"a question is called like a function of Python, found {one!r}")
    files = [file_of(one) for one in questions]
    if twice := next((one for one in files if files.count(one) > 1), None):
        raise CourseError(f"two questions would be in {twice}.py; give one another name")
    for folder in folders:
        if folder.exists():
            raise CourseError(f"{folder} already exists; copy one of its questions instead")


def _heading(question: str) -> str:
    return file_of(question).replace("_", " ").capitalize()


def _notebook(pattern: dict[str, Any], facts: dict[str, Any], questions: list[str]) -> str:
    """Return the source notebook, with the cells of `pattern` that all notebooks share."""
    cells = {cell["id"]: cell for cell in pattern["cells"]}
    imports = "import torch\n\nfrom coursekit.check import check, submit_check"
    made = [
        _cell("title", TITLE.format(**facts), kind="markdown"),
        cells["setup-colab"],
        _cell("imports", imports),
    ]
    for place, one in enumerate(questions, 1):
        asked = {"question": one, "heading": _heading(one), "place": place}
        kebab = file_of(one).replace("_", "-")
        answer = {"grade": False, "locked": False, "solution": True}
        test = {"grade": True, "locked": True, "points": 3, "solution": False}
        made += [
            _cell(f"{kebab}-what", WHAT.format(**asked), kind="markdown"),
            _cell(kebab, ANSWER.format(**asked), one, answer),
            _cell(f"check-{kebab}", f"check({one})", f"test_{one}", test),
        ]
    made += [cells["before-upload-what"], cells["before-upload"]]
    whole = {**pattern, "cells": made}
    return notebook_text(whole)


def _cell(
    name: str,
    text: str,
    grade_id: str = "",
    grading: dict[str, Any] | None = None,
    kind: str = "code",
) -> dict[str, Any]:
    """Return a cell; with a `grade_id` it is one of nbgrader's."""
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}, "source": text}
    if kind == "code":
        cell |= {"outputs": [], "execution_count": None}
    if grading is not None:
        same = {"grade_id": grade_id, "schema_version": 3, "task": False}
        cell["metadata"] = {"nbgrader": {**same, **grading}}
    return cell
