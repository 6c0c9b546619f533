"""Fréchet distance and Inception score: closed forms, other roots, laws, bad input."""

from math import e, exp, log

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.analysis.frechet import (
    Gaussian,
    frechet_distance,
    gaussian_of,
    inception_score,
    square_root,
)

seeds = st.integers(0, 10_000)


def drawn(seed, rows=40, width=4):
    draw = torch.Generator().manual_seed(seed)
    mixed = torch.randn(width, width, generator=draw, dtype=torch.float64)
    rows = torch.randn(rows, width, generator=draw, dtype=torch.float64)
    return rows @ mixed + torch.randn(width, generator=draw, dtype=torch.float64)


def diagonal(mean, deviations):
    mean, deviations = torch.tensor(mean).double(), torch.tensor(deviations).double()
    return Gaussian(mean, torch.diag(deviations.square()))


def test_the_numbers_of_the_page():
    """Independent features: squared differences of means and of standard deviations."""
    one, other = diagonal([0.0, 1.0], [1.0, 2.0]), diagonal([3.0, 1.0], [1.0, 5.0])
    assert frechet_distance(one, other) == pytest.approx(9 + 9)
    S, T = torch.tensor([[2.0, 1.0], [1.0, 2.0]]), torch.tensor([[2.0, -1.0], [-1.0, 2.0]])
    turned = frechet_distance(*(Gaussian(torch.zeros(2), part.double()) for part in (S, T)))
    assert turned == pytest.approx(8 - 4 * 3**0.5)  # eigenvalues of S T are 3 and 3


@given(seeds)
def test_the_root_of_the_product_taken_as_it_stands(seed):
    """Eigenvalues of S T itself, which is not symmetric; they are real and not negative."""
    a, b = gaussian_of(drawn(seed)), gaussian_of(drawn(seed + 1))
    values = np.linalg.eigvals(a.covariance.numpy() @ b.covariance.numpy())
    assert abs(values.imag).max() < 1e-6
    by_hand = (a.mean - b.mean).square().sum().item()
    by_hand += np.trace(a.covariance) + np.trace(b.covariance)
    by_hand -= 2 * np.sqrt(values.real.clip(0)).sum()
    assert frechet_distance(a, b) == pytest.approx(by_hand, rel=1e-6, abs=1e-6)


def test_scipy_says_the_same():
    linalg = pytest.importorskip("scipy.linalg")
    a, b = gaussian_of(drawn(1)), gaussian_of(drawn(2))
    root = linalg.sqrtm((a.covariance @ b.covariance).numpy()).real
    by_scipy = (a.mean - b.mean).square().sum() + a.covariance.trace() + b.covariance.trace()
    assert frechet_distance(a, b) == pytest.approx(by_scipy.item() - 2 * np.trace(root), rel=1e-8)


def test_it_is_the_cheapest_way_to_move_one_heap_to_another():
    """On a line and with many points: sorted against sorted, by squares (Wasserstein-2)."""
    grid = torch.special.ndtri((torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000)
    one, other = 1 + 2 * grid, -1 + 0.5 * grid
    moved = (one - other).square().mean().item()
    found = frechet_distance(gaussian_of(one[:, None]), gaussian_of(other[:, None]))
    assert found == pytest.approx(moved, rel=1e-3)


@given(seeds)
def test_laws(seed):
    x, y = drawn(seed), drawn(seed + 1)
    a, b = gaussian_of(x), gaussian_of(y)
    distance = frechet_distance(a, b)
    assert frechet_distance(b, a) == pytest.approx(distance, rel=1e-6, abs=1e-8)
    assert frechet_distance(a, a) == pytest.approx(0, abs=1e-6)
    turn = torch.linalg.qr(drawn(seed + 2, 4))[0]
    turned = frechet_distance(gaussian_of(x @ turn + 3), gaussian_of(y @ turn + 3))
    assert turned == pytest.approx(distance, rel=1e-6, abs=1e-6)
    scaled = frechet_distance(gaussian_of(3 * x), gaussian_of(3 * y))
    assert scaled == pytest.approx(9 * distance, rel=1e-6, abs=1e-6)
    order = torch.randperm(len(x))
    assert frechet_distance(gaussian_of(x[order]), b) == pytest.approx(distance, rel=1e-9)


def test_fewer_pictures_than_features_still_have_a_distance():
    few, many = gaussian_of(drawn(1, rows=2)), gaussian_of(drawn(1))
    assert 0 < frechet_distance(few, many) < float("inf")
    assert frechet_distance(few, few) == pytest.approx(0, abs=1e-6)


def test_a_set_is_its_mean_and_its_covariance():
    x = drawn(3)
    mean, covariance = gaussian_of(x.float())
    assert mean.dtype == covariance.dtype == torch.float64
    np.testing.assert_allclose(mean, x.mean(0), atol=1e-5)
    np.testing.assert_allclose(covariance, np.cov(x.numpy().T), atol=1e-5)
    assert gaussian_of(x[:, :1]).covariance.shape == (1, 1)


@given(seeds)
def test_the_root_squared_is_the_matrix(seed):
    matrix = gaussian_of(drawn(seed)).covariance
    root = square_root(matrix)
    torch.testing.assert_close(root @ root, matrix)
    torch.testing.assert_close(root, root.mT)


def test_inception_score_by_hand():
    rows = torch.tensor([[0.9, 0.1], [0.3, 0.7]])
    p = rows.mean(0)
    divergences = [sum(q * log(q / m) for q, m in zip(row, p, strict=True)) for row in rows]
    assert inception_score(rows) == pytest.approx(exp(sum(divergences) / 2), rel=1e-6)


def test_inception_score_from_one_to_the_number_of_classes():
    assert inception_score(torch.eye(10)) == pytest.approx(10)
    assert inception_score(torch.eye(10)[:1].expand(50, 10)) == pytest.approx(1)
    assert inception_score(torch.full((5, 10), 0.1)) == pytest.approx(1)
    half = torch.eye(10)[:5]
    assert inception_score(half) == pytest.approx(5)
    assert e > inception_score(torch.tensor([[0.6, 0.4], [0.4, 0.6]])) > 1


def test_bad_input_gets_a_sentence():
    for bad in (torch.zeros(3), torch.zeros(1, 3), torch.zeros(3, 0)):
        with pytest.raises(ValueError, match=r"features must be .*of two"):
            gaussian_of(bad)
    a, b = gaussian_of(drawn(1)), gaussian_of(drawn(1, width=3))
    with pytest.raises(ValueError, match="of the same D, found"):
        frechet_distance(a, b)
    for bad in (torch.ones(2, 2), torch.tensor([[1.5, -0.5]])):
        with pytest.raises(ValueError, match="have the sum 1"):
            inception_score(bad)
    with pytest.raises(ValueError, match=r"must be \(pictures, classes\), found"):
        inception_score(torch.ones(3))
