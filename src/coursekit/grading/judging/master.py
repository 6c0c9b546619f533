"""What a class is graded against: the instructor's notebook and hidden cases, as plain data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from coursekit.assignments.release import source
from coursekit.course import private_folder


@dataclass(frozen=True)
class Master:
    """The private half of an assignment; small, and the same on every machine."""

    name: str
    notebook: str  # the source notebook, JSON, with solutions and hidden tests
    hidden: str = ""  # the text of hidden.py
    key: str = ""  # names all that a grade depends on but for the submission and the limits

    @classmethod
    def read(cls, root: Path, name: str) -> Self:
        """Read the assignment `name` of the course at `root`."""
        path, hidden = source(root, name), private_folder(root, name) / "hidden.py"
        text = hidden.read_text(encoding="utf-8") if hidden.is_file() else ""
        return cls.of(name, path.read_text(encoding="utf-8"), text)

    @classmethod
    def of(cls, name: str, notebook: str, hidden: str = "") -> Self:
        """Return a master with the key that belongs to its content."""
        digest = hashlib.sha256()
        for part in (name, notebook, hidden, *_public_half(name)):
            digest.update(hashlib.sha256(part.encode("utf-8", "replace")).digest())
        return cls(name, notebook, hidden, digest.hexdigest()[:32])


def _public_half(name: str) -> list[str]:
    """Return the sources of the questions, and of what compares answers with them."""
    folder = Path(__file__).parents[2] / "exercises"
    paths = sorted((folder / name).glob("*.py"))
    paths += [folder / "comparing" / "compare.py", folder / "probe.py"]
    return [path.read_text(encoding="utf-8") for path in paths if path.is_file()]
