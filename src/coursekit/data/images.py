"""Small grey pictures with labels, as the image sets of the course return them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Images:
    """Pictures (N, height, width) uint8, labels (N,) int64, and what the labels are called."""

    images: Tensor
    labels: Tensor
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: Sequence[int]) -> Images:
        """Return some of the pictures, in this order."""
        chosen = list(indices)
        return Images(self.images[chosen], self.labels[chosen], self.names)
