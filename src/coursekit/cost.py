"""Cost: what the four layers of Table 1 in Vaswani et al. (2017) ask for, counted and not ordered.

n positions, width d. The paper writes O(n²·d); these functions write the number. A test holds the
FLOPs against torch's counter, the bytes against what autograd really keeps, and the path lengths
against a breadth-first search. The book uses them in "Many heads" and "Masking". `training_flops`
is the cost of a whole training, which "GPT" needs for its law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from coursekit._base.checks import check_int


@dataclass(frozen=True)
class LayerCost:
    """What one layer costs for one sequence.

    `flops` counts a multiplication and an addition as two, in matrix products only. `sequential` is
    how many steps must wait for each other. `path` is how many steps (recurrent) or layers (the
    others) a signal needs between two positions n − 1 apart. `bytes` is what the backward pass must
    find again in memory: inputs and results between, without the weights.
    """

    flops: int
    sequential: int
    path: int
    bytes: int


def self_attention(n: int, d: int, *, heads: int = 1, itemsize: int = 4) -> LayerCost:
    """Each position looks at all n: two products of n × d by d × n; the projections not counted."""
    check_int(n=n, d=d, heads=heads, itemsize=itemsize)
    numbers = 3 * n * d + heads * n * n  # queries, keys, values; the weights of each head
    return LayerCost(flops=4 * n * n * d, sequential=1, path=1, bytes=numbers * itemsize)


def recurrent(n: int, d: int, *, itemsize: int = 4) -> LayerCost:
    """h_t = tanh(W x_t + U h_{t−1}): two d × d products for each position, one after the other."""
    check_int(n=n, d=d, itemsize=itemsize)
    numbers = 2 * n * d  # inputs and states
    return LayerCost(flops=4 * n * d * d, sequential=n, path=n, bytes=numbers * itemsize)


def convolutional(
    n: int, d: int, *, kernel: int, dilated: bool = True, itemsize: int = 4
) -> LayerCost:
    """Each position sees `kernel` (odd) neighbours, itself in the middle, through d × d weights.

    With `dilated` the l-th layer looks kernel^l apart, so that the reach grows by a power each
    layer: the paper's log_k(n). Without it, layers of contiguous kernels are stacked: n/k.
    """
    check_int(n=n, d=d, kernel=kernel, itemsize=itemsize)
    if kernel < 3 or kernel % 2 == 0:
        raise ValueError(f"kernel must be odd and at least 3, found {kernel}")
    radius, layers, reach = kernel // 2, 0, 0
    if dilated:
        while reach < n - 1:
            reach += radius * kernel**layers
            layers += 1
    else:
        layers = math.ceil((n - 1) / radius)
    return LayerCost(
        flops=2 * kernel * n * d * d, sequential=1, path=max(layers, 1), bytes=n * d * itemsize
    )


def restricted(n: int, d: int, *, radius: int, heads: int = 1, itemsize: int = 4) -> LayerCost:
    """Self-attention to `radius` neighbours on either side: the paper's r is 2·radius + 1.

    Counted for a window that lies wholly within the sequence; at both ends it is a little less.
    """
    check_int(n=n, d=d, radius=radius, heads=heads, itemsize=itemsize)
    r = min(2 * radius + 1, n)
    return LayerCost(
        flops=4 * n * r * d,
        sequential=1,
        path=max(math.ceil((n - 1) / radius), 1),
        bytes=(3 * n * d + heads * n * r) * itemsize,
    )


def training_flops(
    tokens: int,
    *,
    weights: int,
    depth: int,
    width: int,
    length: int,
    window: int | None = None,
    vocabulary: int = 0,
) -> float:
    """Return what it costs to train a GPT on `tokens` tokens, read in windows of `length`.

    Forward, each weight of a matrix is multiplied and added once for a token: 2. Backward that is
    done twice, for the gradients of what came in and of the weight: 6 in all. To this comes the
    attention of `depth` layers, two products of `width` with each key that a token may see: all
    before it and itself, at most `window`. `weights` are those of the matrices in the blocks. The
    embedding is looked up and not multiplied; with a `vocabulary` the output matrix is counted too,
    which Kaplan et al. (2020) leave out.
    """
    check_int(tokens=tokens, weights=weights, depth=depth, width=width, length=length)
    check_int(0, vocabulary=vocabulary, window=window or 0)
    keys = sum(min(place, window or length) for place in range(1, length + 1)) / length  # mean
    return 6.0 * tokens * (weights + vocabulary * width + 2 * depth * width * keys)
