"""A page is written without what it does not need, and with the size of its pictures."""

from __future__ import annotations

import base64
import io
import re
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx", reason="Jupyter Book is not installed")
import pydata_sphinx_theme
from fontTools.ttLib import TTFont

from coursetools.book.lighten import PNG, join_files, lighten
from coursetools.book.styles import FIRST, icons

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
VIEWPORT = '<meta name="viewport" content="width=device-width">'


def page(body: str) -> str:
    return f"{HEAD}{body}</article></body></html>"


def test_scripts_that_nothing_needs_are_gone_and_the_others_wait():
    lighter = lighten(page("<p>No formula.</p>"), {})
    assert "fontawesome" not in lighter and "preload" not in lighter
    assert "mathjax" not in lighter
    assert '<script src="../_static/documentation_options.js?v=1">' in lighter  # read at once
    assert '<script defer data-prefix="tab" src="../_static/design-tabs.js?v=9">' in lighter


def test_no_script_comes_before_the_text():
    """On a slow line it would take its part of it; the theme alone is known at once."""
    theme = 'dataset.theme = localStorage.getItem("theme") || "auto";'
    known = f"<script data-cfasync>{theme}</script>"
    end = "<!-- Scripts loaded after <body> -->\n<script src='bootstrap.js'></script>"
    head = HEAD.replace("<html>", '<html data-theme="auto">')
    head = head.replace("<head>", f"<head>{2 * VIEWPORT}{known}\n<script>let a =\n1</script>")
    lighter = lighten(f'{head}<p class="math">Text.</p></article>{end}</body></html>', {})
    above, text, below = lighter.partition("Text.")
    assert text and above.count("<script") == 1 and "prefers-color-scheme" in above
    assert '<html data-theme="light">' in above and above.count("viewport") == 1
    order = ["documentation_options", "pagename", "joined.js", "mathjax", "bootstrap.js"]
    places = [below.index(name) for name in ("let a =\n1", *order[:1], *order[2:])]
    assert places == sorted(places) and below.index(order[0]) < below.index(order[1])


def test_small_files_of_all_pages_are_one():
    lighter = lighten(page(""), {})
    assert lighter.count("joined.js") == lighter.count("joined.css") == 1
    assert '<script defer src="../_static/joined.js"></script>' in lighter
    assert not any(name in lighter for name in ("doctools", "mystnb", "pygments.css"))
    deep = '<link href="../../_static/vendor/fontawesome/6/css/all.min.css?d=1" rel="stylesheet" />'
    assert lighten(f"<head>{deep}</head><body>", {}).count("../../_static/joined.css") == 1


def test_of_the_styles_there_is_what_the_pages_use(tmp_path):
    fonts = tmp_path / "_static" / "vendor" / "fontawesome" / "6"
    (fonts / "css").mkdir(parents=True)
    (fonts / "css" / "all.min.css").write_text(
        '/* Bars. */.fa-bars:before,.fa-navicon:before{content:"1"}.fa-yeti:before{content:"2"}'
        "@font-face{src:url(../webfonts/fontawesome.woff2)}a{b:url(../x.png)}"
    )
    (tmp_path / "_static" / "custom.css").write_text(
        ":root { --read: 1; --through: var(--read); --idle: 2; --by-script: 3 }\n"
        'p:not(.nowhere), #here.open[data-x=".y"] { margin: var(--through); color: red }\n'
        "@media (min-width: 1px) { .gone { a: b } } @media print { .open { a: calc(1px + 2px) } }\n"
        "@keyframes turn { 12.5% { a: b } } @keyframes idle { 0% { a: b } }"
        ".open{animation:turn 1s}"
    )
    (tmp_path / "page.html").write_text(
        '<i class="fa-solid fa-navicon" id="here"></i><script>x.className = "open"</script>'
        "<p style='width: var(--by-script)'>"
    )
    config = SimpleNamespace(html_static_path=[])
    app = SimpleNamespace(outdir=tmp_path, srcdir=tmp_path, config=config)
    app.builder = SimpleNamespace(format="html")
    join_files(app, None)
    style = (tmp_path / "_static" / "joined.css").read_text()
    assert style.removeprefix(FIRST).splitlines() == [
        '.fa-navicon:before{content:"1"}',
        "a{b:url(vendor/fontawesome/6/x.png)}",
        ":root{--read:1;--through:var(--read);--by-script:3}",
        'p:not(.nowhere),#here.open[data-x=".y"]{margin:var(--through);color:red}',
        "@media print{.open{a:calc(1px + 2px)}}",
        "@keyframes turn{12.5%{a:b}}",
        ".open{animation:turn 1s}",
    ]


def test_a_font_has_the_icons_that_are_shown(tmp_path):
    fonts = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme"
    (fonts,) = fonts.glob("static/vendor/fontawesome/*/webfonts")
    style = '.fa-bars:before{content:"\uf0c9"}.other:before{content:"none"}'
    rule = icons(style, fonts, {"fa-solid", "far"})
    assert rule.count("@font-face") == 1 and len(rule) < 4000
    data = base64.b64decode(re.search(r"base64,([^)]*)", rule)[1])
    assert set(TTFont(io.BytesIO(data)).getBestCmap()) == {0xF0C9}


def test_what_can_be_opened_has_a_name():
    body = (
        '<nav><a href="x.html">2. Scaling</a><details><summary><i></i></summary></details></nav>'
        '<summary aria-label="Toggle hidden content"><p>Show code</p></summary>'
    )
    lighter = lighten(f"<head></head><body>{body}", {})
    assert '<summary aria-label="Pages of 2. Scaling"><i>' in lighter
    assert "<summary><p>Show code" in lighter
    corner = '<th class="head text-left"><p></p></th><th>a</th>'
    assert '<td class="head text-left"></td><th>a</th>' in lighten(f"<head></head>{corner}", {})


def test_the_lines_of_a_signature_are_no_list():
    body = '<dt>f(<dl>\n<dd><em class="sig-param">a</em>,</dd>\n</dl>)</dt><dl><dt>b</dt></dl>'
    lighter = lighten(f"<head></head><body>{body}", {})
    assert '<span class="sig-line"><em class="sig-param">a</em>,</span>' in lighter
    assert lighter.count("<dl>") == 1


def test_what_stands_for_several_files_has_all_of_them(tmp_path: Path):
    (tmp_path / "_static").mkdir()
    for name in ("doctools.js", "clipboard.min.js", "custom.css", "mystnb.8f.css", "mystnb.8f.js"):
        (tmp_path / "_static" / name).write_text(f"/* {name} */")
    (tmp_path / "_static" / "mystnb.8f.css").write_text("a{mystnb:8f}")
    own = tmp_path / "source" / "own"
    own.mkdir(parents=True)
    (own / "custom.css").write_text("b{newer:1}")
    config = SimpleNamespace(html_static_path=["own", str(tmp_path / "elsewhere")])
    app = SimpleNamespace(outdir=tmp_path, srcdir=tmp_path / "source", config=config)
    app.builder = SimpleNamespace(format="html")
    join_files(app, None)
    script = (tmp_path / "_static" / "joined.js").read_text()
    assert script == "/* clipboard.min.js */\n/* doctools.js */"
    style = (tmp_path / "_static" / "joined.css").read_text()
    assert style == f"{FIRST}a{{mystnb:8f}}\nb{{newer:1}}"


@pytest.mark.parametrize("body", ['<span class="math notranslate">', '<p class="mathjax_process">'])
def test_a_formula_brings_mathjax(body):
    assert "tex-mml-chtml.js" in lighten(page(body), {})


def test_the_page_of_search_has_ours_in_place_of_sphinx_s():
    scripts = ("_static/searchtools.js", "_static/language_data.js", "searchindex.js")
    head = "".join(f'<script src="{name}"></script>\n' for name in scripts)
    lighter = lighten(page('<div id="search-results">').replace("</head>", head + "</head>"), {})
    assert not any(name in lighter for name in scripts)
    assert lighter.count("_static/search.js") == lighter.count("_static/sections.js") == 1


def test_pictures_have_their_size_and_are_lazy(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(PNG + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480))
    (tmp_path / "b.png").write_bytes(b"no picture")
    body = (
        '<img src="../_images/a.png" alt="1 > 0"/>\n<img src="../_images/a.png" width="5"/>\n'
        '<img src="../_images/b.png"><img src="c.png"><img alt="">'
    )
    pictures = {name: tmp_path / name for name in ("a.png", "b.png")}
    lighter = lighten(page(body), pictures)
    assert (
        '<img src="../_images/a.png" alt="1 > 0" width="640" height="480" loading="lazy">'
        in lighter
    )
    assert '<img src="../_images/a.png" width="5" loading="lazy">' in lighter
    assert '<img src="../_images/b.png" loading="lazy">' in lighter and '<img alt="">' in lighter
    assert '<img src="c.png" loading="lazy">' in lighter
    assert '<img src="logo.png">' in lighter  # outside of the text
