"""What the directive of live figures refuses, and when a model is written again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.parsers.rst import DirectiveError
from sphinx.ext.viewcode import viewcode_anchor

from coursekit._base.errors import CourseError
from coursekit.figures.live.figure import Live
from coursetools.book import live_figures
from coursetools.book.live_figures import LiveFigure, write_models

CODE = "coursekit.attention.masked_softmax"


def directive(name: str, options: dict[str, str], content: list[str]) -> LiveFigure:
    """The directive as a page has it; only what it refuses is tried."""
    env = SimpleNamespace(docname="book/gpt", srcdir=".")
    document = SimpleNamespace(settings=SimpleNamespace(env=env))
    state = SimpleNamespace(document=document)
    machine = SimpleNamespace(
        get_source_and_line=lambda line: ("gpt.md", 1), reporter=SimpleNamespace()
    )
    return LiveFigure("live-figure", [name], options, content, 1, 1, "", state, machine)


@pytest.mark.parametrize(
    ("name", "options", "content", "words"),
    [
        (
            "coursekit.figures.live.writer.writer",
            {},
            ["A caption."],
            "needs the name of a function",
        ),
        ("coursekit.figures.live.writer.writer", {"name": "fig-a"}, [], "and 0 lines"),
        (
            "coursekit.figures.nobody.here",
            {"name": "fig-a"},
            ["A."],
            "no live figure 'coursekit.fi",
        ),
        (
            "coursekit.figures.live.writer.none",
            {"name": "fig-a"},
            ["A."],
            "no live figure 'coursekit.fi",
        ),
        ("writer", {"name": "fig-a"}, ["A."], "no live figure 'writer'"),
        ("builtins.dict", {"name": "fig-a"}, ["A."], "returns a dict; a Live is expected"),
    ],
)
def test_what_a_page_may_not_write(name, options, content, words):
    with pytest.raises(DirectiveError) as caught:
        directive(name, options, content).run()
    assert words in caught.value.msg


def test_what_a_figure_says_of_its_data_is_said_of_the_page(monkeypatch):
    def broken() -> Live:
        raise CourseError("there is no results/writer/cpu.json yet")

    monkeypatch.setattr(import_module("coursekit.figures.live.writer"), "writer", broken)
    with pytest.raises(DirectiveError) as caught:
        directive("coursekit.figures.live.writer.writer", {"name": "fig-a"}, ["A."]).run()
    assert "no results/writer/cpu" in caught.value.msg


def test_a_box_leads_to_its_section_and_to_its_code():
    made = Live("a", {}, "", leads={"mask": "{ref}`sec-a`"}, sources={"mask": CODE})
    figure = directive("coursekit.figures.live.writer.writer", {"name": "fig-a"}, ["A."])
    figure.env.srcdir = str(Path(__file__).parents[2])
    figure.env.metadata = {}
    figure.state.inline_text = lambda text, line: ([nodes.Text(text)], [])
    listed = figure._leads(made)
    assert listed.astext().startswith(f"Explained in {{ref}}`sec-a`. Code: {CODE}")
    assert listed[0][0]["classes"] == ["lead-mask"] and listed["classes"] == ["live-leads"]
    (source,) = listed.findall(viewcode_anchor)
    assert source["reftarget"] == "_modules/coursekit/attention"
    assert source["refid"] == "masked_softmax"
    with pytest.raises(LookupError, match="a function, a class or a method"):
        figure._source("coursekit.attention")


@pytest.fixture
def app(tmp_path: Path) -> SimpleNamespace:
    metadata = {"book/gpt": {"live-models": ["writer", "writer"]}, "book/bert": {}}
    return SimpleNamespace(
        outdir=str(tmp_path),
        builder=SimpleNamespace(format="html"),
        env=SimpleNamespace(metadata=metadata),
    )


def test_a_model_is_written_once_and_again_when_it_has_changed(app, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(live_figures.packed_models, "weights_file", lambda name: content)
    monkeypatch.setattr(
        live_figures.packed_models, "script", lambda name: made.append(name) or f"{name};"
    )
    content = b"one"
    write_models(app, None)
    write_models(app, None)
    assert made == ["writer"]
    path = tmp_path / "_static" / "live" / "writer.js"
    assert path.read_text().endswith("\nwriter;")
    content = b"two"
    write_models(app, None)
    path.unlink()
    write_models(app, None)
    assert made == ["writer"] * 3 and path.is_file()


def test_a_build_that_failed_or_makes_no_pages_writes_none(app, tmp_path):
    write_models(app, RuntimeError("no"))
    app.builder.format = "latex"
    write_models(app, None)
    assert list(tmp_path.iterdir()) == []
