"""What several questions of this assignment use."""

from __future__ import annotations

import torch

from coursekit.check.probe import randn


def squares(images, patches, numbers, seed, dtype=torch.float32):
    """Return patches of several brightnesses and contrasts, and a decoder's answer."""
    light = torch.linspace(-1.0, 3.0, images * patches, dtype=dtype).reshape(images, patches, 1)
    pixels = randn(images, patches, numbers, seed=seed, dtype=dtype)
    answer = randn(images, patches, numbers, seed=seed + 1, dtype=dtype)
    return light + (0.1 + light.square()) * pixels, 1.1 * answer - 0.1
