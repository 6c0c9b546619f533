"""Assignment 8, to the page "The Transformer that translates": what stands around the model, from
the target that the decoder reads, over loss and search, to the number at the end.
"""

from __future__ import annotations

from coursekit.exercises.a08_transformer import (
    average_weights,
    beam_search,
    bleu,
    smoothed_loss,
    teacher_forcing,
    tied_embedding,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a08_transformer",
    title="The Transformer that translates",
    questions=(
        teacher_forcing.QUESTION,
        tied_embedding.QUESTION,
        smoothed_loss.QUESTION,
        beam_search.QUESTION,
        bleu.QUESTION,
        average_weights.QUESTION,
    ),
    written=(
        Written(
            name="three_letters",
            title="Three letters from a colleague",
            points=3,
            minutes=25,
            page="translation.html#sec-translation-decoding",
        ),
    ),
)
