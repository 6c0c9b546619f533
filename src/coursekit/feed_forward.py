"""The feed-forward network of a block: what each position does on its own.

Two linear maps with an activation between them. Later models multiply its result by another linear
map of the input, a gate (Shazeer, 2020). The book explains both in "Blocks".
Shapes: B batch, T length, D width.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from coursekit._base.checks import check_fraction, check_int
from coursekit.activations import relu
from coursekit.norms import make_norm


class FeedForward(nn.Module):
    """Two linear maps with an activation between them, the same for every position.

    `gated` puts a third map beside the first and multiplies: contract(activation(gate x) ⊙ expand
    x). With `silu` this is SwiGLU (Llama), with `gelu` GEGLU (T5 1.1), with `relu` ReGLU. `hidden`
    is 4 · width, or with a gate two thirds of that, so that the number of weights stays the same.
    `inner_norm` normalises the hidden layer after the activation, as NormFormer does, by
    `rms_norm` or LayerNorm.
    """

    def __init__(
        self,
        *,
        width: int,
        hidden: int | None = None,
        activation: Callable[[Tensor], Tensor] = relu,
        gated: bool = False,
        dropout: float = 0.0,
        bias: bool = True,
        inner_norm: bool = False,
        eps: float = 1e-5,
        rms_norm: bool = False,
    ) -> None:
        super().__init__()
        check_int(width=width)
        check_fraction(dropout=dropout)
        if hidden is None:
            hidden = 8 * width // 3 if gated else 4 * width
        check_int(hidden=hidden)
        if not callable(activation):
            raise TypeError(
                "activation must be a function such as coursekit.activations.gelu, "
                f"found {activation!r}"
            )
        self.activation = activation
        self.expand = nn.Linear(width, hidden, bias=bias)
        self.gate = nn.Linear(width, hidden, bias=bias) if gated else None
        self.norm = make_norm(hidden, rms=rms_norm, eps=eps) if inner_norm else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        self.contract = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        if self.gate is None:
            hidden = self.activation(self.expand(x))  # (B, T, hidden)
        else:
            hidden = self.activation(self.gate(x)) * self.expand(x)  # (B, T, hidden)
        return self.contract(self.dropout(self.norm(hidden)))  # (B, T, D)
