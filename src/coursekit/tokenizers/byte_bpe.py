"""Byte-level BPE: 256 bytes are the alphabet, so no text is unknown (GPT-2, RoBERTa, BART).

Radford et al. (2019), section 2.2. A word is spelled in the bytes of its UTF-8 form, and merges are
learned over these as in `merges.py`. The pattern keeps each space with the word after it, so text
comes back exactly, and keeps letters, digits and punctuation apart, so that no merge is spent on
"dog." beside "dog". Later models cut otherwise, and the pattern can be chosen: `patterns.py`.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from coursekit.tokenizers.base import Piece, Tokenizer, check_size, split_at_special
from coursekit.tokenizers.merges import Ties, WholeTokens, apply_merges, learn_merges, ranked
from coursekit.tokenizers.patterns import STOPS, Pattern, find_pattern


@functools.cache
def printable_bytes() -> dict[int, str]:
    """Return GPT-2's way to show a byte: itself if it prints, else a letter from U+0100 on."""
    prints = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1)]
    prints += range(ord("®"), ord("ÿ") + 1)
    hidden = [byte for byte in range(256) if byte not in prints]
    shown = {byte: chr(byte) for byte in prints}
    return shown | {byte: chr(256 + place) for place, byte in enumerate(hidden)}


def show(token: bytes) -> str:
    """Write a token as GPT-2's files do: b" the" -> "Ġthe"."""
    return "".join(map(printable_bytes().__getitem__, token))


@functools.cache
def _bytes_of_printable() -> dict[str, int]:
    return {character: byte for byte, character in printable_bytes().items()}


def unshow(shown: str) -> bytes:
    """Read a token of GPT-2's files: "Ġthe" -> b" the"."""
    try:
        return bytes(map(_bytes_of_printable().__getitem__, shown))
    except KeyError as error:
        raise ValueError(
            f"{shown!r} is not written in the 256 characters that stand for bytes: "
            f"{error.args[0]!r} is none of them; is it a special token that was not named?"
        ) from None


class ByteBPE(Tokenizer):
    """BPE over bytes.

    `tokens` and `id_to_token` show bytes as GPT-2's files do ("Ġthe"); `vocabulary` and `merges`
    hold the bytes themselves. A token may be part of a character: its span then covers it whole,
    and decoding it alone gives "\\ufffd".
    """

    def __init__(
        self,
        vocabulary: Mapping[int, bytes],
        merges: Iterable[tuple[bytes, bytes]],
        special: Iterable[str] | Mapping[str, int] = (),
        *,
        pattern: Pattern = "gpt2",
        remember: int = 50_000,
    ) -> None:
        """`merges` are pairs of tokens, the earliest first; all 256 bytes must be tokens.

        `special` may say which ids its tokens have; these may leave a gap after the others. The
        `pattern` is "gpt2", "cl100k" (GPT-4) or one of your own for `re`, without groups; what it
        does not match is dropped.
        """
        vocabulary = _with_special(vocabulary, special)
        special = list(dict.fromkeys(special))
        names = {name.encode(): name for name in special}
        shown: list[str | None] = [None] * (max(vocabulary, default=-1) + 1)
        for number, token in vocabulary.items():
            shown[number] = names.get(token) or show(token)
        super().__init__(shown, special=special, remember=remember)
        self.pattern_name, self.pattern = pattern, find_pattern(pattern)
        self.stops = STOPS.get(pattern, ())
        self.vocabulary = dict(sorted(vocabulary.items()))
        self.vocabulary |= {number: name.encode() for name, number in self.special.items()}
        self.merges = [(left, right) for left, right in merges]
        ids = {token: number for number, token in self.vocabulary.items()}
        if missing := [byte for byte in range(256) if bytes([byte]) not in ids]:
            raise ValueError(f"all 256 bytes must be tokens, but {missing[0]:#04x} is not one")
        for left, right in self.merges:
            if not {left, right, left + right} <= ids.keys():
                raise ValueError(f"the merge of {left!r} and {right!r} names no three tokens")
        self._ranked = ranked((ids[a], ids[b], ids[a + b]) for a, b in self.merges)
        self._letters = {byte: chr(ids[bytes([byte])]) for byte in range(256)}
        self._whole = WholeTokens(self._ranked, self._letters.values())
        self._by_bytes = {token: chr(number) for token, number in ids.items()}
        self._longest = max(map(len, ids))

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        vocabulary_size: int,
        special: Sequence[str] = (),
        ties: Ties = "first",
        pattern: Pattern = "gpt2",
    ) -> Self:
        """Start from the 256 bytes and merge the most frequent pair until the vocabulary is full.

        Pairs never cross the words of the pattern. Of equally frequent pairs, "first" takes the one
        of the oldest tokens (the `tokenizers` package does), "greatest" the lexicographically
        greatest pair of byte strings.
        """
        special = list(dict.fromkeys(special))
        check_size(vocabulary_size, 256 + len(special), "256 bytes and the special tokens")
        words: Counter[str] = Counter()
        cut = find_pattern(pattern)
        for text in split_at_special(texts, special):
            words.update(cut.findall(text))
        shown = sorted(printable_bytes().items(), key=lambda item: item[1])  # the usual order
        tokens = [name.encode() for name in special] + [bytes([byte]) for byte, _ in shown]
        letters = {byte: chr(len(special) + i) for i, (byte, _) in enumerate(shown)}
        pairs = learn_merges(
            {spell(word, letters): count for word, count in words.items()},
            tokens,
            vocabulary_size,
            ties=ties,
        )
        merges = [(tokens[ord(left)], tokens[ord(right)]) for left, right in map(tuple, pairs)]
        return cls(dict(enumerate(tokens)), merges, special, pattern=pattern)

    @classmethod
    def from_files(
        cls,
        vocabulary: str | Path,
        merges: str | Path,
        special: Iterable[str] = ("<|endoftext|>",),
        *,
        pattern: Pattern = "gpt2",
    ) -> Self:
        """Read GPT-2's two files: encoder.json (or vocab.json) and vocab.bpe (or merges.txt)."""
        ids = json.loads(Path(vocabulary).read_text(encoding="utf-8"))
        special = list(special)
        tokens = {n: t.encode() if t in special else unshow(t) for t, n in ids.items()}
        lines = Path(merges).read_text(encoding="utf-8").split("\n")
        lines = [line for line in lines if line and not line.startswith("#version")]
        return cls(tokens, [read_merge(line) for line in lines], special, pattern=pattern)

    def _word_ids(self, word: str) -> list[int]:
        spelled = word.encode()
        token = self._by_bytes.get(spelled)
        if token is not None and self._whole[token]:
            return [ord(token)]
        if two := self._two_tokens(spelled):
            return list(map(ord, two))
        return list(map(ord, apply_merges(spell(word, self._letters), self._ranked)))

    def _two_tokens(self, spelled: bytes) -> tuple[str, str] | None:
        """Return the two tokens that a word becomes, None if it becomes more."""
        find, whole = self._by_bytes.get, self._whole
        for cut in range(max(1, len(spelled) - self._longest), len(spelled)):
            right = find(spelled[cut:])
            if right is not None and whole[right]:
                left = find(spelled[:cut])
                if left is not None and whole[left] and whole.apart(left, right):
                    return left, right
        return None

    def _pieces(self, word: str) -> list[Piece]:
        # the character that each byte belongs to
        place = [i for i, character in enumerate(word) for _ in character.encode()]
        pieces, start = [], 0
        for number in self._word_ids(word):
            end = start + len(self.vocabulary[number])
            pieces.append((number, place[start], place[end - 1] + 1))
            start = end
        return pieces

    def _text(self, ids: list[int]) -> str:
        return b"".join(self.vocabulary[number] for number in ids).decode(errors="replace")

    def _state(self) -> dict[str, Any]:
        pattern = self.pattern_name
        return {
            "merges": [f"{show(left)} {show(right)}" for left, right in self.merges],
            "pattern": pattern if isinstance(pattern, str) else pattern.pattern,
        }

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        special = state["special"]
        tokens = {
            number: token.encode() if token in special else unshow(token)
            for number, token in enumerate(state["vocabulary"])
            if token is not None
        }
        pattern = state.get("pattern", "gpt2")  # files of before it could be chosen
        return cls(tokens, map(read_merge, state["merges"]), special, pattern=pattern)


def _with_special(
    vocabulary: Mapping[int, bytes], special: Iterable[str] | Mapping[str, int]
) -> dict[int, bytes]:
    """Add the special tokens that come with an id, and refuse gaps between ordinary tokens."""
    whole = dict(vocabulary)
    if isinstance(special, Mapping):
        for name, number in special.items():
            if whole.setdefault(number, name.encode()) != name.encode():
                raise ValueError(
                    f"special token {name!r} cannot have the id {number}, which is that of "
                    f"{whole[number]!r}"
                )
    names = {name.encode() for name in special}
    last = max((number for number, token in whole.items() if token not in names), default=-1)
    if min(whole, default=0) < 0 or any(number not in whole for number in range(last)):
        ordinary = sum(token not in names for token in whole.values())
        raise ValueError(
            f"{ordinary} tokens must have the ids from 0 to {ordinary - 1} without a gap; special "
            "ones may leave one after them"
        )
    return whole


def spell(word: str, letters: Mapping[int, str]) -> str:
    """Write the bytes of a word in the private alphabet of `merges.py`."""
    return word.encode().decode("latin-1").translate(letters)


def read_merge(line: str) -> tuple[bytes, bytes]:
    """Read a line of a merges file: "Ġ t" -> (b" ", b"t")."""
    left, _, right = line.partition(" ")
    return unshow(left), unshow(right)
