"""WordPiece: BERT's tokens. The longest known piece first, and ## where a word goes on.

Text is cleaned and cut first (`BasicText`): control characters go, accents and capitals too for the
uncased models, every punctuation mark and Chinese character is a word. Then each word is
cut greedily; one that cannot be cut is unknown as a whole (Wu et al., 2016; Devlin et al., 2019).

How Google trained its vocabulary was never published in full. `train` does what the `tokenizers`
package does: the merges of byte-pair encoding, of which only the tokens are kept.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from coursekit.tokenizers.base import Piece, Tokenizer, check_size, split_at_special
from coursekit.tokenizers.merges import Ties, first_tokens, learn_merges

BERT_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CONTINUES = "##"
LONGEST_WORD = 100  # a longer word is unknown

# Chinese characters, also where Japanese and Korean use them; each becomes a word.
IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class BasicText(dict[int, str]):
    """What becomes of each character, for `str.translate`: text.translate(table).split() is words.

    A table that fills itself as characters come. Characters that are words get a space on both
    sides; accents go as marks (é is e and a mark once decomposed, NFD). Each character is rewritten
    alone, so a sigma that ends a word becomes σ, where the lower case of the word would have ς.
    What is a mark or punctuation follows Python's Unicode tables, as in Google's own code. The
    package `tokenizers` has those of Unicode 8: it keeps newer marks, such as U+16FE4.
    """

    def __init__(self, lower_case: bool) -> None:
        super().__init__()
        self.lower_case = lower_case

    def __missing__(self, number: int) -> str:
        self[number] = result = self.rewrite(chr(number))
        return result

    def rewrite(self, character: str) -> str:
        """Return what stands for one character: nothing, itself, or several."""
        if character in "\t\n\r" or unicodedata.category(character) in ("Zs", "Zl", "Zp"):
            return " "
        if unicodedata.category(character) in ("Cc", "Cf", "Co") or character == "\ufffd":
            return ""
        if any(first <= ord(character) <= last for first, last in IDEOGRAPHS):
            character = f" {character} "
        if self.lower_case:
            parts = unicodedata.normalize("NFD", character)
            character = "".join(c for c in parts if unicodedata.category(c) != "Mn").lower()
        return "".join(f" {c} " if _is_punctuation(c) else c for c in character)


def _is_punctuation(character: str) -> bool:
    """Return whether a character is alone: all of Unicode's, and ASCII signs such as $ and +."""
    return character in "$+<=>^`|~" or unicodedata.category(character).startswith("P")


@functools.cache
def basic_text(lower_case: bool) -> BasicText:
    """Return the table that all tokenizers of one kind share."""
    return BasicText(lower_case)


class WordPiece(Tokenizer):
    """BERT's tokenizer, uncased unless `lower_case` is False (then accents stay as well)."""

    # Spaces, as BERT has them: other control characters vanish without leaving one.
    pattern = re.compile("[^\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        special: Iterable[str] = BERT_SPECIAL,
        unknown: str | None = "[UNK]",
        lower_case: bool = True,
        remember: int = 50_000,
    ) -> None:
        super().__init__(vocabulary, special=special, unknown=unknown, remember=remember)
        self.lower_case = lower_case
        self._basic = basic_text(lower_case)
        self._longest = max(map(len, self._ordinary), default=0)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        vocabulary_size: int,
        special: Sequence[str] = BERT_SPECIAL,
        unknown: str | None = "[UNK]",
        lower_case: bool = True,
        ties: Ties = "first",
    ) -> Self:
        """Start from characters, with and without ##, and merge until the vocabulary is full.

        `ties` as in `BPE.train`.
        """
        chunks: Counter[str] = Counter()
        for text in split_at_special(texts, special):
            chunks.update(cls.pattern.findall(text))
        words: Counter[str] = Counter()
        for chunk, count in chunks.items():
            for word in chunk.translate(basic_text(lower_case)).split():
                words[word] += count
        tokens = list(dict.fromkeys([*special, *([unknown] if unknown else [])]))
        letters = first_tokens(words, symbols, tokens)
        check_size(vocabulary_size, len(tokens), "special tokens, characters and ##characters")
        learn_merges(letters, tokens, vocabulary_size, ties=ties, join=join)
        return cls(tokens, special=special, unknown=unknown, lower_case=lower_case)

    @classmethod
    def from_file(cls, path: str | Path, *, lower_case: bool = True) -> Self:
        """Read BERT's vocab.txt: one token a line, in the order of their ids."""
        lines = Path(path).read_bytes().decode().removesuffix("\n").split("\n")
        tokens = [line.removesuffix("\r") for line in lines]
        special = [name for name in BERT_SPECIAL if name in tokens]
        return cls(tokens, special=special, lower_case=lower_case)

    def _pieces(self, word: str) -> list[Piece]:
        pieces = []
        for letters, places in self.basic_words(word):
            for number, start, end in self._longest_first(letters):
                pieces.append((number, places[start], places[end - 1] + 1))
        return pieces

    def _word_ids(self, word: str) -> list[int]:
        words = word.translate(self._basic).split()
        return [number for word in words for number, _, _ in self._longest_first(word)]

    def basic_words(self, text: str) -> Iterator[tuple[str, list[int]]]:
        """Yield the words of `text.translate(table).split()`, and where each letter came from."""
        letters, places = [], []
        for place, character in enumerate(f"{text} "):
            for letter in self._basic[ord(character)]:
                if letter != " ":
                    letters.append(letter)
                    places.append(place)
                elif letters:
                    yield "".join(letters), places
                    letters, places = [], []

    def _longest_first(self, word: str) -> list[Piece]:
        """Cut a word into the longest pieces there are, from the left, and never go back."""
        whole = self._ordinary.get(word)
        if whole is not None and len(word) <= LONGEST_WORD:
            return [(whole, 0, len(word))]
        pieces, start = [], 0
        while start < len(word) <= LONGEST_WORD:
            mark = CONTINUES if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self._ordinary.get(mark + word[start:end])
                if number is not None:
                    pieces.append((number, start, end))
                    start = end
                    break
            else:
                break
        return pieces if start == len(word) else [(self._unknown_id(word), 0, len(word))]

    def _text(self, ids: list[int]) -> str:
        return " ".join(self._spelled(ids)).replace(f" {CONTINUES}", "")

    def _state(self) -> dict[str, Any]:
        return {"lower_case": self.lower_case}


def symbols(word: str) -> list[str]:
    """Return the characters of a word, all but the first marked: "of" -> ["o", "##f"]."""
    return [word[0], *(CONTINUES + character for character in word[1:])]


def join(left: str, right: str) -> str:
    """Spell a merged token: "##o" and "##f" -> "##of"."""
    return left + right.removeprefix(CONTINUES)
