"""Boxes to move: what a pair costs, and two rules for which guess answers for which object.

The example is that of the chapter "DETR": two cats, a dog, and the guesses of five queries.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from coursekit.boxes.geometry import to_corners
from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg

OBJECTS = ("left cat", "right cat", "dog")
CLASSES = ("cat", "dog", "nothing")
LABELS = (0, 0, 1)
TRUTH = ((0.18, 0.42, 0.18, 0.32), (0.46, 0.42, 0.18, 0.32), (0.80, 0.45, 0.25, 0.40))
GUESSES = (
    (0.33, 0.50, 0.18, 0.32),
    (0.60, 0.55, 0.20, 0.32),
    (0.77, 0.50, 0.26, 0.36),
    (0.70, 0.24, 0.20, 0.26),
    (0.10, 0.85, 0.12, 0.14),
)
SHARES = (
    (0.90, 0.05, 0.05),
    (0.70, 0.10, 0.20),
    (0.05, 0.80, 0.15),
    (0.30, 0.50, 0.20),
    (0.05, 0.05, 0.90),
)
GREEDY, BEST = (1, 0, 2), (0, 1, 2)  # what either rule chooses, a guess for each object
ROOM = (628, 998)  # pixels from top to bottom, on a wide screen and on a telephone
LINKED = ("objects", "guesses", "rule", "pair")
WIDE, HIGH = 310, 270  # of one panel of the still picture

Box = Sequence[float]


def box_matching() -> Live:
    """Return the chapter's example, with the pairs of the greedy rule."""
    objects, guesses = ([list(box) for box in boxes] for boxes in (TRUTH, GUESSES))
    state = {
        "names": {"objects": list(OBJECTS), "guesses": ["1", "2", "3", "4", "5"]},
        "classes": list(CLASSES),
        "labels": list(LABELS),
        "shares": [list(row) for row in SHARES],
        "start": {"objects": objects, "guesses": guesses},
        "objects": objects,
        "guesses": guesses,
        "rule": "greedy",
        "pair": [0, 0],
    }
    return Live("box_matching", state, _still(), linked=LINKED, room=ROOM)


def _still() -> str:
    """Return what both rules choose as one picture, in the colours of the page."""

    def pairs(chosen: Sequence[int]) -> str:
        return ", ".join(
            f"{name} has guess {guess + 1}" for name, guess in zip(OBJECTS, chosen, strict=True)
        )

    alt = (
        "Two cats and a dog, with boxes, and five guesses, twice. Cheapest pair first: "
        f"{pairs(GREEDY)}. Smallest sum: {pairs(BEST)}."
    )
    panels = _panel(0, GREEDY, "cheapest pair first") + _panel(330, BEST, "smallest sum")
    return svg(650, 305, alt, panels)


def _panel(left: int, chosen: Sequence[int], name: str) -> str:
    """Return all boxes, lines between an object and its guess, and a line of text below."""

    def place(box: Box) -> tuple[float, float]:
        return left + 5 + WIDE * box[0], 5 + HIGH * box[1]

    parts = [
        f'<rect x="{left + 5}" y="5" width="{WIDE}" height="{HIGH}" fill="none" '
        'stroke="currentColor" stroke-opacity="0.4"/>'
    ]
    blue = 'fill="#56B4E9" fill-opacity="0.35" stroke="#0072B2" stroke-width="2"'
    dashed = 'fill="none" stroke="#D55E00" stroke-width="2" stroke-dasharray="6 3"'
    for look, boxes in ((blue, TRUTH), (dashed, GUESSES)):
        for n, box in enumerate(boxes, 1):
            x, y = place(to_corners(torch.tensor(box)).tolist())
            wide, high = WIDE * box[2], HIGH * box[3]
            parts.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{high:.0f}" ')
            parts.append(f"{look}/>")
            if look == dashed:
                parts.append(f'<text x="{x + 4:.0f}" y="{y + high - 5:.0f}">{n}</text>')
    for box, guess in zip(TRUTH, chosen, strict=True):
        (x, y), (right, low) = place(box), place(GUESSES[guess])
        parts.append(f'<path d="M{x:.0f} {y:.0f}L{right:.0f} {low:.0f}" stroke="currentColor" ')
        parts.append('stroke-width="2"/>')
    middle = left + 5 + WIDE / 2
    return "".join(parts) + f'<text x="{middle:.0f}" y="298" text-anchor="middle">{name}</text>'
