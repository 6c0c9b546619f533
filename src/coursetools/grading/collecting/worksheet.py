"""Moodle's worksheet for grading offline, in whatever language it was downloaded.

Moodle writes the headers of the worksheet in the language of whoever downloads it, but its columns
always in one order: the participant, perhaps a name and what else is known of people, the status,
the grade and its maximum, perhaps the state of marking, whether the grade can be changed, the time
of handing in, perhaps the text that was typed in, the time of the grade, the comment. So a
worksheet with other words than the English ones is recognised by what stands in its columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coursetools.grading.collecting import date_formats
from coursetools.grading.collecting.columns import MEANING
from coursetools.settings.csv_tables import Table

PARTICIPANT = re.compile(r"(\D*[^\W\d_]\D*)(\d+)")  # "Participant 501", "Teilnehmer/in501"
NUMBER = re.compile(r"\d+([.,]\d+)?")
NOTHING = ("-", "–")
FEWEST = 7  # columns of a worksheet, with blind marking and without times of submission
SHORTEST = 5  # letters of the word before a participant's number, which an id seldom has
NO = (
    "no non nein não nao ne nie nee nej nei ei nem nu hayır hayir нет ні не όχι いいえ 否 "
    "아니오 아니요 لا לא không tidak ez"
)


@dataclass(frozen=True, kw_only=True)
class Worksheet:
    """Where a worksheet has what; None is what it does not have."""

    who: int
    grade: int
    most: int | None
    locked: int | None  # "Grade can be changed"
    submitted: int | None
    comment: int | None
    name: int | None = None
    email: int | None = None
    id: int | None = None
    unclear: tuple[str, ...] = ()  # columns of which one may be the comment

    def people(self) -> dict[str, int]:
        """Return the columns that say who somebody is."""
        columns = {"participant": self.who, "name": self.name, "email": self.email, "id": self.id}
        return {meaning: at for meaning, at in columns.items() if at is not None}


def find(table: Table) -> Worksheet | None:
    """Return the columns of a worksheet, None where the table is none, or is not clear."""
    return by_words(table) or by_shape(table)


def by_words(table: Table) -> Worksheet | None:
    """Return the columns of a worksheet in English, whatever else was taken out of it."""
    words = table.words()
    where = {word: words.index(word) for word in reversed(words)}
    if not {"identifier", "grade", "last_modified_grade"} <= set(where):
        return None
    return Worksheet(
        who=where["identifier"],
        grade=where["grade"],
        most=where.get("maximum_grade"),
        locked=where.get("grade_can_be_changed"),
        submitted=where.get("last_modified_submission"),
        comment=where.get("feedback_comments"),
        name=where.get("full_name"),
        email=where.get("email_address", where.get("email")),
        id=where.get("id_number"),
    )


def by_shape(table: Table) -> Worksheet | None:
    """Return the columns of a worksheet in any language, where there is one way to read them."""
    readings = list(_readings(table)) if _is_of_participants(table) else []
    if len(readings) != 1:
        return None
    most, changed, graded = readings[0]
    comments = range(graded + 1, len(table.header))
    return Worksheet(
        who=0,
        grade=most - 1,
        most=most,
        locked=changed,
        submitted=changed + 1,
        comment=comments[0] if len(comments) == 1 else None,
        unclear=tuple(table.header[at] for at in comments) if len(comments) > 1 else (),
        **_people(table, most - 1),
    )


def begins_as_one(table: Table) -> bool:
    """Return whether the first column is a worksheet's: Identifier, or "Teilnehmer/in501" below ID.

    Ids of a class list may be letters and numbers as well; but a worksheet is wide, its word is
    long, and its header is no other word for an id.
    """
    word = table.words()[0]
    if word == "identifier":
        return True
    if len(table.header) < FEWEST or (word != "id" and MEANING.get(word) == "id"):
        return False
    return _is_of_participants(table) and len(_cells(table, 0)[0].rstrip("0123456789 ")) >= SHORTEST


def submissions_in(table: Table, sheet: Worksheet) -> int | None:
    """Return how many rows have a time of submission, None without such a column."""
    if sheet.submitted is None:
        return None
    return sum(cell not in ("", *NOTHING) for cell in _cells(table, sheet.submitted))


def unclear(table: Table) -> str:
    """Say why a table with participants is not clear, "" where it has none."""
    if "identifier" not in table.words()[:1] and not _is_of_participants(table):
        return ""
    columns = range(1, len(table.header))
    numbers = _names(table, [at for at in columns if _all(table, at, NUMBER.fullmatch)])
    times = _names(table, [at for at in columns if _all(table, at, _is_time)])
    return (
        f"{table.path} lists Moodle's participants, but it is not clear which columns are the "
        "grade and the times. Expected: one column of numbers (the maximum) after the grade, found "
        f"{numbers}; then two columns of times, found {times}. Download the worksheet again and "
        "leave its columns unchanged, or download it in English"
    )


def is_locked(cell: str) -> bool:
    """Return whether Moodle says that a grade cannot be changed, in one of many languages."""
    return cell.strip().casefold() in NO.split()


def _readings(table: Table) -> Iterator[tuple[int, int, int]]:
    """Yield each way to read the columns: of the maximum, of "can be changed", of the last time."""
    last = len(table.header)
    for most in range(2, last - 2):
        if not (_all(table, most, NUMBER.fullmatch) and _all(table, most - 1, _is_grade)):
            continue
        for changed in (most + 1, most + 2):
            if changed + 2 >= last or not _all(table, most + 1, _is_words):
                continue
            two = len({cell for cell in _cells(table, changed)}) <= 2
            if not (two and _all(table, changed, _is_words) and _all(table, changed + 1, _is_time)):
                continue
            for graded in range(changed + 2, last):
                if _all(table, graded, _is_time):
                    yield most, changed, graded


def _people(table: Table, grade: int) -> dict[str, int]:
    """Return where names, addresses and ids are; with blind marking there are none."""
    columns: dict[str, int] = {}
    names = _cells(table, 1)
    if grade > 2 and 2 * len(set(names)) > len(names):  # else it is the status
        columns["name"] = 1
    between = range(2, grade)
    for at in between:
        if any(_cells(table, at)) and _all(table, at, lambda cell: not cell or "@" in cell):
            columns.setdefault("email", at)
    ids = [at for at in between if MEANING.get(table.words()[at]) == "id"]
    ids = ids or [at for at in between if _is_of_ids(table, at)]
    if len(ids) == 1:
        columns["id"] = ids[0]
    return columns


def _is_of_participants(table: Table) -> bool:
    """Return whether the first column has a number for each, with one word before all of them."""
    matches = [PARTICIPANT.fullmatch(cell) for cell in _cells(table, 0)]
    words = {match[1] for match in matches if match}
    numbers = {match[2] for match in matches if match}
    return all(matches) and len(words) == 1 and len(numbers) == len(matches)


def _is_of_ids(table: Table, at: int) -> bool:
    cells = _cells(table, at)
    return len(set(cells)) == len(cells) and _all(
        table, at, re.compile(r"[^\s@]*\d[^\s@]*").fullmatch
    )


def _is_grade(cell: str) -> bool:
    return cell in ("", *NOTHING) or bool(NUMBER.fullmatch(cell))


def _is_words(cell: str) -> bool:
    return bool(re.search(r"[^\W\d_]", cell)) and not re.search(r"\d", cell)


def _is_time(cell: str) -> bool:
    return cell in NOTHING or date_formats.is_like_a_time(cell)


def _all(table: Table, at: int, holds: Callable[[str], object]) -> bool:
    return all(map(holds, _cells(table, at)))


def _cells(table: Table, at: int) -> list[str]:
    return [row[at].strip() if at < len(row) else "" for _, row in table.rows]


def _names(table: Table, columns: list[int]) -> str:
    return ", ".join(repr(table.header[at]) for at in columns) or "none"
