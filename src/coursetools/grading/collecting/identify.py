"""From what the platform has written to a student's id; what is not clear is said, never guessed.

With a class list only people on it hand in; whoever else is set aside and named, with those on the
list who come near. Names are weak, for two people may have one and some platforms let people change
theirs: the number that a name has had, and a second number for one name, are looked at.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coursetools.grading.collecting.layouts import Candidate, Refused, plain_name
from coursetools.grading.collecting.roster import ClassList, bad_id
from coursetools.grading.collecting.times import HandIn
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger
from coursetools.text import has_unseen, one_line

ASIDE = "is set aside: "  # how the reason begins where somebody is not on the class list


@dataclass(frozen=True)
class Known:
    """A file, and whose it is."""

    student: str
    candidate: Candidate
    by_name: bool  # and so not by an id or a number
    claim: str = ""  # another student whom a name inside the upload means


class Names:
    """The people of one collection."""

    def __init__(
        self, folders: Folders, listed: ClassList, worksheet: Sequence[HandIn] = ()
    ) -> None:
        self.folders, self.open = folders, listed.open
        self.ids = {person.id for person in listed.people}
        self.anonymous = Ledger.read(folders).anonymous  # grading enters these ids as people
        self.numbers = {person.lms: person for person in listed.people if person.lms}
        self.emails = {p.email.casefold(): p.id for p in listed.people if p.email}
        self.people = {person.id: person for person in listed.people}
        self.by_name: dict[str, set[str]] = {}
        for person in listed.people:
            for name in person.names:
                self.by_name.setdefault(name, set()).add(person.id)
        self.near: dict[str, list[str]] = {}
        for person in listed.people:
            for key in {_near(person.id), *(_near(name) for name in person.names)}:
                self.near.setdefault(key, []).append(person.id)
        self.worksheet: dict[str, str] = {}  # a number of this assignment alone -> id
        self.named: set[str] = set()  # those of them whose line says no more than a name
        for row in worksheet:
            student, _ = self.row(row)
            if row.number and student:
                self.worksheet[row.number] = student
                if row.id != student and row.email.casefold() not in self.emails:
                    self.named.add(row.number)
        self.here: set[str] = set()  # numbers and names in this delivery
        self.notes: list[str] = []

    def resolve(self, handed_in: Sequence[Candidate | Refused]) -> list[Known | Refused]:
        """Say of each file whose it is, or why it is nobody's."""
        candidates = [one for one in handed_in if isinstance(one, Candidate)]
        numbers: dict[str, set[str]] = {}  # of everybody who has this name in the delivery
        spelled: dict[str, set[str]] = {}
        for candidate in candidates:
            numbers.setdefault(slug(candidate.who), set()).add(candidate.lms)
            spelled.setdefault(slug(candidate.who), set()).add(candidate.who)
        result: list[Known | Refused] = []
        for one in handed_in:
            if isinstance(one, Refused):
                result.append(one)
                continue
            other, number = one.or_else
            if number and (number in self.numbers or one.lms not in self.numbers):
                why = f"may belong to {shown(one.who)} ({one.lms}) or {shown(other)} ({number}); "
                why += "collect a class list with their numbers (column lms_id) first"
                result.append(Refused(one.label, why))
                continue
            entry = self._anonymous(one) if one.anonymous else self._listed(one)
            if entry is None:
                entry = self._unlisted(one, numbers, spelled) if self.open else self._aside(one)
            result.append(entry)
        self.here = {one.lms for one in candidates} | {plain_name(one.who) for one in candidates}
        claimed: dict[str, set[str]] = {}
        for known in result:
            if isinstance(known, Known):
                claimed.setdefault(known.student, set()).add(known.candidate.lms)
        return [
            self._checked(replace(one, claim=self._claim(one)), claimed[one.student])
            if isinstance(one, Known)
            else one
            for one in result
        ]

    def _claim(self, known: Known) -> str:
        """Return whom a file names beside its owner; with a class list, if that is somebody."""
        one, student = known.candidate, known.student
        who, number = one.claim
        meant = {who} & self.ids | self.by_name.get(plain_name(who), set())
        if number in self.numbers and one.lms_stays:
            meant |= {self.numbers[number].id}
        here = meant or {number, plain_name(who)} & self.here
        return f"{who} ({number})" if who and meant != {student} and (here or self.open) else ""

    def row(self, row: HandIn) -> tuple[str, str]:
        """Return the student that a line of a table means, or why there is none."""
        if row.id in self.ids:
            return row.id, ""
        if row.lasting and row.number in self.numbers:
            return self.numbers[row.number].id, ""
        if row.email.casefold() in self.emails:
            return self.emails[row.email.casefold()], ""
        if not row.id and not (row.email and self.emails):  # the list may have no addresses at all
            same = self.by_name.get(plain_name(row.name), set()) if row.name else set()
            if len(same) == 1:
                return next(iter(same)), ""
        label = one_line(row.id or row.email or row.name or row.number, 80)
        return "", f"{label} is not on the class list{self._hint(row.id or row.name)}"

    def _anonymous(self, one: Candidate) -> Known | Refused:
        """Take Canvas's anonymous id for a student's; who that is, a class list may say later."""
        if one.who in self.ids and one.who not in self.anonymous:
            return Refused(
                one.label, f"has the anonymous id {one.who}, which is also an id on the class list"
            )
        return Known(one.who, one, False)

    def _listed(self, one: Candidate) -> Known | Refused | None:
        """Find somebody on the class list; None if nobody is meant for certain."""
        if one.lms:  # Canvas and Moodle write people's names, and no ids
            if one.lms_stays and one.lms in self.numbers:
                return Known(self.numbers[one.lms].id, one, False)
            if not one.lms_stays and one.lms in self.worksheet:
                return Known(self.worksheet[one.lms], one, one.lms in self.named)
        else:
            if one.whole in self.ids or one.who in self.ids:
                return Known(one.whole if one.whole in self.ids else one.who, one, False)
            if one.who in self.numbers:
                return Known(self.numbers[one.who].id, one, False)
            if one.who.casefold() in self.emails:
                return Known(self.emails[one.who.casefold()], one, False)
        same = self.by_name.get(plain_name(one.who), set())
        if len(same) > 1:
            some = ", ".join(sorted(same)[:5])
            return Refused(
                one.label,
                f"{ASIDE}{some} on the class list are all called {shown(one.who)}; add their "
                "platform numbers to the class list (column lms_id), or also collect Moodle's "
                "worksheet",
            )
        if same:
            return Known(next(iter(same)), one, True)
        return None

    def _aside(self, one: Candidate) -> Refused:
        number = f" ({one.lms})" if one.lms else ""
        why = f"{shown(one.who)}{number} is not on the class list{self._hint(one.who)}"
        return Refused(one.label, ASIDE + why)

    def _hint(self, who: str) -> str:
        similar = sorted(set(self.near.get(_near(who), [])))[:3] if _near(who) else []
        return f"; did you mean {' or '.join(similar)}?" if similar else ""

    def _unlisted(
        self, one: Candidate, numbers: dict[str, set[str]], spelled: dict[str, set[str]]
    ) -> Known | Refused:
        """Make an id of a name; two people may have the same."""
        base = slug(one.who)
        if not base or bad_id(base):
            return Refused(one.label, "has a name that cannot be a student id")
        if not one.lms:
            if len(spelled[base]) > 1:
                names = " and ".join(sorted(map(shown, spelled[base])))
                return Refused(
                    one.label,
                    f"may belong to {names}, whose names are too similar; rename one of the files",
                )
            return Known(base, one, False)
        before = self._number_of(base, one.lms_stays)
        own = before or min(numbers[base], key=lambda number: (len(number), number))
        several = (len(numbers[base]) > 1 or before) and one.lms != before
        if several and not one.lms_stays and self._elsewhere(base):
            return Refused(
                one.label,
                f"belongs to one of several people called {shown(one.who)}, whom the platform "
                "numbers anew for each assignment; collect a class list with their e-mail "
                "addresses and the grading worksheet",
            )
        if one.lms == own:
            return Known(base, one, False)
        self.say(f"two people are called {shown(one.who)}; one of them has the id {base}_{one.lms}")
        return Known(f"{base}_{one.lms}", one, False)

    def _checked(self, known: Known, others: set[str]) -> Known | Refused:
        """Refuse a second person who has the name of a first."""
        one = known.candidate
        if not known.by_name or not one.lms:
            return known
        number = self.people[known.student].lms if one.lms_stays else ""
        number = number or self._number_of(known.student, one.lms_stays)
        if number and number != one.lms:
            return Refused(
                one.label,
                f"{ASIDE}{shown(one.who)} has the number {one.lms} here, but {known.student} had "
                f"{number} before",
                renumbered=True,
            )
        if not number and len(others) > 1:
            return Refused(
                one.label,
                f"{ASIDE}{len(others)} people ({', '.join(sorted(others))}) are called "
                f"{shown(one.who)}, but the class list has only one, {known.student}; add the "
                "right number to it (column lms_id), or also collect Moodle's worksheet",
            )
        return known

    def _number_of(self, student: str, stays: bool) -> str:
        """Return the number under which a student has submitted before, "" if there is none."""
        parent = self.folders.attempts(student).parent
        for path in sorted(parent.glob("*/*/attempt.json") if stays
                           else self.folders.attempts(student).glob("*/attempt.json")):  # fmt: skip
            try:
                about = json.loads(path.read_text(encoding="utf-8"))
                number = about.get("lms") if about.get("lasting", True) or not stays else ""
            except (ValueError, OSError, AttributeError):
                continue
            if number:
                return str(number)
        return ""

    def _elsewhere(self, base: str) -> bool:
        """Return whether somebody of this name has submitted another assignment."""
        parent = self.folders.attempts(base).parent
        names = (one.name for one in parent.glob("*") if one.is_dir())
        return any(name != self.folders.name for name in names)

    def say(self, text: str) -> None:
        """Keep a note, once."""
        if text not in self.notes:
            self.notes.append(text)


def slug(name: str) -> str:
    """Return a name as a folder's: letters and digits of any script, spaces as dashes."""
    name = unicodedata.normalize("NFC", name)
    if has_unseen(name):
        return ""
    return re.sub(r"[^\w.@+]+", "-", name).strip("-.")


def shown(name: str) -> str:
    """Return an untrusted name for the middle of a sentence."""
    return one_line(name, 80)


def _near(name: str) -> str:
    """Return what stays of a name when spreadsheets and keyboards have been at it."""
    split = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in split if character.isalnum()).lstrip("0")
