"""The book's own tables, CSV and TOML, read; a fault in their form is said with its place."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from coursekit._base.errors import CourseError

Row = TypeVar("Row")


def columns(row: type) -> tuple[str, ...]:
    """Return the columns of a table whose rows are this dataclass: its fields but `line`."""
    return tuple(field.name for field in fields(row) if field.name != "line")


def read_csv(path: Path, row: Callable[..., Row]) -> list[Row]:
    """Return the rows in the order of the file; `line` is where each stands in it."""
    expected = columns(row)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            header = tuple(next(reader, ()))
            if header != expected:
                raise CourseError(
                    f"{path.name} must begin with the columns {','.join(expected)}, "
                    f"not {','.join(header) or 'nothing'}"
                )
            rows = []
            for cells in reader:
                if len(cells) != len(expected):
                    raise CourseError(
                        f"{path.name}, line {reader.line_num}: {len(cells)} cells were found, "
                        f"{len(expected)} were expected"
                    )
                rows.append(row(*(cell.strip() for cell in cells), line=reader.line_num))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    return rows


def read_toml(path: Path) -> dict[str, Any]:
    """Return a table of the book."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path.name} is not valid TOML: {error}") from error
