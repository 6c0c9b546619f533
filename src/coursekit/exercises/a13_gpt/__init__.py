"""Assignment 13, to the page "GPT": the shares of the next token, a text written with a cache, bits
per byte, tasks as sequences, and the law that a loss follows.
"""

from __future__ import annotations

from coursekit.exercises.a13_gpt import (
    bits_per_byte,
    next_token,
    power_law,
    task_sequences,
    write_on,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a13_gpt",
    title="GPT",
    questions=(
        next_token.QUESTION,
        write_on.QUESTION,
        bits_per_byte.QUESTION,
        task_sequences.QUESTION,
        power_law.QUESTION,
    ),
    written=(
        Written(
            name="a_thousand_times",
            title="A thousand times as much",
            points=3,
            minutes=25,
            page="gpt.html#sec-gpt-scaling",
        ),
    ),
)
