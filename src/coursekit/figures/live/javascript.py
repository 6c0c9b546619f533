"""Tokens of JavaScript, and a module without the comments and spaces that only its readers need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from coursekit._base.errors import CourseError

TEXT = r"(?:\\.|\$(?!\{)|[^`\\$])*(?:`|\$\{)"  # of a template, up to its end or to ${
KINDS = {  # the first that matches
    "comment": r"//[^\n]*|/\*.*?\*/",
    "space": r"\s+",
    "string": r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    "template": f"`{TEXT}",
    "regex": r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/\w*",
    "word": r"[\w$#]+",
    "mark": r"""[^\s\w"'`]""",
}
TOKEN = re.compile("|".join(f"(?P<{name}>{kind})" for name, kind in KINDS.items()), re.DOTALL)
REST = re.compile(r"\}" + TEXT, re.DOTALL)  # of a template, behind what ${ began
OPERATORS = {"return", "typeof", "case", "of", "in", "await", "yield", "void", "new", "delete"}
JOINED = re.compile(r"[\w$#]{2}|\+\+|--|//")  # what two tokens must not become


class Token(NamedTuple):
    """A piece of source: a `kind` of KINDS, and its text."""

    kind: str
    text: str


def tokens(source: str) -> Iterator[Token]:
    """Split JavaScript into tokens. A `/` behind a value or a bracket divides."""
    at, value = 0, False  # whether the last token is a value
    braces: list[int] = []  # those open in the code of each template around
    while at < len(source):
        inside = bool(braces) and source[at] == "}" and braces[-1] == 0
        match = (REST if inside else TOKEN).match(source, at)
        if match is None:
            line = source.count("\n", 0, at) + 1
            raise CourseError(f"the string or template in line {line} has no end")
        token = Token("template" if inside else str(match.lastgroup), match[0])
        if token.kind == "regex" and value:
            token = Token("mark", "/")
        if token.kind == "template":
            if not inside:
                braces.append(0)
            if token.text[-1] == "`":
                braces.pop()
        elif braces and token.text in ("{", "}"):
            braces[-1] += 1 if token.text == "{" else -1
        if token.kind == "word":
            value = token.text not in OPERATORS
        elif token.kind not in ("comment", "space"):
            value = token.kind in ("string", "regex") or token.text[-1] in ")]}`"
        yield token
        at += len(token.text)


def compact(source: str) -> Iterator[Token]:
    """Return the tokens of a module without comments, indentation and spaces that part nothing."""
    last, between = "", ""
    for token in tokens(source):
        if token.kind in ("comment", "space"):
            between = "\n" if "\n" in between + token.text else " "
            continue
        if last and between and ("\n" in between or JOINED.match(last[-1] + token.text[0])):
            yield Token("space", between)
        yield token
        last, between = token.text, ""


def compacted(source: str) -> str:
    """Return a script without comments, indentation and spaces that part nothing."""
    return "".join(token.text for token in compact(source))
