"""What several questions of this assignment use."""

from __future__ import annotations

import torch
from torch import Tensor


def nines() -> Tensor:
    """9 closes a text and fills its row, 0 is a word."""
    return torch.tensor([[0, 3, 0, 9, 9], [4, 0, 2, 1, 6], [0, 9, 9, 9, 9]])
