"""Data cards: what a data set is, what it may be used for, and whether its file is the right one.

The page "What the models are trained on" shows the cards of all sets.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from coursekit._base import address
from coursekit._base.errors import CourseError

FILES = Path(__file__).parent / "files"
SOURCES = ("embedded", "full")


@dataclass(frozen=True)
class Card:
    """What a reader must know before training on a data set.

    `sha256` is that of the embedded file, or of what the installed package holds. `full` says
    what `source="full"` fetches; it is empty where the embedded data is all that there is.
    """

    name: str
    what: str
    licence: str
    source: str
    sha256: str
    splits: str
    wrong: str
    full: str = ""


# What brings the files of the package back: from its address, or from the folder of the course.
HOME = f'"coursekit @ git+{address.HOME}"' if address.is_set(address.HOME) else "."
REINSTALL = f"pip install --force-reinstall --no-deps {HOME}"


def checked(path: Path, sha256: str, mend: str) -> bytes:
    """Return the content of a file whose checksum is right; `mend` is the command to get it."""
    if not path.is_file():
        raise CourseError(f"the data file {path.name} is missing; run `{mend}`")
    content = path.read_bytes()
    same(content, sha256, path.name, mend)
    return content


def same(content: bytes, sha256: str, name: str, mend: str) -> None:
    """Say in one sentence if the content of `name` is not what its card promises."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise CourseError(
            f"{name} has the SHA-256 {digest[:16]}…, expected {sha256[:16]}…; run `{mend}`"
        )


def check_source(source: str) -> None:
    """Say what `source` may be."""
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, found {source!r}")
