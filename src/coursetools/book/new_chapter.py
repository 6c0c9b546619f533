"""`coursekit chapter new`: a chapter that builds, to be filled in.

It writes a page, its notebook and a file of figures, and enters the chapter into the contents, into
the routes on the home page and into the reference. `notebooks/README.md` says what belongs in each.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursetools.book.contents import FRONT, chapters
from coursetools.course import Course, write_whole
from coursetools.notebooks.header_cells import write_header
from coursetools.notebooks.hidden_source import TAG, hide_alike

PAGE = """---
needs: [{after}]
questions:
  sec-{name}-first:
{questions}
---
(ch-{name})=
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
{{glue:text}}`../notebooks/{name}.ipynb::highest:.1f`; {{numref}}`lst-{name}-first` is the code.

```{{listing}} ../notebooks/{name}.ipynb::first
:name: lst-{name}-first
What the code does, with its shapes.
```

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
    (
        "markdown",
        "about-first",
        "## What happens first\n\nWhat to expect, and why. Guess before you run the cell.",
    ),
    ("code", "first-guess", "my_guess = None  # the largest of 32 values"),
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
HIDDEN = ("first-shown",)


def new(course: Course, name: str, title: str, after: str) -> list[Path]:
    """Write the files of a chapter that comes after another one; return which were written."""
    book, notebook = course.page(name), course.notebooks / f"{name}.ipynb"
    figures = course / "src" / "coursekit" / "figures" / f"{name}.py"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise CourseError(f"a chapter's name is a word of small letters, found {name!r}")
    if after not in chapters(course):
        raise CourseError(no_such("chapter", after, chapters(course)))
    for path in (book, notebook, figures):
        if path.exists():
            raise CourseError(f"{path} already exists")
    contents, home = course / "_toc.yml", course.page("index")
    reference = course / "book" / "api" / "figures.md"
    changed = {
        contents: _in_contents(contents.read_text(encoding="utf-8"), name, after),
        home: _on_routes(home.read_text(encoding="utf-8"), name, after),
        reference: _in_reference(reference.read_text(encoding="utf-8"), name),
    }
    cells = [
        {"cell_type": kind, "id": id, "source": text.format(name=name, title=title)}
        for kind, id, text in CELLS
    ]
    write_header({"cells": cells}, notebook, course)
    texts = (f"What does {title} answer {when}?" for when in ("first", "next", "last"))
    questions = "\n".join(f"    - {json.dumps(q, ensure_ascii=False)}" for q in texts)
    files = {
        book: PAGE.format(name=name, title=title, after=after, questions=questions),
        notebook: _notebook(cells),
        figures: FIGURES.format(title=title),
    }
    for path, text in (files | changed).items():
        write_whole(path, text)
    return [*files, *changed]


def _in_contents(text: str, name: str, after: str) -> str:
    """Enter the page and the notebook behind those of another chapter."""
    entry = f"      - file: book/{name}\n        sections:\n          - file: notebooks/{name}\n"
    pattern = rf"^      - file: book/{after}\n(?:        .*\n)*"
    return re.sub(pattern, lambda match: match[0] + entry, text, count=1, flags=re.MULTILINE)


def _on_routes(text: str, name: str, after: str) -> str:
    """Let the chapter follow the other one on each route that has no days."""

    def longer(route: re.Match) -> str:
        return re.sub(rf"\b{after}\b", f"{after}, {name}", route[0], count=1)

    front = FRONT.match(text)
    if front is None:
        return text
    routes = re.sub(r"^    chapters: \[[^\]]*\]", longer, front[0], flags=re.MULTILINE)
    return routes + text[front.end() :]


def _in_reference(text: str, name: str) -> str:
    """Enter the file of figures before the first of a later name, or of a folder."""
    module = f"coursekit.figures.{name}"
    entry = f"## `figures.{name}`\n\n```{{eval-rst}}\n.. automodule:: {module}\n```\n"
    for other in re.finditer(r"^## `figures\.([\w.]+)`$", text, re.MULTILINE):
        if other[1] > name or "." in other[1]:
            return f"{text[: other.start()]}{entry}\n{text[other.start() :]}"
    return f"{text}\n{entry}"


def _notebook(cells: list[dict]) -> str:
    for cell in cells:
        cell.setdefault("metadata", {"tags": [TAG]} if cell["id"] in HIDDEN else {})
        hide_alike(cell)
        cell["source"] = cell["source"].splitlines(keepends=True)
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    return json.dumps({**content, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"
