"""Link a word of code to its entry in the reference, but only if its meaning is certain.

A word is linked if it is qualified (`masks.causal`), if the page's notebook or a listing imports
it, or if this part of the page explains it: in the reference the module of the entry, in a chapter
the section that a docstring or the lecture map names. A word with another meaning on the page is
not linked: a parameter of the entry, or a name that the notebook or a listing defines. On the page
of an assignment only imported names are linked, so that no question leads to its answer.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

from coursekit.submission.cells import parse_cell
from coursetools.book import contents, lecture_map
from coursetools.book.assignment_pages import PAGES as ASSIGNMENTS
from coursetools.book.code_files import find_file
from coursetools.book.numerals import around
from coursetools.book.reference import PACKAGE, TITLE, home_of, sections_of
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook

WORD = re.compile(r"(?:from ([\w.]+) import )?@?([A-Za-z_][\w./]*)(?:\(.*\))?")
CHECKS = ("check", "submit_check", "catch")  # known in every assignment
PYTHON = ("python", "ipython3", "ipython", "default")  # languages of a block of code
Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Target = tuple[str, str, str]  # full name, page, anchor


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.connect("doctree-resolved", link_code_words)


def link_code_words(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link the code words of a page to their entries."""
    if app.builder.format != "html":
        return
    words = Words.of(app)
    page = Page(words.course, docname, doctree)
    for word in list(doctree.findall(nodes.literal)):
        if around(word, nodes.title) or around(word, nodes.reference):
            continue
        target = words.find(word.astext(), page.scope(word))
        if target is None or (docname, next(iter(_entries(word)), "")) == target[1:]:
            continue
        name, to, anchor = target
        link = make_refnode(app.builder, docname, to, anchor, word.deepcopy(), name)
        link["classes"].append("code-word")
        word.parent.replace(word, link)


@dataclass(frozen=True)
class Scope:
    """What a word of code may mean at one position of a page."""

    imported: Mapping[str, set[str]] = field(default_factory=dict)  # full names, by names
    own: frozenset[str] = frozenset()  # names with another meaning
    explained: frozenset[str] = frozenset()  # full names of objects and modules
    imports_only: bool = False


@dataclass
class Words:
    """The entries of the reference, and what a word of code names among them."""

    course: Course
    entries: dict[str, dict[str, Target]]  # by every written form of a name

    @classmethod
    def of(cls, app: Sphinx) -> Words:
        """Return the words of a build, collected once."""
        if "coursekit_words" not in vars(app):
            listed = app.env.domaindata["py"]["objects"].items()
            entries = ((full, e.objtype, e.docname, e.node_id) for full, e in listed)
            vars(app)["coursekit_words"] = cls.collected(Course(Path(app.srcdir)), entries)
        return vars(app)["coursekit_words"]

    @classmethod
    def collected(cls, course: Course, listed: Iterable[tuple[str, str, str, str]]) -> Words:
        """Return the words for entries given as full name, kind, page and anchor."""
        entries: dict[str, dict[str, Target]] = defaultdict(dict)
        for full, kind, page, anchor in sorted(listed, key=lambda entry: entry[1] == "module"):
            for form in written_forms(full, kind):
                if kind != "module" or not entries[form]:  # `attention` is a function
                    entries[form][full] = (full, page, anchor)
        return cls(course, entries)

    def find(self, text: str, scope: Scope) -> Target | None:
        """Return the entry that `masks.causal`, `attention(q, k, v)` or `masks.py` names."""
        match = WORD.fullmatch(text.replace("\u200b", "").strip())
        if match is None or match[0] == PACKAGE:  # also a command
            return None
        name = f"{match[1]}.{match[2]}" if match[1] else match[2].replace("/", ".")
        if name.endswith(".py"):
            name = f"{PACKAGE}.{name.removeprefix(f'{PACKAGE}.').removesuffix('.py')}"
        root, _, rest = name.partition(".")
        if root in scope.own or (scope.imports_only and name.rpartition(".")[2] in scope.own):
            return None
        if root in scope.imported:
            return self._only(f"{full}.{rest}".rstrip(".") for full in scope.imported[root])
        if scope.imports_only:
            return self.entry(name) if name in set().union(*scope.imported.values()) else None
        if root == PACKAGE:
            return self.entry(name)
        return self._qualified(name) or self._explained(name, scope)

    def entry(self, full: str) -> Target | None:
        """Return the entry of a full name, or else that of its class or module."""
        full = home_of(self.course, full)
        if full in self.entries.get(full, {}):
            return self.entries[full][full]
        file, inside = find_file(full, self.course.packages)
        if file is None or not inside or not lecture_map.find_object(full, self.course.packages):
            return None
        bound = Names.of(file)
        origins = (".".join([one, *inside[1:]]) for one in bound.imported.get(inside[0], ()))
        if found := self._only(origins):
            return found
        above = full.rpartition(".")[0]  # the class or module; a function may be called as its file
        again = home_of(self.course, above) == full
        return None if again or inside[0] in bound.foreign else self.entry(above)

    def _qualified(self, name: str) -> Target | None:
        """Return the entry of a name that starts with a module or package."""
        if "." not in name:
            return None
        if found := self.entry(f"{PACKAGE}.{name}"):
            return found
        first = name.partition(".")[0]  # a module or package, not a class
        return self._only(
            full for full in self.entries.get(name, {}) if first in self.file(full).split(".")
        )

    def file(self, full: str) -> str:
        """Return the module that defines a full name."""
        _, inside = find_file(full, self.course.packages)
        return ".".join(full.split(".")[: len(full.split(".")) - len(inside)])

    def _explained(self, name: str, scope: Scope) -> Target | None:
        root, _, rest = name.partition(".")
        return self._only(
            f"{full}.{rest}".rstrip(".")
            for full in self.entries.get(root, {})
            if full in scope.explained or self.file(full) in scope.explained
        )

    def _only(self, names: Iterable[str]) -> Target | None:
        """Return the entry that all these full names share, if they do."""
        found = {self.entry(full) for full in names}
        return next(iter(found)) if len(found) == 1 else None


def written_forms(full: str, kind: str) -> Iterator[str]:
    """Yield the forms in which a page writes a full name.

    An attribute follows its class, and a module its package.
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


# --- What names mean on a page ---


@dataclass
class Names:
    """The names that code binds: imported from the package or from elsewhere, or its own."""

    imported: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    foreign: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, file: Path) -> Names:
        """Return the names that a module or the cells of a notebook bind."""
        return _names_of(file, file.stat().st_mtime_ns) if file.is_file() else cls()

    def add(self, tree: ast.AST, listed: Iterable[str] = ()) -> None:
        """Add the names that a tree binds, except its top-level definitions in `listed`."""
        top = {
            id(node) for node in getattr(tree, "body", []) if getattr(node, "name", "") in listed
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            elif isinstance(node, Definition):
                self.own |= {node.name} if id(node) not in top else set()
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.own.add(node.id)
            elif isinstance(node, ast.arg):
                self.own.add(node.arg)
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs) and node.name:
                self.own.add(node.name)

    def add_block(self, block: nodes.literal_block) -> None:
        """Add the names that a block of code binds, and the package's code that it lists."""
        listed = _listed(block)
        for full in listed:
            self.imported[full.rpartition(".")[2]].add(full)
        if block.get("language") in PYTHON:
            with contextlib.suppress(SyntaxError):  # not a whole program
                self.add(parse_cell(block.astext()), {full.rpartition(".")[2] for full in listed})

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        before = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            full, name = before + alias.name, alias.asname or alias.name
            if full != PACKAGE and not full.startswith(f"{PACKAGE}."):
                self.foreign.add(name.partition(".")[0])
            elif full != PACKAGE and (before or alias.asname):
                self.imported[name].add(full)


@functools.lru_cache(maxsize=512)
def _names_of(file: Path, modified: int) -> Names:
    names = Names()
    if file.suffix != ".ipynb":
        names.add(ast.parse(file.read_text(encoding="utf-8")))
        return names
    for cell in read_notebook(file)["cells"]:
        names.own.add(cell.get("id", ""))
        if cell["cell_type"] == "code":
            names.add(parse_cell(cell["source"]))
    return names


class Page:
    """The names that the code of a page binds, and the objects that its sections explain."""

    def __init__(self, course: Course, docname: str, doctree: nodes.document) -> None:
        self.course, self.docname = course, docname
        self.is_assignment = docname.startswith(ASSIGNMENTS)
        self.names = self._names(doctree)
        self.documented = {name for section in doctree.findall(nodes.section)
                           for name in _modules(section)}  # fmt: skip

    def _names(self, doctree: nodes.document) -> Names:
        names = copy.deepcopy(Names.of(_notebook(self.course, self.docname)))
        for name in CHECKS if self.is_assignment else CHECKS[-1:]:
            names.imported[name].add(f"{PACKAGE}.check.{name}")
        if self.is_assignment:
            return names
        for block in doctree.findall(nodes.literal_block):
            if _game(block) is None:
                names.add_block(block)
        names.own |= {path.stem for path in (self.course.notebooks / "training").glob("*.ipynb")}
        return names

    def scope(self, word: nodes.Node | None = None) -> Scope:
        """Return what a word may mean at its position on the page."""
        names, own = self.names, self.names.own | self.names.foreign
        if self.is_assignment:
            return Scope(names.imported, frozenset(own), imports_only=True)
        if not self.documented:
            game = _game(word)
            if game is not None:  # its code, with a mistake in it, is not the package's
                shown = Names()
                for block in game.findall(nodes.literal_block):
                    shown.add_block(block)
                own |= shown.own
            return Scope(names.imported, frozenset(own), frozenset(self._explained(word)))
        module = next((name for section in _sections(word) for name in _modules(section)), None)
        file = find_file(module or PACKAGE, self.course.packages)[0]
        if module is None or file is None:
            return Scope(explained=frozenset(self.documented))
        trainings, names = names.own, Names.of(file)
        own = (names.foreign | trainings).union(
            *(_inside(self.course, entry) for entry in _entries(word))
        )
        return Scope(names.imported, frozenset(own), frozenset({module}))

    def _explained(self, word: nodes.Node | None) -> Iterator[str]:
        """Yield the objects and modules that the sections around a word explain."""
        page = self.course.page(self.docname.rpartition("/")[2])
        titles = {contents.title(self.course, page.stem)} if page.is_file() else set()
        labels = {label for section in _sections(word) for label in section["ids"]}
        known = _titles(self.course)
        titles |= {known[label] for label in labels if label in known}
        for title in titles:
            yield from _explained_in(self.course).get(title, ())
        for full, sections in sections_of(self.course).items():
            if labels.intersection(sections):
                yield full


def _notebook(course: Course, docname: str) -> Path:
    """Return the notebook of a page: the page itself, or that of its chapter."""
    path = course / f"{docname}.ipynb"
    if path.is_file():
        return path
    stem = docname.rpartition("/")[2]
    chapters = contents.chapters(course).items()
    chapter = next((one for one, pages in chapters if stem in pages), stem)
    return course.notebooks / f"{chapter}.ipynb"


def _listed(block: nodes.literal_block) -> list[str]:
    """Return the full names of the code that a listing shows, from its caption."""
    holder = block.parent
    if not isinstance(holder, nodes.container) or not isinstance(holder[0], nodes.caption):
        return []
    words = (word.astext() for word in holder[0].findall(nodes.literal))
    return [word for word in words if word.startswith(f"{PACKAGE}.")]


def _game(node: nodes.Node | None) -> nodes.Element | None:
    """Return the game around a node, if it is in one."""
    while node is not None and "catch" not in getattr(node, "attributes", {}).get("classes", ()):
        node = node.parent
    return node


def _sections(node: nodes.Node | None) -> Iterator[nodes.section]:
    while node is not None:
        if isinstance(node, nodes.section):
            yield node
        node = node.parent


def _modules(section: nodes.section) -> list[str]:
    """Return the modules that a section of the reference documents."""
    return [one.removeprefix("module-") for one in section["ids"] if one.startswith("module-")]


def _entries(node: nodes.Node | None) -> Iterator[str]:
    """Yield the anchors of the entries around a node, the innermost first."""
    while node is not None:
        if isinstance(node, addnodes.desc):
            yield from node[0]["ids"][:1]
        node = node.parent


@functools.lru_cache(maxsize=4096)
def _inside(course: Course, full: str) -> frozenset[str]:
    """Return the parameters, fields and variables of a function, or of a class and its methods."""
    file, inside = find_file(full, course.packages)
    if file is None:
        return frozenset()
    found: ast.AST = ast.parse(file.read_text(encoding="utf-8"))
    for name in inside:
        below = (node for node in ast.iter_child_nodes(found) if getattr(node, "name", "") == name)
        found = next((node for node in below if isinstance(node, Definition)), ast.Module([], []))
    names = Names()
    for node in ast.iter_child_nodes(found):
        if not isinstance(node, ast.ClassDef):
            names.add(node)
    stored = (n for n in ast.walk(found) if isinstance(n, ast.Attribute))
    return frozenset(
        names.own | names.foreign | {n.attr for n in stored if isinstance(n.ctx, ast.Store)}
    )


@functools.lru_cache(maxsize=1)
def _titles(course: Course) -> dict[str, str]:
    """Return the title of each labelled section."""
    return {label: section.title for label, section in contents.sections(course).items()}


@functools.lru_cache(maxsize=1)
def _explained_in(course: Course) -> dict[str, set[str]]:
    """Return the modules and objects whose docstring names a page or section, by its title."""
    named: dict[str, set[str]] = defaultdict(set)
    for path in sorted((course.packages / PACKAGE).rglob("*.py")):
        parts = path.relative_to(course.packages).with_suffix("").parts
        if parts[-1] == "__init__":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name, node in [
            ("", tree),
            *((f".{n.name}", n) for n in tree.body if isinstance(n, Definition)),
        ]:
            for title in TITLE.findall(" ".join((ast.get_docstring(node) or "").split())):
                named[title].add(".".join(parts) + name)
    return named
