"""The reference of `coursekit`: its docstrings as pages.

`book/api/` has a page a room, where `automodule` lists the functions and classes of a file.
Docstrings are read as they are written: one backtick for code, no other markup. Each file and each
entry says where the book explains it, and which of the one-page models use it.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from pathlib import Path

from sphinx.application import Sphinx

from coursetools.book import contents, lecture_map
from coursetools.book.dependencies import note_input
from coursetools.course import Course
from coursetools.notebooks.imports import homes

PACKAGE = "coursekit"
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
MARKUP = re.compile(r"([*|\\]|_(?=\W|$))")
TITLE = re.compile(r"\"([^\"]+)\"")


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.connect("autodoc-process-docstring", for_sphinx)


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
        more = [f":ref:`{section}`" for section in sections_of(course).get(name, ())][:4]
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
            rows[home_of(course, name)].append(row)
    return rows


@functools.lru_cache(maxsize=1)
def sections_of(course: Course) -> dict[str, list[str]]:
    """Return the labels of the sections that explain each object, as the lecture map has them."""
    return {name: list(dict.fromkeys(row.section for row in rows))
            for name, rows in _mapped(course).items()}  # fmt: skip


def home_of(course: Course, name: str) -> str:
    """Return a name with the file that defines it: `models.GPT` is `models.gpt.GPT`."""
    parts = name.split(".")
    if len(parts) > 3 and _file(course, ".".join(parts[:3])).is_file():
        return name  # `data.verses.load`: a room may hand out a name that one of its files has, too
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
                    name = home_of(course, f"{node.module}.{alias.name}")
                    for place in (name, name.rpartition(".")[0]):
                        if path.stem not in users[place]:
                            users[place].append(path.stem)
    return users
