"""The reference of `coursekit`: its docstrings as pages, and a link behind every code word.

`book/api/` has a page a room, where `automodule` lists the functions and classes of a file.
Docstrings are read as they are written: one backtick for code, no other markup. Each file and each
entry says where the book explains it, and which of the one-page models use it.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

from coursekit.submission.cells import python_of
from coursetools.book import contents, lecture_map
from coursetools.book.dependencies import note_input
from coursetools.book.numerals import around
from coursetools.course import Course
from coursetools.notebooks.imports import homes, read_notebook

PACKAGE = "coursekit"
# pages where a word in small letters is a command
COMMANDS = tuple(
    f"book/{name}"
    for name in ["grading", "status", "teaching"]
    + [f"grading_{name}" for name in ("changes", "exams", "marking", "platforms", "variants")]
)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
MARKUP = re.compile(r"([*|\\]|_(?=\W|$))")
TITLE = re.compile(r"\"([^\"]+)\"")
WORD = re.compile(r"(?:from ([\w.]+) import )?@?([A-Za-z_][\w./]*)(?:\(.*\))?")


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.connect("autodoc-process-docstring", for_sphinx)
    app.connect("doctree-resolved", link_code_words)


# --- Docstrings ---


def for_sphinx(
    app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]
) -> None:
    """Make a docstring of ours reStructuredText, and add where it is explained and used."""
    course = Course(Path(app.srcdir))
    if what == "module":
        note_input(app.env, app.env.docname, lecture_map.table_path(course))
        text, _, rest = "\n".join(lines).partition("\n\n")
        lines[:] = [*for_docutils(text).split("\n"), "", *for_docutils(rest).split("\n")]
        more = [f":doc:`{title} </book/{stem}>`" for stem, title in chapters_of(course, name)]
    else:
        lines[:] = [for_docutils(line) for line in lines]
        more = [f":ref:`{section}`" for section in _sections(course).get(name, ())][:4]
    if more:
        lines += ["", "*Explained in* " + ", ".join(more) + "."]
    models = _plain_models(course).get(name, [])
    if models:
        links = (f":mod:`{model} <{PACKAGE}.plain.{model}>`" for model in models)
        lines += ["", "*In the one-page models* " + ", ".join(links) + "."]


def chapters_of(course: Course, module: str) -> list[tuple[str, str]]:
    """Return (stem, title) of the chapters that a file's docstring or the lecture map names.

    Where neither does, it is what the docstring of the room names, and for weights their model's.
    """
    titles = _titles(course)
    tree = ast.parse(_file(course, module).read_text(encoding="utf-8"))
    named = TITLE.findall(" ".join((ast.get_docstring(tree) or "").split()))
    stems = [titles[title] for title in named if title in titles]
    by_stem = {stem: title for title, stem in titles.items()}
    for name, rows in _mapped(course).items():
        if name.startswith(f"{module}."):
            stems += [row.chapter for row in rows if row.chapter in by_stem]
    if not stems and module.count(".") > 1:
        room, _, file = module.rpartition(".")
        beside = f"{room.rpartition('.')[0]}.{file}"
        return chapters_of(course, beside if _file(course, beside).is_file() else room)
    return [(stem, by_stem[stem]) for stem in dict.fromkeys(stems)]


def for_docutils(text: str) -> str:
    """Double the backticks of code, and take from all else what markup it may look like."""
    parts = CODE.split(text)
    for index, part in enumerate(parts):
        parts[index] = f"``{part}``" if index % 2 else MARKUP.sub(r"\\\1", part)
    return "".join(parts)


def _file(course: Course, module: str) -> Path:
    place = course.packages.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@functools.lru_cache(maxsize=1)
def _titles(course: Course) -> dict[str, str]:
    """Return the page's stem by its title, for all pages of the book."""
    stems = (path.stem for path in sorted((course / "book").glob("*.md")))
    return {contents.title(course, stem): stem for stem in stems}


@functools.lru_cache(maxsize=1)
def _mapped(course: Course) -> dict[str, list[lecture_map.Row]]:
    """Return the rows of the lecture map by the object that they name."""
    rows = defaultdict(list)
    for row in lecture_map.read_rows(course):
        for name in row.objects:
            rows[_home(course, name)].append(row)
    return rows


def _sections(course: Course) -> dict[str, list[str]]:
    return {name: list(dict.fromkeys(row.section for row in rows))
            for name, rows in _mapped(course).items()}  # fmt: skip


def _home(course: Course, name: str) -> str:
    """Return a name with the file that defines it: `models.GPT` is `models.gpt.GPT`."""
    parts = name.split(".")
    room = course.packages.joinpath(*parts[:2], "__init__.py")
    home = homes(room).get(parts[2]) if len(parts) > 2 and room.is_file() else None
    return ".".join([*parts[:2], home, *parts[2:]]) if home else name


@functools.lru_cache(maxsize=1)
def _plain_models(course: Course) -> dict[str, list[str]]:
    """Return the one-page models that use a part, by the part and by its file."""
    users: dict[str, list[str]] = defaultdict(list)
    for path in sorted((course.packages / PACKAGE / "plain").glob("[!_]*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                for alias in node.names:
                    name = _home(course, f"{node.module}.{alias.name}")
                    for place in (name, name.rpartition(".")[0]):
                        if path.stem not in users[place]:
                            users[place].append(path.stem)
    return users


# --- Code words ---

Target = tuple[str, str, str]  # full name, page, anchor


def link_code_words(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make each word of code that names something of ours a link to its entry."""
    if app.builder.format != "html":
        return
    words = Words.of(app)
    chapter = docname.rpartition("/")[2]
    for word in list(doctree.findall(nodes.literal)):
        if around(word, nodes.title) or around(word, nodes.reference):
            continue
        target = words.find(word.astext(), chapter, docname.startswith(COMMANDS))
        if target is None or (docname, _entry(word)) == target[1:]:
            continue
        name, page, anchor = target
        link = make_refnode(app.builder, docname, page, anchor, word.deepcopy(), name)
        link["classes"].append("code-word")
        word.parent.replace(word, link)


@dataclass
class Words:
    """What a word of code on a page may name."""

    course: Course
    entries: dict[str, dict[str, Target]]  # by each form in which a page may write a name

    @classmethod
    def of(cls, app: Sphinx) -> Words:
        """Return the words of a build, collected once."""
        if "coursekit_words" not in vars(app):
            entries: dict[str, dict[str, Target]] = defaultdict(dict)
            listed = app.env.domaindata["py"]["objects"].items()
            for full, entry in sorted(listed, key=lambda item: item[1].objtype == "module"):
                for form in written_forms(full, entry.objtype):
                    if entry.objtype != "module" or not entries[form]:  # `attention` is a function
                        entries[form][full] = (full, entry.docname, entry.node_id)
            vars(app)["coursekit_words"] = cls(Course(Path(app.srcdir)), entries)
        return vars(app)["coursekit_words"]

    def find(self, text: str, chapter: str = "", commands: bool = False) -> Target | None:
        """Return what `masks.causal`, `attention(q, k, v)`, `Block` or `masks.py` names.

        What the notebook of the chapter defines is its own. On a page about commands a word in
        small letters is a command.
        """
        match = WORD.fullmatch(text.replace("\u200b", "").strip())
        if match is None:
            return None
        name = f"{match[1]}.{match[2]}" if match[1] else match[2].replace("/", ".")
        if name.endswith(".py"):
            name = f"{PACKAGE}.{name.removeprefix(f'{PACKAGE}.').removesuffix('.py')}"
        command = commands and name.islower() and "." not in name
        if command or name.split(".")[0] in _own_names(self.course, chapter):
            return None
        return self._named(name, chapter) or self._elsewhere(name, chapter)

    def _named(self, name: str, chapter: str) -> Target | None:
        """Return the entry of that name; of several, the one that the chapter explains."""
        entries = self.entries.get(name, {})
        if name in entries or len(entries) < 2:
            return entries.get(name) or next(iter(entries.values()), None)
        explained = [
            target
            for full, target in entries.items()
            if any(chapter == stem for stem, _ in chapters_of(self.course, full.rpartition(".")[0]))
        ]
        return explained[0] if len(explained) == 1 else None

    def _elsewhere(self, name: str, chapter: str) -> Target | None:
        """Return the entry of what a file imports, or of the class or file that has an attribute.

        `positions.alibi` is that of `biases`, and `ViTConfig.depth` is told with `ViTConfig`.
        """
        full = f"{PACKAGE}.{name.removeprefix(f'{PACKAGE}.')}"
        if "." not in name or lecture_map.find_object(full, self.course.packages) is None:
            return None
        above, _, last = name.rpartition(".")
        return self._named(last, chapter) or self._named(above, chapter)


def written_forms(full: str, kind: str) -> Iterator[str]:
    """Yield the forms in which a page writes a full name.

    An attribute has its class before it, and a file its room.
    """
    parts = full.split(".")
    below = kind in ("method", "property", "attribute") or (kind == "module" and len(parts) > 2)
    shortest = 2 if below else 1
    for start in range(len(parts) - shortest + 1):
        yield ".".join(parts[start:])
    if len(parts) > 3:  # coursekit.models.gpt.GPT is handed out as coursekit.models.GPT
        for short in ([*parts[:2], *parts[3:]], [parts[1], *parts[3:]]):
            if len(short) > shortest:
                yield ".".join(short)


@functools.lru_cache(maxsize=64)
def _own_names(course: Course, chapter: str) -> frozenset[str]:
    """Return what the notebook of a chapter defines itself, and the names of its cells."""
    path = course.notebooks / f"{chapter}.ipynb"
    if not path.is_file():
        return frozenset()
    names = set()
    for cell in read_notebook(path)["cells"]:
        names.add(cell.get("id"))
        if cell["cell_type"] == "code":
            for node in ast.walk(ast.parse(python_of(cell["source"]))):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    names.add(node.name)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
    return frozenset(names)


def _entry(node: nodes.Node) -> str:
    """Return the anchor of the entry whose docstring holds a node."""
    entry = around(node, addnodes.desc)
    return next(iter(entry[0]["ids"]), "") if entry is not None else ""
