"""The files outside the class's folder that decide a grade, and what git has of them.

Deadlines, late rules and limits (`solutions/NAME/assignment.toml`), questions and hidden cases, the
grader's own code, and nbgrader's settings. A backup holds what git cannot give back: every
`assignment.toml`, and whatever differs from the commit. Where nothing of the course is in git, it
holds all of `solutions/`.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from coursetools.course import Course, write_whole

CONFIG = "autograder/nbgrader_config.py"
PLACES = ("solutions", "src", CONFIG)
SETTINGS = "assignment.toml"
ASIDE = "from_backup"  # below autograder/: what was not put back, and what was replaced


@dataclass(frozen=True)
class InGit:
    """The commit of a course, and which of the files that decide a grade are as in it."""

    commit: str = ""  # "" where git has none of these files
    clean: frozenset[str] = frozenset()
    differ: tuple[str, ...] = ()  # changed or new
    gone: tuple[str, ...] = ()  # in the commit, and deleted here

    @classmethod
    def of(cls, course: Course) -> InGit:
        """Ask git; without git, or outside a repository, nothing is in it."""
        tracked = set(_git(course, "ls-files", "-z", "--", *PLACES))
        (commit, *_) = _git(course, "rev-parse", "HEAD") or [""]
        if not tracked or not commit:
            return cls()
        changed = set(
            _git(course, "diff", "--name-only", "--relative", "-z", "HEAD", "--", *PLACES)
        )
        new = _git(course, "ls-files", "-z", "--others", "--exclude-standard", "--", *PLACES)
        gone = {name for name in changed if not (course / name).is_file()}
        differ = sorted({*changed, *new} - gone)
        return cls(commit, frozenset(tracked - changed), tuple(differ), tuple(sorted(gone)))


def _git(course: Course, *words: str) -> list[str]:
    """Return what git says, a name or a line each; [] where it fails, or is not installed."""
    # On a shared machine the course may be another account's, of which git would say nothing.
    command = ["git", "-c", "safe.directory=*", "-C", str(course), *words]
    try:
        made = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    text = made.stdout.decode("utf-8", "surrogateescape")
    return [part for part in text.split("\0" if "-z" in words else "\n") if part]


def to_save(course: Course, git: InGit) -> list[str]:
    """Return the files that a backup holds, as paths in the course."""
    settings = course.root.glob(f"solutions/*/{SETTINGS}")
    names = {course.relative(path) for path in settings} | set(git.differ)
    if not git.commit:
        paths = [*course.root.glob("solutions/**/*"), course / CONFIG]
        names |= {path.relative_to(course.root).as_posix() for path in paths}
    return sorted(name for name in names if _is_plain(course, name))


def _is_plain(course: Course, name: str) -> bool:
    hidden = any(part.startswith((".", "__")) for part in PurePosixPath(name).parts[:-1])
    path = course / name
    return path.is_file() and not path.is_symlink() and not hidden


def is_saved_path(name: str) -> bool:
    """Return whether a backup may hold a file of this path in the course."""
    parts = PurePosixPath(name).parts
    inside = name == CONFIG or (len(parts) > 1 and parts[0] in PLACES)
    return inside and ".." not in parts and not name.startswith("/")


@dataclass(frozen=True)
class PutBack:
    """What became of the files of a backup in the course that it was put back into."""

    settings: tuple[str, ...] = ()  # names of assignments whose deadlines and rules came back
    files: tuple[str, ...] = ()  # other files that came back
    left: tuple[str, ...] = ()  # that differ here, and were left as they are
    replaced: tuple[str, ...] = ()  # whose earlier content git does not have


def put_back(course: Course, saved: Path, commit: str) -> PutBack:
    """Put the files in the folder `saved` into a course, as far as nothing is lost by it.

    Settings belong to the class and always come back. Another file comes back if the course is at
    the backup's commit and git has its present content, or if the course has nothing of that
    assignment. Everything else stays as it is, with the backup's copy aside.
    """
    git, aside = InGit.of(course), course / "autograder" / ASIDE
    assignments = set(course.assignments)
    settings, files, left, replaced = [], [], [], []
    for path in sorted(path for path in saved.rglob("*") if path.is_file()):
        name = path.relative_to(saved).as_posix()
        new, here = path.read_bytes(), course / name
        old = here.read_bytes() if here.is_file() else None
        if old == new:
            continue
        is_settings = here.name == SETTINGS
        known = old is None or name in git.clean
        own = old is None and _assignment(name) not in {*assignments, ""}
        if not (is_settings or own or (known and commit == git.commit)):
            write_whole(aside / "course" / name, new)
            left.append(name)
            continue
        if old is not None and not known:
            write_whole(aside / "replaced" / name, old)
            replaced.append(name)
        write_whole(here, new)
        if is_settings:
            settings.append(here.parent.name)
        else:
            files.append(name)
    return PutBack(tuple(settings), tuple(files), tuple(left), tuple(replaced))


def _assignment(name: str) -> str:
    """Return the assignment that a file in `solutions/` is of, "" for another file."""
    parts = PurePosixPath(name).parts
    of = parts[2:3] if parts[:2] == ("solutions", "notebooks") else parts[1:2]
    return of[0] if parts[0] == "solutions" and len(parts) > 2 and of else ""
