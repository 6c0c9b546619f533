"""Assignment 19, to the page "Swin": windows, the mask of those that shift, a number for each
offset, the whole shifted step, four cells in one, and what all of it costs.
"""

from __future__ import annotations

from coursekit.exercises.a19_swin import (
    hide_strangers,
    merge,
    offset_index,
    shifted_attention,
    window_flops,
    windows,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a19_swin",
    title="Swin",
    questions=(
        windows.QUESTION,
        hide_strangers.QUESTION,
        offset_index.QUESTION,
        shifted_attention.QUESTION,
        merge.QUESTION,
        window_flops.QUESTION,
    ),
    written=(
        Written(
            name="nobody_missed_it",
            title="The mask that nobody missed",
            points=3,
            minutes=20,
            page="swin.html#sec-swin-mask",
        ),
    ),
)
