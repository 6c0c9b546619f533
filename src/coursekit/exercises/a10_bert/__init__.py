"""Assignment 10, to the page "BERT": what it reads, which tokens are hidden from it, how it scores
the blanks, how it marks an answer, and whether a head looks where grammar says.
"""

from __future__ import annotations

from coursekit.exercises.a10_bert import (
    answer_span,
    blank_scores,
    hide_tokens,
    pair_input,
    relation_accuracy,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a10_bert",
    title="BERT",
    questions=(
        hide_tokens.QUESTION,
        pair_input.QUESTION,
        blank_scores.QUESTION,
        answer_span.QUESTION,
        relation_accuracy.QUESTION,
    ),
    written=(
        Written(
            name="came_second",
            title="The reader that came second",
            points=3,
            minutes=20,
            page="bert.html#sec-bert-blanks",
        ),
    ),
)
