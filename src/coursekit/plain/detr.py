"""DETR on a page: the whole idea and nothing else (Carion et al., 2020).

A backbone makes a feature map, an encoder relates its cells, a decoder attends to them with Q
object queries, and each query makes one prediction: a class and a box. Attention with its four
matrices is that of `coursekit.heads`. `models/detr.py` is the same model with what real use needs:
padded images, a loss at every layer, pretrained weights. A test holds the two equal. The book
explains it in "DETR".
Shapes: B batch, C classes, D width, Q object queries, S = h·w cells.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.feed_forward import FeedForward
from coursekit.heads import MultiHeadAttention
from coursekit.positions import padded_sine_2d


class EncoderBlock(nn.Module):
    """Each cell attends to all cells, then a feed-forward network; after each, add and norm."""

    def __init__(self, *, width: int, heads: int, hidden: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(width=width, heads=heads, dropout=dropout)
        self.self_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width=width, hidden=hidden, dropout=dropout)
        self.feed_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, sines: Tensor) -> Tensor:
        """x (B, S, D), sines (1, S, D) -> (B, S, D)."""
        placed = x + sines  # (B, S, D): positions are in queries and keys, never in values
        y = self.self_attention(placed, placed, x)  # (B, S, D)
        x = self.self_norm(x + self.dropout(y))
        return self.feed_norm(x + self.dropout(self.feed_forward(x)))


class DecoderBlock(nn.Module):
    """Each row attends to the other rows, then to the cells, then a feed-forward network."""

    def __init__(self, *, width: int, heads: int, hidden: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(width=width, heads=heads, dropout=dropout)
        self.self_norm = nn.LayerNorm(width)
        self.cross_attention = MultiHeadAttention(width=width, heads=heads, dropout=dropout)
        self.cross_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width=width, hidden=hidden, dropout=dropout)
        self.feed_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, queries: Tensor, cells: Tensor, sines: Tensor) -> Tensor:
        """x (B, Q, D), queries (Q, D), cells (B, S, D), sines (1, S, D) -> (B, Q, D)."""
        placed = x + queries  # (B, Q, D): the object queries are the rows' positions
        y = self.self_attention(placed, placed, x)  # (B, Q, D)
        x = self.self_norm(x + self.dropout(y))
        y = self.cross_attention(x + queries, cells + sines, cells)  # (B, Q, D)
        x = self.cross_norm(x + self.dropout(y))
        return self.feed_norm(x + self.dropout(self.feed_forward(x)))


class PlainDETR(nn.Module):
    """`backbone` turns images into maps (B, `channels`, h, w); the sizes are those of the paper."""

    def __init__(
        self, backbone: nn.Module, *, classes: int = 91, queries: int = 100, channels: int = 2048,
        width: int = 256, heads: int = 8, hidden: int = 2048, depth: int = 6,
    ) -> None:  # fmt: skip
        super().__init__()
        self.backbone = backbone
        self.project = nn.Conv2d(channels, width, kernel_size=1)
        sizes = {"width": width, "heads": heads, "hidden": hidden}
        self.encoder = nn.ModuleList(EncoderBlock(**sizes) for _ in range(depth))
        self.decoder = nn.ModuleList(DecoderBlock(**sizes) for _ in range(depth))
        self.decoder_norm = nn.LayerNorm(width)
        self.queries = nn.Parameter(torch.randn(queries, width))  # (Q, D): learned
        self.class_head = nn.Linear(width, classes + 1)  # and "no object"
        self.box_head = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 4), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """images (B, 3, height, width) -> logits (B, Q, C + 1) and boxes (B, Q, 4).

        A box is its centre x, y, its width and its height, as fractions of the image.
        """
        features = self.project(self.backbone(images))  # (B, D, h, w)
        real = features.new_ones(1, *features.shape[2:]).bool()  # (1, h, w): no padding
        sines = padded_sine_2d(real, features.shape[1], dtype=features.dtype)  # (1, h, w, D)
        sines = sines.flatten(1, 2)  # (1, S, D)
        cells = features.flatten(2).mT  # (B, S, D): row by row, as the words of a sentence
        for block in self.encoder:
            cells = block(cells, sines)  # (B, S, D)
        x = cells.new_zeros(len(images), *self.queries.shape)  # (B, Q, D): only the queries differ
        for block in self.decoder:
            x = block(x, self.queries, cells, sines)  # (B, Q, D)
        x = self.decoder_norm(x)
        return self.class_head(x), self.box_head(x)
