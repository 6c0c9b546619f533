"""A law of scale through runs that one chooses, and a bet on the largest run before it is shown.

The runs are those of the training sweep `scaling`; frontier and fit are those of
`coursekit.analysis.laws`. The book has it in "Size, text and today's parts".
"""

from __future__ import annotations

import math
from typing import NamedTuple

from coursekit.analysis.laws import Frontier, PowerLaw, frontier, power_law
from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg
from coursekit.training.records import sweep_result

WARM = 128  # before this step the rate is still rising
BET = 3.5  # where the point begins
ROOM = (790, 763)  # pixels from top to bottom, on a wide screen and on a telephone


class Run(NamedTuple):
    """A run: its size, as blocks × width, and its points of compute and loss, look by look."""

    size: str
    points: list[tuple[float, float]]


def scaling_law() -> Live:
    """Return the runs, with the largest hidden."""
    sizes = list(dict.fromkeys(run.size for run in law_runs()))
    curves = [{"size": sizes.index(run.size), "points": run.points} for run in law_runs()]
    moved = {"taken": list(range(len(sizes) - 1)), "bet": BET, "shown": False}
    state = {"sizes": sizes, "curves": curves} | moved
    return Live("scaling_law", state, _still(), tuple(moved), room=ROOM)


def law_runs() -> list[Run]:
    """Return all runs of the sweep over sizes, the smallest size first."""
    runs = []
    for run in sweep_result("scaling", "sizes")["runs"]:
        metrics = run["metrics"]
        looks = {
            int(name.removeprefix("loss at ")): value
            for name, value in metrics.items()
            if name.startswith("loss at ")
        }
        points = [
            (step * metrics["flops of a step"], loss)
            for step, loss in looks.items()
            if step >= WARM
        ]
        runs.append(Run(run["name"].replace("x", "×"), points))
    return runs


def law_of(sizes: list[str]) -> tuple[Frontier, PowerLaw]:
    """Return the frontier of the runs of some sizes, and the law through it."""
    runs = [zip(*run.points, strict=True) for run in law_runs() if run.size in sizes]
    edge = frontier(*zip(*runs, strict=True))
    return edge, power_law(edge.compute, edge.loss)


def _still() -> str:
    """Return all runs and the law through the frontier of all but the largest."""

    runs = law_runs()
    sizes = list(dict.fromkeys(run.size for run in runs))
    edge, law = law_of(sizes[:-1])
    dear = runs[-1].points[-1][0]
    reached = " and ".join(f"{run.points[-1][1]:.2f}" for run in runs if run.size == sizes[-1])
    cheap = min(run.points[0][0] for run in runs)

    def place(compute: float, loss: float) -> str:
        x = 60 + 480 * math.log(compute / cheap) / math.log(dear / cheap)
        return f"{x:.1f} {300 - 480 * math.log(loss / 2.5):.1f}"

    paths = "".join(
        f'<path d="M{"L".join(place(*point) for point in run.points)}" '
        f'stroke="{"#E69F00" if run.size == sizes[-1] else "#0072B2"}"/>'
        for run in runs
    )
    ends = [place(at, law.at(at).item()) for at in (cheap, dear)]
    dots = "".join(
        '<circle cx="{}" cy="{}" r="3"/>'.format(*place(*point).split())
        for point in zip(edge.compute.tolist(), edge.loss.tolist(), strict=True)
    )
    ticks = "".join(
        f'<text x="48" y="{place(dear, loss).split()[1]}" text-anchor="end">{loss:g}</text>'
        for loss in (2.5, 3, 3.5, 4, 4.5)
    )
    powers = range(math.ceil(math.log10(cheap)), math.floor(math.log10(dear)) + 1)
    marks = "".join(
        f'<text x="{place(10.0**power, 3).split()[0]}" y="322" text-anchor="middle">10'
        f'<tspan dy="-6" font-size="11">{power}</tspan></text>'
        for power in powers
    )
    alt = (
        f"Loss over compute for runs of {', '.join(sizes)} (blocks × width), both axes "
        f"logarithmic, and a dashed law through the frontier of all sizes but {sizes[-1]}. It "
        f"expects {law.at(dear):.2f} at the end of the largest runs, which reached {reached}."
    )
    inside = (
        f'<g fill="none" stroke-width="1.6">{paths}'
        f'<path d="M{ends[0]}L{ends[1]}" stroke="#D55E00" stroke-width="2" '
        f'stroke-dasharray="6 4"/></g>{dots}{ticks}{marks}'
        '<text x="300" y="343" text-anchor="middle">FLOPs of the training</text>'
    )
    return svg(560, 352, alt, inside, size=15, widest="34rem", central=True)
