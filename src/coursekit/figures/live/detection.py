"""Emoji to put on a photograph, and what the course's detector finds there, running in the page.

The detector is that of the training `detector`. The book has the figure in "DETR".
"""

from __future__ import annotations

import base64
import io
from html import escape
from typing import Any

import torch
from torch import Tensor

from coursekit.boxes.geometry import Objects
from coursekit.data.scenes import NAMES
from coursekit.figures.live.emoji_scene import PHOTO, SIDE, Item, composed, twelve
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import trained_model
from coursekit.training.records import trained

ROOM = (815, 1130)  # pixels from top to bottom, on a wide screen and on a telephone
LINKED = ("items", "photo", "from", "chosen", "query")
FROM = 50  # least share, in percent, of a box that is shown

START: tuple[Item, ...] = (("cat", 6, 8, 22), ("bus", 36, 4, 20), ("football", 40, 40, 16))


def detection() -> Live:
    """Return the detector at a photograph with three emoji."""
    state = {
        "start": [list(item) for item in START],
        "twelve": [list(item) for item in twelve()],
        "items": [list(item) for item in START],
        "photo": PHOTO,
        "from": FROM,
        "chosen": 0,
        "query": -1,
    }
    return Live("detection", state, _still(), LINKED, trained_model("detector"), ROOM)


def detect(scene: Tensor) -> Objects:
    """Scene (3, R, L), bytes -> the best kind of each query, its share and box in pixels."""
    model: Any = trained("detector")
    with torch.no_grad():
        predictions = model(scene[None] / 127.5 - 1)
    return predictions.objects([tuple(scene.shape[1:])])[0]


def _still() -> str:
    """Return the scene and the boxes that are shown at first as one drawing."""
    from PIL import Image

    scene = composed(START).image
    buffer = io.BytesIO()
    Image.fromarray(scene.permute(1, 2, 0).numpy()).save(buffer, "WEBP", quality=60)
    data = base64.b64encode(buffer.getvalue()).decode()
    parts = [
        f'<image width="{SIDE}" height="{SIDE}" href="data:image/webp;base64,{data}" '
        'style="image-rendering: pixelated"/>'
    ]
    told = []
    objects = detect(scene)
    assert objects.scores is not None
    for label, share, box in zip(objects.labels, objects.scores, objects.boxes, strict=True):
        if 100 * share < FROM:
            continue
        x, y, right, bottom = box.tolist()
        name = f"{NAMES[int(label)]} {float(share):.0%}"
        told.append(name)
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" height="{bottom - y:.1f}" '
            'fill="none" stroke="#E69F00" stroke-width="0.5"/>'
            f'<text x="{x:.1f}" y="{y - 0.7 if y > 4 else bottom + 2.8:.1f}" fill="#FFC94D" '
            'stroke="black" stroke-width="0.6" style="paint-order: stroke">'
            f"{name}</text>"
        )
    put = ", ".join(f"a {kind}" for kind, *_ in START)
    alt = (
        f"A photograph of a {PHOTO} with {put} pasted on it, and the boxes that the detector gives "
        f"a share of {FROM}% or more: {', '.join(told)}."
    )
    return (
        f'<svg viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="{escape(alt)}" font-size="3" '
        'font-weight="bold" style="display: block; margin: auto; max-width: 28rem; width: 100%">'
        f"{''.join(parts)}</svg>"
    )
