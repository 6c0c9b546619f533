"""What patches and the class token of our ViT look at, by block and head, running in the page.

The reader presses a patch to see what it looks at, or takes patches out and sees what becomes of
the answer. The ViT is that of the training `vit`. The book has it in "ViT".
"""

from __future__ import annotations

import base64
import io
from typing import Any

import torch
from torch import Tensor

from coursekit.analysis.capture import capture
from coursekit.data.fashion import NAMES
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import trained_model
from coursekit.figures.live.patch_grid import first_pictures, image_tag
from coursekit.figures.live.still import svg
from coursekit.training.pictures import as_input
from coursekit.training.records import trained

ROOM = (852, 1320)  # pixels from top to bottom, on a wide screen and on a telephone
SHOWN = 2  # of the ten pictures: the pullover
GREEN = (0, 158, 115)
CELL = 120


def patch_attention() -> Live:
    """Return the ViT at the pullover, with the look of the class token in its last block."""
    state = {
        "picture": SHOWN + 1,
        "block": 3,
        "head": 1,
        "query": 0,
        "hidden": [],
        "press": "ask",
        "shown": "looks",
        "kind": "",
    }
    return Live("patch_attention", state, _still(), tuple(state), trained_model("vit"), ROOM)


def seen_by_vit(picture: int, visible: list[int] | None = None) -> tuple[Tensor, list[Tensor]]:
    """Return shares of the kinds (V) and of each block the weights (H, 1 + K, 1 + K).

    `visible` are the patches that are read; without it, all are.
    """
    model: Any = trained("vit")
    options = {} if visible is None else {"visible": torch.tensor([visible], dtype=torch.long)}
    pixels = as_input(first_pictures().images[picture : picture + 1])
    with torch.no_grad():
        seen = capture(model, pixels, **options)
    shares = seen.output[0].softmax(dim=-1)
    return shares, [weights[0] for weights in seen.weights["stack.self_attention"]]


def _still() -> str:
    """Return the picture and the class token's look in the last block as one drawing."""
    shares, blocks = seen_by_vit(SHOWN)
    pixels = as_input(first_pictures().images[SHOWN : SHOWN + 1])[0, 0]
    side = 2 * CELL + 46
    names, maps, told = [], [], []
    for h, weights in enumerate(blocks[-1]):
        looks = weights[0, 1:]  # (N,), of the class token
        x, y = side + 30 + h % 2 * (CELL + 20), h // 2 * (CELL + 26)
        names.append(f'<text x="{x}" y="{y + 8}">head {h + 1}</text>')
        maps.append(_map(looks, x, y + 20))
        row, column = divmod(int(looks.argmax()), 7)
        told.append(f"head {h + 1} row {row + 1}, column {column + 1}")
    alt = (
        f"Test picture of a {NAMES[SHOWN]}, and what the class token gives to its patches in each "
        f"head of the last block. The model says {NAMES[int(shares.argmax())]}, "
        f"{float(shares.max()):.0%}. The patch that gets most: {'; '.join(told)}."
    )
    frames = 'fill="none" stroke="currentColor" style="image-rendering: pixelated"'
    inside = f"{image_tag(pixels, 0, 0, side)}{''.join(names)}<g {frames}>{''.join(maps)}</g>"
    return svg(side + 2 * CELL + 51, side + 1, alt, inside, size=14, widest="36rem", central=True)


def _map(looks: Tensor, x: float, y: float) -> str:
    """Return weights (N,) as a square of patches, the largest one in full colour."""
    from PIL import Image

    strength = (255 * looks / looks.max()).round().byte().reshape(7, 7, 1)
    colours = torch.tensor(GREEN).byte().expand(7, 7, 3)
    buffer = io.BytesIO()
    image = Image.fromarray(torch.cat([colours, strength], dim=2).numpy())
    image.save(buffer, "PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<image x="{x}" y="{y}" width="{CELL}" height="{CELL}" '
        f'href="data:image/png;base64,{data}"/><path d="M{x} {y}h{CELL}v{CELL}h-{CELL}z"/>'
    )
