"""MAE on a page: hide three quarters of an image and paint them back (He et al., 2022).

The encoder, a ViT, reads the visible patches alone, so that a large one is cheap to train; a small
decoder gets mask tokens in the empty places and predicts the pixels; after training it is thrown
away. The book explains it in "DeiT and MAE". The full model is `models/mae.py`; this page leaves
out dropout and initial values, and counts its waves in another order. Shapes: B batch, C channels,
R rows and L columns of pixels, P side of a patch, N patches, K of them visible, D width of the
encoder, D' of the decoder, T tokens, H heads, Dh head width.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.activations import gelu
from coursekit.attention import attention
from coursekit.heads import merge_heads, split_heads
from coursekit.positions import sine_2d


class ViTBlock(nn.Module):
    """The block of a ViT, of which encoder and decoder are made; the norm comes first (Pre-LN)."""

    def __init__(self, *, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width, eps=1e-6)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed_norm = nn.LayerNorm(width, eps=1e-6)
        self.expand, self.contract = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        q, k, v = self.qkv(self.attention_norm(x)).chunk(3, dim=-1)  # 3 × (B, T, D)
        q, k, v = (split_heads(z, self.heads) for z in (q, k, v))  # 3 × (B, H, T, Dh)
        x = x + self.out(merge_heads(attention(q, k, v)))  # (B, T, D)
        return x + self.contract(gelu(self.expand(self.feed_norm(x))))  # (B, T, D)


class PlainMAE(nn.Module):
    """An MAE for images of one size; the sizes given here are those around ViT-B/16."""

    def __init__(
        self, *, image: tuple[int, int] = (224, 224), patch: int = 16, channels: int = 3,
        visible: int = 49, width: int = 768, heads: int = 12, hidden: int = 3072, depth: int = 12,
        decoder_width: int = 512, decoder_heads: int = 16, decoder_hidden: int = 2048,
        decoder_depth: int = 8,
    ) -> None:  # fmt: skip
        super().__init__()
        self.patch, self.visible = patch, visible
        pixels, grid = patch**2 * channels, (image[0] // patch, image[1] // patch)
        self.embedding = nn.Linear(pixels, width)
        self.class_token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Buffer(waves(grid, width))  # (1, 1 + N, D), not learned
        sizes = {"width": width, "heads": heads, "hidden": hidden}
        self.encoder = nn.Sequential(*(ViTBlock(**sizes) for _ in range(depth)))
        self.encoder_norm = nn.LayerNorm(width, eps=1e-6)
        self.narrow = nn.Linear(width, decoder_width)
        self.mask_token = nn.Parameter(torch.randn(1, 1, decoder_width) * 0.02)
        self.decoder_positions = nn.Buffer(waves(grid, decoder_width))  # (1, 1 + N, D')
        sizes = {"width": decoder_width, "heads": decoder_heads, "hidden": decoder_hidden}
        self.decoder = nn.Sequential(*(ViTBlock(**sizes) for _ in range(decoder_depth)))
        self.decoder_norm = nn.LayerNorm(decoder_width, eps=1e-6)
        self.predict = nn.Linear(decoder_width, pixels)

    def forward(self, images: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """images (B, C, R, L), noise (B, N) -> the loss () and the painted patches (B, N, P·P·C).

        The K patches with the least noise stay visible: `torch.rand(B, N)` hides at random.
        """
        patches = patchify(images, self.patch)  # (B, N, P·P·C)
        order = noise.argsort(dim=1)  # (B, N): numbers of patches, as a shuffled deck of cards
        visible, hidden = order[:, : self.visible], order[:, self.visible :]  # (B, K), (B, N − K)
        row = torch.arange(len(images), device=images.device)[:, None]  # (B, 1)

        # Encode: what is hidden is left out before anything is computed.
        x = self.embedding(patches[row, visible])  # (B, K, D)
        x = x + self.positions[0, 1:][visible]  # each patch its own; the class token has zeros
        first = self.class_token.expand(len(x), -1, -1)  # (B, 1, D)
        x = self.encoder_norm(self.encoder(torch.cat([first, x], dim=1)))  # (B, 1 + K, D)

        # Decode: mask tokens everywhere, then each visible patch in its own place.
        x = self.narrow(x)  # (B, 1 + K, D')
        canvas = self.mask_token.to(x.dtype).repeat(*noise.shape, 1)  # (B, N, D')
        canvas[row, visible] = x[:, 1:]
        x = torch.cat([x[:, :1], canvas], dim=1) + self.decoder_positions  # (B, 1 + N, D')
        x = self.decoder_norm(self.decoder(x))  # (B, 1 + N, D')
        painted = self.predict(x[:, 1:])  # (B, N, P·P·C)

        # Compare on the hidden patches alone, with pixels normalised within their patch.
        mean, variance = patches.mean(-1, keepdim=True), patches.var(-1, keepdim=True)  # (B, N, 1)
        target = (patches - mean) / (variance + 1e-6).sqrt()  # (B, N, P·P·C)
        return F.mse_loss(painted[row, hidden], target[row, hidden]), painted


def patchify(images: Tensor, P: int) -> Tensor:
    """images (B, C, R, L) -> (B, N, P·P·C): cut, nothing else."""
    x = images.unflatten(3, (-1, P)).unflatten(2, (-1, P))  # (B, C, R/P, P, L/P, P)
    x = x.permute(0, 2, 4, 3, 5, 1)  # (B, R/P, L/P, P, P, C)
    return x.flatten(3).flatten(1, 2)  # (B, N, P·P·C)


def waves(grid: tuple[int, int], width: int) -> Tensor:
    """-> (1, 1 + N, width): fixed waves for each patch, zeros for the class token in front."""
    table = sine_2d(*grid, width).flatten(0, 1)  # (N, width)
    return F.pad(table, (0, 0, 1, 0))[None]  # (1, 1 + N, width)
