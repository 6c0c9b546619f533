"""`coursekit assignment release` and `coursekit assignment public`: what students may see.

The released notebook is what nbgrader's `generate_assignment` makes of the source: solutions and
hidden tests removed, graded cells locked, checksums written. It is made here in plain code, which
takes milliseconds and no database; a test holds the two equal.
"""

from __future__ import annotations

import argparse
import copy
import shutil
import subprocess
from pathlib import Path
from typing import Any

from coursekit.course import course_root, quick_imports, relative, write_whole
from coursekit.errors import CourseError

# nbconvert's ClearOutput takes these away with the outputs.
NOISE = ("collapsed", "scrolled")
# What of a course belongs to its instructors.
PRIVATE = ("solutions", "autograder", "_build", ".git", ".venv")


def run(arguments: argparse.Namespace) -> int:
    """Run the command `assignment`: release some, or write the tree that students may see."""
    root = course_root(arguments.root or Path.cwd())
    if arguments.action == "public":
        count = public(root, arguments.folder)
        if not arguments.quiet:
            print(f"{count} files in {arguments.folder}, none of them private")
        return 0
    names = sources(root) if arguments.all else list(arguments.names)
    if not names:
        raise CourseError("name an assignment, or give --all")
    for name in names:
        changed = write_release(root, name)
        if not arguments.quiet:
            print(f"{relative(released(root, name), root)}  {'written' if changed else 'in step'}")
    return 0


def sources(root: Path) -> list[str]:
    """Return the names of all assignments that have a source."""
    found = (Path(root) / "solutions").glob("*/*.ipynb")
    return sorted({path.stem for path in found if path.stem == path.parent.name})


def source(root: Path, name: str) -> Path:
    """Return where the instructor's notebook is."""
    path = Path(root) / "solutions" / name / f"{name}.ipynb"
    if not path.is_file():
        there = ", ".join(sources(root)) or "none"
        raise CourseError(f"there is no {relative(path, root)}; assignments with a source: {there}")
    return path


def released(root: Path, name: str) -> Path:
    """Return where the students' notebook belongs."""
    return Path(root) / "notebooks" / "assignments" / name / f"{name}.ipynb"


def release(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the students' version of an instructor's notebook, both as plain data."""
    from coursekit.grading import regions

    made = copy.deepcopy(notebook)
    made["metadata"].pop("celltoolbar", None)
    seen: set[str] = set()
    for cell in made["cells"]:
        name = regions.grade_id(cell)
        if name and name in seen:
            raise CourseError(f"two cells have the grade_id {name!r}; give one another name")
        seen.add(name)
        _check_markers(cell)
        if regions.is_solution(cell):
            cell["metadata"]["deletable"] = False
        elif regions.is_locked(cell):
            cell["metadata"]["deletable"] = False
            cell["metadata"]["editable"] = False
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
            for noise in NOISE:
                cell["metadata"].pop(noise, None)
        cell["source"] = regions.release_source(cell)
        if regions.is_solution(cell) or regions.is_locked(cell):
            cell["metadata"]["nbgrader"]["checksum"] = regions.checksum(cell)
            cell["metadata"]["nbgrader"]["cell_type"] = cell["cell_type"]
    return made


def release_text(root: Path, name: str) -> str:
    """Return the text of the students' notebook, as the file should have it."""
    with quick_imports():
        import nbformat
    made = release(read(source(root, name)))
    return nbformat.writes(nbformat.from_dict(made)).rstrip("\n") + "\n"


def write_release(root: Path, name: str) -> bool:
    """Write the students' notebook and say whether anything has changed."""
    path = released(root, name)
    text = release_text(root, name)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    write_whole(path, text)
    return True


def read(path: Path) -> dict[str, Any]:
    """Read a notebook as plain data, each source one string."""
    from coursekit.notebooks.imports import read_notebook

    notebook = read_notebook(path)
    for cell in notebook["cells"]:
        if not isinstance(cell["source"], str):
            cell["source"] = "".join(cell["source"])
    return notebook


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
    from coursekit.exercises.leaks import leaks

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


def _check_markers(cell: dict[str, Any]) -> None:
    """Refuse regions in cells where nbgrader refuses them, since nothing would restore them."""
    from coursekit.grading import regions

    text = cell["source"]
    name = regions.grade_id(cell) or cell.get("id", "a cell")
    if "BEGIN SOLUTION" in text and not regions.is_solution(cell):
        raise CourseError(f"{name} has a solution and is not a solution cell; mark it as one")
    if "BEGIN HIDDEN TESTS" in text and not regions.is_grade(cell):
        raise CourseError(f"{name} has hidden tests and is not a test cell; mark it as one")
    if "BEGIN MARK SCHEME" in text and not regions.is_task(cell):
        raise CourseError(f"{name} has a mark scheme and is not a task cell; mark it as one")


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
    return parts[:2] in (("tests", "grading"), ("tests", "exercises"))
