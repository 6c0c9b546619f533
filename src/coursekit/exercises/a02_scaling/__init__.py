"""Assignment 2, to the page "Scaling": how large scores are, what a softmax makes of them, and what
is left of the gradient.
"""

from __future__ import annotations

from coursekit.exercises.a02_scaling import (
    entropy_bits,
    query_gradient,
    scaled_attention,
    score_factor,
    softmax_jacobian,
    tempered,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a02_scaling",
    title="Scaling",
    questions=(
        score_factor.QUESTION,
        scaled_attention.QUESTION,
        entropy_bits.QUESTION,
        tempered.QUESTION,
        softmax_jacobian.QUESTION,
        query_gradient.QUESTION,
    ),
    written=(
        Written(
            name="repair",
            title="Would it not repair itself?",
            points=3,
            minutes=20,
            page="scaling.html",
        ),
    ),
)
