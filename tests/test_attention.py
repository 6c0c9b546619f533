"""Attention against torch, against its own laws, and against bad input."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from coursekit import masks
from coursekit.attention import (
    attention,
    attention_weights,
    fused_attention,
    masked_softmax,
    nadaraya_watson,
)
from coursekit.kernels import cosine, dot, gaussian, scaled_dot

BOTH = [attention, fused_attention]
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def make(*shape, seed=0, dtype=torch.float32, grad=False):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_(grad)


def qkv(T=5, S=7, Dk=8, Dv=6, dtype=torch.float32, grad=False, seed=0):
    sizes = ((2, 3, T, Dk), (2, 3, S, Dk), (2, 3, S, Dv))
    return [make(*s, seed=seed + i, dtype=dtype, grad=grad) for i, s in enumerate(sizes)]


@st.composite
def problems(draw):
    """Random q, k, v with lengths and widths from 1, and a random mask (rows may be empty)."""
    T, S, Dk, Dv = (draw(st.integers(1, 6)) for _ in range(4))
    seed = draw(st.integers(0, 2**20))
    q, k, v = qkv(T, S, Dk, Dv, seed=seed)
    mask = make(2, 1, T, S, seed=seed + 3) > draw(st.floats(-2, 2))
    return q, k, v, mask


def gradients(function, tensors):
    tensors = [t.detach().requires_grad_() for t in tensors]
    out = function(*tensors)
    return out, torch.autograd.grad((out * make(*out.shape, seed=9).to(out)).sum(), tensors)


@pytest.mark.parametrize("axes", [2, 3, 4])
@pytest.mark.parametrize("kind", ["mask", "bias", "causal mask", "causal bias"])
def test_torch_can_take_its_fast_kernel_whatever_axes_a_mask_or_bias_has(axes, kind):
    q, k, v = qkv(Dv=8)  # the fast kernel wants one width
    x = make(*(2, 3, 5, 7)[4 - axes :], seed=5)
    given = {"mask": x > 0} if "mask" in kind else {"bias": x}
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):  # raises where it cannot be used
        out = fused_attention(q, k, v, **given, causal="causal" in kind)
    torch.testing.assert_close(out, attention(q, k, v, **given, causal="causal" in kind))


@pytest.mark.parametrize("axes", [2, 3, 4])
def test_a_bias_that_is_learned_gets_the_same_gradient_on_both_paths(axes):
    q, k, v = qkv(dtype=torch.float64)
    bias = make(*(2, 3, 5, 7)[4 - axes :], seed=5, dtype=torch.float64)
    (_, (fused,)), (_, (readable,)) = (
        gradients(lambda bias, ours=ours: ours(q, k, v, bias=bias), [bias])
        for ours in (fused_attention, attention)
    )
    torch.testing.assert_close(fused, readable)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("ours", BOTH)
def test_equals_torch_forward_and_gradients(ours, dtype, masked, biased):
    q, k, v = qkv(dtype=dtype)
    mask = masks.lengths([7, 3], 7) if masked else None
    bias = make(3, 5, 7, seed=5, dtype=dtype) if biased else None
    theirs = mask if bias is None else bias.expand(2, 3, 5, 7)
    if masked and biased:
        theirs = theirs.masked_fill(~mask, -torch.inf)
    out, grads = gradients(lambda *x: ours(*x, mask, bias=bias), (q, k, v))
    want, want_grads = gradients(
        lambda *x: F.scaled_dot_product_attention(*x, attn_mask=theirs), (q, k, v)
    )
    torch.testing.assert_close(out, want, atol=TOLERANCE[dtype], rtol=0)
    for ours_, theirs_ in zip(grads, want_grads, strict=True):
        torch.testing.assert_close(ours_, theirs_, atol=10 * TOLERANCE[dtype], rtol=0)


@given(problems())
def test_readable_equals_fused(problem):
    q, k, v, mask = problem
    out, grads = gradients(lambda *x: attention(*x, mask), (q, k, v))
    fused, fused_grads = gradients(lambda *x: fused_attention(*x, mask), (q, k, v))
    torch.testing.assert_close(out, fused, atol=1e-5, rtol=1e-4)
    for a, b in zip(grads, fused_grads, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_equals_a_loop_written_by_hand():
    q, k, v = (x.double() for x in qkv())
    mask = masks.lengths([6, 2], 7)
    out, weights = attention(q, k, v, mask), attention_weights(q, k, mask)
    for b in range(2):
        for h in range(3):
            for t in range(5):
                keys = [s for s in range(7) if mask[b, 0, 0, s]]
                raw = [math.exp(float(q[b, h, t] @ k[b, h, s]) / math.sqrt(8)) for s in keys]
                row = [r / sum(raw) for r in raw]
                mean = sum(w * v[b, h, s] for w, s in zip(row, keys, strict=True))
                torch.testing.assert_close(out[b, h, t], mean)
                for s, w in zip(keys, row, strict=True):
                    assert weights[b, h, t, s].item() == pytest.approx(w)


@given(problems())
def test_rows_sum_to_one_or_to_zero(problem):
    q, k, _, mask = problem
    weights = attention_weights(q, k, mask)
    alive = mask.any(-1).expand(2, 3, -1)
    torch.testing.assert_close(weights.sum(-1), alive.float(), atol=1e-5, rtol=0)
    assert (weights >= 0).all()
    assert (weights.masked_select(~mask) == 0).all()


@given(problems())
def test_output_lies_in_the_convex_hull(problem):
    # In any direction, no output lies further out than the furthest value.
    q, k, v, _ = problem
    direction = make(v.shape[-1], 4, seed=11)
    for ours in BOTH:
        out = ours(q, k, v) @ direction
        low = (v @ direction).amin(-2, keepdim=True) - 1e-5
        high = (v @ direction).amax(-2, keepdim=True) + 1e-5
        assert ((low <= out) & (out <= high)).all()


@given(problems(), st.randoms(use_true_random=False))
def test_permutations(problem, random):
    q, k, v, mask = problem
    keys = torch.tensor(random.sample(range(k.shape[-2]), k.shape[-2]))
    queries = torch.tensor(random.sample(range(q.shape[-2]), q.shape[-2]))
    for ours in BOTH:
        out = ours(q, k, v, mask)
        shuffled = ours(q, k[..., keys, :], v[..., keys, :], mask[..., keys])
        torch.testing.assert_close(shuffled, out, atol=1e-5, rtol=1e-4)  # keys: invariant
        moved = ours(q[..., queries, :], k, v, mask[..., queries, :])
        torch.testing.assert_close(moved, out[..., queries, :], atol=1e-5, rtol=1e-4)


def test_is_not_a_fixed_linear_map():
    x = make(4, 8)
    assert not torch.allclose(attention(2 * x, 2 * x, 2 * x), 2 * attention(x, x, x), atol=1e-2)


@pytest.mark.parametrize("ours", BOTH)
@given(t=st.integers(0, 5), seed=st.integers(0, 1000))
def test_causality(ours, t, seed):
    q, k, v = qkv(6, 6, seed=seed)
    out = ours(q, k, v, masks.causal(6))
    for x in (q, k, v):
        x[..., t, :] += 3.0
    changed = ours(q, k, v, masks.causal(6))
    torch.testing.assert_close(changed[..., :t, :], out[..., :t, :], atol=1e-6, rtol=1e-5)
    assert not torch.allclose(changed[..., t:, :], out[..., t:, :])


@pytest.mark.parametrize("ours", BOTH)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_empty_rows_are_zeros_with_finite_gradients(ours, biased):
    q, k, v = qkv(grad=True)
    mask = torch.ones(5, 7, dtype=torch.bool)
    mask[2] = False
    bias = make(5, 7, seed=4) if biased else None
    out = ours(q, k, v, mask, bias=bias)
    assert (out[..., 2, :] == 0).all() and (out[..., 1, :] != 0).all()
    with torch.autograd.detect_anomaly(check_nan=True):  # no NaN on the way back either
        out = ours(q, k, v, mask, bias=bias)
        out.sum().backward()
    for x in (q, k, v):
        assert x.grad.isfinite().all()
    assert (q.grad[..., 2, :] == 0).all() and q.grad.abs().sum() > 0
    assert (ours(q, k, v, torch.zeros(5, 7, dtype=torch.bool)) == 0).all()


def test_naive_softmax_would_fail_the_law_above():
    assert torch.full((3,), -torch.inf).softmax(-1).isnan().all()
    assert (masked_softmax(torch.zeros(1, 3), torch.zeros(1, 3, dtype=torch.bool)) == 0).all()


def test_masked_weights_are_exactly_zero_even_for_huge_scores():
    q, k, _ = qkv()
    weights = attention_weights(q * 1e8, k, masks.causal(5, 7))
    assert (weights.masked_select(~masks.causal(5, 7)) == 0).all()


@pytest.mark.parametrize("ours", BOTH)
def test_length_one_and_no_batch(ours):
    q, k, v = make(1, 4), make(1, 4, seed=1), make(1, 3, seed=2)
    torch.testing.assert_close(ours(q, k, v), v)
    assert ours(make(0, 4), k, v).shape == (0, 3)


@pytest.mark.parametrize("kernel", [dot, cosine, scaled_dot, gaussian])
def test_every_kernel_serves_attention(kernel):
    q, k, v = qkv(dtype=torch.float64)
    want = kernel(q, k).softmax(-1) @ v
    torch.testing.assert_close(attention(q, k, v, kernel=kernel), want)


def test_dropout_drops_and_keeps_the_mean():
    torch.manual_seed(0)
    q, k, v = qkv()
    many = torch.stack([attention(q, k, v, dropout=0.3) for _ in range(2000)])
    assert not torch.equal(many[0], many[1])
    torch.testing.assert_close(many.mean(0), attention(q, k, v), atol=0.1, rtol=0)


def test_nadaraya_watson_equals_the_closed_form():
    x, y, query = make(20), make(20, seed=1), make(9, seed=2)
    bump = torch.exp(-((query[:, None] - x) ** 2) / (2 * 0.3**2))
    want = (bump * y).sum(1) / bump.sum(1)
    torch.testing.assert_close(nadaraya_watson(query, x, y, bandwidth=0.3), want)


def test_the_distance_itself_can_be_the_score():
    x, y = [1.36, 3.40, 6.05], [1.79, -1.77, -2.17]
    shares = [math.exp(-abs(4.25 - place)) for place in x]
    want = sum(s * value for s, value in zip(shares, y)) / sum(shares)
    found = attention(
        torch.tensor([[4.25]]), torch.tensor(x)[:, None], torch.tensor(y)[:, None],
        kernel=lambda q, k: -torch.cdist(q, k),
    )  # fmt: skip
    assert found.item() == pytest.approx(want, rel=1e-5)


def test_nadaraya_watson_at_both_extremes():
    x, y = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([5.0, -1.0, 2.0])
    near = nadaraya_watson(torch.tensor([0.1, 1.9]), x, y, bandwidth=1e-2)
    torch.testing.assert_close(near, torch.tensor([5.0, 2.0]))
    far = nadaraya_watson(torch.tensor([0.1]), x, y, bandwidth=1e4)
    torch.testing.assert_close(far, torch.tensor([2.0]))


# Whatever forbids, both paths agree


@st.composite
def shapes_that_broadcast(draw, shape):
    """Leave out leading axes, and make some of the others 1."""
    shape = shape[draw(st.integers(0, len(shape))) :]
    return tuple(draw(st.sampled_from([n, 1])) for n in shape)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_paths_agree_on_every_mask_and_bias(data):
    """Whatever shape they have, from no axis on; with rows of −∞; gradients included."""
    shape = (2, 3, data.draw(st.integers(1, 4), "T"), data.draw(st.integers(1, 5), "S"))
    torch.manual_seed(data.draw(st.integers(0, 99), "seed"))
    T, S = shape[2:]
    q, k, v = (torch.randn(2, 3, n, w).double() for n, w in ((T, 4), (S, 4), (S, 3)))
    v = v[data.draw(st.sampled_from([slice(None), slice(0, 1), 0]), "rows of v")]
    mask = bias = None
    if data.draw(st.booleans(), "masked"):
        mask = torch.rand(data.draw(shapes_that_broadcast(shape), "mask")) > 0.4
    if data.draw(st.booleans(), "biased"):
        bias = torch.randn(data.draw(shapes_that_broadcast(shape), "bias")).double()
        bias = bias.masked_fill(torch.rand(bias.shape) > 0.5, -torch.inf)
        bias = bias.to(data.draw(st.sampled_from([torch.float64, torch.float32]), "dtype"))
        bias.requires_grad_()
    causal = data.draw(st.booleans(), "causal") and T <= S
    given = [x.requires_grad_() for x in (q, k, v)] + ([] if bias is None else [bias])
    found = []
    for ours in (attention, fused_attention):
        out = ours(q, k, v, mask, bias=bias, causal=causal)
        found.append((out, *torch.autograd.grad(out.square().sum(), given)))
    for one, other in zip(*found):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("ours", BOTH)
def test_a_row_of_minus_infinity_in_the_bias_gives_zeros(ours):
    q, k, v = qkv()
    bias = torch.zeros(5, 7)
    bias[2] = -torch.inf
    bias[3, 1:] = -torch.inf
    out = ours(q, k, v, bias=bias)
    assert out[..., 2, :].eq(0).all()
    torch.testing.assert_close(out[..., 3, :], v[..., 0, :])
    mask = torch.ones(5, 7) > 0
    mask[3, 0] = False  # what the mask leaves, the bias forbids
    assert ours(q, k, v, mask, bias=bias)[..., 3, :].eq(0).all()


@pytest.mark.parametrize("ours", BOTH)
def test_a_bias_is_brought_to_the_scores_dtype(ours):
    q, k, v = qkv()
    bias = torch.randn(5, 7, dtype=torch.float64)
    out = ours(q, k, v, bias=bias)
    assert out.dtype == q.dtype
    torch.testing.assert_close(out, ours(q, k, v, bias=bias.float()))


@pytest.mark.parametrize("T, S", [(1, 1), (5, 5), (1, 4), (3, 7)])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_causal_is_the_causal_mask_on_both_paths(T, S, masked, biased):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, n, 8, dtype=torch.float64) for n in (T, S, S))
    given = masks.lengths([S, max(S - 2, 1)], S) if masked else None
    bias = torch.randn(3, T, S, dtype=torch.float64) if biased else None
    rule = masks.causal(T, S) if given is None else given & masks.causal(T, S)
    want = attention(q, k, v, rule, bias=bias)
    for ours in (attention, fused_attention):
        torch.testing.assert_close(ours(q, k, v, given, causal=True, bias=bias), want)


@pytest.mark.parametrize(("T", "S", "Dk", "Dv"), [(20, 30, 64, 64), (5, 7, 8, 6), (1, 9, 4, 2)])
def test_two_sequences_cost_the_product_of_their_lengths(T, S, Dk, Dv):
    q, k, v = make(1, T, Dk), make(1, S, Dk), make(1, S, Dv)
    with FlopCounterMode(display=False) as counter:
        attention(q, k, v)
    assert counter.get_total_flops() == 2 * T * S * (Dk + Dv)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [1.0, 60.0, 600.0])  # of 600 squared, half precision makes ∞
def test_in_half_precision_the_paths_agree_however_large_the_scores(dtype, size):
    torch.manual_seed(0)
    q, k, v = (size * torch.randn(2, 5, 16)).to(dtype), *torch.randn(2, 2, 7, 16).to(dtype)
    k = (size * k.float()).to(dtype)
    mask = torch.rand(5, 7) < 0.7
    readable, weights = attention(q, k, v, mask), attention_weights(q, k, mask)
    assert readable.dtype == weights.dtype == dtype and readable.isfinite().all()
    fused = fused_attention(q, k, v, mask)
    torch.testing.assert_close(readable, fused, atol=2e-2, rtol=2e-2)
    wanted = attention(q.double(), k.double(), v.double(), mask)
    torch.testing.assert_close(readable.double(), wanted, atol=3e-2, rtol=3e-2)
