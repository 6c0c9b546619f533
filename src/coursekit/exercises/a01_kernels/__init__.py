"""Assignment 1, to the page "Attention kernels": a soft lookup, three ways to score, and a word
that asks its own sentence.
"""

from __future__ import annotations

from coursekit.exercises.a01_kernels import (
    additive_scores,
    gaussian_scores,
    predict,
    self_attention,
    shares,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a01_kernels",
    title="Attention kernels",
    questions=(
        shares.QUESTION,
        gaussian_scores.QUESTION,
        predict.QUESTION,
        additive_scores.QUESTION,
        self_attention.QUESTION,
    ),
    written=(
        Written(
            name="shuffled",
            title="The same words in another order",
            points=3,
            minutes=15,
            page="kernels.html#sec-kernels-properties",
        ),
    ),
)
