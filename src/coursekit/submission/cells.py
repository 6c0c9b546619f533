"""The source of a code cell as Python, with IPython's magics out."""

from __future__ import annotations

import ast
import re

# `!command`, `%magic`, `?name`, `name?`, `files = !command`, `seconds = %magic`
MAGIC = re.compile(r"[!%?]|[\w., ]+=\s*[!%](?!=)|[\w.]+\?{1,2}\s*$")  # without its indent
PYTHON_CELL_MAGICS = {"time", "timeit", "capture", "prun"}


def python_of(cell: str) -> str:
    """Return the source of a code cell as plain Python of as many lines, with IPython's magics out.

    A cell that is plain Python comes back as it is, so `%` in a string is safe. A cell in another
    language (`%%bash`, `%%html`) comes back empty.
    """
    if _parses(cell):
        return cell
    lines = cell.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].lstrip().startswith("%%"):
        magic = lines[first].lstrip()[2:].split(maxsplit=1)[:1]
        if not PYTHON_CELL_MAGICS.issuperset(magic):
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    continued = False
    for number, line in enumerate(lines):
        if continued or MAGIC.match(line.lstrip()):
            indent = "" if continued else line[: len(line) - len(line.lstrip())]
            lines[number] = "" if continued else indent + "pass"
            continued = line.rstrip().endswith("\\")
    return "\n".join(lines)


def parse_cell(cell: str) -> ast.Module:
    """Parse a code cell as IPython would: magics out, `await` allowed at the top."""
    return _parsed(python_of(cell))


def _parsed(source: str) -> ast.Module:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compile(source, "<cell>", "exec", flags=flags, dont_inherit=True)


def _parses(source: str) -> bool:
    try:
        _parsed(source)
    except (SyntaxError, ValueError):
        return False
    return True
