"""A number of a page, read from the code or record that has it; nothing is executed.

    {value}`masking::train batch`                       the cell `train` of notebooks/masking.ipynb
    {value}`training/bert::settings SIZE`               ... of notebooks/training/bert.ipynb
    {value}`masking::* window`                          all cells of a notebook
    {value}`coursekit.models.gpt GPTConfig.width`       a module, a class's or function's default
    {value}`benchmarks/shifted_windows.py WINDOW`       a file of Python
    {value}`results/bert/cpu.json settings.batch`       a record

Behind the source is an expression: a name that the source binds to a literal (an assignment, a
keyword, a parameter's default, a key, what a loop runs over), `len(NAMES)`, `NAMES[0]`, sums and
products of them. Where the number has no name, code with `_` in its position: `randn(9, _)`,
`items[:_]`, `... > _`, `TEST = draw(_)`; `...` is anything, and later arguments may be left out.
In a sum such code is in `at()`: `at(x[9:_]) - 9`; of several, `at(chain(_), 0)` is the first. The
rows of a record are picked by name, `runs["base"].settings.heads`, and those left must agree.

At the end a format: `:,d`, `:.0%`, `:word` ("four", "nine tenths"), `:ordinal` ("fourth"), `:Word`.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from coursekit._base.errors import CourseError
from coursekit.submission.cells import parse_cell
from coursetools.book.code_files import find_file
from coursetools.book.dependencies import note_input
from coursetools.book.literals import NO_VALUE, Code, Record, is_pattern, short
from coursetools.book.number_words import formatted
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook

ROLE = re.compile(r"\{value\}`([^`]+)`")
FORMAT = re.compile(r":([Ww]ord|[Oo]rdinal|[,.\d]*[defg%])$")


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.add_role("value", Value())


class Value(SphinxRole):
    """A number read from code, as text."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the number, or an error that says what was looked for and what there is."""
        try:
            file, shown = value(Course(Path(self.env.srcdir)), self.text)
        except LookupError as error:
            message = self.inliner.reporter.error(str(error.args[0]), line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        note_input(self.env, self.env.docname, file)
        return [nodes.Text(shown)], []


def written_out(course: Course, text: str) -> str:
    """Return the text of a page with each `{value}` as a reader sees it."""

    def shown(role: re.Match) -> str:
        try:
            return value(course, role[1])[1]
        except LookupError:
            return role[0]  # the build says what is wrong

    return ROLE.sub(shown, text)


def value(course: Course, text: str) -> tuple[Path, str]:
    """Return the file that a role reads, and the number or text that it shows."""
    target, _, rest = text.strip().partition(" ")
    style = FORMAT.search(rest)
    wanted = (rest[: style.start()] if style else rest).strip()
    file, scope = _open(course, target)
    try:
        (step,) = ast.parse(wanted).body
    except (SyntaxError, ValueError) as error:
        raise LookupError(
            f"{{value}}`{text}`: {wanted!r} is not an expression; a source and an expression are "
            "expected, such as masking::train batch"
        ) from error
    tree = step.value if isinstance(step, ast.Expr) else step
    try:
        found = scope.pattern(tree) if is_pattern(tree) else scope.evaluate(tree)
        if isinstance(found, bool) or not isinstance(found, int | float | str):
            raise LookupError(f"{wanted} is {short(found)}, and not one number")
        return file, formatted(found, style[1] if style else "")
    except NO_VALUE as error:
        raise LookupError(f"{{value}}`{text}`: {scope.name}: {error.args[0]}") from error


# --- Sources ---


def _open(course: Course, target: str) -> tuple[Path, Code]:
    """Return the file that a source names, and what it holds."""
    path, cell = target, ""
    if "::" in target:
        stem, _, cell = target.partition("::")
        path = f"notebooks/{stem}.ipynb"
    elif not target.endswith((".py", ".json")):
        file, inside = find_file(target, course.packages)
        if file is None or inside:
            raise LookupError(
                f"there is no source {target!r}; masking::train is a cell, coursekit.masks a "
                "module, benchmarks/training.py and results/bert/cpu.json are files"
            )
        return file, _read(file, target, "", file.stat().st_mtime_ns)
    file = course / path
    if not file.is_file():
        raise LookupError(f"there is no {path}, in which {{value}} should read {target}")
    return file, _read(file, path, cell, file.stat().st_mtime_ns)


@functools.lru_cache(maxsize=1024)
def _read(file: Path, name: str, cell: str, modified: int) -> Code:
    if file.suffix == ".json":
        return Record(name, json.loads(file.read_text(encoding="utf-8")))
    if file.suffix == ".py":
        return Code(name, ast.parse(file.read_text(encoding="utf-8")), False)
    cells = _cells(file, modified)
    if cell == "*":
        whole = ast.Module([step for code in cells.values() for step in parse_cell(code).body], [])
        return Code(name, whole, True)
    if cell not in cells:
        raise LookupError(f"{name} has no cell of code {cell!r}; it has {', '.join(cells)}")
    try:
        return Code(f"the cell {cell} of {name}", parse_cell(cells[cell]), True)
    except SyntaxError as error:
        raise LookupError(f"the cell {cell} of {name} is not Python: {error.msg}") from error


@functools.lru_cache(maxsize=64)
def _cells(file: Path, modified: int) -> dict[str, str]:
    try:
        cells = read_notebook(file)["cells"]
    except CourseError as error:
        raise LookupError(str(error)) from error
    return {cell.get("id"): cell["source"] for cell in cells if cell["cell_type"] == "code"}
