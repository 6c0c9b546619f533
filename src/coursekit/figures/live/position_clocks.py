"""Two places as the hands of clocks, to be turned: sinusoids, and a query and a key under rotary.

Whatever turns, the dot product is a function of the distance alone: the reader moves both places on
and the point on the curve stays. The book has it in "Positions".
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg
from coursekit.positions import sinusoidal

PLACES = (12, 7)  # i and j
WIDTH, WIDEST = 8, 16
LAST = 127
DRAWS = 4  # queries and keys to choose from
ROOM = (817, 1217)  # pixels from top to bottom, on a wide screen and on a telephone
LINKED = ("kind", "i", "j", "width", "draw")
COLOURS = ("#0072B2", "#D55E00")
RADIUS, STEP = 52, 155


def position_clocks() -> Live:
    """Return the sinusoids of two places, and some queries and keys that rotary can turn."""
    queries, keys = queries_and_keys()
    state = {
        "draws": {"queries": queries, "keys": keys},
        "kind": "sinusoidal",
        "i": PLACES[0],
        "j": PLACES[1],
        "width": WIDTH,
        "draw": 0,
        "bet": 0,
        "shown": False,
    }
    return Live("position_clocks", state, _still(), linked=LINKED, room=ROOM)


def queries_and_keys() -> list[list[list[float]]]:
    """Return some queries and some keys, 2 × (draws, widest), of numbers with two digits.

    Their pairs have random directions, and lengths that can be told apart in a small dial.
    """
    draw = torch.rand(2, DRAWS, WIDEST // 2, 2, generator=torch.Generator().manual_seed(0))
    lengths, angles = 0.6 + 0.9 * draw[..., 0], 2 * math.pi * draw[..., 1]
    pairs = torch.stack([lengths * angles.cos(), lengths * angles.sin()], dim=-1)
    return [[[round(x, 2) for x in row] for row in rows] for rows in pairs.flatten(-2).tolist()]


def _still() -> str:
    """Return the clocks of two places and the curve of their dot product as one picture."""
    hands = sinusoidal(torch.tensor(PLACES), WIDTH).view(2, -1, 2)  # (2, WIDTH / 2, 2)
    speeds = [10_000 ** (-2 * n / WIDTH) for n in range(WIDTH // 2)]
    curve = sinusoidal(LAST + 1, WIDTH) @ sinusoidal(1, WIDTH)[0]  # (LAST + 1,): distances from 0
    i, j = PLACES
    dot = float((hands[0] * hands[1]).sum())
    alt = (
        f"{len(speeds)} clocks of the speeds {', '.join(f'{one:g}' for one in speeds)} with a hand "
        f"for place {i} and one for place {j}. Below, the dot product of two places by their "
        f"distance: {float(curve[0]):g} at 0, {dot:.2f} at {i - j}, and up and down further away."
    )
    clocks = "".join(_clock(n, speed, hands[:, n]) for n, speed in enumerate(speeds))
    return svg(620, 350, alt, f"{clocks}{_curve(curve, i - j, dot)}", middle=True)


def _clock(n: int, speed: float, hands: Tensor) -> str:
    """Return the clock of one pair: `hands` (2, 2) are the sine and cosine of both places."""
    x, y = 75 + STEP * n, 62
    parts = [
        f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.6"/><text x="{x}" y="{y + RADIUS + 24}">ω = {speed:g}</text>'
    ]
    for (sin, cos), colour, dash in zip(hands.tolist(), COLOURS, ("none", "6 3")):
        to = x + 0.86 * RADIUS * sin, y - 0.86 * RADIUS * cos
        parts.append(
            f'<path d="M{x} {y}L{to[0]:.1f} {to[1]:.1f}" stroke="{colour}" stroke-width="3" '
            f'stroke-dasharray="{dash}"/><circle cx="{to[0]:.1f}" cy="{to[1]:.1f}" r="6" '
            f'fill="{colour}"/>'
        )
    return "".join(parts)


def _curve(curve: Tensor, distance: int, dot: float) -> str:
    """Return the dot product by distance (LAST + 1,), both ways, with one distance marked."""
    most = math.ceil(float(curve.max()))
    values = [*curve[1:].flip(0).tolist(), *curve.tolist()]

    def point(n: float, value: float) -> str:
        return f"{330 + 2.1 * n:.1f} {232 - 70 * value / most:.1f}"

    line = "L".join(point(n - LAST, value) for n, value in enumerate(values))
    cx, cy = point(distance, dot).split()
    ticks = "".join(
        f'<text x="{330 + 2.1 * n}" y="322">{n}</text>'.replace(">-", ">−")
        for n in (-100, -50, 0, 50, 100)
    )
    levels = "".join(
        f'<text x="38" y="{238 - 70 * share}">{share * most}</text>'.replace(">-", ">−")
        for share in (-1, 0, 1)
    )
    return (
        '<path d="M63 232H597M330 162V302" stroke="currentColor" stroke-opacity="0.4"/>'
        f'<path d="M{line}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
        f'<circle cx="{cx}" cy="{cy}" r="7" fill="{COLOURS[0]}"/>{ticks}{levels}'
        '<text x="330" y="344">dot product by distance i − j</text>'
    )
