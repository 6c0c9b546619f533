"""The library of the chapter on kernels, to play with: one query, six keys, and a choice of kernel.

The reader moves the query and the keys. Next to them are the scores, the weights and the answer.
`figures.kernels.lookup` draws the same library for the page.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from coursekit.attention import attention_weights
from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg
from coursekit.kernels import gaussian

TITLES = ("Grammar", "Speech", "Translation", "Statistics", "Algebra", "Gardening")
KEYS = ((3.7, 0.4), (2.4, 1.3), (3.4, 2.6), (1.2, 3.2), (0.2, 3.8), (0.3, 0.3))  # topics, 0 to 4
VALUES = ((0.8, 1.0), (1.6, 2.5), (4.8, 0.9), (8.5, 5.0), (9.5, 6.2), (1.5, 6.0))  # metres
QUERY = (1.8, 2.2)
ROOM = (792, 1147)  # pixels from top to bottom, on a wide screen and on a telephone
LINKED = ("query", "books", "kernel", "bandwidth")

Point = tuple[float, float]


def soft_lookup() -> Live:
    """Return the library of the chapter, asked with the second of its two queries."""
    state = {
        "titles": list(TITLES),
        "books": [list(key) for key in KEYS],
        "values": [list(value) for value in VALUES],
        "query": list(QUERY),
        "kernel": "gaussian",
        "bandwidth": 1.0,
    }
    return Live("soft_lookup", state, _still(), linked=LINKED, room=ROOM)


def _still() -> str:
    """Return both planes as one figure, in the colours of the page."""
    query, keys, values = (torch.tensor(points) for points in ((QUERY,), KEYS, VALUES))
    shares = attention_weights(query, keys, kernel=gaussian)  # (1, S)
    place = (shares @ values)[0].tolist()
    told = ", ".join(f"{title} {share:.2f}" for title, share in zip(TITLES, shares[0].tolist()))
    alt = (
        f"A query at language {QUERY[0]}, mathematics {QUERY[1]}, among six books, and the room "
        f"with their locations. Weights: {told}. "
        f"The answer is at {place[0]:.1f}, {place[1]:.1f} metres."
    )
    shown = shares[0].tolist()
    plans = _plan(0, KEYS, shown, QUERY, (4, 4), ("query", "keys: language →, mathematics ↑"))
    plans += _plan(330, VALUES, shown, place, (10.5, 7), ("answer", "values: location in the room"))
    return svg(650, 305, alt, plans, size=17, middle=True)


def _plan(
    left: float,
    points: Sequence[Point],
    shares: Sequence[float],
    mark: Sequence[float],
    size: Point,
    names: tuple[str, str],
) -> str:
    """Return one plane, 320 wide: dots as large as the shares, what is marked, and a line below."""

    def at(point: Sequence[float]) -> tuple[float, float]:
        return left + 40 + 240 * point[0] / size[0], 240 - 200 * point[1] / size[1]

    parts = [
        f'<rect x="{left + 5}" y="5" width="310" height="265" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.4"/><text x="{left + 160}" y="294">{names[1]}</text>'
    ]
    for title, point, share in zip(TITLES, points, shares, strict=True):
        (x, y), radius = at(point), 4 + 15 * share**0.5
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="#56B4E9" '
            f'fill-opacity="0.65"/><text x="{x:.1f}" y="{y - radius - 5:.1f}">{title}</text>'
        )
    x, y = at(mark)
    parts.append(
        f'<path d="M{x:.1f} {y - 9:.1f} l9 9 l-9 9 l-9 -9 z" fill="#D55E00"/>'
        f'<text x="{x:.1f}" y="{y - 15:.1f}" font-weight="bold">{names[0]}</text>'
    )
    return "".join(parts)
