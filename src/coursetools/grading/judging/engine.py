"""From a submission to a verdict: pure, but for the processes that it starts and ends.

    with Engine(Master.read(course, name)) as engine:
        verdict = engine.grade(submission)

Nothing is read from or written to the course here, so the same call runs in a pool of workers or on
another machine. What is the grader's own fault is a verdict `INTERNAL`: no exception, and no zero.
"""

from __future__ import annotations

import dataclasses
import re
import time
from typing import Any, Self

from coursekit._base.errors import CourseError
from coursekit.submission import parsing, regions
from coursekit.submission.parsing import Malformed
from coursekit.submission.resource_limits import Limits
from coursetools.assignments.rebuild import Rebuilt, rebuild, release_of
from coursetools.grading.judging import foreign_tests, fork_client, own_numbers
from coursetools.grading.judging.attempt import Attempt, Cell
from coursetools.grading.judging.display_cells import drop_display_cells
from coursetools.grading.judging.fork_client import ForkServer
from coursetools.grading.judging.judge import Judge
from coursetools.grading.judging.master import Master
from coursetools.grading.judging.process import ForkServerDied
from coursetools.grading.own_answers import OwnAnswers
from coursetools.grading.records.verdict import QuestionVerdict, Status, Verdict
from coursetools.grading.sandbox import sandbox_plan
from coursetools.questions import catalogue
from coursetools.text import clean, one_line, sentence


class Engine:
    """Judges submissions of one assignment; holds the fork server and the expected values.

    `assignment` takes the place of the questions in the master's files. Without either it is
    somebody else's notebook, judged by its own test cells. `require` names layers of
    the sandbox without which nothing is graded.
    """

    def __init__(
        self,
        master: Master,
        limits: Limits | None = None,
        require: frozenset[str] = frozenset(),
        assignment: Any = None,
    ) -> None:
        self.master, self.limits, self.require = master, limits or Limits(), frozenset(require)
        files = tuple((file, text) for file, text in master.files)
        assignment = assignment or catalogue.of(master.name, master.notebook, files)
        self._judge = Judge(assignment) if assignment else None
        self._own = OwnAnswers(assignment, master.notebook) if assignment else None
        self._tests = foreign_tests.tests(master.notebook)
        self._server: ForkServer | None = None
        self.rebuilt: Rebuilt | None = None  # the submission that was graded last
        self.layers: dict[str, str] = {}
        if self.require:
            self._check(fork_client.available())  # before anything slow
        self._begin()

    def grade(self, submission: bytes, student: str = "") -> Verdict:
        """Judge one submission. Never raises: what went wrong is in the verdict.

        `student` is the id in the class list, which decides the numbers of questions with variants.
        """
        started = time.perf_counter()
        try:
            try:
                verdict = self._grade(submission, student)
            except ForkServerDied:
                self.close()  # it may have been killed by what it ran: once more, from the start
                verdict = self._grade(submission, student)
        except (KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:
            verdict = self._internal(error)
        except BaseException as error:  # of our processes: the next submission gets new ones
            self.close()
            verdict = self._internal(error)
        seconds = round(time.perf_counter() - started, 4)
        return dataclasses.replace(verdict, seconds=seconds)

    def close(self) -> None:
        """End every process that this has started."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def max_points(self) -> float:
        """What the autograded questions are worth."""
        if self._judge is not None:
            return sum(question.points for question in self._judge.assignment.questions)
        return sum(points for _, points in self._tests.values())

    def _begin(self) -> ForkServer:
        """Return the fork server; start it, and see what its sandbox holds, the first time."""
        if self._server is None:
            watched = self._judge.watched if self._judge else []
            cells = foreign_tests.shown_cells(release_of(self.master)["cells"])
            shared = [(cell.number, cell.source) for cell in cells if not cell.graded]
            count = len(self._judge.names) if self._judge else len(self._tests)
            wanted = sandbox_plan.plan(self.limits, questions=count, watched=watched, cells=shared)
            server = ForkServer(wanted)
            try:
                child = server.fork()
                self.layers = child.layers
                child.end()
                self._check(self.layers)
            except BaseException:
                server.close()
                raise
            self._server = server
        return self._server

    def _check(self, layers: dict[str, str]) -> None:
        missing = sandbox_plan.missing(layers, self.require)
        if missing:
            raise CourseError(f"the sandbox lacks what --require asks for: {'; '.join(missing)}")

    def _grade(self, submission: bytes, student: str) -> Verdict:
        self.rebuilt = None
        try:
            rebuilt = self.rebuilt = rebuild(self.master, submission, self.limits)
        except Malformed as error:
            return self._malformed(error)
        server = self._begin()
        given = release_of(self.master)["cells"]
        cells = drop_display_cells(foreign_tests.shown_cells(rebuilt.notebook["cells"]), given)
        own = [cell for cell in cells if not cell.graded]
        if self._judge is None:
            questions, attempt = foreign_tests.judge(
                server, cells, self.master.notebook, rebuilt.answers
            )
            flags: list[str] = []
        else:
            attempt = Attempt(server, cells, self._judge.names)
            try:
                questions, flags = own_numbers.judged(
                    self._judge, attempt, rebuilt.answers, student, own
                )
            finally:
                attempt.restart()
            if questions and not any(question.points for question in questions):
                cells = parsing.read(submission, self.limits)["cells"]
                missing = all(question.status == "MISSING" for question in questions)
                names = regions.grade_ids(cells)
                if missing or (names and not names & regions.grade_ids(given)):
                    return self._malformed(self._of_another(cells, given))
        return self._verdict(attempt, own, rebuilt, questions, flags)

    def _verdict(
        self,
        attempt: Attempt,
        cells: list[Cell],
        rebuilt: Rebuilt,
        questions: list[QuestionVerdict],
        more: list[str],
    ) -> Verdict:
        status, reason = _overall(questions)
        flags = [*rebuilt.flags, *more]
        if self._own is not None:
            flags += map(str, self._own.like(rebuilt.answers))
        for cell in cells:
            trouble = attempt.ran[cell.number].trouble if cell.number in attempt.ran else None
            if trouble is not None and trouble.status != "FAIL":
                flags.append(f"cell {cell.number}: {trouble.status}, {one_line(trouble.message)}")
        return Verdict(
            assignment=self.master.name,
            status=status,
            reason=reason,
            points=round(sum(question.points for question in questions), 2),
            max_points=self.max_points,
            questions=questions,
            flags=flags,
            answers={name: clean(source) for name, source in rebuilt.answers.items()},
            outputs={
                cell.id: attempt.ran[cell.number].outputs
                for cell in cells
                if cell.number in attempt.ran and attempt.ran[cell.number].outputs
            },
            layers=[name for name, state in attempt.layers.items() if state == sandbox_plan.HELD],
            guarantee="judged elsewhere" if self._judge else "in the student's process",
            peak_bytes=attempt.peak,
        )

    def _of_another(self, cells: list[regions.Cell], given: list[regions.Cell]) -> Malformed:
        """Say of a notebook without any answer cell of this assignment what it is."""
        name, title = self.master.name, _title(cells)
        if title in ("", _title(given)):
            return Malformed(
                "it has none of this assignment's answer cells",
                f"submit the notebook of {name} in which you wrote your answers",
            )
        return Malformed(
            f"this is the notebook “{title}”, not that of {name}", f"submit that of {name}"
        )

    def _malformed(self, error: Malformed) -> Verdict:
        said = f"{error.reason}: {error.hint}" if error.hint else error.reason
        if self._judge is not None:
            questions = [
                self._judge.blank(question, "MALFORMED", "the file could not be graded")
                for question in self._judge.assignment.questions
            ]
        else:
            questions = [
                QuestionVerdict(
                    name=name,
                    cell=name,
                    points=0.0,
                    max_points=points,
                    status="MALFORMED",
                    reason="The file could not be graded.",
                )
                for name, (_, points) in self._tests.items()
            ]
        return self._empty("MALFORMED", sentence(one_line(said)), questions, [])

    def _internal(self, error: BaseException) -> Verdict:
        fault = one_line(f"{type(error).__name__}: {error}")
        reason = "This has not been graded yet, and it is not your fault: the grader has failed."
        return self._empty("INTERNAL", reason, [], [f"the grader's fault: {fault}"])

    def _empty(
        self, status: Status, reason: str, questions: list[QuestionVerdict], flags: list[str]
    ) -> Verdict:
        return Verdict(
            assignment=self.master.name,
            status=status,
            reason=reason,
            points=0.0,
            max_points=self.max_points,
            questions=questions,
            flags=flags,
            guarantee="judged elsewhere" if self._judge else "in the student's process",
        )


def _title(cells: list[regions.Cell]) -> str:
    """Return the first heading of a notebook, "" where there is none."""
    for cell in cells:
        heading = re.match(r"\s*#\s+(.+)", cell["source"])
        if cell["cell_type"] == "markdown" and heading:
            return one_line(heading[1], 80)
    return ""


def _overall(questions: list[QuestionVerdict]) -> tuple[Status, str]:
    """Return one status for the submission, and a sentence."""
    right = sum(question.status == "OK" for question in questions)
    if right == len(questions):
        return "OK", "Everything is right."
    summary = f"{right} of {len(questions)} questions are right."
    if any(question.points > 0 for question in questions):
        return "PARTIAL", summary
    stopped = (q for q in questions if q.status not in ("OK", "PARTIAL", "FAIL", "MISSING"))
    worst = next(stopped, None)  # MISSING is only for whoever submitted nothing
    said = worst or questions[0]
    return worst.status if worst else "FAIL", f"{summary} {said.name}: {said.reason}"
