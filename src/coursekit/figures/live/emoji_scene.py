"""Emoji on photographs, put there as in the scenes that the course's detector was trained on.

The drawings, sizes and resampling are those of its training, the photographs it has not met.
`emoji_scene.js` makes the same scenes in the page.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache

import numpy as np

from coursekit.data.scenes import NAMES, Placed, Scene, Scenes, drawing, scenes, sprite

SIDE = 64  # pixels of a scene, as in the training
PHOTOS = {"rocket": 0, "writing": 2, "coins": 6, "flower": 10, "tissue": 11}  # test scenes
PHOTO = "rocket"

Item = tuple[str, int, int, int]  # kind, left, top, longest side of the drawing in pixels


def scene_state() -> dict[str, dict[str, str]]:
    """Return drawings and photographs as a module finds them in its state."""
    return {
        "emoji": {kind: _text(np.array(drawing(kind))) for kind in NAMES},
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
