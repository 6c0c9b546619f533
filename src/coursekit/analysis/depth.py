"""What depth does to a stack of blocks: to the tokens on the way up, to the gradients down again.

The book uses these measures in "Blocks". Shapes: B batch, T length, D width, L number of blocks.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit._base.checks import check_numbers
from coursekit.blocks import Stack


def distance_to_equal_rows(x: Tensor) -> Tensor:
    """x (..., T, D) -> (...): ‖x − 1 x̄ᵀ‖ / ‖x‖, which part of x tells its T tokens apart.

    The nearest matrix whose rows are all equal repeats the mean token x̄; norms are Frobenius norms.
    0 says that every token is the same vector, 1 that the tokens have no common part. Dong et al.
    (2021) measure rank collapse by it.
    """
    _check_tokens(x)
    residual = x - x.mean(dim=-2, keepdim=True)  # (..., T, D)
    return _ratio(_norm(residual), _norm(x))  # (...)


def distances_by_depth(stack: Stack, x: Tensor) -> Tensor:
    """x (B, T, D) -> (L + 1,): distance to equal rows of the input and of each block's output.

    The mean over the batch. A norm at the end of the stack is not counted as a block.
    """
    with torch.no_grad():
        hidden = stack.states(x)
    return torch.stack([distance_to_equal_rows(h).mean() for h in hidden])  # (L + 1,)


def gradient_norms(stack: Stack, parameter: str = "feed_forward.contract.weight") -> Tensor:
    """-> (L,): the norm of one parameter's gradient in each block, after a backward pass.

    `parameter` is its name within a block. The default, the second matrix of the feed-forward
    network, is one that Xiong et al. (2020) draw.
    """
    norms = []
    for depth, block in enumerate(stack.blocks):
        parameters = dict(block.named_parameters())
        if parameter not in parameters:
            raise ValueError(
                f"block {depth} has no parameter {parameter!r}; it has {', '.join(parameters)}"
            )
        gradient = parameters[parameter].grad
        if gradient is None:
            raise ValueError(
                f"{parameter!r} of block {depth} has no gradient: call backward() on a loss first"
            )
        norms.append(gradient.norm())
    return torch.stack(norms)  # (L,)


def local_exponents(before: Tensor, after: Tensor) -> Tensor:
    """before, after (N,) -> (N − 1,): the p of after = c · beforeᵖ between neighbouring points.

    1 is the exponent of a map that shrinks by a constant factor, 3 that of pure attention.
    """
    if before.ndim != 1 or before.shape != after.shape or len(before) < 2:
        raise ValueError(
            "before and after must be two lists of one length, at least 2, "
            f"found {tuple(before.shape)} and {tuple(after.shape)}"
        )
    if not (bool((before > 0).all()) and bool((after > 0).all())):
        raise ValueError("a power law has positive numbers only, found one that is not above 0")
    return after.log().diff() / before.log().diff()  # (N − 1,)


def _norm(x: Tensor) -> Tensor:
    return x.flatten(-2).norm(dim=-1)


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """part / whole, and 0 where both are 0: tokens that are all zero are all equal."""
    return part / whole.masked_fill(whole == 0, 1.0)


def _check_tokens(x: Tensor) -> None:
    if x.ndim < 2 or 0 in x.shape[-2:]:
        raise ValueError(f"x must have at least one token, shape (..., T, D), found {(*x.shape,)}")
    if not x.is_floating_point():
        raise TypeError(f"x must be floating point, found {x.dtype}")
    check_numbers(x, "x", finite=True)
