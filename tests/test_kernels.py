"""Each kernel against a loop written out by hand, for any widths and lengths."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.kernels import Additive, General, cosine, dot, gaussian, scaled_dot


def by_hand(rule, q, k):
    rows = [[rule(a, b) for b in k] for a in q]
    return torch.tensor(rows, dtype=torch.float64)


def pair(T, S, Dq, Dk, seed=0):
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(T, Dq, generator=generator, dtype=torch.float64)
    return q, torch.randn(S, Dk, generator=generator, dtype=torch.float64)


sizes = st.integers(1, 5)


@given(sizes, sizes, sizes, st.integers(0, 999))
def test_functions_equal_a_loop(T, S, D, seed):
    q, k = pair(T, S, D, D, seed)
    rules = {
        dot: lambda a, b: sum(float(x) * float(y) for x, y in zip(a, b, strict=True)),
        scaled_dot: lambda a, b: float(a @ b) / math.sqrt(D),
        cosine: lambda a, b: float(a @ b) / math.sqrt(float(a @ a) * float(b @ b)),
        gaussian: lambda a, b: -sum(float(x - y) ** 2 for x, y in zip(a, b, strict=True)) / 2,
    }
    for kernel, rule in rules.items():
        torch.testing.assert_close(kernel(q, k), by_hand(rule, q, k))
    wide = by_hand(lambda a, b: -float((a - b) @ (a - b)) / (2 * 3.0**2), q, k)
    torch.testing.assert_close(gaussian(q, k, bandwidth=3.0), wide)


@given(sizes, sizes, sizes, sizes, sizes)
def test_modules_equal_a_loop(T, S, Dq, Dk, hidden):
    q, k = pair(T, S, Dq, Dk)
    general = General(query_width=Dq, key_width=Dk).double()
    W = general.weight.detach()
    torch.testing.assert_close(general(q, k), by_hand(lambda a, b: float(a @ W @ b), q, k))
    additive = Additive(query_width=Dq, key_width=Dk, hidden=hidden).double()
    W = torch.cat([additive.query.weight, additive.key.weight], dim=1).detach()  # (hidden, Dq + Dk)
    v = additive.score.weight[0].detach()
    want = by_hand(lambda a, b: float(v @ torch.tanh(W @ torch.cat([a, b]))), q, k)
    torch.testing.assert_close(additive(q, k), want)


@pytest.mark.parametrize("kernel", [dot, scaled_dot, cosine, gaussian])
def test_batches_and_broadcasting(kernel):
    q, k = torch.randn(2, 3, 4, 5), torch.randn(3, 6, 5)
    out = kernel(q, k)
    assert out.shape == (2, 3, 4, 6)
    torch.testing.assert_close(out[1, 2], kernel(q[1, 2], k[2]))


@pytest.mark.parametrize("width", [4, 64, 512])
def test_the_dot_product_has_variance_d_and_the_scale_brings_it_to_one(width):
    # 20,000 products: the sampling error of a variance is about its value times sqrt(2 / 20,000).
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(20_000, 1, width, generator=generator) for _ in range(2))
    error = 5 * math.sqrt(2 / 20_000) * (1 + 6 / width) ** 0.5  # heavier tails when narrow
    assert dot(q, k).var().item() == pytest.approx(width, rel=error)
    assert scaled_dot(q, k).var().item() == pytest.approx(1, rel=error)


def test_large_scores_decide_a_softmax_and_the_scale_keeps_it_undecided():
    generator = torch.Generator().manual_seed(0)
    largest = {}
    for width in (4, 1024):
        q = torch.randn(500, 1, width, generator=generator)
        k = torch.randn(500, 16, width, generator=generator)
        for kernel in (dot, scaled_dot):
            weights = kernel(q, k).softmax(dim=-1)  # (500, 1, 16)
            largest[kernel, width] = weights.amax(dim=-1).mean().item()
    assert largest[dot, 1024] > 0.9 > largest[dot, 4] + 0.3
    assert abs(largest[scaled_dot, 1024] - largest[scaled_dot, 4]) < 0.05


def test_cosine_ignores_length_and_survives_zeros():
    q, k = torch.randn(3, 4), torch.randn(5, 4)
    torch.testing.assert_close(cosine(7 * q, 0.1 * k), cosine(q, k))
    assert cosine(q, k).abs().max() <= 1 + 1e-6
    zero = torch.zeros(1, 4, requires_grad=True)
    out = cosine(zero, k)
    out.sum().backward()
    assert (out == 0).all() and zero.grad.isfinite().all()


def test_gaussian_is_accurate_far_from_the_origin():
    q = torch.tensor([[10_000.0]])
    k = torch.tensor([[10_000.5]])
    assert gaussian(q, k).item() == pytest.approx(-0.125, rel=1e-4)


def test_modules_learn():
    torch.manual_seed(0)
    q, k = torch.randn(4, 3), torch.randn(6, 5)
    for module in (
        General(query_width=3, key_width=5),
        Additive(query_width=3, key_width=5, hidden=7),
    ):
        module(q, k).square().sum().backward()
        assert all(p.grad.abs().sum() > 0 for p in module.parameters())


@pytest.mark.parametrize("kernel", [cosine, gaussian, scaled_dot])
def test_large_numbers_in_half_precision_are_those_of_double(kernel):
    """300² · 8 is infinite in half precision: a cosine would be 0, a bump wherever one looks."""
    torch.manual_seed(0)
    q, k = (300 * torch.randn(2, 3, 8)).half()
    wanted = kernel(q.double(), k.double())
    torch.testing.assert_close(kernel(q, k).double(), wanted, atol=1e-2, rtol=1e-3)
