"""Several questions at once: attention with many heads."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit.check.probe import after, module_gradients, randn
from coursetools.questions import hidden, visible


class MultiHead(nn.Module):
    def __init__(self, *, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, memory=None, mask=None):
        """x (B, T, D), memory (B, S, D), mask (B, T, S) -> (B, T, D)."""
        memory = x if memory is None else memory
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -torch.inf)
        mixed = scores.softmax(dim=-1) @ v  # (B, H, T, Dh)
        return self.out(mixed.transpose(1, 2).flatten(-2))


def _layer(student: object, width: int, heads: int) -> object:
    """Build the module and give it weights that are always the same."""
    layer = student.MultiHead(width=width, heads=heads)
    names = ("query", "key", "value", "out")
    weights = {f"{n}.weight": randn(width, width, seed=11 + i) / 2 for i, n in enumerate(names)}
    biases = {f"{n}.bias": randn(width, seed=21 + i) for i, n in enumerate(names)}
    layer.load_state_dict({**weights, **biases})
    return layer


def _mask() -> Tensor:
    return (randn(3, 5, 5, seed=31) > 0) | torch.eye(5, dtype=torch.bool)  # one for each sentence


@visible("three words, one head")
def three_words_one_head(student):
    return _layer(student, 4, 1)(randn(1, 3, 4))


@visible("two sentences, three heads")
def two_sentences_three_heads(student):
    return _layer(student, 12, 3)(randn(2, 5, 12))


@visible("keys and values from other sentences")
def keys_and_values_from_other_sentences(student):
    return _layer(student, 12, 2)(randn(2, 4, 12), memory=randn(2, 6, 12, seed=1))


@visible("three sentences, three heads, a mask for each sentence")
def three_sentences_three_heads_a_mask(student):
    return _layer(student, 12, 3)(randn(3, 5, 12, seed=2), mask=_mask())


@visible("names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.MultiHead(width=12, heads=3).state_dict().items()
    }


NAMES = ("query", "key", "value", "out")


def build(student, width, heads, scale=0.4):
    hidden_layer = student.MultiHead(width=width, heads=heads)
    state = {f"{n}.weight": scale * randn(width, width, seed=41 + i) for i, n in enumerate(NAMES)}
    state |= {f"{n}.bias": randn(width, seed=51 + i) for i, n in enumerate(NAMES)}
    hidden_layer.load_state_dict(state)
    return hidden_layer


def some_mask(*shape, seed=0):
    """Return a random mask in which each query may look at the first key at least."""
    mask = randn(*shape, seed=61 + seed) > 0.2
    mask[..., 0] = True
    return mask


@hidden("one word only")
def multi_one_word(student):
    return build(student, 6, 2)(randn(2, 1, 6))


@hidden("as many heads as columns")
def multi_narrow(student):
    return build(student, 6, 6)(randn(2, 4, 6, seed=1))


@hidden("other sentences and a mask for each", weight=2)
def multi_memory_mask(student):
    x, memory = randn(2, 4, 12, seed=2), randn(2, 7, 12, seed=3)
    return build(student, 12, 4)(x, memory=memory, mask=some_mask(2, 4, 7))


@hidden("as many sentences as heads", weight=2)
def multi_square(student):
    return build(student, 8, 2)(randn(2, 5, 8, seed=4), mask=some_mask(2, 5, 5, seed=1))


@hidden("no sentence of a batch changes another")
def multi_batch(student):
    layer, x, mask = build(student, 8, 2), randn(3, 4, 8, seed=5), some_mask(3, 4, 4, seed=2)
    return layer(x, mask=mask)[1], layer(x[1:2], mask=mask[1:2])[0]


@hidden("large scores")
def multi_large(student):
    return [build(student, 8, 2, scale=scale)(randn(1, 4, 8, seed=6)) for scale in (6.0, 2.0)]


@hidden("shuffled words give shuffled outputs")
def multi_shuffled(student):
    layer, x, order = build(student, 8, 4), randn(1, 5, 8, seed=7), torch.tensor([3, 0, 4, 1, 2])
    return layer(x)[:, order], layer(x[:, order])


@hidden("gradients at inputs and weights", weight=2)
def multi_gradients(student):
    x, memory = randn(2, 3, 8, seed=8), randn(2, 4, 8, seed=9)
    return module_gradients(build(student, 8, 2), x, memory, some_mask(2, 3, 4, seed=3))


@hidden("sentences, memory and mask stay as they were")
def multi_keeps(student):
    x, memory = randn(2, 3, 6, seed=10), randn(2, 4, 6, seed=11)
    return after(build(student, 6, 3), x, memory, some_mask(2, 3, 4, seed=4))
