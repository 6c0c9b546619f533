"""Next-sentence prediction: does B follow A in the text? (BERT, Devlin et al., 2019)

"When choosing the sentences A and B for each pretraining example, 50% of the time B is the actual
next sentence that follows A (labeled as IsNext), and 50% of the time it is a random sentence from
the corpus (labeled as NotNext)." The random one comes from another document, as in BERT's code.

A document is a list of sentences, a sentence a list of ids. Shapes: B batch, T length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import check_choice, check_int, check_shape, check_tensor
from coursekit.objectives.rows import pad_rows
from coursekit.objectives.special_tokens import SpecialTokens

Sentence = Sequence[int]
Document = Sequence[Sentence]


@dataclass(frozen=True)
class SentencePair:
    """Two texts, each one or more sentences in one list, and whether the second follows."""

    first: list[int]
    second: list[int]
    is_next: bool


@dataclass(frozen=True)
class PairInput:
    """[CLS] A [SEP] B [SEP], with segment 0 up to the first [SEP] and segment 1 after it."""

    tokens: list[int]
    segments: list[int]
    is_next: bool


@dataclass(frozen=True)
class PairBatch:
    """Pairs in one tensor each, padded on the right."""

    tokens: Tensor  # (B, T)
    segments: Tensor  # (B, T), 0 at padding
    is_next: Tensor  # (B,), boolean


def nsp_pairs(
    documents: Sequence[Document],
    *,
    room: int | None = None,
    generator: torch.Generator | None = None,
) -> list[SentencePair]:
    """Walk through every document and make pairs, half of them true, half with a random B.

    Without `room` A and B are one sentence each. With it they are segments: as many sentences as
    have `room` tokens together, split between A and B at a random place (BERT's own pairs).
    After a true pair the walk goes on after B; after a random one the true B is still unused and
    becomes the next A. So each sentence is read once in its own document. The exception is a last
    sentence left alone: nothing follows it, and to pair it with a random B would tip the 50/50.
    """
    _check_documents(documents)
    if room is not None:
        check_int(room=room)
    elsewhere = _Elsewhere(documents)
    pairs = []
    for number, document in enumerate(documents):
        place = 0
        while place + 1 < len(document):
            middle, end = _cut(document, place, room, generator)
            first = _join(document[place:middle])
            is_next = bool(torch.rand((), generator=generator) < 0.5)
            if is_next:
                second, place = _join(document[middle:end]), end
            else:
                other, start = elsewhere.draw(number, unlike=document[middle], generator=generator)
                space = None if room is None else room - len(first)
                second, place = _join(other[start : _reach(other, start, space)]), middle
            pairs.append(SentencePair(first, second, is_next))
    if not pairs:
        raise ValueError("next-sentence pairs need a document with two sentences, found none")
    return pairs


def truncate_pair(first: Sentence, second: Sentence, room: int) -> tuple[Sentence, Sentence]:
    """Cut both at the end to `room` tokens together, always from the longer, B when equal."""
    check_int(0, room=room)
    if len(first) + len(second) <= room:
        return first, second
    kept = min(len(second), max(room // 2, room - len(first)))
    return first[: room - kept], second[:kept]


def encode_pair(pair: SentencePair, special: SpecialTokens, *, max_length: int) -> PairInput:
    """Return [CLS] A [SEP] B [SEP] with its segments, `max_length` tokens at most."""
    first, second = truncate_pair(pair.first, pair.second, pair_room(max_length))
    tokens = [special.cls, *first, special.sep, *second, special.sep]
    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    return PairInput(tokens, segments, pair.is_next)


def pair_room(max_length: int) -> int:
    """Return how many tokens of text an input has room for beside [CLS] and two [SEP]."""
    check_int(5, max_length=max_length)  # [CLS] A [SEP] B [SEP] with a token each
    return max_length - 3


def pad_pairs(inputs: Sequence[PairInput], pad: int) -> PairBatch:
    """Put pairs into one batch, padded to the longest."""
    return PairBatch(
        tokens=pad_rows([pair.tokens for pair in inputs], pad),  # (B, T)
        segments=pad_rows([pair.segments for pair in inputs], 0),  # (B, T)
        is_next=torch.tensor([pair.is_next for pair in inputs]),  # (B,)
    )


def next_sentence_loss(
    logits: Tensor, is_next: Tensor, *, reduction: Literal["mean", "sum"] = "mean"
) -> Tensor:
    """logits (B, 2), is_next (B,) -> mean cross-entropy; class 0 is "is next", as in BERT.

    `train` takes the sum (`reduction`), with the number of pairs.
    """
    check_tensor(is_next, "is_next")
    check_shape(logits, "logits", (*is_next.shape, 2))
    check_choice(("mean", "sum"), reduction=reduction)
    return F.cross_entropy(logits, (~is_next.bool()).long(), reduction=reduction)


def _cut(
    document: Document, place: int, room: int | None, generator: torch.Generator | None
) -> tuple[int, int]:
    """Return where A, which starts at `place`, ends, and where the text that follows it ends."""
    if room is None:
        return place + 1, place + 2
    end = max(place + 2, _reach(document, place, room))
    return int(torch.randint(place + 1, end, (), generator=generator)), end


def _reach(document: Document, start: int, room: int | None) -> int:
    """Return the end of the sentences from `start` on that `room` holds, at least one."""
    end = start + 1
    if room is None:
        return end
    held = len(document[start])
    while end < len(document) and held + len(document[end]) <= room:
        held += len(document[end])
        end += 1
    return end


class _Elsewhere:
    """Every sentence of the corpus in one line, to draw from those of the other documents."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.line = [(document, i) for document in documents for i in range(len(document))]
        self.starts = [0, *accumulate(len(document) for document in documents)]

    def draw(
        self, number: int, *, unlike: Sentence, generator: torch.Generator | None
    ) -> tuple[Document, int]:
        """Return a document and a place in it, not in document `number`; its text is another."""
        start, stop = self.starts[number], self.starts[number + 1]
        others = len(self.line) - (stop - start)
        drawn = int(torch.randint(others, (), generator=generator))
        for step in range(others):  # the first draw nearly always serves
            index = (drawn + step) % others
            document, place = self.line[index if index < start else index + stop - start]
            if list(document[place]) != list(unlike):
                return document, place
        raise ValueError(
            f"every sentence outside document {number} is the same as the next sentence in it, "
            "so no wrong one can be drawn"
        )


def _join(sentences: Document) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def _check_documents(documents: Sequence[Document]) -> None:
    if sum(len(document) > 0 for document in documents) < 2:
        raise ValueError(
            "a random sentence comes from another document, so at least two documents with text "
            f"are needed, found {sum(len(document) > 0 for document in documents)}"
        )
    for number, document in enumerate(documents):
        for sentence in document:
            if not isinstance(sentence, Sequence):
                raise TypeError(
                    "documents must be lists of sentences, and sentences lists of token ids; "
                    f"document {number} has {sentence!r} in the place of a sentence"
                )
