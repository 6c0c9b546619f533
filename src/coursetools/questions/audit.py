"""`coursekit audit`: the proof that an assignment grades as it should, before any student sees it.

The reference and the source's own solution earn everything, the blank release nothing, and the
visible cases learned by heart next to nothing; every misconception and every forgotten requirement
loses at least a tenth of the question's points in hidden cases, and a misconception gets its own
hint and no other's, from the visible cases alone as well; a right answer loses nothing by computing
in double precision, and gets no flag; the notebook asks what the questions say; nothing private is
in what students get. Where a question has variants, all of that holds in each, and each mistake
costs the same in all. Answers are run in this process: they are ours.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.check import compiled
from coursekit.check.clock import silence
from coursekit.check.determinism import usual_numbers
from coursekit.check.outcome import Outcome, differ, observe
from coursekit.submission import regions
from coursekit.submission.cells import python_of
from coursekit.submission.forbidden import spelled, used
from coursetools.assignments.release import release, release_text
from coursetools.assignments.sources import released, source, sources
from coursetools.course import SOURCES, Course
from coursetools.notebooks.imports import read_notebook
from coursetools.questions import catalogue, compiling, library_answers, notebook_answers, rubric
from coursetools.questions.even_variants import uneven
from coursetools.questions.known_answers import LEAST, Known, passed, share
from coursetools.questions.leaks import leaks
from coursetools.questions.memorised import by_heart
from coursetools.questions.question import Assignment, Question
from coursetools.questions.rounding import in_double
from coursetools.questions.wrong import source_of
from coursetools.settings.exam_settings import private_exam

UNFINISHED = "not finished yet: "  # how a problem starts that only says what is still to be written
SLOWEST = 1.0  # seconds for check
BY_HEART = 0.2  # of the points, at the most, for a table of what is visible


@dataclass
class Audited:
    """One question, and what is wrong with it."""

    assignment: str
    question: str
    visible: int = 0
    hidden: int = 0
    reference: float = 0.0  # shares of the points
    solution: float = 0.0
    blank: float = 0.0
    by_heart: float = 0.0
    misconceptions: int = 0
    told: int = 0  # misconceptions that lose points and get their own hint
    seconds: float = 0.0  # of check on the reference
    problems: list[str] = field(default_factory=list)


def run(arguments: argparse.Namespace) -> int:
    """Run the command `audit`: print a table, then every problem; 1 if there is one."""
    course = arguments.course
    names = [arguments.name] if arguments.name else sources(course)
    if not names:
        raise CourseError(f"there is no assignment in {SOURCES}/ to audit")
    problems, rows = [], []
    for name in names:
        audited, general = audit(course, name)
        rows += audited
        problems += [f"{name}: {problem}" for problem in [*general, *_parts(course, name)]]
    problems += [
        f"{row.assignment}, {row.question}: {said}" for row in rows for said in row.problems
    ]
    if not arguments.quiet:
        print(table(rows))
    for problem in problems:
        print(problem)
    if problems:
        count = len(problems)
        raise CourseError(f"{count} problem{'' if count == 1 else 's'} in {', '.join(names)}")
    return 0


def audit(course: Course, name: str) -> tuple[list[Audited], list[str]]:
    """Return what was found for each question, and what is wrong with the assignment as a whole."""
    assignment = catalogue.load(course, name)
    notebook = read_notebook(source(course, name))
    place = compiling.place(course, name)
    content = place.read_bytes() if place.is_file() else b""
    in_step = compiling.in_step(content, assignment)
    file = compiled.read(content if in_step else compiling.compile_(assignment))
    held = not content and private_exam(course, name) is not None  # as it should be
    general = [
        *_form(course, assignment, notebook),
        *_release(course, assignment, in_step or held),
        *_pages(course, assignment),
    ]
    solved, blank = _namespace(notebook), _namespace(release(notebook))
    rows = []
    for question, checked in zip(assignment.questions, file.questions):
        row = Audited(name, question.name)
        known = [_question(row, assignment, question, checked, solved, blank)]
        for number, one in enumerate(question.variants, 1):
            own, others = Audited(name, question.name), assignment.of(number)
            right = catalogue.references(others)
            known.append(_question(own, others, one, checked.of(number), right, blank))
            row.problems += [
                f"with {one.variant}: {said}"
                for said in own.problems
                if not said.startswith(UNFINISHED)  # its cases are those of the question
            ]
        if question.variants:
            row.problems += uneven(known)
        rows.append(row)
    return rows, general


def table(rows: Sequence[Audited]) -> str:
    """Return the rows as text."""
    lines: list[tuple[str, ...]] = [
        (
            "question", "cases", "reference", "solution", "blank", "by heart", "misconceptions",
            "check",
        )
    ]  # fmt: skip
    for row in rows:
        lines.append(
            (
                f"{row.assignment} {row.question}",
                f"{row.visible}+{row.hidden}",
                f"{100 * row.reference:.0f}%",
                f"{100 * row.solution:.0f}%",
                f"{100 * row.blank:.0f}%",
                f"{100 * row.by_heart:.0f}%",
                f"{row.told} of {row.misconceptions}",
                f"{1000 * row.seconds:.0f} ms",
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(
            cell.ljust(wide) if place == 0 else cell.rjust(wide)
            for place, (cell, wide) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def _question(
    row: Audited,
    assignment: Assignment,
    question: Question,
    checked: compiled.CompiledQuestion,
    solved: SimpleNamespace,
    blank: SimpleNamespace,
) -> Known:
    """Fill one row of the table; return what was found to be right and wrong on the way."""
    known = Known(assignment, question)
    row.visible, row.hidden = len(question.cases), len(question.hidden)
    row.misconceptions = len(question.misconceptions)

    def everything(student: Any) -> list[Outcome]:
        return [observe(case.run, student) for case in known.cases]

    start = time.process_time()  # not the clock: what else the machine does is no fault here
    ours = [case.observe(catalogue.references(assignment)) for case in checked.cases]
    row.seconds = time.process_time() - start
    reference = known.outcomes()
    row.reference = share(known, reference)
    row.solution = share(known, everything(solved))
    row.blank = share(known, everything(blank))
    row.problems += [
        f"the reference raises on {case.says!r}: {outcome.error!r}"
        for case, outcome in zip(known.cases, reference)
        if outcome.error is not None
    ]
    row.problems += [
        f"check does not pass the reference on {case.says!r}: {difference}"
        for case, outcome in zip(checked.cases, ours)
        if (difference := case.difference(outcome)) is not None
    ]
    if row.solution < 1:
        row.problems.append(
            f"the source's own solution earns {row.solution:.0%}: "
            + _first(known, everything(solved))
        )
    for who, names in (("ours", catalogue.references(assignment)), ("the source's own", solved)):
        if right := getattr(names, question.name, None):
            student = SimpleNamespace(**{**vars(names), question.name: in_double(right)})
            with usual_numbers():
                outcomes = everything(student)
            if (earned := share(known, outcomes)) < 1:
                problem = f"{who} in double precision earns {earned:.0%}: {_first(known, outcomes)}"
                row.problems.append(problem)
    if row.blank > 0:
        row.problems.append(f"the blank release earns {row.blank:.0%}")
    for one in known.idle:
        if earned := share(known, known.outcomes(one)):
            row.problems.append(f"{one.name} earns {earned:.0%}")
    for one in question.demands:
        row.problems += too_cheap(known, known.outcomes(one), one.name)
    for answer in by_heart(assignment, question).values():
        student = catalogue.references(assignment, **{question.name: answer})
        with usual_numbers():
            row.by_heart = max(row.by_heart, share(known, everything(student)))
    if row.by_heart > BY_HEART:
        row.problems.append(f"a table of the visible cases earns {row.by_heart:.0%}")
    free = sum(case.weight for n, case in enumerate(known.cases) if known.free(n))
    if free > sum(case.weight for case in known.cases) / 2:
        row.problems.append("answers that look at nothing pass most of the cases")
    if row.seconds > SLOWEST:
        row.problems.append(f"check took {row.seconds:.1f} s")
    if _unsteady(known, reference):
        row.problems.append("a case gives something else the second time; draw with a seed")
    file = f"solutions/{assignment.name}/{catalogue.file_of(question.name)}"
    for there, least, what, ending in (
        (row.visible, 3, "visible cases", "py"),
        (row.hidden, 4, "hidden cases", "py"),
        (row.misconceptions, 4, "misconceptions", "md"),
    ):
        if there < least:
            row.problems.append(f"{UNFINISHED}{file}.{ending} has {there} of {least} {what}")
    called = [mistake.name for mistake in question.misconceptions]
    if len(set(called)) < len(called):
        row.problems.append("two misconceptions have one name")
    for mistake in question.misconceptions:
        outcomes = known.outcomes(mistake)
        wrong = _mistake(known, outcomes, len(question.cases), mistake.name)
        told = checked.misconception(outcomes[: len(question.cases)])
        if not wrong and (told is None or told.hint != mistake.hint):
            wrong.append(f"check does not give {mistake.name!r} its hint")
        row.told += not wrong
        row.problems += wrong
    return known


def _mistake(known: Known, outcomes: list[Outcome], visible: int, name: str) -> list[str]:
    """Say what is wrong with how one misconception is judged."""
    if all(isinstance(outcome.error, NameError) for outcome in outcomes):
        return [f"the misconception {name!r} is no Python of ours: {outcomes[0].error}"]
    problems = too_cheap(known, outcomes, f"the misconception {name!r}")
    if share(known, outcomes) >= 1:
        return problems
    for where, seen in (
        ("all cases", outcomes),
        ("the visible cases", [*outcomes[:visible], *[None] * (len(outcomes) - visible)]),
    ):
        told = known.misconception(seen)
        if told is None:
            problems.append(f"on {where} the misconception {name!r} is told nothing")
        elif told.name != name:
            problems.append(
                f"on {where} the misconception {name!r} is told the hint of {told.name!r}"
            )
    return problems


def too_cheap(known: Known, outcomes: Sequence[Outcome], name: str) -> list[str]:
    """Say where a wrong answer keeps more than nine tenths of the points in hidden cases.

    The visible cases count as passed: their answers can be copied from `check`.
    """
    looked, visible = passed(known, outcomes), len(known.question.cases)
    kept = known.earned([True] * visible + looked[visible:])
    if kept <= 1 - LEAST + 1e-9:
        return []
    seen = [f"“{case.says}”" for case, one in zip(known.cases, looked) if not one]
    return [
        f"{name} keeps {kept:.0%} of the points in hidden cases, expected at most {1 - LEAST:.0%}; "
        + (f"add a hidden case like {' or '.join(seen)}" if seen else "no case sees it")
    ]


def _first(known: Known, outcomes: Sequence[Outcome]) -> str:
    """Return the first case that failed, and how."""
    for number, (case, outcome) in enumerate(zip(known.cases, outcomes)):
        if outcome.error is not None:
            return f"{case.says!r} raises {outcome.error!r}"
        difference = known.difference(outcome, number)
        if difference is not None:
            return f"{case.says!r}: {difference}"
    return ""


def _unsteady(known: Known, first: Sequence[Outcome]) -> bool:
    again = Known(known.assignment, known.question, known.cases)
    return any(
        differ(again.expected(number), outcome, 0.0) is not None
        for number, outcome in enumerate(first)
    )


def _namespace(notebook: dict[str, Any]) -> SimpleNamespace:
    """Execute what the notebook defines, without its checks, and return its names."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code" or regions.is_test(cell):
            continue
        if cell["id"] != "setup-colab" and cell["source"].strip() != "submit_check()":
            try:
                code = compile(python_of(cell["source"]), cell["id"], "exec", dont_inherit=True)
                with silence():
                    exec(code, names)
            except NotImplementedError:
                continue  # what a blank answer raises
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                raise CourseError(f"the cell {cell['id']} of the source raises {reason}") from error
    return SimpleNamespace(**names)


def _form(course: Course, assignment: Assignment, notebook: dict[str, Any]) -> list[str]:
    """Say where notebook and questions do not fit together."""
    problems = []
    cells = {regions.grade_id(cell): cell for cell in notebook["cells"] if regions.grade_id(cell)}
    code = "\n".join(cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    for question in assignment.questions:
        name, test = question.name, f"test_{question.name}"
        if name not in cells or not regions.is_solution(cells[name]):
            problems.append(f"no solution cell has the grade_id {name!r}")
        if test not in cells or not regions.is_test(cells[test]):
            problems.append(f"no test cell has the grade_id {test!r}")
        elif regions.meta(cells[test]).get("points") != question.points:
            problems.append(f"{test} gives other points than the question, {question.points:g}")
        elif cells[test]["source"].strip() != f"check({name})":
            problems.append(f"{test} should say check({name}) and nothing else")
        for text in (source_of(question.reference), cells.get(name, {}).get("source", "")):
            if flagged := used(text, question.forbidden, code):
                problems.append(f"a right answer to {name} uses {', '.join(map(spelled, flagged))}")
        text = _text_before(notebook, name)
        problems += [
            f"{name} quotes {one.name}, which its text does not say"
            for one in question.demands
            if one.name[:1] == '"' and one.name.strip('"') not in text
        ]
    for written in assignment.written:
        cell = cells.get(written.name, {"cell_type": ""})
        if cell["cell_type"] != "markdown" or regions.meta(cell).get("points") != written.points:
            problems.append(f"no Markdown cell {written.name!r} gives {written.points:g} points")
        try:
            rubric.read(course, assignment.name, written.name)
        except CourseError as error:
            problems.append(str(error))
    asked = [question.name for question in assignment.questions]
    expected = {*asked, *(f"test_{name}" for name in asked), *(w.name for w in assignment.written)}
    problems += [f"the cell {name!r} belongs to no question" for name in cells.keys() - expected]
    for name in catalogue.names(course):
        if name != assignment.name:
            others = {question.name for question in catalogue.load(course, name).questions}
            problems += [f"{name} asks for {one!r} too" for one in sorted(others & {*asked})]
    return problems


def _parts(course: Course, name: str) -> list[str]:
    """Say where the text of a question does not name what students have that answers it."""
    problems = []
    for question in catalogue.load(course, name).questions:
        more = notebook_answers.definitions(course, question)
        seen = library_answers.passing(catalogue.load(course, name), question, more=more)
        if {*seen} != {part for part in question.parts if notebook_answers.is_there(course, part)}:
            parts = ", ".join(f"{part} ({share:.0%})" for part, share in seen.items()) or "none"
            problems.append(
                f"{question.name}: the parts of the library and the notebooks that earn more than "
                f"{library_answers.FEW:.0%} are {parts}; its text should say so in a line that "
                "begins with parts:"
            )
    return problems


def _text_before(notebook: dict[str, Any], grade_id: str) -> str:
    """Return the words that are above a cell."""
    words: list[str] = []
    for cell in notebook["cells"]:
        if regions.grade_id(cell) == grade_id:
            break
        if cell["cell_type"] == "markdown":
            words += cell["source"].split()
    return " ".join(words)


def _release(course: Course, assignment: Assignment, in_step: bool) -> list[str]:
    """Return whether what students get is in step and free of what is private."""
    name = assignment.name
    path = released(course, name)
    if not path.is_file():
        return [f"is not released; run coursekit assignment release {name}"]
    problems = leaks(course, path.parent)
    if not in_step:
        problems.append(
            "what check knows is not in step with its questions; run "
            f"coursekit assignment release {name}"
        )
    if path.read_text(encoding="utf-8") != release_text(course, name):
        problems.append(
            f"the release is not in step with its source; run coursekit assignment release {name}"
        )
    return problems


def _pages(course: Course, assignment: Assignment) -> list[str]:
    """Say which pages of the book, or anchors on them, are not there."""
    problems = []
    pages = [(question.name, question.page) for question in assignment.questions]
    pages += [(written.name, written.page) for written in assignment.written]
    for question, address in pages:
        name, _, anchor = address.partition("#")
        page = course.page(name.removesuffix(".html"))
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        if not text or (anchor and f"({anchor})=" not in text):
            problems.append(f"{question} points to {address}, which the book has not")
    return problems
