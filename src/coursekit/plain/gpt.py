"""GPT on a page: the model of GPT-2 and nothing else (Radford et al., 2019).

Each token becomes a vector, causal blocks rework it in the light of what comes before it, and the
same token vectors read off which token comes next. `models/gpt.py` is the same model with what real
use needs: padding, a cache for writing, dropout (left out here), pretrained weights, the parts of
Llama. A test holds the two equal. The book explains it in "GPT".
Shapes: B batch, T length, D width, H heads, Dh head width, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.activations import gelu_tanh
from coursekit.attention import attention
from coursekit.heads import merge_heads, split_heads


class GPTBlock(nn.Module):
    """Attention looks back, a feed-forward network works on each position; both add to x."""

    def __init__(self, *, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)  # three matrices, one below the other
        self.out = nn.Linear(width, width)
        self.feed_norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        y = self.attention_norm(x)  # (B, T, D): the sublayer reads this, x goes on as it was
        q, k, v = self.qkv(y).chunk(3, dim=-1)  # 3 × (B, T, D)
        q, k, v = (split_heads(z, self.heads) for z in (q, k, v))  # 3 × (B, H, T, Dh)
        y = attention(q, k, v, causal=True)  # (B, H, T, Dh): t looks at 0 … t
        x = x + self.out(merge_heads(y))  # (B, T, D)
        y = gelu_tanh(self.expand(self.feed_norm(x)))  # (B, T, 4·D)
        return x + self.contract(y)  # (B, T, D)


class PlainGPT(nn.Module):
    """The sizes are those of the smallest GPT-2, with 124 million weights."""

    def __init__(
        self, *, vocabulary: int = 50_257, width: int = 768, depth: int = 12, heads: int = 12,
        positions: int = 1024,
    ) -> None:  # fmt: skip
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(GPTBlock(width=width, heads=heads) for _ in range(depth))
        self.final_norm = nn.LayerNorm(width)
        for name, weight in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(weight)
            elif weight.ndim == 2:
                adds = name.endswith(("out.weight", "contract.weight"))  # 2 · depth of these
                nn.init.normal_(weight, std=0.02 / (2 * depth) ** 0.5 if adds else 0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) -> logits (B, T, V): at t, the scores of the token that follows t."""
        x = self.tokens(tokens)  # (B, T, D): what each token is,
        x = x + self.positions.weight[: tokens.shape[1]]  # and where it is
        for block in self.blocks:
            x = block(x)
        x = self.final_norm(x)
        return x @ self.tokens.weight.T  # (B, T, V): how well each token's own vector agrees
