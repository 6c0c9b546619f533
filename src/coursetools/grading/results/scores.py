"""What is known about each student's submission: the grader's verdict and the gradebook's marks.

Verdicts are read one by one, so that a class of ten thousand needs no more memory than
one of ten; marks (a few numbers and comments a student) are read from nbgrader's gradebook at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from coursekit._base.errors import CourseError
from coursetools.grading.gradebook.standing import Standing, standing_of
from coursetools.grading.records.overrides import Of, Override, Overrides, named
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results.outline import Outline, Part, safe_name
from coursetools.grading.running.submitted import NOTHING, state_of, submitted_file
from coursetools.settings.late_rule import DAY

if TYPE_CHECKING:
    from coursetools.grading.gradebook.lateness import Lateness
    from coursetools.grading.records.folders import Folders
    from coursetools.grading.records.verdict import Verdict
    from coursetools.grading.records.verdict_files import Place
    from coursetools.settings.late_days import Spent
    from coursetools.settings.late_rule import LateRule


IN_TIME = Standing("in time")


@dataclass(slots=True)
class Mark:
    """What the gradebook says of one graded cell of one student."""

    auto: float | None = None
    manual: float | None = None
    extra: float = 0.0
    waits: bool = False  # for a human
    comment: str = ""

    @property
    def score(self) -> float:
        """The points that count, as nbgrader counts them: a human's before the grader's."""
        return (self.auto or 0.0 if self.manual is None else self.manual) + self.extra


@dataclass(slots=True)
class Student:
    """A row of the class list, and what the gradebook has of this student's submission."""

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    lms: str = ""  # the id in the learning management system
    submitted: datetime | None = None
    due: datetime | None = None  # this student's own deadline, in the zone of the class's
    zone: tzinfo = UTC  # in which times are told
    extension: timedelta | None = None  # by which that is later than the class's
    standing: Standing = IN_TIME
    has_submission: bool = False
    left: bool = False  # the class; what they submitted before stays
    group: str = ""  # what it is called
    others: tuple[str, ...] = ()  # names of those with whom this student hands in
    seconds_late: float = 0.0  # after the student's own deadline
    late_days: Spent | None = None
    ungraded: bool = False  # something was submitted, and nothing of it is graded yet
    newer: bool = False  # it was submitted again since the verdicts that there are
    too_late: datetime | None = None  # when an attempt came that does not count any more
    penalty: float = 0.0  # as nbgrader wrote it down
    marks: dict[str, dict[str, Mark]] | None = None  # by notebook and cell; None: no submission
    overrides: Of = field(default_factory=dict)  # by question

    def mark(self, notebook: str, cell: str) -> Mark | None:
        """Return what the gradebook says of a graded cell."""
        return (self.marks or {}).get(notebook, {}).get(cell)

    def override(self, notebook: str, cell: str) -> Override | None:
        """Return what an instructor has set in its place."""
        return named(self.overrides, notebook, cell)

    @property
    def excused(self) -> bool:
        """Whether the assignment does not count for this student."""
        return self.standing.state == "excused"

    @property
    def open(self) -> bool:
        """Whether the assignment is still open for this student, and so has no number."""
        return self.standing.state == "open"

    @property
    def name(self) -> str:
        """The name as people write it, or the id where there is none."""
        return " ".join(part for part in (self.first, self.last) if part) or self.id

    @property
    def seconds_counted(self) -> float:
        """How late the hand-in counts as: less the late days that were spent on it."""
        spent = self.late_days.here if self.late_days else 0
        return max(0.0, self.seconds_late - spent * DAY)


@dataclass
class Book:
    """The gradebook's part of one assignment."""

    students: dict[str, Student] = field(default_factory=dict)
    due: datetime | None = None
    lateness: Lateness | None = None
    overrides: Overrides = field(default_factory=Overrides)
    begun: bool = True  # something of it was submitted or graded, by anyone
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def student(self, name: str, handed: Handed | None = None) -> Student:
        """Return a student, a bare one where the class list does not know the name."""
        student = self.students.get(name) or Student(name, overrides=self.overrides.of(name))
        if handed is not None:
            known = not handed.missing and bool(handed.places or student.marks is not None)
            student.ungraded = handed.newer and not known
            student.newer = handed.newer and known and bool(handed.places)
            if handed.missing:
                student.overrides = self.overrides.of(name, False)
        student.has_submission = _has_submission(student, handed)
        student.standing = IN_TIME if student.has_submission else Standing("missing")
        if self.lateness is not None:
            due = self.lateness.due_of(name)
            student.zone = self.lateness.zone
            student.due = due and due.replace(tzinfo=UTC).astimezone(student.zone)
            student.extension = self.lateness.extension(name)
            groups = self.lateness.groups
            student.group = groups.name(name)
            student.others = tuple(self._name(m) for m in groups.members(name) if m != name)
            student.seconds_late = self.lateness.seconds(name, student.submitted)
            student.late_days = self.lateness.spent(name, student.seconds_late)
            student.standing = standing_of(
                self.lateness, name, submitted=student.has_submission, came=student.submitted,
                begun=self.begun, now=self.now,
            )  # fmt: skip
        return student

    def absent(self, name: str) -> Standing:
        """Return the standing of a student of whom nothing is known but that nothing came."""
        if self.lateness is None:
            return Standing("missing")
        return standing_of(
            self.lateness, name, submitted=False, came=None, begun=self.begun, now=self.now
        )

    def _name(self, student: str) -> str:
        return self.students[student].name if student in self.students else student


def _has_submission(student: Student, handed: Handed | None) -> bool:
    """Return whether there is a submission of a student, graded or not."""
    if handed is not None and (handed.newer or handed.places):
        return handed.newer or not handed.missing
    # a restored extension makes a row too, without a notebook
    return student.submitted is not None or bool(student.marks)


@dataclass(frozen=True)
class Score:
    """A student's points, added up."""

    auto: float
    written: float
    penalty: float
    points: float  # that this student could have
    waits: float  # points that a human has still to give

    @property
    def total(self) -> float:
        """What counts, never below 0."""
        return round(max(0.0, self.auto + self.written - self.penalty), 2)

    def out_of(self, points: float) -> Score:
        """Return the same share of another maximum."""
        if points == self.points or not self.points:
            return self
        names = ("auto", "written", "penalty", "waits")
        scaled = {name: round(getattr(self, name) * points / self.points, 2) for name in names}
        return replace(self, points=points, **scaled)


def add_up(
    outlines: dict[str, Outline],
    student: Student,
    verdicts: dict[str, Verdict],
    rule: LateRule | None = None,
) -> Score:
    """Add up a student's points; a late penalty by `rule` takes manual points into account too."""
    auto = written = waits = points = 0.0
    for notebook, outline in outlines.items():
        verdict = verdicts.get(notebook)
        graded = {q.cell: q.points for q in verdict.questions} if verdict else {}
        for part in outline.parts:
            mark, override = (
                student.mark(notebook, part.cell),
                student.override(notebook, part.cell),
            )
            if override and override.drops:
                continue
            points += part.points
            given = override.given(part.points) if override else None
            if given is None:
                given = mark.score if mark else graded.get(part.cell, 0.0)
                if part.written and waits_for_human(part, mark, verdict):
                    waits += part.points
            if part.written:
                written += given
            else:
                auto += given
    penalty = student.penalty
    if rule is not None:
        penalty = rule.penalty(auto + written, student.seconds_counted)
    penalty = max(0.0, min(penalty, auto + written))
    return Score(round(auto, 2), round(written, 2), round(penalty, 2), points, round(waits, 2))


def points_of(student: Student, notebook: str, part: Part) -> float | None:
    """Return what a part is worth; None where it does not count, or nobody has marked it."""
    override = student.override(notebook, part.cell)
    given = override.given(part.points) if override else None
    if override and given is not None:
        return None if override.drops else round(given, 2)
    mark = student.mark(notebook, part.cell)
    if mark is None or (mark.waits and mark.manual is None and mark.auto is None):
        return None
    return round(mark.score, 2)


def maximum(outlines: dict[str, Outline], book: Book) -> float:
    """Return the points of an assignment, without questions that count for nobody."""
    dropped = book.overrides.dropped()
    return sum(
        part.points
        for notebook, outline in outlines.items()
        for part in outline.parts
        if not {part.cell, f"{notebook}.{part.cell}"} & dropped
    )


def waits_for_human(part: Part, mark: Mark | None, verdict: Verdict | None) -> bool:
    """Return whether a written part has an answer that nobody has marked yet."""
    if verdict is not None and verdict.status in ("MALFORMED", "MISSING"):
        return False
    if mark is None:
        return verdict is not None and bool(answer_in_words(part, verdict))
    return mark.waits


def answer_in_words(part: Part, verdict: Verdict) -> str:
    """Return what somebody could read as the answer to a written part, "" where there is none."""
    given = (verdict.answers.get(cell, "") for cell in part.answers)
    return "\n\n".join(source for source in given if part.is_answer(source)).strip()


def read_gradebook(folders: Folders, now: datetime | None = None) -> Book:
    """Read the class list and the marks of one assignment; an empty book where there is none.

    `now` (with its zone) decides for whom the assignment is still open; the clock's without one.
    """
    book = _read_gradebook(folders)
    book.now = now or datetime.now(UTC)
    marked = any(_has_submission(student, None) for student in book.students.values())
    by_hand = any(not row.of_all for row in book.overrides.rows)
    verdicts = any(folders.verdicts.glob("*/*.json"))
    book.begun = marked or by_hand or verdicts or any(folders.students())
    return book


def _read_gradebook(folders: Folders) -> Book:
    from coursetools.grading.gradebook.database import load_nbgrader
    from coursetools.grading.gradebook.irreplaceable import check
    from coursetools.grading.gradebook.lateness import lateness_of

    url, name = folders.database, folders.name
    overrides = Overrides.read(folders.course, name)
    if not folders.has_gradebook:
        check(folders, None)
        lateness = lateness_of(folders.course, name, None)
        return Book(due=lateness.due, lateness=lateness, overrides=overrides)
    load_nbgrader()
    from nbgrader import api
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with api.Gradebook(url) as gradebook:
            check(folders, gradebook.db.connection())
            gradebook.db.commit()
            connection = gradebook.db.connection()
            lateness = lateness_of(folders.course, name, connection)
            book = read_book(gradebook.db, name, api, lateness)
            for student in book.students.values():
                student.overrides = overrides.of(student.id, bool(student.marks))
            book.overrides = overrides
            return book
    except SQLAlchemyError as error:
        short = str(error).splitlines()[0]
        raise CourseError(f"the gradebook at {_hide(url)} cannot be read ({short})") from error


def _hide(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//…@", url)  # a password is there


def read_book(db: Any, name: str, api: Any, lateness: Lateness) -> Book:
    """Read what a gradebook of nbgrader's has of an assignment."""
    from coursetools.grading.gradebook.own_tables import LEFT, students_in
    from coursetools.grading.gradebook.replaced_points import ByHand, read_replaced_points

    book = Book(due=lateness.due, lateness=lateness)
    left, everybody = students_in(db.connection(), LEFT), {}
    for row in db.query(
        api.Student.id,
        api.Student.first_name,
        api.Student.last_name,
        api.Student.email,
        api.Student.lms_user_id,
    ).order_by(api.Student.id):
        who, first, last, email, lms = (str(value or "") for value in row)
        everybody[who] = Student(who, first, last, email, lms, left=who in left)
    book.students = {who: student for who, student in everybody.items() if who not in left}
    assignment = db.query(api.Assignment).filter(api.Assignment.name == name).one_or_none()
    if assignment is None:
        return book
    notebooks = [notebook.id for notebook in assignment.notebooks]
    handed_in = db.query(
        api.SubmittedNotebook.id,
        api.SubmittedAssignment.student_id,
        api.SubmittedAssignment.timestamp,
        api.SubmittedNotebook.late_submission_penalty,
        api.Notebook.name,
    )
    handed_in = (
        handed_in.select_from(api.SubmittedAssignment)
        .outerjoin(
            api.SubmittedNotebook,
            (api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
            & api.SubmittedNotebook.notebook_id.in_(notebooks),  # by an index, not by a scan each
        )
        .outerjoin(api.Notebook, api.SubmittedNotebook.notebook_id == api.Notebook.id)
        .filter(api.SubmittedAssignment.assignment_id == assignment.id)
    )
    marks: dict[str, dict[str, Mark]] = {}  # by nbgrader's id of the submitted notebook
    for notebook, who, when, penalty, of in handed_in:
        if who in left and notebook is None:  # their work stays, and no 0 where there is none
            continue
        student = book.students.setdefault(who, everybody.get(who) or Student(who))
        student.submitted = when
        student.marks = {} if student.marks is None else student.marks
        if notebook is not None:
            marks[notebook] = student.marks.setdefault(of, {})
        student.penalty += penalty or 0.0
    _marks(db, assignment.id, marks, api)
    for (who, of, cell), one in read_replaced_points(db.connection(), name).items():
        mark = book.students[who].mark(of, cell) if who in book.students else None
        if mark is not None:
            human = one.by_hand(ByHand(mark.manual, mark.extra, mark.waits))
            mark.manual, mark.extra, mark.waits = human.manual, human.extra or 0.0, human.waits
    return book


def _marks(db: Any, assignment: str, marks: dict[str, dict[str, Mark]], api: Any) -> None:
    for table, columns in (
        (
            api.Grade,
            ("auto_score", "manual_score", "extra_credit", "needs_manual_grade"),
        ),
        (api.Comment, ("auto_comment", "manual_comment")),
    ):
        rows = (
            db.query(table.notebook_id, api.BaseCell.name, *(getattr(table, c) for c in columns))
            .select_from(table)
            .join(api.BaseCell, table.cell_id == api.BaseCell.id)
            .join(api.Notebook, api.BaseCell.notebook_id == api.Notebook.id)
            .filter(api.Notebook.assignment_id == assignment)
        )
        for notebook, cell, *values in rows.yield_per(2000):
            if notebook not in marks:
                continue
            mark = marks[notebook].setdefault(cell, Mark())
            if table is api.Grade:
                mark.auto, mark.manual = values[0], values[1]
                mark.extra, mark.waits = values[2] or 0.0, bool(values[3])
            else:
                mark.comment = values[1] or ""  # the grader's own is in the verdict


@dataclass(frozen=True)
class Handed:
    """What one student submitted, as the verdicts have it: a place for each notebook."""

    student: str
    places: dict[str, Place]
    newer: bool = False  # there is something that no verdict is about

    @property
    def missing(self) -> bool:
        """Whether there is a folder, and nothing in it that was submitted."""
        return bool(self.places) and all(one.status == "MISSING" for one in self.places.values())


def handed_in(folders: Folders) -> dict[str, Handed]:
    """Return who has verdicts, and where these are, or something to be graded, in their order."""
    places: dict[str, dict[str, Place]] = {}
    for (student, notebook), place in Verdicts(folders.verdicts).index().items():
        if safe_name(student):
            places.setdefault(student, {})[notebook] = place
    names = folders.notebooks()
    newer = {who for who in folders.students() if _is_newer(folders, who, places.get(who), names)}
    return {
        student: Handed(student, places.get(student, {}), student in newer)
        for student in sorted(places.keys() | newer)
    }


def _is_newer(
    folders: Folders, student: str, places: dict[str, Place] | None, names: list[str]
) -> bool:
    """Return whether what lies in `submitted/` is not what the verdicts are about."""
    for notebook in places or names:
        path = submitted_file(folders, student, notebook, len(places or names))
        state = NOTHING if path is None else state_of(path, folders)
        if state != (places[notebook].submission if places else NOTHING):
            return True
    return False


def graded(folders: Folders, handed: dict[str, Handed] | None = None) -> dict[str, Handed]:
    """Return who has verdicts, of an assignment of which something has to be graded."""
    handed = handed_in(folders) if handed is None else handed
    if having := {who: one for who, one in handed.items() if one.places}:
        return having
    raise CourseError(f"{folders.name} is not graded yet; run coursekit grade {folders.name} first")


def verdicts_of(store: Verdicts, handed: Handed) -> dict[str, Verdict]:
    """Read one student's verdicts, by notebook."""
    return {notebook: store.read(place).verdict for notebook, place in handed.places.items()}
