"""Assignment 18, to the page "DeiT and MAE": what is hidden from a painter and how it is judged, a
student with two heads, and pictures that are half another.
"""

from __future__ import annotations

from coursekit.exercises.a18_mae import (
    distil,
    hide_patches,
    mix_pictures,
    own_scale,
    paint_loss,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a18_mae",
    title="DeiT and MAE",
    questions=(
        hide_patches.QUESTION,
        own_scale.QUESTION,
        paint_loss.QUESTION,
        distil.QUESTION,
        mix_pictures.QUESTION,
    ),
    written=(
        Written(
            name="the_best_painter",
            title="The best painter",
            points=3,
            minutes=20,
            page="mae.html#sec-mae-hide",
        ),
    ),
)
