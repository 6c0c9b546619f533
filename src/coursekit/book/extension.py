"""What the book adds to Sphinx, so that a plain `jupyter-book build .` gives the whole book.

Notebooks are executed by `coursekit.notebooks.run`, not by myst-nb: its cache does not look at what
a notebook imports. Sphinx reads the executed copies in place of the sources. Each page remembers
the digest of every result that it shows, and is read again when one of them differs.

Directives: `notebook-figure` shows a figure of a notebook, `lecture-map` the table of the lectures,
`notebook-status` how the notebooks ran.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import os
import re
import zlib
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from myst_nb.ext.glue.crossref import read_glue_cache
from myst_nb.ext.glue.utils import PendingGlueReference
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.directives.patches import Figure
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from coursekit.book import assets, lecture_map
from coursekit.book.build import NO_LOCAL_SCRIPTS, cdn_sentence
from coursekit.errors import CourseError
from coursekit.notebooks.imports import source_folder
from coursekit.notebooks.run import (
    executed_copy,
    executed_folder,
    lecture_notebooks,
    read_record,
    run_notebooks,
    stale,
)
from coursekit.progress import track

logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension; Sphinx calls this."""
    app.connect("config-inited", distrust_unfinished)
    app.connect("config-inited", use_local_scripts)
    app.connect("builder-inited", execute_notebooks)
    app.connect("env-get-outdated", outdated_pages)
    app.connect("env-purge-doc", forget_inputs)
    app.connect("env-merge-info", merge_inputs)
    app.connect("source-read", read_executed)
    app.connect("doctree-read", note_glue)
    app.connect("doctree-read", describe_images)
    app.connect("build-finished", mark_finished)
    app.add_directive("notebook-figure", NotebookFigure)
    app.add_directive("lecture-map", LectureMap)
    app.add_directive("notebook-status", NotebookStatus)
    own = b"".join(Path(module).read_bytes() for module in (__file__, lecture_map.__file__))
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
    """Serve MathJax, requirejs and the widget manager from the book itself, if they are here."""
    config.nb_ipywidgets_js = {"widget_math.js": {}, **config.nb_ipywidgets_js}
    if os.environ.get(NO_LOCAL_SCRIPTS):
        return
    try:
        folder = assets.ensure()
    except assets.AssetsMissing as error:
        logger.info(cdn_sentence(error))
        return
    config.html_static_path = [*config.html_static_path, str(folder)]
    config.mathjax_path = "mathjax/tex-mml-chtml.js"
    scripts = "widget_math.js", "widget_paths.js", "widgets/require.js", "widgets/embed-amd.js"
    config.nb_ipywidgets_js = {name: {} for name in scripts}


# --- Notebooks ---


def execute_notebooks(app: Sphinx) -> None:
    """Execute the notebooks whose result is missing or no longer right."""
    read_glue_cache.cache_clear()
    root = Path(app.srcdir)
    try:
        waiting = stale(root)
        with track(len(waiting), "notebooks") as progress:
            run_notebooks(waiting, progress=progress)
    except CourseError as error:
        raise ExtensionError(str(error)) from error


def read_executed(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put the executed copy in the place of a lecture notebook."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb" or path not in lecture_notebooks(Path(app.srcdir)):
        return
    copy = executed_copy(path)
    note_input(app.env, docname, copy)
    # myst-nb leaves the old file in place when a notebook no longer glues anything.
    glued = Path(app.outdir).parent / "jupyter_execute" / f"{docname}.glue.json"
    glued.unlink(missing_ok=True)
    content[0] = copy.read_text(encoding="utf-8")


def note_glue(app: Sphinx, doctree: nodes.document) -> None:
    """Remember from which notebooks a page takes its numbers."""
    for node in doctree.findall(PendingGlueReference):
        path = Path(app.env.doc2path(node.refdoc))
        if path.suffix == ".ipynb":
            note_input(app.env, app.env.docname, executed_copy(path))


def describe_images(app: Sphinx, doctree: nodes.document) -> None:
    """Give the images of a notebook's own page the alt text that `show` recorded."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb" or not executed_copy(path).is_file():
        return
    alts = {}
    for output in _outputs(executed_copy(path)):
        alt = output.get("metadata", {}).get("image/png", {}).get("alt")
        if alt and "image/png" in output.get("data", {}):
            png = base64.b64decode(output["data"]["image/png"])
            alts[hashlib.sha256(png).hexdigest()] = alt  # myst-nb names the file so
    for image in doctree.findall(nodes.image):
        alt = alts.get(Path(image["uri"]).stem)
        if alt:
            image["alt"] = alt


# --- What a page shows, and whether that has changed since it was read ---


def note_input(env: BuildEnvironment, docname: str, path: Path) -> None:
    """Remember that the page shows `path` (a file, or a pattern for the names in a folder)."""
    inputs = _inputs(env).setdefault(docname, {})
    name = os.path.relpath(path, env.srcdir)
    inputs[name] = _digest(Path(env.srcdir) / name)


def outdated_pages(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return the pages that show something else than when they were read."""
    digest = functools.cache(lambda name: _digest(Path(app.srcdir) / name))
    return [
        docname
        for docname, inputs in _inputs(env).items()
        if docname not in removed
        and any(digest(name) != remembered for name, remembered in inputs.items())
    ]


def forget_inputs(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is read again or gone."""
    _inputs(env).pop(docname, None)


def merge_inputs(
    app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment
) -> None:
    """Take over what a parallel reader remembered."""
    _inputs(env).update({name: _inputs(other)[name] for name in docnames if name in _inputs(other)})


def _inputs(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    if not hasattr(env, "coursekit_inputs"):
        env.coursekit_inputs = {}
    return env.coursekit_inputs


def _digest(path: Path) -> str:
    if "*" in path.name:
        content = "\n".join(sorted(found.name for found in path.parent.glob(path.name))).encode()
    else:
        content = path.read_bytes() if path.is_file() else b"absent"
    return hashlib.sha256(content).hexdigest()


# --- Figures of notebooks ---


@functools.lru_cache(maxsize=64)
def _read_outputs(path: str, modified: int) -> list[dict[str, Any]]:
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    return [output for cell in content["cells"] for output in cell.get("outputs", [])]


def _outputs(executed: Path) -> list[dict[str, Any]]:
    return _read_outputs(str(executed), executed.stat().st_mtime_ns)


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
        target, _, name = self.arguments[0].partition("::")
        if not name or not self.options.get("name") or not self.content:
            raise self.error(
                "notebook-figure needs notebook.ipynb::figure, a :name: and a caption, "
                f"but found {self.arguments[0]!r}, {self.options} and {len(self.content)} lines"
            )
        relative, notebook = self.env.relfn2path(target)
        executed = executed_copy(Path(notebook))
        if not Path(notebook).is_file() or not executed.is_file():
            raise self.error(f"there is no executed notebook {relative}")
        note_input(self.env, self.env.docname, executed)
        shown = {
            output["metadata"]["scrapbook"]["name"]: output
            for output in _outputs(executed)
            if "image/png" in output.get("data", {}) and "scrapbook" in output.get("metadata", {})
        }
        if name not in shown:
            names = ", ".join(sorted(shown)) or "none"
            raise self.error(f"{relative} shows no figure {name!r}; it shows {names}")
        png = base64.b64decode(shown[name]["data"]["image/png"])
        picture = Path(self.env.app.outdir).parent / "figures" / f"{executed.stem}-{name}.png"
        if not picture.is_file() or picture.read_bytes() != png:
            picture.parent.mkdir(parents=True, exist_ok=True)
            unfinished = picture.with_suffix(".tmp")
            unfinished.write_bytes(png)
            unfinished.replace(picture)
        self.arguments = ["/" + os.path.relpath(picture, self.env.srcdir).replace(os.sep, "/")]
        self.options["alt"] = shown[name]["metadata"]["image/png"]["alt"]
        return super().run()


# --- Tables ---


class LectureMap(SphinxDirective):
    """With a deck (`L3`): its table. Without: one sentence that counts what is built."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table of a deck, or the count over all decks."""
        root = Path(self.env.srcdir)
        note_input(self.env, self.env.docname, lecture_map.table_path(root))
        try:
            rows = lecture_map.read_rows(root)
        except CourseError as error:
            raise self.error(str(error)) from error
        deck = self.arguments[0] if self.arguments else None
        if deck is not None and deck not in lecture_map.DECKS:
            raise self.error(f"there is no deck {deck!r}, only {', '.join(lecture_map.DECKS)}")
        chosen = [row for row in rows if deck in (None, row.deck)]
        built = sum(row.state == "built" for row in chosen)
        count = nodes.paragraph("", f"{built} of {len(chosen)} rows are built.")
        if deck is None:
            return [count]
        table = _table(
            ["Topic", "Section", "In the code", "Test"],
            [self._cells(row, source_folder(root)) for row in chosen],
            widths=[28, 21, 25, 26],
            kind="lecture-map",
        )
        return [count, table]

    def _cells(self, row: lecture_map.Row, source: Path) -> list[list[nodes.Node]]:
        topic: list[nodes.Node] = [nodes.Text(row.topic)]
        if row.state == "coming":
            return [topic, [nodes.emphasis("", f"coming: {row.chapter}")]]
        text = nodes.inline("", row.section, classes=["std", "std-ref"])
        section = addnodes.pending_xref(
            "", text, refdoc=self.env.docname, refdomain="std", reftype="ref",
            reftarget=row.section.lower(), refexplicit=False, refwarn=True,
        )  # fmt: skip
        objects = []
        for name in row.objects:
            file = lecture_map.find_object(name, source)
            place = f"src/{file.relative_to(source).as_posix()}" if file else None
            objects.append(self._code(name.removeprefix("coursekit."), place))
        tests = [self._code(t.split("::")[-1].split("/")[-1], t.split("::")[0]) for t in row.tests]
        return [topic, [section], _joined(objects), _joined(tests)]

    def _code(self, text: str, place: str | None) -> nodes.Node:
        repository = self.config.html_theme_options.get("repository_url")
        if not place or not repository:
            return nodes.literal("", _breakable(text))
        branch = self.config.html_theme_options.get("repository_branch") or "main"
        uri = f"{repository.rstrip('/')}/blob/{branch}/{place}"
        return nodes.reference(
            "", "", nodes.literal("", _breakable(text)), refuri=uri, internal=False
        )


class NotebookStatus(SphinxDirective):
    """How long each notebook ran, on what, and with which versions."""

    def run(self) -> list[nodes.Node]:
        """Return a sentence about the machine and a table with a row a notebook."""
        root = Path(self.env.srcdir)
        note_input(self.env, self.env.docname, root / "notebooks" / "*.ipynb")
        records = {}
        for path in lecture_notebooks(root):
            copy = executed_copy(path)
            note_input(self.env, self.env.docname, copy.with_suffix(".json"))
            record = read_record(copy)
            if record is None:
                raise self.error(f"there is no record of {path.name} in {executed_folder(root)}")
            records[path.stem] = record
        packages = list(dict.fromkeys(n for r in records.values() for n in r["versions"]))
        rows = []
        for stem, record in records.items():
            text = nodes.inline("", stem, classes=["doc"])
            link = addnodes.pending_xref(
                "", text, refdoc=self.env.docname, refdomain="std", reftype="doc",
                reftarget=f"/notebooks/{stem}", refexplicit=False, refwarn=True,
            )  # fmt: skip
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
        return [nodes.paragraph("", sentence), table]


def machine(record: dict[str, Any]) -> str:
    """Return what kind of machine a notebook ran on, and nothing that tells which one."""
    parts = [record.get("platform") or "an unknown system"]
    if record.get("cores"):
        parts.append(f"{record['cores']} cores")
    return ", ".join(parts)


def _breakable(name: str) -> str:
    """Let a long name break behind its dots and underscores, and not in the middle of a word."""
    return re.sub(r"([._])", "\\1\u200b", name)


def _joined(parts: list[nodes.Node]) -> list[nodes.Node]:
    joined: list[nodes.Node] = []
    for part in parts:
        joined += [nodes.Text(", "), part] if joined else [part]
    return joined


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
