"""What `assignment.toml` in an assignment's folder says: deadline, late rule, limits."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError


def settings_of(folder: Path) -> dict[str, Any]:
    """Return what the `assignment.toml` in an assignment's folder says; {} where there is none."""
    path = Path(folder) / "assignment.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {error}") from error


def due_of(folder: Path) -> datetime | None:
    """Return the deadline in an assignment's `assignment.toml`, in UTC as nbgrader keeps it."""
    due = settings_of(folder).get("due")
    if due is None:
        return None
    if not isinstance(due, datetime) or due.tzinfo is None:
        raise CourseError(
            f"due in {Path(folder) / 'assignment.toml'} should be a time with its zone, "
            "such as 2026-10-01T23:59:00+02:00"
        )
    return due.astimezone(UTC).replace(tzinfo=None)
