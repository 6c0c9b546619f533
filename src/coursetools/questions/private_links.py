"""Links of the public course to what only instructors have: they become plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from coursetools.course import Course, write_whole
from coursetools.notebooks.imports import notebook_text

CODE = r"^(?P<fence>`{3,}|~{3,})[\s\S]*?^(?P=fence)|(?P<ticks>`+)(?!`)[\s\S]*?(?<!`)(?P=ticks)(?!`)"
LINK = r"(?<!!)\[(?P<text>(?:`[^`]*`|[^\[\]`])*)\]\((?P<target>[^()\s]+)\)"
PLACES = re.compile(f"(?P<link>{LINK})|{CODE}", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|#|/")  # an address, a heading of the same page


def drop_private_links(course: Course, folder: Path, paths: Iterable[Path]) -> None:
    """Rewrite the Markdown files and notebooks among `paths`, copies in `folder` of the course's.

    A link whose target the course has and `folder` has not keeps its text, and says who has it.
    """
    for path in paths:
        if path.suffix == ".md":
            text = (folder / path).read_text(encoding="utf-8")
            new = _without(text, course, folder, path)
            if new != text:
                write_whole(folder / path, new)
        elif path.suffix == ".ipynb":
            notebook = json.loads((folder / path).read_text(encoding="utf-8"))
            changed = False
            for cell in notebook["cells"]:
                text = "".join(cell["source"])
                if cell["cell_type"] == "markdown" and text != (
                    new := _without(text, course, folder, path)
                ):
                    cell["source"], changed = new, True
            if changed:
                write_whole(folder / path, notebook_text(notebook))


def _without(text: str, course: Course, folder: Path, path: Path) -> str:
    def plain(match: re.Match[str]) -> str:
        if not match["link"] or ELSEWHERE.match(match["target"]):
            return match[0]
        target = path.parent / unquote(match["target"].partition("#")[0])
        if (folder / target).exists() or not (course / target).exists():
            return match[0]
        return f"{match['text']} (instructors only)"

    return PLACES.sub(plain, text)
