"""Where a number of a page comes from: the cell, the runs behind it, and the words in the fold."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

from coursetools.book import number_sources
from coursetools.book.runs_behind import Runs
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook

VERSIONS = {"torch": "2.0"}
CELLS = {
    "imports": "from coursekit.figures import glue\n%matplotlib inline",
    "read": 'done = result("bert")\nswept, other = sweep_result("blanks", "rates"), 3',
    "by-hand": 'glue("three", other + 0)',
    "function": "def share(run):\n    done = run['share']\n    return done * 100",
    "shares": 'for run in swept["runs"]:\n    glue("share", share(run))',
    "plain": 'for run in [1, 2]:\n    glue("run", run)',
    "whole": 'glue("loss", done["metrics"]["loss"])',
    "table": "table = {}\ntable['bert'] = done",
    "grown": "table |= {'more': swept}\nglue('both', len(table))",
    "renamed": "done = 1\nglue('one', done)",
}
BEHIND = {
    "three": ["blanks-rates"],  # bound in one statement with what was read
    "share": ["blanks-rates"],
    "run": [],
    "loss": ["bert"],
    "both": ["bert", "blanks-rates"],
    "one": [],
}


@pytest.fixture
def course(tmp_path) -> Course:
    folder = tmp_path / "_build" / "executed"
    folder.mkdir(parents=True)
    cells = [{"cell_type": "markdown", "id": "title", "source": "# Waves"}]
    for name, source in CELLS.items():
        key = next((key for key in BEHIND if f'"{key}"' in source or f"'{key}'" in source), None)
        data = {"application/papermill.record/text/plain": "0.123456789"}
        about = {"output_type": "display_data", "data": data,
                 "metadata": {"scrapbook": {"name": key}}}  # fmt: skip
        keyed = [about] if "glue(" in source else []
        cells.append({"cell_type": "code", "id": name, "source": source, "outputs": keyed})
    (folder / "waves.ipynb").write_text(json.dumps({"cells": cells}))
    record = {"finished": "2026-01-02T03:04", "platform": "Linux", "python": "3.11"}
    (folder / "waves.json").write_text(json.dumps(record | {"versions": VERSIONS}))
    result = {"profile": "cpu", "finished": "2026-02-03T04:05", "settings": {},
              "hardware": {"cpu": "A <processor>", "cores": 1, "gpu": None}}  # fmt: skip
    for name, more in (
        ("bert/cpu.json", {"seed": 7, "settings": {"seeds": 3}}),
        ("blanks/cpu-rates.json", {"runs": [{"seed": 2}, {"seed": 1}, {"seed": 2}]}),
    ):
        (tmp_path / "results" / name).parent.mkdir(parents=True)
        (tmp_path / "results" / name).write_text(json.dumps(result | more))
    return Course(tmp_path)


def read(course: Course) -> dict[str, number_sources.Cell]:
    return number_sources.cells(course.root / "_build" / "executed" / "waves.ipynb")


def test_each_number_has_its_cell_and_the_runs_behind_it(course):
    found = read(course)
    assert {key: found[key].runs for key in found} == BEHIND
    assert (found["loss"].name, found["loss"].number) == ("whole", 8)
    assert found["loss"].values == {"loss": "0.123456789"}


def folded(course: Course, builder: str = "html") -> str:
    """Return what the fold of a page with two of the numbers says."""
    found, page = read(course), nodes.document(None, None)
    page["sources"] = [
        ("notebooks/waves", found[key], found[key].values) for key in ("both", "loss")
    ]
    link = lambda page, to: "../notebooks/waves.html"  # noqa: E731
    app = SimpleNamespace(
        srcdir=str(course.root), builder=SimpleNamespace(name=builder, get_relative_uri=link)
    )
    context = {"body": "<section></section>"}
    number_sources.tell(app, "book/waves", "page.html", context, page)
    return context["body"]


def test_the_fold_says_cell_value_seed_hardware_date_and_command(course):
    body = folded(course)
    assert body.startswith("<section></section><details")
    for words in (
        'Cell 8, <code>whole</code>, of <a href="../notebooks/waves.html">the notebook waves</a>',
        '<dd id="from-1"><p><code>loss</code> = 0.123456789</p>',
        "ran on 2026-01-02 (Linux, Python 3.11, torch 2.0)",
        "<code>coursekit notebooks run notebooks/waves.ipynb</code> runs it again",
        "the training bert (seed 7, 3 seeds from there on, A &lt;processor&gt;, 1 core, 2026-02",
        "<code>coursekit train bert --profile cpu</code>",
        "the sweep rates of the training blanks (seeds 1, 2, A &lt;processor&gt;, 1 core, 2026",
        "--profile cpu --sweep notebooks/training/blanks/rates.toml</code>",
    ):
        assert words in body
    assert folded(course, "epub") == "<section></section>"


def test_a_training_without_a_kept_result_is_said(course):
    (course.root / "results" / "bert" / "cpu.json").unlink()
    assert "reads the training bert, of which no result is kept" in folded(course)


@pytest.mark.parametrize(
    ("source", "runs"),
    [
        ('for name in ("one", "two"):\n    glue("x", sweep_result("swin", name))', "one two"),
        ('NAMES = "one", "two"\n', ""),  # nothing is read
        ('made = {a: sweep_result("swin", a) for a in ["one", "two"]}\nglue("x", made)', "one two"),
        ('NAMES = {"one": 1}\nfor a in NAMES:\n    glue("x", sweep_result("swin", a))', "one"),
        (
            'for n, (a, b) in enumerate([(1, "one")]):\n    glue("x", sweep_result("swin", b))',
            "one",
        ),
        ('for a, b in {"no": "one"}.items():\n    glue("x", sweep_result("swin", b))', "one"),
        ('size = "on"\nglue("x", sweep_result("swin", f"{size}e"))', "one"),
        ('sweep = "one" if quick else "two"\nglue("x", sweep_result("swin", sweep))', "one two"),
        ('def read(a):\n    return sweep_result("swin", a)\nr = read("one")\nglue("x", r)', "one"),
        ('def read(a="one"):\n    return sweep_result("swin", a)\nglue("x", read())', "one"),
        ('def read(a):\n    return sweep_result("swin", a)\nx = map(read, b)\nglue("x", x)', "*"),
        ('glue("x", sweep_result("swin", sys.argv[1]))', "*"),
        ('glue("x", sweep_result(name="swin", sweep="one"))', "one"),
        ('a = "one"\na = other()\nglue("x", sweep_result("swin", a))', "*"),
    ],
)
def test_a_sweep_is_found_whatever_names_it(source, runs):
    assert Runs().follow(source) == {f"swin-{name}" for name in runs.split()}


def test_any_sweep_of_a_training_is_every_one_that_is_stored(course):
    assert number_sources.stored(course, "blanks-*") == ["blanks-rates"]
    assert number_sources.stored(course, "blanks-rates") == ["blanks-rates"]
    assert number_sources.stored(course, "nothing-*") == ["nothing"]


def test_every_run_that_a_notebook_reads_is_found_among_the_results():
    ours, found = Course(Path(__file__).resolve().parents[2]), set()
    for path in ours.lectures:
        runs = Runs()
        for cell in read_notebook(path)["cells"]:
            if cell["cell_type"] == "code":
                found |= runs.follow(cell["source"])
    assert len(found) > 50 and {"swin-table4", "tasks-spans", "queries-known"} <= found
    for run in found:
        for name in number_sources.stored(ours, run):
            assert "no result is kept" not in number_sources._run(ours, name), run


def test_the_commands_that_it_names_exist():
    from coursetools.cli import parse

    ours = Course(Path(__file__).resolve().parents[2])
    said = number_sources._run(ours, "blanks-rates").partition("<code>")[2].partition("<")[0]
    asked = parse(said.split()[1:])
    assert asked.name == "blanks" and Path(ours.root / asked.sweep).is_file()
