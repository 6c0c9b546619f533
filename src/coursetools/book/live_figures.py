"""Live figures on a page of the book, and the trained models that they run.

    ```{live-figure} coursekit.figures.live.writer.writer
    :name: fig-gpt-live
    The writer, in this page.
    ```

The name is that of a function that returns a `Live`. Its model is written to `_static/live/` of
the built book, where the figure fetches it once it is near the screen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.ext.viewcode import viewcode_anchor
from sphinx.util.docutils import SphinxDirective

from coursekit._base.errors import CourseError
from coursekit.figures.live import packed_models, vocabularies
from coursekit.figures.live.figure import HERE, Live
from coursekit.tokenizers import base
from coursetools.book import listings
from coursetools.book.dependencies import need_caption, note_input
from coursetools.course import Course

CODE = (  # what makes the files of models
    *(HERE / f"{name}.py" for name in ("packed_models", "patch_grid", "emoji_scene")),
    Path(vocabularies.__file__),
    vocabularies.UNIGRAM,
    *sorted(Path(base.__file__).parent.glob("*.py")),
)


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.add_directive("live-figure", LiveFigure)
    app.connect("build-finished", write_models)


class LiveFigure(SphinxDirective):
    """A numbered figure that the reader can play with, and its caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"name": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the figure, and remember the model that its page needs."""
        name = self.arguments[0]
        need_caption(self, "the name of a function")
        try:
            made = self._make(name)
            files = made.files
        except CourseError as error:
            raise self.error(str(error)) from error
        for path in files:
            note_input(self.env, self.env.docname, path)
        if made.model is not None:
            self.env.metadata[self.env.docname].setdefault("live-models", []).append(
                made.model.name
            )
            results = Path(self.env.srcdir, "results", made.model.name)
            note_input(self.env, self.env.docname, results / "cpu.json")
        figure = nodes.figure("", nodes.raw("", made.html(), format="html"))
        if made.leads:
            figure += self._leads(made)
        text, messages = self.state.inline_text(" ".join(self.content), self.lineno)
        figure += nodes.caption("", "", *text)
        self.add_name(figure)
        return [figure, *messages]

    def _leads(self, made: Live) -> nodes.bullet_list:
        """Return where the parts of a figure lead, as links that its module finds by their class.

        Where scripts run the list is not shown: the module takes the links from it.
        """
        listed = nodes.bullet_list(classes=["live-leads"])
        for name, text in made.leads.items():
            line, _ = self.state.inline_text(f"Explained in {text}.", self.lineno)
            if code := made.sources.get(name):
                line += [nodes.Text(" Code: "), nodes.literal("", code), nodes.Text(" ")]
                line.append(self._source(code))
            inside = nodes.paragraph("", "", *line, classes=[f"lead-{name}"])
            listed += nodes.list_item("", inside)
        return listed

    def _source(self, code: str) -> nodes.Node:
        """Return a link to the line at which a function or method begins."""
        file, inside = listings.file_of(Course(Path(self.env.srcdir)), code)
        module = code.removesuffix(f".{'.'.join(inside)}").replace(".", "/")
        note_input(self.env, self.env.docname, file)
        return viewcode_anchor(
            reftarget=f"_modules/{module}", refid=".".join(inside), refdoc=self.env.docname
        )

    def _make(self, name: str) -> Live:
        module, _, function = name.rpartition(".")
        try:
            home = import_module(module)
            made = getattr(home, function)()
        except (ImportError, AttributeError, ValueError) as error:
            raise self.error(f"there is no live figure {name!r} ({error})") from error
        if not isinstance(made, Live):
            raise self.error(f"{name!r} returns a {type(made).__name__}; a Live is expected")
        note_input(self.env, self.env.docname, Path(str(home.__file__)))
        return made


def write_models(app: Sphinx, exception: Exception | None) -> None:
    """Write the models that pages need, unless they are there as they should be."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static", "live")
    for name in sorted(set(_models(app))):
        path = folder / f"{name}.js"
        first = f"// {_key(name)}\n"
        if path.is_file() and path.read_text(encoding="utf-8").startswith(first):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(first + packed_models.script(name), encoding="utf-8")


def _models(app: Sphinx) -> Iterator[str]:
    for about in app.env.metadata.values():
        yield from about.get("live-models", ())


def _key(name: str) -> str:
    """Return a digest of all that the file of a model is made of."""
    alone = name in packed_models.VOCABULARIES  # no weights
    digest = hashlib.sha256(b"" if alone else packed_models.weights_in(name))
    for path in CODE:
        digest.update(path.read_bytes())
    return digest.hexdigest()
