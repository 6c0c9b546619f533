"""What `autograder/class.toml` says: the settings of a class that no single assignment has.

    time_zone = "Europe/Berlin"   # in which times without a zone are read

    [late_days]
    budget = 5
    most = 2

    [term]
    drop = 1

    [term.weights]
    a01_kernels = 1.0

Whoever uses a table of it looks at what is in that table.
"""

from __future__ import annotations

import math
import tomllib
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.settings.assignment_settings import settings_of

FILE = "autograder/class.toml"
KNOWN = ("time_zone", "late_days", "term")


def class_settings(course: Course) -> dict[str, Any]:
    """Return what the file says; {} where there is none."""
    path = course / FILE
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {error}") from error
    check_names(path, settings, KNOWN)
    return settings


def table_of(course: Course, name: str, known: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the table `[name]`, in which only `known` may stand; None where there is none."""
    table = class_settings(course).get(name)
    return None if table is None else checked(course / FILE, name, table, known)


def checked(path: Path, name: str, table: Any, known: tuple[str, ...]) -> dict[str, Any]:
    """Return what stands as `[name]` in a file, if that is a table with no other names."""
    if not isinstance(table, dict):
        raise CourseError(f"{path}: {name} should be a table, [{name}], found {table!r}")
    check_names(path, table, known, f"[{name}] ")
    return table


def check_names(path: Path, table: dict[str, Any], known: tuple[str, ...], where: str = "") -> None:
    """Refuse names that nobody knows; most are misspelled."""
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise CourseError(
            f"{path}: {where}unknown {', '.join(unknown)}; expected {', '.join(known)}"
        )


def whole(path: Path, name: str, value: Any) -> int:
    """Return a whole number from 0, or say that it is none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CourseError(f"{path}: {name} is {value!r}; it should be a whole number from 0")
    return value


def positive(path: Path, name: str, value: Any) -> float:
    """Return a number from 0, or say that it is none."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0:
        raise CourseError(f"{path}: {name} is {value!r}; it should be a number from 0")
    return float(value)


def time_zone_of(course: Course, otherwise: tzinfo | None = None) -> tzinfo:
    """Return the zone in which a time without one is read: the class's, else `otherwise` or UTC."""
    name = class_settings(course).get("time_zone")
    if name is None:
        return otherwise or UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, TypeError, LookupError) as error:
        raise CourseError(
            f"{course / FILE}: time_zone is {name!r}, which this machine does not know; write one "
            'such as "Europe/Berlin"'
        ) from error


def zone_of(course: Course, name: str | None = None) -> tzinfo:
    """Return the zone in which times are shown: the class's, else the deadline's, else UTC."""
    due = settings_of(course.private(name)).get("due") if name else None
    return time_zone_of(course, getattr(due, "tzinfo", None))
