"""Code on a page, taken by name from where it runs, so that a change of the code changes the page.

    ```{listing} coursekit.plain.vit.PlainViT
    :name: lst-vit
    :pick: forward
    The whole of a ViT.
    ```

The names are those of functions, classes, methods and constants of a package; or one cell of a
notebook is listed, `../notebooks/finetuning.ipynb::loop`, without what it glues and shows. `:pick:`
leaves only these methods of a class. Left out are the lines of a docstring behind its first, and
what only refuses wrong input; all of it is in the reference, where a link leads. Of a file of
JavaScript these functions are listed, `../src/coursekit/figures/layers.js::masked softmax`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from coursekit._base.shown_code import Definition, shown_lines
from coursetools.book.code_files import find_file
from coursetools.book.dependencies import need_caption, note_input
from coursetools.book.notebook_pages import without_glue
from coursetools.book.tables import doc_link, joined
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.add_directive("listing", Listing)
    app.add_directive("how-it-was-run", HowItWasRun)


class Listing(SphinxDirective):
    """Numbered code from the package or from a notebook's cell, with a caption."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"name": directives.unchanged, "pick": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the code below its caption."""
        need_caption(self, "names of code")
        pick = tuple(self.options.get("pick", "").replace(",", " ").split())
        course = Course(Path(self.env.srcdir))
        try:
            if self._is_script():
                code = self._functions(self.arguments[0])
            elif "::" in self.arguments[0]:
                code = self._cell(self.arguments[0])
            else:
                names = self.arguments[0].split()
                for name in names:
                    note_input(self.env, self.env.docname, file_of(course, name)[0])
                code = "\n\n".join(source(course, name, pick) for name in names)
        except LookupError as error:
            raise self.error(str(error.args[0])) from error
        holder = nodes.container(literal_block=True, classes=["literal-block-wrapper"])
        text, messages = self.state.inline_text(" ".join(self.content), self.lineno)
        holder += nodes.caption("", "", *text, *self._links())
        holder += nodes.literal_block(code, code, language="js" if self._is_script() else "python")
        self.add_name(holder)
        return [holder, *messages]

    def _is_script(self) -> bool:
        return ".js::" in self.arguments[0]

    def _functions(self, target: str) -> str:
        path, _, names = target.partition("::")
        _, file = self.env.relfn2path(path)
        note_input(self.env, self.env.docname, Path(file))
        return "\n\n".join(script_source(Path(file), name) for name in names.split())

    def _cell(self, target: str) -> str:
        path, _, wanted = target.partition("::")
        _, notebook = self.env.relfn2path(path)
        note_input(self.env, self.env.docname, Path(notebook))
        return cell_source(Path(notebook), wanted)

    def _links(self) -> list[nodes.Node]:
        """Return a link to the entry of the code in the reference, or to the notebook."""
        if self._is_script():
            return []
        if "::" not in self.arguments[0]:
            names = [name for name in self.arguments[0].split() if name.startswith("coursekit.")]
            linked = [nodes.literal("", name) for name in names]  # `code_words` makes them links
            return [nodes.Text(" From "), *joined(linked), nodes.Text(".")] if linked else []
        stem = Path(self.arguments[0].partition("::")[0]).stem
        link = doc_link(self.env.docname, f"/notebooks/{stem}", "notebook")
        return [nodes.Text(" From the "), link, nodes.Text(".")]


class HowItWasRun(SphinxDirective):
    """The line under a measurement: what is counted, on how many, how it was trained, chance."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the line."""
        self.assert_has_content()
        holder = nodes.container(classes=["how-it-was-run"])
        self.state.nested_parse(self.content, self.content_offset, holder)
        first = next(iter(holder.findall(nodes.paragraph)), None)
        if first is None:
            raise self.error("how-it-was-run needs a sentence")
        first.insert(0, nodes.emphasis("", "How it was run."))
        first.insert(1, nodes.Text(" "))
        return [holder]


def file_of(course: Course, name: str) -> tuple[Path, list[str]]:
    """Return the file that holds the code that `name` names, and the rest of the name in it."""
    file, inside = find_file(name, course.packages)
    if file is None or not inside:
        raise LookupError(f"a listing needs a function, a class or a method, but found {name!r}")
    return file, inside


def source(course: Course, name: str, pick: tuple[str, ...] = ()) -> str:
    """Return the code that `name` names, a class with the methods of `pick` alone."""
    file, inside = file_of(course, name)
    text = file.read_text(encoding="utf-8")
    body: list[ast.stmt] = ast.parse(text).body
    for part in inside:
        known = {_called(node): node for node in body}
        if part not in known:
            names = ", ".join(filter(None, known)) or "nothing"
            raise LookupError(f"there is no {part!r} on the way to {name!r}; there is {names}")
        definition = known[part]
        body = getattr(definition, "body", [])
    lines = text.split("\n")
    if isinstance(definition, ast.ClassDef) and pick:
        methods = [f"{name}.{one}" for one in pick]
        head = [lines[n] for n in shown_lines(definition, lines) if n < _first_method(definition)]
        bodies = [textwrap.indent(source(course, method), "    ") for method in methods]
        return "\n\n".join(["\n".join(head).rstrip(), *bodies])
    return textwrap.dedent("\n".join(lines[n] for n in shown_lines(definition, lines))).strip("\n")


def cell_source(notebook: Path, wanted: str) -> str:
    """Return the code of one cell of a notebook, without what only the book's machinery needs."""
    if not notebook.is_file():
        raise LookupError(f"there is no notebook {notebook.name}")
    cells = {cell.get("id"): cell for cell in read_notebook(notebook)["cells"]}
    if wanted not in cells or cells[wanted]["cell_type"] != "code":
        raise LookupError(f"{notebook.name} has no cell of code {wanted!r}")
    return without_glue(cells[wanted]["source"])


def script_source(file: Path, name: str) -> str:
    """Return a function of a file of JavaScript, with the comment right before it."""
    if not file.is_file():
        raise LookupError(f"there is no file {file.name}")
    start = rf"(?:^/\*\* [^\n]*\*/\n)?^export function {re.escape(name)}\("
    text = file.read_text(encoding="utf-8")
    match = re.search(rf"{start}.*?^\}}$", text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise LookupError(f"{file.name} exports no function {name!r}")
    return match[0]


def _called(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return getattr(node, "name", "")


def _first_method(definition: ast.ClassDef) -> int:
    methods = [node for node in definition.body if isinstance(node, Definition)]
    return min([n.lineno - 1 for node in methods for n in [node, *node.decorator_list]])
