"""What several questions of this assignment use."""

from __future__ import annotations

import torch

from coursekit.check.probe import Chance, randn


def frames(shape, seed, widest=0.7, dtype=torch.float32):
    """Return boxes around many places, a few of them very thin."""
    numbers = randn(*shape, 4, seed=seed, dtype=torch.float64).sigmoid()
    numbers[..., 2:] = 0.01 + widest * numbers[..., 2:] ** 1.5
    return numbers.to(dtype)


def crowd(objects, queries, kinds, seed, near=0.5, dtype=torch.float32):
    """Return what a model says of images with so many objects each, and these."""
    chance = Chance(9000 + seed)
    kind = [chance.randperm(max(kinds, n))[:n] % kinds for n in objects]
    true = [frames((n,), seed + 20 + n, 0.4, dtype=torch.float64) for n in objects]
    said = 1.2 * randn(len(objects), queries, kinds + 1, seed=seed, dtype=torch.float64)
    boxes = frames((len(objects), queries), seed + 1, 0.4, dtype=torch.float64)
    for image, n in enumerate(objects):
        if n:
            about = chance.randint(n, (queries,))
            boxes[image] = near * true[image][about] + (1 - near) * boxes[image]
            said[image, torch.arange(queries), kind[image][about]] += 1.5
    return said.to(dtype), boxes.to(dtype), kind, [box.to(dtype) for box in true]
