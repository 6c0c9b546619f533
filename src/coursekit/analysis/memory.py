"""Where the memory of a training goes: weights, gradients, Adam's means, activations.

The first three are a number each for every weight, or two; they do not know how long a text is. The
activations are what the forward pass leaves behind for the backward pass, and grow with the batch.
`counted` finds all four from the shapes alone, for models of any size; `measured` makes a real
step and counts the bytes that are there. A test holds both equal. The book uses them in "Limits".
Shapes: B rows of a batch, T length, D width, F width inside the feed-forward network, H heads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.optim import Optimizer

from coursekit._base.checks import check_at_least, check_int
from coursekit.models.bert import Bert, BertConfig
from coursekit.models.gpt import GPT, GPTConfig

FLOAT, TOKEN = 4, 8  # bytes of a number and of a token's id


class Activations(NamedTuple):
    """Bytes that a forward pass leaves behind: in the blocks, in T × T tables, below and above."""

    blocks: int
    tables: int
    ends: int

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


class Memory(NamedTuple):
    """Bytes of a training by part."""

    weights: int
    gradients: int
    moments: int  # Adam's two running means
    activations: int

    @property
    def total(self) -> int:
        """All parts together."""
        return sum(self)


def activations(
    config: GPTConfig | BertConfig, *, batch: int, length: int, fused: bool = True
) -> Activations:
    """Count what a forward pass keeps, from shapes, for GPT-2's kind of GPT and for BERT's encoder.

    GPT is counted with its scores for words and their cross-entropy, BERT without a head. `fused`
    attention computes the T × T weights a second time on the way back and stores none. Dropout on
    the attention weights is not fused on a processor: it stores three such tables for each head.
    """
    check_int(batch=batch, length=length)
    if isinstance(config, GPTConfig) and (
        config.rotary or config.gated or config.rms_norm or config.kv_heads
    ):
        raise ValueError("only the parts of GPT-2 are counted here, found some of Llama")
    B, T, D, H = batch, length, config.width, config.heads
    F = config.hidden or 4 * D
    drops = config.dropout > 0
    stored = not fused or config.attention_dropout > 0
    # A block keeps what its four products read (D, D, D, F), queries, keys and values (3D), what
    # the bend reads (F), the two norms' inputs (2D) with a mean and a size for each (2 + 2); and
    # for each sublayer with dropout which numbers it dropped (D).
    block = B * T * (8 * D + 2 * F + 4 + (2 * D if drops else 0))
    if not stored:
        block += B * T * H  # the logarithm of the sum that divides a row of weights
    elif B == 1:  # the values need no copy then, and hold on to the queries and keys beside them
        block += T * 2 * D
    tables = B * H * T * T * (3 if config.attention_dropout > 0 else 1) if stored else 0
    ends = B * T * (D + 2)  # the norm behind the last block (GPT), or of the embeddings (BERT)
    embedded = B * T * TOKEN
    if isinstance(config, GPTConfig):
        ends += B * T * (D + config.vocabulary) + 1  # what the scores read, the scores, their count
        ends += B * T * D if config.embedding_dropout > 0 else 0
    else:
        ends += B * T * D if drops else 0
        embedded += (T + 1) * TOKEN  # places and the one segment
    return Activations(
        FLOAT * config.depth * block, FLOAT * config.depth * tables, FLOAT * ends + embedded
    )


def counted(
    config: GPTConfig | BertConfig, *, batch: int, length: int, fused: bool = True
) -> Memory:
    """Count all parts of a training with Adam in numbers of 4 bytes, without building the model."""
    weights = FLOAT * _parameters(config)
    stored = activations(config, batch=batch, length=length, fused=fused)
    return Memory(weights, weights, 2 * weights, stored.total)


def kept_bytes(run: Callable[[], object], model: nn.Module) -> int:
    """Return the bytes that autograd keeps while `run()` goes forward, without the weights.

    Each storage counts once and whole, however many tensors look into it. On the meta device, where
    tensors have shapes and no numbers, this costs nothing.
    """
    weights = {weight.untyped_storage()._cdata for weight in model.parameters()}
    storages = {}

    def keep(tensor: Tensor) -> Tensor:
        store = tensor.untyped_storage()
        if store._cdata not in weights:
            storages[store._cdata] = store  # held, so that no other gets its number
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        run()
    return sum(store.nbytes() for store in storages.values())


def measured(model: nn.Module, loss: Callable[[], Tensor], optimiser: Optimizer) -> Memory:
    """Make one step, and count the bytes of each part that is there at its largest."""
    losses: list[Tensor] = []
    stored = kept_bytes(lambda: losses.append(loss()), model)
    optimiser.zero_grad()
    losses[0].backward()
    optimiser.step()
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    states = [value for state in optimiser.state.values() for value in state.values()]
    return Memory(
        sum(_bytes(weight) for weight in model.parameters()),
        sum(_bytes(weight.grad) for weight in weights if weight.grad is not None),
        sum(_bytes(value) for value in states if isinstance(value, Tensor) and value.ndim),
        stored,
    )


def rows_that_fit(
    config: GPTConfig | BertConfig, *, length: int, room: float, fused: bool = True
) -> int:
    """Return how many rows of `length` tokens a training step may have within `room` bytes."""
    check_at_least(room=room)
    totals = [counted(config, batch=n, length=length, fused=fused).total for n in (1, 2, 3)]
    row = totals[2] - totals[1]
    rows = int((room - totals[1]) // row) + 2
    return rows if rows > 1 else int(totals[0] <= room)


@cache
def _parameters(config: GPTConfig | BertConfig) -> int:
    with torch.device("meta"):
        model = GPT(config) if isinstance(config, GPTConfig) else Bert(config, pooler=False)
    return sum(weight.numel() for weight in model.parameters())


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
