"""The span of a passage that answers a question, from two logits for every token (SQuAD).

The book explains it in "Fine-tuning practice". Shapes: B batch, T length.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import check_int, check_numbers, check_shape


class SpanLogits(NamedTuple):
    """How well each token begins the answer, S·Tᵢ, and how well it ends it, E·Tⱼ."""

    start: Tensor  # (B, T)
    end: Tensor  # (B, T)


class Span(NamedTuple):
    """The best span of each row, both ends included, and its score S·Tᵢ + E·Tⱼ."""

    start: Tensor  # (B,)
    end: Tensor  # (B,)
    score: Tensor  # (B,)


def best_span(
    start: Tensor, end: Tensor, allowed: Tensor | None, *, longest: int | None = None
) -> Span:
    """Logits start, end (B, T) -> the span i ≤ j with the highest start[i] + end[j].

    It begins and ends where `allowed` (B, T) is True, in the passage and not in the question or the
    padding (None: anywhere), and has at most `longest` tokens. Where a question may have no answer
    (SQuAD 2.0), compare its score with that of the empty answer, start[:, 0] + end[:, 0] at [CLS].
    """
    check_shape(start, "start", "batch, length")
    check_shape(end, "end", start.shape)
    for name, logits in (("start", start), ("end", end)):
        check_numbers(logits, name)
    T = start.shape[1]
    longest = T if longest is None else longest
    check_int(longest=longest)
    longest = min(longest, T)
    if allowed is not None:
        check_shape(allowed, "allowed", start.shape, torch.bool)
        start, end = (logits.masked_fill(~allowed, -torch.inf) for logits in (start, end))
    # For each end j, its best start among the `longest` places up to j.
    reachable = F.pad(start, (longest - 1, 0), value=-torch.inf).unfold(1, longest, 1)
    best, back = reachable.max(dim=-1)  # 2 × (B, T); reachable is a view (B, T, longest)
    score, last = (best + end).max(dim=-1)  # 2 × (B,)
    if (score == -torch.inf).any():
        row = int((score == -torch.inf).nonzero()[0])
        raise ValueError(f"row {row} has no place where an answer may begin and end")
    first = last - (longest - 1) + back.gather(1, last[:, None])[:, 0]  # (B,)
    return Span(first, last, score)
