"""Unigram: every piece has a probability, and a word takes its most probable segmentation.

Kudo (2018), the default of SentencePiece (T5, ALBERT, XLNet). Where byte-pair encoding grows a
vocabulary, this one shrinks: it starts from all frequent substrings, fits their probabilities by
expectation–maximisation over all segmentations of all words, throws out the pieces whose loss would
hurt least, and repeats. SentencePiece does the same with two refinements that are left out here: a
prior that favours few pieces, and an estimate of how the others' counts grow when one goes.

Scores are log-probabilities. A space is written ▁ and belongs to the word after it; a text that
does not begin with a space is given one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from coursekit.tokenizers.base import Piece, Tokenizer, check_size, split_at_special

SPACE = "▁"
LONGEST_PIECE = 16  # characters in a piece that training considers
UNKNOWN_PENALTY = 10.0  # an unknown character scores this much less than the worst piece
KEEP = 0.75  # of the pieces survive a round of pruning


def segmentations(word: str, pieces: Iterable[str]) -> Iterator[list[str]]:
    """Yield every way to write `word` in `pieces`: 2ⁿ⁻¹ of them if all substrings are pieces.

    The definition by which tests judge `best_segmentation` and `expected_counts`.
    """
    if not word:
        yield []
    for piece in pieces:
        if piece and word.startswith(piece):
            for rest in segmentations(word[len(piece) :], pieces):
                yield [piece, *rest]


def best_segmentation(
    word: str, scores: Mapping[str, float], longest: int, unknown: float = -math.inf
) -> list[str]:
    """Return the most probable segmentation (Viterbi): the best of `word[:end]`, for each end.

    A character that is no piece counts as one of score `unknown`. Empty if there is no way.
    """
    best = [0.0] + [-math.inf] * len(word)
    begin = [0] * (len(word) + 1)  # where the last piece of the best way to each end begins
    for start, character in enumerate(word):
        before = best[start]
        for end in range(start + 1, min(start + longest, len(word)) + 1):
            score = scores.get(word[start:end])
            if score is not None and before + score > best[end]:
                best[end], begin[end] = before + score, start
        if character not in scores and before + unknown > best[start + 1]:
            best[start + 1], begin[start + 1] = before + unknown, start
    pieces, end = [], len(word)
    if best[end] == -math.inf:
        return []
    while end:
        pieces.append(word[begin[end] : end])
        end = begin[end]
    return pieces[::-1]


def expected_counts(
    word: str, scores: Mapping[str, float], longest: int
) -> tuple[dict[str, float], float]:
    """Return how often each piece is used, averaged over all segmentations, and log p(word).

    Each segmentation weighs in with its probability. Forward sums over the ways to write what
    comes before a place, backward over the ways to write what comes after it.
    """
    size = len(word)
    edges = [
        (start, end, piece, scores[piece])
        for start in range(size)
        for end in range(start + 1, min(start + longest, size) + 1)
        if (piece := word[start:end]) in scores
    ]
    forward = [0.0] + [-math.inf] * size
    for start, end, _, score in edges:  # sorted by start: all ways to `start` are in already
        forward[end] = _add_logs(forward[end], forward[start] + score)
    backward = [-math.inf] * size + [0.0]
    for start, end, _, score in reversed(edges):
        backward[start] = _add_logs(backward[start], score + backward[end])
    counts: dict[str, float] = {}
    for start, end, piece, score in edges:
        share = math.exp(forward[start] + score + backward[end] - forward[size])
        counts[piece] = counts.get(piece, 0.0) + share
    return counts, forward[size]


def _add_logs(a: float, b: float) -> float:
    """Return log(eᵃ + eᵇ) without leaving the logarithms."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


def seed_pieces(words: Mapping[str, int], size: int) -> dict[str, float]:
    """Return all characters and the `size` substrings that cover most text, with first scores."""
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for start in range(len(word)):
            for end in range(start + 1, min(start + LONGEST_PIECE, len(word)) + 1):
                counts[word[start:end]] += count
    characters = {piece for piece in counts if len(piece) == 1}
    frequent = [p for p, count in counts.items() if count > 1 and p not in characters]
    frequent.sort(key=lambda piece: (-counts[piece] * len(piece), piece))
    kept = {p: counts[p] * len(p) for p in [*sorted(characters), *frequent[:size]]}
    return normalise(kept)


def normalise(counts: Mapping[str, float]) -> dict[str, float]:
    """Turn counts into log-probabilities; a count of (nearly) zero is lifted a little."""
    log_total = math.log(sum(counts.values()))
    return {piece: math.log(max(count, 1e-9)) - log_total for piece, count in counts.items()}


def fit(words: Mapping[str, int], scores: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Take one step of expectation–maximisation; return the new scores and the old log-likelihood.

    Expectation: count the pieces over all segmentations. Maximisation: the counts, normalised.
    """
    longest = max(map(len, scores))
    totals, likelihood = dict.fromkeys(scores, 0.0), 0.0
    for word, count in words.items():
        counts, log_p = expected_counts(word, scores, longest)
        likelihood += count * log_p
        for piece, share in counts.items():
            totals[piece] += count * share
    return normalise(totals), likelihood


def prune(words: Mapping[str, int], scores: Mapping[str, float], keep: int) -> dict[str, float]:
    """Keep the `keep` pieces whose removal would cost most likelihood; characters always stay.

    Without a piece, each of its uses would be written in the next best way, which is less probable.
    """
    longest = max(map(len, scores))
    uses: Counter[str] = Counter()
    for word, count in words.items():
        for piece in best_segmentation(word, scores, longest):
            uses[piece] += count

    def loss(piece: str) -> float:
        if len(piece) == 1:
            return math.inf
        if not uses[piece]:
            return 0.0
        others = best_segmentation(piece, scores, len(piece) - 1)
        return uses[piece] * (scores[piece] - sum(scores[other] for other in others))

    ranking = sorted(scores, key=lambda piece: (-loss(piece), -scores[piece], piece))
    return {piece: scores[piece] for piece in ranking[:keep]}


class Unigram(Tokenizer):
    """Pieces with probabilities; ▁ stands for the space before a word."""

    pattern = re.compile(f"[ {SPACE}][^ {SPACE}]*|[^ {SPACE}]+")
    stops = (" ",)

    def __init__(
        self,
        vocabulary: Sequence[str],
        scores: Sequence[float],
        *,
        special: Iterable[str] = (),
        unknown: str | None = None,
        remember: int = 50_000,
    ) -> None:
        """`scores[i]` is the log-probability of token i; those of special tokens are not used."""
        if len(vocabulary) != len(scores):
            raise ValueError(f"found {len(vocabulary)} tokens but {len(scores)} scores")
        super().__init__(vocabulary, special=special, unknown=unknown, remember=remember)
        self.scores = {
            token: float(score)
            for token, score in zip(vocabulary, scores, strict=True)
            if token not in self.special
        }
        self._unknown_score = min(self.scores.values(), default=0.0) - UNKNOWN_PENALTY
        self._longest = max(map(len, self.scores), default=1)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        vocabulary_size: int,
        special: Sequence[str] = (),
        unknown: str | None = "[UNK]",
        seeds: int | None = None,
    ) -> Self:
        """Fit twice, prune a quarter, and again, from `seeds` pieces down to the vocabulary.

        `seeds` is ten times the vocabulary unless given. A vocabulary costs some minutes where
        byte-pair encoding needs seconds: every segmentation of every word is weighed.
        """
        words: Counter[str] = Counter()
        for text in split_at_special(texts, special):
            words.update(cls.pattern.findall(text))
        spelled: Counter[str] = Counter()
        for word, count in words.items():
            spelled[spell(word)] += count
        names = list(dict.fromkeys([*special, *([unknown] if unknown else [])]))
        characters = len(set().union(*spelled))
        check_size(vocabulary_size, len(names) + characters, "special tokens and characters")
        room = vocabulary_size - len(names)
        seeds = 10 * vocabulary_size if seeds is None else seeds
        scores = seed_pieces(spelled, seeds) if spelled else {}
        while spelled:
            for _ in range(2):
                scores, _ = fit(spelled, scores)
            if len(scores) <= room:
                break
            scores = prune(spelled, scores, max(room, int(KEEP * len(scores))))
        ranking = sorted(scores, key=lambda piece: (-scores[piece], piece))
        return cls(
            [*names, *ranking],
            [0.0] * len(names) + [scores[piece] for piece in ranking],
            special=special,
            unknown=unknown,
        )

    def _pieces(self, word: str) -> list[Piece]:
        shift = len(spell(word)) - len(word)  # 1 where the text had no space for the first ▁
        pieces: list[Piece] = []
        start = 0
        for piece in best_segmentation(
            spell(word), self.scores, self._longest, self._unknown_score
        ):
            end = start + len(piece)
            first, last = max(start - shift, 0), end - shift
            start = end
            if piece in self.scores:
                pieces.append((self._ordinary[piece], first, last))
                continue
            number = self._unknown_id(piece)
            if pieces and pieces[-1][0] == number:  # neighbours that are unknown become one token
                _, first, _ = pieces.pop()
            pieces.append((number, first, last))
        return pieces

    def _text(self, ids: list[int]) -> str:
        text = "".join(self._spelled(ids))
        return text.replace(SPACE, " ").removeprefix(" ")

    def _state(self) -> dict[str, Any]:
        tokens = self._spelled(range(len(self)))  # Unigram has no gaps
        return {"scores": [self.scores.get(token, 0.0) for token in tokens]}


def spell(word: str) -> str:
    """Write a word with its space as ▁: " of" and, where a text begins, "of" -> "▁of"."""
    return SPACE + word.removeprefix(" ").removeprefix(SPACE)
