"""BPE: frequent neighbours become one token, rare words fall apart into known pieces.

Sennrich, Haddow and Birch (2016), also the tokens of the first Transformer and of GPT-1. A word is
what stands between spaces; its last character carries the mark </w>, so that the pieces of a text
say where spaces were. How merges are learned and applied stands in `merges.py`.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self

from coursekit.tokenizers.base import Piece, Tokenizer, check_size, split_at_special
from coursekit.tokenizers.merges import Beginnings, apply_merges, first_tokens, learn_merges, ranked
from coursekit.tokenizers.unicode_classes import WHITE_SPACE


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
            tuple(self.token_to_id(token) for token in (left, right, left + right))
            for left, right in self.merges
        )

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        vocabulary_size: int,
        special: Sequence[str] = (),
        unknown: str | None = "[UNK]",
        end_of_word: str = "</w>",
    ) -> Self:
        """Start from the characters and merge the most frequent pair until the vocabulary is full.

        Pairs never cross a space. Of equally frequent pairs the one of the oldest tokens wins.
        """
        words: Counter[str] = Counter()
        for text in split_at_special(texts, special):
            words.update(whitespace_split(text))
        tokens = list(dict.fromkeys([*special, *([unknown] if unknown else [])]))
        letters = first_tokens(words, lambda word: symbols(word, end_of_word), tokens)
        check_size(vocabulary_size, len(tokens), "special tokens and characters")
        pairs = learn_merges(letters, tokens, vocabulary_size)
        merges = [(tokens[ord(left)], tokens[ord(right)]) for left, right in pairs]
        return cls(tokens, merges, special=special, unknown=unknown, end_of_word=end_of_word)

    @functools.cached_property
    def _beginnings(self) -> Beginnings:
        return Beginnings(self._ranked)

    def _begun(self, word: str) -> tuple[list[int], int]:
        numbers = [self._ordinary.get(character) for character in word]
        if None in numbers and self.unknown is None:
            return [], 0
        unknown = self.special.get(self.unknown)
        letters = "".join(chr(unknown if n is None else n) for n in numbers)
        found = self._beginnings(letters)
        found = found[:-1] if found and found[-1][1] == len(word) else found
        return [ord(token) for token, _ in found], found[-1][1] if found else 0

    def _pieces(self, word: str) -> list[Piece]:
        unknown = None if self.unknown is None else self.special[self.unknown]
        numbers = [
            self._ordinary[symbol] if symbol in self._ordinary else self._unknown_id(character)
            for symbol, character in zip(symbols(word, self.end_of_word), word, strict=True)
        ]
        pieces, start = [], 0
        for letter in apply_merges("".join(map(chr, numbers)), self._ranked):
            end = start + (1 if ord(letter) == unknown else len(self._tokens[ord(letter)]))
            pieces.append((ord(letter), start, min(end, len(word))))  # without the mark
            start = end
        return pieces

    def _text(self, ids: list[int]) -> str:
        text = "".join(self._tokens[number] for number in ids)
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
