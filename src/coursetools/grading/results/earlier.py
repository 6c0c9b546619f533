"""Submissions of earlier years, for `coursekit review NAME EARLIER…`.

PATH is a folder of notebooks, another class's `autograder/`, or a zip of either, as
`coursekit backup` writes one. Nothing of them is run; a notebook that cannot be read is left out.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from coursekit._base.errors import CourseError
from coursekit.submission.parsing import Malformed
from coursetools.assignments.rebuild import rebuild
from coursetools.grading.records.folders import Folders, read_plain
from coursetools.grading.running.keys import masters_of

Answers = dict[str, str]


def earlier_answers(path: Path, folders: Folders) -> dict[str, dict[str, Answers]]:
    """Return the answers of each earlier hand-in, by a name for it, then by notebook.

    Equal ones are one, under all names.
    """
    path, masters, most = Path(path), masters_of(folders), folders.limits.submission_bytes
    students: dict[str, dict[str, Answers]] = {}
    for place, data in _notebooks(path, folders.name, most):
        notebook = place.stem if len(masters) > 1 else next(iter(masters))
        if notebook not in masters or len(data) > most:
            continue
        try:
            answers = rebuild(masters[notebook], data, folders.limits).answers
        except Malformed:
            continue
        counted = place.match(_of_class(folders.name))
        who = place.parts[-3] if counted else str(place)
        students.setdefault(who, {})[notebook] = answers
    if not students:
        raise CourseError(f"{path} has no readable notebook of {folders.name}")
    together: dict[str, list[str]] = {}  # a group has one hand-in, under each member's name
    for who, books in students.items():
        together.setdefault(repr(books), []).append(who)
    return {f"{path.name}: {', '.join(sorted(of))}": students[of[0]] for of in together.values()}


def _of_class(name: str) -> str:
    """Return the pattern of the attempts that counted, in a class's folders."""
    return f"submitted/*/{name}/*.ipynb"


def _notebooks(path: Path, name: str, most: int) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the notebooks: of a class's folders the attempts that counted, else all."""
    if path.is_dir():
        files = {file.relative_to(path): file for file in sorted(path.rglob("*.ipynb"))}
        places = {PurePosixPath(place.as_posix()): file for place, file in files.items()}
        for place in _chosen(list(places), name):
            with contextlib.suppress(OSError):  # a link, a folder, or gone
                yield place, read_plain(places[place], most)
        return
    try:
        with zipfile.ZipFile(path) as zipped:
            sizes = {PurePosixPath(one.filename): one for one in zipped.infolist()}
            for place in _chosen(list(sizes), name):
                if sizes[place].file_size <= most:
                    yield place, zipped.read(sizes[place])
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror or error})") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise CourseError(f"{path} is neither a folder nor a zip ({error})") from error


def _chosen(places: list[PurePosixPath], name: str) -> list[PurePosixPath]:
    notebooks = [
        place
        for place in places
        if place.suffix == ".ipynb" and not any(part.startswith(".") for part in place.parts)
    ]
    return [place for place in notebooks if place.match(_of_class(name))] or notebooks
