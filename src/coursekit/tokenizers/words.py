"""One token a word: short sequences, and everything that training did not see is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Self

from coursekit.tokenizers.base import Piece, Tokenizer, most_frequent
from coursekit.tokenizers.unicode_classes import WHITE_SPACE, unicode_class


class Words(Tokenizer):
    """Words and runs of punctuation; the space between them is dropped.

    A word is made of letters, the marks on them, digits and joiners such as "_". (Python's own \\w
    leaves the marks out and would cut Hindi words at their vowels.)
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        special: Iterable[str] = (),
        unknown: str | None = None,
        remember: int = 50_000,
    ) -> None:
        super().__init__(vocabulary, special=special, unknown=unknown, remember=remember)
        self.pattern = word_pattern()

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        vocabulary_size: int,
        special: Sequence[str] = (),
        unknown: str | None = "[UNK]",
    ) -> Self:
        """Keep the most frequent words, the most frequent first."""
        names, words = most_frequent(
            texts,
            word_pattern().findall,
            vocabulary_size=vocabulary_size,
            special=special,
            unknown=unknown,
        )
        return cls([*names, *words], special=special, unknown=unknown)

    def _pieces(self, word: str) -> list[Piece]:
        number = self._ordinary.get(word)
        return [(self._unknown_id(word) if number is None else number, 0, len(word))]

    def _text(self, ids: list[int]) -> str:
        return " ".join(self._spelled(ids))


def word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word, or of a run of what is neither word nor space."""
    inside = unicode_class("L", "M", "Nd", "Nl", "Pc")
    return re.compile(f"[{inside}]+|[^{inside}{WHITE_SPACE}]+")
