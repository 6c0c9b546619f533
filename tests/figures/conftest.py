"""What the tests of figures share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib.text import Text

from coursekit.figures.live import packed_models
from coursekit.figures.live.bundle import bundle
from coursekit.figures.live.figure import HERE

# Some browsers keep a page in place when something above it grows; others do not.
LIKE_THE_BOOK = """<style>
  html { overflow-anchor: none }
  body { font: 16px/1.65 sans-serif; margin: 0 auto; max-width: 752px; padding: 0 16px 3000px }
  figure { margin: 0 }
</style>"""
IMPORT = """async (code) => {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  Object.assign(window, await import(url));
}"""
READY = "() => document.querySelector('.live').dataset.ready === ''"


@pytest.fixture(autouse=True)
def _no_window():
    with matplotlib.rc_context({"backend": "agg"}):
        yield


def texts(figure):
    """Return what is written in a figure and seen, with its place in pixels."""
    figure.draw_without_rendering()
    unseen = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not axes.axison or not low <= tick.get_loc() <= high:
                    unseen |= {tick.label1, tick.label2}
    seen = [text for text in figure.findobj(Text) if text.get_visible() and text not in unseen]
    return [(text, text.get_window_extent()) for text in seen if text.get_text().strip()]


@pytest.fixture
def readable():
    """Check that words lie within a figure and apart, and are 9 pixels high on a telephone."""

    def check(figure, telephone=360):
        placed = texts(figure)
        assert len(placed) > 5
        room = figure.bbox.padded(1)
        for text, place in placed:
            assert room.x0 < place.x0 and place.x1 < room.x1, text
            assert room.y0 < place.y0 and place.y1 < room.y1, text
            assert text.get_fontsize() / 72 * telephone / figure.get_figwidth() > 8.9, text
        for (one, a), (other, b) in itertools.combinations(placed, 2):
            apart = a.x1 < b.x0 + 1 or b.x1 < a.x0 + 1 or a.y1 < b.y0 + 1 or b.y1 < a.y0 + 1
            assert apart, (one, other)

    return check


# --- Live figures in a browser ---


@pytest.fixture(scope="module")
def page_with(browser) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a page in which all that some modules export is known."""
    pages = []

    def opened(*names: str) -> Any:
        pages.append(browser.new_page())
        pages[-1].set_default_timeout(120_000)
        for name in names:
            pages[-1].evaluate(IMPORT, bundle(HERE / f"{name}.js"))
        return pages[-1]

    yield opened
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder that looks to a figure like the built book."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "_static" / "live").mkdir(parents=True)
    (folder / "book").mkdir()
    return folder


def _page(site: Path, name: str) -> Path:
    """Return the page of the figure that the function `name` in the file `name` makes."""
    path = site / "book" / f"{name}.html"
    if not path.exists():
        figure = getattr(import_module(f"coursekit.figures.live.{name}"), name)()
        page = (
            f'<html data-content_root="../">{LIKE_THE_BOOK}<h2>Above</h2>'
            f'<figure id="fig">{figure.html()}</figure><h2 id="below">Below</h2>'
        )
        path.write_text(f"<!doctype html><meta charset=utf-8>{page}", encoding="utf-8")
        if figure.model is not None:
            script = site / "_static" / "live" / f"{figure.model.name}.js"
            script.write_text(packed_models.script(figure.model.name), encoding="utf-8")
    return path


@pytest.fixture
def open_page(browser, site) -> Iterator[Any]:
    """Return a function that opens a figure's page; what it says in the console is a fault."""
    contexts, faults = [], []

    def opened(name: str, query: str = "", ready: bool = True, **options: Any) -> Any:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{_page(site, name).as_uri()}{query}")
        if ready:
            page.wait_for_function(READY)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def _middle(mark: Any) -> tuple[float, float]:
    box = mark.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.fixture
def drag() -> Callable[[Any, Any], None]:
    """Return a function that drags a mark to another, or to a place of the window."""

    def dragged(mark: Any, to: Any) -> None:
        mouse, end = mark.page.mouse, to if isinstance(to, tuple) else _middle(to)
        mouse.move(*_middle(mark))
        mouse.down()
        mouse.move(*end, steps=12)
        mouse.up()

    return dragged
