"""SAGAN: self-attention between the places of a feature map (Zhang et al., 2019).

A convolution sees a neighbourhood; `SelfAttention2d` lets every place look at every other one. It
is in the middle of a convolutional generator or discriminator and starts as the identity, for
what it finds is multiplied by γ, which starts at 0. `Generator` and `Discriminator` are small
enough for the canvases of the book, which explains all three in "Attention in images".

Where it departs from the paper: nothing in the defaults of `SelfAttention2d`; `value_reduction=2`
with `pool=True` is what its code does (wider values; keys and values from a map of half the side).
Generator and discriminator have the paper's parts without classes: plain batch normalisation, no
projection; and the discriminator never attends, so that only the generators differ.
Shapes: B batch, C channels, N places, S places that are looked at (N, or N / 4 with `pool`), E ends
of a canvas, Z numbers of noise for an end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm as normalise_spectrally

from coursekit._base.checks import check_config, check_dtype, check_images, check_int, check_shape
from coursekit.attention import attention_weights, fused_attention
from coursekit.kernels import dot

Middle = Literal["attention", "residual", "none"]
Noise = Literal["ends", "dense"]


class SelfAttention2d(nn.Module):
    """yⱼ = γ · v(Σᵢ βⱼᵢ h(xᵢ)) + xⱼ, with βⱼᵢ = softmaxᵢ(f(xᵢ)ᵀ g(xⱼ)).

    f, g, h and v are 1×1 convolutions; f and g (and h, unless `value_reduction` says otherwise)
    have C / `reduction` channels. Each matrix is divided by its largest singular value, which keeps
    the GAN's gradients tame; `spectral_norm` turns that off. There is no 1/√Dk.
    """

    def __init__(
        self,
        *,
        channels: int,
        reduction: int = 8,
        value_reduction: int | None = None,
        spectral_norm: bool = True,
        pool: bool = False,
    ) -> None:
        super().__init__()
        check_int(channels=channels, reduction=reduction)
        if value_reduction is not None:
            check_int(value_reduction=value_reduction)
        value_reduction = reduction if value_reduction is None else value_reduction
        if channels % reduction or channels % value_reduction:
            raise ValueError(
                "reduction and value_reduction must divide the channels, "
                f"found {reduction}, {value_reduction} and {channels}"
            )
        self.channels, self.pool = channels, pool

        def convolution(before: int, after: int) -> nn.Module:
            layer = nn.Conv2d(before, after, kernel_size=1, bias=False)
            return normalise_spectrally(layer) if spectral_norm else layer

        self.key = convolution(channels, channels // reduction)  # f
        self.query = convolution(channels, channels // reduction)  # g
        self.value = convolution(channels, channels // value_reduction)  # h
        self.out = convolution(channels // value_reduction, channels)  # v
        self.gamma = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """x (B, C, height, width) -> the same shape."""
        out = fused_attention(*self._project(x), scale=1.0)  # (B, 1, N, channels of v)
        out = out[:, 0].mT.unflatten(-1, x.shape[2:])  # (B, channels of v, height, width)
        return self.gamma * self.out(out) + x  # (B, C, height, width)

    def weights(self, x: Tensor) -> Tensor:
        """x (B, C, height, width) -> how much each position takes of each other, (B, N, S)."""
        q, k, _ = self._project(x)
        return attention_weights(q, k, kernel=dot)[:, 0]  # (B, N, S)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x (B, C, height, width) -> queries (B, 1, N, ·), keys and values (B, 1, S, ·)."""
        check_images(x, self.channels, "x", weight=self.gamma)
        if self.pool and min(x.shape[2:]) < 2:
            raise ValueError(f"pool needs a map of 2 × 2 or more, found {tuple(x.shape[2:])}")
        q, k, v = self.query(x), self.key(x), self.value(x)  # (B, channels of each, height, width)
        if self.pool:
            k, v = F.max_pool2d(k, 2), F.max_pool2d(v, 2)  # half the side, a quarter of the places
        q, k, v = (part.flatten(2).mT[:, None] for part in (q, k, v))  # (B, 1, N or S, channels)
        return q, k, v


@dataclass(frozen=True, kw_only=True)
class GeneratorConfig:
    """Sizes and choices of a `Generator` of canvases of 8 × 24 pixels."""

    noise: int = 32  # numbers for each end
    width: int = 32  # channels of the map of 4 × 12 places
    middle: Middle = "attention"  # what is between the maps
    enters: Noise = "ends"  # "dense": all noise reaches every place from the start
    spectral_norm: bool = False

    def __post_init__(self) -> None:
        check_config(self)
        if self.width % 8:
            raise ValueError(f"the attention needs a width divisible by 8, found {self.width}")


def _spectral(layer: nn.Module, wanted: bool) -> nn.Module:
    return normalise_spectrally(layer) if wanted else layer


class ResidualBlock2d(nn.Module):
    """x + two 3 × 3 convolutions with a ReLU between: what SAGAN compares the attention with."""

    def __init__(self, *, channels: int, hidden: int) -> None:
        super().__init__()
        check_int(channels=channels, hidden=hidden)
        self.narrow = nn.Conv2d(channels, hidden, 3, padding=1, bias=False)
        self.wide = nn.Conv2d(hidden, channels, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, C, height, width) -> the same shape."""
        return x + self.wide(F.relu(self.narrow(x)))


class Generator(nn.Module):
    """Paints canvases from noise. Without attention no place of an end depends on the other end.

    Each end has noise of its own, which becomes a map of 4 × 4 places; the middle gets none. From
    there on everything is local (3 × 3), except for the attention. `enters="dense"` is the usual
    way in: one linear layer from all noise to all places.
    """

    def __init__(self, config: GeneratorConfig) -> None:
        super().__init__()
        self.config = config
        C, Z = config.width, config.noise

        spectral = partial(_spectral, wanted=config.spectral_norm)

        if config.enters == "ends":
            self.start = spectral(nn.ConvTranspose2d(Z, C, 4, stride=4, bias=False))
        else:
            self.start = spectral(nn.Linear(2 * Z, C * 4 * 12, bias=False))
        self.first_norm = nn.BatchNorm2d(C)
        if config.middle == "attention":
            self.middle: nn.Module = SelfAttention2d(
                channels=C, value_reduction=2, spectral_norm=config.spectral_norm
            )
        elif config.middle == "residual":
            # 2 · 9 · C · hidden weights, the attention 2 · C · C / 8 + 2 · C · C / 2
            self.middle = ResidualBlock2d(channels=C, hidden=ceil(1.25 * C / 18))
        else:
            self.middle = nn.Identity()
        self.second = spectral(nn.Conv2d(C, C, 3, padding=1, bias=False))
        self.second_norm = nn.BatchNorm2d(C)
        self.third = spectral(nn.Conv2d(C, C // 2, 3, padding=1, bias=False))
        self.third_norm = nn.BatchNorm2d(C // 2)
        self.paint = spectral(nn.Conv2d(C // 2, 1, 3, padding=1))

    def noise(self, count: int, *, generator: torch.Generator | None = None) -> Tensor:
        """Draw noise for `count` canvases, (B, E, Z) with two ends."""
        device = self.first_norm.weight.device
        numbers = torch.randn(count, 2, self.config.noise, generator=generator)
        return numbers.to(device)  # (B, E, Z); drawn on the CPU, so a seed paints the same anywhere

    def begin(self, z: Tensor) -> Tensor:
        """Noise (B, E, Z) -> the map that the middle is given, (B, C, 4, 12)."""
        check_shape(z, "z, noise for two ends,", ("batch", 2, self.config.noise))
        check_dtype(z, self.first_norm, "z")
        if self.config.enters == "ends":
            left, right = z.unbind(dim=1)  # (B, Z) each
            blocks = torch.stack([left, torch.zeros_like(left), right], dim=-1)  # (B, Z, 3)
            x = self.start(blocks[:, :, None])  # (B, C, 4, 12): no step from one block to another
        else:
            x = self.start(z.flatten(1)).unflatten(1, (-1, 4, 12))  # (B, C, 4, 12)
        return F.relu(self.first_norm(x))

    def finish(self, x: Tensor) -> Tensor:
        """The map after the middle (B, C, 4, 12) -> canvases (B, 1, 8, 24) between −1 and 1."""
        x = F.relu(self.second_norm(self.second(x)))  # (B, C, 4, 12)
        x = F.interpolate(x, scale_factor=2)  # (B, C, 8, 24)
        x = F.relu(self.third_norm(self.third(x)))  # (B, C / 2, 8, 24)
        return self.paint(x).tanh()  # (B, 1, 8, 24)

    def forward(self, z: Tensor) -> Tensor:
        """Noise (B, E, Z) -> canvases (B, 1, 8, 24)."""
        return self.finish(self.middle(self.begin(z)))

    def looks(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Noise (B, E, Z) -> canvases (B, 1, 8, 24) and attention weights (B, N, N), N = 48 places.

        Row 12 r + c has the weights with which the place in row r and column c looks at all others.
        """
        if not isinstance(self.middle, SelfAttention2d):
            raise ValueError(f"only attention looks; the middle is {self.config.middle!r}")
        x = self.begin(z)
        return self.finish(self.middle(x)), self.middle.weights(x)


class Discriminator(nn.Module):
    """Gives a canvas a number, high for "real". It sees both ends at once: its head is dense.

    `spectral_norm` is that of the convolutions. The two dense layers are left free: with a largest
    singular value of 1 in each layer the numbers of so small a network stay near 0.
    """

    def __init__(self, *, width: int = 16, hidden: int = 128, spectral_norm: bool = True) -> None:
        super().__init__()
        check_int(width=width, hidden=hidden)

        spectral = partial(_spectral, wanted=spectral_norm)

        W = 2 * width
        self.convolutions = nn.ModuleList(
            [
                spectral(nn.Conv2d(1, width, 3, padding=1)),  # 8 × 24
                spectral(nn.Conv2d(width, W, 4, stride=2, padding=1)),  # 4 × 12
                spectral(nn.Conv2d(W, W, 4, stride=2, padding=1)),  # 2 × 6
            ]
        )
        self.compare = nn.Linear(W * 2 * 6, hidden)
        self.score = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Canvases (B, 1, 8, 24) -> numbers (B,)."""
        check_images(x, 1, "x", weight=self.score.weight)
        if x.shape[2:] != (8, 24):
            raise ValueError(f"x must be canvases of 8 × 24 pixels, found {tuple(x.shape[2:])}")
        for convolution in self.convolutions:
            x = F.leaky_relu(convolution(x), 0.2)
        hidden = F.leaky_relu(self.compare(x.flatten(1)), 0.2)  # (B, hidden)
        return self.score(hidden)[:, 0]  # (B,)
