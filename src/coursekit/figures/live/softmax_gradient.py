"""A row of scores to move: its weights at a width, a factor and a temperature, and their gradient.

The scores are the five of the chapter "Scaling", of variance about 1. At width d their dot products
are √d times as large, which the factor takes away again.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg

SCORES = (1.2, 0.7, 0.1, -0.4, -1.3)
WIDTH = 64
ROOM = (799, 1322)  # pixels from top to bottom, on a wide screen and on a telephone
LINKED = ("scores", "width", "factor", "temperature")
COLUMN, CELL = 56, 52


def softmax_gradient() -> Live:
    """Return the chapter's five scores at width 64, divided by the root of it."""
    state = {
        "start": list(SCORES),
        "scores": list(SCORES),
        "width": WIDTH,
        "factor": "root",
        "temperature": 1,
        "key": 0,
        "bet": 0.4,
        "shown": False,
    }
    return Live("softmax_gradient", state, _still(), linked=LINKED, room=ROOM)


def _still() -> str:
    """Return the weights and their matrix J as one picture, in the colours of the page."""
    p = torch.tensor(SCORES).softmax(dim=-1)  # (S,)
    jacobian = p.diag() - p[:, None] * p  # (S, S)
    told = ", ".join(f"{one:.2f}" for one in p.tolist())
    alt = (
        f"The weights of five scores as bars, {told}, and the matrix of how each weight changes "
        "with each score: positive on the diagonal, negative elsewhere, of norm "
        f"{jacobian.norm():.2f}."
    )
    return svg(620, 320, alt, f"{_bars(p)}{_matrix(330, jacobian)}", middle=True)


def _bars(p: Tensor) -> str:
    """Return the weights as bars on a line, with their values."""
    parts = ['<path d="M10 262H292" stroke="currentColor"/>']
    for s, weight in enumerate(p.tolist()):
        x, high = 10 + COLUMN * (s + 0.5), 440 * weight
        parts.append(
            f'<rect x="{x - 16:.0f}" y="{262 - high:.0f}" width="32" height="{high:.0f}" '
            f'fill="#E69F00"/><text x="{x:.0f}" y="{254 - high:.0f}">{weight:.2f}</text>'
        )
    return "".join(parts) + '<text x="151" y="306">weights p of five scores</text>'


def _matrix(left: int, jacobian: Tensor) -> str:
    """Return a matrix (S, S) as cells in two colours, with its values."""
    parts = []
    for i, row in enumerate(jacobian.tolist()):
        for j, value in enumerate(row):
            x, y, colour = left + CELL * j, 10 + CELL * i, "#D55E00" if value < 0 else "#56B4E9"
            text = f"{value:z.2f}".replace("-", "−")
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{colour}" '
                f'fill-opacity="{min(2.4 * abs(value), 0.6):.2f}" stroke="currentColor" '
                f'stroke-opacity="0.3"/><text x="{x + CELL // 2}" y="{y + 31}">{text}</text>'
            )
    middle = left + CELL * len(jacobian) // 2
    return "".join(parts) + f'<text x="{middle}" y="306">J: weights ↓, scores →</text>'
