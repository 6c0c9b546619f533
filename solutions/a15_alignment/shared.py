"""What two questions of this assignment use: log probabilities of texts, and where their answers
stand."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import randn


def texts(
    *shape: int, seed: int, scale: float = 1.0, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor, Tensor]:
    """Return log probabilities (…, T) under a policy and its reference, and where answers stand.

    Prompts, answers and padding have several lengths; outside of the answers the two models
    disagree as well.
    """
    *rows, length = shape
    policy, reference = (
        -scale * (0.2 + randn(*shape, seed=seed + n, dtype=dtype).abs()) for n in (0, 1)
    )
    number = torch.arange(torch.Size(rows).numel()).reshape(*rows, 1)
    begin, end = 1 + number % 3, length - number % 4
    places = torch.arange(length)
    return policy, reference, (places >= begin) & (places < end)


def spoken(begins, ends, length, seed, scale=1.0, dtype=torch.float32):
    """Return log probabilities under two models, one row for each begin, and where answers are."""
    ours, theirs = (
        -scale * randn(len(begins), length, seed=seed + n, dtype=dtype).abs() for n in (0, 1)
    )
    place = torch.arange(length)
    answer = (place >= torch.tensor(begins)[:, None]) & (place < torch.tensor(ends)[:, None])
    return ours, theirs, answer
