"""Masks to play with: two rules joined, cells painted by hand, and the weights of fixed scores.

Blue cells are what the mask allows; an orange one says after how many layers its query depends on
its key. Beside them are the weights that the softmax makes of the same scores under this mask, so
that a row with nothing to attend to can be seen. The book explains it in "Masking".
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit import masks
from coursekit.attention import masked_softmax
from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg

LENGTH = 12  # T
PADDED = 3  # how many tokens are padding, as in attention_mask.js
ROOM = (808, 1493)  # pixels from top to bottom, on a wide screen and on a telephone
LINKED = (
    "first", "join", "second", "radius", "dilation", "globals", "painted", "layers", "empty",
)  # fmt: skip
CELL = 24


def attention_mask() -> Live:
    """Return a causal mask and padding at the start, whose first queries see nothing."""
    state = {
        "scores": fixed_scores().tolist(),
        "first": "causal",
        "join": "and",
        "second": "start",
        "radius": 1,
        "dilation": 1,
        "globals": 1,
        "painted": [],
        "layers": 1,
        "empty": "zeros",
    }
    return Live("attention_mask", state, _still(), linked=LINKED, room=ROOM)


def fixed_scores() -> Tensor:
    """Return the scores (T, T) of the figure: random, of variance 1, with one digit."""
    draw = torch.Generator().manual_seed(0)
    return (10 * torch.randn(LENGTH, LENGTH, generator=draw, dtype=torch.float64)).round() / 10


def _still() -> str:
    """Return the mask and the weights as one picture, in the colours of the page."""
    mask = masks.causal(LENGTH) & (torch.arange(LENGTH) >= PADDED)  # (T, T)
    weights = masked_softmax(fixed_scores(), mask)  # (T, T)
    alt = (
        f"A causal mask of {LENGTH} tokens, of which the first {PADDED} are padding, and the "
        f"weights of random scores under it. It allows {int(mask.sum())} of {LENGTH**2} pairs. "
        f"The first {PADDED} queries have nothing to attend to, and their weights are zeros."
    )
    plans = _plan(0, 0.75 * mask, "#56B4E9", "mask: queries ↓, keys →")
    plans += _plan(325, 0.6 * weights, "#E69F00", "weights: each row sums to 1 or to 0")
    return svg(620, 325, alt, plans, middle=True)


def _plan(left: float, shades: Tensor, colour: str, name: str) -> str:
    """Return one grid (T, T), as dark as its shades, with a line below."""
    end = CELL * LENGTH + 3
    lines = "".join(
        f"M{left + 3 + CELL * n} 3V{end}M{left + 3} {3 + CELL * n}H{left + end}"
        for n in range(LENGTH + 1)
    )
    cells = "".join(
        f'<rect x="{left + CELL * s + 3}" y="{CELL * t + 3}" width="{CELL}" height="{CELL}" '
        f'opacity="{shades[t, s]:.2f}"/>'
        for t, s in shades.nonzero().tolist()
    )
    return (
        f'<g fill="{colour}">{cells}</g>'
        f'<path d="{lines}" stroke="currentColor" stroke-opacity="0.3"/>'
        f'<text x="{left + end / 2:.0f}" y="{end + 23}">{name}</text>'
    )
