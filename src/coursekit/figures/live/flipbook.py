"""A slider that turns the pages of a figure, in a notebook and in the built book alike.

Every picture is drawn beforehand and turned by `flipbook.js` in the browser, so it works on a page
that has no Python behind it.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coursekit.figures.live.figure import Live

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 110  # enough for the width of a page; a flipbook carries all of its pictures


def flipbook(
    frames: Sequence[Figure], *, labels: Sequence[object], name: str, alt: str | Sequence[str]
) -> Live:
    """Return a slider called `name` that shows one of `frames` for each of `labels`.

    `alt` says what is seen: one text for each frame, or one for all, to which the label is added.
    Make it the last expression of a cell. Twenty frames weigh about as much as one photograph.
    """
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

    pictures = [_picture(frame) for frame in frames]
    width, height = (round(DPI * inches) for inches in frames[0].get_size_inches())
    still = (
        f'<img src="{pictures[0]}" alt="{html.escape(alts[0])}" width="{width}" height="{height}" '
        'style="max-width: 100%; height: auto">'
    )
    state = {"name": name, "labels": texts, "alts": alts, "pictures": pictures, "index": 0}
    return Live("flipbook", state, still)


def _picture(figure: Figure) -> str:
    """Return a drawing as the address of a picture."""
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format="webp", dpi=DPI, facecolor="white", pil_kwargs={"quality": 80, "method": 6}
    )
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"
