"""Dates as people write them, and as machines do: a tiny translation task with known alignment.

"saturday 21 nov 2026" -> "2026-11-21". The target has one symbol for the year, one for the month
and one for the day, so we know for each of them the one source word that it comes from. A line may
hold several dates, and is then as long as we like. Everything is generated, nothing is downloaded.
The book uses it in "Attention kernels", where `RNNSearch` learns to align.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from coursekit.objectives.rows import pad_rows

YEARS = range(1980, 2030)
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FORMS = (
    "{day} {month} {year}",
    "{month} {day} , {year}",
    "{weekday} {day} {month} {year}",
    "{weekday} , {month} {nth} , {year}",
    "the {nth} of {month} {year}",
    "{day} . {number} . {year}",
)
BETWEEN = "and"  # between two dates of one line
SPLITS = {"train": (0.0, 0.8), "valid": (0.8, 0.9), "test": (0.9, 1.0)}  # shares of the days

PAD, START, END = 0, 1, 2
SPECIAL = ("<pad>", "<start>", "<end>")


def ordinal(number: int) -> str:
    """Write 1 as 1st, 2 as 2nd, 11 as 11th, 21 as 21st."""
    teen = 10 <= number % 100 <= 20
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


SOURCE_WORDS = (
    *SPECIAL,
    *(",", ".", "the", "of", BETWEEN),
    *dict.fromkeys(name for month in MONTHS for name in (month, month[:3])),  # "may" only once
    *(name for weekday in WEEKDAYS for name in (weekday, weekday[:3])),
    *map(str, range(1, 32)),
    *map(ordinal, range(1, 32)),
    *map(str, YEARS),
)
TARGET_SYMBOLS = (
    *SPECIAL,
    *map(str, YEARS),
    *(f"-{number:02d}" for number in range(1, 32)),  # "-11" is a month or a day
)
_SOURCE_IDS = {word: index for index, word in enumerate(SOURCE_WORDS)}
_TARGET_IDS = {symbol: index for index, symbol in enumerate(TARGET_SYMBOLS)}


@dataclass(frozen=True)
class Pair:
    """One line: source words, target symbols, and for each symbol the index of its source word."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[int, ...]


@dataclass(frozen=True)
class Batch:
    """Lines as token ids, filled up with `PAD` to the longest of them.

    source (B, S); target (B, T + 1), from `START` to `END`, so a decoder reads `target[:, :-1]` and
    predicts `target[:, 1:]`; alignment (B, T), −1 where a predicted symbol has no source word.
    """

    source: Tensor
    target: Tensor
    alignment: Tensor


@cache
def days(split: str) -> tuple[datetime.date, ...]:
    """Return the days of one split, always the same; no day is in two of them."""
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, found {split!r}")
    first = datetime.date(YEARS[0], 1, 1)
    count = (datetime.date(YEARS[-1] + 1, 1, 1) - first).days
    every = [first + datetime.timedelta(days=number) for number in range(count)]
    random.Random(2015).shuffle(every)
    start, stop = (round(share * count) for share in SPLITS[split])
    return tuple(every[start:stop])


def sample(split: str, count: int, *, dates: int | Sequence[int] = 1, seed: int = 0) -> list[Pair]:
    """Draw `count` lines from one split; each holds `dates` dates, or one of these numbers."""
    numbers = [dates] if isinstance(dates, int) else list(dates)
    if not numbers or min(numbers) < 1:
        raise ValueError(f"a line must hold at least one date, found dates={dates}")
    if count < 0:
        raise ValueError(f"count must be 0 or more, found {count}")
    pool, rng = days(split), random.Random(f"{split} {seed}")
    return [line(rng.choices(pool, k=rng.choice(numbers)), rng) for _ in range(count)]


def line(dates: Sequence[datetime.date], rng: random.Random) -> Pair:
    """Write dates one after the other, each in a form that `rng` draws."""
    source: list[str] = []
    target: list[str] = []
    alignment: list[int] = []
    for date in dates:
        if source:
            source.append(BETWEEN)
        month, weekday = MONTHS[date.month - 1], WEEKDAYS[date.weekday()]
        words = {
            "{day}": str(date.day),
            "{nth}": ordinal(date.day),
            "{month}": rng.choice((month, month[:3])),
            "{number}": str(date.month),
            "{weekday}": rng.choice((weekday, weekday[:3])),
            "{year}": str(date.year),
        }
        place: dict[str, int] = {}
        for field in rng.choice(FORMS).split():
            place[field] = len(source)
            source.append(words.get(field, field))
        target += [str(date.year), f"-{date.month:02d}", f"-{date.day:02d}"]
        for names in (("{year}",), ("{month}", "{number}"), ("{day}", "{nth}")):
            alignment += [place[name] for name in names if name in place]
    return Pair(tuple(source), tuple(target), tuple(alignment))


def encode(pairs: Sequence[Pair]) -> Batch:
    """Turn lines into one padded batch of token ids."""
    if not pairs:
        raise ValueError("a batch needs at least one line, found none")
    sources = [[_number(word, _SOURCE_IDS) for word in pair.source] for pair in pairs]
    targets = [[_number(symbol, _TARGET_IDS) for symbol in pair.target] for pair in pairs]
    return Batch(
        source=pad_rows(sources, PAD),
        target=pad_rows([[START, *target, END] for target in targets], PAD),
        alignment=pad_rows([[*pair.alignment, -1] for pair in pairs], -1),
    )


def decode(tokens: Tensor | Sequence[int]) -> str:
    """Write target ids (T,) as text, up to `END`: "2026-11-21 1984-05-03"."""
    text = ""
    for token in torch.as_tensor(tokens).tolist():
        if token == END:
            break
        if not 0 <= token < len(TARGET_SYMBOLS):
            raise ValueError(f"target ids lie between 0 and {len(TARGET_SYMBOLS) - 1}, not {token}")
        symbol = TARGET_SYMBOLS[token]
        text += symbol if symbol.startswith("-") or not text else " " + symbol
    return text


def _number(word: str, ids: dict[str, int]) -> int:
    if word not in ids:
        raise ValueError(f"{word!r} is not in the vocabulary of the dates")
    return ids[word]
