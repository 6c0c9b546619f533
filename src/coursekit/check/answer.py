"""What `check` says: plain text for terminals and VS Code, HTML for Jupyter and Colab."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape

from coursekit._base.address import HOME, is_set, pages
from coursekit.check.excerpt import Excerpt
from coursekit.check.shown import Shown

WIDTH = 88

# Colours are laid over whatever the page has, so that both themes can be read.
GOOD, BAD, MARK = "rgba(0,158,115,.9)", "rgba(213,94,0,.95)", "rgba(213,94,0,.28)"
PLAIN = "color:inherit;background:transparent;font-size:1em"
BROKEN = "could not look at this"  # the headline where the course itself has failed
OPEN = "rgba(128,128,128,.9)"  # nothing has been looked at


@dataclass
class Answer(Shown):
    """The result of one `check`; what it prints is what a learner reads."""

    name: str
    headline: str  # "2 of 4 cases pass"
    cases: list[tuple[str, bool | None]] = field(default_factory=list)  # None: not looked at
    call: str = ""  # "shares(scores: (2, 3))", of the first case that failed
    problem: str = ""  # "the shape is (2, 3), expected (3, 2)"
    where: str = ""  # a line of the learner's cell
    excerpt: Excerpt | None = None
    misconception: str = ""
    hint: str = ""
    page: str = ""
    notes: list[str] = field(default_factory=list)  # forbidden calls, swallowed prints

    @property
    def right(self) -> bool:
        """Whether all cases passed."""
        return bool(self.cases) and all(passed for _, passed in self.cases)

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return sum(bool(passed) for _, passed in self.cases)

    @property
    def first(self) -> str:
        """What the first case that failed says of itself."""
        return next((says for says, passed in self.cases if passed is False), "")

    @property
    def link(self) -> str:
        """The address of the page that explains the question."""
        return address(self.page) if self.page else ""

    def _cases(self) -> list[tuple[str, str]]:
        later = "" if self.passed == 0 and not self.first else " (not run)"
        return [
            ("·", says + later) if passed is None else ("✓" if passed else "✗", says)
            for says, passed in self.cases
        ]

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.headline}"]
        lines += [f"  {mark} {says}" for mark, says in self._cases()]
        if self.call or self.problem:
            lines += ["", *([f"{self.first}:"] if self.first else [])]
            lines += _wrapped(self.call, "  ")
            lines += _wrapped(self.problem, "  ")
            if self.where:
                lines.append(f"  {self.where}")
            if self.excerpt:
                lines += ["", textwrap.indent(self.excerpt.text(), "    ")]
        for note in self.notes:
            lines += ["", *_wrapped(f"Note: {note}")]
        if self.hint:
            lines += ["", *_wrapped(f"Hint: {self.hint}")]
        if self.link and not self.right:
            lines += ["", f"Page: {self.link}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        colour = GOOD if self.right else BAD if self.first else OPEN
        parts = [f"<strong>{escape(self.name)}</strong>: {escape(self.headline)}"]
        rows = "".join(
            f'<li style="list-style:none;margin:0"><span aria-hidden="true">{mark}</span> '
            f"{escape(says)}</li>"
            for mark, says in self._cases()
        )
        if rows:
            parts.append(f'<ul style="margin:.3em 0;padding-left:1em">{rows}</ul>')
        if self.call or self.problem:
            title = f"<em>{escape(self.first)}</em>" if self.first else ""
            call = f' <code style="{PLAIN}">{escape(self.call)}</code>' if self.call else ""
            parts.append(_paragraph(f"{title}{call}<br>{escape(self.problem)}"))
            if self.where:
                line = escape(self.where)
                parts.append(f'<pre style="margin:.3em 0;{PLAIN}">{line}</pre>')
            if self.excerpt:
                parts.append(_tables(self.excerpt))
        parts += [_paragraph(f"<strong>Note</strong> {escape(note)}") for note in self.notes]
        if self.hint:
            parts.append(_paragraph(f"<strong>Hint</strong> {escape(self.hint)}"))
        if self.link and not self.right:
            parts.append(
                _paragraph(
                    f'<a href="{escape(self.link)}" target="_blank" rel="noopener" '
                    'style="color:inherit;text-decoration:underline">'
                    "The page that explains it</a>"
                )
            )
        inside = "".join(parts)
        return (
            f'<div style="border-left:4px solid {colour};padding:.2em .8em;line-height:1.5;'
            f'max-width:60em;overflow-x:auto">{inside}</div>'
        )


def broken(error: Exception) -> Answer:
    """Return the answer where `check` itself has failed; a learner's cell must not break by it."""
    return Answer("check", BROKEN, problem=fault(error))


def fault(error: Exception) -> str:
    """Say that the course itself has failed, and what to do."""
    return (
        f"{type(error).__name__}: {error}. This is a fault of the course, not of your answer: it "
        "costs you no points, and you can submit as usual. Report it to your instructor, with this "
        "message, the name of the question, and the output of `coursekit doctor`."
    )


def address(page: str) -> str:
    """Return where the book has a page: "scaling" or "scaling.html#an-anchor"; or nothing."""
    name, _, anchor = page.partition("#")
    if not is_set(HOME):
        return ""
    place = f"{name.removesuffix('.html')}.html" + (f"#{anchor}" if anchor else "")
    return f"{pages(HOME)}/book/{place}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _paragraph(inside: str) -> str:
    return f'<p style="margin:.4em 0">{inside}</p>'


def _tables(excerpt: Excerpt) -> str:
    """Return both halves as small tables beside each other; under each other on a narrow page."""
    halves = []
    for title, block in (("yours", excerpt.yours), ("expected", excerpt.expected)):
        rows = ""
        for row, marks in zip(block, excerpt.wrong):
            rows += "<tr>"
            for cell, mark in zip(row, marks):
                look = f"background:{MARK};font-weight:600" if mark else "background:transparent"
                rows += (
                    f'<td style="{look};color:inherit;text-align:right;padding:.1em .5em;'
                    f'font-family:monospace;border:0">{escape(cell)}</td>'
                )
            rows += "</tr>"
        halves.append(
            '<table style="border-collapse:collapse;border:0;margin:.3em 1.5em .3em 0;'
            f'{PLAIN}"><caption style="text-align:left;{PLAIN}">'
            f"{title}</caption><tbody>{rows}</tbody></table>"
        )
    title = f'<div style="opacity:.8">{escape(excerpt.title)}</div>' if excerpt.title else ""
    return f'{title}<div style="display:flex;flex-wrap:wrap">{"".join(halves)}</div>'
