"""What a page shows, and whether that has changed since the page was read.

Sphinx reads a page again when its own text changes. A page of this book also shows results of
notebooks, records and tables; it remembers a digest of each, and is read again when one differs.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from coursetools.notebooks.run import executed_copy


def note_input(env: BuildEnvironment, docname: str, path: Path) -> None:
    """Remember that the page shows `path` (a file, or a pattern for the names in a folder)."""
    inputs = _inputs(env).setdefault(docname, {})
    name = os.path.relpath(path, env.srcdir)
    inputs[name] = _digest(Path(env.srcdir) / name)


def need_caption(directive: SphinxDirective, what: str) -> None:
    """Refuse a directive that lacks its name or caption; its argument should be `what`."""
    if not directive.options.get("name") or not directive.content:
        raise directive.error(
            f"{directive.name} needs {what}, a :name: and a caption, but found "
            f"{directive.arguments[0]!r}, {directive.options} and {len(directive.content)} lines"
        )


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
    return vars(env).setdefault("coursekit_inputs", {})


def _digest(path: Path) -> str:
    if "*" in path.name:
        content = "\n".join(sorted(file.name for file in path.parent.glob(path.name))).encode()
    else:
        content = path.read_bytes() if path.is_file() else b"absent"
    return hashlib.sha256(content).hexdigest()


@functools.lru_cache(maxsize=64)
def _read_outputs(path: str, modified: int) -> list[dict[str, Any]]:
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    return [output for cell in content["cells"] for output in cell.get("outputs", [])]


def outputs(executed: Path) -> list[dict[str, Any]]:
    """Return the outputs of all cells of an executed notebook."""
    return _read_outputs(str(executed), executed.stat().st_mtime_ns)


def named_output(
    directive: SphinxDirective, what: str, mime: str
) -> tuple[str, str, dict[str, Any]]:
    """Return the stem of the notebook, the name, and the output that a directive asks for."""
    env = directive.env
    target, _, name = directive.arguments[0].partition("::")
    relative, notebook = env.relfn2path(target)
    executed = executed_copy(Path(notebook))
    if not Path(notebook).is_file() or not executed.is_file():
        raise directive.error(f"there is no executed notebook {relative}")
    note_input(env, env.docname, executed)
    outputs_by_name = {
        output["metadata"]["scrapbook"]["name"]: output
        for output in outputs(executed)
        if mime in output.get("data", {}) and "scrapbook" in output.get("metadata", {})
    }
    if name not in outputs_by_name:
        names = ", ".join(sorted(outputs_by_name)) or "none"
        raise directive.error(f"{relative} shows no {what} {name!r}; it shows {names}")
    return executed.stem, name, outputs_by_name[name]
