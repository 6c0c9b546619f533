"""Assignment 4, to the page "Many heads": cut the width and join it again, several questions at
once, what each head adds, and one word at a time.
"""

from __future__ import annotations

from coursekit.exercises.a04_heads import (
    cached_attention,
    grouped_attention,
    head_contributions,
    merge_heads,
    multi_head,
    split_heads,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a04_heads",
    title="Many heads",
    questions=(
        split_heads.QUESTION,
        merge_heads.QUESTION,
        multi_head.QUESTION,
        head_contributions.QUESTION,
        grouped_attention.QUESTION,
        cached_attention.QUESTION,
    ),
    written=(
        Written(
            name="undone",
            title="Two mistakes that hide each other",
            points=3,
            minutes=20,
            page="heads.html#sec-heads-split",
        ),
    ),
)
