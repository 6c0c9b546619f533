"""What goes wrong in real classes, as notebooks: broken files, hostile cells, honest confusion.

Each entry takes a notebook with right answers and spoils it. `make demo` grades them all;
nothing here is ever run outside the grader's sandbox.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

Notebook = dict[str, Any]

PAGE = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in</body></html>"
XSS = (
    'I tried <script>window.PWNED=1</script> <img src=x onerror="window.PWNED=1"> '
    "[a link](javascript:window.PWNED=1) <svg onload=window.PWNED=1></svg> and **bold**."
)


def cells(notebook: Notebook, *, solution: bool) -> list[dict]:
    """Return the cells that students fill in, or those with the tests."""
    found = []
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader") or {}
        wanted = about.get("solution") if solution else about.get("grade")
        if wanted and cell["cell_type"] == "code" and about.get("solution", False) == solution:
            found.append(cell)
    return found


def _file(change: Callable[[bytes], bytes]) -> Callable[[Notebook], bytes]:
    return lambda notebook: change(json.dumps(notebook).encode())


def _first(source: str) -> Callable[[Notebook], Notebook]:
    """Put a function with this body in the place of the first answer, `NAME` in it replaced."""

    def spoil(notebook: Notebook) -> Notebook:
        answer = cells(notebook, solution=True)[0]
        answer["source"] = source.replace("NAME", answer["metadata"]["nbgrader"]["grade_id"])
        return notebook

    return spoil


def _body(*lines: str) -> Callable[[Notebook], Notebook]:
    inside = "\n".join(f"    {line}" for line in lines)
    return _first(f"def NAME(*arguments, **named):\n{inside}")


def _also(source: str) -> Callable[[Notebook], Notebook]:
    """Add a cell of the student's own before the first answer."""

    def spoil(notebook: Notebook) -> Notebook:
        at = notebook["cells"].index(cells(notebook, solution=True)[0])
        notebook["cells"].insert(at, code("own-cell", source))
        return notebook

    return spoil


def code(name: str, source: str, outputs: list | None = None) -> dict:
    """Return a cell that no instructor wrote."""
    return {
        "cell_type": "code", "id": name, "metadata": {}, "source": source,
        "outputs": outputs or [], "execution_count": None,
    }  # fmt: skip


def _strip(notebook: Notebook) -> Notebook:
    for cell in notebook["cells"]:
        cell["metadata"].pop("nbgrader", None)
    return notebook


def _twice(*, solution: bool) -> Callable[[Notebook], Notebook]:
    def spoil(notebook: Notebook) -> Notebook:
        cell = cells(notebook, solution=solution)[0]
        notebook["cells"].insert(notebook["cells"].index(cell) + 1, copy.deepcopy(cell))
        return notebook

    return spoil


def _without_tests(notebook: Notebook) -> Notebook:
    for cell in cells(notebook, solution=False)[:2]:
        notebook["cells"].remove(cell)
    return notebook


def _tests_changed(notebook: Notebook) -> Notebook:
    notebook = _body("return None")(notebook)
    for cell in cells(notebook, solution=False):
        cell["source"] = "pass"
    return notebook


def _skipped(notebook: Notebook) -> Notebook:
    notebook = _body("return 0")(notebook)
    for cell in cells(notebook, solution=False):
        cell["metadata"]["tags"] = ["skip-execution"]
    return notebook


def _kernel(notebook: Notebook) -> Notebook:
    notebook["metadata"]["kernelspec"] = {"name": "julia-1.9", "display_name": "Julia"}
    return notebook


def _live(notebook: Notebook) -> Notebook:
    """Put scripts wherever a page might show them."""
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader") or {}
        if cell["cell_type"] == "markdown" and about.get("solution"):
            cell["source"] = XSS
    answer = cells(notebook, solution=True)[0]
    answer["source"] += (
        "\n\nfrom IPython.display import HTML, display\n"
        'display(HTML("<script>window.PWNED=1</script>"))\nprint("<script>window.PWNED=1</script>")'
    )
    live = {"text/html": "<script>window.PWNED=1</script>", "text/plain": "x"}
    answer["outputs"] = [{"output_type": "display_data", "data": live, "metadata": {}}]
    notebook["cells"].insert(0, {"cell_type": "markdown", "id": "xss", "metadata": {},
                                 "source": XSS})  # fmt: skip
    return notebook


BROKEN: dict[str, Callable[[Notebook], Notebook | bytes]] = {
    "not JSON": lambda notebook: b"hello this is not json",
    "empty file": lambda notebook: b"",
    "a web page": lambda notebook: PAGE.encode(),
    "cut off": _file(lambda data: data[:900]),
    "metadata stripped": _strip,
    "test cell twice": _twice(solution=False),
    "answer twice": _twice(solution=True),
    "tests deleted": _without_tests,
    "syntax error": _first("def NAME(x:\n    return x"),
    "another kernel": _kernel,
    "warns": _also("import warnings\nwarnings.warn('deprecated')"),
    "asks for input": _also("name = input('name? ')"),
    "installs": _also("!pip install something\n%matplotlib inline"),
    "mounts a drive": _also("from google.colab import drive\ndrive.mount('/content/drive')"),
    "a file from home": _also("import torch\ntorch.load('my_data.pt')"),
}
HOSTILE: dict[str, Callable[[Notebook], Notebook | bytes]] = {
    "never ends": _body("while True:", "    pass"),
    "eats memory": _body("kept = []", "while True: kept.append(bytearray(1 << 24))"),
    "forks": _body("import os", "while True: os.fork()"),
    "leaves early": _body("import os", "os._exit(0)"),
    "live scripts": _live,
    "skips the tests": _skipped,
    "looks for the solution": _body(
        "import pathlib",
        "found = list(pathlib.Path('/').glob('*/*/solutions/*'))",
        "return found[0].read_text()",
    ),
    "prints without end": _body("while True: print('x' * 10**6)"),
    "equals everything": _first(
        "class Yes:\n    def __eq__(self, other): return True\n"
        "    def __lt__(self, other): return True\n\n\n"
        "def NAME(*arguments, **named):\n    return Yes()"
    ),
    "writes grades": _body(
        "import glob, sqlite3",
        "path = glob.glob('/**/gradebook.db', recursive=True)[0]",
        "sqlite3.connect(path).execute('update grade set manual_score = 99')",
    ),
    "crashes Python": _body("import ctypes", "ctypes.string_at(0)"),
    "changes the tests": _tests_changed,
    "sleeps": _body("import time", "time.sleep(10**6)"),
    "leaves a process": _also(
        "import subprocess\nsubprocess.Popen(['sleep', '300'], start_new_session=True)"
    ),
    "says goodbye": _body("raise SystemExit"),
    "a huge tensor": _body("return torch.ones(1 << 40)"),
    "a huge file": _body("open('big', 'wb').truncate(1 << 40)"),
    "swallows the interrupt": _body(
        "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
    ),
    "changes the tools": _also(
        "import builtins, torch\ntorch.allclose = lambda *a, **k: True\nbuiltins.abs = lambda x: 0"
    ),
}
