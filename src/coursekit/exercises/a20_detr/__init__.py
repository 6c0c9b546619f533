"""Assignment 20, to the page "DETR": how two boxes are compared, who answers for what, what a wrong
set costs, what COCO's number counts, and where a place of a picture is.
"""

from __future__ import annotations

from coursekit.exercises.a20_detr import (
    ap_50,
    giou,
    pair_up,
    places_2d,
    set_loss,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a20_detr",
    title="DETR",
    questions=(
        giou.QUESTION,
        pair_up.QUESTION,
        set_loss.QUESTION,
        ap_50.QUESTION,
        places_2d.QUESTION,
    ),
    written=(
        Written(
            name="one_number_for_a_detector",
            title="One number for a detector",
            points=3,
            minutes=20,
            page="detr.html#sec-detr-ap",
        ),
    ),
)
