"""Directives for pages that lead into the book: questions, glossary, notation, the home page.

`questions` and `notation` take a part of the contents and make a section for each chapter of it;
`glossary-table` makes all terms. `attention-picture` draws what a translator looked at, from its
committed result; `way-picture`, `way-routes`, `course-count` and `colab-tried` are the home page's,
too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from coursekit._base.errors import CourseError
from coursetools.book import drawings, lecture_map, questions_and_terms, routes
from coursetools.book.contents import chapters, parts, sections, title
from coursetools.book.dependencies import note_input
from coursetools.course import Course
from coursetools.notebooks import header_cells

TRANSLATION = Path("results", "translation", "cpu.json")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Guide(SphinxDirective):
    """What these directives have in common."""

    @cached_property
    def course(self) -> Course:
        """The course whose book is built."""
        return Course(Path(self.env.srcdir))

    def note(self, *paths: Path) -> None:
        """Have this page read again when one of the files changes."""
        for path in (self.course / "_toc.yml", *paths):
            note_input(self.env, self.env.docname, path)

    def note_pages(self) -> None:
        """Have this page read again when a chapter changes, whose front matter it shows."""
        self.note(*(self.course.page(n) for names in chapters(self.course).values() for n in names))

    def markdown(self, lines: Iterable[str]) -> list[nodes.Node]:
        """Return what the lines, in the language of the pages, stand for."""
        holder = nodes.container(classes=[self.name])
        self.state.nested_parse(StringList(list(lines), source=self.name), 0, holder)
        return [holder]

    def by_chapter(self, lines_of: dict[str, list[str]]) -> list[nodes.Node]:
        """Return a section with its lines for each chapter of the part in the argument."""
        chapters_of = parts(self.course)
        if self.arguments[0] not in chapters_of:
            raise self.error(
                f"there is no part {self.arguments[0]!r}, only {', '.join(chapters_of) or 'none'}"
            )
        shown = []
        for stem in chapters_of[self.arguments[0]]:
            if stem in lines_of:
                section = nodes.section(ids=[f"{self.name}-{stem}"])
                section += nodes.title("", title(self.course, stem))
                section += self.markdown(lines_of[stem])
                shown.append(section)
        return shown

    def raw(self, html: str) -> list[nodes.Node]:
        """Return HTML as it is."""
        return [nodes.raw("", html, format="html")]

    def run(self) -> list[nodes.Node]:
        """Return what `make` returns; a fault in a table is one of the page."""
        try:
            return self.make()
        except CourseError as error:
            raise self.error(str(error)) from error


class Questions(Guide):
    """The questions of one part, `Part I. Attention`, each a link to the section that answers."""

    required_arguments = 1
    final_argument_whitespace = True

    def make(self) -> list[nodes.Node]:
        """Return a section for each chapter with its questions."""
        self.note_pages()
        lines_of: dict[str, list[str]] = {}
        for question in questions_and_terms.read_questions(self.course):
            line = f"- {{ref}}`{question.text} <{question.section}>`"
            lines_of.setdefault(question.chapter, []).append(line)
        return self.by_chapter(lines_of)


class Notation(Guide):
    """The symbols of one part, `Part I. Attention`, under the chapter that introduces them."""

    HEAD = ("| Symbol | Meaning | Section |", "| --- | --- | --- |")
    required_arguments = 1
    final_argument_whitespace = True

    def make(self) -> list[nodes.Node]:
        """Return a section for each chapter with its table of symbols."""
        self.note_pages()
        places = sections(self.course)
        lines_of: dict[str, list[str]] = {}
        number = {stem: n for n, stem in enumerate(chapters(self.course), start=1)}
        for row in questions_and_terms.read_meanings(self.course):
            if row.symbol and row.section in places:
                lines = lines_of.setdefault(places[row.section].chapter, list(self.HEAD))
                lines.append(self._line(row, [str(number[stem]) for stem in row.also]))
        return self.by_chapter(lines_of)

    def _line(self, row: questions_and_terms.Meaning, further: list[str]) -> str:
        meaning = row.meaning
        if row.term:
            meaning = f"{{term}}`{row.term}`: {meaning}"
        if row.shape:
            meaning += f"; shape {row.shape}"
        if further:
            meaning += f"; also in chapter{'s' * (len(further) > 1)} {_listed(further)}"
        if row.besides:
            meaning += f". Not to be confused with {row.besides}"
        return f"| ${row.symbol}$ | {meaning} | {{ref}}`{row.section}` |"


class GlossaryTable(Guide):
    """All terms, in the order of the alphabet, so that `{term}` leads to them."""

    def make(self) -> list[nodes.Node]:
        """Return the glossary."""
        self.note_pages()
        rows = [row for row in questions_and_terms.read_meanings(self.course) if row.term]
        rows.sort(key=lambda row: row.term.casefold())
        first = {row.term[0].upper(): row.term for row in reversed(rows)}  # of each letter
        letters = " ".join(f"{{term}}`{letter} <{first[letter]}>`" for letter in sorted(first))
        lines = [letters, "", "```{glossary}"]
        for row in rows:
            more = f", ${row.symbol}$" if row.symbol else ""
            shape = f", shape {row.shape}" if row.shape else ""
            meaning = f"{row.meaning[0].upper()}{row.meaning[1:]}{more}{shape}."
            lines += [row.term, f"  {meaning} → {{ref}}`{row.section}`", ""]
        return self.markdown([*lines, "```"])


class CourseCount(Guide):
    """One sentence that counts chapters, assignments and topics."""

    def make(self) -> list[nodes.Node]:
        """Return the sentence."""
        self.note(lecture_map.table_path(self.course))
        return [nodes.paragraph("", routes.counted(self.course), translatable=False)]


class ColabTried(Guide):
    """One sentence that says with which Colab the notebooks were last tried, and when."""

    def make(self) -> list[nodes.Node]:
        """Return the sentence."""
        sentence = f"The notebooks were {header_cells.TRIED}."
        return [nodes.paragraph("", sentence, translatable=False)]


class WayPicture(Guide):
    """The chapters with their times, and beside them what needs what and where routes stop."""

    def make(self) -> list[nodes.Node]:
        """Return the picture."""
        _note_times(self)
        way, spent = routes.read_way(self.course), routes.times(self.course)
        number = {stem: n for n, stem in enumerate(chapters(self.course), start=1)}
        rows: list[str | None] = []
        html = []
        for caption, stems in parts(self.course).items():
            rows += [None, *stems]
            html.append(f'<p class="way-part">{escape(caption)}</p>')
            html += [self._row(s, number, way.needs.get(s, []), spent[s]) for s in stems]
        legend = "".join(
            f'<span class="route-{n}">{escape(route.name)}</span>'
            for n, route in enumerate(way.routes, start=1)
        )
        pointed = "".join(
            f".way:has(.way-{s}:hover) .to-{s}, .way:has(.way-{s}:focus-within) .to-{s}"
            " { opacity: 1; stroke-width: 2.5 } "
            for s in number
        )
        lines = drawings.way_lines(rows, way.needs, [route.chapters for route in way.routes])
        return self.raw(
            f'<p class="way-legend">Routes: {legend}</p>'
            f'<div class="way">{lines}<div class="way-rows">{"".join(html)}</div></div>'
            f"<style>{pointed}</style>"
        )

    def _row(self, stem: str, number: dict[str, int], needs: list[str], time: routes.Times) -> str:
        link = self.env.app.builder.get_relative_uri(self.env.docname, f"book/{stem}")
        needed = (
            f"after {', '.join(str(number[need]) for need in needs)}" if needs else "begin here"
        )
        run = f"run {time.run:.0f} s" if time.run is not None else ""
        solve = f"solve {routes.duration(time.solve)}" if time.solve is not None else ""
        cells = [needed, f"read {routes.duration(time.read)}", run, solve]
        spans = "".join(f"<span>{cell}</span>" for cell in cells)
        name = escape(title(self.course, stem))
        return (
            f'<div class="way-chapter way-{stem}"><a href="{link}">{number[stem]} {name}</a>'
            f'<div class="way-times">{spans}</div></div>'
        )


class WayRoutes(Guide):
    """The routes as lists, with their hours."""

    def make(self) -> list[nodes.Node]:
        """Return a paragraph for each route, and a list of its days where it has days."""
        _note_times(self)
        return self.markdown(self._lines())

    def _lines(self) -> Iterator[str]:
        spent = routes.times(self.course)
        for route in routes.read_way(self.course).routes:
            whole = routes.total(spent[stem] for stem in route.chapters)
            yield f"**{route.name}: {len(route.chapters)} chapters, {_hours(whole.minutes)}**"
            read, solve = _hours(whole.read), _hours(whole.solve or 0)
            yield f"({read} to read, {solve} to solve). {route.about}"
            if not route.days:
                yield f"{' → '.join(f'{{doc}}`{stem}`' for stem in route.chapters)}"
            yield ""
            for day, stems in zip(DAYS, route.days, strict=False):
                hours = _hours(routes.total(spent[stem] for stem in stems).minutes)
                yield f"- {day}, {hours}: {_listed(f'{{doc}}`{stem}`' for stem in stems)}"
            yield ""


class AttentionPicture(Guide):
    """What one head of our translator looked at in one verse, with a caption as its content."""

    has_content = True

    def make(self) -> list[nodes.Node]:
        """Return the picture and its caption."""
        path = self.course / TRANSLATION
        note_input(self.env, self.env.docname, path)
        result = json.loads(path.read_text(encoding="utf-8"))["tables"]["pictures"]
        heads = [head for block in result["heads"] for head in block]
        weights = heads[drawings.most_alike(heads, result["rnnsearch"])]
        read = drawings.whole_words(result["english"])
        words = drawings.whole_words(result["french"][:-1])  # the last one says that it is the end
        english = ["".join(result["english"][s] for s in word).strip() for word in read]
        french = ["".join(result["french"][t] for t in word).strip() for word in words]
        picture = drawings.attention_lines(
            english,
            french,
            drawings.by_words(weights, words, read),
            describe=f"Lines from each word of “{' '.join(french)}” to the words of "
            f"“{' '.join(english)}” that the translator looked at, as wide as the weight.",
        )
        figure = nodes.container(classes=["opening"])
        figure += self.raw(picture)
        caption = nodes.container(classes=["opening-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        figure += caption
        return [figure]


def _note_times(guide: Guide) -> None:
    """Have the page read again when a time may have changed."""
    given = routes.assignments(guide.course).values()
    guide.note(guide.course.page("index"), guide.course.notebooks / "*.ipynb", *given)
    for stem, pages in chapters(guide.course).items():
        record = routes.executed(guide.course, stem).with_suffix(".json")
        guide.note(record, *(guide.course.page(page) for page in pages))


def _hours(minutes: float) -> str:
    return routes.duration(minutes).replace(" h", " hours")


def _listed(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
