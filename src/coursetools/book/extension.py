"""What the book adds to Sphinx, so that a plain `jupyter-book build .` gives the whole book.

Notebooks are executed by `coursetools.notebooks.run`, not by myst-nb: its cache does not look at
what a notebook imports. Sphinx reads the executed copies in place of the sources. Each page
remembers the digest of every result that it shows, and is read again when one of them differs.

Directives: `notebook-figure` and `notebook-table` show what a notebook showed, `live-figure` what a
reader can play with, `ask` a question that takes its answer, `catch` a game with a mistake in it,
`listing` code where it runs, `how-it-was-run` the conditions of a measurement, `lecture-map` the
table of the lectures, `notebook-status` how the notebooks ran, `benchmark-table` how fast we are.
Those of `guide_directives` lead into the book: questions, terms, symbols, the way through it.
The role `value` shows a number that code or a record has (`values`).
"""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from myst_nb.ext.glue.crossref import read_glue_cache
from myst_nb.ext.glue.utils import PendingGlueReference
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.directives.patches import Figure
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from coursekit._base.errors import CourseError
from coursekit._base.progress import track
from coursetools.book import (
    ask,
    assets,
    assignment_pages,
    catch,
    code_links,
    code_words,
    computed_once,
    dependencies,
    guide_directives,
    lighten,
    listings,
    live_figures,
    moved,
    number_sources,
    numerals,
    reference,
    repository,
    search,
    sharing,
    side_steps,
    tables,
    translations,
    values,
)
from coursetools.book.build import NO_LOCAL_SCRIPTS, cdn_sentence
from coursetools.book.notebook_pages import for_its_page
from coursetools.course import Course
from coursetools.notebooks.run import executed_copy, run_notebooks, stale

logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension; Sphinx calls this."""
    app.connect("config-inited", distrust_unfinished)
    app.connect("config-inited", use_local_scripts)
    app.connect("builder-inited", execute_notebooks)
    app.connect("builder-inited", lighten.lighten_pages)
    app.connect("env-get-outdated", dependencies.outdated_pages)
    app.connect("env-purge-doc", dependencies.forget_inputs)
    app.connect("env-merge-info", dependencies.merge_inputs)
    app.connect("source-read", read_executed)
    app.connect("doctree-read", note_glue)
    app.connect("doctree-read", describe_images)
    app.connect("build-finished", lighten.join_files, priority=900)  # after the theme
    app.connect("build-finished", search.write_index)
    app.connect("build-finished", mark_finished)
    ask.setup(app)
    catch.setup(app)
    code_links.setup(app)
    code_words.setup(app)
    computed_once.setup(app)
    assignment_pages.setup(app)
    listings.setup(app)
    live_figures.setup(app)
    moved.setup(app)
    number_sources.setup(app)
    reference.setup(app)
    repository.setup(app)
    sharing.setup(app)
    side_steps.setup(app)
    translations.setup(app)
    values.setup(app)
    app.connect("doctree-resolved", numerals.set_numbers)
    app.add_directive("notebook-figure", NotebookFigure)
    app.add_directive("notebook-table", tables.NotebookTable)
    app.add_directive("benchmark-table", tables.BenchmarkTable)
    app.add_directive("lecture-map", tables.LectureMap)
    app.add_directive("notebook-status", tables.NotebookStatus)
    app.add_directive("questions", guide_directives.Questions)
    app.add_directive("notation", guide_directives.Notation)
    app.add_directive("glossary-table", guide_directives.GlossaryTable)
    app.add_directive("course-count", guide_directives.CourseCount)
    app.add_directive("colab-tried", guide_directives.ColabTried)
    app.add_directive("way-picture", guide_directives.WayPicture)
    app.add_directive("way-routes", guide_directives.WayRoutes)
    app.add_directive("attention-picture", guide_directives.AttentionPicture)
    own = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return {
        "version": "1",
        "env_version": zlib.crc32(own),  # every page is read again when this code changes
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }


# --- A build that was cut short, or that warned, is not built upon ---


def distrust_unfinished(app: Sphinx, config: Config) -> None:
    """Start from nothing if the last build did not end well, and mark this one as begun."""
    mark = _unfinished(app)
    if mark.exists():
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()


def mark_finished(app: Sphinx, exception: Exception | None) -> None:
    """Take the mark away after a build without fault; Sphinx repeats no warning by itself."""
    if exception is None and not app._warncount:
        _unfinished(app).unlink(missing_ok=True)


def _unfinished(app: Sphinx) -> Path:
    return Path(app.doctreedir) / "unfinished"


# --- Scripts ---


def use_local_scripts(app: Sphinx, config: Config) -> None:
    """Serve MathJax from the book itself, if it is here."""
    if os.environ.get(NO_LOCAL_SCRIPTS):
        return
    try:
        folder = assets.ensure()
    except assets.AssetsMissing as error:
        logger.info(cdn_sentence(error))
        return
    config.html_static_path = [*config.html_static_path, str(folder)]
    config.mathjax_path = "mathjax/tex-mml-chtml.js"


# --- Notebooks ---


def execute_notebooks(app: Sphinx) -> None:
    """Execute the notebooks whose result is missing or no longer right."""
    read_glue_cache.cache_clear()
    course = Course(Path(app.srcdir))
    try:
        waiting = stale(course)
        with track(len(waiting), "notebooks") as progress:
            run_notebooks(waiting, progress=progress)
    except CourseError as error:
        raise ExtensionError(str(error)) from error


def read_executed(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put the executed copy in the place of a lecture notebook."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb" or path not in Course(Path(app.srcdir)).lectures:
        return
    copy = executed_copy(path)
    dependencies.note_input(app.env, docname, copy)
    # myst-nb leaves the old file in place when a notebook no longer glues anything.
    glued = Path(app.outdir).parent / "jupyter_execute" / f"{docname}.glue.json"
    glued.unlink(missing_ok=True)
    content[0] = for_its_page(copy.read_text(encoding="utf-8"))


def note_glue(app: Sphinx, doctree: nodes.document) -> None:
    """Remember from which notebooks a page takes its numbers."""
    for node in doctree.findall(PendingGlueReference):
        path = Path(app.env.doc2path(node.refdoc))
        if path.suffix == ".ipynb":
            dependencies.note_input(app.env, app.env.docname, executed_copy(path))


def describe_images(app: Sphinx, doctree: nodes.document) -> None:
    """Give the images of a notebook's own page the alt text that `show` recorded."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb" or not executed_copy(path).is_file():
        return
    alts = {}
    for output in dependencies.outputs(executed_copy(path)):
        alt = output.get("metadata", {}).get("image/png", {}).get("alt")
        if alt and "image/png" in output.get("data", {}):
            png = base64.b64decode(output["data"]["image/png"])
            alts[hashlib.sha256(png).hexdigest()] = alt  # myst-nb names the file so
    for image in doctree.findall(nodes.image):
        alt = alts.get(Path(image["uri"]).stem)
        if alt:
            image["alt"] = alt


# --- Figures of notebooks ---


class NotebookFigure(Figure, SphinxDirective):
    """A numbered figure from a notebook: `../notebooks/scaling.ipynb::saturation`, then a caption.

    Picture and alt text are what `coursekit.figures.show` displayed under that name.
    """

    option_spec: ClassVar = {
        "name": directives.unchanged,
        "width": directives.length_or_percentage_or_unitless,
        "class": directives.class_option,
    }

    def run(self) -> list[nodes.Node]:
        """Write the picture below `_build` and return a figure of it."""
        dependencies.need_caption(self, "notebook.ipynb::figure")
        *_, output = dependencies.named_output(self, "figure", "image/png")
        png = base64.b64decode(output["data"]["image/png"])
        # The file of myst-nb for the notebook's own page, so that the picture exists once.
        file = f"{hashlib.sha256(png).hexdigest()}.png"
        picture = Path(self.env.app.outdir).parent / "jupyter_execute" / file
        if not picture.is_file():
            picture.parent.mkdir(parents=True, exist_ok=True)
            unfinished = picture.with_suffix(".tmp")
            unfinished.write_bytes(png)
            unfinished.replace(picture)
        self.arguments = ["/" + os.path.relpath(picture, self.env.srcdir).replace(os.sep, "/")]
        self.options["alt"] = output["metadata"]["image/png"]["alt"]
        return super().run()
