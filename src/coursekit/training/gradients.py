"""Gradients: kept from taking a step that is too long (Pascanu et al., 2013).

The book explains it in "Training practice".
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_at_least, check_positive, check_tensor


@torch.no_grad()
def clip_gradients(
    parameters: nn.Module | Tensor | Iterable[Tensor], largest: float, *, eps: float = 1e-6
) -> Tensor:
    """Shrink all gradients by one factor, so that their norm together is at most `largest`.

    They keep their direction. Returns the norm from before. Parameters without a gradient are
    passed over. `torch.nn.utils.clip_grad_norm_`, which `train` uses, does the same.
    """
    check_positive(largest=largest)
    check_at_least(eps=eps)
    if isinstance(parameters, nn.Module):
        parameters = parameters.parameters()
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    for weight in parameters:
        check_tensor(weight, "each of the parameters")
    gradients = [weight.grad for weight in parameters if weight.grad is not None]
    if not gradients:
        return torch.tensor(0.0)
    device = gradients[0].device
    norms = [torch.linalg.vector_norm(gradient).to(device) for gradient in gradients]
    norm = torch.linalg.vector_norm(torch.stack(norms))  # ()
    factor = (largest / (norm + eps)).clamp(max=1.0)  # short gradients stay as they are
    for gradient in gradients:
        gradient.mul_(factor.to(gradient.device))
    return norm
