"""Norms: bring a vector to a common size before a sublayer reads it.

`LayerNorm` subtracts the mean and divides by the standard deviation; torch has it. `RMSNorm` leaves
the mean where it is and divides by the root mean square (Zhang and Sennrich, 2019): T5 and Llama
found that this does as well, and it is less work. The book explains both in "Blocks".
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import check_at_least, check_int
from coursekit.kernels import upcast


def rms_norm(x: Tensor, weight: Tensor | None = None, *, eps: float = 1e-5) -> Tensor:
    """x (..., D), weight (D,) -> (..., D): x / √(mean of x² + eps), times the weight."""
    check_at_least(eps=eps)
    wide = upcast(x)  # (..., D)
    y = wide / (wide.square().mean(dim=-1, keepdim=True) + eps).sqrt()  # (..., D)
    return (y if weight is None else y * weight).to(x.dtype)


class RMSNorm(nn.Module):
    """`rms_norm` with a learned weight for each of `width` numbers, in torch's fused call.

    It computes in single precision where x is in half precision, and answers in that of x.
    """

    def __init__(self, width: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        check_int(width=width)
        check_at_least(eps=eps)
        self.width, self.eps = width, eps
        self.weight = nn.Parameter(torch.ones(width))  # (D,)

    def forward(self, x: Tensor) -> Tensor:
        """x (..., D) -> (..., D)."""
        return F.rms_norm(x, (self.width,), self.weight, self.eps)

    def extra_repr(self) -> str:
        """Say how wide it is."""
        return f"{self.width}, eps={self.eps}"


def make_norm(width: int, *, rms: bool, eps: float) -> nn.Module:
    """Return an `RMSNorm` or torch's LayerNorm."""
    check_at_least(eps=eps)
    return RMSNorm(width, eps=eps) if rms else nn.LayerNorm(width, eps=eps)
