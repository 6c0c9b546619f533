"""A course in miniature: real configuration, two small pages, two small notebooks."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coursetools.course import Course
from coursetools.notebooks.run import run_notebooks

ROOT = Path(__file__).resolve().parents[2]

PAGE = """(waves)=
# Waves

The value is {glue:text}`../notebooks/waves.ipynb::answer:.1f` and $a^2 + b^2 = c^2$.

```{notebook-figure} ../notebooks/waves.ipynb::sine
:name: fig-sine
A wave and **its** period.
```

See {numref}`fig-sine`.
"""
SECOND = """# Other

Nothing but the word wombat and {ref}`waves`.

```{notebook-table} ../notebooks/waves.ipynb::heights
:name: tab-heights
How high the waves are.
```

```{benchmark-table} surfing
:name: tab-surfing
```

{numref}`tab-surfing` and {numref}`fig-surfing` are of waves.
{numref}`fig-library` can be played with, and so can {numref}`fig-writer`.

```{live-figure} coursekit.figures.live.soft_lookup.soft_lookup
:name: fig-library
A *soft* lookup.
```

```{live-figure} coursekit.figures.live.writer.writer
:name: fig-writer
The writer.
```
"""
NUMBER = "# A number alone\n\nIt is {glue:text}`../notebooks/waves.ipynb::answer:.1f`.\n"
INDEX = """# Welcome

```{lecture-map}
```

```{lecture-map} L0
```

```{notebook-status}
```
"""
TOC = """format: jb-book
root: book/index
chapters:
  - file: book/waves
    sections:
      - file: notebooks/waves
  - file: book/other
    sections:
      - file: notebooks/other
  - file: book/number
"""
BENCHMARKS = {
    "surfing": {
        "what": "one wave",
        "hardware": "a beach",
        "versions": {"torch": "2.0"},
        "rounds": 5,
        "rows": [
            {"contest": "sea", "name": "ours", "milliseconds": 1500.0, "times_ours": 1.0,
             "peak_MB": 12.3},
            {"contest": "sea", "name": "theirs", "milliseconds": 3000.0, "times_ours": 2.0,
             "peak_MB": None},
        ],
    }
}  # fmt: skip
TABLE = """deck,topic,chapter,section,phrase,object,test,state
L0,what a wave is,waves,waves,rises,coursekit.masks.causal,tests/test_masks.py,built
L0,what a sea is,The sea,,,,,coming
L1,what a beach is,The beach,,,,,coming
"""
WAVES = [
    "# A wave\n\nThis notebook draws $\\sin x$ and turns pages.",
    "from coursekit.figures import glue, new_figure, show, show_table",
    "figure, axes = new_figure()\n"
    "axes.plot([0, 1, 0, -1, 0])\n"
    'show(figure, "sine", alt="A wave that rises, then falls.")\n'
    'glue("answer", 41.0)\n'
    'show_table(["wave", "height"], [["*small*", 1.0], ["large", 1234.56]], "heights")',
    "from coursekit.figures.live.flipbook import flipbook\n"
    "frames = []\n"
    "for height in (1, 2, 3):\n"
    "    figure, axes = new_figure(width=4, height=2)\n"
    "    axes.plot([0, height])\n"
    "    axes.set_ylim(0, 3)\n"
    "    frames.append(figure)\n"
    'flipbook(frames, labels=[1, 2, 3], name="height", alt="A line")',
]


def notebook(cells: list[str]) -> str:
    """Return a notebook of which the first cell is text and the others are code."""
    made = []
    for number, source in enumerate(cells):
        cell = {"id": f"cell-{number}", "metadata": {}, "source": source}
        if number:
            cell |= {"cell_type": "code", "outputs": [], "execution_count": None}
        else:
            cell |= {"cell_type": "markdown"}
        made.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    content = {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1)


def make_course(root: Path) -> Path:
    """Write the course in miniature into the empty folder `root`."""
    (root / "book" / "_static").mkdir(parents=True)
    (root / "notebooks").mkdir()
    shutil.copytree(ROOT / "results" / "writer", root / "results" / "writer")
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    home = "https://github.com/somebody/attention"  # the course itself may have none
    (root / "_config.yml").write_text(re.sub(r"(?m)^  url: .*$", f"  url: {home}", config))
    shutil.copytree(ROOT / "book" / "_static", root / "book" / "_static", dirs_exist_ok=True)
    (root / "book" / "references.bib").write_text("")
    for name, text in {
        "_toc.yml": TOC,
        "book/index.md": INDEX,
        "book/waves.md": PAGE,
        "book/other.md": SECOND,
        "book/number.md": NUMBER,
        "book/lecture_map.csv": TABLE,
        "results/benchmarks.json": json.dumps(BENCHMARKS),
        "notebooks/waves.ipynb": notebook(WAVES),
        "notebooks/other.ipynb": notebook(["# Plain", "print(6 * 7)"]),
    }.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def executed_course(once: Callable) -> Path:
    """A course in miniature of which the notebooks were run; tests only copy it."""
    return once(
        "miniature", lambda root: run_notebooks(Course(make_course(root / "course")).lectures)
    ) / "course"  # fmt: skip


@pytest.fixture
def course(executed_course: Path, tmp_path: Path) -> Path:
    """A course in miniature of this test's own; its notebooks were run, its pages not written."""
    return shutil.copytree(executed_course, tmp_path / "course")


@pytest.fixture(scope="session")
def run_sphinx() -> Callable:
    """Build a folder by Sphinx with these settings alone; return its warnings.

    Whoever builds later in this process begins anew: Sphinx would warn of each directive and node
    that an earlier build has registered, and go on in an earlier build's language.
    """
    pytest.importorskip("sphinx", reason="Jupyter Book is not installed")
    from sphinx import locale
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    def build(folder: Path, out: Path, settings: dict, builder: str = "html") -> str:
        warnings, trees = io.StringIO(), out.with_name(f"{out.name}-trees")
        with docutils_namespace():
            Sphinx(folder, None, out, trees, builder, settings, None, warnings).build()
        locale.translators.clear()
        return warnings.getvalue()

    return build
