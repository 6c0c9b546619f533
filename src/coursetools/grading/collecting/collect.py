"""`coursekit collect`: what students handed in, into `attempts/`, and the one that counts chosen.

Every attempt is kept. The last is put into `submitted/`, from where it is graded (`--attempt first`
takes the first one instead). Collecting the same things again changes nothing. When something was
handed in is written down where a platform or the instructor has said so; otherwise it is unknown.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from coursetools.course import write_whole
from coursetools.grading.collecting.identify import ASIDE, Known, Names
from coursetools.grading.collecting.layouts import Candidate, Refused
from coursetools.grading.collecting.origins import SECRET
from coursetools.grading.collecting.roster import ClassList, Person, bad_id
from coursetools.grading.collecting.times import HandIn
from coursetools.grading.gradebook.lateness import Lateness, read_lateness
from coursetools.grading.records.folders import Folders, read_plain
from coursetools.grading.records.groups import Groups, read_groups
from coursetools.grading.records.ledger import Ledger
from coursetools.settings.of_exam import exam_of
from coursetools.text import some

STAMP = "%Y-%m-%dT%H-%M-%SZ"
Note = Callable[[str], None]
Attempt = tuple[Path, dict[str, Any]]  # its folder, and what is known about it


@dataclass
class Collected:
    """What came of it."""

    new: list[str] = field(default_factory=list)  # students with a new attempt
    known: int = 0  # attempts that were there already
    refused: list[Refused] = field(default_factory=list)
    aside: list[Refused] = field(default_factory=list)  # not on the class list
    missing: list[str] = field(default_factory=list)  # on the class list, nothing handed in
    unknown: list[str] = field(default_factory=list)  # handed in, and nobody says when
    by_name: list[str] = field(default_factory=list)  # known by no id and no number
    too_late: list[str] = field(default_factory=list)  # with an attempt after their end
    too_early: list[str] = field(default_factory=list)  # before the exam began
    behind: list[str] = field(default_factory=list)  # whose new attempt is not the one that counts
    strays: list[str] = field(default_factory=list)  # whose notebook is of another assignment
    notes: list[str] = field(default_factory=list)

    def as_lines(self, name: str, source: Path | None = None) -> list[str]:
        """Return what is printed at the end."""
        lines = [
            f"{name}: {len(self.new)} new, {self.known} known already, "
            f"{len(self.refused)} refused, {len(self.aside)} set aside"
        ]
        if source and not (self.new or self.known or self.refused or self.aside):
            lines.append(f"{source} holds no hand-ins")
        if self.missing:
            lines.append(f"on the class list, nothing handed in: {some(self.missing)}")
        if self.strays:
            lines.append(
                f"a notebook of another assignment, taken all the same: {some(self.strays)}; to "
                f"take a student's last back: coursekit collect {name} --forget STUDENT"
            )
        if self.behind:
            lines.append(
                "a new attempt that does not count, for one collected before is later by its "
                f"hand-in time or by its zip's: {some(self.behind)}; if that one was a mistake, "
                f"coursekit collect {name} --forget takes the latest collecting back, and when "
                "given again the one before it; then collect anew"
            )
        if self.too_late:
            lines.append(after_the_end(self.too_late))
        if self.too_early:
            lines.append(f"came before the exam began, and counts: {some(self.too_early)}")
        if self.by_name:
            lines.append(
                f"matched to the class list by a name alone: {some(self.by_name)}; people may "
                "share or change names, so put the platform's numbers into a column lms_id of the "
                "class list, or e-mail addresses into a column email and give Moodle's worksheet: "
                f"coursekit collect {name} --times CSV"
            )
        if self.unknown:
            lines.append(
                f"hand-in time unknown for {len(self.unknown)}, so no late penalty applies to "
                f"them; to add times: coursekit collect {name} --times CSV"
            )
        return lines


def collect(
    folders: Folders,
    found: Sequence[Candidate | Refused],
    people: ClassList | list[Person] | None = None,
    attempt: str = "last",
    note: Note = lambda text: None,
    times: Sequence[HandIn] = (),
    regroup: bool = False,
    strays: Mapping[str, str] = MappingProxyType({}),
) -> Collected:
    """Keep every candidate as an attempt, then choose for each student the one that counts.

    The attempts of a group are chosen from as if they were one student's. `regroup` takes the
    class's groups of today for an assignment that something was collected of before. `strays` are
    labels of files that are of another assignment, and of which.
    """
    if not isinstance(people, ClassList):
        people = ClassList(people or [], not people)
    result, names = Collected(), Names(folders, people, times)
    now = datetime.now(UTC).isoformat()
    ledger, lateness = Ledger.read(folders), read_lateness(folders)
    touched: dict[str, None] = {}
    before = Groups(ledger.groups, dict(ledger.anonymous))
    if regroup or not ledger.students:
        ledger.groups = _groups_now(folders, people, names)
    ledger.name((person.anonymous, person.id) for person in people.people if person.anonymous)
    for one in names.resolve(found):
        if isinstance(one, Known):
            claim = names.claim(one.candidate, one.student)
            why = _take(folders, one, claim, result, names.say, now)
            if not why:
                if of := strays.get(one.candidate.label):
                    result.strays.append(f"{one.student}: {of}")
                ledger.taken(one.candidate.label, one.student, claim)
                touched[one.student] = None
                ledger.name([(one.student, "")] if one.candidate.anonymous else [])
                if one.by_name and one.student not in result.by_name:
                    result.by_name.append(one.student)
                continue
            one = Refused(one.candidate.label, why)
        ledger.refused(one.label, one.why)
        (result.aside if one.why.startswith(ASIDE) else result.refused).append(one)
    aside, renumbered = result.aside, [one for one in result.aside if one.renumbered]
    if len(renumbered) > 2 and 10 * len(renumbered) >= 9 * len(found):
        aside = [one for one in aside if not one.renumbered]
        note(
            f"{len(renumbered)} of {len(found)} files carry other numbers than their students are "
            f"known by in {folders.name}: is this the zip of another assignment? If it is the "
            "right one, what was collected before was not; take that back with coursekit collect "
            f"{folders.name} --forget, and collect this again"
        )
    for text in [*_named(result.refused, "refused: "), *_named(aside)]:
        note(text)
    if nameless := ledger.nameless():
        names.say(
            f"Canvas's anonymous ids stand for {some(nameless)}; a class list with a column "
            "anonymous_id says who they are, now or later"
        )
    groups = Groups(ledger.groups, ledger.anonymous)
    lateness = replace(lateness, groups=groups)
    for text in _time(folders, names, times, touched, groups):
        names.say(text)
    new = set(result.new)
    ledger.attempt, exam = attempt, exam_of(folders.course, folders.name)
    for student in list(touched):
        touched |= dict.fromkeys(groups.members(student))
    for student in {*before.names, *groups.names}:
        if (others := groups.members(student)) != before.members(student):
            touched |= dict.fromkeys((*before.members(student), *others))
    for student in touched:
        end = lateness.end_of(student)
        if about := choose(folders, student, attempt, end, groups.members(student)):
            ledger.about(student, about.get("time"), about.get("late"))
        elif _left_group(folders, student, before.members(student)):
            ledger.students.pop(student, None)
            names.say(f"{student} has handed in nothing, and neither has their group")
        if too_late(folders, (student,), end):
            result.too_late.append(student)
        elif attempt == "last" and student in new and about.get("collected") != now:
            result.behind.append(student)
        time = about.get("time")
        if exam and time and datetime.fromisoformat(time) < exam.start:
            result.too_early.append(student)
    ledger.write()
    students = set(folders.students())
    if not people.open and not nameless:
        named = {ledger.anonymous.get(student) for student in students}
        excused = {one.id for one in people.people if lateness.excused(one.id)}
        everybody = {person.id for person in people.people}
        result.missing = sorted(everybody - students - named - excused)
    result.unknown = [student for student in ledger.unknown() if student in students]
    result.notes = names.notes
    for text in names.notes:
        note(text)
    return result


def _groups_now(folders: Folders, people: ClassList, names: Names) -> dict[str, str]:
    """Return the groups as the class has them; whoever is not in the class is in none."""
    groups = read_groups(folders.course)
    strangers = {who for who in groups if bad_id(who) or not (people.open or who in names.ids)}
    if strangers:
        names.say(f"groups.csv: {some(sorted(strangers))}, not on the class list, is left out")
    return {who: name for who, name in groups.items() if who not in strangers}


def _named(refused: list[Refused], before: str = "") -> list[str]:
    """Return a line for each reason, with all the files that it is true of."""
    labels: dict[str, list[str]] = {}
    for one in refused:
        labels.setdefault(one.why, []).append(one.label)
    return [
        f"{before}{same[0] if len(same) == 1 else f'each of {some(same)}'} {why}"
        for why, same in labels.items()
    ]


def attempts_of(folders: Folders, *students: str) -> list[tuple[Path, dict[str, Any]]]:
    """Return the attempts of a student or a group, the earliest first, with what is known."""
    attempts = []
    paths = (folders.attempts(one).glob("*/attempt.json") for one in students)
    for path in itertools.chain.from_iterable(paths):
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            if "seen" not in about:  # an old one, with the file's own time in the other's place
                about |= {"seen": about["time"], "time": None}
            attempts.append((path.parent, about | {"seen": datetime.fromisoformat(about["seen"])}))
        except (ValueError, KeyError, OSError, TypeError):
            continue
    return _by_age(attempts)


def numbers_of(folders: Folders, students: Iterable[str] | None = None) -> dict[str, str]:
    """Return the platform's number -> the student, of everybody who has handed in."""
    return {
        about["lms"]: student
        for student in (folders.students() if students is None else students)
        for _, about in attempts_of(folders, student)
        if about.get("lms")
    }


def submitted_digest(folders: Folders, student: str) -> str:
    """Return the hash of what lies in `submitted/`, as attempts have it; "" where nothing does."""
    path = folders.submitted(student) / f"{folders.name}.ipynb"
    try:
        return hashlib.sha256(read_plain(path, folders.limits.submission_bytes)).hexdigest()
    except OSError:
        return ""


def handed_in_by(attempt: Attempt) -> str:
    """Return which student an attempt came from."""
    return attempt[0].parent.parent.name


def choose(
    folders: Folders,
    student: str,
    attempt: str = "last",
    end: datetime | None = None,
    members: Sequence[str] = (),
) -> dict[str, Any]:
    """Put the attempt that counts into `submitted/`, if it is not there; return what it is.

    It is one of the student's, or of the `members` of their group. One after the `end` (in UTC)
    counts only where there is no other, and then for nothing.
    """
    attempts = attempts_of(folders, *(members or (student,)))
    if not attempts:
        return {}
    attempts = [one for one in attempts if not _after(one[1], end)] or attempts
    folder, about = attempts[0 if attempt == "first" else -1]
    data = (folder / f"{folders.name}.ipynb").read_bytes()
    target = folders.submitted(student)
    if not _holds(target / f"{folders.name}.ipynb", data):
        write_whole(target / f"{folders.name}.ipynb", data)
    time = about["time"] and datetime.fromisoformat(about["time"])
    ours = handed_in_by((folder, about)) == student
    own = [(folder, about)] if ours else attempts_of(folders, student)[-1:]
    secret = own[0][1].get("secret", "") if own else ""  # a student fetches only their own page
    for name, text in (
        ("timestamp.txt", time.strftime("%Y-%m-%d %H:%M:%S UTC") if time else ""),
        (SECRET, secret),
    ):
        if not text:
            (target / name).unlink(missing_ok=True)
        elif not _holds(target / name, text.encode()):
            write_whole(target / name, text)
    return about


def choose_again(folders: Folders, lateness: Lateness) -> list[str]:
    """Choose once more, since an end may have moved; return who has an attempt after their end.

    What an instructor has put into `submitted/` in the place of an attempt stays.
    """
    late, ledger = [], Ledger.read(folders)
    before = json.dumps(ledger.students)
    for student in folders.students():
        members = lateness.groups.members(student)
        end, attempts = lateness.end_of(student), attempts_of(folders, *members)
        if end is None or not attempts:
            continue
        if submitted_digest(folders, student) in {about.get("sha256") for _, about in attempts}:
            about = choose(folders, student, ledger.attempt, end, members)
            ledger.about(student, about.get("time"), about.get("late"))
        if too_late(folders, (student,), end):
            late.append(student)
    if json.dumps(ledger.students) != before:
        ledger.write()
    return late


def too_late(folders: Folders, students: Sequence[str], end: datetime | None) -> datetime | None:
    """Return when the first attempt after the `end` came, a student's or a group's; else None."""
    if end is None:
        return None
    late = [about["time"] for _, about in attempts_of(folders, *students) if _after(about, end)]
    return datetime.fromisoformat(late[0]).replace(microsecond=0) if late else None


def after_the_end(students: list[str]) -> str:
    """Say that attempts came when nothing counts any more."""
    return (
        f"an attempt after the end of the assignment, kept and not counted: {some(students)}; "
        "an earlier attempt in time counts in its place, else there are no points"
    )


def _left_group(folders: Folders, student: str, members: Sequence[str]) -> bool:
    """Take the hand-in of a group away from who is in it no more, and say whether it was there."""
    was = attempts_of(folders, *members)
    if submitted_digest(folders, student) not in {about.get("sha256") for _, about in was}:
        return False  # nothing is there, or an instructor's
    taken_back(folders, student)
    return True


def taken_back(folders: Folders, student: str) -> None:
    """Empty the folder of what counts; it stays, and says that nothing is there."""
    for name in (f"{folders.name}.ipynb", "timestamp.txt", SECRET):
        (folders.submitted(student) / name).unlink(missing_ok=True)


def _after(about: dict[str, Any], end: datetime | None) -> bool:
    """Return whether an attempt is known to have come after the end."""
    return (
        end is not None
        and bool(about["time"])
        and datetime.fromisoformat(about["time"]) > end.replace(tzinfo=UTC)
    )


def _by_age(attempts: list[Attempt]) -> list[Attempt]:
    """Return attempts in order: by times that somebody vouches for, if all have one.

    Else by when they were seen, which is that of the zip: a time in November says nothing about an
    attempt of which it is only known that it was packed in December.
    """
    vouched = all(about["time"] for _, about in attempts)

    def age(attempt: Attempt) -> tuple[datetime, int, str]:
        folder, about = attempt
        when = datetime.fromisoformat(about["time"]) if vouched else about["seen"]
        return when, about.get("again", 0), folder.name

    return sorted(attempts, key=age)


def _take(
    folders: Folders, known: Known, claim: str, result: Collected, say: Note, now: str
) -> str:
    """Read a file and keep it; return why that cannot be done, "" if it is done."""
    candidate, most = known.candidate, folders.limits.submission_bytes
    try:
        data = candidate.read(most)
    except OSError as error:
        return str(error.strerror or error)
    if len(data) > most:  # kept up to there, so that the student is told
        say(f"{candidate.label} is larger than {most >> 20} MB; {known.student} is told so")
    if claim:
        say(
            f"{candidate.label} has {claim} in a name that the student has chosen; it counts as "
            f"{known.student}'s, who handed it in"
        )
    if _keep(folders, known.student, candidate, data, now):
        result.new.append(known.student)
    else:
        result.known += 1
    return ""


def _time(
    folders: Folders,
    names: Names,
    times: Sequence[HandIn],
    touched: dict[str, None],
    groups: Groups,
) -> list[str]:
    """Write the times of a table beside the attempts that they are of, each student's last.

    The time of who did not hand in themselves is that of their group's last, if that has none.
    """
    problems: list[str] = []
    number_of = {student: number for number, student in groups.anonymous.items() if student}
    here = {*folders.students(), *touched} if times else set()
    numbers = numbers_of(folders, here) if any(row.number for row in times) else {}
    for row in times:
        if row.time is None:
            continue
        student, why = numbers.get(row.number, ""), ""
        if not student:
            student, why = names.row(row)
        if not student and names.open and row.id in here:
            student = row.id
        student = number_of.get(student, student)
        attempts = attempts_of(folders, student) if student else []
        others = () if attempts or not student else attempts_of(folders, *groups.members(student))
        if others and not others[-1][1]["time"]:
            attempts, student = [others[-1]], handed_in_by(others[-1])
        if others and not attempts:
            continue
        if not student:
            problems.append(f"{row.where}: {why}")
        elif not attempts:
            problems.append(f"{row.where}: {student} has a time, but handed in nothing")
        else:
            folder, about = attempts[-1]
            if about["time"] != row.time.isoformat():
                about |= {"time": row.time.isoformat(), "seen": about["seen"].isoformat()}
                write_whole(folder / "attempt.json", json.dumps(about, indent=1) + "\n")
            touched[student] = None
    return problems


def _keep(folders: Folders, student: str, candidate: Candidate, data: bytes, now: str) -> bool:
    """Write an attempt; False if it is there already."""
    digest = hashlib.sha256(data).hexdigest()
    seen = candidate.seen.astimezone(UTC).replace(microsecond=0)
    time = candidate.time.astimezone(UTC).isoformat() if candidate.time else None
    before = attempts_of(folders, student)
    last = before[-1][1] if before else {}
    same = last.get("sha256") == digest and candidate.secret in ("", last.get("secret", ""))
    if same and time in (None, last["time"]):
        return False  # the same in a zip that was made anew
    parent = folders.attempts(student)
    stamp, number = seen.strftime(STAMP), 1
    folder = parent / stamp
    while folder.exists():
        if _holds(folder / f"{folders.name}.ipynb", data) and (folder / "attempt.json").is_file():
            return False
        if not (folder / "attempt.json").is_file():
            break  # a collection that was interrupted
        number += 1
        folder = parent / f"{stamp}-{number}"
    write_whole(folder / f"{folders.name}.ipynb", data)
    about = {
        "from": candidate.label,
        "seen": seen.isoformat(),
        "time": time,
        "again": candidate.order,
        "late": candidate.late,
        "lms": candidate.lms,
        "lasting": candidate.lms_stays,
        "sha256": digest,
        "secret": candidate.secret,
        "collected": now,  # the same of all that came together
    }
    write_whole(folder / "attempt.json", json.dumps(about, indent=1) + "\n")
    return True


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_plain(path, len(data)) == data
    except OSError:
        return False
