"""The lines of a notebook's header in one order: title, deadline, text, link to Colab.

None of them decides a grade, nor does the cell that installs the package: `without_header` is what
is graded.
"""

from __future__ import annotations

import json
import re

SETUP_ID = "setup-colab"
IMPORT = "import importlib.util\n"  # the only name of the set-up cell that others may use
COLAB_LINK = re.compile(r"https://colab\.research\.google\.com/github/[^\s)>\"']+")
COLAB_DOOR = rf"\[Open in Colab\]\({COLAB_LINK.pattern}\)(?: \(last tried [^()]*\))?"
COLAB_TEXT = re.compile(rf"(?:\s*·)?\s*{COLAB_DOOR}")


def header_text(text: str, colab: str = "", notice: str = "") -> str:
    """Return the text of a first cell with this link to Colab (or none), which comes last.

    A `notice`, such as the deadline, is added below the title.
    """
    body = COLAB_TEXT.sub("", text).rstrip()
    title, _, about = body.partition("\n") if body.startswith("#") else ("", "", body)
    parts = (title, notice, about.strip("\n")) if notice else (body,)
    return "\n\n".join(part for part in (*parts, colab) if part)


def without_header(text: str) -> str:
    """Return an instructor's notebook, the text of its file, without what installs and links.

    What the grader runs is this, so a change of the address or of the set-up cell changes no grade.
    """
    try:
        notebook = json.loads(text)
        cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
        sources = ["".join(cell["source"]) for cell in cells]
    except (ValueError, TypeError, KeyError):
        return text  # `parsing` says what is wrong with it
    new = dict(zip(range(len(cells)), sources))
    if cells and cells[0].get("cell_type") == "markdown" and COLAB_TEXT.search(sources[0]):
        new[0] = header_text(sources[0])
    for at, cell in enumerate(cells):
        if cell.get("id") == SETUP_ID and cell.get("cell_type") == "code":
            new[at] = IMPORT.strip()
    if all(new[at] == sources[at] for at in new):
        return text
    for at, cell in enumerate(cells):
        cell["source"] = new[at]
    return json.dumps(notebook)
