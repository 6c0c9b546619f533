"""BERT on a page: read in both directions, fill in the words that are hidden (Devlin et al., 2019).

A token's vector is the sum of three, Post-LN blocks let every word look at every other, and a head
reads the embedding backwards to score words. Dropout and the question about the next sentence are
left out; `models/bert.py` has both, and loads pretrained weights. The book explains it in "BERT".
Shapes: B batch, T length, D width, H heads, Dh = D / H head width, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.activations import gelu
from coursekit.attention import attention
from coursekit.heads import merge_heads, split_heads


class BertBlock(nn.Module):
    """Attention, then a feed-forward network; after each, add and normalise (Post-LN)."""

    def __init__(self, *, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)  # three matrices, one below the other
        self.out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)
        self.feed_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x (B, T, D), mask (B, 1, 1, T) -> (B, T, D)."""
        q, k, v = self.qkv(x).chunk(3, dim=-1)  # 3 × (B, T, D)
        q, k, v = (split_heads(z, self.heads) for z in (q, k, v))  # 3 × (B, H, T, Dh)
        y = attention(q, k, v, mask)  # (B, H, T, Dh): both ways, unlike GPT
        x = self.attention_norm(x + self.out(merge_heads(y)))  # (B, T, D)
        y = gelu(self.expand(x))  # (B, T, hidden)
        return self.feed_norm(x + self.contract(y))  # (B, T, D)


class PlainBert(nn.Module):
    """The encoder and its masked-language-model head; the sizes are those of BERT base."""

    def __init__(
        self, *, vocabulary: int = 30_522, width: int = 768, depth: int = 12, heads: int = 12,
        hidden: int = 3072, positions: int = 512, segments: int = 2,
    ) -> None:  # fmt: skip
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width, padding_idx=0)  # 0 is padding: never learned
        self.positions = nn.Embedding(positions, width)
        self.segments = nn.Embedding(segments, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        sizes = {"width": width, "heads": heads, "hidden": hidden}
        self.blocks = nn.ModuleList(BertBlock(**sizes) for _ in range(depth))
        self.head = nn.Linear(width, width)
        self.head_norm = nn.LayerNorm(width, eps=1e-12)
        self.head_bias = nn.Parameter(torch.zeros(vocabulary))  # how common each word is
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)

    def forward(self, tokens: Tensor, segments: Tensor, keep: Tensor) -> Tensor:
        """tokens, segments, keep (B, T) -> logits (B, T, V): a score for each word.

        `segments` is 0 in the first sentence and 1 in the second, `keep` is False at padding.
        """
        order = torch.arange(tokens.shape[1], device=tokens.device)  # (T,)
        x = self.tokens(tokens) + self.positions(order) + self.segments(segments)  # (B, T, D)
        x = self.norm(x)
        mask = keep[:, None, None, :]  # (B, 1, 1, T): padding is masked
        for block in self.blocks:
            x = block(x, mask)  # (B, T, D)
        x = self.head_norm(gelu(self.head(x)))  # (B, T, D)
        return x @ self.tokens.weight.T + self.head_bias  # (B, T, V)
