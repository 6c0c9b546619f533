"""The test pictures that figures show in the page, and grey pictures within a drawing.

`patch_grid.js` draws the same pictures in the page. A picture is bytes (28, 28), or a tensor of
pixels from −1 (black) to 1.
"""

from __future__ import annotations

import base64
import io
from functools import cache
from typing import Any

import torch
from torch import Tensor

from coursekit.data.fashion import NAMES, fashion
from coursekit.data.images import Images
from coursekit.figures.mae import HIDDEN

PATCH = 4  # pixels a side


@cache
def first_pictures() -> Images:
    """Return the first test picture of each kind."""
    test = fashion("test")
    kinds = range(len(NAMES))
    return test.take([int((test.labels == kind).nonzero()[0]) for kind in kinds])


def picture_state() -> dict[str, Any]:
    """Return these pictures, their names and the mean of all training pictures for the state."""
    pictures = [_in_base64(one) for one in first_pictures().images]
    return {"pictures": pictures, "names": list(NAMES), "mean": _in_base64(mean_picture())}


@cache
def mean_picture() -> Tensor:
    """Return the mean of all training pictures, rounded to bytes (28, 28)."""
    return fashion("train").images.float().mean(dim=0).round().byte()


def _in_base64(picture: Tensor) -> str:
    """Return bytes (28, 28) as text."""
    return base64.b64encode(picture.numpy().tobytes()).decode()


def image_tag(pixels: Tensor, x: float, y: float, side: float) -> str:
    """Return a picture (28, 28) as part of an SVG; pixels that are NaN are hidden."""
    from PIL import Image

    hidden = torch.tensor([int(HIDDEN[n : n + 2], 16) for n in (1, 3, 5)]).byte()
    grey = ((pixels.clamp(-1, 1) + 1) * 127.5).round().nan_to_num().byte()  # (28, 28)
    if pixels.isnan().any():
        grey = torch.where(pixels.isnan()[..., None], hidden, grey[..., None])  # (28, 28, 3)
    buffer = io.BytesIO()
    Image.fromarray(grey.numpy()).save(buffer, "PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<image x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}" '
        f'href="data:image/png;base64,{data}" style="image-rendering: pixelated"/>'
    )
