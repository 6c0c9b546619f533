"""Whether a worksheet is of this assignment, and whether its participant numbers contradict.

Moodle numbers participants anew for each assignment, and a worksheet of another one has the same
people in it. So its file's name, and the numbers that are known from submissions, are looked at:
of this assignment, in the delivery too, and of the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from coursekit._base.errors import CourseError
from coursetools.grading.collecting.identify import Names
from coursetools.grading.collecting.layouts import MOODLE, Candidate, Refused, plain_name
from coursetools.grading.collecting.roster import ClassList
from coursetools.grading.collecting.times import HandIn
from coursetools.grading.records.attempts import attempts_of
from coursetools.grading.records.folders import Folders
from coursetools.text import one_line

Note = Callable[[str], None]
Known = dict[str, dict[str, str]]  # number -> whose it is, by id or words of a name -> as shown
NUMBERED = re.compile(r"([a-z]+)0*(\d+)_(\w+)")  # a05_positions
EXAMPLES = 3


def own_rows(
    folders: Folders,
    path: Path,
    rows: Sequence[HandIn],
    listed: ClassList,
    delivery: Iterable[Candidate | Refused] = (),
    note: Note = lambda text: None,
) -> list[HandIn]:
    """Return the rows of a worksheet but those that contradict what was submitted, named by `note`.

    A worksheet of another assignment, or one that contradicts itself, is refused. Other tables of
    times have no participants and pass.
    """
    numbered = [row for row in rows if row.number and not row.lasting]
    if not numbered:
        return list(rows)
    _refuse_file_of_another(folders, path)
    names = Names(folders, listed)
    people = {row.where: _person(row, names) for row in numbered}
    _refuse_contradictions(path, numbered, people)
    known = _known(folders, names, delivery)
    agreeing, bad = _compare(numbered, people, known)
    sheet = {row.number for row in numbered}
    strangers = not agreeing and known and not sheet & known.keys()
    if len(bad) > agreeing or (strangers and not any(people.values())):
        raise CourseError(_other_numbers(folders, path, bad, known, sheet))
    if not agreeing:
        _refuse_numbers_of_another(folders, names, path, numbered, people)
    for text in bad.values():
        note(f"{text}; line left out")
    return [row for row in rows if row.where not in bad]


def _refuse_file_of_another(folders: Folders, path: Path) -> None:
    """Raise where the file's name names other assignments of the course and not this one."""
    others = named_in(path.stem, folders.course.assignments)
    if others and folders.name not in others:
        raise CourseError(
            f"{path} is named after {' or '.join(others)}, but the worksheet of {folders.name} is "
            f"expected. Download that of {folders.name}; if this is the right one, rename the file"
        )


def named_in(stem: str, assignments: Iterable[str]) -> list[str]:
    """Return the assignments that a file's name has: whole, or as "a5" or "Assignment 5"."""
    text, found = stem.casefold(), set()
    longest_first = sorted(assignments, key=len, reverse=True)  # ps1 is a part of ps1_more
    words = [(name, re.escape(name.casefold())) for name in longest_first]
    for name in longest_first:
        if match := NUMBERED.fullmatch(name.casefold()):
            short = rf"(?:{match[1]}|assignment|aufgabe|übung|exercise)[ _-]*0*{match[2]}"
            words.append((name, short))
    for name, word in words:
        text, count = re.subn(rf"(?<![^\W_])(?:{word})(?![^\W_])", " ", text)
        found |= {name} if count else set()
    return sorted(found)


def _person(row: HandIn, names: Names) -> dict[str, str]:
    """Return by what somebody in a row is known: the id on the class list, the words of a name."""
    student, _ = names.row(row)
    shown = _shown(row.name or student or row.email or row.id, student)
    keys = (student, row.id, _words(row.name))
    return {key: shown for key in keys if key}


def _known(folders: Folders, names: Names, delivery: Iterable[Candidate | Refused] = ()) -> Known:
    """Return whose each participant number is by what was submitted through Moodle."""
    known: Known = {}
    for one in delivery:
        if isinstance(one, Candidate) and one.lms and not one.lms_stays and not one.anonymous:
            same = names.by_name.get(plain_name(one.who), set())
            student = next(iter(same)) if len(same) == 1 else ""
            known.setdefault(one.lms, {}).update(_keys(one.who, student))
    for student in folders.students():
        for _, about in attempts_of(folders, student):
            match = MOODLE.fullmatch(str(about.get("from", "")).split("/")[0])
            if match and about.get("lms") == match["user"]:
                known.setdefault(match["user"], {}).update(_keys(match["who"], student))
    return known


def _keys(who: str, student: str) -> dict[str, str]:
    shown = _shown(who, student)
    if _is_nameless(who):
        return {student: shown} if student else {}
    return {key: shown for key in (student, _words(who)) if key}


def _compare(
    rows: Sequence[HandIn], people: dict[str, dict[str, str]], known: Known
) -> tuple[int, dict[str, str]]:
    """Return how many rows agree with what is known, and of the others what contradicts."""
    number_of = {key: number for number, keys in known.items() for key in keys}
    agreeing, bad = 0, {}
    for row in rows:
        person, there = people[row.where], known.get(row.number, {})
        if not person or not (there or person.keys() & number_of.keys()):
            continue
        if person.keys() & there.keys():
            agreeing += 1
        elif before := next((number_of[key] for key in person if key in number_of), ""):
            bad[row.where] = (
                f"{row.where}: {_first(person)} has the participant number {row.number} here, but "
                f"{before} in the submissions"
            )
        elif there:
            bad[row.where] = (
                f"{row.where}: the participant number {row.number} belongs to {_first(person)} "
                f"here, but to {_first(there)} in the submissions"
            )
    return agreeing, bad


def _refuse_contradictions(
    path: Path, rows: Sequence[HandIn], people: dict[str, dict[str, str]]
) -> None:
    """Raise where one student has two numbers, or two students have one."""
    by_number: dict[str, HandIn] = {}
    by_person: dict[str, HandIn] = {}
    for row in rows:
        person = people[row.where]
        before = by_number.setdefault(row.number, row)
        if before is not row:
            raise CourseError(
                f"{path}: {_first(people[before.where])} (line {_line(before)}) and "
                f"{_first(person)} (line {_line(row)}) have the same participant number "
                f"{row.number}. Download the worksheet again"
            )
        # Two students may have one name, so only an id says that they are the same.
        student = next((key for key in person if key != _words(row.name)), "")
        before = by_person.setdefault(student, row) if student else row
        if before is not row:
            raise CourseError(
                f"{path}: {_first(person)} has two participant numbers, {before.number} (line "
                f"{_line(before)}) and {row.number} (line {_line(row)}). Download the worksheet "
                "again, or remove the line that is wrong"
            )


def _other_numbers(
    folders: Folders, path: Path, bad: dict[str, str], known: Known, sheet: set[str]
) -> str:
    """Return the message about a worksheet whose numbers are not those of the submissions."""
    some = [text.removeprefix(f"{path}, ") for text in list(bad.values())[:EXAMPLES]]
    why = "; ".join(some) + (f"; and {len(bad) - EXAMPLES} more" if len(bad) > EXAMPLES else "")
    if not bad:
        why = f"it shares none of its {len(sheet)} numbers with the {len(known)} submissions"
    return (
        f"{path} and the submissions of {folders.name} have different participant numbers: {why}. "
        "Moodle numbers participants anew for each assignment: download the worksheet of "
        f"{folders.name}. Nothing was stored"
    )


def _refuse_numbers_of_another(
    folders: Folders,
    names: Names,
    path: Path,
    rows: Sequence[HandIn],
    people: dict[str, dict[str, str]],
) -> None:
    """Raise where the numbers are those that students had in another assignment."""
    for other in folders.course.assignments:
        if other == folders.name:
            continue
        theirs = _known(Folders(folders.course, other), names)
        agreeing, bad = _compare(rows, people, theirs)
        same = {row.number for row in rows} & theirs.keys()
        if (agreeing and agreeing > len(bad)) or (2 * len(same) > len(theirs) and not bad):
            raise CourseError(
                f"{path} has the participant numbers of {other}, but {folders.name} is expected. "
                "Moodle numbers participants anew for each assignment: download the worksheet of "
                f"{folders.name}. Nothing was stored"
            )


def _words(name: str) -> str:
    """Return the words of a name in one order, "Last, First" as "First Last"."""
    return " ".join(sorted(re.findall(r"\w+", name.casefold())))


def _is_nameless(who: str) -> bool:
    """Return whether a name is Moodle's for somebody who is anonymous: "Participant 501"."""
    return bool(re.search(r"\d\s*$", who)) or not who.strip()


def _shown(name: str, student: str) -> str:
    name = one_line(name, 80)
    return f"{name} ({student})" if student and student != name else name


def _first(person: dict[str, str]) -> str:
    return next(iter(person.values()), "no one")


def _line(row: HandIn) -> str:
    return row.where.rpartition(" ")[2]
