"""SGD, momentum, Adam and AdamW in a valley with noisy gradients, with or without a warm-up.

The valley is that of the chapter "Training practice", a hundred times as steep across as along; its
minimum is not at zero, so that weight decay does not pull towards it. The reader moves the start
and sets the optimiser; the page makes the steps of `walk`, which are PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.optim import SGD, Adam, AdamW

from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg
from coursekit.training.schedules import constant

CURVATURES = (1.0, 100.0)  # along the valley, across it
MINIMUM = (1.0, 0.5)
START = MINIMUM  # where every gradient is noise, and a warm-up spares the first steps
STEPS, DRAWS = 60, 32
SHOWN = 10  # steps taken at first; in the chapter's notebook the difference is gone by the last
SEED = 37
NOISE = 1.0  # standard deviation along; across it is ten times that
MOMENTUM = 0.9  # and Adam's β₁
ROOM = (939, 1484)  # pixels from top to bottom, on a wide screen and on a telephone
LINES = (("#0072B2", ""), ("#D55E00", ' stroke-dasharray="6 4"'))  # colour, dashes
REACH = ((0.2, 1.8), (-0.05, 1.05))  # of the still picture


class Walker(NamedTuple):
    """An optimiser and what is set of it; `beta2` and `corrected` are Adam's and AdamW's."""

    optimiser: str = "adam"  # or "sgd", "momentum", "adamw"
    rate: float = 0.2
    warmup: int = 0
    beta2: float = 0.999
    corrected: bool = True
    decay: float = 0.1  # AdamW's

    def linked(self) -> str:
        """Return it as the address of a page has it."""
        yes = "yes" if self.corrected else "no"
        return f"{self.optimiser} {self.rate:g} {self.warmup} {self.beta2:g} {yes} {self.decay:g}"


def valley_walks() -> Live:
    """Return Adam's first steps from the minimum, and the same with a warm-up kept beside them."""
    walker = Walker()
    moved = {
        **walker._asdict(),
        "corrected": "yes",
        "noise": NOISE,
        "draw": 1,
        "steps": SHOWN,
        "start": list(START),
        "kept": walker._replace(warmup=20).linked(),
    }
    state = {
        "curvatures": list(CURVATURES),
        "minimum": list(MINIMUM),
        "draws": (1000 * draws()).round().int().tolist(),  # thousandths
    }
    return Live("valley_walks", state | moved, _still(), linked=tuple(moved), room=ROOM)


def draws() -> Tensor:
    """Return the noise (DRAWS, STEPS, 2), standard normal; a draw is known by its number from 1."""
    generator = torch.Generator().manual_seed(SEED)
    numbers = torch.randn(DRAWS, STEPS, 2, generator=generator, dtype=torch.float64)
    return (1000 * numbers).round() / 1000


def walk(walker: Walker, *, start: Sequence[float], noise: Tensor) -> Tensor:
    """Return the places (steps + 1, 2) of the weights, with the steps of `torch.optim`.

    `noise` (steps, 2) is added to the gradient. PyTorch has no Adam without bias correction; a rate
    and an ε that undo it at each step are the same thing.
    """
    weights = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    curvatures, minimum = (torch.tensor(x, dtype=torch.float64) for x in (CURVATURES, MINIMUM))
    schedule = constant(warmup=walker.warmup)
    optimiser = _optimiser(walker, weights)
    group = optimiser.param_groups[0]
    places = [weights.detach().clone()]
    for step, disturbed in enumerate(noise, start=1):
        group["lr"] = walker.rate * schedule(step)
        if not walker.corrected and walker.optimiser in ("adam", "adamw"):
            root = math.sqrt(1 - walker.beta2**step)
            if walker.optimiser == "adamw":  # whose decay takes the rate as it is
                group["weight_decay"] = walker.decay * root / (1 - MOMENTUM**step)
            group["lr"] *= (1 - MOMENTUM**step) / root
            group["eps"] = 1e-8 / root
        optimiser.zero_grad()
        loss = 0.5 * (curvatures * (weights - minimum).square()).sum()
        loss.backward()
        assert weights.grad is not None
        weights.grad += disturbed
        optimiser.step()
        places.append(weights.detach().clone())
    return torch.stack(places)


def scaled(draw: Tensor, noise: float = NOISE) -> Tensor:
    """Noise (steps, 2) of standard deviation 1 -> as it is added, in the shape of the valley."""
    return noise * draw * torch.tensor(CURVATURES, dtype=torch.float64).sqrt()


def _optimiser(walker: Walker, weights: Tensor) -> torch.optim.Optimizer:
    betas = (MOMENTUM, walker.beta2)
    match walker.optimiser:
        case "sgd":
            return SGD([weights], lr=walker.rate)
        case "momentum":
            return SGD([weights], lr=walker.rate, momentum=MOMENTUM)
        case "adam":
            return Adam([weights], lr=walker.rate, betas=betas)
        case "adamw":
            return AdamW([weights], lr=walker.rate, betas=betas, weight_decay=walker.decay)
    raise ValueError(f"expected sgd, momentum, adam or adamw, found {walker.optimiser!r}")


def _still() -> str:
    """Return Adam's walk with and without a warm-up, and how long its steps across are."""
    walks = {
        name: walk(Walker(warmup=warmup), start=START, noise=scaled(draws()[0])[:SHOWN])
        for name, warmup in (("no warm-up", 0), ("20 steps of warm-up", 20))
    }
    lengths = {name: places.diff(dim=0)[:, 1].abs().tolist() for name, places in walks.items()}
    told = "; ".join(f"with {name} {steps[0]:.2f}" for name, steps in lengths.items())
    alt = (
        f"{SHOWN} steps of Adam from the minimum of a narrow valley with noisy gradients, and the "
        f"lengths of the steps across. The first step: {told}."
    )
    parts = [_map(list(walks.values())), _lengths(lengths)]
    return svg(640, 290, alt, "".join(parts))


def _map(walks: Sequence[Tensor]) -> str:
    (left, right), (_, high) = REACH
    unit = 330 / (right - left)

    def at(x: float, y: float) -> tuple[float, float]:
        return 2 + unit * (x - left), 10 + unit * (high - y)

    x, y = at(*MINIMUM)
    rings = "".join(
        f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{unit * r:.1f}" ry="{unit * r / 10:.1f}"/>'
        for r in (0.2, 0.4, 0.6)
    )
    parts = [
        f'<g fill="none" stroke="currentColor" stroke-opacity="0.35">{rings}</g>'
        f'<path d="M{x - 6:.1f} {y:.1f}h12m-6 -6v12" stroke="currentColor" stroke-width="2"/>'
    ]
    for places, (colour, dashes) in zip(walks, LINES, strict=True):
        points = "L".join(f"{a:.1f} {b:.1f}" for a, b in (at(*one) for one in places.tolist()))
        parts.append(
            f'<path d="M{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>'
        )
    a, b = at(*START)
    parts.append(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="5"/><text x="{a - 12:.1f}" y="{b - 12:.1f}" '
        'text-anchor="end">start</text><rect x="2" y="10" width="330" height="227" fill="none" '
        'stroke="currentColor" stroke-opacity="0.4"/>'
        '<text x="167" y="262" text-anchor="middle">two weights</text>'
    )
    return "".join(parts)


def _lengths(lengths: Mapping[str, Sequence[float]]) -> str:
    most = max(max(steps) for steps in lengths.values())
    parts = [
        '<path d="M385 20V237H635" fill="none" stroke="currentColor"/>'
        f'<text x="380" y="34" text-anchor="end">{most:.1f}</text>'
        '<text x="380" y="238" text-anchor="end">0</text>'
        f'<text x="510" y="262" text-anchor="middle">length across, by step ({SHOWN})</text>'
    ]
    for n, ((name, steps), (colour, dashes)) in enumerate(zip(lengths.items(), LINES, strict=True)):
        points = "L".join(
            f"{385 + 250 * (k + 1) / SHOWN:.1f} {237 - 208 * length / most:.1f}"
            for k, length in enumerate(steps)
        )
        parts.append(
            f'<path d="M{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>'
            f'<text x="630" y="{34 + 22 * n}" text-anchor="end" fill="{colour}">{name}</text>'
        )
    return "".join(parts)
