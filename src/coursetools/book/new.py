"""`coursekit chapter new`: a chapter that builds, to be filled in.

It writes a page, its notebook and a file of figures, and enters the chapter into the contents, the
way through the book and the questions. `notebooks/README.md` says what belongs into each.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from coursekit._base.errors import CourseError
from coursetools.book.contents import chapters
from coursetools.course import write_whole
from coursetools.notebooks.header_cells import fix_first_cells

PAGE = """(ch-{name})=
# {title}

A question that the reader can feel, and can guess an answer to before reading on.

(sec-{name}-first)=
## What happens first?

The picture before the formula, then the formula, then the code.

```{{notebook-figure}} ../notebooks/{name}.ipynb::first
:name: fig-{name}-first
What the figure shows: quantity, data, and what to see.
```

The highest point of {{numref}}`fig-{name}-first` is
{{glue:text}}`../notebooks/{name}.ipynb::highest:.1f`.

## Check yourself

:::{{dropdown}} A question that cannot be answered by looking up?
Its answer.
:::

## What to take away

One or two sentences, in the reader's words.
"""
FIGURES = '''"""The pictures of the chapter "{title}"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from coursekit.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def first(values: Tensor) -> Figure:
    """Draw values (N,) in their order."""
    figure, axis = new_figure(height=3.0)
    axis.plot(values, color=COLOURS["blue"])
    axis.set(xlabel="position", ylabel="value")
    return figure
'''
CELLS = (
    (
        "markdown",
        "title",
        "# {title}, hands on\n\nHands-on half of [the page](../book/{name}.md)\n\n"
        "What is done here.",
    ),
    (
        "code",
        "imports",
        "import torch\n\nfrom coursekit.figures import {name} as figures\n"
        "from coursekit.figures import glue, show",
    ),
    ("markdown", "about-first", "## What happens first\n\nWhat to expect, and why."),
    (
        "code",
        "first",
        "torch.manual_seed(0)\nvalues = torch.randn(32)  # (N,)\nprint(values.max())",
    ),
    (
        "code",
        "first-shown",
        'show(figures.first(values), "first",\n'
        '     alt="A jagged line of 32 values around zero.")\n'
        'glue("highest", values.max())',
    ),
)
HIDDEN = {"first-shown": ["hide-input"]}
QUESTIONS = """
[{name}]
"What does {title} answer first?" = "sec-{name}-first"
"What does {title} answer next?" = "sec-{name}-first"
"What does {title} answer last?" = "sec-{name}-first"
"""


def new(root: Path, name: str, title: str, after: str) -> list[Path]:
    """Write the files of a chapter that comes after another one; return which were written."""
    book, notebook = root / "book" / f"{name}.md", root / "notebooks" / f"{name}.ipynb"
    figures = root / "src" / "coursekit" / "figures" / f"{name}.py"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise CourseError(f"a chapter's name is a word of small letters, found {name!r}")
    if after not in chapters(root):
        raise CourseError(f"there is no chapter {after}; there are {', '.join(chapters(root))}")
    for path in (book, notebook, figures):
        if path.exists():
            raise CourseError(f"{path} is there already")
    contents, way = root / "_toc.yml", root / "book" / "way.toml"
    questions = root / "book" / "questions.toml"
    tables = {
        contents: _in_contents(contents.read_text(encoding="utf-8"), name, after),
        way: _on_the_way(way.read_text(encoding="utf-8"), name, after),
        questions: questions.read_text(encoding="utf-8").rstrip()
        + "\n"
        + QUESTIONS.format(name=name, title=title),
    }
    cells = [
        {"cell_type": kind, "id": id, "source": text.format(name=name, title=title)}
        for kind, id, text in CELLS
    ]
    fix_first_cells(cells, notebook, root)
    written = {
        book: PAGE.format(name=name, title=title),
        notebook: _notebook(cells),
        figures: FIGURES.format(title=title),
    }
    for path, text in (written | tables).items():
        write_whole(path, text)
    return [*written, *tables]


def _in_contents(text: str, name: str, after: str) -> str:
    """Enter the page and the notebook behind those of another chapter."""
    entry = f"      - file: book/{name}\n        sections:\n          - file: notebooks/{name}\n"
    pattern = rf"^      - file: book/{after}\n(?:        .*\n)*"
    return re.sub(pattern, lambda match: match[0] + entry, text, count=1, flags=re.MULTILINE)


def _on_the_way(text: str, name: str, after: str) -> str:
    """Say that the chapter needs the one before, and let it follow on each route but the timed."""
    text = re.sub(
        rf"^{after} = \[.*\]\n",
        lambda match: f'{match[0]}{name} = ["{after}"]\n',
        text,
        count=1,
        flags=re.MULTILINE,
    )
    head, *routes = text.split("[[routes]]")
    follow = re.compile(rf'"{after}"(?=[,\s\]])')
    routes = [
        part if "days = [" in part else follow.sub(f'"{after}", "{name}"', part, count=1)
        for part in routes
    ]
    return "[[routes]]".join([head, *routes])


def _notebook(cells: list[dict]) -> str:
    for cell in cells:
        cell.setdefault("metadata", {"tags": HIDDEN[cell["id"]]} if cell["id"] in HIDDEN else {})
        cell["source"] = cell["source"].splitlines(keepends=True)
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    return json.dumps({**content, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"
