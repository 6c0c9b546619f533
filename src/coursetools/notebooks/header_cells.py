"""The two cells that begin every notebook: its title with its links, and what installs the rest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coursekit._base import address
from coursetools.course import SOURCES, Course
from coursekit._base.errors import CourseError
from coursetools.notebooks.data_packages import packages
from coursetools.notebooks.header_lines import COLAB_LINK, IMPORT, SETUP_ID, header_text
from coursetools.notebooks.hidden_source import TAG, hide_alike

SETUP = (
    IMPORT
    + """\
if importlib.util.find_spec("coursekit") is None:  # Colab and other fresh machines
    %pip install -q "coursekit @ git+https://github.com/{repository}"
"""
)
NO_ADDRESS = (
    IMPORT
    + """\
if importlib.util.find_spec("coursekit") is None:
    raise ModuleNotFoundError(
        "the package coursekit is missing, and this copy of the course has no address to install "
        "it from: run `pip install .` in the folder of the course, then restart the kernel"
    )
"""
)
PACKAGES = """\
data = {{  # what this notebook reads, a package for each
{rows}
}}
missing = " ".join(data[name] for name in data if importlib.util.find_spec(name) is None)
if missing:
    %pip install -q --no-deps {{missing}}
"""
INSTALLED = """\
importlib.invalidate_caches()
for name in [{names}]:
    if importlib.util.find_spec(name) is None:
        raise ModuleNotFoundError(
            f"{{name}} could not be installed: pip says why above. Run this cell again when "
            "that is solved; on Colab, check that the notebook is connected to the internet"
        )
"""
COLAB = "https://colab.research.google.com/github/{repository}/blob/{branch}/{path}"
# Written by whoever has run `tests/doors/colab.py try`; the home page says it too.
TRIED = "last tried on 2026-11-27 with Colab's versions of 2026-08-19: Python 3.13, torch 2.11"
BOOK_LINK = re.compile(r"\]\(((?:https?://[^\s()]*/|(?:\.\./)+)book/([\w-]+)\.(?:html|md))\)")


def setup_source(
    course: Course, cells: Iterable[Mapping[str, Any]] = (), folder: Path | None = None
) -> str:
    """Return the cell that installs what is missing: the package, and the data that `cells` read.

    It stays as it is after a restart, when what it has installed is there. Without an address it
    says what to do, and where pip fails it stops, so that no later cell fails for want of it.
    `folder` is that of the notebook.
    """
    folder = folder or course.notebooks
    name = address.repository(carried_address(folder, course))
    text = SETUP.format(repository=name) if name else NO_ADDRESS
    needed = packages(cells, folder if folder.is_dir() else course.notebooks, course)
    if needed:
        rows = "\n".join(f'    "{module}": "{wanted}",' for module, wanted in needed.items())
        text += PACKAGES.format(rows=rows)
    if name or needed:
        names = ['"coursekit"'] if name else []
        text += INSTALLED.format(names=", ".join(names + (["*data"] if needed else [])))
    return text.rstrip("\n")


def carried_address(path: Path, course: Course) -> str:
    """Return the address that a notebook (or a folder of them) names.

    Students' notebooks name the course's. In an instructor's course only the released assignments
    do: the others get it when `assignment public` writes them, so that an address set there
    changes no file that an update of the course changes, too.
    """
    students = course.relative(path).startswith("notebooks/assignments/")
    return course.address if students or course.is_public else address.UNSET


def colab_link(path: Path, course: Course) -> str:
    """Return the address at which Colab opens the notebook at `path`; nothing without an address."""
    name, branch = address.repository(carried_address(path, course)), course.branch
    return COLAB.format(repository=name, branch=branch, path=course.relative(path)) if name else ""


def colab_door(link: str) -> str:
    """Return the link as a reader meets it, with when it was last tried."""
    return f"[Open in Colab]({link}) ({TRIED})"


def book_link(chapter: str, path: Path, course: Course) -> str:
    """Return the link from the notebook at `path` to a page: the published one, or else the file.

    An assignment is opened away from the course, so where there is an address its link is whole.
    """
    home = carried_address(path, course)
    if address.is_set(home) and _is_assignment(path, course):
        return f"{address.pages(home)}/book/{chapter}.html"
    return Path(os.path.relpath(course.page(chapter), path.parent)).as_posix()


def _is_assignment(path: Path, course: Course) -> bool:
    return course.relative(path).startswith((f"{SOURCES}/", "notebooks/assignments/"))


def first_cells(notebook: dict, path: Path, course: Course) -> Iterator[tuple[str, str]]:
    """Yield the cell and the sentence of everything that the first two cells lack."""
    cells = notebook["cells"]
    first = cells[0] if cells else {"cell_type": "", "source": ""}
    name = cell_name(first, 0) if cells else ""
    if first["cell_type"] != "markdown" or not first["source"].startswith("# "):
        yield name, "should be Markdown that begins with the title, `# Title`"
    wanted = colab_link(path, course)
    exam = "exam" in (notebook.get("metadata", {}).get("coursekit") or {})  # is opened nowhere else
    if wanted and not exam and colab_door(wanted) not in first["source"]:
        yield name, f"needs the link {colab_door(wanted)}"
    for other in COLAB_LINK.findall(first["source"]):
        if other != wanted:
            expected = f"{wanted} is expected" if wanted else "the course has no address yet"
            yield name, f"links to Colab at {other}; {expected}"
    for there, chapter in BOOK_LINK.findall(first["source"]):
        if there != (link := book_link(chapter, path, course)):
            yield name, f"links to the book at {there}; {link} is expected"
    page = course.page(path.stem)
    link = book_link(path.stem, path, course)
    if path.parent == course.notebooks and page.is_file() and f"({link})" not in first["source"]:
        yield name, f"needs a link to its page of the book, {link}"
    second = cells[1] if len(cells) > 1 else {}
    if second.get("id") != SETUP_ID or second.get("cell_type") != "code":
        yield "", f"needs {SETUP_ID}, the cell that installs the package, as its second cell"
        return
    if second["source"].rstrip("\n") != setup_source(course, cells, path.parent):
        yield SETUP_ID, "differs from the cell that the course expects; --fix writes it"
    if TAG not in second.get("metadata", {}).get("tags", []):
        yield SETUP_ID, f"needs the tag {TAG}"


def write_header(notebook: dict[str, Any], path: Path, course: Course) -> None:
    """Write the links of the first cell, to Colab (or none) and to the book, and the second cell.

    An exam is opened nowhere else, so it has no link to Colab.
    """
    cells = notebook["cells"]
    exam = "exam" in (notebook.get("metadata", {}).get("coursekit") or {})
    link = "" if exam else colab_link(path, course)
    if cells and cells[0]["cell_type"] == "markdown":
        text = header_text(cells[0]["source"], colab_door(link) if link else "")
        cells[0]["source"] = BOOK_LINK.sub(lambda m: f"]({book_link(m[2], path, course)})", text)
    setup = next((cell for cell in cells if cell.get("id") == SETUP_ID), None)
    if setup is None:
        setup = {"cell_type": "code", "id": SETUP_ID, "outputs": [], "execution_count": None}
    else:
        cells.remove(setup)
    tags = setup.setdefault("metadata", {}).setdefault("tags", [])
    if TAG not in tags:
        tags.append(TAG)
    hide_alike(setup)
    setup["source"] = setup_source(course, cells, path.parent)
    cells.insert(1, setup)


def cell_name(cell: dict[str, Any], number: int) -> str:
    """Return what a problem calls a cell: its id, or else its number."""
    return str(cell.get("id") or f"number {number + 1}")
