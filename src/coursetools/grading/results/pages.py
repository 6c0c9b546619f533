"""HTML for pages that show untrusted text: everything escaped, nothing live, both themes.

No page for students has a script; its policy forbids them all the same, and lets the page for
marking run its own alone. The pages are templates,
below `templates/`, and whatever text comes into one is made harmless (`text.plain`) and escaped by
itself. Code comes in by `code`, prose by `prose`, pictures by `picture`: these alone make HTML.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import re
import struct
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from coursetools.text import plain

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox"
MOST_SOURCE = 20_000  # characters of one cell that are shown
MOST_LINES = 400
MOST_PICTURE = 1 << 20  # bytes of one picture
PNG = b"\x89PNG\r\n\x1a\n"


def number(value: float) -> str:
    """Write points: 3, 2.5, 1.33."""
    return f"{round(value, 2):.2f}".rstrip("0").rstrip(".") if value else "0"


def counted(count: int, noun: str) -> str:
    """Write "1 student", "2 students"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def cut(value: str, characters: int = MOST_SOURCE, lines: int = MOST_LINES) -> str:
    """Cut text for a page, and say so where something is left out."""
    kept = value[:characters].split("\n")
    short = "\n".join(kept[:lines])
    more = len(value) - len(short)
    return f"{short}\n… ({more:,} more characters)" if more else short


@functools.cache
def _pygments() -> tuple[Any, Any]:
    from pygments.formatters import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)


def highlighted(source: str) -> Markup:
    """Return Python as coloured, escaped HTML, line for line."""
    from pygments import highlight

    return Markup(highlight(plain(cut(source)), *_pygments()).rstrip("\n"))


def code(source: str) -> Markup:
    """Return Python as a block."""
    return _block("code", Markup("<code>{}</code>").format(highlighted(source)))


def verbatim(value: str, kind: str = "out", characters: int = 2000, lines: int = 40) -> Markup:
    """Return what a program said as a block."""
    return _block(kind, plain(cut(value, characters, lines)))


def _block(kind: str, shown: str) -> Markup:
    return Markup('<pre class="{}" dir="ltr" tabindex="0">{}</pre>').format(kind, shown)


@functools.cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    class Ours(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return bool(re.match(r"(?i)(https?://|mailto:)", url.strip()))

    made = Ours("js-default", {"html": False, "linkify": False, "maxNesting": 20})

    def image(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        return f"[picture: {escape(tokens[index].content or 'without a description')}]"

    def link(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
        tokens[index].attrSet("rel", "nofollow noopener noreferrer")
        return self.renderToken(tokens, index, options, env)

    made.add_render_rule("image", image)
    made.add_render_rule("link_open", link)
    return made


def prose(source: str) -> Markup:
    """Return a student's Markdown as HTML; HTML inside it is shown as text, pictures are named."""
    text = plain(cut(source))
    try:
        html = _markdown().render(text)
    except RecursionError:
        html = f"<p>{escape(text)}</p>"
    return Markup(f'<div class="prose" dir="auto">{html}</div>')


def picture(data: object, alt: str) -> Markup:
    """Return a PNG given in base64, or nothing if it is no such picture."""
    nothing = Markup("")
    if isinstance(data, list):
        data = "".join(map(str, data))
    if not isinstance(data, str) or len(data) > MOST_PICTURE * 4 // 3 + 100:
        return nothing
    try:
        raw = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return nothing
    if not raw.startswith(PNG) or len(raw) < 33 or raw[12:16] != b"IHDR":
        return nothing
    width, height = struct.unpack(">II", raw[16:24])
    if not 0 < width * height <= 40_000_000:  # decompression bombs are small on disk
        return nothing
    clean = base64.b64encode(raw).decode("ascii")
    return Markup('<img src="data:image/png;base64,{}" alt="{}">').format(clean, alt)


def outputs(entries: list[dict[str, Any]], most: int = 8) -> Markup:
    """Return a cell's outputs: text and PNG only, cut; whatever else was there is left out."""
    parts = []
    for entry in entries[:most]:
        if not isinstance(entry, dict):
            continue
        kind = entry.get("output_type")
        data = entry.get("data")
        data = data if isinstance(data, dict) else {}
        if kind == "stream":
            parts.append(verbatim(_joined(entry.get("text"))))
        elif kind == "error":
            trace = _joined([f"{line}\n" for line in entry.get("traceback") or []][-12:])
            short = f"{entry.get('ename', 'Error')}: {entry.get('evalue', '')}"
            parts.append(verbatim(trace if trace.strip() else short, "out error"))
        elif "image/png" in data and (shown := picture(data["image/png"], "a figure you drew")):
            parts.append(shown)
        elif "text/plain" in data:
            parts.append(verbatim(_joined(data["text/plain"])))
    if len(entries) > most:
        more = counted(len(entries) - most, "more output")
        parts.append(Markup("<p>… and {}</p>").format(more))
    return Markup("").join(parts)


def _joined(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def policy_with(script: str) -> Markup:
    """Return the policy of a page that runs one script, this one, and no other."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Markup(POLICY.replace("; sandbox", f"; script-src 'sha256-{digest}'"))


def render(template: str, **about: Any) -> str:
    """Return a whole page: one of the templates with what it is `about`."""
    return _templates().get_template(template).render({"wide": False, **about})


@functools.cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader(folder / "templates"),
        autoescape=True,
        finalize=lambda value: plain(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "number": number,
        "counted": counted,
        "percent": lambda share: f"{100 * share:.0f}\u00a0%",
        "code": code,
        "verbatim": verbatim,
        "prose": prose,
        "policy_with": policy_with,
    }
    environment.globals |= {
        "policy": Markup(POLICY),
        "style": Markup((folder / "pages.css").read_text(encoding="utf-8")),
    }
    return environment
