"""`coursekit address URL`: write the course's home wherever it stands.

Every file that names the old home gets the new one, and every notebook the cells that belong to it.
`_config.yml` comes last: after an interruption the same command finds what is left to do.
"""

from __future__ import annotations

import re
from pathlib import Path

from coursekit._base import address
from coursetools.course import relative, write_whole
from coursetools.notebooks.header_cells import repository
from coursetools.notebooks.lint import all_notebooks, fix

TEXTS = ("*.md", "*.cff", "*.toml", "*.yml", "book/*.md", "solutions/*.md", "autograder/*.md")
PACKAGE = "src/coursekit/_base/address.py"
CONFIG = "_config.yml"


def home(root: Path) -> str:
    """Return the address that `_config.yml` has."""
    name = repository(root)[0]
    return f"https://github.com/{name}" if name else address.UNSET


def move(root: Path, url: str) -> list[str]:
    """Make `url` the home of the course at `root`; return the files that have changed."""
    old, new = home(root), address.parse(url)
    texts = [path for pattern in TEXTS for path in sorted(root.glob(pattern))]
    changed = [path for path in texts if path.name != CONFIG and _replace(path, old, new)]
    if _replace(root / PACKAGE, f'HOME = "{old}"', f'HOME = "{new}"'):
        changed.append(root / PACKAGE)
    before = {path: path.read_bytes() for path in all_notebooks(root)}
    for path in before:
        _replace(path, old, new)
    if _replace(root / CONFIG, old, new):
        changed.append(root / CONFIG)
    for path, content in before.items():
        fix(path)
        if path.read_bytes() != content:
            changed.append(path)
    return [relative(path, root) for path in changed]


def _replace(path: Path, old: str, new: str) -> bool:
    """Put the new home, and the new pages, in the place of the old ones; say if there were any."""
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    found = text
    for one, other in ((old, new), (address.pages(old), address.pages(new))):
        found = re.sub(re.escape(one) + r"(?![\w-])", lambda _: other, found)
    if found != text:
        write_whole(path, found)
    return found != text
