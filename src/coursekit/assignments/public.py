"""`coursekit assignment`: begin one, release some, or write the tree that students may see."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

from coursekit.assignments.leaks import leaks
from coursekit.assignments.new import new
from coursekit.assignments.release import release_text, released, sources, write_release
from coursekit.course import course_root, relative
from coursekit.errors import CourseError

# What of a course belongs to its instructors.
PRIVATE = ("solutions", "autograder", "_build", ".git", ".venv")


def run(arguments: argparse.Namespace) -> int:
    """Run the command `assignment`."""
    root = course_root(arguments.root or Path.cwd())
    if arguments.action == "public":
        count = public(root, arguments.folder)
        if not arguments.quiet:
            print(f"{count} files in {arguments.folder}, none of them private")
        return 0
    if arguments.action == "new":
        written = new(root, arguments.name, arguments.questions or ["first"])
        write_release(root, arguments.name)
        if not arguments.quiet:
            print("\n".join(relative(path, root) for path in written))
            print(f"Fill them in; coursekit audit {arguments.name} says what is missing.")
        return 0
    names = sources(root) if arguments.all else list(arguments.names)
    if not names:
        raise CourseError("name an assignment, or give --all")
    for name in names:
        changed = write_release(root, name)
        if not arguments.quiet:
            print(f"{relative(released(root, name), root)}  {'written' if changed else 'in step'}")
    return 0


def public(root: Path, folder: Path) -> int:
    """Write the tree that students may see into an empty `folder`; return how many files it has.

    That is what git knows, less `solutions/` and what else is private, and the released notebooks,
    which must be in step. Refuses a folder that holds anything.
    """
    root, folder = Path(root).resolve(), Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is not empty; name a folder that is not there yet")
    if folder.is_relative_to(root) and not folder.is_relative_to(root / "_build"):
        raise CourseError(f"{folder} is inside the course; name a folder outside, or in _build")
    for name in sources(root):
        path = released(root, name)
        if not path.is_file() or path.read_text(encoding="utf-8") != release_text(root, name):
            raise CourseError(
                f"{relative(path, root)} is not in step with its source; run "
                f"coursekit assignment release {name} first"
            )
    chosen = [path for path in _files(root) if not _private(path)]
    folder.mkdir(parents=True, exist_ok=True)
    for path in chosen:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, folder / path)
    found = leaks(root, folder)
    if found:
        shutil.rmtree(folder)
        raise CourseError(f"nothing was written, for private text would be in it: {found[0]}")
    return len(chosen)


def _files(root: Path) -> list[Path]:
    """Return the files of the course, from `root`: those that git knows, and the releases.

    A file that nobody has committed may be an instructor's own, such as a list of grades. Where
    there is no git, all files count whose names begin with no dot.
    """
    found = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=False
    )
    if found.returncode == 0 and found.stdout:
        paths = {Path(name) for name in found.stdout.decode().split("\0") if name}
        paths |= {released(root, name).relative_to(root) for name in sources(root)}
    else:
        inside = (path.relative_to(root) for path in root.rglob("*"))
        paths = {path for path in inside if not any(part[0] == "." for part in path.parts)}
    plain = (path for path in paths if (root / path).is_file() and not (root / path).is_symlink())
    return sorted(plain)


def _private(path: Path) -> bool:
    """Say whether a file is for instructors: their folders, and tests that show hidden cases."""
    parts = path.parts
    if parts[0] in PRIVATE or "__pycache__" in parts or ".ipynb_checkpoints" in parts:
        return True
    return parts[:2] in (("tests", "grading"), ("tests", "exercises"), ("tests", "assignments"))
