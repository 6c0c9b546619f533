"""The form that every notebook of the course has, what is wrong with one, and how to mend it.

`lint` says what is wrong; `fix` mends what needs no author. Nothing is executed here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursetools.course import Course, SOURCES, quick_imports, write_whole
from coursekit._base.errors import CourseError
from coursetools.notebooks.header_cells import cell_name, first_cells, write_header
from coursetools.notebooks.header_lines import SETUP_ID
from coursekit.submission.cells import parse_cell
from coursekit.submission.forbidden import dotted_name, imported
from coursetools.notebooks.hidden_source import hidden, hide_alike, is_alike_everywhere
from coursetools.notebooks.imports import notebook_text, read_notebook
from coursetools.notebooks.lint_training import GPU, is_training, training

LONGEST_CELL = 25
LONGEST_LINE = 84  # characters of code that a page shows without scrolling
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
RANDOM_ID = re.compile(r"(?=.*\d)[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?|[0-9a-f]{12,}")
UNIX_PATH = re.compile(
    r"(?<![\w.~/:<-])/(?:home|Users|tmp|root|work|mnt|media|private|content|kaggle|opt|var|srv)/"
    r"|(?<=[\"'(`\s])/(?:home|Users|tmp|root|work|mnt|private|content|kaggle)(?=[\"')`]|$)"
    r"|file:///|(?<=[\"'(`])~/"
)
WINDOWS_PATH = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z]:(?:\\\\|/)\w|[A-Z]:\\(?![nrt](?![A-Za-z]))\w)"
)
SHOW = "coursekit.figures.show"
FLIPBOOK = "coursekit.figures.live.flipbook.flipbook"  # shows itself, as the last line of a cell
NOT_FIGURES = (SHOW, FLIPBOOK, "coursekit.figures.glue", "coursekit.figures.show_table")
MATHS = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
# What Jupyter and editors write into cells and notebooks for themselves.
CELL_NOISE = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted", "outputId", "vscode")
NOTEBOOK_NOISE = ("widgets", "papermill", "signature", "language_info", "vscode")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with one notebook; `cell` is empty where it is the notebook."""

    path: Path
    cell: str
    sentence: str

    def __str__(self) -> str:
        where = f"{self.path}, cell {self.cell}" if self.cell else f"{self.path}"
        return f"{where}: {self.sentence}"


def all_notebooks(course: Course) -> list[Path]:
    """Return every notebook of the course: lectures, trainings, assignments and their sources."""
    notebooks = [*course.notebooks.rglob("*.ipynb"), *(course / SOURCES).glob("*/*.ipynb")]
    return sorted(path for path in notebooks if ".ipynb_checkpoints" not in path.parts)


def lint(path: Path) -> list[Problem]:
    """Return everything that is wrong with the form of a notebook; none means fit to commit."""
    path = Path(path)
    course = Course.around(path.parent)
    try:
        notebook = read_notebook(path)
    except CourseError as error:
        return [Problem(path, "", str(error).replace(f"{path} ", "", 1))]
    problems: list[tuple[str, str]] = []
    common = (_format, _outputs, _ids, _kernel, _lengths, _paths, _hidden, first_cells, _code)
    rules = (*common, _assignment, training)
    for rule in rules:
        problems += rule(notebook, path.resolve(), course)
    return [Problem(path, cell, sentence) for cell, sentence in problems]


def fix(path: Path) -> bool:
    """Mend what needs no author and write the notebook in normal form; say if it changed.

    Outputs, counts and editors' notes go; missing, random and double ids become readable ones; the
    kernel, the set-up cell and the Colab link become those of the course, and a training asks Colab
    for a GPU. A second `fix` changes nothing. Long cells, paths and figures need an author.
    """
    with quick_imports():
        import nbformat
    path = Path(path)
    course = Course.around(path.parent)
    notebook = read_notebook(path)
    for noise in NOTEBOOK_NOISE:
        notebook.setdefault("metadata", {}).pop(noise, None)
    notebook["metadata"]["kernelspec"] = dict(KERNEL)
    if is_training(path, course):
        notebook["metadata"]["accelerator"] = GPU
    notebook["nbformat_minor"] = 5
    for cell in notebook["cells"]:
        metadata = cell.setdefault("metadata", {})
        for noise in CELL_NOISE:
            metadata.pop(noise, None)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        else:
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
    write_header(notebook, path, course)
    for cell in notebook["cells"]:
        hide_alike(cell)
    _fix_ids(notebook["cells"])
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise CourseError(f"{path} cannot be mended: {_one_line(error.message)}") from error
    text = notebook_text(notebook)
    if path.read_bytes() == text.encode():
        return False
    write_whole(path, text)
    return True


Found = Iterator[tuple[str, str]]


def _hidden(notebook: dict, path: Path, course: Course) -> Found:
    for number, cell in enumerate(notebook["cells"]):
        if "metadata" in cell and not is_alike_everywhere(cell):
            how = "hidden" if hidden(cell) else "shown"
            yield (
                cell_name(cell, number),
                f"is {how} in the book and must be {how} in JupyterLab and Colab; --fix writes it",
            )


def _format(notebook: dict, path: Path, course: Course) -> Found:
    with quick_imports():
        import nbformat
    minor = notebook.get("nbformat_minor")
    if minor != 5:
        yield "", f"is in nbformat 4.{minor}; nbformat 4.5 is expected"
        return
    # Ids have a rule of their own.
    cells = [{**cell, "id": f"x{number}"} for number, cell in enumerate(notebook["cells"])]
    try:
        nbformat.validate(nbformat.from_dict({**notebook, "cells": cells}))
    except nbformat.ValidationError as error:
        place = list(error.absolute_path)
        named = len(place) > 1 and place[0] == "cells"
        cell = cell_name(notebook["cells"][place[1]], place[1]) if named else ""
        yield cell, f"is not valid in nbformat 4.5: {_one_line(error.message)}"


def _outputs(notebook: dict, path: Path, course: Course) -> Found:
    if "widgets" in notebook.get("metadata", {}):
        yield "", "holds the state of widgets, which is an output"
    for cell, name in _named(notebook, "code"):
        if cell.get("outputs"):
            yield name, "has outputs; they are made by the build and never committed"
        if cell.get("execution_count") is not None:
            yield name, f"has execution_count {cell['execution_count']}; null is expected"
        if "execution" in cell.get("metadata", {}):
            yield name, "has the times of an execution in its metadata"


def _ids(notebook: dict, path: Path, course: Course) -> Found:
    seen = set()
    for number, cell in enumerate(notebook["cells"]):
        name = cell.get("id")
        if name is None:
            yield cell_name(cell, number), "has no id"
        elif not isinstance(name, str) or not KEBAB.fullmatch(name) or len(name) > 64:
            yield str(name), "needs an id in kebab-case, such as softmax-by-hand"
        elif RANDOM_ID.fullmatch(name):
            yield name, "has an id drawn at random; name it, such as softmax-by-hand"
        elif name in seen:
            yield name, "has the id of an earlier cell"
        seen.add(str(name))


def _kernel(notebook: dict, path: Path, course: Course) -> Found:
    spec = notebook.get("metadata", {}).get("kernelspec") or {}
    if spec.get("name") != KERNEL["name"]:
        yield "", f"has the kernel {spec.get('name')!r}; 'python3' is expected"
    elif spec.get("language", "python") != "python":
        yield "", f"has a kernel for {spec.get('language')!r}; 'python' is expected"


def _lengths(notebook: dict, path: Path, course: Course) -> Found:
    for cell, name in _named(notebook):
        lines = len(cell["source"].rstrip("\n").split("\n"))
        if lines > LONGEST_CELL:
            yield name, f"has {lines} lines; at most {LONGEST_CELL} are read in one go"
    if path.parent != course.notebooks:
        return  # no page of the book
    for cell, name in _named(notebook, "code"):
        longest = max(map(len, cell["source"].split("\n")))
        if longest > LONGEST_LINE and name != SETUP_ID:
            yield name, f"has a line of {longest} characters; {LONGEST_LINE} fit on a page"


def _paths(notebook: dict, path: Path, course: Course) -> Found:
    for cell, name in _named(notebook):
        markdown = cell["cell_type"] == "markdown"
        text = MATHS.sub("", cell["source"]) if markdown else cell["source"]
        for line in text.split("\n"):
            match = UNIX_PATH.search(line) or WINDOWS_PATH.search(line)
            if match:
                start = re.match(r"[^\s\"'`()]+", line[match.start() :])
                yield name, f"names an absolute path, {start[0] if start else match[0]}"
                break


def _code(notebook: dict, path: Path, course: Course) -> Found:
    trees: list[tuple[str, ast.Module]] = []
    for cell, name in _named(notebook, "code"):
        if re.search(r"^\s*%matplotlib\b", cell["source"], re.MULTILINE):
            yield name, "calls %matplotlib; figures go through coursekit.figures.show"
        try:
            trees.append((name, parse_cell(cell["source"])))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            where = f" in line {line}" if line else ""
            yield name, f"is not Python{where}: {getattr(error, 'msg', error)}"
    yield from _Figures(trees).problems()


def _assignment(notebook: dict, path: Path, course: Course) -> Found:
    """What only an assignment has: cells that nbgrader knows, and a last look before the upload."""
    place = course.relative(path)
    released = place.startswith("notebooks/assignments/")
    if not released and not place.startswith(f"{SOURCES}/"):
        return
    names = set()
    for cell, name in _named(notebook):
        graded = cell["metadata"].get("nbgrader", {})
        grade_id = graded.get("grade_id")
        if grade_id in names:
            yield name, f"has the grade_id of an earlier cell, {grade_id!r}"
        names.update({grade_id} - {None})
        test = graded.get("grade") and not graded.get("solution")
        if test and not graded.get("locked"):
            yield name, "gives points and is not locked"
        if test and not re.fullmatch(r"check\(\w+\)", cell["source"].strip()):
            yield name, "gives points and is not one call of check; cases belong in hidden.py"
        if not released and graded.get("solution") and cell["cell_type"] == "code":
            if "BEGIN SOLUTION" not in cell["source"]:
                yield name, "has no BEGIN SOLUTION, so the whole cell would be removed"
        elif re.search(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS)", cell["source"]):
            yield name, "shows a region that belongs to the instructor"
    last = notebook["cells"][-1]["source"].strip() if notebook["cells"] else ""
    if last != "submit_check()":
        yield "", "should end with submit_check(), the last look before the upload"


class _Figures:
    """Follows the figures of one notebook from where they are made to `show`."""

    def __init__(self, trees: list[tuple[str, ast.Module]]) -> None:
        self.trees = trees
        self.names = {"plt": "matplotlib.pyplot"}  # name -> dotted origin
        for _, tree in trees:
            self.names |= imported(tree)

    def problems(self) -> Found:
        shown: set[str] = set()  # variables
        made: dict[str, str] = {}  # variable -> cell
        titles: dict[str, str] = {}  # name of a figure -> cell
        for cell, tree in self.trees:
            functions = _inside(tree, ast.FunctionDef, ast.Lambda)
            repeated = functions | _inside(tree, ast.For, ast.While, ast.comprehension)
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    called = dotted_name(node.func, self.names)
                    if called == SHOW:
                        named = [k.value for k in node.keywords if k.arg == "figure"]
                        shown.update(_variables([*node.args[:1], *named]))
                        yield from self._show(cell, node, titles, id(node) in repeated)
                    elif called == FLIPBOOK:
                        yield from self._alt(cell, node, "flipbook", spelt_out=False)
                    elif called == "matplotlib.pyplot.show":
                        yield cell, "calls plt.show; figures go through coursekit.figures.show"
                    elif called in ("matplotlib.pyplot.figure", "matplotlib.pyplot.subplots"):
                        made_by = called.removeprefix("matplotlib.pyplot.")
                        yield cell, f"makes a figure with plt.{made_by}; use new_figure and show"
                elif (
                    isinstance(node, ast.Assign)
                    and id(node) not in functions
                    and self._draws(node.value)
                ):
                    target = node.targets[0]
                    pair = target.elts if isinstance(target, ast.Tuple) else []
                    figure = pair[0] if pair else target
                    if isinstance(figure, ast.Name) and (pair or figure.id.startswith("fig")):
                        made[figure.id] = cell
            last = tree.body[-1] if tree.body else None
            if isinstance(last, ast.Expr):
                bare = isinstance(last.value, ast.Name) and last.value.id in made
                if bare or self._draws(last.value):
                    yield (
                        cell,
                        "ends with a figure that has not gone through show, so lacks alt text",
                    )
        for variable, cell in made.items():
            if variable not in shown:
                yield cell, f"makes the figure {variable}, which no cell shows"

    def _show(self, cell: str, call: ast.Call, titles: dict[str, str], repeated: bool) -> Found:
        given: dict[str | None, ast.expr] = dict(zip(("figure", "name"), call.args))
        given.update({keyword.arg: keyword.value for keyword in call.keywords})
        yield from self._alt(cell, call, "show", spelt_out=True)
        name = given.get("name")
        if name is None:
            yield cell, "calls show without name"
        elif not isinstance(name, ast.Constant) or not isinstance(name.value, str):
            yield cell, "calls show with name that is not written out as a string"
        elif not name.value.strip():
            yield cell, "calls show with an empty name"
        else:
            if name.value in titles:
                first = titles[name.value]
                yield cell, f"shows a second figure {name.value!r}; the first is in cell {first}"
            elif repeated:
                yield cell, f"shows {name.value!r} in a loop or function, so more than once"
            titles[name.value] = cell

    def _alt(self, cell: str, call: ast.Call, called: str, *, spelt_out: bool) -> Found:
        """Check the alt text; `flipbook` may compute one for each of its pictures."""
        value = next((keyword.value for keyword in call.keywords if keyword.arg == "alt"), None)
        if value is None:
            yield cell, f"calls {called} without alt"
        elif isinstance(value, ast.Constant) and isinstance(value.value, str):
            if not value.value.strip():
                yield cell, f"calls {called} with an empty alt"
        elif spelt_out:
            yield cell, f"calls {called} with alt that is not written out as a string"

    def _draws(self, node: ast.expr) -> bool:
        """Return whether `node` calls something of coursekit.figures that returns a figure."""
        if not isinstance(node, ast.Call):
            return False
        called = dotted_name(node.func, self.names)
        return called.startswith("coursekit.figures.") and called not in NOT_FIGURES


def _inside(tree: ast.AST, *kinds: type[ast.AST]) -> set[int]:
    """Return the identity of every node inside a node of one of these kinds."""
    outer = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return {id(inner) for node in outer for inner in ast.walk(node)}


def _variables(nodes: Iterable[ast.expr]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _fix_ids(cells: list[dict[str, Any]]) -> None:
    """Give a readable id to each cell that has none: its heading's words, or those before it."""
    good = [cell.get("id") for cell in cells]
    kept: set[str] = set()
    heading = "cell"
    for number, (cell, name) in enumerate(zip(cells, good)):
        title = re.match(r"\s*#+\s+(.+)", cell["source"])
        if title and cell["cell_type"] == "markdown":
            words = re.findall(r"[a-z0-9]+", MATHS.sub("", title[1]).lower())
            heading = "-".join(words)[:40].strip("-") or heading
        if isinstance(name, str) and KEBAB.fullmatch(name) and len(name) <= 64:
            if not RANDOM_ID.fullmatch(name) and name not in kept:
                kept.add(name)
                continue
        later = {other for other in good[number + 1 :] if isinstance(other, str)}
        new, count = heading, 1
        while new in kept or new in later or RANDOM_ID.fullmatch(new):
            count += 1
            new = f"{heading}-{count}"
        cell["id"] = new
        kept.add(new)


def _named(notebook: dict, kind: str | None = None) -> Iterator[tuple[dict[str, Any], str]]:
    for number, cell in enumerate(notebook["cells"]):
        if kind is None or cell["cell_type"] == kind:
            yield cell, cell_name(cell, number)


def _one_line(message: str) -> str:
    message = " ".join(message.split())
    return message if len(message) <= 160 else message[:157] + "..."
