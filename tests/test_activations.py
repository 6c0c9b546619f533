"""Activations against torch's fused versions, and the claims made about them."""

import pytest
import torch
import torch.nn.functional as F

from coursekit import activations as A

x = torch.linspace(-6, 6, 2001, dtype=torch.float64)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (A.relu, F.relu),
        (A.gelu, F.gelu),
        (A.gelu_tanh, lambda x: F.gelu(x, approximate="tanh")),
        (A.silu, F.silu),
        (A.gelu_sigmoid, lambda x: F.silu(1.702 * x) / 1.702),
    ],
)
def test_equals_torch_forward_and_gradient(ours, theirs):
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    torch.testing.assert_close(ours(a), theirs(b))
    ours(a).sum().backward()
    theirs(b).sum().backward()
    inside = x != 0  # ReLU has no single slope at 0
    torch.testing.assert_close(a.grad[inside], b.grad[inside])


def test_how_good_the_approximations_of_gelu_are():
    tanh = (A.gelu_tanh(x) - A.gelu(x)).abs().max().item()
    sigmoid = (A.gelu_sigmoid(x) - A.gelu(x)).abs().max().item()
    assert 4e-4 < tanh < 5e-4
    assert 0.02 < sigmoid < 0.021


def test_dropout_and_relu_in_one_have_gelu_as_their_mean():
    points = torch.tensor([-3.0, -1.0, -0.2, 0.0, 0.5, 1.0, 2.0])
    generator = torch.Generator().manual_seed(0)
    draws = A.stochastic_gelu(points.expand(40_000, -1), generator)
    assert set((draws[:, 1] == 0).tolist()) == {True, False}  # zero or x, nothing between
    assert ((draws == 0) | (draws == points)).all()
    torch.testing.assert_close(draws.mean(0), A.gelu(points), atol=0.02, rtol=0)
