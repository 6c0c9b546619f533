"""Four ways to fill an input with text, compared by RoBERTa (Liu et al., 2019, Table 2).

    SEGMENT-PAIR + NSP    two segments of several sentences, at most `max_length` together (BERT)
    SENTENCE-PAIR + NSP   two single sentences, usually far shorter
    FULL-SENTENCES        sentences in order up to `max_length`, across documents, no NSP
    DOC-SENTENCES         the same, but an input ends where its document ends

RoBERTa found the last best by a little and took the third, whose batches all have one size. For the
short inputs of the second and fourth, `rows.batches_of_tokens` makes the batches larger instead.
A document is a list of sentences, a sentence a list of ids.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from coursekit._base.checks import check_int
from coursekit.objectives.next_sentence import (
    Document,
    PairInput,
    encode_pair,
    nsp_pairs,
    pair_room,
)
from coursekit.objectives.special_tokens import SpecialTokens


def segment_pairs(
    documents: Sequence[Document],
    special: SpecialTokens,
    *,
    max_length: int = 512,
    generator: torch.Generator | None = None,
) -> list[PairInput]:
    """Return SEGMENT-PAIR inputs, [CLS] segment [SEP] segment [SEP], labelled for NSP."""
    pairs = nsp_pairs(documents, room=pair_room(max_length), generator=generator)
    return [encode_pair(pair, special, max_length=max_length) for pair in pairs]


def sentence_pairs(
    documents: Sequence[Document],
    special: SpecialTokens,
    *,
    max_length: int = 512,
    generator: torch.Generator | None = None,
) -> list[PairInput]:
    """Return SENTENCE-PAIR inputs, [CLS] sentence [SEP] sentence [SEP], labelled for NSP."""
    pairs = nsp_pairs(documents, generator=generator)
    return [encode_pair(pair, special, max_length=max_length) for pair in pairs]


def full_sentences(
    documents: Sequence[Document], special: SpecialTokens, *, max_length: int = 512
) -> list[list[int]]:
    """Return FULL-SENTENCES inputs, [CLS] sentence sentence … [SEP].

    Every token of the corpus is in exactly one input, in order. An input takes sentences as
    long as they fit; where it goes on into the next document, one more [SEP] is between the
    two. A sentence that no input can hold is cut (the paper does not say what it did).
    """
    check_int(3, max_length=max_length)  # [CLS] token [SEP]
    room = max_length - 2
    inputs: list[list[int]] = []
    held: list[int] = []
    for document in documents:
        between = [special.sep] if held else []
        for piece in _pieces(document, room):
            if held and len(held) + len(between) + len(piece) > room:
                inputs.append(held)
                held, between = [], []
            held = [*held, *between, *piece]
            between = []
    if held:
        inputs.append(held)
    return [[special.cls, *text, special.sep] for text in inputs]


def doc_sentences(
    documents: Sequence[Document], special: SpecialTokens, *, max_length: int = 512
) -> list[list[int]]:
    """Return DOC-SENTENCES inputs: as `full_sentences`, each document on its own."""
    return [
        text
        for document in documents
        for text in full_sentences([document], special, max_length=max_length)
    ]


def _pieces(document: Document, room: int) -> list[Sequence[int]]:
    """Return the sentences in order, those longer than `room` cut into pieces of that length."""
    return [
        sentence[start : start + room]
        for sentence in document
        for start in range(0, len(sentence), room)
    ]
