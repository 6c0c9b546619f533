"""Blocked local attention beside its peers: time and memory at T = 512 … 8192, window 256.

    python benchmarks/sliding_window.py [--rounds 5] [--threads 2]

All do the same work, |i − j| ≤ 256 over 8 heads of width 64, forward without gradients, and are
compared on the same numbers first. The dense readable path stops where its T × T scores would need
more than 2 GB.
"""

from __future__ import annotations

import math
import sys
from functools import partial

import torch
from harness import Call, Missing, run
from torch import Tensor

from coursekit import masks
from coursekit.attention import attention, fused_attention
from coursekit.local import local_attention

RADIUS, HEADS, WIDTH = 256, 8, 64
LENGTHS = (512, 1024) if "--smoke" in sys.argv else (512, 1024, 2048, 4096, 8192)


def numbers(T: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return q, k, v of shape (1, H, T, D)."""
    torch.manual_seed(0)
    return tuple(torch.randn(1, HEADS, T, WIDTH) for _ in range(3))


def ours(T: int) -> Call:
    q, k, v = numbers(T)
    return torch.no_grad()(lambda: local_attention(q, k, v, radius=RADIUS))


def dense(T: int, path: Call) -> Call:
    q, k, v = numbers(T)
    mask = masks.local(T, radius=RADIUS)
    return torch.no_grad()(lambda: path(q, k, v, mask))


def lucidrains(T: int) -> Call:
    try:
        from local_attention import LocalAttention
    except ImportError as error:
        raise Missing("pip install local-attention") from error
    q, k, v = numbers(T)
    peer = LocalAttention(
        dim=WIDTH, window_size=RADIUS, look_backward=1, look_forward=1, causal=False,
        exact_windowsize=True, autopad=True, use_rotary_pos_emb=False,
    )  # fmt: skip
    return torch.no_grad()(lambda: peer(q, k, v))


def longformer(T: int) -> Call:
    """Hugging Face's chunked sliding window, fed with our q, k, v in place of its projections."""
    from transformers import LongformerConfig
    from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

    q, k, v = numbers(T)
    config = LongformerConfig(
        hidden_size=HEADS * WIDTH, num_attention_heads=HEADS, attention_window=[2 * RADIUS]
    )
    peer = LongformerSelfAttention(config, layer_id=0).eval()

    @torch.no_grad()
    def once() -> Tensor:
        # The steps of its forward without global tokens: scores, band mask, softmax, values.
        queries, keys, values = (x.transpose(1, 2) for x in (q / math.sqrt(WIDTH), k, v))
        scores = peer._sliding_chunks_query_key_matmul(queries, keys, RADIUS)
        weights = scores.softmax(dim=-1, dtype=torch.float32)
        out = peer._sliding_chunks_matmul_attn_probs_value(weights, values, RADIUS)
        return out.transpose(1, 2)

    return once


def contestants(T: int) -> dict[str, Call]:
    """Everybody who can work at length T."""
    peers = {
        "ours": partial(ours, T),
        "dense, fused": partial(dense, T, fused_attention),
        "local-attention": partial(lucidrains, T),
        "Longformer chunks": partial(longformer, T),
    }
    if HEADS * T * T * 4 < 2e9:  # bytes of one matrix of scores
        peers["dense, readable"] = partial(dense, T, attention)
    return peers


if __name__ == "__main__":
    run(
        {f"T = {T:,}": contestants(T) for T in LENGTHS},
        script="sliding_window",
        what=f"|i − j| ≤ {RADIUS}, {HEADS} heads of width {WIDTH}, fp32, forward, CPU",
        agree=1e-4,
    )
