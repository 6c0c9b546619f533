"""The gradebook's database: nbgrader's tables, made if need be, and a patient way to write to them.

SQLite gets a write-ahead log, so formgrader can read while we write; a Postgres address works the
same. Somebody else's lock is waited for, and then said in one sentence.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import create_engine, event, inspect, select
from sqlalchemy.exc import DBAPIError

from coursekit._base.errors import CourseError
from coursetools.course import quick_imports
from coursetools.grading.gradebook.own_tables import LEFT, LISTED, students_in
from coursetools.grading.records.folders import Folders

T = TypeVar("T")
WAIT = 60.0  # seconds for somebody else's lock on the database


class Database:
    """A connection to the gradebook of a course; `engine` reads, `writing` takes the write lock."""

    def __init__(
        self, folders: Folders, note: Callable[[str], None] = lambda text: None, wait: float = WAIT
    ) -> None:
        load_nbgrader()
        self.folders, self.note, self.wait = folders, note, wait
        self.url = folders.database
        folders.class_folder.mkdir(parents=True, exist_ok=True)
        with _venv_on_path():
            self.patiently(self._create_tables)
        self.engine = self._connect()
        self.writing = self.engine.execution_options(writes=True)

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def students(self) -> dict[str, dict[str, str]]:
        """Return id -> first_name, last_name, email, lms_user_id of everybody on the class list."""
        from nbgrader import api

        table = api.Student.__table__
        names = ("first_name", "last_name", "email", "lms_user_id")
        with self.engine.connect() as connection:
            rows = connection.execute(select(table.c.id, *(table.c[name] for name in names)))
            return {row.id: {name: getattr(row, name) or "" for name in names} for row in rows}

    def names(self) -> dict[str, str]:
        """Return everyone's name as people write it, by id; "" where none is known."""
        return {
            one: f"{row['first_name']} {row['last_name']}".strip()
            for one, row in self.students().items()
        }

    def listed(self) -> tuple[set[str], set[str]]:
        """Return who was on an imported class list, and who has left the class."""
        with self.engine.connect() as connection:
            return students_in(connection, LISTED), students_in(connection, LEFT)

    def patiently(self, work: Callable[[], T]) -> T:
        """Do `work`, again and again while somebody else holds the database's lock."""
        start, told = time.monotonic(), False
        while True:
            try:
                return work()
            except Exception as error:
                if not _locked(error):
                    if not isinstance(error, DBAPIError):
                        raise
                    short = " ".join(str(error.orig).split())
                    raise CourseError(
                        f"the gradebook cannot be used ({short}); verdicts so far are kept: "
                        "fix this and run the same command again"
                    ) from error
                if not told:
                    self.note("the gradebook is locked by another program; waiting for it")
                    told = True
                if time.monotonic() - start >= self.wait:
                    raise CourseError(
                        "the gradebook is locked by another program (formgrader, or another "
                        "grader); verdicts so far are kept: close it and run the same "
                        "command again"
                    ) from error
                time.sleep(0.1)

    def _create_tables(self) -> None:
        """Let nbgrader make its tables where there are none."""
        from nbgrader.api import Course, Gradebook

        plain = create_engine(self.url)
        if self.url.startswith("sqlite:///"):
            with suppress(OSError):  # SQLite would give others no right to write to it, ever
                Path(self.url.removeprefix("sqlite:///")).touch(exist_ok=False)
        try:
            if inspect(plain).has_table(Course.__tablename__):
                course = select(Course.__table__.c.id).where(
                    Course.__table__.c.id == self.folders.course_id
                )
                with plain.connect() as connection:
                    if connection.execute(course).first():
                        return
        finally:
            plain.dispose()
        Gradebook(self.url, self.folders.course_id).close()

    def _connect(self) -> Any:
        if not self.url.startswith("sqlite"):
            return create_engine(self.url)
        engine = create_engine(self.url, connect_args={"timeout": 0.2})

        @event.listens_for(engine, "connect")
        def prepare(connection: Any, _: Any) -> None:
            connection.isolation_level = None  # we say when a transaction begins
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")

        @event.listens_for(engine, "begin")
        def begin(connection: Any) -> None:
            writes = connection.get_execution_options().get("writes")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine


def load_nbgrader() -> None:
    """Import nbgrader without the grammar that its imports would compile for two seconds."""
    with quick_imports():
        import nbgrader.api  # noqa: F401


def _locked(error: Exception) -> bool:
    text = str(error)
    return "database is locked" in text or "database table is locked" in text


@contextmanager
def _venv_on_path() -> Iterator[None]:
    """nbgrader asks a program called alembic for the version of a new database."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before
