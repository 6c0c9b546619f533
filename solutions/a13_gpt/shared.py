"""The small GPT of this assignment: its weights, and the function that reads with them.

`read` stands in the notebook too, as a given cell, for nothing of coursekit is there while an
answer is graded; a test holds the two equal.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from coursekit.check.probe import Chance, randn


def read(model, tokens, places, cache=None):
    """Read tokens (B, T), each at its place (B, T) -> states (B, T, D), and the cache with them."""
    model["log"].append(tokens.shape[1])  # how many tokens of a row this call has read
    x = model["tokens"][tokens] + model["places"][places]  # (B, T, D)
    k, v, seen = x @ model["key"], x @ model["value"], places
    if cache is not None:  # what was read before stands in front
        k, v, seen = (torch.cat(pair, dim=1) for pair in zip(cache, (k, v, seen)))  # (B, S, ...)
    may = (seen[:, None] >= 0) & (seen[:, None] <= places[:, :, None])  # (B, T, S)
    scores = (x @ model["query"]) @ k.mT / k.shape[-1] ** 0.5  # (B, T, S)
    weights = scores.masked_fill(~may, -torch.inf).softmax(dim=-1).nan_to_num()  # no key: 0
    return x + weights @ v, (k, v, seen)


def small_gpt(
    seed: int,
    vocabulary: int = 20,
    width: int = 12,
    length: int = 40,
    dtype: torch.dtype = torch.float32,
) -> dict[str, Any]:
    """Return the weights of a GPT that has learned nothing, and an empty log."""
    sizes = {
        "tokens": (vocabulary, width),
        "places": (length, width),
        "query": (width, width),
        "key": (width, width),
        "value": (width, width),
        "output": (width, vocabulary),
    }
    scales = {"query": 0.5, "key": 0.5, "value": 0.6}
    drawn = {
        name: scales.get(name, 1.0) * randn(*size, seed=100 * seed + place, dtype=dtype)
        for place, (name, size) in enumerate(sizes.items())
    }
    return {**drawn, "log": []}


def prompts_of(*lengths: int, seed: int, pad: int = 0, vocabulary: int = 20) -> Tensor:
    """Return prompts of these lengths, padded on the right; nothing else is 0 or the last id."""
    generator = Chance(seed)
    rows = generator.randint(1, vocabulary - 1, (len(lengths), max(lengths)))
    return rows.masked_fill(torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None], pad)
