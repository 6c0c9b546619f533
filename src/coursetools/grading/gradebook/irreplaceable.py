"""What a gradebook holds that cannot be computed again, kept in a plain file beside the store.

Names, the class list, points and comments by hand, extensions, a deadline set in formgrader. Each
command that opens the gradebook adds what has changed: a line of JSON says `of` whom, and what it
`is` now. Lines are only ever added, and the last one counts. A line with `gradebook` names the
database that the file is in step with; in another one, what the file holds is put back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import inspect, select, update

from coursekit._base.errors import CourseError
from coursekit.submission.deadline import clock
from coursetools.course import Course
from coursetools.grading.gradebook.by_hand import MARK, agree, cells, of_row, write_by_hand
from coursetools.grading.gradebook.database import Database
from coursetools.grading.gradebook.lateness import granted
from coursetools.grading.gradebook.own_tables import (
    IDENTITY,
    LEFT,
    LISTED,
    OURS,
    WRITTEN,
    insert_rows,
    students_in,
)
from coursetools.grading.gradebook.replaced_points import ByHand, read_replaced_points
from coursetools.grading.gradebook.structure import Structure
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.groups import Groups
from coursetools.grading.records.log import FILE as LOG
from coursetools.grading.records.log import add_lines, now, read_lines
from coursetools.settings.assignment_settings import due_of
from coursetools.settings.class_settings import zone_of

PERSON = ("first_name", "last_name", "email", "lms_user_id")
Of = tuple[str, ...]  # ("person", id), ("mark" or "comment", student, notebook, cell), …


@dataclass
class Kept:
    """The file of one assignment."""

    course: Course
    path: Path
    gradebook: str = ""  # the database that it is in step with
    items: dict[Of, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folders: Folders) -> Kept:
        """Read the file, without lines that are damaged."""
        kept = cls(folders.course, folders.kept)
        for row in read_lines(kept.path):
            try:
                if "gradebook" in row:
                    kept.gradebook = str(row["gradebook"])
                else:
                    kept._set(tuple(row["of"]), row["is"])
            except (KeyError, TypeError):
                continue
        return kept

    def keep(
        self, gradebook: str, items: dict[Of, Any], by: Mapping[Of, str] | None = None
    ) -> None:
        """Add what differs from what the file holds; what is another by hand goes into the log.

        `by` says of (student, notebook, cell) who gave the points, where formgrader did not.
        """
        changed = [
            (of, items.get(of))
            for of in {**self.items, **items}
            if self.items.get(of) != items.get(of)
        ]
        lines = [{"of": list(of), "is": is_now} for of, is_now in changed]
        lines += [{"gradebook": gradebook}] if gradebook != self.gradebook else []
        if not lines:
            return
        add_lines(self.path, lines)
        if self.gradebook in ("", gradebook):  # and not put back into another one
            name = self.path.stem
            in_file = due_of(self.course.private(name)) is not None  # `settings` has its line
            said = [
                _said(name, of, self.items.get(of), is_now, by or {})
                for of, is_now in changed
                if not (in_file and of[0] == "due")
            ]
            if said := [one for one in said if one]:
                add_lines(self.course / LOG, said)
        self.gradebook, self.items = gradebook, items

    def _set(self, of: Of, value: Any) -> None:
        if value is None:
            self.items.pop(of, None)
        else:
            self.items[of] = value


def _said(
    assignment: str, of: Of, before: Any, is_now: Any, by: Mapping[Of, str]
) -> dict[str, Any] | None:
    """Return a line of the log about what a human has entered; formgrader says not who, or when."""
    head = {"time": now(), "by": by.get(of[1:], "formgrader"), "assignment": assignment}
    if of[0] == "mark":
        old, new = ((one or {}).get("manual_score") for one in (before, is_now))
        more = (is_now or {}).get("extra_credit") or None
        if old == new and more == ((before or {}).get("extra_credit") or None):
            return None
        facts = {"question": of[3], "student": of[1], "before": old, "points": new, "extra": more}
        kept = {name: value for name, value in facts.items() if value is not None}
        return {**head, "action": "marked", **kept}
    if of[0] in ("comment", "extension", "due"):
        facts = {"question": of[3]} if of[0] == "comment" else {}
        who = {"student": of[1]} if len(of) > 1 else {}
        return {**head, "action": of[0], **facts, **who, "is": is_now}
    return None


def identity(connection: Any) -> str:
    """Return the name that the database was given when we first used it, "" where it has none."""
    if not inspect(connection).has_table(IDENTITY.name):
        return ""
    return connection.scalar(select(IDENTITY.c.id)) or ""


def irreplaceable(connection: Any, folders: Folders) -> dict[Of, Any]:
    """Return what a database holds that cannot be computed again.

    A deadline is among it only where `assignment.toml` has none: that one goes first.
    """
    from nbgrader import api

    name = folders.name
    person = api.Student.__table__
    on_list, left = students_in(connection, LISTED), students_in(connection, LEFT)
    items: dict[Of, Any] = {}
    for row in connection.execute(select(person.c.id, *(person.c[one] for one in PERSON))):
        facts = {one: getattr(row, one) for one in PERSON if getattr(row, one)}
        items["person", row.id] = {**facts, "listed": row.id in on_list}
        if row.id in left:
            items["person", row.id]["left"] = True
    assignment = api.Assignment.__table__
    due = connection.scalar(select(assignment.c.duedate).where(assignment.c.name == name))
    if due is not None and due_of(folders.private) is None:
        items["due",] = due.isoformat()
    for student, extension in granted(connection, name).items():
        items["extension", student] = extension.total_seconds()
    overridden = read_replaced_points(connection, name)
    for row in cells(connection, name, api.Grade, only=True):
        of, one = (row.student, row.notebook, row.cell), ByHand.of(row)
        one = overridden[of].by_hand(one) if of in overridden else one
        if one.manual is not None or one.extra:
            given = (one.manual, one.extra, one.waits, row.submission)
            items["mark", *of] = dict(zip((*MARK, "submission"), given))
    for row in cells(connection, name, api.Comment, only=True):
        items["comment", row.student, row.notebook, row.cell] = row.manual_comment
    return items


def recall(folders: Folders, database: Database, note: Callable[[str], None]) -> Kept | None:
    """Keep what the database holds; or say that it is a new one, and return what is to be put back.

    People are put back here, since who may hand in hangs on the class list.
    """
    kept = Kept.read(folders)

    def work() -> tuple[str, bool, dict[Of, Any]]:
        with database.writing.begin() as connection:
            OURS.create_all(connection)
            known = identity(connection)
            name = known or uuid4().hex
            insert_rows(connection, IDENTITY, [] if known else [{"id": name}])
            used = bool(known or connection.execute(select(WRITTEN).limit(1)).first())
            if kept.gradebook not in ("", name):
                _people(connection, kept)
            return name, used, irreplaceable(connection, folders)

    name, used, items = database.patiently(work)
    if kept.gradebook not in ("", name):
        note(_lost(folders, kept))
        return kept
    if not used and (graded := len(list(folders.verdicts.glob("*/*.json")))):
        note(
            f"{NEW}, although {folders.name} was graded before. The verdicts are restored from "
            f"the files ({graded}); names, the class list, points and comments by hand are lost: "
            "restore a copy of the old gradebook, or collect the class list again (coursekit "
            f"collect {folders.name} FILE) and enter the rest in formgrader"
        )
    before, groups = dict(kept.items), Groups.of(folders)
    kept.keep(name, items)

    def same_for_all() -> dict[Of, Any]:
        with database.writing.begin() as connection:
            agree(connection, folders.name, groups, before)
            return irreplaceable(connection, folders)

    if groups.names:
        kept.keep(name, database.patiently(same_for_all))
    return None


def put_back(folders: Folders, database: Database, kept: Kept, note: Callable[[str], None]) -> None:
    """Put points and comments by hand into rows that were written again; say what has no place.

    The rows are then to be written once more, for late penalties hang on points by hand.
    """

    def work() -> tuple[str, list[Of], dict[Of, Any]]:
        from nbgrader import api

        lost: list[Of] = []
        marks: list[tuple[Any, ByHand]] = []
        comments: list[tuple[Any, str | None]] = []
        with database.writing.begin() as connection:
            held = read_replaced_points(connection, folders.name)
            for kind, table in (("mark", api.Grade), ("comment", api.Comment)):
                rows = {(kind, *of_row(row)): row for row in cells(connection, folders.name, table)}
                kept_here = {of: value for of, value in kept.items.items() if of[0] == kind}
                lost += [of for of in kept_here if of not in rows]
                there = [(rows[of], value) for of, value in kept_here.items() if of in rows]
                if kind == "comment":
                    comments += [(row, text) for row, text in there if not row.manual_comment]
                    continue
                for row, value in there:
                    over = held.get(of_row(row))
                    now = over.before if over else ByHand.of(row)
                    if now.manual is None and not now.extra:
                        manual, extra, waits = (value[one] for one in MARK)
                        changed = value["submission"] not in (None, row.submission)
                        marks.append((row, ByHand(manual, extra, bool(waits or changed))))
            write_by_hand(connection, folders.name, held, marks, comments)
            of_students = (WRITTEN.c.assignment == folders.name, WRITTEN.c.student != "")
            connection.execute(update(WRITTEN).where(*of_students).values(mark=""))
            return identity(connection), lost, irreplaceable(connection, folders)

    name, lost, items = database.patiently(work)
    for of in lost:
        note(f"{of[1]}: the {of[0]} for {of[3]} could not be restored: {kept.items[of]}")
    kept.keep(name, items)


def put_back_times(connection: Any, kept: Kept, structure: Structure) -> datetime | None:
    """Put back extensions, and a deadline of formgrader's, before the penalties; return it."""
    from nbgrader import api

    table, submitted = api.Assignment.__table__, api.SubmittedAssignment.__table__
    due, assignment = structure.due, structure.assignment
    if due is None and ("due",) in kept.items:
        due = datetime.fromisoformat(kept.items["due",])
        connection.execute(update(table).where(table.c.id == assignment).values(duedate=due))
    query = select(submitted.c.student_id).where(submitted.c.assignment_id == assignment)
    there = set(connection.scalars(query))
    for of, seconds in kept.items.items():
        if of[0] != "extension":
            continue
        extension = timedelta(seconds=seconds)
        if of[1] in there:
            change = update(submitted).where(
                submitted.c.assignment_id == assignment,
                submitted.c.student_id == of[1],
                submitted.c.extension.is_(None),
            )
            connection.execute(change.values(extension=extension))
        else:
            facts = {"id": uuid4().hex, "assignment_id": assignment, "student_id": of[1]}
            insert_rows(connection, submitted, [{**facts, "extension": extension}])
    return due


def check(folders: Folders, connection: Any | None) -> None:
    """Refuse to read a gradebook in which what was entered by hand is not put back; or keep it.

    What was entered for one of a group is written for the others; to commit is the caller's.
    """
    kept = Kept.read(folders)
    name = "" if connection is None else identity(connection)
    if kept.gradebook and kept.gradebook != name:
        raise CourseError(
            f"{_lost(folders, kept)} Run coursekit grade {folders.name} first: it restores them"
        )
    if connection is not None and name:
        before = dict(kept.items)
        kept.keep(name, irreplaceable(connection, folders))
        if agree(connection, folders.name, Groups.of(folders), before):
            kept.keep(name, irreplaceable(connection, folders))


NEW = "the gradebook is new or missing"


def _lost(folders: Folders, kept: Kept) -> str:
    changed = datetime.fromtimestamp(kept.path.stat().st_mtime, UTC)
    last = clock(changed, zone_of(folders.course, folders.name))
    counts = Counter(of[0] for of in kept.items)
    what = (
        f"{counts['person']} of the class, {counts['mark']} with points by hand, "
        f"{counts['comment']} with comments, {counts['extension']} with extensions"
    )
    return (
        f"{NEW}, although {folders.name} was graded before. The verdicts are restored from the "
        f"store, and names, points and comments from {folders.course.relative(kept.path)} of "
        f"{last} ({what}); anything entered later is lost, unless you restore a copy of the old "
        "gradebook."
    )


def _people(connection: Any, kept: Kept) -> None:
    """Enter the people that the database does not know, and the names that it lacks."""
    from nbgrader import api

    table = api.Student.__table__
    query = select(table.c.id, *(table.c[one] for one in PERSON))
    there = {row.id: any(row[1:]) for row in connection.execute(query)}
    on_list, left = students_in(connection, LISTED), students_in(connection, LEFT)
    people = {of[1]: facts for of, facts in kept.items.items() if of[0] == "person"}
    new = [who for who in people if who not in there]
    rows = [{"id": who, **{one: people[who].get(one) for one in PERSON}} for who in new]
    insert_rows(connection, table, rows)
    for who, facts in people.items():
        names = {one: facts[one] for one in PERSON if one in facts}
        if names and there.get(who) is False:
            connection.execute(update(table).where(table.c.id == who).values(names))
    rows = [{"student": who} for who in people if people[who]["listed"] and who not in on_list]
    insert_rows(connection, LISTED, rows)
    gone = [who for who in people if people[who].get("left") and who not in on_list | left]
    insert_rows(connection, LEFT, [{"student": who} for who in gone])
