"""The one style sheet of the book: what its pages use of the theme's, as small as it can be.

A browser shows no word before it has the style sheet, and the sheets of the theme and of what it
builds on are half a megabyte, most of it for things that no page has. Kept are the rules whose
classes and names occur in a page or a script, and of the fonts of icons the icons that are shown.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable
from pathlib import Path

import tinycss2
from fontTools import subset

FIRST = """@charset "utf-8";
/* From the style sheets in this folder; each of them names its licence. */
"""
NAMED = re.compile(r'\b(?:class|id)=\\?"([^"\\]*)')
SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)
WORD, VARIABLE = re.compile(r"-?[A-Za-z_][\w-]*"), re.compile(r"--[\w-]+")
BOOTSTRAP = re.compile(r"(bs-)?tooltip|dropdown|show|fade|active|collaps|disabled")  # what we use
CONDITION = re.compile(r":(?:not|is|where|has)\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]")
PART = re.compile(r"[.#]((?!\d)(?:[\w-]|\\.)+)")
COMMA = re.compile(r",(?![^(]*\))")
GROUPS = {"media", "supports", "layer", "keyframes", "-webkit-keyframes"}
READ = re.compile(r"var\(\s*(--[\w-]+)")
SET = re.compile(
    r"""(?<=[{;])(--[\w-]+):(?:"[^"]*"|'[^']*'|\((?:[^()]|\([^()]*\))*\)|[^;}"'(])*;?"""
)
EMPTY = re.compile(r"[^{}\n]+\{\}")
MOTION = re.compile(r"@[\w-]*keyframes ([\w-]+)")
SHOWN = re.compile(r'content:"([^"\\])"')
ICONS = {  # file of a font -> classes that ask for it, and how the style sheet calls it
    "fa-solid-900": ("fas fa-solid", 'font-family:"Font Awesome 6 Free";font-weight:900'),
    "fa-regular-400": ("fa-regular", 'font-family:"Font Awesome 6 Free";font-weight:400'),
    "fa-brands-400": ("fab fa-brands", 'font-family:"Font Awesome 6 Brands";font-weight:400'),
}


def used_words(html: Path) -> set[str]:
    """Return the classes and names in the pages of a book, and every word of their scripts."""
    words: set[str] = set()
    scripts: set[str] = set()
    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for names in set(NAMED.findall(text)):
            words.update(names.split())
        words.update(VARIABLE.findall(text))
        scripts.update(SCRIPT.findall(text))
    for file in (*html.glob("_static/*.js"), *html.glob("_static/scripts/*.js")):
        text = file.read_text(encoding="utf-8")
        words.update(VARIABLE.findall(text))
        if file.name == "bootstrap.js":
            text = " ".join(filter(BOOTSTRAP.match, WORD.findall(text)))
        scripts.add(text)
    return words.union(*map(WORD.findall, scripts))


def only_used(style: str, words: set[str]) -> str:
    """Return a style sheet without comments and without the rules for what is not in `words`.

    Fonts of icons are left out as well; `icons` returns what is needed of them.
    """
    style = style.replace("Font Awesome\\ 5 Free", "Font Awesome\\ 6 Free")  # of which we have one
    rules = tinycss2.parse_stylesheet(style, skip_comments=True, skip_whitespace=True)
    small, before = "\n".join(_kept(rules, words)), ""
    while small != before:  # a variable may be read only by one that nobody reads
        before = small
        small = EMPTY.sub("", _without_unread(small, {*READ.findall(small), *words}))
    return "\n".join(line for line in small.splitlines() if line and not _without_use(line, small))


def icons(style: str, fonts: Path, words: set[str]) -> str:
    """Return the fonts of Font Awesome in the folder `fonts`, with the icons of `style` alone."""
    rules = []
    for name, (classes, called) in ICONS.items():
        file = fonts / f"{name}.ttf"
        if not file.is_file() or words.isdisjoint(classes.split()):
            continue
        options = subset.Options(flavor="woff", layout_features=[], notdef_outline=False)
        font = subset.load_font(file, options)
        cutter = subset.Subsetter(options)
        cutter.populate(text="".join(SHOWN.findall(style)))
        cutter.subset(font)
        made = io.BytesIO()
        subset.save_font(font, made, options)
        data = base64.b64encode(made.getvalue()).decode()
        rules.append(f"@font-face{{{called};src:url(data:font/woff;base64,{data})}}")
    return "\n".join(rules)


def _kept(rules: Iterable[tinycss2.ast.Node], words: set[str]) -> Iterable[str]:
    for rule in rules:
        start = " ".join(tinycss2.serialize(getattr(rule, "prelude", ())).split())
        if rule.type == "qualified-rule":
            selectors = [one.strip() for one in COMMA.split(start) if _matches(one, words)]
            if selectors:
                yield f"{','.join(selectors)}{{{_declarations(rule.content)}}}"
        elif rule.type == "at-rule" and rule.content is None:
            yield f"@{rule.at_keyword} {start};"
        elif rule.type == "at-rule" and rule.at_keyword in GROUPS:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if text := "".join(_kept(inner, words)):
                yield f"@{rule.at_keyword} {start}{{{text}}}"
        elif rule.type == "at-rule":
            text = _declarations(rule.content)
            if "fontawesome" not in text:
                yield f"@{rule.at_keyword} {start}{{{text}}}"


def _matches(selector: str, words: set[str]) -> bool:
    parts = PART.findall(CONDITION.sub("", selector))
    return all(part.replace("\\", "") in words for part in parts)


def _declarations(content: Iterable[tinycss2.ast.Node]) -> str:
    text = ""
    for token in content:
        if token.type == "whitespace":
            text += " " if text[-1:] not in " :;," else ""
        elif token.type != "comment":
            text += token.serialize()
    return re.sub(r":(?=;|$)", ": ", text.rstrip(" ;"))  # a variable may hold nothing


def _without_unread(style: str, read: set[str]) -> str:
    """Return a style sheet without the variables that are not in `read`."""
    return SET.sub(lambda match: match[0] * (match[1] in read), style)


def _without_use(line: str, style: str) -> bool:
    """Return whether a line is a motion that no rule has."""
    motion = MOTION.match(line)
    return motion is not None and not re.search(rf"animation[^;}}]*\b{motion[1]}\b", style)
