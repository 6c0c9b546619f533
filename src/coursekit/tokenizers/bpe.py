"""BPE: frequent neighbours become one token, rare words fall apart into known pieces.

The first half of this file is the idea on plain numbers, in four functions. The second is the
tokenizer of Sennrich, Haddow and Birch (2016), also that of the first Transformer and of GPT-1. A
word is a run without spaces; its last character carries the mark </w>, so that decoding knows
where spaces were. It learns and joins as the four functions do, and tests hold them
equal; how that is made fast is in `merges.py`. The book explains it in "Tokenization".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

from coursekit.tokenizers.base import Piece, Tokenizer, check_size, split_at_special
from coursekit.tokenizers.merges import (
    Ties,
    WholeTokens,
    apply_merges,
    first_tokens,
    learn_merges,
    ranked,
)
from coursekit.tokenizers.unicode_classes import WHITE_SPACE

# The idea. A word is a list of tokens, and a token is a number: of a character, of a byte, or a new
# one. A merge says which new number two neighbours become.


def learn(words: Iterable[Sequence[int]], first: int, count: int) -> dict[tuple[int, int], int]:
    """Find the most frequent neighbours, give them a number, join them everywhere; `count` times.

    `first` is the first number that is free. Of equally frequent pairs the smallest wins.

    >>> learn([[1, 2, 3], [1, 2], [4, 3]], first=5, count=2)
    {(1, 2): 5, (4, 3): 6}
    """
    words, merges = [list(word) for word in words], {}
    for new in range(first, first + count):
        pairs = Counter(pair for word in words for pair in pairwise(word))
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges[best] = new
        words = [merge(word, best, new) for word in words]
    return merges


def merge(word: Sequence[int], pair: tuple[int, int], new: int) -> list[int]:
    """Join a pair wherever it occurs, from left to right.

    >>> merge([1, 2, 1, 1, 2], (1, 2), 5)
    [5, 1, 5]
    """
    merged, place = [], 0
    while place < len(word):
        if tuple(word[place : place + 2]) == pair:
            merged.append(new)
            place += 2
        else:
            merged.append(word[place])
            place += 1
    return merged


def encode(word: Sequence[int], merges: Mapping[tuple[int, int], int]) -> list[int]:
    """Join a new word's neighbours in the order in which they were learned.

    >>> encode([4, 3, 1, 2], {(1, 2): 5, (4, 3): 6, (6, 5): 7})
    [7]
    """
    word = list(word)
    while mergeable := [pair for pair in pairwise(word) if pair in merges]:
        earliest = min(mergeable, key=merges.__getitem__)  # numbers were given in that order
        word = merge(word, earliest, merges[earliest])
    return word


def decode(word: Iterable[int], merges: Mapping[tuple[int, int], int]) -> list[int]:
    """Take every token apart again into what was joined.

    >>> decode([7], {(1, 2): 5, (4, 3): 6, (6, 5): 7})
    [4, 3, 1, 2]
    """
    parts = {new: pair for pair, new in merges.items()}
    parts_of_word: list[int] = []
    for token in word:
        parts_of_word += decode(parts[token], merges) if token in parts else [token]
    return parts_of_word


# The tokenizer.


class BPE(Tokenizer):
    """Byte-pair encoding over characters.

    A character that training did not see is unknown (`ByteBPE` knows every character).
    """

    pattern = re.compile(f"[^{WHITE_SPACE}]+")

    def __init__(
        self,
        vocabulary: Sequence[str],
        merges: Iterable[tuple[str, str]],
        *,
        special: Iterable[str] = (),
        unknown: str | None = None,
        end_of_word: str = "</w>",
        remember: int = 50_000,
    ) -> None:
        """`merges` are pairs of tokens, the earliest first."""
        super().__init__(vocabulary, special=special, unknown=unknown, remember=remember)
        self.merges = [(left, right) for left, right in merges]
        self.end_of_word = end_of_word
        self._ranked = ranked(
            (self.token_to_id(left), self.token_to_id(right), self.token_to_id(left + right))
            for left, right in self.merges
        )
        self._whole = WholeTokens(self._ranked)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        vocabulary_size: int,
        special: Sequence[str] = (),
        unknown: str | None = "[UNK]",
        end_of_word: str = "</w>",
        ties: Ties = "first",
    ) -> Self:
        """Start from the characters and merge the most frequent pair until the vocabulary is full.

        Pairs never cross a space. Of equally frequent pairs, "first" takes the one of the oldest
        tokens, "greatest" the lexicographically greatest pair.
        """
        words: Counter[str] = Counter()
        for text in split_at_special(texts, special):
            words.update(whitespace_split(text))
        tokens = list(dict.fromkeys([*special, *([unknown] if unknown else [])]))
        letters = first_tokens(words, lambda word: symbols(word, end_of_word), tokens)
        check_size(vocabulary_size, len(tokens), "special tokens and characters")
        pairs = learn_merges(letters, tokens, vocabulary_size, ties=ties)
        merges = [(tokens[ord(left)], tokens[ord(right)]) for left, right in map(tuple, pairs)]
        return cls(tokens, merges, special=special, unknown=unknown, end_of_word=end_of_word)

    def _word_ids(self, word: str) -> Sequence[int]:
        number = self._ordinary.get(word + self.end_of_word)
        if number is not None and self._whole[chr(number)]:
            return [number]
        return super()._word_ids(word)

    def _pieces(self, word: str) -> list[Piece]:
        unknown = None if self.unknown is None else self.special[self.unknown]
        numbers = [
            self._ordinary[symbol] if symbol in self._ordinary else self._unknown_id(character)
            for symbol, character in zip(symbols(word, self.end_of_word), word, strict=True)
        ]
        pieces, start = [], 0
        for letter in apply_merges("".join(map(chr, numbers)), self._ranked):
            end = start + (1 if ord(letter) == unknown else len(self._tokens[ord(letter)] or ""))
            pieces.append((ord(letter), start, min(end, len(word))))  # without the mark
            start = end
        return pieces

    def _text(self, ids: list[int]) -> str:
        text = "".join(self._spelled(ids))
        return text.replace(self.end_of_word, " ").removesuffix(" ") if self.end_of_word else text

    def _state(self) -> dict[str, Any]:
        return {"merges": self.merges, "end_of_word": self.end_of_word}


def whitespace_split(text: str) -> list[str]:
    """Return what `BPE.pattern` finds, in half the time."""
    if any(separator in text for separator in "\x1c\x1d\x1e\x1f"):  # spaces for str.split only
        return BPE.pattern.findall(text)
    return text.split()


def symbols(word: str, end_of_word: str) -> list[str]:
    """Return the characters of a word, the last one marked: "of" -> ["o", "f</w>"]."""
    return [*word[:-1], word[-1] + end_of_word]
