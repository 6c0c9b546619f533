"""Gradients of an untrained stack by layer, for a chosen placement of the norm and depth.

Next to them is the size of the tokens on the residual stream, which explains them. The values are
those of the chapter "Blocks", measured as its notebook does; `scripts/make_norm_placement.py`
writes them to a file, since it takes some ten seconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from typing import get_args

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from coursekit.analysis.depth import gradient_norms
from coursekit.blocks import Norm, Stack
from coursekit.data.cards import FILES
from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg

MEASURED = FILES / "norm_placement.json"
DEPTHS = (2, 4, 8, 12, 16, 32)
DRAWS, WIDTH, HEADS, CLASSES, BATCH, LENGTH = 4, 64, 4, 32, 4, 8
MATRICES = {"W1": "feed_forward.expand.weight", "W2": "feed_forward.contract.weight"}
DEPTH, MATRIX = 12, "W2"  # what is shown first
ROOM = (650, 1071)  # pixels from top to bottom, on a wide screen and on a telephone
COLOURS = {"post": ("Post-LN", "#D55E00"), "pre": ("Pre-LN", "#0072B2")}  # of the still picture

Values = dict[str, list[float]]  # of each matrix its gradient norms (L,); "size" (L + 1,)


def norm_placement() -> Live:
    """Return all placements and depths, at Pre-LN with Post-LN kept for comparison."""
    state = {
        "measured": measured(),
        "placement": "pre",
        "depth": DEPTH,
        "matrix": MATRIX,
        "kept": f"post {DEPTH}",
    }
    linked = ("placement", "depth", "matrix", "kept")
    return Live("norm_placement", state, _still(), linked=linked, room=ROOM)


@cache
def measured() -> dict[str, dict[str, Values]]:
    """Return the values of the file: measured()[placement][depth] are what `measure` returns."""
    return json.loads(MEASURED.read_text(encoding="utf-8"))


def measure_all() -> dict[str, dict[str, Values]]:
    """Measure every placement at every depth."""
    return {norm: {str(depth): measure(norm, depth) for depth in DEPTHS} for norm in get_args(Norm)}


def measure(norm: Norm, depth: int) -> Values:
    """Return the gradient norms of both matrices by layer, and the size of the residual stream.

    The stack is fresh, with Xavier weights, and predicts random labels; each value is the mean of
    some draws, with four digits. The size is the root of the mean square of all numbers.
    """
    sums: dict[str, torch.Tensor] = {}
    for seed in range(DRAWS):
        torch.manual_seed(seed)
        stack = Stack(depth=depth, width=WIDTH, heads=HEADS, norm=norm)
        _xavier(stack)
        head = nn.Linear(WIDTH, CLASSES)
        _xavier(head)
        x, labels = torch.randn(BATCH, LENGTH, WIDTH), torch.randint(CLASSES, (BATCH * LENGTH,))
        cross_entropy(head(stack(x)).flatten(0, 1), labels).backward()
        norms = {name: gradient_norms(stack, parameter) for name, parameter in MATRICES.items()}
        with torch.no_grad():
            norms["size"] = torch.stack([h.square().mean().sqrt() for h in stack.states(x)])
        for name, values in norms.items():
            sums[name] = sums.get(name, 0) + values / DRAWS
    return {name: [float(f"{x:.4g}") for x in values.tolist()] for name, values in sums.items()}


def _xavier(module: nn.Module) -> None:
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)


def _still() -> str:
    """Return Post-LN and Pre-LN at one depth: gradients on the left, sizes on the right."""
    values = {norm: measured()[norm][str(DEPTH)] for norm in COLOURS}
    told = [
        f"with {name} from {values[norm][MATRIX][0]:.2f} in the first layer to "
        f"{values[norm][MATRIX][-1]:.2f} in the last, the size of the tokens to "
        f"{values[norm]['size'][-1]:.1f}"
        for norm, (name, _) in COLOURS.items()
    ]
    alt = f"Gradient norms of W₂ in an untrained stack of {DEPTH} layers go {'; '.join(told)}."
    left = _panel(40, "gradient norm of W₂, by layer", {n: v[MATRIX] for n, v in values.items()})
    right = _panel(360, "size of the tokens, by layer", {n: v["size"] for n, v in values.items()})
    return svg(620, 290, alt, f"{left}{right}")


def _panel(x: int, title: str, curves: dict[str, Sequence[float]]) -> str:
    """Return lines over the layers, each with its name at its end; heights from 0."""
    most = math.ceil(max(max(values) for values in curves.values()))
    parts = [
        f'<text x="{x + 110}" y="282" text-anchor="middle">{title}</text>'
        f'<path d="M{x} 30V250H{x + 225}" fill="none" stroke="currentColor"/>'
        f'<text x="{x - 8}" y="40" text-anchor="end">{most}</text>'
        f'<text x="{x - 8}" y="252" text-anchor="end">0</text>'
    ]
    for norm, values in curves.items():
        name, colour = COLOURS[norm]
        first = DEPTH + 1 - len(values)  # sizes begin before the first layer
        points = [
            (x + 8 + 210 * (n + first) / DEPTH, 250 - 215 * value / most)
            for n, value in enumerate(values)
        ]
        line = "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        dots = "".join(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4"/>' for px, py in points)
        parts.append(
            f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<g fill="{colour}">{dots}</g><text x="{points[-1][0]:.1f}" '
            f'y="{min(py for _, py in points[-4:]) - 12:.1f}" text-anchor="end">{name}</text>'
        )
    return "".join(parts)
