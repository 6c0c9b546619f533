"""`coursekit collect`: what students submitted, into `attempts/`, and the one that counts chosen.

Every attempt is kept. The last is put into `submitted/`, from where it is graded (`--attempt first`
takes the first one instead). Collecting the same things again changes nothing. When something was
submitted is written down where a platform or the instructor has said so; otherwise it is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from coursetools.grading.collecting.choose import after_the_end, choose, left_group
from coursetools.grading.collecting.identify import ASIDE, Known, Names
from coursetools.grading.collecting.layouts import Candidate, Refused
from coursetools.grading.collecting.links import Links
from coursetools.grading.collecting.roster import ClassList, Person
from coursetools.grading.collecting.team_files import team_lines
from coursetools.grading.collecting.times import HandIn
from coursetools.grading.gradebook.lateness import read_lateness
from coursetools.grading.records.attempts import (
    attempts_of,
    came_after,
    enter_time,
    handed_in_by,
    keep,
    numbers_of,
    too_late,
)
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups, formed
from coursetools.grading.records.ledger import Ledger, time_unknown
from coursetools.settings.exam_settings import exam_of
from coursetools.text import some

Note = Callable[[str], None]


@dataclass
class Collected:
    """What came of it."""

    new: list[str] = field(default_factory=list)  # students with a new attempt
    known: int = 0  # attempts that were there already
    refused: list[Refused] = field(default_factory=list)
    aside: list[Refused] = field(default_factory=list)  # not on the class list
    missing: list[str] = field(default_factory=list)  # on the class list, nothing submitted
    unknown: list[str] = field(default_factory=list)  # submitted, and nobody says when
    by_name: list[str] = field(default_factory=list)  # known by no id and no number
    too_late: dict[str, bool] = field(default_factory=dict)  # and whether an earlier one counts
    too_early: list[str] = field(default_factory=list)  # before the exam began
    behind: list[str] = field(default_factory=list)  # whose new attempt is not the one that counts
    strays: list[str] = field(default_factory=list)  # whose notebook is of another assignment
    teams: list[str] = field(default_factory=list)  # that there are some, and different files
    moved: list[str] = field(default_factory=list)  # whose team a class list would change
    reformed: bool = False  # and has changed, by `force`
    linked: dict[str, str] = field(default_factory=dict)  # an anonymous id -> the student
    notes: list[str] = field(default_factory=list)

    def as_lines(self, name: str, source: Path | None = None) -> list[str]:
        """Return what is printed at the end."""
        lines = [
            f"{name}: {len(self.new)} new, {self.known} known already, "
            f"{len(self.refused)} refused, {len(self.aside)} set aside"
        ]
        if self.linked:
            pairs = [f"{number} is {student}" for number, student in sorted(self.linked.items())]
            lines.append(f"anonymous submissions linked to names: {some(pairs)}")
        lines += self.teams
        if self.moved and not self.reformed:
            lines.append(
                f"teams unchanged, because submissions of {name} have been collected; this class "
                f"list would change the team of {some(self.moved)}; to change them: "
                f"coursekit collect {name} FILE --force"
            )
        if source and not (self.new or self.known or self.refused or self.aside):
            lines.append(
                f"no submissions found in {source}; expected STUDENT.ipynb or a Canvas/Moodle zip"
            )
        if self.missing:
            lines.append(f"on the class list, but nothing submitted: {some(self.missing)}")
        if self.strays:
            lines.append(
                f"notebooks of another assignment, taken anyway: {some(self.strays)}; to take a "
                f"student's latest back: coursekit collect {name} --undo --student ID"
            )
        if self.behind:
            lines.append(
                "new, but not counted, because a submission collected before has a later time: "
                f"{some(self.behind)}; if the earlier collection was a mistake, coursekit collect "
                f"{name} --undo takes back the latest one, and typed again the one before it; "
                "then collect again"
            )
        lines += after_the_end(self.too_late)
        if self.too_early:
            lines.append(f"submitted before the exam started, and counted: {some(self.too_early)}")
        if self.by_name:
            lines.append(
                f"matched to the class list by name only: {some(self.by_name)}; names may be "
                "shared or change, so add the platform's numbers to the class list (column "
                "lms_id), or e-mail addresses (column email) and collect Moodle's worksheet: "
                f"coursekit collect {name} FILE"
            )
        if self.unknown:
            lines.append(
                f"{time_unknown(len(self.unknown))}; to add times: coursekit collect {name} FILE"
            )
        return lines


def collect(
    folders: Folders,
    found: Sequence[Candidate | Refused],
    people: ClassList | list[Person] | None = None,
    attempt: str = "last",
    note: Note = lambda text: None,
    times: Sequence[HandIn] = (),
    strays: Mapping[str, str] = MappingProxyType({}),
    force: bool = False,
) -> Collected:
    """Keep every candidate as an attempt, then choose for each student the one that counts.

    The attempts of a team are chosen from as if they were one student's. `strays` are labels of
    files that are of another assignment, and of which; `force` forms other teams for an assignment
    that is collected already.
    """
    if not isinstance(people, ClassList):
        people = ClassList(people or [], not people)
    collection = _Collection(folders, people, times)
    collection.name(force)
    collection.take(found, strays)
    for text in collection.refusals(len(found)):
        note(text)
    collection.enter_times(times)
    collection.choose(attempt)
    collection.ledger.write()
    collection.say_teams()
    collection.count_missing()
    for text in collection.result.notes:
        note(text)
    return collection.result


class _Collection:
    """One run of `collect`: the class, the ledger, and the result so far."""

    def __init__(self, folders: Folders, people: ClassList, times: Sequence[HandIn]) -> None:
        self.folders, self.people, self.names = folders, people, Names(folders, people, times)
        self.ledger, self.lateness = Ledger.read(folders), read_lateness(folders)
        self.exam = exam_of(folders.course, folders.name)
        self.links = Links(folders, self.ledger.anonymous)
        self.groups = self.before = Groups(self.ledger.groups, dict(self.ledger.anonymous))
        self.result = Collected(notes=self.names.notes)
        self.touched: dict[str, None] = {}  # students with a new attempt, or a time for one
        self.now = datetime.now(UTC).isoformat()

    def name(self, force: bool) -> None:
        """Write down the teams of the class list, and the students behind anonymous ids."""
        people, before = self.people.people, self.ledger.groups
        now = formed(before, ((one.id, one.group) for one in people))
        if self.ledger.students:
            self.result.moved = [one for one in sorted({*now, *before})
                                 if now.get(one) != before.get(one)]  # fmt: skip
        self.result.reformed = force and bool(self.result.moved)
        if force or not self.result.moved:
            self.ledger.groups = now
        self.ledger.name((one.anonymous, one.id) for one in people if one.anonymous)

    def take(self, found: Sequence[Candidate | Refused], strays: Mapping[str, str]) -> None:
        """Store each file as an attempt of the student it belongs to."""
        resolved, self.result.linked = self.links.resolve(self.names.resolve(found))
        self.ledger.name(self.result.linked.items())
        self.groups = Groups(self.ledger.groups, self.ledger.anonymous)
        for one in resolved:
            refused = self._keep(one, strays) if isinstance(one, Known) else one
            if refused:
                self.ledger.refused(refused.label, refused.why)
                aside = refused.why.startswith(ASIDE)
                (self.result.aside if aside else self.result.refused).append(refused)
        if nameless := self.ledger.nameless():
            self.names.say(
                f"anonymous submissions without a name: {some(nameless)}; once Canvas shows the "
                "names, download the zip again and collect it: coursekit collect "
                f"{self.folders.name} FILE"
            )
        self.groups = Groups(self.ledger.groups, self.ledger.anonymous)
        self.lateness = replace(self.lateness, groups=self.groups)

    def _keep(self, known: Known, strays: Mapping[str, str]) -> Refused | None:
        """Read and store one file; return None, or the reason why it is refused."""
        one, student, claim = known.candidate, self.groups.key(known.student), known.claim
        result, most = self.result, self.folders.limits.submission_bytes
        try:
            data = one.read(most)
        except OSError as error:
            return Refused(one.label, str(error.strerror or error))
        if len(data) > most:  # kept up to there, so that the student is told
            self.names.say(
                f"{one.label} is larger than {most >> 20} MB and cannot be graded; the feedback "
                "says so"
            )
        if claim:
            self.names.say(
                f"{one.label} names {claim} in a part that the student chose; it counts for "
                f"{student}, who submitted it"
            )
        if self.links.holds(student, one, data):
            result.known += 1
        elif keep(self.folders, student, data, _about(one, self.now)):
            result.new.append(student)
        else:
            result.known += 1
        if of := strays.get(one.label):
            result.strays.append(f"{student}: {of}")
        if known.by_name and student not in result.by_name:
            result.by_name.append(student)
        self.ledger.taken(one.label, student, claim)
        self.ledger.name([(student, "")] if one.anonymous and student == one.who else [])
        self.touched[student] = None
        return None

    def refusals(self, files: int) -> list[str]:
        """Return a line about each reason for which some of the `files` were refused."""
        aside = self.result.aside
        renumbered = [one for one in aside if one.renumbered]
        if len(renumbered) <= 2 or 10 * len(renumbered) < 9 * files:
            return [*_named(self.result.refused, "refused: "), *_named(aside)]
        name = self.folders.name
        return [
            f"{len(renumbered)} of {files} files have other numbers than these students have in "
            f"{name} so far: is this the zip of another assignment? If it is the right one, "
            "the files collected before were not: take them back with coursekit collect "
            f"{name} --undo, then collect this zip again",
            *_named(self.result.refused, "refused: "),
            *_named([one for one in aside if not one.renumbered]),
        ]

    def enter_times(self, times: Sequence[HandIn]) -> None:
        """Write the submission times of a table into the attempts."""
        here = {*self.folders.students(), *self.touched} if times else set()
        numbers = numbers_of(self.folders, here) if any(row.number for row in times) else {}
        anonymous = {person: number for number, person in self.groups.anonymous.items() if person}
        for row in times:
            if row.time is None:
                continue
            student, why = numbers.get(row.number, ""), ""
            if not student:
                student, why = self.names.row(row)
            if not student and self.names.open and row.id in here:
                student = row.id
            if student:
                self._enter_time(anonymous.get(student, student), row.time, row.where)
            else:
                self.names.say(f"{row.where}: {why}")

    def _enter_time(self, student: str, time: datetime, where: str) -> None:
        """Write the time of a student's last attempt, or of their group's if it has no time yet."""
        attempts = attempts_of(self.folders, student)
        if not attempts:  # another member of the group may have submitted
            attempts = attempts_of(self.folders, *self.groups.members(student))
            if attempts and attempts[-1][1]["time"]:
                return
        if not attempts:
            self.names.say(f"{where}: {student} has a time, but no submission")
            return
        enter_time(attempts[-1], time)
        self.touched[handed_in_by(attempts[-1])] = None

    def choose(self, attempt: str) -> None:
        """Choose the attempt that counts, for every student for whom it may have changed."""
        self.ledger.attempt = attempt
        new = set(self.result.new)
        for student in self._concerned():
            end = self.lateness.end_of(student)
            about = self._choose(student, end)
            if too_late(self.folders, (student,), end):
                self.result.too_late[student] = not came_after(about, end)
            elif attempt == "last" and student in new and about.get("collected") != self.now:
                self.result.behind.append(student)
            time = about.get("time")
            if self.exam and time and datetime.fromisoformat(time) < self.exam.start:
                self.result.too_early.append(student)

    def _concerned(self) -> dict[str, None]:
        """Return students with new attempts or a new group, and the members of these groups."""
        concerned, groups, before = dict(self.touched), self.groups, self.before
        for student in self.touched:
            concerned |= dict.fromkeys(groups.members(student))
        for student in {*before.names, *groups.names}:
            if (others := groups.members(student)) != before.members(student):
                concerned |= dict.fromkeys((*before.members(student), *others))
        return concerned

    def say_teams(self) -> None:
        """Say which teams there are, and who submitted which file."""
        people = {one.id: f"{one.first} {one.last}".strip() for one in self.people.people}
        zone = self.lateness.zone
        self.result.teams = team_lines(self.folders, self.groups, people, zone)

    def _choose(self, student: str, end: datetime | None) -> dict[str, Any]:
        """Choose a student's attempt and write its time into the ledger; return its facts."""
        members, attempt = self.groups.members(student), self.ledger.attempt
        about = choose(self.folders, student, attempt, end, members)
        if about:
            self.ledger.about(student, about.get("time"), about.get("late"))
        elif left_group(self.folders, student, self.before.members(student)):
            self.ledger.students.pop(student, None)
            self.names.say(f"neither {student} nor their team has submitted anything")
        return about

    def count_missing(self) -> None:
        """Find students without a submission, and those whose submission time is unknown."""
        students = set(self.folders.students())
        if not self.people.open and not self.ledger.nameless():
            named = {self.ledger.anonymous.get(student) for student in students}
            everybody = {person.id for person in self.people.people}
            excused = {one for one in everybody if self.lateness.excused(one)}
            self.result.missing = sorted(everybody - students - named - excused)
        self.result.unknown = [one for one in self.ledger.unknown() if one in students]


def _named(refused: list[Refused], before: str = "") -> list[str]:
    """Return a line for each reason, with all the files that it is true of."""
    labels: dict[str, list[str]] = {}
    for one in refused:
        labels.setdefault(one.why, []).append(one.label)
    return [
        f"{before}{same[0] if len(same) == 1 else f'each of {some(same)}'} {why}"
        for why, same in labels.items()
    ]


def _about(one: Candidate, now: str) -> dict[str, Any]:
    """Return the contents of an attempt's `attempt.json`."""
    return {
        "from": one.label,
        "seen": one.seen.astimezone(UTC).replace(microsecond=0).isoformat(),
        "time": one.time.astimezone(UTC).isoformat() if one.time else None,
        "again": one.order,
        "late": one.late,
        "lms": one.lms,
        "lasting": one.lms_stays,
        "secret": one.secret,
        "collected": now,  # the same for all attempts of one collection
    }
