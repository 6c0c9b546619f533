"""Whether private text is where students can read it: solutions, and lines of hidden cases."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from coursetools.assignments.release import release
from coursetools.assignments.sources import source, sources
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook
from coursetools.questions.catalogue import load, names
from coursetools.questions.wrong import source_of
from coursetools.settings.exam_settings import private_exams

SHORTEST = 24  # characters; shorter lines are in every program
LONG = 40  # a line that nobody writes twice by chance
READ = {".ipynb", ".py", ".md", ".toml", ".json", ".csv", ".yml", ".yaml", ".txt", ".html", ""}
SOLVED = "notebooks/solutions"  # what is published after the deadline
MARKERS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME")


def leaks(course: Course, folder: Path) -> list[str]:
    """Return where in `folder` there is text from the private half of a course.

    A line of an answer counts in assignments only: lectures and the library are public, and an
    answer may be like them. A line of a hidden case counts everywhere; two short ones are as
    bad as a long one.
    """
    solutions, words, cases = private_lines(course)
    leaked = []
    for path in sorted(Path(folder).rglob("*")):
        if not path.is_file() or path.suffix not in READ:
            continue
        text = _plain(path)
        name = path.relative_to(folder).as_posix()
        if path.relative_to(folder).parts[0] == "solutions":
            leaked.append(f"{name} is private")
        if path.suffix == ".ipynb" and (marker := next((m for m in MARKERS if m in text), "")):
            leaked.append(f"{name} has {marker}")
        assignment = path.suffix == ".ipynb" and '"nbgrader"' in text
        lines = sorted(line for line in solutions if assignment and line in text)
        published = name.startswith(f"{SOLVED}/")  # what its instructor has written there
        everywhere = cases if published else words | cases
        hidden = sorted((line for line in everywhere if line in text), key=len)
        if hidden and (len(hidden) > 1 or len(hidden[-1]) >= LONG):
            lines.append(hidden[-1])
        if lines:
            leaked.append(f"{name} has the line {lines[0]!r}")
    return leaked


def private_lines(course: Course) -> tuple[set[str], set[str], set[str]]:
    """Return the telling lines of all answers, of those in words, and of all hidden cases.

    With the last are the questions of private exams.
    """
    answers: set[str] = set()
    words: set[str] = set()
    hidden: set[str] = set()
    given = ""
    exams = {exam.name for exam in private_exams(course)}  # of which the questions are private, too
    for name in sources(course):
        notebook = read_notebook(source(course, name))
        for before, behind in zip(notebook["cells"], release(notebook)["cells"]):
            shown = set(_telling(behind["source"]))
            if name not in exams:
                given += behind["source"] + "\n"
            elif behind["cell_type"] == "markdown":
                hidden.update(shown)
            gone = set(_telling(before["source"])) - shown
            code = before["cell_type"] == "code"
            kind = (
                words if not code else answers if "BEGIN SOLUTION" in before["source"] else hidden
            )
            kind.update(gone)
        if name in names(course):
            for question in load(course, name).questions:
                answers.update(_telling(source_of(question.reference)))
                seen = set(_telling("\n".join(source_of(case.run) for case in question.cases)))
                hidden.update(seen if name in exams else ())
                for case in question.hidden:
                    hidden.update(set(_telling(source_of(case.run))) - seen)
    kinds = (answers, words, hidden)
    answers, words, hidden = ({line for line in kind if line not in given} for kind in kinds)
    return answers, words, hidden


def _telling(text: str) -> Iterator[str]:
    """Yield the lines that would give something away: long enough, and not an import."""
    for line in text.split("\n"):
        line = line.strip()
        if len(line) >= SHORTEST and not re.match(
            r"(from|import)\s|#|\"\"\"|@(hidden|visible)", line
        ):
            yield line


def _plain(path: Path) -> str:
    """Return what a file says: a page without its tags, a notebook without JSON's escapes."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".html":
        return html.unescape(re.sub("<[^>]*>", "", text))
    return text.replace('\\"', '"').replace("\\\\", "\\") if path.suffix == ".ipynb" else text
