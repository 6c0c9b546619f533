"""What all tokenizers share: text is cut into words by a pattern, each word into pieces.

A subclass defines how words are cut (`pattern`) and how one word becomes pieces (`_pieces`), how
pieces become text again (`_text`), and how it is trained. This file does the rest: special tokens,
offsets, streams, files, and remembering the words that were seen. The book explains it in
"Tokenization".

Special tokens such as [CLS] steer a model, so untrusted text must not be able to write them:
`encode` takes "[CLS]" in a text for five ordinary characters, unless the caller names it in
`allowed_special`. In training texts they are borders, and nothing is learned from their spelling.
"""

from __future__ import annotations

import functools
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self

Special = Collection[str] | Literal["all"]
Piece = tuple[int, int, int]  # a token's id, and where it starts and ends in its word or text


class Tokenizer(ABC):
    """A vocabulary, and the two ways between text and ids."""

    pattern: re.Pattern[str]  # its matches are the words; what lies between them is dropped
    stops: tuple[str, ...] = (" ", "\n")  # whitespace that ends every word; (): unknown

    def __init__(
        self,
        vocabulary: Sequence[str | None],
        *,
        special: Iterable[str] = (),
        unknown: str | None = None,
        remember: int = 50_000,
    ) -> None:
        """Token i is `vocabulary[i]`; special tokens that are missing there follow at its end.

        Where that is None the id is not used: some vocabularies leave a gap before special tokens.
        `unknown` is the special token for what the vocabulary cannot write; without one that is an
        error. The ids of up to `remember` words are kept, so that a frequent word costs one lookup.
        """
        names = list(dict.fromkeys([*special, *([unknown] if unknown is not None else [])]))
        if not all(names):
            raise ValueError("a special token must not be the empty string")
        self._tokens = list(vocabulary)
        self._tokens += [name for name in names if name not in set(self._tokens)]
        used = [(n, token) for n, token in enumerate(self._tokens) if token is not None]
        self._ids = {token: number for number, token in used}
        if len(self._ids) < len(used):
            twice = next(token for number, token in used if self._ids[token] != number)
            raise ValueError(f"every token must be in the vocabulary once, found {twice!r} twice")
        self.special = {name: self._ids[name] for name in names}
        self.unknown = unknown
        self._ordinary = {t: n for t, n in self._ids.items() if t not in self.special}
        self._words = Memory(self._word_ids, remember)

    # What a subclass defines.

    @classmethod
    @abstractmethod
    def train(
        cls, texts: Iterable[str], *, vocabulary_size: int, special: Sequence[str] = ()
    ) -> Self:
        """Learn a vocabulary of at most `vocabulary_size` tokens; special ones get the first ids.

        `texts` may be a generator: each text is read once and none is kept.
        """

    @abstractmethod
    def _pieces(self, word: str) -> list[Piece]:
        """Cut one match of `pattern` into pieces, with their places in it."""

    @abstractmethod
    def _text(self, ids: list[int]) -> str:
        """Write tokens as text."""

    def _word_ids(self, word: str) -> Sequence[int]:
        return [number for number, _, _ in self._pieces(word)]

    # Text to ids.

    def encode(self, text: str, *, allowed_special: Special = ()) -> list[int]:
        """Return the ids of the tokens of `text`.

        Special tokens are recognised where `allowed_special` names them ("all" for every one of
        them; the longest first where they overlap) and are never split. All others are plain text.
        """
        _check_text(text)
        ids: list[int] = []
        for number, start, end in self._segments(text, self._special_pattern(allowed_special)):
            if number is None:
                words = self.pattern.findall(text[start:end])
                ids.extend(chain.from_iterable(map(self._words.__getitem__, words)))
            else:
                ids.append(number)
        return ids

    def encode_with_offsets(
        self, text: str, *, allowed_special: Special = ()
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the ids, and for each the span of characters `text[start:end]` it stands for."""
        _check_text(text)
        ids, spans = [], []
        for number, start, end in self._segments(text, self._special_pattern(allowed_special)):
            if number is not None:
                ids.append(number)
                spans.append((start, end))
                continue
            for match in self.pattern.finditer(text[start:end]):
                at = start + match.start()
                for piece, first, last in self._pieces(match.group()):
                    ids.append(piece)
                    spans.append((at + first, at + last))
        return ids, spans

    def encode_iterable(
        self, chunks: Iterable[str], *, allowed_special: Special = ()
    ) -> Iterator[int]:
        """Yield the ids of the chunks' joined text, one chunk after the other, in flat memory.

        Chunks may be lines of a file or cut anywhere: a word, or a special token, that goes on in
        the next chunk waits for it. The ids equal `encode("".join(chunks))`. Text is held until
        white space ends a word in it, so a text without any is held whole.
        """
        if not self.stops:  # it is not known where a cut is safe
            yield from self.encode("".join(chunks), allowed_special=allowed_special)
            return
        special = self._special_pattern(allowed_special)
        longest = max(map(len, self._allowed(allowed_special)), default=1)
        rest = ""
        for chunk in chunks:
            _check_text(chunk)
            rest += chunk
            # A special token that starts before `limit` is complete, whatever the next chunk says.
            limit = len(rest) - longest + 1
            cut = self._safe_cut(rest, limit, special)
            if cut:
                yield from self.encode(rest[:cut], allowed_special=allowed_special)
                rest = rest[cut:]
        yield from self.encode(rest, allowed_special=allowed_special)

    def _safe_cut(self, text: str, limit: int, special: re.Pattern[str] | None) -> int:
        """Return the last place up to `limit` where no word and no special token is cut, or 0."""
        at = min(limit, len(text))
        while (at := max(text.rfind(stop, 0, max(at, 0)) for stop in self.stops)) > 0:
            if not text[at - 1].isspace():  # before a run of whitespace, never inside it
                break
        if special is not None and at > 0:
            for match in special.finditer(text):
                if match.start() < at < match.end():
                    return match.end()
        return max(at, 0)

    def _segments(
        self, text: str, special: re.Pattern[str] | None
    ) -> Iterator[tuple[int | None, int, int]]:
        """Yield (id, start, end) of special tokens and (None, start, end) of what is between."""
        done = 0
        if special is not None:
            for match in special.finditer(text):
                if match.start() > done:
                    yield None, done, match.start()
                yield self.special[match.group()], match.start(), match.end()
                done = match.end()
        if done < len(text):
            yield None, done, len(text)

    def _allowed(self, allowed: Special) -> Collection[str]:
        if isinstance(allowed, str):
            if allowed != "all":
                raise TypeError(
                    f"allowed_special must be 'all' or a set of special tokens, found {allowed!r}"
                )
            return self.special
        for name in allowed:
            if name not in self.special:
                raise ValueError(
                    f"{name!r} is not a special token of this tokenizer; "
                    f"it has {', '.join(map(repr, self.special)) or 'none'}"
                )
        return allowed

    def _special_pattern(self, allowed: Special) -> re.Pattern[str] | None:
        return _border_pattern(frozenset(self._allowed(allowed))) if allowed else None

    def tokens(self, text: str, *, allowed_special: Special = ()) -> list[str]:
        """Return the tokens of `text` as strings, to look at."""
        ids = self.encode(text, allowed_special=allowed_special)
        return self._spelled(ids)

    def _spelled(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens of ids that are used."""
        return [token for number in ids if (token := self._tokens[number]) is not None]

    # Ids to text.

    def decode(self, ids: Iterable[int], *, skip_special: bool = False) -> str:
        """Return the text of `ids`; `skip_special` leaves the special tokens out."""
        numbers = [self._check_id(number) for number in ids]
        if skip_special:
            hidden = set(self.special.values())
            numbers = [number for number in numbers if number not in hidden]
        return self._text(numbers)

    # The vocabulary.

    def __len__(self) -> int:
        """How many vectors an embedding needs: one for each id, those of a gap included."""
        return len(self._tokens)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} tokens, {len(self.special)} special>"

    def token_to_id(self, token: str) -> int:
        """Return the id of a token, special or not."""
        if token not in self._ids:
            raise ValueError(f"{token!r} is not a token of this vocabulary of {len(self)}")
        return self._ids[token]

    def id_to_token(self, number: int) -> str:
        """Return the token of an id."""
        return self._spelled([self._check_id(number)])[0]

    def _check_id(self, number: int) -> int:
        if not 0 <= number < len(self._tokens) or self._tokens[number] is None:
            raise ValueError(f"token id {number} is not in this vocabulary of {len(self)} tokens")
        return number

    def _unknown_id(self, word: str) -> int:
        """Return the id of the unknown token, or say what it would have stood for."""
        if self.unknown is None:
            points = " ".join(f"U+{ord(character):04X}" for character in word)
            raise ValueError(
                f"the vocabulary cannot write {word!r} ({points}) "
                "and this tokenizer has no unknown token"
            )
        return self.special[self.unknown]

    # Files.

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as JSON."""
        text = json.dumps(self.as_json(), ensure_ascii=False, indent=0)
        Path(path).write_text(text, encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        """Return what `save` writes and `load` reads."""
        return {
            "tokenizer": type(self).__name__,
            "vocabulary": self._tokens,
            "special": list(self.special),
            "unknown": self.unknown,
            **self._state(),
        }

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote, with the class that wrote it."""
        state = json.loads(Path(path).read_text(encoding="utf-8"))
        kind = state.pop("tokenizer", None) if isinstance(state, dict) else None
        if kind != cls.__name__:
            raise ValueError(f"{Path(path).name} holds a {kind}, expected a {cls.__name__}")
        return cls._from_state(state)

    def _state(self) -> dict[str, Any]:
        """Return what a subclass needs beside the vocabulary."""
        return {}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        return cls(state.pop("vocabulary"), **state)


class Memory(dict[str, Sequence[int]]):
    """The ids of words seen before. When full it forgets everything: the frequent soon return."""

    LONGEST = 64  # longer words are rare and would fill the memory

    def __init__(self, ids_of: Any, size: int) -> None:
        super().__init__()
        self.ids_of, self.size = ids_of, size

    def __missing__(self, word: str) -> Sequence[int]:
        ids = self.ids_of(word)
        if len(word) <= self.LONGEST:
            if len(self) >= self.size:
                self.clear()
            self[word] = ids
        return ids


def _check_text(text: str) -> None:
    """Raise unless `text` is a string that Unicode can encode."""
    if not isinstance(text, str):
        raise TypeError(f"a text must be a string, found {type(text).__name__}")
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text holds a lone surrogate, U+{ord(text[error.start]):04X} at {error.start}, "
            "which is half a character; read the file with the right encoding, or write "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
        ) from None


@functools.lru_cache(maxsize=100)
def _border_pattern(special: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern of the special tokens, the longest first, None without any."""
    names = sorted(special, key=lambda name: (-len(name), name))
    return re.compile("|".join(map(re.escape, names))) if names else None


def split_at_special(texts: Iterable[str], special: Iterable[str]) -> Iterator[str]:
    """Yield what lies between the special tokens of training texts."""
    if isinstance(texts, str):
        raise TypeError("texts must be a list or another iterable of strings, found one string")
    border = _border_pattern(frozenset(special))
    for text in texts:
        _check_text(text)
        yield from border.split(text) if border else [text]


def check_size(vocabulary_size: int, needed: int, what: str) -> None:
    """Raise unless the vocabulary has room for what it needs before anything is learned."""
    if not isinstance(vocabulary_size, int) or isinstance(vocabulary_size, bool):
        raise TypeError(f"vocabulary_size must be a whole number, found {vocabulary_size!r}")
    if vocabulary_size < needed:
        raise ValueError(
            f"vocabulary_size must be at least {needed} ({what}), found {vocabulary_size}"
        )


def most_frequent(
    texts: Iterable[str],
    split: Callable[[str], Iterable[str]],
    *,
    vocabulary_size: int,
    special: Sequence[str],
    unknown: str | None,
) -> tuple[list[str], list[str]]:
    """Return the special tokens, and as many of the most frequent words as have room beside them.

    `split` cuts a text into its words.
    """
    names = list(dict.fromkeys([*special, *([unknown] if unknown else [])]))
    check_size(vocabulary_size, len(names), "the special tokens")
    counts: Counter[str] = Counter()
    for text in split_at_special(texts, special):
        counts.update(split(text))
    ranking = sorted(counts, key=lambda word: (-counts[word], word))
    words = [word for word in ranking if word not in names]
    return names, words[: vocabulary_size - len(names)]
