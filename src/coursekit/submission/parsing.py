"""An untrusted file becomes a notebook in plain data, or a sentence that says why it cannot.

Everything that real classes hand in as `.ipynb` comes through here: web pages, zips, half files,
old formats. What is read is small and safe: text of cells, their ids and their metadata; nothing is
executed, and the caps hold before memory is used.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.submission.resource_limits import Limits

CELLS = 5_000  # in a notebook
BRACKETS = 2_000_000  # lists and objects in the JSON: each takes memory, even when empty
DOWNLOAD = "use File > Download .ipynb"


class Malformed(Exception):
    """The file is no notebook that can be graded; both sentences are for the student."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def read(data: bytes, limits: Limits | None = None) -> dict[str, Any]:
    """Return the notebook in a file: nbformat 4, sources as text, ids that differ.

    Raises `Malformed` with a reason and a hint for anything else.
    """
    limits = limits or Limits()
    if len(data) > limits.submission_bytes:
        raise Malformed(
            f"the file is larger than {limits.submission_bytes >> 20} MB",
            "clear the outputs (Edit > Clear All Outputs), save, and submit it again",
        )
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise Malformed("the file is empty", "save the notebook, look at its size, upload again")
    notebook = _parse(data)
    if not isinstance(notebook, dict):
        raise Malformed("the file is JSON, but not a notebook", f"{DOWNLOAD} in Jupyter or Colab")
    return _version_4(notebook)


@lru_cache(maxsize=8)
def master(text: str) -> dict[str, Any]:
    """Return an instructor's notebook, which may be of any size; shared, never changed."""
    try:
        return read(text.encode(), Limits(submission_bytes=1 << 30))
    except Malformed as error:
        raise CourseError(f"the instructor's notebook cannot be read: {error}") from error


def _parse(data: bytes) -> Any:
    text = _text(data)
    if text.count("[") + text.count("{") > BRACKETS:
        raise Malformed(
            "the file is too complex to be a notebook of this course",
            "clear the outputs (Edit > Clear All Outputs), save, and submit it again",
        )
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        _known_kind(data, text)
        start, cut = text.lstrip()[:1], len(text.rstrip())
        if start == "{" and (error.pos >= cut or error.msg.startswith("Unterminated")):
            raise Malformed(
                f"the file ends in the middle of the notebook (line {error.lineno})",
                "the upload or the saving was cut off; save again and upload the whole file",
            ) from None
        raise Malformed(
            f"the file is not JSON (line {error.lineno})", f"{DOWNLOAD} in Jupyter or Colab"
        ) from None
    except RecursionError:
        raise Malformed(
            "the file is nested too deeply to be a notebook", f"{DOWNLOAD} in Jupyter or Colab"
        ) from None
    except ValueError:  # a number of thousands of digits
        raise Malformed(
            "the file holds a number that no notebook may hold", f"{DOWNLOAD} in Jupyter or Colab"
        ) from None


def _text(data: bytes) -> str:
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        _known_kind(data, data[:4096].decode("latin-1"))
        return data.decode("latin-1") if encoding.startswith("utf-8") else ""


def _known_kind(data: bytes, text: str) -> None:
    """Say what the file is instead, where its first bytes tell."""
    start = text[:4096].lstrip("\ufeff \t\r\n").lower()
    if start.startswith(("<!doctype", "<html", "<head", "<?xml", "<!--", "<svg")):
        raise Malformed("you submitted a web page", f"{DOWNLOAD}; do not save the page in the tab")
    for magic, kind in (
        (b"PK\x03\x04", "a zip archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"Rar!", "a RAR archive"),
        (b"7z\xbc\xaf", "a 7z archive"),
        (b"%PDF", "a PDF"),
        (b"\x89PNG", "a picture"),
        (b"\xff\xd8\xff", "a picture"),
        (b"{\\rtf", "a text document (RTF)"),
    ):
        if data.startswith(magic):
            raise Malformed(
                f"you submitted {kind}", "submit the notebook itself, the file ending in .ipynb"
            )
    lines = [line.strip() for line in start.splitlines()[:40]]
    if any(
        line.startswith(("import ", "from ", "def ", "class ", "#!/usr", "# %%")) for line in lines
    ):
        raise Malformed(
            "you submitted Python code, not a notebook",
            "submit the notebook itself, the file ending in .ipynb",
        )


def _version_4(notebook: dict[str, Any]) -> dict[str, Any]:
    major = notebook.get("nbformat", 4)
    major = int(major) if isinstance(major, str) and major.isdecimal() else major
    if isinstance(major, bool) or not isinstance(major, int | float):
        raise Malformed("the notebook does not say which format it has", DOWNLOAD)
    if major > 4:
        raise Malformed(
            f"the notebook is in format {major}, which is newer than the grader",
            "save it with the program that the course uses, and submit it again",
        )
    old = major < 4 and "cells" not in notebook
    cells = _old_cells(notebook) if old else notebook.get("cells")
    if not isinstance(cells, list):
        raise Malformed("the file is JSON, but it has no cells", f"{DOWNLOAD} in Jupyter or Colab")
    if len(cells) > CELLS:
        raise Malformed(f"the notebook has more than {CELLS} cells", "submit your own notebook")
    taken: set[str] = set()
    metadata = notebook.get("metadata")
    return {
        "cells": [_cell(cell, number, taken) for number, cell in enumerate(cells, 1)],
        "metadata": metadata if isinstance(metadata, dict) else {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(cell: Any, number: int, taken: set[str]) -> dict[str, Any]:
    if not isinstance(cell, dict):
        raise Malformed(f"cell {number} is not a cell", f"{DOWNLOAD} in Jupyter or Colab")
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        raise Malformed(f"cell {number} has no known type", f"{DOWNLOAD} in Jupyter or Colab")
    metadata = cell.get("metadata")
    read_cell: dict[str, Any] = {
        "cell_type": kind,
        "id": _unused(cell.get("id"), number, taken),
        "metadata": metadata if isinstance(metadata, dict) else {},
        "source": _source(cell.get("source"), number),
    }
    if kind == "code":
        outputs, count = cell.get("outputs"), cell.get("execution_count")
        read_cell["outputs"] = (
            [output for output in outputs if isinstance(output, dict)]
            if isinstance(outputs, list)
            else []
        )
        whole = isinstance(count, int) and not isinstance(count, bool)
        read_cell["execution_count"] = count if whole else None
    return read_cell


def _source(source: Any, number: int) -> str:
    """Return the text of a cell, which files keep as one string or as a list of lines."""
    if source is None:
        return ""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise Malformed(
            f"cell {number} holds something that is not text", f"{DOWNLOAD} in Jupyter or Colab"
        )
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    try:
        source.encode()
    except UnicodeEncodeError:  # half a character, which no file can hold
        source = source.encode("utf-8", "replace").decode()
    return source


def _unused(name: Any, number: int, taken: set[str]) -> str:
    """Return the cell's own id if it is a valid one that no earlier cell has, else a new one."""
    valid = isinstance(name, str) and 0 < len(name) <= 64
    if not valid or not all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
        name = f"cell-{number}"
    if name in taken:
        name = f"{name[:50]}-again-{number}"
    while name in taken:
        name = f"x{name[:60]}"
    taken.add(name)
    return name


def _old_cells(notebook: dict[str, Any]) -> Any:
    """Return the cells of a notebook in format 2 or 3 as format 4 has them."""
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    cells: list[Any] = []
    for sheet in sheets:
        inside = sheet.get("cells") if isinstance(sheet, dict) else None
        if not isinstance(inside, list):
            return None
        for cell in inside:
            cells.append(_old_cell(cell) if isinstance(cell, dict) else cell)
    return cells


def _old_cell(cell: dict[str, Any]) -> dict[str, Any]:
    kind = cell.get("cell_type")
    if kind == "code":
        return {
            **cell,
            "source": cell.get("input", cell.get("source")),
            "execution_count": cell.get("prompt_number"),
            "outputs": [],
        }
    if kind == "heading":
        level = cell.get("level")
        level = level if isinstance(level, int) and 1 <= level <= 6 else 1
        source = cell.get("source")
        lines = source if isinstance(source, list) else [source]
        text = "".join(line for line in lines if isinstance(line, str))
        return {**cell, "cell_type": "markdown", "source": f"{'#' * level} {text}"}
    return {**cell, "cell_type": "markdown"} if kind == "html" else cell
