"""One token a character: the smallest vocabulary and the longest sequences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Self

from coursekit.tokenizers.base import Piece, Tokenizer, most_frequent


class Characters(Tokenizer):
    """Every character is a token; one that training never saw is unknown."""

    pattern = re.compile(".", re.DOTALL)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        vocabulary_size: int,
        special: Sequence[str] = (),
        unknown: str | None = "[UNK]",
    ) -> Self:
        """Keep the most frequent characters, in the order of Unicode."""
        names, characters = most_frequent(
            texts, iter, vocabulary_size=vocabulary_size, special=special, unknown=unknown
        )
        return cls([*names, *sorted(characters)], special=special, unknown=unknown)

    def _pieces(self, word: str) -> list[Piece]:
        number = self._ordinary.get(word)
        return [(self._unknown_id(word) if number is None else number, 0, 1)]

    def _text(self, ids: list[int]) -> str:
        return "".join(self._spelled(ids))
