"""Laws of scale: a straight line on two logarithmic axes, and how sure we may be of its slope.

Kaplan et al. (2020) found that the loss of the best language model for each cost falls as a power
of that cost, over seven orders of magnitude. On logarithmic axes y = a·xᵇ is the line log y =
log a + b·log x, so that least squares find it. The line belongs to the best model at each cost, to
the lower envelope of all curves, and not to any one training. What a training costs is counted by
`coursekit.cost.training_flops`. The book explains it in "GPT".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from coursekit._base.checks import check_int, check_number

STARTS = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999)  # floors to begin from, in parts of the smallest y
TINY = 1e-12  # logarithms that differ by less are of equal losses


class PowerLaw(NamedTuple):
    """y = floor + factor · x^exponent; a loss that falls has an exponent below 0."""

    exponent: float
    factor: float
    floor: float = 0.0

    def at(self, x: Any) -> Tensor:
        """Return what the law says for each x."""
        return self.floor + self.factor * _numbers(x, "x") ** self.exponent


class Frontier(NamedTuple):
    """The points of the lower envelope by rising compute, and the number of each one's curve."""

    compute: Tensor  # (P,)
    loss: Tensor  # (P,)
    curve: Tensor  # (P,)


class Interval(NamedTuple):
    """The middle part of what was found in all draws."""

    low: float
    high: float


def power_law(x: Any, y: Any, *, floor: bool = False) -> PowerLaw:
    """Fit y = factor · x^exponent by least squares on the logarithms of x and y, (P,) each.

    With `floor` a constant is added, what no x gets rid of: from 0 to the smallest y, whichever
    leaves the smallest squares of log y. Three numbers follow few points anywhere: look at the fit.
    """
    x, y = _numbers(x, "x"), _numbers(y, "y")
    least = 4 if floor else 2
    if x.ndim != 1 or x.shape != y.shape or len(x) < least:
        raise ValueError(
            f"x and y must have one length, at least {least}, found {tuple(x.shape)} and "
            f"{tuple(y.shape)}"
        )
    if len(x.unique()) < 2:
        raise ValueError(f"x must have two different values or more, found {x[0]:g} alone")
    return _with_floor(x, y) if floor else _line(x, y)


def _line(x: Tensor, y: Tensor) -> PowerLaw:
    u, v = x.log(), y.log()
    exponent = ((u - u.mean()) * (v - v.mean())).sum() / (u - u.mean()).square().sum()
    return PowerLaw(exponent.item(), (v.mean() - exponent * u.mean()).exp().item())


def _with_floor(x: Tensor, y: Tensor) -> PowerLaw:
    """Move floor, factor and exponent together, from lines through the logarithms of y − floor.

    Such a line is a start and no fit: where y comes near the floor it follows the logarithm of a
    difference that is hardly there.
    """
    import numpy as np
    from scipy.optimize import least_squares  # here, for SciPy is slow to load

    u, v, lowest = x.log().numpy(), y.log().numpy(), y.min().item()

    def gaps(law: np.ndarray) -> np.ndarray:  # law: exponent, logarithm of the factor, floor
        with np.errstate(over="ignore"):  # a step too far is infinitely bad, and not taken
            return np.log(law[2] + np.exp(law[1] + law[0] * u)) - v

    def slopes(law: np.ndarray) -> np.ndarray:
        power = np.exp(law[1] + law[0] * u)
        return np.stack([power * u, power, np.ones_like(u)], axis=1) / (law[2] + power)[:, None]

    bounds = [(-np.inf, -np.inf, 0), (np.inf, np.inf, lowest)]
    exact = dict.fromkeys(("ftol", "xtol", "gtol"), 1e-15)
    fits = []
    for start in (share * lowest for share in STARTS):
        line = _line(x, y - start)
        first = [line.exponent, np.log(line.factor), start]
        fits.append(least_squares(gaps, first, slopes, bounds, x_scale="jac", **exact))
    exponent, factor, floor = min(fits, key=lambda fit: fit.cost).x.tolist()
    return PowerLaw(exponent, float(np.exp(factor)), floor)


def frontier(compute: Sequence[Any], loss: Sequence[Any]) -> Frontier:
    """Return the lower envelope of curves: the points that lie below all other curves.

    `compute` and `loss` have a list of numbers for each curve. Between its points a curve is
    a line on logarithmic axes; behind its end it keeps what it had reached; before its beginning
    there is nothing.
    """
    return _edge(*_compared(_curves(compute, loss)))


def bootstrap(
    compute: Sequence[Any],
    loss: Sequence[Any],
    kinds: Sequence[Hashable],
    *,
    draws: int = 1000,
    level: float = 0.95,
    generator: torch.Generator,
) -> Interval:
    """Return an interval for the exponent of the frontier's law.

    `kinds` says for each curve what it is a run of: runs of one kind differ in their seed alone.
    Each draw takes for every kind as many runs as it has, with replacement, and finds the frontier;
    then it takes as many of the frontier's kinds as there are, with replacement, each with all of
    its points, since the points of one curve do not err independently. A draw that is left with one
    kind is drawn again.
    """
    curves = _curves(compute, loss)
    if len(kinds) != len(curves):
        raise ValueError(f"kinds must name the kind of each curve, found {len(kinds)} names for "
                         f"{len(curves)} curves")  # fmt: skip
    check_int(draws=draws)
    check_number(level=level)
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, found {level}")
    compared = _compared(curves)
    groups: dict[Hashable, list[int]] = {}
    for number, kind in enumerate(kinds):
        groups.setdefault(kind, []).append(number)

    def some(of: Sequence[Any]) -> list[Any]:
        chosen = torch.randint(len(of), (len(of),), generator=generator, device=generator.device)
        return [of[place] for place in chosen.tolist()]

    estimates: list[float] = []
    for _ in range(100 * draws):
        edge = _edge(*compared, taken=[run for runs in groups.values() for run in some(runs)])
        points: dict[Hashable, list[tuple[float, float]]] = {}
        for x, y, number in zip(*(part.tolist() for part in edge)):
            points.setdefault(kinds[number], []).append((x, y))
        if len(points) < 2:
            break
        sample = some(list(points))
        if len(set(sample)) > 1:
            x, y = zip(*(point for kind in sample for point in points[kind]))
            estimates.append(power_law(x, y).exponent)
        if len(estimates) == draws:
            break
    if len(estimates) < draws:
        raise ValueError("the frontier must have curves of two kinds or more, found those of one")
    tail = (1 - level) / 2
    ends = torch.tensor([tail, 1 - tail], dtype=torch.float64)
    low, high = torch.tensor(estimates, dtype=torch.float64).quantile(ends).tolist()
    return Interval(low, high)


def _compared(curves: Sequence[tuple[Tensor, Tensor]]) -> tuple[Frontier, Tensor]:
    """Return all points of M curves, P in all, and beside which curves each may be, (P, M).

    Of equal ones the last is on the frontier.
    """
    beside = []
    for number, (x, y) in enumerate(curves):
        columns = []
        for other, curve in enumerate(curves):
            if other == number:
                columns.append(y < torch.cat([y.new_tensor([torch.inf]), y.cummin(0).values[:-1]]))
            else:
                above = _log_level(*curve, x) - y.log()
                columns.append(above > TINY if other > number else above > -TINY)
        beside.append(torch.stack(columns, dim=1))
    sizes = torch.tensor([len(x) for x, _ in curves], device="cpu")
    x, y = (torch.cat(part) for part in zip(*curves))
    curve_of = torch.arange(len(curves), device="cpu").repeat_interleave(sizes)  # (P,)
    return Frontier(x, y, curve_of), torch.cat(beside)


def _edge(points: Frontier, beside: Tensor, taken: Sequence[int] | None = None) -> Frontier:
    """Return those points that may be beside all curves that are `taken`, by rising compute."""
    runs = list(range(beside.shape[1])) if taken is None else sorted(set(taken))
    keep = beside[:, runs].all(dim=1) & torch.isin(points.curve, torch.tensor(runs))
    order = points.compute[keep].argsort()
    return Frontier(*(part[keep][order] for part in points))


def _log_level(x: Tensor, y: Tensor, at: Tensor) -> Tensor:
    """Return the logarithm of the best that a curve has reached at each place of `at`."""
    u, v, w = x.log(), y.cummin(0).values.log(), at.log()
    if len(x) == 1:
        return torch.where(at < x[0], torch.inf, v[0])
    right = torch.searchsorted(u, w, right=True).clamp(1, len(u) - 1)
    part = ((w - u[right - 1]) / (u[right] - u[right - 1])).clamp(0, 1)
    return torch.where(at < x[0], torch.inf, torch.lerp(v[right - 1], v[right], part))


def _curves(compute: Sequence[Any], loss: Sequence[Any]) -> list[tuple[Tensor, Tensor]]:
    if len(compute) != len(loss) or not len(compute):
        raise ValueError(
            f"compute and loss must have a list for each curve, at least one, found {len(compute)} "
            f"and {len(loss)}"
        )
    curves = []
    for number, (x, y) in enumerate(zip(compute, loss)):
        x, y = _numbers(x, f"compute[{number}]"), _numbers(y, f"loss[{number}]")
        if x.ndim != 1 or x.shape != y.shape or not len(x):
            raise ValueError(
                f"curve {number} needs one loss for each compute, found {tuple(x.shape)} and "
                f"{tuple(y.shape)}"
            )
        if not (x[1:] > x[:-1]).all():
            raise ValueError(f"the compute of curve {number} must rise from point to point")
        curves.append((x, y))
    return curves


def _numbers(values: Any, name: str) -> Tensor:
    numbers = torch.as_tensor(values, dtype=torch.float64, device="cpu")
    if not (numbers.isfinite() & (numbers > 0)).all():
        wrong = numbers[~(numbers.isfinite() & (numbers > 0))].flatten()[0].item()
        raise ValueError(f"{name} must hold numbers above 0, since logarithms are taken, "
                         f"found {wrong:g}")  # fmt: skip
    return numbers
