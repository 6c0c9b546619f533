"""`coursekit address URL`: write the course's home wherever it is.

Every file that names the old home gets the new one, and every notebook the cells that belong to it.
`_config.yml` comes last: after an interruption the same command finds what is left to do.
"""

from __future__ import annotations

import re
from pathlib import Path

from coursekit._base import address
from coursetools.course import Course, write_whole
from coursetools.notebooks.lint import all_notebooks, fix

TEXTS = ("*.md", "*.cff", "*.toml", "*.yml", "book/*.md", "solutions/*.md", "autograder/*.md")
PACKAGE = "src/coursekit/_base/address.py"
CONFIG = "_config.yml"


def move(course: Course, url: str) -> list[str]:
    """Make `url` the home of a course; return the files that have changed."""
    old, new = course.address, address.parse(url)
    texts = [path for pattern in TEXTS for path in sorted(course.root.glob(pattern))]
    changed = [path for path in texts if path.name != CONFIG and _replace(path, old, new)]
    if _replace(course / PACKAGE, f'HOME = "{old}"', f'HOME = "{new}"'):
        changed.append(course / PACKAGE)
    before = {path: path.read_bytes() for path in all_notebooks(course)}
    for path in before:
        _replace(path, old, new)
    if _replace(course / CONFIG, old, new):
        changed.append(course / CONFIG)
    for path, content in before.items():
        fix(path)
        if path.read_bytes() != content:
            changed.append(path)
    return [course.relative(path) for path in changed]


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
