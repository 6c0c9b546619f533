"""What is to be judged, and what happens when a worker process dies of it.

It is tried once more, in whichever process is free; if that fails too it is `INTERNAL`, which is no
grade, and all other submissions go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursetools.grading.records.verdict import Verdict
from coursetools.jobs.cluster import Cluster
from coursetools.jobs.pool import Pool

WORKER = "coursetools.grading.running.judge_job"
AHEAD = 2  # tasks with one worker, so that it never waits for the driver


@dataclass
class Task:
    """One file to be judged."""

    student: str
    notebook: str
    path: Path
    lost: list[str] = field(default_factory=list)  # why it had to be done again

    def outcome(self, answer: dict[str, Any]) -> Outcome | None:
        """Return what has come of it with a worker's answer; None if it is to be tried again."""
        if "verdict" in answer:
            verdict = Verdict.from_json(answer["verdict"])
            if verdict.status != "INTERNAL" or self.lost:
                return Outcome(self, answer["submission"], verdict, answer.get("graded", ""))
            self.lost.append(verdict.reason)
        else:
            self.lost.append(answer["error"])
        return Outcome(self, "", internal(self.lost)) if len(self.lost) > 1 else None


@dataclass(frozen=True)
class Outcome:
    """A task and what came of it; `submission` is the hash of what was read, "" if unknown.

    `graded` is the text of the graded notebook, "" where it has not been made yet.
    """

    task: Task
    submission: str
    verdict: Verdict
    graded: str = ""


def judged(
    start: dict[str, Any], tasks: Iterable[Task], workers: int, longest: float
) -> Iterator[Outcome]:
    """Yield one outcome for each task, in the order in which they are finished."""
    with Pool(WORKER, workers, start=start, ahead=AHEAD, seconds=longest) as pool:
        yield from outcomes(pool, pool.run(tasks))


def outcomes(
    pool: Pool | Cluster, answers: Iterable[tuple[Task, dict[str, Any]]]
) -> Iterator[Outcome]:
    """Yield what has come of tasks, and let `pool` try those again that need it."""
    for task, answer in answers:
        outcome = task.outcome(answer)
        if outcome is None:
            pool.again(task)
        else:
            yield outcome


def internal(lost: list[str]) -> Verdict:
    """Return the verdict that is none: the grader failed, and will try again in the next run."""
    return Verdict(
        assignment="",
        status="INTERNAL",
        reason="the grader itself failed; this is not the student's fault, and no grade",
        points=0.0,
        max_points=0.0,
        flags=[f"grader failed: {why}" for why in dict.fromkeys(lost)],
    )
