"""An engine for the driver's tests: quick, deterministic, and it dies when an answer says so."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit.submission.parsing import Malformed
from coursetools.assignments.rebuild import rebuild
from coursetools.grading.records.verdict import CaseVerdict, QuestionVerdict, Verdict

POINTS = {"square": 2.0, "cube": 3.0}
RIGHT = {"square": "x * x", "cube": "x ** 3"}


def tried(answer: str) -> bool:
    """Say whether this was tried before: the folder that it names notes it."""
    path = Path(answer.partition("# slow ")[2].split()[0])
    before = path.exists()
    path.touch()
    return before


class Fake:
    """Reads answers; runs none of them."""

    def __init__(self, master, limits, require):
        if "moon" in require:
            raise CourseError("the layer moon does not hold here")
        self.master, self.limits = master, limits

    def grade(self, data: bytes, student: str = "") -> Verdict:
        try:
            rebuilt = rebuild(self.master, data, self.limits)
        except Malformed as malformed:
            return self.verdict("MALFORMED", malformed.reason, [], [], {})
        for answer in rebuilt.answers.values():
            obey(answer)
        if "# internal" in str(rebuilt.answers):
            return self.verdict("INTERNAL", "the engine says so itself", [], [], {})
        questions = [self.question(name, rebuilt.answers.get(name, "")) for name in POINTS]
        points = sum(question.points for question in questions)
        status = "OK" if points == 5 else "PARTIAL" if points else "FAIL"
        return self.verdict(status, "as it is", questions, rebuilt.flags, rebuilt.answers)

    def question(self, name, answer):
        if "# slow" in answer and not tried(answer):
            return QuestionVerdict(
                name=name,
                cell=f"test_{name}",
                points=0.0,
                max_points=POINTS[name],
                status="TIMEOUT",
                reason="it took longer than it may",
            )
        share = 1.0 if RIGHT[name] in answer else 0.5 if "half" in answer else 0.0
        points = POINTS[name] * share
        status = "OK" if share == 1 else "PARTIAL" if share else "FAIL"
        cases = [
            CaseVerdict(says="threes", hidden=False, status=status, share=0.5, detail="0 is not 9"),
            CaseVerdict(
                says="sevens", hidden=True, status=status, share=0.5, detail="hidden-secret-49"
            ),
        ]
        reason = "all passed" if answer else "no answer"
        return QuestionVerdict(
            name=name,
            cell=f"test_{name}",
            points=points,
            max_points=POINTS[name],
            status=status,
            reason=reason,
            hint="" if share == 1 else "think of powers",
            cases=cases,
        )

    def verdict(self, status, reason, questions, flags, answers):
        return Verdict(
            assignment=self.master.name,
            status=status,
            reason=reason,
            points=sum(question.points for question in questions),
            max_points=5.0,
            questions=questions,
            flags=flags,
            answers=answers,
            outputs={"square": [{"output_type": "stream", "name": "stdout", "text": "hello"}]},
            seconds=0.01,
        )

    def close(self):
        pass


def obey(answer: str) -> None:
    """Do what an answer says in a comment: `# die`, `# die once FILE`, `# raise`, `# sleep 0.1`."""
    for line in answer.splitlines():
        _, _, order = line.partition("# ")
        word, _, rest = order.partition(" ")
        if word == "raise":
            raise RuntimeError("the engine has a fault")
        if word == "sleep":
            time.sleep(float(rest))
        if word == "note":
            with open(rest, "a") as file:
                file.write(".")
        if word == "die":
            once = Path(rest.removeprefix("once ")) if rest else None
            if once is None or not once.exists():
                if once is not None:
                    once.touch()
                os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Master:
    """The fields of the real one."""

    name: str
    notebook: str
    files: tuple[tuple[str, str], ...]
    key: str

    @classmethod
    def of(cls, name, notebook, files=()):
        return cls(name, notebook, files, hash_of(f"{name}{notebook}{files}"))


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
