"""ViT: an image is worth 16×16 words (Dosovitskiy et al., 2021).

Cut the image into patches, map each to a vector, put a class token in front, add positions, and
what remains is the encoder of Vaswani et al. (2017) with the norm first and GELU. The book explains
it in "ViT".

Where it departs from the paper: eps is the one of its code (Hugging Face has 1e-12); GELU is exact
(its code approximates with tanh: `activation`); relative positions are a bias (`patches.py`).
Shapes: B batch, C channels, N patches, P prefix tokens (the class token), D width, H heads.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_config, check_images, check_int
from coursekit.activations import ACTIVATIONS
from coursekit.blocks import FeedForward, Stack
from coursekit.models.patches import (
    ConvolutionalStem,
    Grid,
    GridPositions,
    PatchEmbedding,
    PlacedStack,
    RelativePositions,
    grid_of,
)

Positions = Literal["1d", "2d", "relative", "sine", "none"]
Told = Literal["once", "every layer", "every layer, shared"]
Pool = Literal["class", "mean"]
Activation = Literal["gelu", "gelu_tanh"]


@dataclass(frozen=True, kw_only=True)
class ViTConfig:
    """Sizes and choices of a `ViT`."""

    image: int | tuple[int, int] = 224  # pixels: a square's side, or height and width
    patch: int = 16
    channels: int = 3
    classes: int = 1000  # 0: no head, the model returns what the head would read
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    positions: Positions = "1d"
    told: Told = "once"  # the positions: before the first layer, or before each (table 8)
    class_token: bool = True
    pool: Pool = "class"  # what the head reads: the class token, or the mean of the patches
    representation: int = 0  # width of a tanh layer before the head; 0: none
    backbone_channels: int = 0  # hybrid: channels of the feature map that is cut into patches
    backbone_stride: int = 1  # hybrid: pixels for each of its cells
    activation: Activation = "gelu"
    dropout: float = 0.0  # after each dense layer but q, k, v, and after the positions
    attention_dropout: float = 0.0
    drop_path: float = 0.0
    eps: float = 1e-6

    def __post_init__(self) -> None:
        check_config(self, zero=("classes", "representation", "backbone_channels"))
        check_int(height=self.size[0], columns=self.size[1])
        if self.pool == "class" and not self.class_token:
            raise ValueError("pool='class' reads the class token, but class_token is False")
        if self.told != "once" and self.positions in ("none", "relative"):
            raise ValueError(
                "only positions that are added (1d, 2d, sine) can be added before every layer, "
                f"found positions={self.positions!r} with told={self.told!r}"
            )
        if self.told == "every layer" and self.positions == "sine":
            raise ValueError("sine positions are not learned: all layers share them")
        grid_of(*self.size, patch=self.patch * self.backbone_stride)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the image in pixels."""
        height, width = self.image if isinstance(self.image, (tuple, list)) else [self.image] * 2
        return height, width

    @property
    def grid(self) -> Grid:
        """Rows and columns of patches."""
        return grid_of(*self.size, patch=self.patch * self.backbone_stride)

    @property
    def prefix(self) -> int:
        """How many tokens come before the patches."""
        return int(self.class_token)

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return ViT-B/16 (table 1)."""
        return cls(**changes)

    @classmethod
    def large(cls, **changes: Any) -> Self:
        """Return ViT-L/16."""
        return cls(**({"width": 1024, "depth": 24, "heads": 16, "hidden": 4096} | changes))

    @classmethod
    def huge(cls, **changes: Any) -> Self:
        """Return ViT-H/14."""
        sizes = {"patch": 14, "width": 1280, "depth": 32, "heads": 16, "hidden": 5120}
        return cls(**(sizes | changes))


class ViT(nn.Module):
    """The Vision Transformer.

    `backbone` makes a hybrid: a module that turns images into a map (B, `backbone_channels`,
    height / `backbone_stride`, width / `backbone_stride`), whose cells are then the pixels of the
    patches. Without one, `backbone_channels` above 0 builds a small convolutional stem.
    """

    def __init__(self, config: ViTConfig, *, backbone: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        if backbone is not None and not config.backbone_channels:
            raise ValueError("a backbone was given, but the config's backbone_channels is 0")
        if backbone is None and config.backbone_channels:
            backbone = ConvolutionalStem(
                channels=config.channels,
                width=config.backbone_channels,
                stride=config.backbone_stride,
            )
        self.backbone = backbone
        self.embedding = PatchEmbedding(
            patch=config.patch,
            channels=config.backbone_channels or config.channels,
            width=config.width,
        )
        self.class_token = None
        if config.class_token:
            self.class_token = nn.Parameter(torch.zeros(1, 1, config.width))
        places = partial(
            GridPositions,
            kind="none" if config.positions == "relative" else config.positions,
            grid=config.grid,
            width=config.width,
            prefix=config.prefix,
        )
        self.positions = places()
        self.later = None  # of the layers above the first, where each learns its own
        if config.told == "every layer":
            self.later = nn.ModuleList(places() for _ in range(config.depth - 1))
        self.relative = None
        if config.positions == "relative":
            self.relative = RelativePositions(
                grid=config.grid, heads=config.heads, prefix=config.prefix
            )
        self.dropout = nn.Dropout(config.dropout)
        self.stack = (Stack if config.told == "once" else PlacedStack)(
            depth=config.depth,
            width=config.width,
            heads=config.heads,
            hidden=config.hidden,
            norm="pre",
            activation=ACTIVATIONS[config.activation],
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            drop_path=config.drop_path,
            eps=config.eps,
        )
        wide = config.representation or config.width
        self.representation = nn.Linear(config.width, wide) if config.representation else None
        self.head = nn.Linear(wide, config.classes) if config.classes else None
        self._initialise()

    def _initialise(self) -> None:
        """Start as the paper's code does: Xavier inside, a head of zeros."""
        initialise_feed_forward(self.stack)
        if self.representation is not None:
            nn.init.xavier_uniform_(self.representation.weight)
            nn.init.zeros_(self.representation.bias)
        if self.head is not None:
            nn.init.zeros_(self.head.weight)
            nn.init.zeros_(self.head.bias)

    def forward(
        self,
        images: Tensor,
        *,
        pooled: bool = True,
        visible: Tensor | None = None,
        interpolate: bool = False,
    ) -> Tensor:
        """images (B, C, height, width) -> logits (B, classes), or (B, D) without a head.

        With `pooled=False` every token after the final norm, (B, P + N, D). With `visible` (B, K)
        the patches of these numbers only are read (MAE). With `interpolate` the image may have
        another size than the config's, and the positions are stretched over it.
        """
        grid = self.check_grid(images, interpolate)
        if self.backbone is not None:
            images = self.backbone(images)  # a map (B, channels, height / stride, width / stride)
        x = self.embedding(images, visible)  # (B, N, D)
        positions = self.placed(self.positions, grid, visible)  # (B or 1, P + N, D)
        x = self.with_prefix(x, positions)  # (B, P + N, D)
        options: dict[str, Any] = {}
        if self.relative is not None:
            options["bias"] = self.relative(grid)  # (H, P + N, P + N)
        if self.later is not None:
            options["later"] = [self.placed(one, grid, visible) for one in self.later]
        elif self.config.told == "every layer, shared":
            options["later"] = [positions] * (self.config.depth - 1)
        x = self.stack(x, **options)  # (B, P + N, D)
        return self.read_out(x) if pooled else x

    def features(self, images: Tensor, **options: Any) -> Tensor:
        """images (B, C, height, width) -> (B, P + N, D): every token after the final norm."""
        return self(images, pooled=False, **options)

    def read_out(self, x: Tensor) -> Tensor:
        """x (B, P + N, D) -> logits (B, classes), or (B, D) without a head."""
        x = self.pool(x)  # (B, D)
        return x if self.head is None else self.head(x)  # (B, classes)

    def placed(self, places: nn.Module, grid: Grid, visible: Tensor | None) -> Tensor | None:
        """-> (1, P + N, D) of a grid, or (B, P + K, D) where K patches are `visible` (B, K)."""
        positions = places(grid)  # (1, P + N, D)
        if visible is None or positions is None:
            return positions
        first, table = positions[:, : self.config.prefix], positions[0, self.config.prefix :]
        return torch.cat([first.expand(visible.shape[0], -1, -1), table[visible]], dim=1)

    def with_prefix(self, patches: Tensor, positions: Tensor | None) -> Tensor:
        """patches (B, N, D), positions (B or 1, P + N, D) -> the encoder's input (B, P + N, D)."""
        prefix = self.prefix()
        if prefix is not None:
            patches = torch.cat([prefix.expand(patches.shape[0], -1, -1), patches], dim=1)
        return self.dropout(patches if positions is None else patches + positions)

    def prefix(self) -> Tensor | None:
        """-> (1, P, D): what comes before the patches."""
        return self.class_token

    def pool(self, x: Tensor) -> Tensor:
        """x (B, P + N, D) -> (B, D): what the head reads of the tokens."""
        prefix = self.config.prefix
        x = x[:, 0] if self.config.pool == "class" else x[:, prefix:].mean(dim=1)  # (B, D)
        return x if self.representation is None else self.representation(x).tanh()

    def resized(self, image: int | tuple[int, int]) -> Self:
        """Return a copy for images of another size: same patches, interpolated positions (§3.2)."""
        model = copy.deepcopy(self)
        model.config = replace(self.config, image=image)
        model.positions = self.positions.resized(model.config.grid)
        if self.later is not None:
            later = [one for one in self.later if isinstance(one, GridPositions)]
            model.later = nn.ModuleList(one.resized(model.config.grid) for one in later)
        if self.relative is not None:
            model.relative = self.relative.resized(model.config.grid)
        return model

    def check_grid(self, images: Tensor, interpolate: bool) -> Grid:
        """Return the grid of patches; raise where it is not the config's and may not differ."""
        check_images(images, self.config.channels, weight=self.embedding.weight)
        grid = grid_of(*images.shape[2:], patch=self.config.patch * self.config.backbone_stride)
        if grid != self.config.grid and not interpolate and self.config.positions != "none":
            (height, width), (rows, columns) = self.config.size, self.config.grid
            raise ValueError(
                f"the positions are those of {height}×{width} images, {rows}×{columns} patches, "
                f"found {grid[0]}×{grid[1]} patches; pass interpolate=True, or make a model for "
                "this size with resized(...)"
            )
        return grid


def initialise_feed_forward(stack: Stack) -> None:
    """Draw the feed-forward networks' matrices by Xavier's rule; attention has done so itself."""
    for module in stack.modules():
        if isinstance(module, FeedForward):
            for linear in (module.expand, module.contract):
                nn.init.xavier_uniform_(linear.weight)
                nn.init.zeros_(linear.bias)
