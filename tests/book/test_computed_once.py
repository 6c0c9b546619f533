"""What is the same for each reference and each source page is computed once, and stays the same."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx", reason="Jupyter Book is not installed")
from sphinx.environment import BuildEnvironment

from coursetools.book.computed_once import share_side_bar

TABLES = """Tables
======

.. _first:

.. table:: One

   == ==
   1  2
   == ==

.. _second:

.. table:: Two

   == ==
   3  4
   == ==
"""
INDEX = """Index
=====

.. toctree::

   tables

:numref:`first`, :numref:`second`, :numref:`the second, %s <second>`, :numref:`first`
"""


def test_numbered_references_are_as_before_and_their_page_is_read_once(
    tmp_path, monkeypatch, run_sphinx
):
    (tmp_path / "index.rst").write_text(INDEX)
    (tmp_path / "tables.rst").write_text(TABLES)
    read = Counter()
    get = BuildEnvironment.get_doctree

    def counted(env, name):
        read[name] += 1
        return get(env, name)

    monkeypatch.setattr(BuildEnvironment, "get_doctree", counted)
    pages, times = [], []
    for extensions in ([], ["coursetools.book.computed_once"]):
        out = tmp_path / f"out{len(pages)}"
        settings = {"extensions": extensions, "numfig": True, "html_theme": "basic"}
        read.clear()
        run_sphinx(tmp_path, out, settings)
        pages.append((out / "index.html").read_text(encoding="utf-8"))
        times.append(read["tables"])
    assert pages[0] == pages[1]
    assert pages[1].count("Table 1") == 2 and "the second, 2" in pages[1]
    assert times[0] - times[1] == 3  # four references, one look


def test_source_pages_of_one_depth_share_a_side_bar_and_no_other_page_does():
    built = []

    def built_for(page):
        def toctree(**options):
            built.append(page)
            return f"{page} {options}"

        return toctree

    app, bars = SimpleNamespace(), []
    for page in ("_modules/a", "_modules/b", "_modules/a/b", "genindex", "search", "book/a"):
        context = {"toctree": built_for(page)}
        share_side_bar(app, page, "page.html", context, None)
        bars.append(context["toctree"](maxdepth=4))
        assert context["toctree"](maxdepth=1).endswith("{'maxdepth': 1}")
    assert bars[0] == bars[1] != bars[2]
    assert bars[3:] == [f"{page} {{'maxdepth': 4}}" for page in ("genindex", "search", "book/a")]
    assert Counter(built) == {
        "_modules/a": 2, "_modules/a/b": 2, "genindex": 2, "search": 2, "book/a": 2
    }  # fmt: skip
