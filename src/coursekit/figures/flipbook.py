"""A slider that turns the pages of a figure, in a notebook and in the built book alike.

Every picture is drawn beforehand. The slider is tied to the pictures in the browser (`jslink`), so
it works on a page that has no Python behind it.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipywidgets import Widget
    from matplotlib.figure import Figure

DPI = 110  # enough for the width of a page; a flipbook carries all of its pictures


def flipbook(
    frames: Sequence[Figure], *, labels: Sequence[object], name: str, alt: str | Sequence[str]
) -> Widget:
    """Return a slider called `name` that shows one of `frames` for each of `labels`.

    `alt` says what is seen: one text for each frame, or one for all, to which the label is added.
    Make it the last expression of a cell. Twenty frames weigh about as much as one photograph.
    """
    from ipywidgets import HTML, Layout, SelectionSlider, Stack, VBox, jslink

    texts = [str(label) for label in labels]
    if not frames or len(frames) != len(texts):
        raise ValueError(f"flipbook needs one label a frame: {len(frames)} and {len(texts)} found")
    if len(set(texts)) < len(texts):
        raise ValueError(f"flipbook needs labels that differ, not {texts}")
    if isinstance(alt, str):
        alts = [f"{alt} ({name}: {text})" if alt.strip() else "" for text in texts]
    else:
        alts = list(alt)
    if len(alts) != len(frames) or not all(text.strip() for text in alts):
        raise ValueError(f"flipbook needs an alt text for each of its {len(frames)} frames")

    pages = [HTML(_image(frame, text)) for frame, text in zip(frames, alts, strict=True)]
    wide = Layout(width="100%")
    stack = Stack(pages, selected_index=0, layout=wide)
    slider = SelectionSlider(options=texts, description=name, layout=Layout(width="95%"))
    slider.style.description_width = "initial"
    jslink((slider, "index"), (stack, "selected_index"))
    box = VBox([slider, stack], layout=wide)
    box.add_class("flipbook")
    return box


def _image(figure: Figure, alt: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format="webp", dpi=DPI, facecolor="white", pil_kwargs={"quality": 80, "method": 6}
    )
    data = base64.b64encode(buffer.getvalue()).decode()
    style = "max-width: 100%; height: auto"
    return f'<img src="data:image/webp;base64,{data}" alt="{html.escape(alt)}" style="{style}">'
