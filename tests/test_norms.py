"""RMSNorm against its formula and against torch, forward and gradients."""

import pytest
import torch
from torch import nn

from coursekit.blocks import Residual
from coursekit.norms import RMSNorm, rms_norm

D = 6


@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.5])
def test_it_is_the_formula_and_torchs_forward_and_gradients(eps):
    torch.manual_seed(0)
    ours, theirs = RMSNorm(D, eps=eps).double(), nn.RMSNorm(D, eps=eps).double()
    nn.init.normal_(ours.weight)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(2, 3, D).double()
    inputs = [x.clone().requires_grad_() for _ in range(3)]
    weight = ours.weight.detach().clone().requires_grad_()
    outs = [ours(inputs[0]), theirs(inputs[1]), rms_norm(inputs[2], weight, eps=eps)]
    rows = [row / (sum(n * n for n in row) / D + eps) ** 0.5 for row in x.flatten(0, 1)]
    by_hand = torch.stack(rows).view_as(x) * ours.weight
    direction = torch.randn_like(x)
    for out in outs:
        torch.testing.assert_close(out, by_hand)
        (out * direction).sum().backward(retain_graph=True)
    for grad in (inputs[1].grad, inputs[2].grad):
        torch.testing.assert_close(inputs[0].grad, grad)
    for grad in (theirs.weight.grad, weight.grad):
        torch.testing.assert_close(ours.weight.grad, grad)


def test_it_keeps_the_mean_that_layer_norm_takes_away():
    x = torch.full((2, D), 3.0)
    torch.testing.assert_close(RMSNorm(D, eps=0.0)(x), torch.ones(2, D))
    torch.testing.assert_close(nn.LayerNorm(D)(x), torch.zeros(2, D))
    torch.testing.assert_close(rms_norm(7 * x, eps=0.0), rms_norm(x, eps=0.0))


@pytest.mark.parametrize("shape", [(D,), (0, D), (1, 1, D), (2, 3, 4, D)])
def test_any_number_of_axes_will_do(shape):
    x = torch.randn(shape)
    torch.testing.assert_close(RMSNorm(D)(x), rms_norm(x))


def test_half_precision_is_computed_in_single():
    x = torch.full((1, D), 300.0, dtype=torch.half)  # whose square half precision cannot hold
    out = RMSNorm(D).half()(x)
    assert out.dtype == torch.half
    torch.testing.assert_close(out, torch.ones_like(x))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_residual_takes_it(norm):
    x, f = torch.randn(2, 3, D), nn.Linear(D, D)
    part = Residual(width=D, norm=norm, rms_norm=True, eps=1e-2)
    want = x + f(rms_norm(x, eps=1e-2)) if norm == "pre" else rms_norm(x + f(x), eps=1e-2)
    torch.testing.assert_close(part.after(x, f(part.before(x))), want)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [1.0, 300.0, 60_000.0])
def test_the_readable_norm_computes_half_precision_in_single_too(dtype, size):
    x = (size * torch.linspace(-1, 1, 8)[None]).to(dtype)
    norm = RMSNorm(8).to(dtype)
    found = rms_norm(x, norm.weight)
    assert found.dtype == dtype
    torch.testing.assert_close(found, norm(x), atol=1e-2, rtol=1e-2)
