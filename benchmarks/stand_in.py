"""A stand-in for the engine, for benchmarks of everything else: it answers at once."""

from __future__ import annotations

import json
from typing import Any

from coursetools.grading.records.verdict import QuestionVerdict, Verdict


class StandIn:
    """An engine that runs nothing: full points for whatever is not empty."""

    def __init__(self, master: Any, limits: Any, require: frozenset[str]) -> None:
        self.master = master

    def grade(self, data: bytes, student: str = "") -> Verdict:
        """Return a verdict with all that a real one has to carry."""
        cells = [c for c in json.loads(data)["cells"] if c["id"].startswith("test_")]
        questions = [
            QuestionVerdict(
                name=cell["id"].removeprefix("test_"),
                cell=cell["id"],
                points=(most := float(cell["metadata"]["nbgrader"]["points"])),
                max_points=most,
                status="OK",
                reason="all passed",
            )
            for cell in cells
        ]
        total = sum(question.points for question in questions)
        return Verdict(
            assignment=self.master.name,
            status="OK",
            reason="all passed",
            points=total,
            max_points=total,
            questions=questions,
        )

    def close(self) -> None:
        """Nothing is open."""
