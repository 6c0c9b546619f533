"""Assignment 16, to the page "Attention in images": how far convolutions see, attention between the
places of a map, a layer that cannot stretch anything, a GAN's losses, and how pictures are scored.
"""

from __future__ import annotations

from coursekit.exercises.a16_sagan import (
    frechet,
    hinge,
    look_around,
    reach,
    spectral,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a16_sagan",
    title="Attention in images",
    questions=(
        reach.QUESTION,
        look_around.QUESTION,
        spectral.QUESTION,
        hinge.QUESTION,
        frechet.QUESTION,
    ),
    written=(
        Written(
            name="the_lower_distance",
            title="The lower distance",
            points=3,
            minutes=20,
            page="sagan.html#sec-sagan-frechet",
        ),
    ),
)
