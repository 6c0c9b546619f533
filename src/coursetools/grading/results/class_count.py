"""What a class's verdicts add up to, counted one student at a time.

A few numbers a student are kept, never the verdicts, so ten thousand need no more than some
megabytes. the report draws its page from this.
"""

from __future__ import annotations

import math
import statistics
from array import array
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress
from coursekit.submission.deadline import clock
from coursetools.course import Course
from coursetools.grading.collecting.team_files import different_files
from coursetools.grading.records.attempts import attempts_of, handed_in_by, too_late
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.ledger import Ledger, unlisted
from coursetools.grading.records.regrade_requests import open_requests
from coursetools.grading.records.verdict import Verdict, status_of
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results.outline import Outline, Part, outlines
from coursetools.grading.results.scores import (
    Book,
    Handed,
    Student,
    add_up,
    graded,
    handed_in,
    maximum,
    read_gradebook,
    verdicts_of,
    waits_for_human,
)
from coursetools.grading.running.summary import nobody
from coursetools.settings.exam_settings import Exam, exam_of
from coursetools.settings.late_rule import LateRule, rule_of

SLOWEST = 10  # submissions that are named
ENOUGH = 10  # students below which a correlation says nothing
SEVERAL = 3  # students who share a wrong outcome
LONGEST = 20  # such outcomes on the page


@dataclass
class PartCount:
    """One question of a class."""

    part: Part
    shares: array = field(default_factory=lambda: array("d"))  # of its points, one a student
    rest: array = field(default_factory=lambda: array("d"))  # the share of all other questions
    statuses: Counter[str] = field(default_factory=Counter)
    tried: Counter[tuple[str, bool]] = field(default_factory=Counter)  # (says, hidden)
    failed: Counter[tuple[str, bool]] = field(default_factory=Counter)
    waiting: int = 0  # answers in words that nobody has marked

    @property
    def mean(self) -> float | None:
        """The mean share of the points; low is difficult."""
        return statistics.fmean(self.shares) if self.shares else None

    @property
    def full(self) -> float:
        """The share of students with all points."""
        return sum(share > 0.999 for share in self.shares) / max(1, len(self.shares))

    @property
    def nothing(self) -> float:
        """The share of students with none."""
        return sum(share < 0.001 for share in self.shares) / max(1, len(self.shares))

    @property
    def discrimination(self) -> float | None:
        """The correlation with the rest of the score; None where it says nothing."""
        if len(self.shares) < ENOUGH:
            return None
        try:
            return statistics.correlation(self.shares, self.rest)
        except statistics.StatisticsError:  # everybody has the same
            return None

    @property
    def hardest(self) -> tuple[str, bool, float] | None:
        """The check that fails most often: what it says, whether hidden, the share that fails."""
        if not self.failed:
            return None
        case = max(self.failed, key=lambda one: self.failed[one] / self.tried[one])
        return (*case, self.failed[case] / self.tried[case])


@dataclass(frozen=True)
class Concern:
    """Something that a human should look at."""

    student: str
    where: str  # a question's title, "" for the submission
    what: str


@dataclass
class Unknown:
    """The same wrong values, from several students, and no mistake that is known to give them."""

    question: str
    student: str  # the first who gave them
    reason: str
    answer: str
    students: int = 0


@dataclass
class ClassCount:
    """A class, counted."""

    name: str
    title: str
    points: float  # of the assignment
    auto_points: float  # of those, what the grader gives
    parts: dict[tuple[str, str], PartCount]
    students: int = 0
    submitted: int = 0  # students of whom there is a submission
    submissions: int = 0  # these; a team has one, and it is counted once on the page
    names: dict[str, str] = field(default_factory=dict)  # of everyone, by id
    totals: array = field(default_factory=lambda: array("d"))
    autos: array = field(default_factory=lambda: array("d"))
    statuses: Counter[str] = field(default_factory=Counter)
    misconceptions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    holders: dict[str, set[str]] = field(default_factory=dict)  # of a misconception, by its name
    unknown: dict[tuple[str, str], Unknown] = field(default_factory=dict)  # (question, its name)
    layers: Counter[str] = field(default_factory=Counter)
    guarantees: Counter[str] = field(default_factory=Counter)
    seconds: array = field(default_factory=lambda: array("d"))
    peak: int = 0
    slowest: list[tuple[float, str, str]] = field(default_factory=list)
    concerns: dict[str, list[Concern]] = field(default_factory=dict)
    late: int = 0
    late_days: int = 0  # that were spent on the assignment
    time_unknown: int = 0  # of those with a score: nobody says when they submitted
    said_late: list[str] = field(default_factory=list)  # by the platform, without a time
    missing: list[str] = field(default_factory=list)  # who submitted nothing
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the members of each team
    excused: list[str] = field(default_factory=list)  # for whom it does not count, nor here
    open: list[str] = field(default_factory=list)  # who still have time, and count nowhere here
    left: dict[str, str] = field(default_factory=dict)  # files that were not taken, and why
    has_deadline: bool = False
    waiting: int = 0  # students of whom an answer in words waits

    @property
    def shared(self) -> list[Unknown]:
        """What no hint knows and several students have in common, the most frequent first."""
        several = (one for one in self.unknown.values() if one.students >= SEVERAL)
        return sorted(several, key=lambda one: (-one.students, one.question))[:LONGEST]

    @property
    def handed_in(self) -> int:
        """How many students handed something in."""
        return self.students - len(self.missing)

    @property
    def unit(self) -> str:
        """What is counted: students, or submissions where teams share one."""
        return "submission" if self.submissions < self.submitted else "student"

    @property
    def graded(self) -> int:
        """How many submissions have a score."""
        return len(self.autos)


def count_class(
    course: Course, name: str, progress: Progress | None = None, now: datetime | None = None
) -> ClassCount:
    """Read the verdicts and the gradebook of an assignment, once.

    A student for whom it is open at the time `now` is in no number; what needs a human is listed.
    """
    folders = Folders(course, name)
    asked = outlines(folders)
    store = Verdicts(folders.verdicts)
    book = read_gradebook(folders, now)
    rule = rule_of(folders.private)
    everybody = handed_in(folders)
    if not any(folders.students()) and not everybody:
        raise CourseError(nobody(name))
    handed = graded(folders, everybody)
    parts = {
        (notebook, part.cell): PartCount(part)
        for notebook, outline in asked.items()
        for part in outline.parts
    }
    count = ClassCount(
        name=name,
        title=next(iter(asked.values())).title if len(asked) == 1 else name,
        points=maximum(asked, book),
        auto_points=sum(one.part.points for one in parts.values() if not one.part.written),
        parts=parts,
        has_deadline=book.due is not None or "due" in folders.settings,
    )
    progress, exam = progress or Progress(), exam_of(course, name)
    groups, once = _submissions(book, handed)
    count.groups = groups.teams
    count.names = _names(book, groups, {*book.students, *everybody})
    for one in handed.values():
        student = book.student(one.student, one)
        if student.excused:
            count.excused.append(one.student)
            progress.advance(one.student)
            continue
        if student.ungraded:
            _ungraded(count, student)
            progress.advance(one.student)
            continue
        if student.newer:
            _concern(count, "ungraded", student.id, "", "submitted again since it was graded")
        verdicts = verdicts_of(store, one)
        if one.student in once:
            _look(count, student, verdicts)
        if student.open:
            count.open.append(student.id)
            progress.advance(one.student)
            continue
        status = status_of(verdict.status for verdict in verdicts.values())
        count.students += 1
        count.submitted += status != "MISSING"
        if one.student in once:
            _add(count, asked, student, verdicts, status, once[one.student])
        if status == "MISSING":
            count.missing.append(one.student)
            count.statuses[status] += 1
        elif status != "INTERNAL":
            count.time_unknown += student.submitted is None
            if what := outside(student, exam, rule):
                _concern(count, "outside", student.id, "", what)
            count.late += student.standing.state == "late"
            count.late_days += student.late_days.here if student.late_days else 0
        if status not in ("MISSING", "INTERNAL") and one.student in once:
            score = add_up(asked, student, verdicts, rule)
            count.autos.append(score.auto)
            count.totals.append(score.out_of(count.points).total)
            count.waiting += score.waits > 0
        progress.advance(one.student)
    ledger, left_out = Ledger.read(folders), unlisted(folders)
    others = set(book.students) - set(handed)
    others = {who for who in others if book.students[who].marks is not None or not left_out(who)}
    others |= set(everybody) - set(handed)
    without = {who: book.student(who, everybody.get(who)) for who in others}
    count.excused = sorted([*count.excused, *(who for who in without if without[who].excused)])
    for student in without.values():
        if student.ungraded and not student.excused:
            _ungraded(count, student)
        elif student.open:
            count.open.append(student.id)
    count.open.sort()
    rest = [one for one in without.values() if one.standing.counts and not one.ungraded]
    absent = [student.id for student in rest if student.standing.state == "missing"]
    count.students += len(rest)
    count.statuses["MISSING"] += len(absent)
    count.missing = sorted(count.missing + absent)
    count.left, count.said_late = ledger.left, ledger.late()
    for label, (student_id, claim) in sorted(ledger.claims.items()):
        what = f"names {claim} in a part that the student chose"
        _concern(count, "claims", student_id, label, what)
    _not_counted(count, folders, book)
    for asked_for in open_requests(course, name):
        _concern(count, "requests", asked_for.student, asked_for.question, asked_for.text)
    return count


def _ungraded(count: ClassCount, student: Student) -> None:
    """Count a student whose submission waits for `coursekit grade`."""
    if student.open:
        count.open.append(student.id)
    else:
        count.students += 1
    _concern(count, "ungraded", student.id, "", "submitted, but not graded yet")


def _submissions(book: Book, handed: dict[str, Handed]) -> tuple[Groups, dict[str, list[str]]]:
    """Return the teams, and the students of each submission by the first; nobody who is excused."""
    groups = book.lateness.groups if book.lateness else Groups()
    files = {
        who: tuple(sorted((name, place.submission) for name, place in one.places.items()))
        for who, one in handed.items()
        if not one.missing and not (book.lateness and book.lateness.excused(who))
    }
    return groups, groups.once(files)


def _names(book: Book, groups: Groups, everyone: set[str]) -> dict[str, str]:
    """Return what each student is called on the page: the name, with the id behind it."""
    names = {}
    for who in everyone:
        person = groups.person(who)
        student = book.students.get(person)
        named = student is not None and student.name != person
        names[who] = f"{student.name} ({person})" if student and named else person
    return names


def _not_counted(count: ClassCount, folders: Folders, book: Book) -> None:
    """Note which attempts do not count: those that came too late, and those of a team-mate."""
    if book.lateness is None:
        return
    late = {one.student for one in count.concerns.get("outside", ())}
    for student in folders.students():
        when = too_late(folders, (student,), book.lateness.end_of(student))
        if when and student not in late and not book.lateness.excused(student):
            what = f"came at {clock(when, book.lateness.zone)}"
            _concern(count, "too_late", student, "", what)
            late.add(student)
    for different in different_files(folders, book.lateness.groups):
        counted = different.counted
        whose = handed_in_by(counted) if counted else ""
        shown = f"{count.names.get(whose, whose)}'s" if whose else "another"
        for student in different.members:
            own = attempts_of(folders, student)[-1][1].get("sha256")
            if student not in late and (counted is None or own != counted[1].get("sha256")):
                what = f"submitted another file; for the team {different.team} {shown} counts"
                _concern(count, "groups", student, "", what)


def _look(count: ClassCount, student: Student, verdicts: dict[str, Verdict]) -> None:
    """Note what a human should look at in a submission, open or closed."""
    for verdict in verdicts.values():
        if verdict.status in ("MALFORMED", "INTERNAL"):
            _concern(count, verdict.status, student.id, "", verdict.reason)
        for flag in verdict.flags:
            _concern(count, "flags", student.id, "", flag)


def _add(
    count: ClassCount,
    asked: dict[str, Outline],
    student: Student,
    verdicts: dict[str, Verdict],
    status: str,
    students: list[str],
) -> None:
    """Count one submission, that of `students`, and the verdict `status` on all of it."""
    count.submissions += 1
    count.statuses[status] += 1
    seconds = sum(verdict.seconds for verdict in verdicts.values())
    count.seconds.append(seconds)
    count.peak = max(count.peak, *(verdict.peak_bytes for verdict in verdicts.values()))
    count.slowest.append((seconds, student.id, status))
    count.slowest = sorted(count.slowest, reverse=True)[:SLOWEST]
    ran = [one for one in verdicts.values() if one.status not in ("MALFORMED", "MISSING")]
    if ran:  # what held for all of a student's notebooks
        count.layers.update(set.intersection(*(set(one.layers) for one in ran)))
        elsewhere = all(one.guarantee == "judged elsewhere" for one in ran)
        count.guarantees["judged elsewhere" if elsewhere else "in the student's process"] += 1
    for notebook, verdict in verdicts.items():
        if notebook in asked:
            _add_questions(count, notebook, asked[notebook], student, verdict, students)


def _add_questions(
    count: ClassCount,
    notebook: str,
    outline: Outline,
    student: Student,
    verdict: Verdict,
    students: list[str],
) -> None:
    total = sum(question.points for question in verdict.questions)
    most = sum(question.max_points for question in verdict.questions)
    for question in verdict.questions:
        one = count.parts.get((notebook, question.cell))
        if one is None:
            continue
        title = one.part.title
        for flag in question.flags:
            _concern(count, "flags", student.id, title, flag)
        one.statuses[question.status] += 1
        if question.status == "INTERNAL":
            if verdict.status != "INTERNAL":
                _concern(count, "INTERNAL", student.id, title, question.reason)
            continue
        if question.max_points:
            one.shares.append(question.points / question.max_points)
            others = most - question.max_points
            one.rest.append((total - question.points) / others if others else 0.0)
        for case in question.cases:
            one.tried[case.says, case.hidden] += 1
            one.failed[case.says, case.hidden] += case.status != "OK"
        if question.misconception:
            count.misconceptions[title, question.misconception, question.hint] += 1
            count.holders.setdefault(question.misconception, set()).update(students)
        if question.unknown:
            answer = verdict.answers.get(question.name, "")[:2000]
            unknown = Unknown(title, student.id, question.reason, answer)
            count.unknown.setdefault((title, question.unknown), unknown).students += 1
    for part in outline.parts:
        if not part.written or verdict.status in ("MALFORMED", "MISSING", "INTERNAL"):
            continue
        one, mark = count.parts[notebook, part.cell], student.mark(notebook, part.cell)
        override = student.override(notebook, part.cell)
        if override and override.given(part.points) is not None:
            continue  # says nothing about how difficult it is
        if waits_for_human(part, mark, verdict):
            one.waiting += 1
        elif part.points:
            one.shares.append((mark.score if mark else 0.0) / part.points)
            one.rest.append(total / most if most else 0.0)


def outside(student: Student, exam: Exam | None, rule: LateRule | None) -> str:
    """Say that what counts of a student came before an exam began, or after all was over."""
    when = student.submitted
    if exam and when and when < exam.start.astimezone(UTC).replace(tzinfo=None):
        return f"submitted before the exam started, at {clock(when, student.zone)}, and counted"
    if rule and when and student.seconds_late > rule.end:
        return f"submitted after the end, at {clock(when, student.zone)}, and not counted"
    return ""


def _concern(count: ClassCount, group: str, student: str, where: str, what: str) -> None:
    count.concerns.setdefault(group, []).append(Concern(student, where, what))


def histogram(values: array, most: float, bars: int = 20) -> list[tuple[float, float, int]]:
    """Count values from 0 to `most` in bars of a round width: (from, to, how many)."""
    if most <= 0:
        return []
    raw = most / bars
    tens = 10.0 ** math.floor(math.log10(raw))
    width = next(step * tens for step in (1, 2, 2.5, 5, 10) if step * tens >= raw * 0.999)
    number = max(1, math.ceil(most / width - 1e-9))
    counts = [0] * number
    for value in values:
        counts[min(number - 1, max(0, int((value + 1e-9) / width)))] += 1
    return [(i * width, min(most, (i + 1) * width), n) for i, n in enumerate(counts)]
