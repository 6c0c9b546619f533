"""Assignment 3, to the page "Masking": who may look at whom, a row that may look at nobody, and a
window that never pays for what it may not see.
"""

from __future__ import annotations

from coursekit.exercises.a03_masking import (
    causal_mask,
    decoder_mask,
    masked_shares,
    padding_mask,
    window_attention,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a03_masking",
    title="Masking",
    questions=(
        causal_mask.QUESTION,
        padding_mask.QUESTION,
        masked_shares.QUESTION,
        decoder_mask.QUESTION,
        window_attention.QUESTION,
    ),
    written=(
        Written(
            name="peeking",
            title="Is it peeking?",
            points=3,
            minutes=20,
            page="masking.html#sec-masking-causal",
        ),
    ),
)
