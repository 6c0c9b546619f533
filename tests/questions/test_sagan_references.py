"""What assignment 16 calls right is what torch's convolutions, the course's module, torch's own
spectral norm, the paper's min and the root of a matrix give."""

from __future__ import annotations

import math

import numpy as np
import ours
import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from coursekit.check.probe import randn
from coursekit.models.sagan import SelfAttention2d
from coursetools.questions import catalogue

RIGHT = catalogue.references(ours.load("a16_sagan"))
DOUBLE = torch.float64
LAYER = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 3))


@settings(deadline=None, max_examples=60)
@given(st.lists(LAYER, max_size=4), st.integers(0, 3))
def test_the_window_is_where_the_gradient_arrives(layers, place):
    """Through convolutions whose weights are ones, in a picture with room on both sides."""
    size, step, centre = RIGHT.reach(layers, place)
    first, last = round(centre - (size - 1) / 2), round(centre + (size - 1) / 2)
    # further places of a layer begin `step` behind the first one: so many lie before the picture
    before = -(-max(0, -first) // step) * step if layers else 0
    x = torch.zeros(1, 1, before + last + 400, dtype=DOUBLE, requires_grad=True)
    y = x
    for kernel, stride, dilation, padding in layers:
        weight = torch.ones(1, 1, kernel, dtype=DOUBLE)
        y = F.conv1d(y, weight, stride=stride, dilation=dilation, padding=padding)
    assert y.shape[-1] > place + before // step + 1
    for further in (0, 1):
        (found,) = torch.autograd.grad(
            y[0, 0, place + before // step + further], x, retain_graph=True
        )
        touched = (found[0, 0].nonzero()[:, 0] - before - further * step).tolist()
        assert (touched[0], touched[-1]) == (first, last)


def test_the_window_of_a_discriminator_is_the_known_one():
    """PatchGAN's: three convolutions with stride 2, two without, 70 × 70 (Isola et al., 2017)."""
    layers = [(4, 2, 1, 1)] * 3 + [(4, 1, 1, 1)] * 2
    assert RIGHT.reach(layers)[:2] == (70, 8)


def module(x, f, g, h, v, gamma):
    """The course's module with these matrices, whose widths divide the channels."""
    channels, middle = v.shape
    made = SelfAttention2d(
        channels=channels,
        reduction=channels // len(f),
        value_reduction=channels // middle,
        spectral_norm=False,
    ).to(x.dtype)
    weights = {"key": f, "query": g, "value": h, "out": v}
    state = {f"{name}.weight": one.detach()[..., None, None] for name, one in weights.items()}
    made.load_state_dict({**state, "gamma": gamma.detach()})
    return made(x), made.weights(x)


@pytest.mark.parametrize("gamma", [0.0, 0.6, -2.0])
@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (4, 1), (3, 3)])
def test_looking_around_is_the_module_of_the_course(rows, columns, gamma):
    x = randn(2, 8, rows, columns, seed=1, dtype=DOUBLE)
    shapes = (2, 8), (2, 8), (4, 8), (8, 4)
    matrices = [randn(*shape, seed=2 + n, dtype=DOUBLE) for n, shape in enumerate(shapes)]
    given = x, *matrices, torch.tensor(gamma, dtype=DOUBLE)
    ours, theirs = RIGHT.look_around(*given), module(*given)
    for one, other in zip(ours, theirs):
        torch.testing.assert_close(one, other.detach())


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.randoms(use_true_random=False))
def test_places_have_no_order(channels, rows, columns, chance):
    """Whoever rearranges the places of a map finds the new places and shares rearranged."""
    x = randn(1, channels, rows, columns, seed=11, dtype=DOUBLE)
    f, g, h, v = (randn(channels, channels, seed=12 + n, dtype=DOUBLE) for n in range(4))
    order = list(range(rows * columns))
    chance.shuffle(order)
    moved = x.flatten(2)[..., order].reshape(x.shape)
    y, shares = RIGHT.look_around(x, f, g, h, v, torch.tensor(0.5, dtype=DOUBLE))
    z, others = RIGHT.look_around(moved, f, g, h, v, torch.tensor(0.5, dtype=DOUBLE))
    torch.testing.assert_close(z.flatten(2), y.flatten(2)[..., order])
    torch.testing.assert_close(others, shares[:, order][:, :, order])


@pytest.mark.parametrize("shape", [(4, 3, 3, 2), (3, 3, 1, 1), (2, 7)])
def test_a_spectral_norm_is_torchs_with_its_gradient(shape):
    """torch's layer goes from v to u and back to v: its v of the transposed weight is our u."""
    weight, u = randn(*shape, seed=21, dtype=DOUBLE), randn(shape[0], seed=22, dtype=DOUBLE)
    layer = nn.Linear(1, 1)
    layer.weight = nn.Parameter(weight.flatten(1).T.clone())
    layer = spectral_norm(layer, n_power_iterations=1)
    parts = layer.parametrizations.weight
    parts[0]._v.copy_(u / u.norm())
    ours = weight.clone().requires_grad_()
    for n in range(3):
        theirs = layer.weight.T.reshape(shape)
        divided, u = RIGHT.spectral(ours, u)
        torch.testing.assert_close(divided, theirs)
        torch.testing.assert_close(u, parts[0]._v)
        pull = randn(*shape, seed=23 + n, dtype=DOUBLE)
        (found,) = torch.autograd.grad((divided * pull).sum(), ours)
        (right,) = torch.autograd.grad((theirs * pull).sum(), parts.original)
        torch.testing.assert_close(found, right.T.reshape(shape))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 99))
def test_many_rounds_find_the_largest_singular_value(out, across, seed):
    weight = randn(out, across, 1, 2, seed=seed, dtype=DOUBLE)
    values = torch.linalg.svdvals(weight.flatten(1))
    assume(len(values) == 1 or values[1] < 0.97 * values[0])
    divided, u = RIGHT.spectral(weight, randn(out, seed=seed + 1, dtype=DOUBLE), 600)
    torch.testing.assert_close(divided, weight / values[0])
    assert u.norm().item() == pytest.approx(1)


def test_a_weight_that_only_grows_has_no_gradient():
    """σ grows with it: along the weight itself there is nothing to gain."""
    weight = randn(4, 3, 2, 2, seed=31, dtype=DOUBLE).requires_grad_()
    divided, _ = RIGHT.spectral(weight, randn(4, seed=32, dtype=DOUBLE))
    (found,) = torch.autograd.grad((divided * randn(4, 3, 2, 2, seed=33)).sum(), weight)
    assert (found * weight).sum().item() == pytest.approx(0, abs=1e-12)
    assert found.norm() > 0.1


SCORES = st.lists(st.floats(-9, 9), min_size=1, max_size=6)


@settings(deadline=None)
@given(SCORES, SCORES)
def test_the_hinge_is_the_papers_min(real, fake):
    judge = -sum(min(0.0, -1 + d) for d in real) / len(real)
    judge -= sum(min(0.0, -1 - d) for d in fake) / len(fake)
    found = RIGHT.hinge(*(torch.tensor(one, dtype=DOUBLE) for one in (real, fake)))
    assert [one.item() for one in found] == pytest.approx(
        [judge, -sum(fake) / len(fake)], abs=1e-12
    )


def root(matrix):
    """The root of a symmetric matrix, which gives it when multiplied by itself."""
    values, vectors = np.linalg.eigh(matrix)
    made = vectors * np.sqrt(values.clip(0)) @ vectors.T
    np.testing.assert_allclose(made @ made, matrix, atol=1e-8 * max(1.0, abs(matrix).max()))
    return made


def by_roots(first, second):
    """By Σ₁^½ Σ₂ Σ₁^½, which is symmetric and has the eigenvalues of Σ₁Σ₂."""
    a, b = (one.double().numpy() for one in (first, second))
    ca, cb = (np.cov(one, rowvar=False).reshape(a.shape[1], -1) for one in (a, b))
    shared = np.trace(root(root(ca) @ cb @ root(ca)))
    shift = a.mean(axis=0) - b.mean(axis=0)
    return float(shift @ shift + np.trace(ca) + np.trace(cb) - 2 * shared)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 20), st.integers(2, 20), st.integers(1, 8), st.integers(0, 99))
def test_a_distance_by_eigenvalues_is_that_by_roots(first, second, width, seed):
    a = randn(first, width, seed=seed) @ randn(width, width, seed=seed + 1)
    b = randn(second, width, seed=seed + 2) + randn(width, seed=seed + 3)
    assert RIGHT.frechet(a, b) == pytest.approx(by_roots(a, b), rel=1e-5, abs=1e-5)
    assert RIGHT.frechet(a, b) == pytest.approx(RIGHT.frechet(b, a), rel=1e-5, abs=1e-5)
    assert RIGHT.frechet(a, a) == pytest.approx(0, abs=1e-5)


def test_one_feature_needs_no_matrix():
    a, b = randn(9, 1, seed=41, dtype=DOUBLE), 3 * randn(7, 1, seed=42, dtype=DOUBLE)
    right = (a.mean() - b.mean()) ** 2 + (a.std() - b.std()) ** 2
    assert RIGHT.frechet(a, b) == pytest.approx(right.item())


def test_few_pictures_of_one_source_are_far_apart():
    """What the look below the question prints: the distance of equal sources falls with 1 / N."""
    found = [RIGHT.frechet(*randn(2, many, 32, seed=43)) for many in (50, 500, 5000)]
    assert found[0] > 10 and found[1] > 1 > found[2] > 0.05
    assert math.log(found[1] / found[2], 10) == pytest.approx(1, abs=0.15)


def test_on_every_case_the_roots_say_the_same():
    ours.agree("frechet", by_roots)


def test_the_texts_examples_are_right():
    assert RIGHT.reach([(3, 1, 1, 1), (2, 2, 1, 0)]) == (4, 2, 0.5)
    x, one = torch.tensor([[[[1.0, 0.0]], [[0.0, 2.0]]]]), torch.eye(2)
    y, shares = RIGHT.look_around(x, one[:1], one[1:], one, one, torch.tensor(0.5))
    assert y[0, :, 0].T.flatten().tolist() == pytest.approx([1.25, 0.5, 0.44, 2.12], abs=5e-3)
    assert shares.flatten().tolist() == pytest.approx([0.5, 0.5, 0.88, 0.12], abs=5e-3)
    divided, u = RIGHT.spectral(torch.tensor([[3.0, 0.0], [0.0, 4.0]]), torch.ones(2))
    assert u.tolist() == pytest.approx([0.49, 0.87], abs=5e-3)
    assert divided.diag().tolist() == pytest.approx([0.817, 1.089], abs=5e-4)
    losses = RIGHT.hinge(torch.tensor([2.0, 0.5]), torch.tensor([-3.0, 0.25]))
    assert [loss.item() for loss in losses] == [0.875, 1.375]
    sets = torch.tensor([[1.0], [3.0]]), torch.tensor([[4.0], [8.0], [6.0]])
    assert RIGHT.frechet(*sets) == pytest.approx(16.343, abs=5e-4)
