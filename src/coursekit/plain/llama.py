"""Llama's block on a page: what became of GPT-2's in four years (Touvron et al., 2023).

RMSNorm for LayerNorm, rotary positions in every block for learned ones at the bottom, SwiGLU for
GELU, and no biases; in the larger models of Llama 2, groups of query heads also share one head of
keys and values (Ainslie et al., 2023). Read it beside `gpt.py`. The block of `GPTConfig.llama()` in
`models/gpt.py` is the same with what real use needs, such as a cache and a window; a test
holds the two equal. The book explains it in "GPT".
Shapes: B batch, T length, D width, H heads, Hkv heads of keys and values, Dh head width.
"""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.activations import silu
from coursekit.attention import attention
from coursekit.heads import merge_heads, split_heads
from coursekit.norms import RMSNorm
from coursekit.positions import Rotary


class LlamaBlock(nn.Module):
    """The smallest Llama has 32 blocks of width 4096, 32 heads of both kinds, hidden 11,008."""

    def __init__(self, *, width: int, heads: int, kv_heads: int, hidden: int) -> None:
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        head_width = width // heads
        self.attention_norm = RMSNorm(width, eps=1e-6)
        self.query = nn.Linear(width, heads * head_width, bias=False)
        self.key = nn.Linear(width, kv_heads * head_width, bias=False)
        self.value = nn.Linear(width, kv_heads * head_width, bias=False)
        self.rotary = Rotary(width=head_width, layout="halves")  # nothing to learn
        self.out = nn.Linear(heads * head_width, width, bias=False)
        self.feed_norm = RMSNorm(width, eps=1e-6)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.expand = nn.Linear(width, hidden, bias=False)
        self.contract = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D), with no look ahead."""
        y = self.attention_norm(x)  # (B, T, D)
        q = split_heads(self.query(y), self.heads)  # (B, H, T, Dh)
        k = split_heads(self.key(y), self.kv_heads)  # (B, Hkv, T, Dh): fewer heads,
        v = split_heads(self.value(y), self.kv_heads)  # (B, Hkv, T, Dh): a smaller cache
        q, k = self.rotary(q), self.rotary(k)  # turned by place: q · k knows how far apart
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)  # (B, H, T, Dh)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)  # (B, H, T, Dh)
        y = attention(q, k, v, causal=True)  # (B, H, T, Dh)
        x = x + self.out(merge_heads(y))  # (B, T, D)
        y = self.feed_norm(x)  # (B, T, D)
        y = silu(self.gate(y)) * self.expand(y)  # (B, T, hidden): the gate opens and closes
        return x + self.contract(y)  # (B, T, D)
