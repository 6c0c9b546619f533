"""The answers in words of a class, without whose they are.

An answer has a code, made of its text alone: who wrote it is known only where the hand-ins are. The
order of the codes is a random one and the same for everybody. Students who wrote the same text have
one code, so it is read once; and when somebody hands in another text, its code is another.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from coursekit.submission import parsing, regions
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results.outline import Part, columns, outlines
from coursetools.grading.results.scores import answer_in_words, graded, verdicts_of
from coursetools.questions import rubric
from coursetools.questions.rubric import Rubric

ALIKE = 0.5  # shared part of the words, three by three, from which two answers stand together
LETTERS = str.maketrans("0123456789abcdef", "bcdfghjkmnpqrstv")  # no spreadsheet takes it for 2e3


@dataclass(frozen=True)
class Answer:
    """A text, and who wrote it."""

    code: str
    text: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class InWords:
    """A question in words, with what the class has answered in the order of the codes."""

    name: str  # as the columns of tables call it
    notebook: str
    part: Part
    text: str  # of the question
    model: str  # our answer
    rubric: Rubric
    answers: tuple[Answer, ...]


def in_words(folders: Folders) -> list[InWords]:
    """Return the questions in words of an assignment that is graded."""
    asked = columns(outlines(folders))
    parts = [(name, *place) for name, place in asked.items() if place[1].written]
    store = Verdicts(folders.verdicts)
    written: dict[str, dict[str, list[str]]] = {name: defaultdict(list) for name, _, _ in parts}
    for one in graded(folders).values():
        verdicts = verdicts_of(store, one)
        for name, notebook, part in parts:
            if notebook in verdicts and (text := answer_in_words(part, verdicts[notebook])):
                written[name][text].append(one.student)
    return [
        InWords(
            name,
            notebook,
            part,
            *_told(folders, notebook, part.cell),
            rubric.read(folders.course, folders.name, name),
            tuple(sorted(
                (Answer(code_of(folders.name, name, text), text, tuple(students))
                 for text, students in written[name].items()),
                key=lambda answer: answer.code,
            )),
        )
        for name, notebook, part in parts
    ]  # fmt: skip


def code_of(assignment: str, question: str, text: str) -> str:
    """Return ten letters for an answer."""
    whole = "\0".join((assignment, question, text)).encode("utf-8", "replace")
    return hashlib.sha256(whole).hexdigest()[:10].translate(LETTERS)


def alike(answers: Sequence[Answer]) -> list[list[Answer]]:
    """Return the answers in their order, but each with those behind it that are much like it."""
    threes = [_threes(answer.text) for answer in answers]
    holders: dict[str, list[int]] = defaultdict(list)
    for at, own in enumerate(threes):
        for three in own:
            holders[three].append(at)
    groups, placed = [], set()
    for at, own in enumerate(threes):
        if at in placed:
            continue
        shared = Counter(other for three in own for other in holders[three] if other >= at)
        group = [
            other
            for other in sorted(shared)
            if other not in placed
            and shared[other] >= ALIKE * (len(own) + len(threes[other]) - shared[other])
        ] or [at]
        placed.update(group)
        groups.append([answers[other] for other in group])
    return groups


def _threes(text: str) -> set[str]:
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))}


def _told(folders: Folders, notebook: str, cell: str) -> tuple[str, str]:
    """Return the text above a question's cell in the instructor's notebook, and our answer."""
    text = (folders.source / f"{notebook}.ipynb").read_text(encoding="utf-8")
    above: list[str] = []
    for one in parsing.master(text)["cells"]:
        if regions.grade_id(one) == cell:
            return "\n\n".join(above), one["source"]
        plain = one["cell_type"] == "markdown" and not regions.grade_id(one)
        above = [*above, one["source"]] if plain else []
    return "", ""
