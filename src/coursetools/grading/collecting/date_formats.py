"""Times as people and platforms write them, with months and weekdays in the words of any language.

Moodle writes "Freitag, 20. November 2026, 11:59" in the language of whoever downloads a table, and
does not say which that is. So a column is read in every language that knows all of its words, and
whose weekdays are those of the dates. If these languages agree, that is the time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from coursekit._base.errors import CourseError

NONE = {"", "-", "–", "none", "never", "n/a"}
CLOCK = re.compile(r"(?<![\d.])(\d\d?)\s?[:.h]\s?(\d\d)(?:[:.]\d\d)?(?![\d.])")
YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")
NUMBERED = re.compile(r"(20\d\d)\s*[年년]\s*(\d\d?)\s*[月월]\s*(\d\d?)\s*[日일]")
WORD = re.compile(r"[^\W\d_]+")
NOON = (("am", 0), ("pm", 12))  # hours to be added
BETWEEN = "de del d den der um uhr klo kl at ob a à às as las le alle ore la v o в г р года року"


@dataclass(frozen=True)
class Language:
    """The words in which one language writes a date."""

    months: dict[str, int]
    weekdays: dict[str, int]
    halves: dict[str, int]  # of the day: hours to be added

    @staticmethod
    @cache
    def all() -> tuple[Language, ...]:
        """Return every language that Babel knows; takes a second or two, once."""
        from babel import Locale, localedata

        names = [name for name in localedata.locale_identifiers() if "_" not in name]
        return tuple(Language.of(Locale.parse(name)) for name in sorted(names))

    @classmethod
    def of(cls, locale: Any) -> Language:
        """Return the words of one of Babel's locales."""
        months: dict[str, int] = {}
        days: dict[str, int] = {}
        halves = dict(NOON)
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                months |= {plain(word): n for n, word in locale.months[form][width].items()}
                days |= {plain(word): n for n, word in locale.days[form][width].items()}
                words = locale.day_periods.get(form, {}).get(width, {})
                halves |= {plain(words[half]): h for half, h in NOON if half in words}
        return cls(*map(_longest_first, (months, days, halves)))

    def read(self, text: str) -> datetime | None:
        """Return the time that a text says in this language, None if it does not say one."""
        text, clock = _taken(text, CLOCK)
        if clock is None:
            return None
        hour, minute = int(clock[1]), int(clock[2])
        text, numbered = _taken(text, NUMBERED)
        if numbered is not None:
            year, month, day = map(int, numbered.groups())
        else:
            text, year_match = _taken(text, YEAR)
            text, named = _known(text, self.months)
            days = re.findall(r"\d+", text)
            if year_match is None or named is None or len(days) != 1:
                return None
            year, month, day = int(year_match[0]), named, int(days[0])
            text = re.sub(r"\d+", " ", text)
        text, weekday = _known(text, self.weekdays)
        text, half = _known(text, self.halves)
        if half is not None:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + half
        if not set(BETWEEN.split()).issuperset(WORD.findall(text)):
            return None
        try:
            time = datetime(year, month, day, hour, minute)
        except ValueError:
            return None
        return time if weekday in (None, time.weekday()) else None


def times_in(cells: Sequence[tuple[str, str]]) -> list[datetime | None]:
    """Return the times of a column, None where there is none; each cell is (where, text)."""
    times = [None if text.casefold() in NONE else _usual(text) for _, text in cells]
    rest = [at for at, (_, text) in enumerate(cells) if times[at] is None and text]
    rest = [at for at in rest if cells[at][1].casefold() not in NONE]
    if rest:
        for at, time in zip(rest, _in_words([cells[at] for at in rest])):
            times[at] = time
    return times


def is_like_a_time(text: str) -> bool:
    """Return whether a text has a year and an hour, whatever the words between them."""
    text = plain(text)
    return bool(re.search(r"\d{4}", text) and CLOCK.search(text))


def plain(text: str) -> str:
    """Return text in small letters without full stops, with one kind of digit and of space."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    text = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in text)
    text = re.sub("[’ʼ]", "'", re.sub("[\u200e\u200f]", "", text))
    return " ".join(re.sub(r"(?<=[^\W\d_])\.", "", text).split())


def _in_words(cells: Sequence[tuple[str, str]]) -> list[datetime]:
    """Read cells in the languages in which all of them are times."""
    texts = [plain(text) for _, text in cells]
    readings: set[tuple[datetime, ...]] = set()
    if all(map(is_like_a_time, texts)):
        for language in Language.all():
            times = []
            for text in texts:
                time = language.read(text)
                if time is None:
                    break
                times.append(time)
            else:
                readings.add(tuple(times))
    if len(readings) == 1:
        return list(readings.pop())
    if readings:
        at = next(at for at in range(len(cells)) if len({times[at] for times in readings}) > 1)
        where, text = cells[at]
        may_be = " or ".join(sorted({f"{times[at]:%Y-%m-%d %H:%M}" for times in readings}))
        raise CourseError(
            f"{where}: {text[:60]!r} may mean {may_be}, depending on the language; write "
            "it as 2026-10-01 23:59"
        )
    at = next((at for at in range(len(cells)) if not _is_read_alone(texts[at])), 0)
    where, text = cells[at]
    if _is_day_or_month(text):
        raise CourseError(
            f"{where}: {text[:60]!r} does not say which number is the day and which the month; "
            "write it as 2026-10-01 23:59"
        )
    raise CourseError(
        f"{where}: {text[:60]!r} is not a time; write it as 2026-10-01 23:59 or "
        "2026-10-01T23:59:00+02:00"
    )


def _is_read_alone(text: str) -> bool:
    return is_like_a_time(text) and any(one.read(text) for one in Language.all())


def _usual(text: str) -> datetime | None:
    """Return a time that is written in numbers or in English, None where it is not."""
    from dateutil import parser

    # A day alone is not taken for a time, nor 1/10 for October or for January.
    if _is_day_or_month(text) or not re.search(r"\d{4}", text) or not re.search(r"\d:\d\d", text):
        return None
    try:
        return parser.parse(text, tzinfos=_offset)
    except (ValueError, OverflowError):
        return None


def _is_day_or_month(text: str) -> bool:
    """Return whether a date begins with two numbers of which each may be the month."""
    day = re.match(r"(\d\d?)[./-](\d\d?)[./-]\d{4}", text)
    return bool(day and day[1] != day[2] and int(day[1]) < 13 and int(day[2]) < 13)


def _offset(name: str | None, seconds: int | None) -> int | None:
    """Return a zone's offset; of the zones' names only UTC means the same everywhere."""
    if seconds is None and name is not None:
        if name.upper() not in ("UTC", "GMT", "Z"):
            raise ValueError(name)
        return 0
    return seconds


def _longest_first(words: dict[str, int]) -> dict[str, int]:
    known = [item for item in words.items() if WORD.search(item[0])]  # some have numbers only
    return dict(sorted(known, key=lambda item: -len(item[0])))


def _taken(text: str, pattern: re.Pattern[str]) -> tuple[str, re.Match[str] | None]:
    """Return a text without what a pattern finds in it, and that; it must be there once."""
    matches = list(pattern.finditer(text))
    if len(matches) != 1:
        return text, None
    return f"{text[: matches[0].start()]} {text[matches[0].end() :]}", matches[0]


def _known(text: str, words: dict[str, int]) -> tuple[str, int | None]:
    """Return a text without the first of some words that is in it, and what that means."""
    for word, meaning in words.items():
        if word in text:
            match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
            if match:
                return f"{text[: match.start()]} {text[match.end() :]}", meaning
    return text, None
