"""Assignment 17, to the page "ViT": a picture as tokens, how far a head looks, positions for a
picture of another size, and a classifier from a few pictures.
"""

from __future__ import annotations

from coursekit.exercises.a17_vit import (
    attention_distance,
    cut,
    few_shot,
    prepare_tokens,
    resize_places,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a17_vit",
    title="ViT",
    questions=(
        cut.QUESTION,
        prepare_tokens.QUESTION,
        attention_distance.QUESTION,
        resize_places.QUESTION,
        few_shot.QUESTION,
    ),
    written=(
        Written(
            name="near_and_far",
            title="“The last block looks farthest”",
            points=3,
            minutes=20,
            page="vit.html#sec-vit-inside",
        ),
    ),
)
