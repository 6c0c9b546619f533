"""What Sphinx computes again for each reference or page, though it is the same each time.

A page that numbered references lead to is read from disk for each of them, and the side bar is
built anew for each page of source code, which is in no table of contents. With both, the book took
twice as long to write.
"""

from __future__ import annotations

import functools
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment

SOURCES = "_modules/"  # where the pages of source code are
PAGES = 16  # that are held in memory


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.add_domain(Numbering, override=True)
    app.connect("html-page-context", share_side_bar)


class Numbering(StandardDomain):
    """Sphinx's own domain, which reads a page once for all numbered references to it."""

    def _resolve_numref_xref(self, env: BuildEnvironment, *arguments: Any) -> Any:
        return super()._resolve_numref_xref(self._remembering, *arguments)

    @functools.cached_property
    def _remembering(self) -> Any:
        return _Remembering(self.env)


class _Remembering:
    """The environment; its pages are read, and nobody changes them."""

    def __init__(self, env: BuildEnvironment) -> None:
        self._env = env
        self.get_doctree = functools.lru_cache(maxsize=PAGES)(env.get_doctree)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


def share_side_bar(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Build the side bar of source pages once for each depth, on which their links depend."""
    if not page.startswith(SOURCES):
        return
    bars = vars(app).setdefault("coursekit_side_bars", {})
    build = context["toctree"]

    def side_bar(**options: Any) -> str:
        key = page.count("/"), *sorted(options.items())
        if key not in bars:
            bars[key] = build(**options)
        return bars[key]

    context["toctree"] = side_bar
