"""One token a character: the smallest vocabulary and the longest sequences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

from coursekit.tokenizers.base import Piece, Tokenizer, check_size, split_at_special


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
        tokens = list(dict.fromkeys([*special, *([unknown] if unknown else [])]))
        check_size(vocabulary_size, len(tokens), "the special tokens")
        counts: Counter[str] = Counter()
        for text in split_at_special(texts, special):
            counts.update(text)
        ranking = sorted(counts, key=lambda character: (-counts[character], character))
        kept = [character for character in ranking if character not in tokens]
        kept = kept[: vocabulary_size - len(tokens)]
        return cls([*tokens, *sorted(kept)], special=special, unknown=unknown)

    def _pieces(self, word: str) -> list[Piece]:
        number = self._ordinary.get(word)
        return [(self._unknown_id(word) if number is None else number, 0, 1)]

    def _text(self, ids: list[int]) -> str:
        return "".join(self._tokens[number] for number in ids)
