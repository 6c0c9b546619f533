"""Assignment 14, to the page "T5 and BART": text with holes and what fills them, two noises
of BART, a text that is put together again, and an alphabet of bytes.
Everything is plain Python: lists of ids, pairs of numbers, and strings.
"""

from __future__ import annotations

from coursekit.exercises.a14_t5 import (
    byte_ids,
    corrupt,
    infill,
    put_back,
    shuffle_sentences,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a14_t5",
    title="T5 and BART",
    questions=(
        corrupt.QUESTION,
        infill.QUESTION,
        shuffle_sentences.QUESTION,
        put_back.QUESTION,
        byte_ids.QUESTION,
    ),
    written=(
        Written(
            name="best_objective",
            title="“Deletion is the best objective”",
            points=3,
            minutes=25,
            page="t5.html#sec-t5-noises",
        ),
    ),
)
