"""ResNet: each block adds a correction to what it is given (He et al., 2016).

A stem halves the image twice, then four stages of convolutions follow, each on a map of half the
side of the one before and with twice the channels. The shortcut around every block is what later
is around every attention. The book explains it in "Blocks"; DETR looks at the last map.

Departure from the paper: a bottleneck block halves the map in its 3 × 3 convolution, as torchvision
and everybody since does ("v1.5"), not in its first 1 × 1; `stride_first` is the paper's way.
Shapes: B batch, D channels, R rows and C columns of a map, V classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import check_config, check_images, check_int

Kind = Literal["basic", "bottleneck"]


@dataclass(frozen=True, kw_only=True)
class ResNetConfig:
    """Sizes and choices of a `ResNet`; what has several numbers has one for each stage."""

    block: Kind = "bottleneck"
    depths: tuple[int, ...] = (3, 4, 6, 3)
    channels: int = 3
    width: int = 64  # of the stem and of the first stage's 3 × 3; doubles from stage to stage
    stride_first: bool = False  # see the departure above
    dilation: bool = False  # DETR's DC5: the last stage looks wider and does not halve the map
    frozen_norm: bool = False
    classes: int = 1000  # 0 leaves the head out, and the model returns its last map

    def __post_init__(self) -> None:
        check_config(self, zero=("classes",))
        check_int(stages=len(self.depths))
        if self.dilation and self.block == "basic":
            raise ValueError("dilation is for bottleneck blocks (ResNet-50 and deeper)")

    @property
    def widths(self) -> tuple[int, ...]:
        """Channels of each stage's map."""
        expansion = 4 if self.block == "bottleneck" else 1
        return tuple(self.width * expansion * 2**stage for stage in range(len(self.depths)))

    @classmethod
    def resnet18(cls, **changes: Any) -> ResNetConfig:
        """Return ResNet-18, 11.7M parameters."""
        return cls(**({"block": "basic", "depths": (2, 2, 2, 2)} | changes))

    @classmethod
    def resnet34(cls, **changes: Any) -> ResNetConfig:
        """Return ResNet-34, 21.8M parameters."""
        return cls(**({"block": "basic"} | changes))

    @classmethod
    def resnet50(cls, **changes: Any) -> ResNetConfig:
        """Return ResNet-50, 25.6M parameters."""
        return cls(**changes)

    @classmethod
    def resnet101(cls, **changes: Any) -> ResNetConfig:
        """Return ResNet-101, 44.5M parameters."""
        return cls(**({"depths": (3, 4, 23, 3)} | changes))

    @classmethod
    def resnet152(cls, **changes: Any) -> ResNetConfig:
        """Return ResNet-152, 60.2M parameters."""
        return cls(**({"depths": (3, 8, 36, 3)} | changes))


class FrozenBatchNorm2d(nn.Module):
    """(x − mean) / √(var + eps) · weight + bias for each channel, in training as in evaluation.

    Batch normalisation that does not move: a detector trains on a few large images at a time, too
    few for means and variances of their own, so DETR keeps those that its backbone learned from
    ImageNet. All four are buffers, not parameters: no gradient reaches them, no optimiser moves
    them, and yet they are saved with the model. Their names are those of `nn.BatchNorm2d`, so that
    its weights fit.
    """

    def __init__(self, channels: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Buffer(torch.ones(channels))
        self.bias = nn.Buffer(torch.zeros(channels))
        self.running_mean = nn.Buffer(torch.zeros(channels))
        self.running_var = nn.Buffer(torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        """x (B, D, R, C) -> the same shape."""
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )  # `training` is off by default: the batch's own mean and variance play no part


class ConvNorm(nn.Module):
    """A convolution and its batch normalisation, whose bias serves both."""

    def __init__(
        self,
        fan_in: int,
        fan_out: int,
        side: int,
        *,
        stride: int = 1,
        dilation: int = 1,
        frozen: bool = False,
    ) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(
            fan_in,
            fan_out,
            side,
            stride=stride,
            padding=dilation * (side // 2),
            dilation=dilation,
            bias=False,
        )
        self.norm = FrozenBatchNorm2d(fan_out) if frozen else nn.BatchNorm2d(fan_out)
        nn.init.kaiming_normal_(self.convolution.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        """x (B, D, R, C) -> (B, D', R / stride, C / stride), fractions rounded up."""
        return self.norm(self.convolution(x))


class ResidualBlock(nn.Module):
    """relu(shortcut(x) + branch(x)): two 3 × 3 convolutions, or a 3 × 3 between two 1 × 1.

    The bottleneck works on a quarter of the channels. The shortcut is the identity wherever the
    shapes allow it, and a 1 × 1 convolution where they do not.
    """

    def __init__(
        self, config: ResNetConfig, fan_in: int, width: int, *, stride: int = 1, dilation: int = 1
    ) -> None:
        super().__init__()
        frozen = {"frozen": config.frozen_norm}
        if config.block == "basic":
            fan_out = width
            layers = [
                ConvNorm(fan_in, width, 3, stride=stride, **frozen),
                ConvNorm(width, width, 3, **frozen),
            ]
        else:
            fan_out = 4 * width
            first, middle = (stride, 1) if config.stride_first else (1, stride)
            layers = [
                ConvNorm(fan_in, width, 1, stride=first, **frozen),
                ConvNorm(width, width, 3, stride=middle, dilation=dilation, **frozen),
                ConvNorm(width, fan_out, 1, **frozen),
            ]
        self.branch = nn.ModuleList(layers)
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or fan_in != fan_out:
            self.shortcut = ConvNorm(fan_in, fan_out, 1, stride=stride, **frozen)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, D, R, C) -> (B, D', R', C')."""
        change = x
        for layer in self.branch[:-1]:
            change = F.relu(layer(change))
        return F.relu(self.branch[-1](change) + self.shortcut(x))  # the sum is bent, not the parts


class ResNet(nn.Module):
    """A stem, stages of residual blocks, the mean over the last map, a linear classifier."""

    def __init__(self, config: ResNetConfig) -> None:
        super().__init__()
        self.config = config
        self.stem = ConvNorm(config.channels, config.width, 7, stride=2, frozen=config.frozen_norm)
        self.stages = nn.ModuleList()
        fan_in = config.width
        for stage, (depth, fan_out) in enumerate(zip(config.depths, config.widths)):
            stride = 1 if stage == 0 else 2
            dilation = 1
            if config.dilation and stage == len(config.depths) - 1:
                stride, dilation = 1, 2
            width = config.width * 2**stage
            blocks = [ResidualBlock(config, fan_in, width, stride=stride)]  # still without holes
            blocks += [
                ResidualBlock(config, fan_out, width, dilation=dilation) for _ in range(depth - 1)
            ]
            self.stages.append(nn.Sequential(*blocks))
            fan_in = fan_out
        self.head = nn.Linear(fan_in, config.classes) if config.classes else None

    def forward(self, images: Tensor) -> Tensor:
        """images (B, channels, height, width) -> logits (B, V), or the last map (B, D, R, C)."""
        x = self.maps(images)[-1]  # (B, D, R, C)
        return x if self.head is None else self.head(x.mean(dim=(2, 3)))

    def maps(self, images: Tensor) -> list[Tensor]:
        """images (B, channels, height, width) -> every stage's map (B, D, R, C), fine to coarse.

        Their sides are 1/4, 1/8, 1/16 and 1/32 of the image's, fractions rounded up; with
        `dilation` the last is 1/16 too.
        """
        check_images(images, self.config.channels, weight=self.stem.convolution.weight)
        x = F.relu(self.stem(images))  # (B, D, height / 2, width / 2)
        x = F.max_pool2d(x, 3, stride=2, padding=1)  # (B, D, height / 4, width / 4)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps

    def freeze(self, stages: int) -> None:
        """Let the stem and the first `stages` stages learn no more; DETR does so with 1."""
        if not 0 <= stages <= len(self.stages):
            raise ValueError(f"stages must be 0 to {len(self.stages)}, found {stages}")
        for part in (self.stem, *self.stages[:stages]):
            part.requires_grad_(False)
