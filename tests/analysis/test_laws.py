"""Laws of scale: what is known beforehand comes out, and the frontier is no single curve."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares

from coursekit.analysis.laws import PowerLaw, bootstrap, frontier, power_law

COMPUTE = torch.logspace(6, 12, 13, dtype=torch.float64)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def curves(sizes=(0, 1, 2, 3), seeds=2, noise=0.0, spread=0.25):
    """Curves whose envelope is about 10·C^-0.1: size k is best at a compute of about 100ᵏ⁺³."""
    draw, kinds, compute, loss = seeded(1), [], [], []
    for size in sizes:
        middle = 6.0 + 2 * size
        x = torch.linspace(middle - 2, middle + 2, 17, dtype=torch.float64)
        for _ in range(seeds):
            y = 1 - 0.1 * x + spread * 0.1 * (x - middle) ** 2
            y = y + noise * torch.randn((), generator=draw, dtype=torch.float64)
            kinds.append(size)
            compute.append((10**x).tolist())
            loss.append((10**y).tolist())
    return compute, loss, kinds


# --- the line ---


@given(st.floats(-2, 2), st.floats(1e-3, 1e3))
def test_a_power_is_found(exponent, factor):
    found = power_law(COMPUTE, factor * COMPUTE**exponent)
    assert found.exponent == pytest.approx(exponent, abs=1e-9)
    assert found.factor == pytest.approx(factor, rel=1e-7)
    assert found.floor == 0


def test_two_points_by_hand():
    found = power_law([1, 100], [50.0, 5.0])  # a tenth for a hundred times as much
    assert found == pytest.approx((-0.5, 50.0, 0.0))
    assert found.at([10_000]).tolist() == pytest.approx([0.5])


def test_squares_are_those_of_logarithms():
    """Beside 1, 1, 8 at 1, 2, 4 the best line has slope 1.5 on logarithmic axes, not 2.5."""
    found = power_law([1, 2, 4], [1, 1, 8])
    assert found.exponent == pytest.approx(1.5)
    assert found.factor == pytest.approx(2**-0.5)


@pytest.mark.parametrize("floor", [0.0, 0.3, 1.7])
def test_a_floor_is_found(floor):
    truth = PowerLaw(-0.2, 40.0, floor)
    found = power_law(COMPUTE, truth.at(COMPUTE), floor=True)
    assert found.floor == pytest.approx(floor, abs=2e-3)
    assert found.exponent == pytest.approx(-0.2, abs=1e-3)


@pytest.mark.parametrize("exponent", [-1.5, -0.93, -0.5, -0.2, -0.1, -0.05])
def test_exact_points_give_back_their_law_wherever_its_tail_ends(exponent):
    """The line through log(y - floor) alone has a valley of its own at another floor."""
    x = torch.logspace(0, 6, 12, dtype=torch.float64)
    for factor in (0.147, 1.0, 10.0, 40.0):
        for floor in (0.0, 0.01, 0.3, 1.788, 20.0):
            truth = PowerLaw(exponent, factor, floor)
            assert power_law(x, truth.at(x), floor=True) == pytest.approx(truth, rel=1e-3, abs=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(8))
def test_no_other_floor_leaves_smaller_squares(seed):
    """Beside SciPy's fit of the other two numbers, at 200 floors each."""
    draw = seeded(seed)
    exponent, factor, floor = (torch.rand(3, generator=draw).double() + 0.05).tolist()
    noise = 0.02 * torch.randn(13, generator=draw, dtype=torch.float64)
    x = torch.logspace(0, 4, 13, dtype=torch.float64)
    y = PowerLaw(-exponent, 5 * factor, floor).at(x) * noise.exp()
    found = power_law(x, y, floor=True)
    squares = (found.at(x).log() - y.log()).square().sum().item()
    for other in np.linspace(0, y.min().item(), 200):

        def gaps(law, other=other):
            return np.log(other + np.exp(law[1] + law[0] * x.log().numpy())) - y.log().numpy()

        assert (
            squares <= 2 * least_squares(gaps, [found.exponent, np.log(found.factor)]).cost + 1e-9
        )


def test_a_list_is_read_in_double_precision():
    assert power_law([1e40, 1e41], [2.0, 1.0]).exponent == pytest.approx(-np.log10(2))
    assert frontier([[16777216.0, 16777217.0]], [[2.0, 1.0]]).loss.tolist() == [2, 1]


def test_without_a_floor_the_exponent_is_too_flat():
    bent = PowerLaw(-0.2, 40.0, 1.7).at(COMPUTE)
    assert -0.2 < power_law(COMPUTE, bent).exponent < -0.05


# --- the frontier ---


def test_the_frontier_by_hand():
    small, large = ([1.0, 2.0, 4.0, 8.0], [8.0, 5.0, 4.0, 4.0]), ([2.0, 4.0, 8.0], [9.0, 4.5, 2.0])
    found = frontier(*zip(small, large))
    assert found.compute.tolist() == [1, 2, 4, 8]
    assert found.loss.tolist() == [8, 5, 4, 2]
    assert found.curve.tolist() == [0, 0, 0, 1]


def test_a_point_above_the_line_between_two_others_is_not_on_it():
    """At 3 nothing lower was measured, but the first curve passes below."""
    found = frontier([[2.0, 4.0], [3.0]], [[4.0, 2.0], [3.0]])
    assert found.compute.tolist() == [2, 4]


def test_a_curve_that_ended_keeps_what_it_reached():
    found = frontier([[1.0], [2.0, 3.0]], [[5.0], [6.0, 4.0]])
    assert found.loss.tolist() == [5, 4]


def test_a_single_curve_is_its_own_frontier_where_it_falls():
    found = frontier([[1, 2, 3, 4]], [[4.0, 2.0, 3.0, 1.0]])
    assert found.loss.tolist() == [4, 2, 1]


def test_equal_curves_count_once():
    compute, loss, _ = curves(sizes=(0,), seeds=1)
    once, twice = frontier(compute, loss), frontier(compute * 2, loss * 2)
    assert twice.loss.tolist() == once.loss.tolist()


@given(st.integers(0, 10**6))
def test_the_frontier_is_where_no_curve_passes_below(seed):
    draw = seeded(seed)
    compute = [(torch.rand(5, generator=draw) * 9 + 1).sort().values.double() for _ in range(3)]
    loss = [torch.rand(5, generator=draw).double() + 0.1 for _ in range(3)]
    found, expected = frontier(compute, loss), []
    for number, (x, y) in enumerate(zip(compute, loss)):
        for place, (a, b) in enumerate(zip(x.tolist(), y.tolist())):
            levels = [
                np.interp(np.log(a), u.log(), v.log().cummin(0).values, left=np.inf)
                for other, (u, v) in enumerate(zip(compute, loss))
                if other != number
            ]
            if np.log(b) < min(levels) and (y[:place] > b).all():
                expected.append((a, b))
    assert list(zip(found.compute.tolist(), found.loss.tolist())) == sorted(expected)


def test_the_law_of_the_frontier_is_steeper_than_no_curve_and_known():
    compute, loss, _ = curves()
    found = frontier(compute, loss)
    assert set(found.curve.tolist()) > {1, 3}
    assert power_law(found.compute, found.loss).exponent == pytest.approx(-0.1, abs=0.01)


# --- the interval ---


def test_the_interval_holds_the_exponent_and_repeats_itself():
    compute, loss, kinds = curves(noise=0.01)
    found = bootstrap(compute, loss, kinds, draws=200, generator=seeded())
    assert found == bootstrap(compute, loss, kinds, draws=200, generator=seeded())
    assert found != bootstrap(compute, loss, kinds, draws=200, generator=seeded(7))
    edge = frontier(compute, loss)
    assert found.low < power_law(edge.compute, edge.loss).exponent < found.high < 0


def test_the_interval_is_wider_where_seeds_differ_more_and_for_a_higher_level():
    width = {}
    for noise in (0.001, 0.03):
        given = curves(noise=noise, spread=0.02)
        low, high = bootstrap(*given, draws=200, generator=seeded())
        width[noise] = high - low
    assert width[0.03] > 2 * width[0.001]
    given = curves(noise=0.01)
    narrow = bootstrap(*given, draws=200, level=0.5, generator=seeded())
    wide = bootstrap(*given, draws=200, generator=seeded())
    assert wide.low < narrow.low < narrow.high < wide.high


def test_points_of_one_kind_are_drawn_together():
    """Two kinds, each on a line of its own: a draw has both with all their points, or is void."""
    compute, loss, kinds = curves(sizes=(0, 2), seeds=1)
    found = bootstrap(compute, loss, kinds, draws=50, generator=seeded())
    assert found.low == found.high


# --- what is refused ---


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1, 2], [1], r"one length, at least 2, found \(2,\) and \(1,\)"),
        ([1], [1], "at least 2"),
        ([1, 0], [1, 2], "x must hold numbers above 0.*found 0"),
        ([1, 2], [1, float("nan")], "y must hold numbers above 0.*found nan"),
        ([3, 3], [1, 2], "two different values or more, found 3 alone"),
    ],
)
def test_what_has_no_line_is_refused(x, y, said):
    with pytest.raises(ValueError, match=said):
        power_law(x, y)


def test_a_floor_needs_four_points():
    with pytest.raises(ValueError, match="at least 4"):
        power_law([1, 2, 3], [3, 2, 1], floor=True)


@pytest.mark.parametrize(
    ("compute", "loss", "said"),
    [
        ([], [], "at least one, found 0 and 0"),
        ([[1]], [[1], [2]], "found 1 and 2"),
        ([[1, 2]], [[1]], r"curve 0 needs one loss for each compute, found \(2,\) and \(1,\)"),
        ([[1], [2, 2]], [[1], [2, 1]], "the compute of curve 1 must rise"),
        ([[1]], [[-1]], r"loss\[0\] must hold numbers above 0"),
    ],
)
def test_what_are_no_curves_is_refused(compute, loss, said):
    with pytest.raises(ValueError, match=said):
        frontier(compute, loss)


def test_an_interval_that_cannot_be_had_is_refused():
    compute, loss, kinds = curves(seeds=1)
    with pytest.raises(ValueError, match="found 3 names for 4 curves"):
        bootstrap(compute, loss, kinds[1:], generator=seeded())
    with pytest.raises(ValueError, match="level must lie between 0 and 1, found 95"):
        bootstrap(compute, loss, kinds, level=95, generator=seeded())
    with pytest.raises(ValueError, match="curves of two kinds or more"):
        bootstrap(compute[:1], loss[:1], kinds[:1], generator=seeded())
