"""Words as vectors, and vectors as words: one matrix for both (Press and Wolf, 2017).

The book explains it in "The Transformer that translates" and "GPT".
Shapes: B batch, T length, D width, V vocabulary.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import check_int


class WordEmbedding(nn.Embedding):
    """An `nn.Embedding` that is also the output layer, with a `bias` (V,) on the scores."""

    def __init__(
        self,
        vocabulary: int,
        width: int,
        *,
        padding_idx: int | None = None,
        bias: nn.Parameter | nn.Buffer | None = None,
    ) -> None:
        check_int(vocabulary=vocabulary, width=width)
        super().__init__(vocabulary, width, padding_idx=padding_idx)
        self.bias = bias

    def scores(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        """x (..., D) -> (..., V): how well each word's vector agrees with x, plus its bias.

        A `bias` (V,) that is given takes the place of its own. It is a call of this module, so that
        offloading and sharding, which bring a module's weights when it is called, bring them here.
        """
        return self(x, bias, backwards=True)

    def forward(self, x: Tensor, bias: Tensor | None = None, *, backwards: bool = False) -> Tensor:
        """Tokens x (B, T) -> (B, T, D); `backwards` as in `scores`."""
        if not backwards:
            return super().forward(x)
        return F.linear(x, self.weight, self.bias if bias is None else bias)
