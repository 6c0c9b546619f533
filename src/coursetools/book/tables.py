"""Tables that the book computes: the lecture map, how notebooks and benchmarks ran, and others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from coursekit._base.errors import CourseError
from coursetools.book import lecture_map
from coursetools.book.dependencies import named_output, need_caption, note_input
from coursetools.book.drawings import ratio_lines
from coursetools.course import Course
from coursetools.notebooks.run import executed_copy, read_record

BENCHMARKS = Path("results", "benchmarks.json")


class NotebookTable(SphinxDirective):
    """A numbered table from a notebook: `../notebooks/parameters.ipynb::sizes`, then a caption.

    It is the one that `coursekit.figures.show_table` displayed under that name.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"name": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        need_caption(self, "notebook.ipynb::table")
        _, name, output = named_output(self, "table", "text/markdown")
        holder = nodes.container(classes=["notebook-table"])
        lines = StringList("".join(output["data"]["text/markdown"]).splitlines(), source=name)
        self.state.nested_parse(lines, 0, holder)
        for table in holder.findall(nodes.table):
            caption, messages = self.state.inline_text(" ".join(self.content), self.lineno)
            table.insert(0, nodes.title("", "", *caption, *messages))
            self.add_name(table)
        return [holder]


class LectureMap(SphinxDirective):
    """With a deck (`L3`): its table. Without: one sentence that counts what is built."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table of a deck, or the count over all decks."""
        course = Course(Path(self.env.srcdir))
        note_input(self.env, self.env.docname, lecture_map.table_path(course))
        try:
            rows = lecture_map.read_rows(course)
        except CourseError as error:
            raise self.error(str(error)) from error
        deck = self.arguments[0] if self.arguments else None
        if deck is not None and deck not in lecture_map.DECKS:
            raise self.error(f"there is no deck {deck!r}, only {', '.join(lecture_map.DECKS)}")
        in_deck = [row for row in rows if deck in (None, row.deck)]
        built = sum(row.state == "built" for row in in_deck)
        sentence = f"{built} of {len(in_deck)} rows are built."
        count = nodes.paragraph("", sentence, translatable=False)
        if deck is None:
            return [count]
        table = _table(
            ["Topic", "Section", "In the code", "Test"],
            [self._cells(row) for row in in_deck],
            widths=[28, 21, 25, 26],
            kind="lecture-map",
        )
        return [count, table]

    def _cells(self, row: lecture_map.Row) -> list[list[nodes.Node]]:
        topic: list[nodes.Node] = [nodes.Text(row.topic)]
        if row.state == "coming":
            return [topic, [nodes.emphasis("", f"coming: {row.chapter}")]]
        text = nodes.inline("", row.section, classes=["std", "std-ref"])
        section = addnodes.pending_xref(
            "", text, refdoc=self.env.docname, refdomain="std", reftype="ref",
            reftarget=row.section.lower(), refexplicit=False, refwarn=True,
        )  # fmt: skip
        objects = [
            nodes.literal("", _breakable(name.removeprefix("coursekit."))) for name in row.objects
        ]
        tests = [self._code(t.split("::")[-1].split("/")[-1], t.split("::")[0]) for t in row.tests]
        return [topic, [section], joined(objects), joined(tests)]

    def _code(self, text: str, place: str) -> nodes.Node:
        repository = self.config.html_theme_options.get("repository_url")
        if not repository:
            return nodes.literal("", _breakable(text))
        branch = self.config.html_theme_options.get("repository_branch") or "main"
        uri = f"{repository.rstrip('/')}/blob/{branch}/{place}"
        return nodes.reference(
            "", "", nodes.literal("", _breakable(text)), refuri=uri, internal=False
        )


class NotebookStatus(SphinxDirective):
    """How long each notebook ran, on what, and with which versions."""

    option_spec: ClassVar = {"name": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return a table with a row a notebook, below a sentence about the machine."""
        course = Course(Path(self.env.srcdir))
        note_input(self.env, self.env.docname, course.notebooks / "*.ipynb")
        records = {}
        for path in course.lectures:
            copy = executed_copy(path)
            note_input(self.env, self.env.docname, copy.with_suffix(".json"))
            record = read_record(copy)
            if record is None:
                raise self.error(f"there is no record of {path.name} in {course.executed}")
            records[path.stem] = record
        packages = list(dict.fromkeys(n for r in records.values() for n in r["versions"]))
        rows = []
        for stem, record in records.items():
            link = doc_link(self.env.docname, f"/notebooks/{stem}")
            about = [f"{record['seconds']:.1f}", record["python"]]
            about += [record["versions"].get(name, "–") for name in packages]
            rows.append([[link], *([nodes.Text(cell)] for cell in about)])
        seconds = sum(record["seconds"] for record in records.values())
        machines = " and ".join(sorted({machine(record) for record in records.values()}))
        sentence = (
            f"{len(records)} notebooks ran in {seconds:.0f} seconds altogether, on {machines}."
        )
        header = ["Notebook", "Seconds", "Python", *packages]
        table = _table(header, rows, widths=[20] + [12] * (len(header) - 1), kind="notebook-status")
        table.insert(0, nodes.title("", sentence, translatable=False))
        self.add_name(table)
        return [table]


class BenchmarkTable(SphinxDirective):
    """What one script of `benchmarks/` measured, `training` say, and on what.

    With the name `tab-speed` the table is `tab-speed`, and the figure before it `fig-speed`.
    """

    required_arguments = 1
    option_spec: ClassVar = {"name": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the ratios as a figure, and a table with a row each contestant."""
        path = Path(self.env.srcdir) / BENCHMARKS
        note_input(self.env, self.env.docname, path)
        scripts = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        name = self.arguments[0]
        if name not in scripts:
            known = ", ".join(scripts) or "nothing"
            raise self.error(f"{BENCHMARKS.as_posix()} holds no {name!r}, only {known}")
        label = self.options.get("name", "")
        if not label.startswith("tab-"):
            raise self.error(f"benchmark-table needs a :name: like tab-speed, but found {label!r}")
        record, rows, contest = scripts[name], [], None
        for row in record["rows"]:
            first = "" if row["contest"] == contest else row["contest"]
            contest = row["contest"]
            memory = "–" if row["peak_MB"] is None else f"{row['peak_MB']:,.0f}"
            cells = [first, row["name"], f"{row['milliseconds']:,.1f}"]
            cells += [f"{row['times_ours']:.2f}", memory]
            rows.append([[nodes.Text(cell)] for cell in cells])
        versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
        what = f"{record['what'][0].upper()}{record['what'][1:]}."
        rounds = f"Medians over {record['rounds']} rounds" if record["rounds"] > 1 else "One run"
        sentence = f"{what} {rounds}, measured on {record['hardware']} with {versions}."
        header = ["Work", "Contestant", "Milliseconds", "Times ours", "Peak MB"]
        widths = [26, 30, 16, 14, 14]
        others = [
            (row["contest"], row["name"], row["times_ours"])
            for row in record["rows"]
            if row["name"] != "ours"
        ]
        if not others:  # nobody to compare with
            header, widths = ["Work", "Milliseconds", "Peak MB"], [60, 20, 20]
            rows = [[work, taken, memory] for work, _, taken, _, memory in rows]
            if all(row["peak_MB"] is None for row in record["rows"]):
                header, widths = header[:2], widths[:2]
                rows = [row[:2] for row in rows]
        table = _table(header, rows, widths=widths, kind="benchmark")
        table.insert(0, nodes.title("", sentence, translatable=False))
        self.add_name(table)
        if not others:
            return [table]
        picture = ratio_lines(others, describe="The column “times ours” of the table below.")
        figure = nodes.figure("", nodes.raw("", picture, format="html"))
        figure += nodes.caption(
            "",
            f"How many times as long as ours each contestant takes, from the line at 1. {what}",
            translatable=False,
        )
        self.options["name"] = label.replace("tab-", "fig-", 1)
        self.add_name(figure)
        return [figure, table]


def machine(record: dict[str, Any]) -> str:
    """Return what kind of machine a notebook ran on, and nothing that tells which one."""
    parts = [record.get("platform") or "an unknown system"]
    if record.get("cores"):
        parts.append(f"{record['cores']} cores")
    return ", ".join(parts)


def _breakable(name: str) -> str:
    """Let a long name break behind its dots and underscores, and not in the middle of a word."""
    return re.sub(r"([._])", "\\1\u200b", name)


def doc_link(here: str, target: str, text: str = "") -> addnodes.pending_xref:
    """Return a link of the page `here` to a document, with its title if there is no text."""
    return addnodes.pending_xref(
        "", nodes.inline("", text or target, classes=["doc"]), refdoc=here, refdomain="std",
        reftype="doc", reftarget=target, refexplicit=bool(text), refwarn=True,
    )  # fmt: skip


def joined(parts: list[nodes.Node]) -> list[nodes.Node]:
    """Return the parts with a comma between each two."""
    with_commas: list[nodes.Node] = []
    for part in parts:
        with_commas += [nodes.Text(", "), part] if with_commas else [part]
    return with_commas


def _table(
    header: list[str], rows: list[list[list[nodes.Node]]], *, widths: list[int], kind: str
) -> nodes.table:
    """Return a table; the last cell of a row that is too short reaches to the right edge."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=width) for width in widths]
    head, body = nodes.thead(), nodes.tbody()
    head += _row([[nodes.Text(title)] for title in header], len(header))
    body += [_row(row, len(header)) for row in rows]
    group += [head, body]
    return nodes.table("", group, classes=[kind])


def _row(cells: list[list[nodes.Node]], columns: int) -> nodes.row:
    row = nodes.row()
    for number, cell in enumerate(cells):
        entry = nodes.entry("", nodes.paragraph("", "", *cell))
        if number == len(cells) - 1 and len(cells) < columns:
            entry["morecols"] = columns - len(cells)
        row += entry
    return row
