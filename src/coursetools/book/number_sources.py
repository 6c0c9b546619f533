"""Where a number of a page comes from: its cell and value, the runs behind it, and how to run it.

A number that a notebook has computed opens when it is clicked (`number_sources.js`). By keyboard,
and without scripts, the fold at the end of the page has the same. Print has none of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.ext.glue.utils import PendingGlueReference
from sphinx.application import Sphinx

from coursetools.book.runs_behind import ANY, Runs
from coursetools.course import Course
from coursetools.experiments.results import machine
from coursetools.notebooks.run import executed_copy

SHORT = 60  # characters of a value that is no number


@dataclass
class Cell:
    """A cell, what it has computed for pages, and the runs that it reads."""

    notebook: Path
    number: int  # from 1, among all cells
    name: str
    values: dict[str, str] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)  # "bert", "blanks-rates", "swin-*"


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.connect("doctree-read", mark)
    app.connect("html-page-context", tell)


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Give each number of a notebook the place of its cell among those that the page shows."""
    known: dict[str, dict[str, Cell]] = {}
    shown: dict[tuple[str, str], dict[str, str]] = {}
    for node in list(doctree.findall(PendingGlueReference)):
        path = Path(app.env.doc2path(node.refdoc))
        if path.suffix != ".ipynb" or node.gtype != "text":
            continue
        if node.refdoc not in known:
            known[node.refdoc] = cells(executed_copy(path))
        cell = known[node.refdoc].get(node.key)
        if cell is None:
            continue  # myst-nb warns of it
        values = shown.setdefault((node.refdoc, cell.name), {})
        values[node.key] = cell.values[node.key]
        place = nodes.inline(
            classes=["sourced", f"from-{[*shown].index((node.refdoc, cell.name))}"]
        )
        node.replace_self(place)
        place += node
    doctree["sources"] = [
        (page, next(one for one in known[page].values() if one.name == name), values)
        for (page, name), values in shown.items()
    ]


def tell(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the fold to the body of a page that has numbers of notebooks."""
    if doctree is None or not doctree.get("sources") or app.builder.name != "html":
        return
    course = Course(Path(app.srcdir))
    rows = "".join(
        f'<dt>{_cell(cell, app.builder.get_relative_uri(page, at))}</dt><dd id="from-{number}">'
        f"{_values(values)}{_how(course, cell)}</dd>"
        for number, (at, cell, values) in enumerate(doctree["sources"])
    )
    context["body"] += (
        '<details class="number-sources"><summary>Where the numbers of this page come from'
        f"</summary><dl>{rows}</dl></details>"
    )


def cells(notebook: Path) -> dict[str, Cell]:
    """Return the cell that has computed each number of an executed notebook, by its key."""
    cells: dict[str, Cell] = {}
    runs = Runs()
    content = json.loads(notebook.read_text(encoding="utf-8"))
    for number, cell in enumerate(content["cells"], start=1):
        if cell["cell_type"] != "code":
            continue
        read = runs.follow("".join(cell["source"]))
        about = Cell(notebook, number, cell["id"], runs=sorted(read))
        for output in cell["outputs"]:
            glued = output.get("metadata", {}).get("scrapbook")
            if glued:
                text = next((v for k, v in output["data"].items() if "text/plain" in k), "")
                about.values[glued["name"]] = "".join(text)
                cells[glued["name"]] = about
    return cells


def _cell(cell: Cell, at: str) -> str:
    return (
        f'Cell {cell.number}, <code>{escape(cell.name)}</code>, of <a href="{escape(at)}">the '
        f"notebook {escape(cell.notebook.stem)}</a>"
    )


def _values(values: dict[str, str]) -> str:
    rows = (
        f"<code>{escape(key)}</code> = {escape(text if len(text) <= SHORT else text[:SHORT] + '…')}"
        for key, text in values.items()
    )
    return f"<p>{'<br>'.join(rows)}</p>"


def _how(course: Course, cell: Cell) -> str:
    """Say which runs are behind a cell, else when the notebook ran; and how each is run again."""
    record = json.loads(cell.notebook.with_suffix(".json").read_text(encoding="utf-8"))
    command = f"coursekit notebooks run notebooks/{cell.notebook.name}"
    paragraphs = [
        f"The cell ran on {record['finished'][:10]} ({record['platform']}, Python "
        f"{record['python']}, torch {record['versions'].get('torch', 'none')}); "
        f"<code>{escape(command)}</code> runs it again."
    ]
    names = dict.fromkeys(name for run in cell.runs for name in stored(course, run))
    paragraphs += [_run(course, name) for name in names]
    return "".join(f"<p>{one}</p>" for one in paragraphs)


def stored(course: Course, run: str) -> list[str]:
    """Return the name of a run, or of every stored sweep where it may be any of its training."""
    training, _, sweep = run.partition("-")
    if sweep != ANY:
        return [run]
    files = (course / "results" / training).glob("*-*.json")
    return sorted({f"{training}-{file.stem.partition('-')[2]}" for file in files}) or [training]


def _run(course: Course, name: str) -> str:
    training, _, sweep = name.partition("-")
    folder = course.root / "results" / training
    behind = f"-{sweep}" if sweep else ""
    files = [folder / f"{profile}{behind}.json" for profile in ("gpu", "cpu")]  # the better first
    file = next((one for one in files if one.is_file()), None)
    if file is None:
        return f"It reads the training {escape(training)}, of which no result is kept."
    result = json.loads(file.read_text(encoding="utf-8"))
    about = ", ".join([*_seeds(result), machine(result), result["finished"][:10]])
    command = f"coursekit train {training} --profile {result['profile']}"
    command += f" --sweep notebooks/training/{training}/{sweep}.toml" if sweep else ""
    which = f"the sweep {escape(sweep)} of " if sweep else ""
    return (
        f"It reads {which}the training {escape(training)} ({escape(about)}); "
        f"<code>{escape(command)}</code> trains again."
    )


def _seeds(kept: dict[str, Any]) -> Iterator[str]:
    """Yield the seed of a run, or those of a sweep's; and how many a training has of its own."""
    seeds = {kept["seed"]} if "seed" in kept else {run["seed"] for run in kept["runs"]}
    yield f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, sorted(seeds)))}"
    if several := kept.get("settings", {}).get("seeds"):
        yield f"{several} seeds from there on"
