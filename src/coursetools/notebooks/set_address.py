"""`coursekit address URL`: set the address of a course.

In the public course every file that names the old address gets the new one, and every notebook the
cells that belong to it. In an instructor's course the address is in `_config.yml`, the package and
the released assignments, which is all that students get from there; `assignment public` writes the
rest into the public course (`carry`). So only files change that updates of the course leave alone.

`_config.yml` comes last: after an interruption the same command finds what is left to do.
"""

from __future__ import annotations

import re
from pathlib import Path

from coursekit._base import address
from coursekit._base.errors import CourseError
from coursetools.course import Course, write_whole
from coursetools.notebooks.header_lines import SETUP_ID
from coursetools.notebooks.lint import all_notebooks, fix

TEXTS = ("*.md", "*.cff", "*.toml", "*.yml", "book/*.md", "solutions/*.md", "autograder/*.md")
PACKAGE = "src/coursekit/_base/address.py"
CONFIG = "_config.yml"
HUB = re.compile(r"https?://[\w.-]+(:\d+)?(/[\w./-]*)?")


def move(course: Course, url: str) -> list[str]:
    """Make `url` the home of a course; return the files that have changed."""
    return _move(course, course.address, address.parse(url))


def carry(course: Course) -> None:
    """Write the address of a public course, which only its settings have yet, everywhere."""
    if course.book_address:  # which it has with an address only
        _move(course, address.UNSET, course.address)


def _move(course: Course, old: str, new: str) -> list[str]:
    notebooks = all_notebooks(course)
    texts = [path for pattern in TEXTS for path in sorted(course.root.glob(pattern))]
    if not course.is_public:  # an assignment without our set-up cell stays as its author wrote it
        assignments = course.notebooks / "assignments"
        notebooks = [
            path
            for path in notebooks
            if path.is_relative_to(assignments) and SETUP_ID in path.read_text(encoding="utf-8")
        ]
        texts = []
    changed = [path for path in texts if path.name != CONFIG and _replace(path, old, new)]
    if _replace(course / PACKAGE, f'HOME = "{old}"', f'HOME = "{new}"'):
        changed.append(course / PACKAGE)
    before = {path: path.read_bytes() for path in notebooks}
    for path in before:
        _replace(path, old, new)
    if _replace(course / CONFIG, old, new):
        changed.append(course / CONFIG)
    for path, content in before.items():
        fix(path)
        if path.read_bytes() != content:
            changed.append(path)
    return [course.relative(path) for path in changed]


def open_on(course: Course, hub: str) -> bool:
    """Give the pages of notebooks a button for the JupyterHub at `hub`; say if that is new.

    It leads to the hub's nbgitpuller, which copies the course and keeps what a student has changed.
    An empty `hub` takes the button away.
    """
    if hub and not HUB.fullmatch(hub):
        raise CourseError(f"the hub is {hub!r}; an address such as https://hub.school.edu is expected")
    path = course / CONFIG
    text = path.read_text(encoding="utf-8")
    rest = re.sub(r"(?m)^  jupyterhub_url:.*\n", "", text)
    line = f"  jupyterhub_url: {hub.rstrip('/')}\n" if hub else ""
    new = re.sub(r"(?m)^launch_buttons:.*\n", lambda match: match[0] + line, rest)
    if line and new == rest:
        raise CourseError(f"{CONFIG} has no line launch_buttons: to put the hub under")
    if new != text:
        write_whole(path, new)
    return new != text


def _replace(path: Path, old: str, new: str) -> bool:
    """Put the new home, and the new pages, in the place of the old ones; say if there were any."""
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    replaced = text
    for one, other in ((old, new), (address.pages(old), address.pages(new))):
        replaced = re.sub(re.escape(one) + r"(?![\w-])", lambda _: other, replaced)
    if replaced != text:
        write_whole(path, replaced)
    return replaced != text
