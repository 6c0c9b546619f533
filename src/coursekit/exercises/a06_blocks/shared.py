"""What several questions of this assignment use."""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.assignments.forbidden import TRANSFORMER
from coursekit.exercises.probe import randn

READY_BLOCK = (*TRANSFORMER, "coursekit")


def weights(module: nn.Module, seed: int = 0, scale: float = 0.5) -> dict[str, Tensor]:
    """Return random weights for `module`, by name: always the same for the same names."""
    shapes = {name: weight.shape for name, weight in sorted(module.state_dict().items())}
    return {
        name: scale * randn(*shape, seed=seed + n)
        for n, (name, shape) in enumerate(shapes.items(), 1)
    }
