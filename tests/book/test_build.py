"""The build of a course in miniature: what it refuses, what it does again, what it leaves alone.

A build takes ten seconds, and one after a change a third of that. So the book is built once, and
each test gets it as it then was, in the same place: Sphinx reads everything anew in another.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools.book import assets
from coursetools.book.build import build_book, pages
from coursetools.course import Course


@pytest.fixture(autouse=True)
def no_npm(monkeypatch, tmp_path_factory):
    """These builds need no scripts; with none they are quicker."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(assets.shutil, "which", lambda name: None)


@pytest.fixture(scope="module")
def first_build(executed_course, tmp_path_factory) -> tuple[Path, Path, str]:
    """Return where the book was built, a copy of it all, and what was said meanwhile."""
    folder = tmp_path_factory.mktemp("build")
    course = shutil.copytree(executed_course, folder / "course")
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(io.StringIO()) as said:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setattr(assets.shutil, "which", lambda name: None)
        assert build_book(Course(course)) == course / "_build" / "html" / "index.html"
    return course, shutil.copytree(course, folder / "copy"), said.getvalue()


@pytest.fixture
def built(first_build) -> Path:
    """Return the course with its book, both as they were after the first build."""
    place, copy, _ = first_build
    shutil.rmtree(place)
    return shutil.copytree(copy, place)  # with all dates


def html(course: Path, page: str) -> str:
    return (course / "_build" / "html" / f"{page}.html").read_text(encoding="utf-8")


def finished(course: Path) -> dict[str, str]:
    """Return when each notebook ran last."""
    records = sorted((course / "_build" / "executed").glob("*.json"))
    return {path.stem: json.loads(path.read_text())["finished"] for path in records}


def written(course: Path) -> dict[str, int]:
    """Return when each page was written last."""
    return {p.stem: p.stat().st_mtime_ns for p in (course / "_build/html/book").glob("*.html")}


def head(page: str) -> str:
    return page.partition("</head>")[0]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_book_comes_out_and_changes_arrive(built, first_build):
    course, said = built, first_build[2]
    sentence = "npm was not found, so the pages load MathJax from a CDN"
    assert said.count(sentence) == 1
    assert 'url=book/index.html"' in (course / "_build" / "html" / "index.html").read_text()
    assert "cdn.jsdelivr.net/npm/mathjax" in html(course, "book/waves")

    page = html(course, "book/waves")
    assert re.search(r'class="sourced from-\d+"><span class="pasted-text">41.0</span>', page)
    assert page.count('<details class="number-sources">') == 1
    assert '<dd id="from-0">' in page and 'href="../notebooks/waves.html">the notebook' in page
    assert 'alt="A wave that rises, then falls."' in page
    assert "A wave and <strong>its</strong> period." in page
    assert re.search(r'href="#fig-sine"[^>]*><span[^>]*>Figure 1</span>', page)
    own = html(course, "notebooks/waves")
    assert 'alt="A wave that rises, then falls."' in own
    assert 'class="live flipbook"' in own and "html-manager" not in own
    assert "colab.research.google.com/github/somebody/attention/blob/main/" in own

    other = html(course, "book/other")
    for text in ("<em>small</em>", "1,234.6", "3,000.0", "2.00", "One wave. Medians over 5 rounds"):
        assert text in other
    assert re.search(r'<table[^>]* id="tab-surfing">\s*<caption>.*Table 3', other)
    assert re.search(r'href="#fig-surfing"[^>]*><span[^>]*>Figure 2</span>', other)
    for number, name in enumerate(("library", "writer"), start=3):
        assert re.search(rf'href="#fig-{name}"[^>]*><span[^>]*>Figure {number}</span>', other)
        assert re.search(rf'<figure[^>]* id="fig-{name}">\s*<div class="live ', other)
    assert "A <em>soft</em> lookup." in other
    model = (course / "_build/html/_static/live/writer.js").read_text(encoding="utf-8")
    assert '"model": "writer"' in other and '["writer"] = {"weights": ' in model
    first = html(course, "book/index")
    assert "1 of 3 rows are built." in first
    assert "1 of 2 rows are built." in first
    assert "coming: The sea" in first
    assert 'href="waves.html#waves"' in first
    assert '<meta name="description" content="' in page and "Hands on" not in head(page)
    home = "https://somebody.github.io/attention/"
    assert f'<link rel="canonical" href="{home}book/waves.html"' in page
    assert re.search(rf'<meta property="og:image" content="{home}_images/[0-9a-f]{{64}}.png"', page)
    assert f"<loc>{home}book/waves.html</loc>" in (course / "_build/html/sitemap.xml").read_text()
    styles = (course / "_build/html/_static/joined.css").read_text()
    assert 'html[data-theme="dark"] .highlight' in styles and "@import" not in styles
    lost = (course / "_build/html/404.html").read_text()
    assert '<a href="/attention/search.html">the search</a>' in lost
    assert "Page not found" in lost and 'href="/attention/_static/joined.css"' in lost
    assert '<p class="side-steps">Hands on: <a class="reference internal"' in page
    assert "/blob/main/tests/test_masks.py" in first
    assert "2 notebooks ran in" in first
    assert f"{sys.version_info[0]}.{sys.version_info[1]}." in first

    # Nothing changed: nothing is done.
    ran, pages_written = finished(course), written(course)
    build_book(Course(course), quiet=True)
    assert (finished(course), written(course)) == (ran, pages_written)

    # A notebook changes: it runs, and its numbers arrive on the page of the same stem.
    edit(course / "notebooks" / "waves.ipynb", "41.0", "43.0")
    edit(course / "notebooks" / "waves.ipynb", "rises, then", "rose and")
    build_book(Course(course), quiet=True)
    page = html(course, "book/waves")
    assert '<span class="pasted-text">43.0</span>' in page
    assert 'alt="A wave that rose and falls."' in page
    assert '<span class="pasted-text">43.0</span>' in html(course, "book/number")
    now, pages_now = finished(course), written(course)
    assert now["other"] == ran["other"]
    assert now["waves"] != ran["waves"]
    assert pages_now["number"] != pages_written["number"]
    assert pages_now["index"] != pages_written["index"]

    # The table and a benchmark change: the page of each is written again, and no notebook runs.
    # A page that was lost comes back.
    (course / "_build" / "html" / "book" / "number.html").unlink()
    edit(course / "book" / "lecture_map.csv", "L1,what a beach is", "L0,what a cliff is")
    edit(course / "results" / "benchmarks.json", "3000.0", "4000.0")
    build_book(Course(course), quiet=True)
    assert "1 of 3 rows are built." in html(course, "book/index")
    assert "what a cliff is" in html(course, "book/index")
    assert "4,000.0" in html(course, "book/other")
    assert written(course)["waves"] == pages_now["waves"]
    assert finished(course) == now
    assert '<span class="pasted-text">43.0</span>' in html(course, "book/number")

    # A number that the notebook no longer gives is missed, although the page is as before.
    edit(course / "notebooks" / "waves.ipynb", 'glue(\\"answer\\", 43.0)', "pass")
    with pytest.raises(CourseError, match="Glue reference 'answer' not found"):
        build_book(Course(course), quiet=True)


def test_plain_jupyter_book_gives_the_same_pages(built):
    course, ours = built, {page: html(built, page) for page in pages(Course(built))}
    for folder in ("html", ".doctrees"):
        shutil.rmtree(course / "_build" / folder)
    environment = {**os.environ, "PATH": str(course)}
    plain = subprocess.run(
        [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "."],
        cwd=course, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert plain.returncode == 0, plain.stderr
    assert "npm was not found, so the pages load MathJax" in plain.stdout
    assert {page: html(course, page) for page in pages(Course(course))} == ours


def test_a_broken_notebook_stops_the_build_until_it_is_mended(built, capfd):
    course = built
    shutil.rmtree(course / "_build" / "html")
    whole = (course / "notebooks" / "other.ipynb").read_text()
    edit(course / "notebooks" / "other.ipynb", "print(6 * 7)", "print(6 / 0)")
    sentence = r"notebooks/other\.ipynb, cell cell-1: ZeroDivisionError: division by zero"
    for _ in range(2):  # the second time is no different
        with pytest.raises(CourseError, match=sentence):
            build_book(Course(course), quiet=True)
    assert not (course / "_build" / "html").exists()
    assert "Traceback" not in capfd.readouterr().err
    (course / "notebooks" / "other.ipynb").write_text(whole)
    build_book(Course(course), quiet=True)
    assert "42" in html(course, "notebooks/other")


def test_the_command_answers_with_a_sentence_and_a_code(course):
    edit(course / "notebooks" / "other.ipynb", "print(6 * 7)", "print(6 / 0)")
    done = subprocess.run(
        [sys.executable, "-m", "coursetools.cli", "book", "--quiet", "--root", str(course)],
        env={**os.environ, "PATH": str(course)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_faults_of_pages_stop_the_build_until_they_are_mended(built, capfd):
    course = built
    faults = {
        "SEE {ref}`nowhere`.": "undefined label: 'nowhere'",
        "{glue:text}`../notebooks/waves.ipynb::mass:.1f`": "Glue reference 'mass' not found",
        "```{notebook-figure} ../notebooks/waves.ipynb::cosine\n:name: fig-x\nText.\n```": (
            "notebooks/waves.ipynb shows no figure 'cosine'; it shows sine"
        ),
        "```{notebook-figure} ../notebooks/sands.ipynb::sine\n:name: fig-y\nText.\n```": (
            "there is no executed notebook notebooks/sands.ipynb"
        ),
        "```{notebook-figure} ../notebooks/waves.ipynb::sine\n```": (
            "notebook-figure needs notebook.ipynb::figure, a :name: and a caption"
        ),
        "```{notebook-table} ../notebooks/waves.ipynb::depths\n:name: tab-x\nText.\n```": (
            "notebooks/waves.ipynb shows no table 'depths'; it shows heights"
        ),
        "```{notebook-table} ../notebooks/waves.ipynb::heights\n```": (
            "notebook-table needs notebook.ipynb::table, a :name: and a caption"
        ),
        "```{benchmark-table} diving\n```": (
            "results/benchmarks.json holds no 'diving', only surfing"
        ),
        "```{benchmark-table} surfing\n:name: surfing\n```": (
            "benchmark-table needs a :name: like tab-speed, but found 'surfing'"
        ),
        "```{lecture-map} L9\n```": "there is no deck 'L9', only L0",
        "```{questions} Part IX\n```": "there is no part 'Part IX', only none",
        "```{notation} Part IX\n```": "there is no part 'Part IX', only none",
    }
    other = course / "book" / "other.md"
    whole = other.read_text(encoding="utf-8")
    other.write_text("\n\n".join([whole, *faults]), encoding="utf-8")
    capfd.readouterr()
    for _ in range(2):  # Sphinx alone repeats no warning, and would be content the second time
        with pytest.raises(CourseError, match=rf"not built, for {len(faults)} faults: book/other"):
            build_book(Course(course), quiet=True)
        said = capfd.readouterr().err
        for sentence in faults.values():
            assert sentence in said
        assert len(said.strip().splitlines()) == len(faults)
        assert str(course) not in said
    other.write_text(whole, encoding="utf-8")
    # Nor is a build trusted that was killed between reading a changed page and writing it.
    assert not (course / "_build" / "book.json").exists()
    (course / "_build" / ".doctrees" / "unfinished").touch()
    stale = html(course, "book/waves").replace("41.0", "40.0")
    (course / "_build" / "html" / "book" / "waves.html").write_text(stale, encoding="utf-8")
    build_book(Course(course), quiet=True)
    assert '<span class="pasted-text">41.0</span>' in html(course, "book/waves")


def test_a_folder_without_a_book_is_named(tmp_path):
    with pytest.raises(CourseError, match=r"holds no book: there is no _config\.yml"):
        build_book(Course(tmp_path))


def test_pages_are_those_of_the_contents(course):
    expected = ["index", "waves", "notebooks/waves", "other", "notebooks/other", "number"]
    assert pages(Course(course)) == [n if "/" in n else f"book/{n}" for n in expected]
