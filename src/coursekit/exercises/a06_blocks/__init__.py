"""Assignment 6, to the page "Blocks": a soft bend, a network for each token, a norm, and what they
make with attention: a block, and a stack of blocks.
"""

from __future__ import annotations

from coursekit.exercises.a06_blocks import apart, block, feed_forward, gelu, stack, token_norm
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a06_blocks",
    title="Blocks",
    questions=(
        gelu.QUESTION,
        feed_forward.QUESTION,
        apart.QUESTION,
        token_norm.QUESTION,
        block.QUESTION,
        stack.QUESTION,
    ),
    written=(
        Written(
            name="one_token",
            title="Thirty-two copies of one token",
            points=3,
            minutes=20,
            page="blocks.html#sec-blocks-collapse",
        ),
    ),
)
