"""A course: where its folders are, what its settings say, and how its files are written.

This file loads nothing heavy, since every command begins with it.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from coursekit._base import address
from coursekit._base.errors import CourseError

# nbgrader copies to students whatever lies beside a source notebook; so what is private does not.
SOURCES = "solutions/notebooks"


@dataclass(frozen=True)
class Course:
    """The course in the folder `root`; `course / "book"` is a path in it.

    What its settings say is read once for each object.
    """

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root).resolve())

    @classmethod
    def around(cls, start: Path) -> Course:
        """Return the course that `start` lies in: the nearest folder upwards that is one."""
        start = Path(start).resolve()
        for folder in (start, *start.parents):
            if (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir():
                return cls(folder)
        raise CourseError(
            f"{start} is not inside a course: no folder from there upwards holds "
            "both _config.yml and notebooks/"
        )

    def __truediv__(self, path: str | Path) -> Path:
        """Return a path in the course."""
        return self.root / path

    def __str__(self) -> str:
        """Return the folder."""
        return str(self.root)

    def relative(self, path: Path) -> str:
        """Return `path` as a reader of the course would write it: from its folder, with slashes."""
        path = Path(path).resolve()
        inside = path.is_relative_to(self.root)
        return path.relative_to(self.root).as_posix() if inside else str(path)

    # --- Folders and files ---

    @property
    def packages(self) -> Path:
        """The folder of coursekit and coursetools: the course's own, or that of this very file."""
        for folder in (self.root / "src", self.root):
            if (folder / "coursekit").is_dir():
                return folder
        return Path(__file__).parents[1]

    @property
    def notebooks(self) -> Path:
        """The folder of the lecture notebooks, the trainings and the released assignments."""
        return self.root / "notebooks"

    @property
    def lectures(self) -> list[Path]:
        """The lecture notebooks, in order."""
        return sorted(self.notebooks.glob("*.ipynb"))

    @property
    def executed(self) -> Path:
        """The folder of the executed copies of the lecture notebooks."""
        return self.root / "_build" / "executed"

    def page(self, stem: str) -> Path:
        """Return the file of a page of the book."""
        return self.root / "book" / f"{stem}.md"

    def source(self, name: str) -> Path:
        """Return the folder of an assignment's source notebook and what goes out with it."""
        return self.root / SOURCES / name

    def private(self, name: str) -> Path:
        """Return the folder of an assignment's questions, hidden cases and settings."""
        return self.root / "solutions" / name

    @property
    def assignments(self) -> list[str]:
        """The names of all assignments with a source notebook, other people's too."""
        return sorted({path.parent.name for path in (self.root / SOURCES).glob("*/*.ipynb")})

    @property
    def is_public(self) -> bool:
        """Whether this is the course as students see it: without the instructor's sources."""
        return not (self.root / SOURCES).is_dir()

    def released(self, name: str) -> Path:
        """Return the folder that students get."""
        return self.notebooks / "assignments" / name

    # --- Settings ---

    @cached_property
    def contents(self) -> dict[str, Any]:
        """What `_toc.yml` says."""
        return self._yaml("_toc.yml")

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What `_config.yml` says."""
        return self._yaml("_config.yml")

    @cached_property
    def address(self) -> str:
        """The address of the course's repository, or what stands for none."""
        url = (self.settings.get("repository") or {}).get("url")
        try:
            return address.parse(str(url))
        except CourseError as error:
            raise CourseError(
                "_config.yml needs repository: {url: https://github.com/OWNER/REPO}, "
                f"but its url is {url!r}"
            ) from error

    @property
    def branch(self) -> str:
        """The branch of the repository that learners get."""
        return str((self.settings.get("repository") or {}).get("branch") or "main")

    @property
    def book_address(self) -> str:
        """Where the book is published, or nothing while the course has no address."""
        try:
            home = self.address
        except CourseError:
            return ""
        return f"{address.pages(home)}/book" if address.is_set(home) else ""

    def _yaml(self, name: str) -> dict[str, Any]:
        import yaml

        try:
            read = _parsed((self.root / name).read_text(encoding="utf-8"))
        except OSError as error:
            raise CourseError(f"{self.root / name} cannot be read: {error.strerror}") from error
        except yaml.YAMLError as error:
            raise CourseError(f"{name} is not YAML: {' '.join(str(error).split())}") from error
        return read if isinstance(read, dict) else {}


@lru_cache(maxsize=8)
def _parsed(text: str) -> Any:
    """Return what YAML says; every course of a process reads the same two files."""
    import yaml

    return yaml.safe_load(text)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_changed(path: Path, content: str) -> bool:
    """Write a file that differs or is not there, half characters as `?`; return whether it did."""
    data = content.encode("utf-8", "replace")
    try:
        if path.read_bytes() == data:
            return False  # to read it costs less than to replace it
    except OSError:
        pass
    write_whole(path, data)
    return True


@contextmanager
def new_zip(path: Path, **options: Any) -> Iterator[zipfile.ZipFile]:
    """Yield a zip that stands at `path` once all of it is written."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, **options) as archive:
            yield archive
        os.replace(unfinished, path)
    except OSError as error:
        raise CourseError(f"cannot write {path} ({error.strerror or error})") from error
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def quick_imports() -> Iterator[None]:
    """Make `import nbformat` two seconds faster inside this block.

    nbformat imports jsonschema, and that compiles a grammar of internet addresses at once if the
    package rfc3987_syntax is there, which comes with Jupyter. The form of notebooks has no use for
    it, and jsonschema does without it.
    """
    name = "rfc3987_syntax"
    if name in sys.modules:
        yield
        return
    absent: dict[str, Any] = {name: None}
    sys.modules.update(absent)  # Python's own sign for "not there"
    try:
        yield
    finally:
        del sys.modules[name]
