"""Rows of different length: padded into one tensor, and grouped so that batches weigh the same.

The book pads and groups in "Masking" and "The Transformer that translates".
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from coursekit._base.checks import check_int


def pad_rows(rows: Sequence[Sequence[int] | Tensor], pad: int) -> Tensor:
    """Return the rows as one tensor (B, T) of ids, T the longest; `pad` fills the right side."""
    if not len(rows):
        raise ValueError("a batch needs at least one row, found none")
    check_int(-torch.inf, pad=pad)
    tensors = [torch.as_tensor(row, dtype=torch.long) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=pad)  # (B, T)


def batches_of_tokens(lengths: Sequence[int], limit: int) -> list[list[int]]:
    """Group the rows 0, 1, … of these `lengths` into batches, in order; return their indices.

    A batch takes rows as long as they hold at most `limit` tokens together, so short rows come in
    larger batches (RoBERTa does so for SENTENCE-PAIR and DOC-SENTENCES). A row that is longer than
    `limit` is a batch of its own.
    """
    check_int(limit=limit)
    batches: list[list[int]] = []
    held = 0
    for index, length in enumerate(lengths):
        if not batches or held + length > limit:
            batches.append([])
            held = 0
        batches[-1].append(index)
        held += length
    return batches
