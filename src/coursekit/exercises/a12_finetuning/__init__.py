"""Assignment 12, to the page "Fine-tuning practice": rates by layer, a fresh top, what the best of
many runs is worth, how to pay for less of them, and the loss of a model that marks answers.
"""

from __future__ import annotations

from coursekit.exercises.a12_finetuning import (
    expected_best,
    fresh_top,
    layer_rates,
    span_loss,
    stop_early,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a12_finetuning",
    title="Fine-tuning practice",
    questions=(
        layer_rates.QUESTION,
        fresh_top.QUESTION,
        expected_best.QUESTION,
        stop_early.QUESTION,
        span_loss.QUESTION,
    ),
    written=(
        Written(
            name="best_of_ten",
            title="The best of ten seeds",
            points=3,
            minutes=20,
            page="finetuning.html#sec-finetuning-seeds",
        ),
    ),
)
