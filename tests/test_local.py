"""Blocked attention against the dense path under the same mask, and its cost against T."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from coursekit import local, masks
from coursekit.attention import attention, fused_attention
from coursekit.local import block_attention, local_attention


def qkv(T, S=None, B=2, H=2, D=4, Dv=3, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    sizes = ((B, H, T, D), (B, H, S or T, D), (B, H, S or T, Dv))
    return [torch.randn(*s, generator=generator, dtype=dtype) for s in sizes]


@given(
    T=st.integers(1, 40),
    radius=st.integers(0, 45),
    causal=st.booleans(),
    padded=st.booleans(),
    block=st.none() | st.integers(1, 50),
    seed=st.integers(0, 999),
)
def test_local_equals_dense(T, radius, causal, padded, block, seed):
    q, k, v = qkv(T, seed=seed)
    mask = masks.local(T, radius=radius)
    if causal:
        mask = mask & masks.causal(T)
    keep = None
    if padded:  # rows without a single key to look at may appear: they are zeros in both
        keep = torch.rand(2, T, generator=torch.Generator().manual_seed(seed)) > 0.4
        mask = mask & keep[:, None, None, :]
    out = local_attention(q, k, v, radius=radius, causal=causal, keep=keep, block=block)
    torch.testing.assert_close(out, attention(q, k, v, mask))


@given(
    rows=st.integers(1, 5),
    columns=st.integers(1, 5),
    block=st.integers(1, 4),
    share=st.floats(0, 1),
    seed=st.integers(0, 999),
)
def test_block_attention_equals_dense(rows, columns, block, share, seed):
    q, k, v = qkv(rows * block, columns * block, seed=seed)
    layout = torch.rand(rows, columns, generator=torch.Generator().manual_seed(seed)) < share
    want = attention(q, k, v, masks.expand_blocks(layout, block))
    torch.testing.assert_close(block_attention(q, k, v, layout, block=block), want)


@pytest.mark.parametrize("radius", [0, 1, 17, 50, 100, 255, 256, 257])
def test_the_usual_lengths_come_out_even(radius, monkeypatch):
    """Blocks of 255 queries left 239 of the last block empty at T = 4096, and paid for them."""
    shapes = []

    def spy(q, k, v, mask):
        shapes.append(q.shape)
        return fused_attention(q, k, v, mask)

    monkeypatch.setattr(local, "fused_attention", spy)
    for T in (256, 512):
        x = torch.randn(1, 1, T, 2)
        want = attention(x, x, x, masks.local(T, radius=radius))
        torch.testing.assert_close(local_attention(x, x, x, radius=radius), want)
        _, blocks, block, _ = shapes[-1]
        assert blocks * block == T and 16 <= block <= max(radius, 16)


def test_bigbird_in_blocks_equals_dense():
    q, k, v = qkv(64)
    generator = torch.Generator().manual_seed(0)
    layout = masks.bigbird(8, radius=1, tokens=[0], random=1, generator=generator)
    want = attention(q, k, v, masks.expand_blocks(layout, 8))
    torch.testing.assert_close(block_attention(q, k, v, layout, block=8), want)


@pytest.mark.parametrize("path", ["local", "block"])
def test_gradients_equal_dense(path):
    q, k, v = (x.requires_grad_() for x in qkv(24))
    if path == "local":
        mask = masks.local(24, radius=5)
        out = local_attention(q, k, v, radius=5, block=7)
    else:
        layout = masks.longformer(6, radius=1, tokens=[2])
        mask = masks.expand_blocks(layout, 4)
        out = block_attention(q, k, v, layout, block=4)
    direction = torch.randn_like(out)
    got = torch.autograd.grad((out * direction).sum(), (q, k, v))
    want = torch.autograd.grad((attention(q, k, v, mask) * direction).sum(), (q, k, v))
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)


def test_padding_leaves_finite_gradients():
    q, k, v = (x.requires_grad_() for x in qkv(9))
    local_attention(q, k, v, radius=1, keep=torch.zeros(2, 9, dtype=torch.bool)).sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


def kept_bytes(function):
    """Bytes that autograd keeps for the backward pass, each piece of memory once."""
    kept = {}

    def note(x):
        kept[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
        out = function()  # alive, with all it keeps, until the count is taken
        total = sum(kept.values())
    del out
    return total


@pytest.mark.parametrize("path", ["local", "block"])
def test_flops_and_memory_grow_linearly(path):
    def run(T):
        q, k, v = (x.requires_grad_() for x in qkv(T, B=1, H=1, dtype=torch.float32))
        if path == "local":
            return local_attention(q, k, v, radius=16)
        layout = masks.longformer(T // 16, radius=1, tokens=[0])
        return block_attention(q, k, v, layout, block=16)

    def flops(T):
        # torch's counter knows no FLOPs for the fused CPU kernel
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            run(T)
        return counter.get_total_flops()

    for measure in (flops, lambda T: kept_bytes(lambda: run(T))):
        low, middle, high = measure(512), measure(1024), measure(2048)
        assert low > 0
        assert high - middle == pytest.approx(2 * (middle - low), rel=0.05)


x4 = torch.zeros(1, 1, 8, 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: local_attention(x4, x4[:, :, :6], x4[:, :, :6], radius=1), "found 8 and 6"),
        (lambda: local_attention(x4[0], x4[0], x4[0], radius=1), r"\(1, 8, 2\)"),
        (lambda: block_attention(x4, x4, x4, torch.ones(3, 3) > 0, block=3), "found block 3"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()
