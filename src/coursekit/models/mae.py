"""MAE: hide three quarters of an image and paint them back (He et al., 2022).

The encoder reads only the visible patches, so that a large one is cheap to train; a small decoder
gets mask tokens in the empty places and predicts the pixels. The encoder is a `ViT`, imported from
its own file, for an MAE *is* a ViT that is given a part of the patches; after training the decoder
is thrown away. The book explains it in "DeiT and MAE".

Where it departs from the paper: positions for an image of another size are interpolated in the
decoder as in the encoder. Shapes: B batch, C channels, N patches, K visible patches, P side of a
patch, D width.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_config, check_fraction, check_numbers, check_shape
from coursekit.activations import ACTIVATIONS
from coursekit.blocks import Stack
from coursekit.models.patches import Grid, GridPositions, grid_of, patchify, unpatchify
from coursekit.models.vit import ViT, ViTConfig, initialise_feed_forward


@dataclass(frozen=True, kw_only=True)
class MAEConfig:
    """Sizes and choices of an `MAE`; the decoder is the same beside every encoder.

    The encoder may be given as the fields of its `ViTConfig` too, as a saved model's file has it.
    """

    encoder: ViTConfig = field(default_factory=lambda: ViTConfig(classes=0, positions="sine"))
    decoder_width: int = 512
    decoder_depth: int = 8
    decoder_heads: int = 16
    decoder_hidden: int = 2048
    mask_ratio: float = 0.75
    normalise: bool = True  # predict pixels normalised within their patch (§3, last paragraph)

    def __post_init__(self) -> None:
        if isinstance(self.encoder, Mapping):
            object.__setattr__(self, "encoder", ViTConfig(**self.encoder))
        encoder = self.encoder
        if not isinstance(encoder, ViTConfig):
            raise TypeError(f"encoder must be a ViTConfig, found {type(encoder).__name__}")
        check_config(self)
        if not self.mask_ratio < 1:
            raise ValueError(f"mask_ratio must lie in [0, 1), found {self.mask_ratio}")
        if encoder.classes or not encoder.class_token or encoder.backbone_channels:
            raise ValueError(
                "the encoder of an MAE has no head (classes=0), a class token and no backbone, "
                f"found classes={encoder.classes}, class_token={encoder.class_token}, "
                f"backbone_channels={encoder.backbone_channels}"
            )
        if encoder.positions == "relative":
            raise ValueError("the encoder of an MAE adds its positions, found 'relative'")

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return MAE around ViT-B/16; `changes` go to the encoder."""
        return cls(encoder=ViTConfig.base(**({"classes": 0, "positions": "sine"} | changes)))

    @classmethod
    def large(cls, **changes: Any) -> Self:
        """Return MAE around ViT-L/16, the paper's default."""
        return cls(encoder=ViTConfig.large(**({"classes": 0, "positions": "sine"} | changes)))

    @classmethod
    def huge(cls, **changes: Any) -> Self:
        """Return MAE around ViT-H/14."""
        return cls(encoder=ViTConfig.huge(**({"classes": 0, "positions": "sine"} | changes)))


class Masking(NamedTuple):
    """Which patches are hidden."""

    keep: Tensor  # (B, K): the visible patches, in shuffled order
    masked: Tensor  # (B, N), boolean, True = hidden
    restore: Tensor  # (B, N): where in the shuffled order (visible first) each patch is


class Painting(NamedTuple):
    """What an `MAE` returns."""

    patches: Tensor  # (B, N, P·P·C): the predicted pixels of every patch
    masked: Tensor  # (B, N), boolean, True = was hidden
    restore: Tensor  # (B, N), as in `Masking`


def random_masking(noise: Tensor, ratio: float) -> Masking:
    """noise (B, N) -> which patches to hide: the smallest numbers stay, a share of 1 − `ratio`."""
    check_shape(noise, "noise", "batch, patches")
    check_numbers(noise, "noise")
    check_fraction(ratio=ratio)
    N = noise.shape[1]
    K = int(N * (1 - ratio) + 1e-6)  # 10 · (1 − 0.8) is a hair below 2
    if not 0 < K <= N:
        raise ValueError(f"a mask ratio of {ratio} leaves {K} of {N} patches visible")
    shuffle = noise.argsort(dim=1)  # (B, N): who is at each place of the shuffled list
    restore = shuffle.argsort(dim=1)  # (B, N): the inverse permutation
    return Masking(keep=shuffle[:, :K], masked=restore >= K, restore=restore)


class MAE(nn.Module):
    """A ViT on the visible patches, a small decoder on all of them."""

    def __init__(self, config: MAEConfig) -> None:
        super().__init__()
        self.config = config
        encoder, width = config.encoder, config.decoder_width
        self.encoder = ViT(encoder)
        self.narrow = nn.Linear(encoder.width, width)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = GridPositions(kind="sine", grid=encoder.grid, width=width, prefix=1)
        self.decoder = Stack(
            depth=config.decoder_depth,
            width=width,
            heads=config.decoder_heads,
            hidden=config.decoder_hidden,
            norm="pre",
            activation=ACTIVATIONS[encoder.activation],
            dropout=encoder.dropout,
            attention_dropout=encoder.attention_dropout,
            eps=encoder.eps,
        )
        self.predict = nn.Linear(width, encoder.patch**2 * encoder.channels)
        initialise_feed_forward(self.decoder)
        for linear in (self.narrow, self.predict):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        assert self.encoder.class_token is not None  # the config refuses an encoder without one
        for token in (self.encoder.class_token, self.mask_token):
            nn.init.normal_(token, std=0.02)

    def forward(
        self, images: Tensor, noise: Tensor | None = None, *, interpolate: bool = False
    ) -> Painting:
        """images (B, C, height, width) -> the predicted patches and which of them were hidden.

        `noise` (B, N) chooses the hidden patches (see `random_masking`); it is drawn if not given.
        """
        latent, hidden = self.encode(images, noise, interpolate=interpolate)  # (B, 1 + K, D)
        grid = grid_of(*images.shape[2:], patch=self.config.encoder.patch)
        patches = self.decode(latent, hidden, grid)  # (B, N, P·P·C)
        return Painting(patches, hidden.masked, hidden.restore)

    def encode(
        self, images: Tensor, noise: Tensor | None = None, *, interpolate: bool = False
    ) -> tuple[Tensor, Masking]:
        """images (B, C, height, width) -> latent (B, 1 + K, D) of the visible patches, `Masking`.

        Masked patches are left out before anything is computed.
        """
        grid = self.encoder.check_grid(images, interpolate)
        B, N = images.shape[0], grid[0] * grid[1]
        if noise is None:
            noise = torch.rand(B, N, device=images.device)
        check_shape(noise, "noise", (B, N))
        hidden = random_masking(noise, self.config.mask_ratio)
        latent = self.encoder.features(images, visible=hidden.keep, interpolate=interpolate)
        return latent, hidden  # (B, 1 + K, D)

    def decode(self, latent: Tensor, hidden: Masking, grid: Grid | None = None) -> Tensor:
        """latent (B, 1 + K, D) -> pixels (B, N, P·P·C) of every patch."""
        x = self.narrow(latent)  # (B, 1 + K, D')
        B, N = hidden.masked.shape
        masks = self.mask_token.to(x.dtype).expand(B, N, -1)  # (B, N, D'): mask tokens everywhere,
        place = hidden.keep[..., None].expand(-1, -1, x.shape[2])  # (B, K, D')
        patches = masks.scatter(1, place, x[:, 1:])  # (B, N, D'), and each visible patch at its own
        x = torch.cat([x[:, :1], patches], dim=1) + self.positions(grid)  # (B, 1 + N, D')
        return self.predict(self.decoder(x)[:, 1:])  # (B, N, P·P·C)

    def target(self, images: Tensor) -> Tensor:
        """images (B, C, height, width) -> (B, N, P·P·C): what the decoder should have predicted."""
        patches = patchify(images, self.config.encoder.patch)
        if not self.config.normalise:
            return patches
        mean, deviation = _statistics(patches)
        return (patches - mean) / deviation

    @torch.no_grad()
    def paint(self, images: Tensor, painting: Painting) -> Tensor:
        """images (B, C, height, width) -> the same with the hidden patches as predicted.

        Normalised pixels get the mean and spread of the true patch back, as in the paper's figures.
        """
        _, _, height, columns = images.shape
        true, painted = patchify(images, self.config.encoder.patch), painting.patches
        if self.config.normalise:
            mean, deviation = _statistics(true)
            painted = painted * deviation + mean
        patches = painted.where(painting.masked[..., None], true)  # (B, N, P·P·C)
        return unpatchify(patches, self.config.encoder.patch, (height, columns))


def masked_patch_loss(predicted: Tensor, target: Tensor, masked: Tensor) -> Tensor:
    """Mean squared error on the masked patches only.

    predicted, target (B, N, P·P·C), masked (B, N) boolean -> (); 0 where nothing is masked.
    """
    check_shape(predicted, "predicted", "batch, patches, numbers")
    check_shape(target, "target", predicted.shape)
    check_shape(masked, "masked", predicted.shape[:2], torch.bool)
    gap = (predicted - target).masked_fill(~masked[..., None], 0.0)  # whatever a visible one holds
    return gap.square().mean(dim=-1).sum() / masked.sum().clamp_min(1)


def _statistics(patches: Tensor) -> tuple[Tensor, Tensor]:
    """patches (B, N, P·P·C) -> mean and standard deviation of each patch, 2 × (B, N, 1)."""
    mean = patches.mean(dim=-1, keepdim=True)
    return mean, (patches.var(dim=-1, keepdim=True) + 1e-6).sqrt()
