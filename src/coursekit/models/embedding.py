"""Words as vectors, and vectors as words: one matrix for both (Press and Wolf, 2017).

Shapes: B batch, T length, D width, V vocabulary.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class WordEmbedding(nn.Embedding):
    """An `nn.Embedding` that can also be read backwards.

    Both readings are calls of this module, and nobody else touches its weight: what moves weights
    about (offloading, sharding) brings them when a module is called, and before that they may be
    elsewhere. For the same reason the `bias` (V,) on the scores lives here.
    """

    def __init__(
        self,
        vocabulary: int,
        width: int,
        *,
        padding_idx: int | None = None,
        bias: nn.Parameter | nn.Buffer | None = None,
    ) -> None:
        super().__init__(vocabulary, width, padding_idx=padding_idx)
        self.bias = bias

    def forward(self, x: Tensor, bias: Tensor | None = None, *, scores: bool = False) -> Tensor:
        """Tokens x (B, T) -> (B, T, D); with `scores`, vectors x (..., D) -> (..., V).

        The score of a word says how well its vector agrees with x; a bias (V,) is added to it, the
        one that is given or else its own.
        """
        if not scores:
            return super().forward(x)
        return F.linear(x, self.weight, self.bias if bias is None else bias)
