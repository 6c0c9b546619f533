"""Assignment 5, to the page "Positions": a table to add, waves, the matrix that moves them on, a
turn in place of an addition, and a number for each distance.
"""

from __future__ import annotations

from coursekit.exercises.a05_positions import (
    add_places,
    relative_bias,
    rotary_attention,
    shift,
    sinusoids,
    turn,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a05_positions",
    title="Positions",
    questions=(
        add_places.QUESTION,
        sinusoids.QUESTION,
        shift.QUESTION,
        turn.QUESTION,
        relative_bias.QUESTION,
        rotary_attention.QUESTION,
    ),
    written=(
        Written(
            name="backwards",
            title="The clock that ran backwards",
            points=3,
            minutes=20,
            page="positions.html#sec-positions-relative",
        ),
    ),
)
