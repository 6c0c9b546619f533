"""ViT on a page: an image is worth 16×16 words (Dosovitskiy et al., 2021).

Cut the image into patches, map each to a vector, put a class token in front, add a learned vector
for each position; the rest is the encoder of a Transformer with the norm first (Pre-LN). The book
explains it in "ViT". The full model, with other positions, other image sizes and pretrained
weights, is `models/vit.py`; this page leaves out dropout and weight initialisation, and a test
holds the two equal. Shapes: B batch, C channels, H rows and W columns of pixels, P side of a patch,
N patches, T = 1 + N tokens, D width, h heads, Dh = D / h head width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.activations import gelu
from coursekit.attention import attention
from coursekit.heads import merge_heads, split_heads


class ViTBlock(nn.Module):
    """Every token looks at all of them, a feed-forward network works on each; both add to x."""

    def __init__(self, *, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width)  # three matrices, one below the other
        self.out = nn.Linear(width, width)
        self.feed_norm = nn.LayerNorm(width, eps=1e-6)
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        q, k, v = self.qkv(self.attention_norm(x)).chunk(3, dim=-1)  # 3 × (B, T, D)
        q, k, v = (split_heads(z, self.heads) for z in (q, k, v))  # 3 × (B, h, T, Dh)
        y = attention(q, k, v)  # (B, h, T, Dh): no mask, an image has no future
        x = x + self.out(merge_heads(y))  # (B, T, D)
        y = gelu(self.expand(self.feed_norm(x)))  # (B, T, hidden)
        return x + self.contract(y)  # (B, T, D)


class PlainViT(nn.Module):
    """The Vision Transformer for images of one size; the sizes given here are those of ViT-B/16."""

    def __init__(
        self, *, image: tuple[int, int] = (224, 224), patch: int = 16, channels: int = 3,
        classes: int = 1000, width: int = 768, heads: int = 12, hidden: int = 3072, depth: int = 12,
    ) -> None:  # fmt: skip
        super().__init__()
        patches = (image[0] // patch) * (image[1] // patch)  # N
        # One linear map for all patches: a convolution whose steps are as long as its kernel.
        self.embedding = nn.Conv2d(channels, width, kernel_size=patch, stride=patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 1 + patches, width) * 0.02)
        sizes = {"width": width, "heads": heads, "hidden": hidden}
        self.blocks = nn.ModuleList(ViTBlock(**sizes) for _ in range(depth))
        self.final_norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """images (B, C, H, W) -> logits (B, classes)."""
        x = self.embedding(images)  # (B, D, H/P, W/P)
        x = x.flatten(2).mT  # (B, N, D): the patches row by row, as the words of a sentence
        first = self.class_token.expand(len(x), -1, -1)  # (B, 1, D)
        x = torch.cat([first, x], dim=1)  # (B, 1 + N, D)
        x = x + self.positions  # without them the patches would be a set
        for block in self.blocks:
            x = block(x)  # (B, 1 + N, D)
        return self.head(self.final_norm(x[:, 0]))  # (B, classes): what the class token gathered
