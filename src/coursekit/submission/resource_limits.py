"""How much a submission may use. An assignment may set its own: `[limits]` in its folder's file."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Seconds are of processor time, so that a busy machine takes nothing from anybody.

    Who sleeps instead of working may do so `patience` times as long.
    """

    cell_seconds: float = 10.0  # one cell, or one case of a question
    question_seconds: float = 20.0  # all cases of a question
    notebook_seconds: float = 60.0  # all cells, each time they run
    patience: float = 2.0
    memory: int = 2048 * MB  # on top of what the fork server has
    answer_bytes: int = 16 * MB  # handed to the judge, and kept there, by what it asks at once
    lent_calls: int = 5000  # of our answers in the place of wrong ones, by what is asked at once
    cell_output: int = 64 << 10  # printed by one cell
    notebook_output: int = 1 * MB
    file_bytes: int = 64 * MB  # in all files that it writes, and in each
    files: int = 1000
    processes: int = 32  # and threads
    figures: int = 20
    submission_bytes: int = 20 * MB  # of the file that was handed in

    @property
    def longest(self) -> float:
        """Seconds by the clock after which a grader that is silent is taken for lost."""
        return 10 * self.notebook_seconds + 40 * self.question_seconds + 60
