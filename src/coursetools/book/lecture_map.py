"""The table from slide topics to sections, objects and tests, and the check of its every claim.

`book/lecture_map.csv` has one row per topic. A row that is `built` names a chapter by its stem, a
section by its MyST label, a phrase of that section that names the topic, one or more objects and
one or more tests (separated by `;`); a row that only reports what a paper found has neither object
nor test. The phrase occurs in no other section of the chapter, so a topic that moves takes its row
along. A row that is `coming` has the title of the planned chapter and nothing else. Nothing is
imported to check a row: modules and tests are read with `ast`.
"""

from __future__ import annotations

import ast
import csv
import functools
import re
from dataclasses import dataclass, fields
from pathlib import Path

from coursekit._base.errors import CourseError
from coursetools.book.code_files import find_file
from coursetools.book.contents import whole
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook

DECKS = {
    "L0": "Attention, Transformers and BERT in brief",
    "L1": "Self-attention, masking and BERT in detail",
    "L2": "Transformer networks for text and images",
    "L3": "Attention taken apart",
    "L4": "From the Transformer to BERT, ViT, MAE and DETR",
}
STATES = ("built", "coming")
ASSERTS = re.compile(r"^\s*assert |\.assert_close\(", re.MULTILINE)
LABEL = re.compile(r"^\(([^()\s]+)\)=\s*$")
HEADING = re.compile(r"^(#+)\s+(.*)$")
FENCE = re.compile(r"^(?:`{3,}|:{3,})(?:\{[\w-]+\})?")
UNREAD = re.compile(r"^(?:%|:[\w-]+:|`{3}\{(?:notebook-\w+|listing|live-figure)\})")
ROLE = re.compile(r"\{([\w:.+-]+)\}`([^`]*)`")
TARGET = re.compile(r"\s*<[^<>]*>$")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Row:
    """One topic of one deck; `line` is where the row is in the file."""

    deck: str
    topic: str
    chapter: str
    section: str
    phrase: str
    object: str
    test: str
    state: str
    line: int

    @property
    def objects(self) -> list[str]:
        """The dotted names in `object`."""
        return _parts(self.object)

    @property
    def tests(self) -> list[str]:
        """The tests, each `file` or `file::name`, in `test`."""
        return _parts(self.test)


COLUMNS = tuple(field.name for field in fields(Row) if field.name != "line")


def table_path(course: Course) -> Path:
    """Return where the table of the course is."""
    return course / "book" / "lecture_map.csv"


def read_rows(course: Course) -> list[Row]:
    """Return the rows of the table in the order of the file; a fault in its form is an error."""
    path, rows = table_path(course), []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            header = tuple(next(reader, ()))
            if header != COLUMNS:
                raise CourseError(
                    f"{path.name} must begin with the columns {','.join(COLUMNS)}, "
                    f"not {','.join(header) or 'nothing'}"
                )
            for cells in reader:
                if len(cells) != len(COLUMNS):
                    raise CourseError(
                        f"{path.name}, line {reader.line_num}: {len(cells)} cells were found, "
                        f"{len(COLUMNS)} were expected"
                    )
                rows.append(Row(*(cell.strip() for cell in cells), line=reader.line_num))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    return rows


def check_rows(course: Course) -> list[str]:
    """Return one sentence for each claim of the table that is not true; none means all hold."""
    faults = []
    first_line: dict[tuple[str, str], int] = {}
    for row in read_rows(course):
        problems = _faults(row, course)
        first = first_line.setdefault((row.deck, row.topic), row.line)
        if first != row.line:
            problems.append(f"the topic {row.topic!r} of {row.deck} stands in line {first} already")
        faults += [f"{table_path(course).name}, line {row.line}: {fault}" for fault in problems]
    return faults


def find_object(dotted: str, source: Path) -> Path | None:
    """Return the file below `source` that defines the object `a.b.c`, or None."""
    file, inside = find_file(dotted, source)
    return file if file and _defines(_tree(file), inside) else None


def find_test(test: str, course: Course) -> bool:
    """Return whether `tests/test_x.py`, `…::test_y` or `…::TestX::test_y` exists in the course.

    `notebooks/x.ipynb::cell` is a test too if that cell asserts something: the build executes it.
    In the public course, which has no `solutions/`, the tests that show hidden cases are not there,
    and are believed.
    """
    name, *inside = test.split("[")[0].split("::")
    path = course / name
    room = course.root.joinpath(*path.relative_to(course.root).parts[:2])
    if room != path and not room.exists() and not (course / "solutions").exists():
        return name.startswith("tests/")
    if not path.is_file() or path.suffix not in (".py", ".ipynb"):
        return False
    if path.suffix == ".ipynb":
        return any(
            cell.get("id") == "::".join(inside) and ASSERTS.search(cell["source"])
            for cell in read_notebook(path)["cells"]
            if cell["cell_type"] == "code"
        )
    tree = _tree(path)
    if inside:
        return inside[-1].startswith("test") and _defines(tree, inside)
    return any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")
        for node in ast.walk(tree)
    )


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(";") if part.strip()]


def _faults(row: Row, course: Course) -> list[str]:
    faults = []
    if row.deck not in DECKS:
        faults.append(f"the deck {row.deck!r} is none of {', '.join(DECKS)}")
    if not row.topic:
        faults.append("the topic is missing")
    if not row.chapter:
        faults.append("the chapter is missing")
    if row.state not in STATES:
        return [*faults, f"the state {row.state!r} is neither built nor coming"]
    if row.state == "coming":
        filled = [n for n in ("section", "phrase", "object", "test") if getattr(row, n)]
        if filled:
            faults.append(
                f"a coming row names nothing yet, but {' and '.join(filled)} is filled in"
            )
        return faults
    proved = ("object", "test") if row.object or row.test else ()
    faults += [
        f"a built row must name its {n}"
        for n in ("section", "phrase", *proved)
        if not getattr(row, n)
    ]
    page = course.page(row.chapter)
    if row.chapter and not page.is_file():
        faults.append(f"there is no page book/{row.chapter}.md")
    elif row.chapter and row.section:
        faults += _misplaced(row, section_texts(course, row.chapter))
    source = course.packages
    for name in row.objects:
        if find_object(name, source) is None:
            faults.append(f"there is no object {name} in src")
    faults += [f"there is no test {test}" for test in row.tests if not find_test(test, course)]
    return faults


def _misplaced(row: Row, texts: dict[str, str]) -> list[str]:
    """Return what is wrong with where the row leads: its section, or the phrase in it."""
    if row.section not in texts:
        return [f"book/{row.chapter}.md has no section ({row.section})="]
    phrase = row.phrase.casefold()
    having = [label for label, text in texts.items() if phrase in text]
    if row.section not in having:
        where = f"; ({', '.join(having)}) has it" if having else ""
        return [f"the section ({row.section}) does not contain {row.phrase!r}{where}"]
    others = [label for label in having if label != row.section]
    return [f"{row.phrase!r} is also in ({', '.join(others)})"] if phrase and others else []


def section_texts(course: Course, stem: str) -> dict[str, str]:
    """Return the words of each section of a page by its label, in lower case on one line.

    A section ends where another one begins that has a label or is not below it; one without a label
    is called by its title. What precedes the first section is not a section.
    """
    return _section_texts(whole(course, stem))


@functools.lru_cache(maxsize=64)
def _section_texts(text: str) -> dict[str, str]:
    label, name, level, inside = "", "", 1, False
    lines: dict[str, list[str]] = {}
    for line in text.splitlines():
        if found := LABEL.match(line):
            label = found[1]
            continue
        if FENCE.match(line):
            inside = not inside if line.startswith("```") else inside
        elif (heading := HEADING.match(line)) and not inside:
            deep = len(heading[1])
            if deep > 1 and (label or deep <= level):
                name, level = label or heading[2], deep
            label = ""
        elif line.strip():
            label = ""
        if name and not UNREAD.match(line):
            lines.setdefault(name, []).append(_words(line))
    return {name: " ".join(" ".join(some).split()).casefold() for name, some in lines.items()}


def _words(line: str) -> str:
    """Return what a reader sees of a line: no directive's name, no role, no link's target."""
    line = FENCE.sub("", line).lstrip("#")
    line = ROLE.sub(lambda role: "" if role[1] == "glue:text" else TARGET.sub("", role[2]), line)
    return re.sub(r"[*`]", "", LINK.sub(r"\1", line))


def _tree(path: Path) -> ast.Module:
    return _parsed(str(path), path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _parsed(path: str, modified: int) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"), filename=path)


def _defines(node: ast.AST, names: list[str]) -> bool:
    """Return whether `names` is a path of definitions below `node`; an empty path is."""
    if not names:
        return True
    for child in _statements(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if child.name == names[0] and _defines(child, names[1:]):
                return isinstance(child, ast.ClassDef) or len(names) == 1
        elif len(names) == 1 and names[0] in _bound(child):
            return True
    return False


def _statements(node: ast.AST) -> list[ast.stmt]:
    """Return the statements of a body, those inside `if` and `try` included."""
    statements: list[ast.stmt] = []
    for child in getattr(node, "body", []):
        statements.append(child)
        if isinstance(child, (ast.If, ast.Try)):
            statements += _statements(child)
            statements += _statements(
                ast.Module(body=getattr(child, "orelse", []), type_ignores=[])
            )
    return statements


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return {
        leaf.id for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)
    }
