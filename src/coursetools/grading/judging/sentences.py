"""What is said of a question: its status, the reason that a student may read, its flags.

Of a visible case everything may be said, of a hidden one what it `says` and how it ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coursekit.check.compare import Difference, kind
from coursekit.check.outcome import Outcome
from coursekit.submission.forbidden import used
from coursetools.grading.judging.proxy import StudentError, contains_remote
from coursetools.grading.records.verdict import Status
from coursetools.questions.question import Case, Question
from coursetools.text import one_line

HOW = {
    "TIMEOUT": "takes too long",
    "MEM": "needs too much memory",
    "CRASH": "ends the process",
    "OUTPUT": "prints too much",
    "BLOCKED": "does something that the sandbox refuses",
}


@dataclass
class Seen:
    """What came of one case."""

    status: Status
    outcome: Outcome | None  # None where it speaks for no misconception
    detail: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether it counts."""
        return self.status == "OK"


def overall(seen: Sequence[Seen]) -> Status:
    """Return one status for a question: what is worse than wrong is named first."""
    if all(look.passed for look in seen):
        return "OK"
    if any(look.passed for look in seen):
        return "PARTIAL"
    return next((look.status for look in seen if look.status != "FAIL"), "FAIL")


def reason(cases: Sequence[Case], visible: int, seen: Sequence[Seen]) -> str:
    """Say what happened: the first visible failure in full, a hidden one by what it says."""
    failed = [number for number, one in enumerate(seen) if not one.passed]
    if not failed:
        return f"All {len(seen)} cases pass." if len(seen) > 1 else "It passes."
    first = failed[0]
    count = f"{len(seen) - len(failed)} of {len(seen)} cases pass. "
    if first < visible:
        detail = one_line(seen[first].detail.partition("\n")[0])
        return f"{count}“{cases[first].says}”: {detail}{'' if detail.endswith('.') else '.'}"
    how = HOW.get(seen[first].status, "fails")
    return f"{count}A hidden case {how}: “{cases[first].says}”."


def raised(error: StudentError) -> str:
    """Say what the student's code raised, and where."""
    if error.status == "MEM":
        return "it asked for more memory than a submission may use"
    name = error.type if error.type else "an error"
    where = f" in line {error.line}" if error.line else ""
    return one_line(f"it raised {name}{where}: {error.message}")


def said(difference: Difference) -> str:
    """Say how a value differs from the expected one."""
    remote = contains_remote(difference.actual)
    if remote is not None:
        return f"it returned {remote!r}, expected {kind(difference.expected)}"
    return str(difference)


def named(question: Question, answer: str, imports: str) -> list[str]:
    """Return the forbidden names in the source of an answer; parsed only where one may be."""
    leaves = {name.rpartition(".")[2] for name in question.forbidden}
    if not any(leaf in answer or leaf in imports for leaf in leaves):
        return []
    return used(answer, question.forbidden, imports)


def leaf(flag: str) -> str:
    """Return the last part of the name in a flag, as `softmax` of `uses torch.softmax`."""
    return flag.rstrip("()").rpartition(".")[2].rpartition(" ")[2].lower()
