"""AdamW and RAdam, written to be read; a test holds each equal to torch's own.

Adam divides each gradient by its own usual size, so every weight takes steps of about the same
length. The usual size is a running mean of squares, and of few gradients a mean says little: that
is why Adam wants a warm-up, and what RAdam puts a number on. In trainings take torch's fused ones,
`torch.optim.AdamW(..., fused=True)`, which do the same in one pass over the memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor
from torch.optim import Optimizer

from coursekit._base.checks import check_at_least


class AdamW(Optimizer):
    """Adam with decay that is not divided (Kingma and Ba, 2015; Loshchilov and Hutter, 2019).

    m ← β₁ m + (1 − β₁) g            the mean gradient
    v ← β₂ v + (1 − β₂) g²           its mean square
    w ← w − η λ w − η m̂ / (√v̂ + ε)   m̂ and v̂ are m and v over 1 − βᵗ, for both begin at 0

    Had the decay λ w been added to the gradient, it would be divided by √v̂ too, and weights with
    large gradients would hardly decay at all. A complex weight counts as two, as torch has it.
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        check_at_least(lr=lr, eps=eps, weight_decay=weight_decay)
        if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"betas must be at least 0 and below 1, found {betas}")
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(parameters, defaults)

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Change every weight that has a gradient; return what `closure` does, if there is one."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._update(weight, weight.grad, self.state[weight], group)
        return loss

    def _update(
        self, weight: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        if gradient.is_sparse:
            raise TypeError(
                "the gradient of a weight is sparse; make the embedding with a full one"
            )
        if weight.is_complex():
            weight, gradient = torch.view_as_real(weight), torch.view_as_real(gradient)
        if not state:
            state["step"] = 0
            state["mean"], state["square"] = torch.zeros_like(weight), torch.zeros_like(weight)
        first, second = group["betas"]
        state["step"] += 1
        mean = state["mean"].lerp_(gradient, 1 - first)
        square = state["square"].mul_(second).addcmul_(gradient, gradient, value=1 - second)
        weight.mul_(1 - group["lr"] * group["weight_decay"])
        self._move(weight, mean, square, state["step"], group)

    def _move(
        self, weight: Tensor, mean: Tensor, square: Tensor, step: int, group: dict[str, Any]
    ) -> None:
        first, second = group["betas"]
        usual = (square / (1 - second**step)).sqrt() + group["eps"]
        weight.addcdiv_(mean, usual, value=-group["lr"] / (1 - first**step))


class RAdam(AdamW):
    """Adam that does not divide as long as it knows too little (Liu et al., 2020).

    After t gradients the running mean of squares is as good as the plain mean of about
    ρ = 2 / (1 − β₂) − 1 − 2 t β₂ᵗ / (1 − β₂ᵗ) of them. While ρ is 5 or less, the step is that of
    the mean gradient alone; after that it is Adam's times a factor that grows to 1. The paper
    divides from ρ > 4 on; 5 is its authors' program, and torch's.
    """

    def _move(
        self, weight: Tensor, mean: Tensor, square: Tensor, step: int, group: dict[str, Any]
    ) -> None:
        first, second = group["betas"]
        rate = group["lr"] / (1 - first**step)
        most = 2 / (1 - second) - 1
        rectified = most - 2 * step * second**step / (1 - second**step)
        if rectified <= 5:
            weight.add_(mean, alpha=-rate)
            return
        trust = (rectified - 4) * (rectified - 2) * most / ((most - 4) * (most - 2) * rectified)
        usual = (square.sqrt() + group["eps"]) / math.sqrt(1 - second**step)
        weight.addcdiv_(mean, usual, value=-rate * math.sqrt(trust))
