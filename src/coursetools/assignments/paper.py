"""`coursekit assignment paper`: an assignment to be written by hand, as HTML and as a PDF.

Questions with their points, lines to write on, a head for the name; with `--answers` what is right
instead of the lines, for the marker. Formulas are MathML, set by MathJax in Chromium: that of the
built book, or else of the cache, which npm fills. Without these a formula is a line of text, and
one that has none is an error. A question with numbers of each student's own has the same for all.
"""

from __future__ import annotations

import argparse
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.check.exam import VARIANT
from coursekit.submission import regions
from coursekit.submission.deadline import spelled
from coursetools.assignments.release import release, variant_rows
from coursetools.assignments.sources import source
from coursetools.book import assets
from coursetools.book.formats import chromium
from coursetools.book.formats.chromium import find_chromium
from coursetools.book.formats.epub import AS_XHTML
from coursetools.book.formats.pdf import PAPERS
from coursetools.book.plain_formula import show_plain
from coursetools.course import Course, write_whole
from coursetools.notebooks.header_lines import SETUP_ID
from coursetools.notebooks.imports import read_notebook
from coursetools.settings.exam_settings import exam_of

LEFT_OUT = (SETUP_ID, "before-upload", "before-upload-what")
MARKER = re.compile(r"^.*### (BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME).*\n?", re.MULTILINE)
IN_A_NOTEBOOK = re.compile(
    rf"^(?:from coursekit\.check import .*|student = .*|{VARIANT.pattern}.*)\n?", re.MULTILINE
)
CELL_BELOW = re.compile(r"\bby the cell below\b")  # which shows a student's own numbers
MINUTES = re.compile(r"^\*.* · (\d+) minutes?\*$", re.MULTILINE)
FEWEST, MOST = 8, 24  # lines to write on; between them one a minute
UNSET = re.compile(r"<(?:span|div)[^>]*data-tex=\"[^\"]*\"[^>]*><code>")
NEEDED = "Install Chromium and npm, or build the book (`coursekit book`),"
MATHJAX = (
    "<script>window.MathJax = { startup: { typeset: false } }</script>\n"
    f'<script src="{chromium.MATHJAX}"></script>\n'
)
STYLE = """
@page { margin: 18mm 20mm; @bottom-right { content: counter(page) " / " counter(pages); } }
body { font: 11pt/1.4 "STIX Two Text", "Times New Roman", serif; margin: 0 auto; max-width: 44em;
  color: #000; background: #fff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin: 1.6em 0 .3em; break-after: avoid; }
pre, code { font: 9.5pt/1.4 "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
pre { border-left: .6mm solid #999; padding-left: 3mm; break-inside: avoid; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: .2mm solid #000; padding: 1mm 2.5mm; text-align: center; font-weight: normal; }
.who { display: flex; gap: 8mm; } .who span { flex: 1; border-bottom: .2mm solid #000; }
.who span + span { flex: .6; } .line { height: 8mm; border-bottom: .15mm solid #999; }
.displayed { display: block; text-align: center; min-height: 0 !important; }
.answer { border: .2mm solid #000; padding: 0 3mm; margin: .6em 0; }
"""


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `answers`, `paper`, `course`, `quiet`."""
    course, name, program = arguments.course, arguments.name, find_chromium()
    paths = write_paper(course, name, arguments.answers, arguments.paper, program)
    print("\n".join(map(str, paths)))
    if program is None and not arguments.quiet:
        print("no PDF: Chromium was not found; print the HTML from a browser", file=sys.stderr)
    html = paths[0].read_text(encoding="utf-8")
    if faulty := len(UNSET.findall(html)):
        raise CourseError(
            f"{faulty} formulas of {name} are printed as TeX. {NEEDED} and run this again"
        )
    if "data-tex" in html and not arguments.quiet:
        print(f"formulas are lines of text. {NEEDED} to have them set", file=sys.stderr)
    return 0


def write_paper(
    course: Course, name: str, answers: bool = False, paper: str = "a4", program: str | None = None
) -> list[Path]:
    """Write an assignment for paper; return the HTML and, where there is Chromium, the PDF."""
    path = course / "_build" / "paper" / f"{name}{'-answers' if answers else ''}.html"
    title, body = as_paper(course, name, answers)
    head = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
        f"\n<style>@page {{ size: {PAPERS[paper][0]}; }}{STYLE}</style>\n"
    )
    if program is None:
        write_whole(path, f"{head}</head>\n<body>{body}</body>\n</html>\n")
        return [path]
    site = course / "_build" / "html"
    static = _with_mathjax(site) if "data-tex" in body else None
    scripts = MATHJAX if static else ""
    document = f"{head}{scripts}</head>\n<body>{body}</body>\n</html>\n"
    with chromium.opened(document, {"": site, "_static": static or site}, program) as page:
        if static:
            (body,) = page.evaluate(AS_XHTML)
        if "<merror" in body:
            raise CourseError(f"MathJax could not read a formula of {name}")
        printed = page.pdf(prefer_css_page_size=True, tagged=True)
    write_whole(path, f"{head}</head>\n<body>{body}</body>\n</html>\n")
    write_whole(path.with_suffix(".pdf"), printed)
    return [path, path.with_suffix(".pdf")]


def _with_mathjax(site: Path) -> Path | None:
    """Return the folder that has MathJax: of the built book, or of the cache; None without it."""
    if (site / chromium.MATHJAX).is_file():
        return site / "_static"
    try:
        return assets.ensure()
    except assets.AssetsMissing:
        return None


def as_paper(course: Course, name: str, answers: bool = False) -> tuple[str, str]:
    """Return the title and the body of an assignment on paper, as HTML."""
    notebook, exam = read_notebook(source(course, name)), exam_of(course, name)
    points, parts, minutes = [], [], FEWEST
    cells = list(zip(notebook["cells"], release(notebook)["cells"], strict=True))
    title = cells[0][1]["source"].partition("\n")[0].lstrip("# ")
    for private, shown in cells[1:]:
        code = shown["cell_type"] == "code"
        if regions.is_grade(private):
            points.append(float(regions.meta(private)["points"]))
        if private.get("id") in LEFT_OUT or regions.is_test(private):
            continue
        if not regions.is_solution(private) and not regions.is_task(private):
            if asked := MINUTES.search(shown["source"]):
                minutes = int(asked[1])
            if code:
                parts += [_prose(text) for text in _numbers(course, name, shown["source"])]
                parts.append(_code(IN_A_NOTEBOOK.sub("", shown["source"])))
            else:
                parts.append(_prose(CELL_BELOW.sub("in the line below", shown["source"])))
            continue
        text = MARKER.sub("", private["source"]).strip()
        if answers:
            parts.append(f'<div class="answer">{_code(text) if code else _prose(text)}</div>')
            continue
        stub = shown["source"].replace(regions.TEXT_STUB, "")
        for line in regions.CODE_STUB.split("\n"):
            stub = re.sub(rf"^\s*{re.escape(line)}\n?", "", stub, flags=re.MULTILINE)
        parts.append(_code(stub) if code else _prose(stub))
        parts.append('<div class="line"></div>' * min(MOST, max(FEWEST, minutes)))
    head = [f"<h1>{escape(title)}</h1>"]
    if answers:
        head.append("<p><strong>Answers, for the marker</strong></p>")
    else:
        head.append('<p class="who">Name <span></span> Number <span></span></p>')
    if exam:
        head.append(f"<p>{spelled(exam.start)} to {spelled(exam.end)}. {escape(exam.allowed)}</p>")
    rows = [[str(n) for n in range(1, len(points) + 1)] + ["all"]]
    rows += [[f"of {one:g}" for one in (*points, sum(points))], [""] * (len(points) + 1)]
    names = ("question", "points", "given")
    head.append("<table>" + "".join(map(_row, names, rows)) + "</table>")
    return escape(title), show_plain(f'<div class="page">{"".join([*head, *parts])}</div>')


def _numbers(course: Course, name: str, source: str) -> list[str]:
    """Return a line about the numbers of each question whose variant a cell shows.

    They are the first, which the model answer has.
    """
    lines = []
    for question in VARIANT.findall(source):
        numbers = variant_rows(course.private(name), question)[0]
        said = ", ".join(f"`{one} = {value!r}`" for one, value in numbers.items())
        lines.append(f"On paper everyone has the same numbers: {said}.")
    return lines


def _row(name: str, cells: list[str]) -> str:
    return f"<tr><th>{name}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _code(text: str) -> str:
    return f"<pre>{escape(text.strip())}</pre>" if text.strip() else ""


def _prose(text: str) -> str:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(tex: str, about: dict[str, Any]) -> str:
        signs, tag = (r"\[{}\]", "div") if about["display_mode"] else (r"\({}\)", "span")
        inside = signs.replace("{}", escape(tex))
        return f'<{tag} class="math notranslate nohighlight">{inside}</{tag}>'

    made = MarkdownIt("js-default", {"html": False, "linkify": False})
    made.use(dollarmath_plugin, renderer=formula, double_inline=True)
    return made.render(text)
