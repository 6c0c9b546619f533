"""Assignment 7, to the page "Tokenization": byte-pair encoding from the first merge to the last,
the alphabet of bytes, the longest piece first, and the likeliest cut of a word.
Everything is plain Python: strings, lists, tuples, and dicts with strings for keys.
"""

from __future__ import annotations

from coursekit.exercises.a07_tokenization import (
    bpe_encode,
    byte_alphabet,
    learn_bpe,
    likeliest,
    merge_pair,
    wordpiece,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a07_tokenization",
    title="Tokenization",
    questions=(
        merge_pair.QUESTION,
        learn_bpe.QUESTION,
        bpe_encode.QUESTION,
        byte_alphabet.QUESTION,
        wordpiece.QUESTION,
        likeliest.QUESTION,
    ),
    written=(
        Written(
            name="foreign_words",
            title="A vocabulary from abroad",
            points=3,
            minutes=20,
            page="tokenization.html#sec-tokenization-fertility",
        ),
    ),
)
