"""Figures that answer a hand, on a page without a kernel and in a notebook alike.

A live figure is a front-end module in anywidget's form, one file of JavaScript whose default
export has `render({ model, el })`, and the state that it starts from. It displays itself as HTML:
the still picture, the state, and `host.js`, which gives the module its model. That works in a page
opened as a file; without scripts and in print the picture stays. Where `anywidget` is installed, as
it is in Colab, a notebook shows the same module as a widget, whose state Python can read and set.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Live:
    """The module in `name.js` beside this file, the state it starts from, and a still picture."""

    name: str
    state: dict[str, Any]
    still: str  # HTML

    @property
    def module(self) -> str:
        """The module's JavaScript."""
        return (HERE / f"{self.name}.js").read_text(encoding="utf-8")

    def html(self) -> str:
        """Return the figure as HTML that needs nothing else."""
        state = json.dumps({"module": self.module, "state": self.state}, ensure_ascii=False)
        identity = f"live-{sha256(state.encode()).hexdigest()[:12]}"
        host = (HERE / "host.js").read_text(encoding="utf-8").replace("IDENTITY", identity)
        inside = state.replace("<", "\\u003c")  # no end of a script within one
        return (
            f'<div class="live {self.name}" id="{identity}">\n'
            f'<div class="live-view">{self.still}</div>\n'
            f'<script type="application/json">{inside}</script>\n'
            f"<script>{host}</script>\n</div>"
        )

    def widget(self) -> Any:
        """Return the figure as a widget of `anywidget`, which must be installed."""
        import anywidget
        import traitlets

        traits = {name: traitlets.Any(value).tag(sync=True) for name, value in self.state.items()}
        return type(self.name, (anywidget.AnyWidget,), {"_esm": self.module, **traits})()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the figure for whoever displays it: a page takes the HTML."""
        bundle: dict[str, Any] = {"text/html": self.html(), "text/plain": f"a live {self.name}"}
        try:
            shown = self.widget()._repr_mimebundle_()
        except ImportError:
            return bundle
        return {**(shown[0] if isinstance(shown, tuple) else shown), **bundle}
