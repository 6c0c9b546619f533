"""A page is written without what it does not need, and with the size of its pictures."""

from __future__ import annotations

import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx", reason="Jupyter Book is not installed")
from coursetools.book.lighten import PNG, join_files, lighten

HEAD = """<html><head>
<link rel="preload" as="font" type="font/woff2" href="x/webfonts/fa-solid-900.woff2" />
<link rel="preload" as="font" type="font/woff2" href="x/webfonts/fa-brands-400.woff2" />
<script src="../_static/vendor/fontawesome/6.5.2/js/all.min.js?digest=df"></script>
<script src="../_static/documentation_options.js?v=1"></script>
<script>DOCUMENTATION_OPTIONS.pagename = 'x'</script>
<script src="../_static/doctools.js?v=9"></script>
<script src="../_static/copybutton.js?v=9"></script>
<script data-prefix="tab" src="../_static/design-tabs.js?v=9"></script>
<link rel="stylesheet" type="text/css" href="../_static/pygments.css?v=1" />
<link rel="stylesheet" type="text/css" href="../_static/mystnb.8f.css?v=1" />
<link rel="stylesheet" type="text/css" href="../_static/custom.css?v=1" />
<script defer="defer" src="../_static/mathjax/tex-mml-chtml.js"></script>
</head><body><img src="logo.png"><article>
"""


def page(body: str) -> str:
    return f"{HEAD}{body}</article></body></html>"


def test_scripts_that_nothing_needs_are_gone_and_the_others_wait():
    lighter = lighten(page("<p>No formula.</p>"), {})
    assert "fontawesome" not in lighter and "preload" not in lighter
    assert "mathjax" not in lighter
    assert '<script src="../_static/documentation_options.js?v=1">' in lighter  # read at once
    assert '<script defer data-prefix="tab" src="../_static/design-tabs.js?v=9">' in lighter


def test_small_files_of_all_pages_are_one():
    lighter = lighten(page(""), {})
    assert lighter.count("joined.js") == lighter.count("joined.css") == 1
    assert '<script defer src="../_static/joined.js"></script>' in lighter
    assert not any(name in lighter for name in ("doctools", "mystnb", "pygments.css"))
    deep = '<link href="../../_static/vendor/fontawesome/6/css/all.min.css?d=1" rel="stylesheet" />'
    assert lighten(f"<head>{deep}</head><body>", {}).count("../../_static/joined.css") == 1


def test_styles_of_deeper_folders_keep_their_files_and_lose_icons_that_nobody_shows(tmp_path):
    fonts = tmp_path / "_static" / "vendor" / "fontawesome" / "6"
    (fonts / "css").mkdir(parents=True)
    (fonts / "css" / "all.min.css").write_text(
        '.fa-bars:before,.fa-navicon:before{content:"1"}.fa-yeti:before{content:"2"}'
        "@font-face{src:url(../webfonts/solid.woff2)}a{b:url(data:x)}"
    )
    (tmp_path / "page.html").write_text('<i class="fa-solid fa-navicon"></i>')
    config = SimpleNamespace(html_static_path=[])
    app = SimpleNamespace(outdir=tmp_path, srcdir=tmp_path, config=config)
    app.builder = SimpleNamespace(format="html")
    join_files(app, None)
    assert (tmp_path / "_static" / "joined.css").read_text() == (
        '.fa-bars:before,.fa-navicon:before{content:"1"}'
        "@font-face{src:url(vendor/fontawesome/6/webfonts/solid.woff2)}a{b:url(data:x)}"
    )


def test_what_can_be_opened_has_a_name():
    body = (
        '<nav><a href="x.html">2. Scaling</a><details><summary><i></i></summary></details></nav>'
        '<summary aria-label="Toggle hidden content"><p>Show code</p></summary>'
    )
    lighter = lighten(f"<head></head><body>{body}", {})
    assert '<summary aria-label="Pages of 2. Scaling"><i>' in lighter
    assert "<summary><p>Show code" in lighter


def test_the_lines_of_a_signature_are_no_list():
    body = '<dt>f(<dl>\n<dd><em class="sig-param">a</em>,</dd>\n</dl>)</dt><dl><dt>b</dt></dl>'
    lighter = lighten(f"<head></head><body>{body}", {})
    assert '<span class="sig-line"><em class="sig-param">a</em>,</span>' in lighter
    assert lighter.count("<dl>") == 1


def test_what_stands_for_several_files_has_all_of_them(tmp_path: Path):
    (tmp_path / "_static").mkdir()
    for name in ("doctools.js", "clipboard.min.js", "custom.css", "mystnb.8f.css", "mystnb.8f.js"):
        (tmp_path / "_static" / name).write_text(f"/* {name} */")
    own = tmp_path / "source" / "own"
    own.mkdir(parents=True)
    (own / "custom.css").write_text("/* newer */")
    config = SimpleNamespace(html_static_path=["own", str(tmp_path / "elsewhere")])
    app = SimpleNamespace(outdir=tmp_path, srcdir=tmp_path / "source", config=config)
    app.builder = SimpleNamespace(format="html")
    join_files(app, None)
    script = (tmp_path / "_static" / "joined.js").read_text()
    assert script == "/* clipboard.min.js */\n/* doctools.js */"
    style = (tmp_path / "_static" / "joined.css").read_text()
    assert style == "/* mystnb.8f.css */\n/* newer */"


@pytest.mark.parametrize("body", ['<span class="math notranslate">', '<p class="mathjax_process">'])
def test_a_formula_brings_mathjax(body):
    assert "tex-mml-chtml.js" in lighten(page(body), {})


def test_the_page_of_search_has_ours_in_place_of_sphinx_s():
    scripts = ("_static/searchtools.js", "_static/language_data.js", "searchindex.js")
    head = "".join(f'<script src="{name}"></script>\n' for name in scripts)
    lighter = lighten(page('<div id="search-results">').replace("</head>", head + "</head>"), {})
    assert not any(name in lighter for name in scripts)
    assert lighter.count("_static/search.js") == lighter.count("_static/sections.js") == 1


def test_pictures_have_their_size_and_all_but_the_first_are_lazy(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(PNG + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480))
    (tmp_path / "b.png").write_bytes(b"no picture")
    body = (
        '<img src="../_images/a.png" alt="1 > 0"/>\n<img src="../_images/a.png" width="5"/>\n'
        '<img src="../_images/b.png"><img src="c.png"><img alt="">'
    )
    pictures = {name: tmp_path / name for name in ("a.png", "b.png")}
    lighter = lighten(page(body), pictures)
    assert '<img src="../_images/a.png" alt="1 > 0" width="640" height="480">' in lighter
    assert '<img src="../_images/a.png" width="5" loading="lazy">' in lighter
    assert '<img src="../_images/b.png" loading="lazy">' in lighter and '<img alt="">' in lighter
    assert '<img src="c.png" loading="lazy">' in lighter
    assert '<img src="logo.png">' in lighter  # outside of the text
