"""DETR on a page: the whole idea and nothing else (Carion et al., 2020).

A backbone makes a feature map, an encoder relates its cells, a decoder attends to them with Q
object queries, and each query makes one prediction: a class and a box. `models/detr.py` is the same
model with what real use needs: padded images, a loss at every layer, pretrained weights. The two
have their weights under the same names, and a test holds them equal. The book explains it in
"DETR".
Shapes: B batch, C classes, D width, Q object queries, S = h·w cells.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from coursekit.blocks import Stack
from coursekit.positions import padded_sine_2d


class PlainDETR(nn.Module):
    """`backbone` turns images into maps (B, `channels`, h, w); the sizes are those of the paper."""

    def __init__(
        self, backbone: nn.Module, *, classes: int = 91, queries: int = 100, channels: int = 2048,
        width: int = 256, heads: int = 8, hidden: int = 2048, depth: int = 6,
    ) -> None:  # fmt: skip
        super().__init__()
        self.backbone = backbone
        self.project = nn.Conv2d(channels, width, kernel_size=1)
        sizes: dict[str, Any] = {"depth": depth, "width": width, "heads": heads, "hidden": hidden}
        self.encoder = Stack(**sizes, norm="post", dropout=0.1)
        self.decoder = Stack(
            **sizes, norm="post", dropout=0.1, cross_attention=True, final_norm=True
        )
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
        cells = self.encoder(features.flatten(2).mT, positions=sines)  # (B, S, D)
        queries = self.queries.expand(len(images), -1, -1)  # (B, Q, D)
        states = self.decoder(
            torch.zeros_like(queries), cells, positions=queries, memory_positions=sines
        )  # (B, Q, D): zeros at first, the object queries alone tell the rows apart
        return self.class_head(states), self.box_head(states)
