"""Assignment 11, to the page "RoBERTa and many languages": how inputs are filled and masks drawn,
what is compared at equal cost, whether two languages meet, and how an answer is scored.
"""

from __future__ import annotations

from coursekit.exercises.a11_roberta import (
    answer_f1,
    equal_tokens,
    fill_inputs,
    find_translation,
    fresh_masks,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a11_roberta",
    title="RoBERTa and many languages",
    questions=(
        fill_inputs.QUESTION,
        fresh_masks.QUESTION,
        equal_tokens.QUESTION,
        find_translation.QUESTION,
        answer_f1.QUESTION,
    ),
    written=(
        Written(
            name="learned_to_translate",
            title="“It has learned to translate”",
            points=3,
            minutes=25,
            page="roberta.html#sec-roberta-control",
        ),
    ),
)
