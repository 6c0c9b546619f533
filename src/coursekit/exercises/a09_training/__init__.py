"""Assignment 9, to the page "Training practice": what stands between a gradient and a new weight,
and who says when it is enough.
"""

from __future__ import annotations

from coursekit.exercises.a09_training import (
    accumulate,
    adamw_step,
    clip_together,
    early_stop,
    paper_rate,
    trust,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a09_training",
    title="Training practice",
    questions=(
        paper_rate.QUESTION,
        clip_together.QUESTION,
        adamw_step.QUESTION,
        trust.QUESTION,
        accumulate.QUESTION,
        early_stop.QUESTION,
    ),
    written=(
        Written(
            name="first_steps",
            title="The clip that changed nothing",
            points=3,
            minutes=20,
            page="training.html#sec-training-warmup",
        ),
    ),
)
