"""How far a stack of convolutions sees: by counting, and by asking the gradient.

The book explains both in "Attention in images". A place of the output that does not depend on a
pixel has a gradient of zero there; where the gradient is not zero is the receptive field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from coursekit._base.checks import check_at_least, check_images, check_int


class Convolution(NamedTuple):
    """What the receptive field needs to know of a layer, along one axis; pooling is one, too."""

    kernel: int
    stride: int = 1
    dilation: int = 1


class Reach(NamedTuple):
    """A place of the last map sees `size` pixels; its neighbour's begin `jump` further on."""

    size: int
    jump: int


def receptive_field(layers: Sequence[Convolution | tuple[int, ...]]) -> Reach:
    """Pixels that one place of the last map can depend on, along one axis, from the first layer on.

    Each layer adds (kernel − 1) · dilation steps, and a step is as long as the strides before it
    multiply to.
    """
    size, jump = 1, 1
    for number, layer in enumerate(layers):
        layer = Convolution(*layer)
        check_int(**{f"layers[{number}].{name}": n for name, n in layer._asdict().items()})
        size += (layer.kernel - 1) * layer.dilation * jump
        jump *= layer.stride
    return Reach(size, jump)


def depends_on(
    model: Callable[[Tensor], Tensor], x: Tensor, place: tuple[int, int], *, eps: float = 0.0
) -> Tensor:
    """Where in x (B, C, R, L) does `place` (row, column) of the model's map look? -> bool (R, L).

    The sum of all channels at this place, each with a random weight so that none cancel, is
    differentiated by x; a pixel counts if one of its channels has a gradient above `eps`.
    Weights of 0 would hide a pixel, so ask a model with random ones.
    """
    if not isinstance(x, Tensor) or x.ndim != 4:
        raise ValueError(f"x must be (batch, channels, rows, columns), found {_shape(x)}")
    check_images(x, x.shape[1], "x")
    x = x.detach().requires_grad_()
    check_at_least(eps=eps)
    row, column = place
    y = model(x)
    if y.ndim != 4 or not (-y.shape[2] <= row < y.shape[2] and -y.shape[3] <= column < y.shape[3]):
        raise ValueError(f"the place {place} is not on the model's map, {_shape(y)}")
    cell = y[:, :, row, column]  # (B, C')
    some = torch.Generator().manual_seed(0)
    weights = torch.rand(cell.shape, generator=some).to(cell) + 0.5  # (B, C')
    (gradient,) = torch.autograd.grad((cell * weights).sum(), x, allow_unused=True)
    if gradient is None:
        return torch.zeros(x.shape[2:], dtype=torch.bool)
    return (gradient.abs() > eps).any(dim=1).any(dim=0)  # (R, L)


def _shape(x: object) -> object:
    return tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
