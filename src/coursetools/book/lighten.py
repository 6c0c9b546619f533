"""What a written page does without: scripts that nothing on it needs, and waiting for the others.

The theme loads Font Awesome twice, as a font and as a script of 1.4 MB that redraws what the font
has drawn; MathJax comes to pages without a formula; and the scripts in the head share a slow line
with the text, so they stand behind it. Small files that all pages load are one file. Pictures say
their size, so that nothing moves when they come, and wait until the reader is near them.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from coursetools.book import styles
from coursetools.book.plain_formula import show_plain

OURS = Path(__file__).parent
SCRIPT = re.compile(r'<script\b[^>]*\bsrc="([^"]*)"[^>]*></script>\n?')
STYLE = re.compile(r'<link (?=[^>]*rel="stylesheet")[^>]*\bhref="([^"]*)"[^>]*>\n?')
UNUSED = re.compile(r"/fontawesome/[^/]*/js/")  # the icons come from its font
# The theme's script knows the theme; until it comes, and without scripts, there would be none.
UNKNOWN = 'localStorage.getItem("theme") || "auto"'
KNOWN = """{ light: "light", dark: "dark" }[document.documentElement.dataset.mode]
      || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")"""
VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>\n?')  # of Sphinx, docutils and the theme
FONTS = "vendor/fontawesome/*/webfonts"
PRELOADED = re.compile(r'<link rel="preload"[^>]*>\n?')  # fonts and scripts, before the styles
FORMULA = re.compile(r'class="[^"]*\bmath\b|class="[^"]*\bmathjax_process\b')
JOINED = {  # in an order in which they work: the first one's mode, strict or not, is that of all
    "joined.css": ("styles/theme.css", "styles/bootstrap.css", "styles/pydata-sphinx-theme.css",
                   "vendor/fontawesome/*/css/all.min.css", "pygments.css",
                   "styles/sphinx-book-theme.css", "togglebutton.css", "copybutton.css",
                   "mystnb.*.css", "sphinx-design.min.css", "custom.css"),
    "joined.js": ("clipboard.min.js", "doctools.js", "sphinx_highlight.js", "copybutton.js",
                  "togglebutton.js", "page.js", "ask.js",
                  "number_sources.js", "formulas.js"),
}  # fmt: skip
# An inline script behind it reads what it sets.
AT_ONCE = re.compile(r"documentation_options\.js|require(?:\.min)?\.js|embed-amd\.js")
LATER = re.compile(
    r"<script\b(?![^>]*(?:data-cfasync|require|embed-amd))[^>]*>.*?</script>\s*", re.DOTALL
)
END = re.compile(r"<!-- Scripts loaded after <body>|</body>|$")  # where the theme has some as well
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
NO_HEADER = re.compile(r"<th\b([^>]*)>(\s*<p>\s*</p>\s*|\s*)</th>")  # a corner, say
LISTED = re.compile(r' role="(?:list|doc-biblioentry)"(?=[^>]*>)')  # docutils' lists have no items
SIDE_BAR = 'role="navigation" aria-label="The book"'
IMAGE = re.compile(r'<img\b((?:"[^"]*"|[^">])*?)\s*/?>')
SOURCE = re.compile(r'\bsrc="([^"]+)"')
PNG = b"\x89PNG\r\n\x1a\n"


def lighten_pages(app: Sphinx) -> None:
    """Have every page that is written go through `lighten`."""
    templates = app.builder.templates if app.builder.format == "html" else None
    if templates is None:
        return
    sources = Path(app.outdir, "_modules")  # written anew only when a module has changed
    written = [path.stat().st_mtime for path in sources.glob("index.html")]
    if written and written[0] < max(path.stat().st_mtime for path in OURS.glob("*.py")):
        shutil.rmtree(sources)
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

    def image(match: re.Match[str]) -> str:
        attributes = match[1]
        source = SOURCE.search(attributes)
        if source is None or "loading=" in attributes:
            return match[0]
        picture = pictures.get(source[1].rpartition("/")[2])
        size = _size(picture) if picture and "width=" not in attributes else ""
        return f'<img{attributes}{size} loading="lazy">'

    head, body = page.split("</head>", 1)
    head = PRELOADED.sub("", STYLE.sub(style, SCRIPT.sub(script, head)))
    head = head.replace('data-theme="auto"', 'data-theme="light"').replace(UNKNOWN, KNOWN)
    head = VIEWPORT.sub(lambda match: once("viewport", match[0]), head)
    later = "".join(LATER.findall(head))
    head, body = LATER.sub("", head), END.sub(lambda match: later + match[0], body, count=1)
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
    part = NO_HEADER.sub(r"<td\1></td>", LISTED.sub("", part))
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
        paths = [path for part in parts for path in sorted(folder.glob(part))]
        texts = [path.read_text(encoding="utf-8") for path in paths]
        if name.endswith(".css"):
            moved = "\n".join(_moved(text, path, folder) for text, path in zip(texts, paths))
            words = styles.used_words(folder.parent)
            texts = [styles.FIRST + styles.only_used(moved, words)]
            texts += [styles.icons(texts[0], fonts, words) for fonts in folder.glob(FONTS)]
        (folder / name).write_text("\n".join(texts), encoding="utf-8")


def _moved(style: str, path: Path, folder: Path) -> str:
    """Return a style with addresses as they are in `folder`, where it was deeper."""

    def imported(match: re.Match[str]) -> str:
        other = path.parent / match[1]
        return _moved(other.read_text(encoding="utf-8"), other, folder)

    def place(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(path.parent / match[1])).relative_to(folder)
        return f"url({target.as_posix()}"

    style = re.sub(r"""@import (?:url\()?["']([^"':]+)["']\)?;""", imported, style)
    return re.sub(r"url\([\"']?(?!data:|#|[a-z]+:)([^)\"'?#]+)[\"']?", place, style)


def _joined(source: str, name: str) -> bool:
    """Return whether a file of `_static` is part of a joined one."""
    file = source.partition("?")[0].rpartition("_static/")[2]
    return "_static/" in source and any(fnmatch(file, part) for part in JOINED[name])


def _beside(source: str, name: str) -> str:
    """Return the address of `name` in the folder `_static` that `source` is in."""
    return f"{source.partition('_static/')[0]}_static/{name}"


def _size(path: Path) -> str:
    """Return the attributes that say how large a picture is, as far as its file tells.

    A notebook's picture has two pixels for each of the page.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(24)
    except OSError:
        return ""
    if not begin.startswith(PNG):
        return ""
    width, height = struct.unpack(">II", begin[16:24])
    if path.parent.name == "jupyter_execute":
        width, height = width // 2, height // 2
    return f' width="{width}" height="{height}"'
