"""SAGAN: self-attention between the places of a feature map (Zhang et al., 2019).

A convolution sees a neighbourhood; this module lets every place look at every other one. It stands
in the middle of a convolutional generator or discriminator and starts as the identity, for what it
finds is multiplied by γ, which starts at 0. The book explains it in "Attention in images".

Where it departs from the paper: nothing in the defaults. `value_reduction=2` with `pool=True` is
what its code does (wider values; keys and values from a map of half the side).
Shapes: B batch, C channels, N places, S places that are looked at (N, or N / 4 with `pool`).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm as normalise_spectrally

from coursekit._check import check_images, check_whole
from coursekit.attention import attention, fused_attention
from coursekit.kernels import dot


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
        value_reduction = reduction if value_reduction is None else value_reduction
        check_whole(channels=channels, reduction=reduction, value_reduction=value_reduction)
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

    def forward(self, x: Tensor, *, return_weights: bool = False) -> Tensor | tuple[Tensor, Tensor]:
        """x (B, C, height, width) -> the same shape, and weights (B, N, S) on request."""
        check_images(x, self.channels, "x", weight=self.gamma)
        q, k, v = self.query(x), self.key(x), self.value(x)  # (B, channels of each, height, width)
        if self.pool:
            k, v = F.max_pool2d(k, 2), F.max_pool2d(v, 2)  # half the side, a quarter of the places
        q, k, v = (part.flatten(2).mT[:, None] for part in (q, k, v))  # (B, 1, N or S, channels)
        weights = None
        if return_weights:
            seen, weights = attention(q, k, v, kernel=dot, return_weights=True)  # (B, 1, N, S)
            weights = weights[:, 0]  # (B, N, S)
        else:
            seen = fused_attention(q, k, v, scale=1.0)  # (B, 1, N, channels of v)
        seen = seen[:, 0].mT.unflatten(-1, x.shape[2:])  # (B, channels of v, height, width)
        y = self.gamma * self.out(seen) + x  # (B, C, height, width)
        return (y, weights) if return_weights else y
