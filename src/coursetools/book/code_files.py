"""The files of code that dotted names lead to; nothing is imported."""

from __future__ import annotations

from pathlib import Path


def find_file(dotted: str, source: Path) -> tuple[Path | None, list[str]]:
    """Return the file below `source` that `a.b.c` leads to, and what is left of the name in it."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        place = source.joinpath(*parts[:length])
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file, parts[length:]
    return None, parts
