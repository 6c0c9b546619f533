"""The tables of ours in nbgrader's database, and how many rows are written at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    MetaData,
    String,
    Table,
    bindparam,
    delete,
    inspect,
    select,
    update,
)


def _keys(*names: str) -> list[Column[str]]:
    return [Column(name, String(128), primary_key=True) for name in names]


OURS = MetaData()
# One row: the name that the database was given when we first used it.
IDENTITY = Table("coursekit_gradebook", OURS, Column("id", String(32), primary_key=True))
# Who was on an imported class list.
LISTED = Table("coursekit_listed", OURS, *_keys("student"))
# Who has left the class: not on the list, whatever names nbgrader's own table has.
LEFT = Table("coursekit_left", OURS, *_keys("student"))
# Which verdict each row was made of.
WRITTEN = Table(
    "coursekit_written",
    OURS,
    *_keys("assignment", "student", "notebook"),
    Column("submission", String(64)),
    Column("mark", String(64)),
)
# Which extensions of the gradebook are copies of the class's table.
EXTENDED = Table(
    "coursekit_extended", OURS, *_keys("assignment", "student"), Column("seconds", Float)
)
# The cells that hold an override's points, and what a human had entered there.
REPLACED_POINTS = Table(
    "coursekit_overridden",
    OURS,
    *_keys("assignment", "student", "notebook", "cell"),
    Column("points", Float),
    Column("manual", Float),
    Column("extra", Float),
    Column("waits", Boolean),
)

Rows = Sequence[dict[str, Any]]


def students_in(connection: Any, table: Any) -> set[str]:
    """Return the students of LISTED or LEFT; nobody where the database has no such table yet."""
    if not inspect(connection).has_table(table.name):
        return set()
    return set(connection.scalars(select(table.c.student)))


def insert_rows(connection: Any, table: Any, rows: Rows) -> None:
    """Write rows that are not there yet."""
    if rows:
        connection.execute(table.insert(), rows)


def update_rows(connection: Any, table: Any, rows: Rows) -> None:
    """Change rows of nbgrader's: `row` is the id of each, and all have the same columns."""
    if rows:
        connection.execute(update(table).where(table.c.id == bindparam("row")), rows)


def delete_rows(connection: Any, table: Any, rows: Rows) -> None:
    """Take out of a table of ours whatever has the keys of one of the rows."""
    if rows:
        same = (column == bindparam(column.name) for column in table.primary_key)
        connection.execute(delete(table).where(*same), rows)
