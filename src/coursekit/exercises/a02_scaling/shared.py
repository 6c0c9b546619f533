"""What several questions of this assignment use."""

from __future__ import annotations

AUTOGRAD = ("torch.autograd", "torch.func", "functorch", "torch.Tensor.backward")
