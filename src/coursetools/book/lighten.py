"""What a written page does without: scripts that nothing on it needs, and waiting for the others.

The theme loads Font Awesome twice, as a font and as a script of 1.4 MB that redraws what the font
has drawn; MathJax comes to pages without a formula; and a browser that meets a script in the head
waits for it before it shows a word. Small files that all pages load are one file. Pictures say
their size, so that nothing moves when they come, and all but the first wait until the reader is
near them.
"""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from coursetools.book.plain_formula import show_plain

SCRIPT = re.compile(r'<script\b[^>]*\bsrc="([^"]*)"[^>]*></script>\n?')
STYLE = re.compile(r'<link rel="stylesheet"[^>]*\bhref="([^"]*)"[^>]*>\n?')
UNUSED = re.compile(r"/fontawesome/[^/]*/js/")  # the icons come from its font
PRELOADED = re.compile(r'<link rel="preload"[^>]*>\n?')  # fonts and scripts, before the styles
FORMULA = re.compile(r'class="[^"]*\bmath\b|class="[^"]*\bmathjax_process\b')
JOINED = {  # in an order in which they work: the first one's mode, strict or not, is that of all
    "joined.css": ("togglebutton.css", "copybutton.css", "mystnb.", "sphinx-design.min.css",
                   "custom.css"),
    "joined.js": ("clipboard.min.js", "doctools.js", "sphinx_highlight.js", "copybutton.js",
                  "togglebutton.js", "page.js",
                  "formulas.js"),
}  # fmt: skip
# An inline script behind it reads what it sets.
AT_ONCE = re.compile(r"documentation_options\.js|require(?:\.min)?\.js|embed-amd\.js")
SPHINX_SEARCH = re.compile(r"_static/(?:searchtools|language_data)\.js|\bsearchindex\.js")
OWN_SEARCH = "".join(
    f'<script defer src="_static/{name}.js"></script>\n' for name in ("sections", "search")
)
# What a screen reader calls a thing: the triangle beside a chapter has no name of its own, and a
# button that says what it does needs no other one.
TRIANGLE = re.compile(
    r"(<a [^>]*>([^<]*(?:<code.*?</code>)?[^<]*)</a>\s*<details[^>]*>\s*<summary)>"
)
RENAMED = re.compile(
    r'(<summary) aria-label="Toggle hidden content"'
    r'|(<button class="btn search-button-field[^>]*) aria-label="Search"'
)
PARAMETERS = re.compile(
    r'<dl>\n((?:<dd><em class="sig-param">.*?</dd>\n)+)</dl>'
)  # no list to a reader
SIDE_BAR = 'role="navigation" aria-label="The book"'
IMAGE = re.compile(r'<img\b((?:"[^"]*"|[^">])*?)\s*/?>')
SOURCE = re.compile(r'\bsrc="([^"]+)"')
PNG = b"\x89PNG\r\n\x1a\n"


def lighten_pages(app: Sphinx) -> None:
    """Have every page that is written go through `lighten`."""
    templates = app.builder.templates if app.builder.format == "html" else None
    if templates is None:
        return
    render = templates.render

    def lighter(template: str, context: dict[str, Any]) -> str:
        page = render(template, context)
        name = context.get("pagename")
        if not name or "<head>" not in page:
            return page
        # Pictures are copied when all pages are written; until then they are where they come from.
        pictures = {name: Path(app.srcdir, path) for path, name in app.builder.images.items()}
        return lighten(page, pictures)

    templates.render = lighter


def lighten(page: str, pictures: Mapping[str, Path]) -> str:
    """Return a page without what it does not need; `pictures` are the files of its `_images`."""
    formulas = FORMULA.search(page) is not None

    def script(match: re.Match[str]) -> str:
        source = match[1]
        if UNUSED.search(source) or ("mathjax" in source.lower() and not formulas):
            return ""
        if SPHINX_SEARCH.search(source):
            return once("search", OWN_SEARCH)
        if _joined(source, "joined.js"):
            place = _beside(source, "joined.js")
            return once("joined.js", f'<script defer src="{place}"></script>\n')
        waits = "defer" in match[0] or "async" in match[0] or AT_ONCE.search(source)
        return match[0] if waits else match[0].replace("<script", "<script defer", 1)

    written: set[str] = set()

    def once(name: str, tag: str) -> str:
        new = name not in written
        written.add(name)
        return tag if new else ""

    def style(match: re.Match[str]) -> str:
        if not _joined(match[1], "joined.css"):
            return match[0]
        place = _beside(match[1], "joined.css")
        return once("joined.css", f'<link rel="stylesheet" type="text/css" href="{place}" />\n')

    first = True

    def image(match: re.Match[str]) -> str:
        nonlocal first
        attributes = match[1]
        source = SOURCE.search(attributes)
        if source is None or "loading=" in attributes:
            return match[0]
        picture = pictures.get(source[1].rpartition("/")[2])
        size = _size(picture) if picture and "width=" not in attributes else ""
        lazy, first = "" if first else ' loading="lazy"', False
        return f"<img{attributes}{size}{lazy}>"

    head, body = page.split("</head>", 1)
    head = PRELOADED.sub("", STYLE.sub(style, SCRIPT.sub(script, head)))
    start = body.find("<article")
    above, inside = (body[:start], body[start:]) if start >= 0 else (body, "")
    return show_plain(f"{head}</head>{_named(above)}{IMAGE.sub(image, _named(inside))}")


def _named(part: str) -> str:
    """Give or leave the name of what a reader can open."""

    def triangle(match: re.Match[str]) -> str:
        title = " ".join(re.sub(r"<[^>]+>", "", match[2]).split())
        return f'{match[1]} aria-label="Pages of {title}">'

    def parameters(match: re.Match[str]) -> str:
        lines = match[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
        return f'<span class="sig-lines">\n{lines}</span>'

    part = part.replace(
        '<div class="bd-sidebar-primary', f'<div {SIDE_BAR} class="bd-sidebar-primary'
    )
    part = RENAMED.sub(lambda match: match[1] or match[2], TRIANGLE.sub(triangle, part))
    return PARAMETERS.sub(parameters, part)


def join_files(app: Sphinx, exception: Exception | None) -> None:
    """Write the files that stand for several.

    Sphinx copies `_static` only where it writes a page; a style that alone has changed arrives too.
    """
    folder = Path(app.outdir, "_static")
    if exception is not None or app.builder.format != "html":
        return
    for own in app.config.html_static_path:
        if not Path(own).is_absolute():
            shutil.copytree(Path(app.srcdir, own), folder, dirs_exist_ok=True)
    for name, parts in JOINED.items():
        paths = [path for part in parts for path in sorted(folder.glob(f"{part}*"))]
        paths = [path for path in paths if path.suffix == Path(name).suffix]
        joined = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        (folder / name).write_text(joined, encoding="utf-8")


def _joined(source: str, name: str) -> bool:
    """Return whether a file of `_static` is part of a joined one."""
    folder, _, file = source.partition("?")[0].rpartition("/")
    return folder.endswith("_static") and file.startswith(JOINED[name])


def _beside(source: str, name: str) -> str:
    """Return the address of `name` in the folder of `source`."""
    return f"{source.partition('?')[0].rpartition('/')[0]}/{name}"


def _size(path: Path) -> str:
    """Return the attributes that say how large a picture is, as far as its file tells."""
    try:
        with path.open("rb") as file:
            begin = file.read(24)
    except OSError:
        return ""
    if not begin.startswith(PNG):
        return ""
    width, height = struct.unpack(">II", begin[16:24])
    return f' width="{width}" height="{height}"'
