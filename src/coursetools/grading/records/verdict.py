"""What the grader says about a submission: one verdict, one for each question, one for each case.

A verdict is plain data. It goes to the disk as one file of JSON, and everything else is made of
it: the gradebook's rows, the autograded notebook, the feedback, the report.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

Status = Literal[
    "OK",  # everything right
    "PARTIAL",  # some of it
    "FAIL",  # nothing, or no answer
    "TIMEOUT",  # stopped by the clock
    "MEM",  # asked for more memory than allowed
    "OUTPUT",  # printed more than allowed
    "CRASH",  # the process died
    "BLOCKED",  # did something that the sandbox refused
    "MALFORMED",  # the file is no notebook of the assignment that can be graded
    "MISSING",  # nothing was submitted, or the question's cell is not there
    "INTERNAL",  # the grader's own fault: no grade, to be run again
]

WORST = ("INTERNAL", "BLOCKED", "CRASH", "MEM", "OUTPUT", "TIMEOUT", "MALFORMED", "FAIL")


@dataclass(frozen=True, kw_only=True)
class CaseVerdict:
    """One case of a question."""

    says: str  # public
    hidden: bool
    status: Status
    share: float  # of the question's points that it is worth, 0 to 1
    detail: str = ""  # for the instructor only where the case is hidden
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class QuestionVerdict:
    """One autograded question, or one graded cell of somebody else's assignment."""

    name: str  # the question's
    cell: str  # the grade_id of its graded cell
    points: float
    max_points: float
    status: Status
    reason: str  # one sentence that the student may read
    misconception: str = ""
    hint: str = ""  # for the student
    unknown: str = ""  # a name of what came out, where no mistake is known that gives it
    flags: list[str] = field(default_factory=list)  # for a human: "calls nn.MultiheadAttention"
    carried: list[str] = field(default_factory=list)  # wrong answers in whose place ours stood
    numbers: str = ""  # "margin = 2.0", of the student's variant, where the question has some
    cases: list[CaseVerdict] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of one submission. `key` names what it was computed from, and by what."""

    assignment: str
    status: Status
    reason: str
    points: float
    max_points: float  # of the autograded questions
    questions: list[QuestionVerdict] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)  # TAMPERED, cells matched by their order, …
    answers: dict[str, str] = field(default_factory=dict)  # grade_id -> the student's source
    outputs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # cell id -> nbformat
    layers: list[str] = field(default_factory=list)  # of the sandbox, those that held
    guarantee: Literal["judged elsewhere", "in the student's process"] = "judged elsewhere"
    seconds: float = 0.0
    peak_bytes: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return plain data; `dataclasses.asdict` would copy all of it, and take far longer."""
        questions = [
            {**vars(question), "cases": [dict(vars(case)) for case in question.cases]}
            for question in self.questions
        ]
        return {**vars(self), "questions": questions}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what `as_json` wrote, an earlier version's too."""
        questions = [
            QuestionVerdict(**{**entry, "cases": [CaseVerdict(**case) for case in entry["cases"]]})
            for entry in data["questions"]
        ]
        fields = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        return cls(**{**fields, "questions": questions})


def status_of(statuses: Iterable[str]) -> str:
    """Return one verdict for a student who may have submitted several notebooks."""
    present = set(statuses)
    if len(present) == 1:
        return present.pop()
    if "INTERNAL" not in present and present & {"OK", "PARTIAL"}:
        return "PARTIAL"
    return next((status for status in WORST if status in present), "MISSING")
