"""Reads the hidden cases of an assignment; only the judge's process ever does."""

from __future__ import annotations

from pathlib import Path

from coursekit.errors import CourseError
from coursekit.exercises.private import read
from coursekit.exercises.question import Case


def load(source: Path | str) -> dict[str, list[Case]]:
    """Return the cases by question, of a file or of its text; "" has none."""
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    if not text.strip():
        return {}
    try:
        return read(text)
    except Exception as error:
        said = " ".join(str(error).split())
        raise CourseError(f"hidden.py cannot be read: {type(error).__name__}: {said}") from error
