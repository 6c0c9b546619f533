"""ViT on a page: an image is worth 16×16 words (Dosovitskiy et al., 2021).

Cut the image into patches, map each to a vector, put a class token in front, add a learned vector
for each place; the rest is an encoder with the norm first. The book explains it in "ViT". The full
model, with other positions, other image sizes and pretrained weights, is `models/vit.py`; this
page leaves out dropout and weight initialisation, and a test holds the two equal.
Shapes: B batch, C channels, H rows and W columns of pixels, P side of a patch, N patches, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.activations import gelu
from coursekit.blocks import Stack


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
        self.stack = Stack(
            depth=depth, width=width, heads=heads, hidden=hidden,
            norm="pre", activation=gelu, eps=1e-6,
        )  # fmt: skip
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """images (B, C, H, W) -> logits (B, classes)."""
        x = self.embedding(images)  # (B, D, H/P, W/P)
        x = x.flatten(2).mT  # (B, N, D): the patches row by row, as the words of a sentence
        first = self.class_token.expand(len(x), -1, -1)  # (B, 1, D)
        x = torch.cat([first, x], dim=1)  # (B, 1 + N, D)
        x = x + self.positions  # without them the patches would be a set
        x = self.stack(x)  # attention without a mask, and a last norm
        return self.head(x[:, 0])  # (B, classes): what the class token has gathered
