"""Of `coursekit review NAME`: a question to each student about the answer that they submitted.

"Somebody else wrote this version. On which of these inputs does it give the same as yours?" The
version is a known mistake, one of those that are nearest to right. The student's answer passed, so
it gives what ours gives, and the key is computed without running it: the two agree where the
mistake agrees with ours.
"""

from __future__ import annotations

import ast
import hashlib
import string
from collections.abc import Iterator
from dataclasses import dataclass

from coursetools.course import Course, write_changed
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict import QuestionVerdict, Verdict
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results.pages import counted, render
from coursetools.questions import catalogue
from coursetools.questions.compiling import code
from coursetools.questions.known_answers import Known
from coursetools.questions.question import Assignment, Misconception, Question
from coursetools.questions.wrong import Wrong, as_cell, with_numbers
from coursetools.settings import csv_tables
from coursetools.text import some

NEAREST = 3  # mistakes of a question that are asked about; neighbours should not have the same


@dataclass(frozen=True)
class Version:
    """A known mistake, and on which visible cases it gives what a right answer gives."""

    question: Question
    mistake: Misconception
    same: tuple[bool, ...]

    @property
    def letters(self) -> str:
        """The letters of the choices that are right."""
        return "".join(letter for letter, same in zip(string.ascii_uppercase, self.same) if same)

    @property
    def source(self) -> str:
        """The version as somebody would have it in a notebook."""
        return as_cell(self.mistake.wrong, self.question.name)


class OwnCode:
    """The versions that the answers to one assignment are compared with."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self._versions: dict[tuple[str, int], list[Version]] = {}

    def ask(self, student: str, verdict: Verdict) -> Version | None:
        """Return the version that a student is asked about; None where no answer is all right."""
        versions = [version for one in verdict.questions for version in self._of(one, verdict)]
        if not versions:
            return None
        who = f"{self.assignment.name}\0{student}\0own code".encode()
        digest = hashlib.blake2b(who, digest_size=8).digest()
        return versions[int.from_bytes(digest, "big") % len(versions)]

    def _of(self, one: QuestionVerdict, verdict: Verdict) -> list[Version]:
        """Return the versions for one answer, if that is right without help."""
        if one.status != "OK" or one.carried or not verdict.answers.get(one.name, "").strip():
            return []
        for place, question in enumerate(self.assignment.questions):
            for number in range(1 + len(question.variants)):
                mine = self.assignment.of(number).questions[place]
                if (mine.name, str(mine.variant or "")) == (one.name, one.numbers):
                    return self.versions(mine, number)
        return []

    def versions(self, question: Question, number: int = 0) -> list[Version]:
        """Return the mistakes that agree with a right answer most often, and not always."""
        key = question.name, number
        if key not in self._versions:
            known = Known(self.assignment.of(number), question, question.cases)
            compared = (_compared(known, one) for one in question.misconceptions)
            fit = [one for one in compared if any(one.same) and not all(one.same)]
            fit.sort(key=lambda one: -sum(one.same))  # the first of the text first, where equal
            self._versions[key] = fit[:NEAREST]
        return self._versions[key]


def _compared(known: Known, mistake: Misconception) -> Version:
    same = (
        isinstance(mistake.wrong, Wrong)
        and (outcome := known.of(mistake, number)).error is None
        and known.difference(outcome, number) is None
        for number in range(len(known.cases))
    )
    return Version(known.question, mistake, tuple(same))


def inputs(question: Question) -> tuple[list[tuple[str, str, str]], str]:
    """Return (letter, what it says, code) of each visible case, and the code that they use."""
    tree = ast.parse(with_numbers(code(question), question.reference))
    runs = {case.run.__name__ for case in question.cases}
    bodies = {
        node.name: "\n".join(map(ast.unparse, node.body))
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name in runs
    }
    shown = [
        (letter, case.says, bodies[case.run.__name__])
        for letter, case in zip(string.ascii_uppercase, question.cases)
    ]
    used = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    rest = (ast.unparse(node) for node in used if node.name not in bodies)
    return shown, "\n\n".join(rest)


def pages(course: Course, name: str) -> Iterator[tuple[str, Version | None, str]]:
    """Yield each student with a verdict, the version that they are asked about, and the page."""
    own = OwnCode(catalogue.load(course, name))
    store = Verdicts(Folders(course, name).verdicts)
    for (student, _), place in store.index().items():
        verdict = store.read(place).verdict
        version = own.ask(student, verdict)
        if version is None:
            yield student, None, ""
            continue
        choices, rest = inputs(version.question)
        yield student, version, render(
            "own_code.html",
            title=f"{own.assignment.title}: a question about your code",
            student=student,
            version=version,
            answer=verdict.answers[version.question.name],
            choices=choices,
            rest=rest,
        )  # fmt: skip


def write_questions(course: Course, name: str) -> list[str]:
    """Write a page for each student, and the key; return what is to be said of them."""
    folder = Folders(course, name).own_code
    key, without = [], []
    for student, version, page in pages(course, name):
        if version is None:
            without.append(student)
            continue
        write_changed(folder / f"{student}.html", page)
        of = string.ascii_uppercase[: len(version.same)]
        key.append([student, version.question.name, version.mistake.name, version.letters, of])
    if not key:
        return ["no questions about their own code: no answer is graded and fully right"]
    rows = [["student", "question", "version", "same", "of"], *key]
    write_changed(folder / "key.csv", csv_tables.as_text(rows, lineterminator="\n"))
    said = [f"questions about their own code for {counted(len(key), 'student')}, with your key.csv"]
    if without:
        said.append(f"no fully right answer, so no question: {some(without)}")
    return [*said, str(folder)]
