"""A deadline as people read it, and where a released notebook has it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


def read_time(text: str, zone: tzinfo) -> datetime:
    """Return the time that somebody has written, in `zone` where it says none; or `ValueError`.

    A day alone is no time: is it over when it begins, or when it ends?
    """
    if not re.search(r"\d:\d\d", text):
        raise ValueError(text)
    when = datetime.fromisoformat(text.strip())
    return when if when.tzinfo else when.replace(tzinfo=zone)


def spelled(when: datetime) -> str:
    """Return a time with its zone: "Friday 20 November 2026, 12:00 UTC+01:00"."""
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    day = f"{DAYS[when.weekday()]} {when.day} {MONTHS[when.month - 1]} {when.year}"
    return f"{day}, {when:%H:%M} {_zone(when)}"


def clock(when: datetime, zone: tzinfo, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a time, in UTC if it says no zone, as `zone` has it: "2026-11-20 12:00 UTC+01:00"."""
    when = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(zone)
    return f"{when:{form}} {_zone(when)}"


def _zone(when: datetime) -> str:
    offset = when.strftime("%z")
    return "UTC" if offset == "+0000" else f"UTC{offset[:3]}:{offset[3:5]}"


def span(time: timedelta) -> str:
    """Return how long that is, in the largest unit that there are two of: "36 hours", "2 days"."""
    minutes = round(abs(time.total_seconds()) / 60)
    for unit, size in (("day", 24 * 60), ("hour", 60)):
        if minutes >= 2 * size or (minutes % size == 0 and minutes):
            count = minutes // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def of_notebook(metadata: dict[str, Any]) -> datetime | None:
    """Return the deadline that a released notebook's metadata has, None where it has none."""
    try:
        due = datetime.fromisoformat(metadata["coursekit"]["due"])
    except (KeyError, TypeError, ValueError):
        return None
    return due if due.tzinfo else None


def said(due: datetime, now: datetime) -> str:
    """Say a deadline and how far it is: "due Friday 20 November 2026, 12:00 UTC: in 2 days"."""
    away = span(due - now)
    return f"due {spelled(due)}: {f'in {away}' if due >= now else f'{away} ago'}"
