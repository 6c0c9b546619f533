"""Interactive figures, which work on a page without a kernel and in a notebook.

A live figure is a front-end module in anywidget's form, one file of JavaScript whose default
export has `render({ model, el })`, and the state that it starts from. It displays itself as HTML:
the still picture, the state, and `ui/host.js`, which gives the module its model. That works in a
page opened as a file; without scripts and in print the picture stays. Where `anywidget` is
installed, as it is in Colab, a notebook shows the same module as a widget, whose state Python can
read and set.

A module imports what it shares with others, and `bundle` joins them into one, since a page that is
opened as a file cannot import files. A module may also run a model of the course: the book has its
weights in a file that is loaded once the figure is near the screen (`packed_models`), and a
notebook gives them to the module itself.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from coursekit.figures.live.bundle import bundle, modules
from coursekit.figures.live.javascript import compacted

HERE = Path(__file__).parent
HOST = HERE / "ui" / "host.js"
JOINING = [HERE / f"{name}.py" for name in ("figure", "bundle", "javascript")]
STYLE = (
    "<style>.live[data-ready] > .live-still { display: none }"
    " @media print { .live[data-ready] > .live-still { display: block }"
    " .live > .live-view { display: none } .live { min-height: 0 !important }"
    " .live-leads { display: none } } @media (scripting: enabled) { .live-leads { display: none } }"
    "</style>"
)


class Packed(NamedTuple):
    """A trained model's file of weights, its tokenizer as JSON, and what else its figures need.

    Tokenizers may come alone: then there are no weights, and each has a name.
    """

    weights: bytes | None
    tokenizer: dict[str, Any] | None = None  # a model of pictures has none
    words: str = ""  # it has often met, with a space between two; empty where no figure asks
    shown: Mapping[str, Any] = {}  # pictures, by their name in the state

    def state(self) -> dict[str, Any]:
        """Return what a module finds in its state, without the weights."""
        parts = {"tokenizer": self.tokenizer, "words": self.words}
        return {name: part for name, part in parts.items() if part} | dict(self.shown)

    def as_json(self) -> dict[str, Any]:
        """Return all of it as a page reads it."""
        if self.weights is None:
            return self.state()
        return {"weights": base64.b64encode(self.weights).decode(), **self.state()}


class Model(NamedTuple):
    """A trained model that a figure runs: the name of its training, and what packs it."""

    name: str
    pack: Callable[[], Packed]


@dataclass(frozen=True)
class Live:
    """The module in `name.js` beside this file, the state it starts from, and a still picture.

    `linked` are names of its state that the address of a page can set, so that a link leads to a
    setting. A module that runs a trained `model` finds it in its state, as `weights` (bytes), and
    `tokenizer`, `words` and pictures where there are.
    `room` is how many pixels it takes from top to bottom, on a wide screen and on a telephone: kept
    free, so that nothing moves when it begins.
    """

    name: str
    state: dict[str, Any]
    still: str  # HTML
    linked: tuple[str, ...] = ()
    model: Model | None = None
    room: tuple[int, int] | None = None
    leads: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The module's JavaScript, with all that it imports."""
        return bundle(HERE / f"{self.name}.js")

    @property
    def files(self) -> list[Path]:
        """The files that its HTML is made from: modules, the host, and the code that joins them."""
        return [*modules(HERE / f"{self.name}.js"), HOST, *JOINING]

    def html(self, *, whole: bool = False) -> str:
        """Return the figure as HTML that needs nothing else.

        A model is in a file of the book, unless the HTML has to be `whole`.
        """
        about: dict[str, Any] = {"module": self.module, "state": self.state}
        if self.linked:
            about |= {"name": self.name, "linked": self.linked}
        if self.room is not None:
            about["room"] = self.room
        if self.model is not None and whole:
            about["state"] = {**self.state, **self.model.pack().as_json()}
        elif self.model is not None:
            about["model"] = self.model.name
        text = json.dumps(about, ensure_ascii=False)
        identity = f"live-{sha256(text.encode()).hexdigest()[:12]}"
        host = compacted(HOST.read_text(encoding="utf-8")).replace("IDENTITY", identity)
        inside = text.replace("<", "\\u003c")  # no end of a script within one
        return (
            f'<div class="live {self.name}" id="{identity}">\n'
            f'<div class="live-still">{self.still}</div>\n<div class="live-view"></div>\n'
            f'{STYLE}\n<script type="application/json">{inside}</script>\n'
            f"<script>{host}</script>\n</div>"
        )

    def widget(self) -> Any:
        """Return the figure as a widget of `anywidget`, which must be installed."""
        import anywidget
        import traitlets

        state = self.state
        traits: dict[str, object] = {}
        if self.model is not None:
            kept = self.model.pack()
            state = state | kept.state()
            if kept.weights is not None:
                traits["weights"] = traitlets.Bytes(kept.weights).tag(sync=True)
        traits |= {name: traitlets.Any(value).tag(sync=True) for name, value in state.items()}
        return type(self.name, (anywidget.AnyWidget,), {"_esm": self.module, **traits})()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the figure for whoever displays it: a page takes the HTML."""
        mimes: dict[str, Any] = {"text/plain": f"a live {self.name}"}
        try:
            shown = self.widget()._repr_mimebundle_()
        except ImportError:
            return {**mimes, "text/html": self.html(whole=True)}
        # A widget has the model; beside it the picture is enough.
        mimes["text/html"] = self.html(whole=True) if self.model is None else self.still
        return {**(shown[0] if isinstance(shown, tuple) else shown), **mimes}
