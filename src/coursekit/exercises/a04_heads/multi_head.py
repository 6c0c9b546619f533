"""Several questions at once: attention with many heads."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit.assignments.forbidden import LIBRARY
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="MultiHead",
    title="Several questions at once",
    points=6,
    difficulty=3,
    minutes=40,
    page="heads.html#sec-heads-split",
    hint="Project (x gives the queries, memory or x the keys and values), split each, attend with "
    "the root of the width of a head, merge, and project once more. The scores are (B, H, T, S); "
    "a mask (B, T, S) needs an axis for the heads behind the batch.",
    reference=MultiHead,
    forbidden=LIBRARY,
    needs=("split_heads", "merge_heads"),
)


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


@QUESTION.visible(says="three words, one head")
def three_words_one_head(student):
    return _layer(student, 4, 1)(randn(1, 3, 4))


@QUESTION.visible(says="two sentences, three heads")
def two_sentences_three_heads(student):
    return _layer(student, 12, 3)(randn(2, 5, 12))


@QUESTION.visible(says="keys and values from other sentences")
def keys_and_values_from_other_sentences(student):
    return _layer(student, 12, 2)(randn(2, 4, 12), memory=randn(2, 6, 12, seed=1))


@QUESTION.visible(says="three sentences, three heads, a mask for each sentence")
def three_sentences_three_heads_a_mask(student):
    return _layer(student, 12, 3)(randn(3, 5, 12, seed=2), mask=_mask())


@QUESTION.visible(says="names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.MultiHead(width=12, heads=3).state_dict().items()
    }


QUESTION.mistake(
    "scaled by the model width",
    old="q.shape[-1]",
    new="x.shape[-1]",
    hint="You divide by the root of the model's width. A score is a sum over the width of one "
    "head, width / heads, and that is what counts. With one head the two agree.",
)

QUESTION.mistake(
    "no scale",
    old=" / math.sqrt(q.shape[-1])",
    new="",
    hint="Your output equals the one without a scale. Divide the scores by the root of the "
    "width of a head.",
)

QUESTION.mistake(
    "output projection forgotten",
    old="self.out(mixed.transpose(1, 2).flatten(-2))",
    new="mixed.transpose(1, 2).flatten(-2)",
    hint="You return the heads side by side. One matrix is still to come, self.out: without it "
    "the first columns of the output would hear of the first head only.",
)

QUESTION.mistake(
    "split without a transpose",
    old="y.unflatten(-1, (self.heads, -1)).transpose(1, 2)",
    new="y.reshape(y.shape[0], self.heads, y.shape[1], -1)",
    hint="With one head you are right, with more not: your heads are split by a reshape that "
    "keeps the order of the numbers, so they mix words. Cut the last axis, then transpose.",
)

QUESTION.mistake(
    "merged without a transpose",
    old="mixed.transpose(1, 2).flatten(-2)",
    new="mixed.reshape(x.shape[0], x.shape[1], -1)",
    hint="With one head you are right, with more not: your heads are merged by a reshape alone, "
    "and a row gets several places of one head. Transpose first, then flatten.",
)


@QUESTION.mistake(
    "neither split nor merged with a transpose",
    hint="With one head you are right, with more not: you split and merge by reshape alone. The "
    "two undo each other, so that all looks well, but in between each head holds a stretch "
    "of the sentence. The last question of this notebook is about that.",
)
class BothByView(MultiHead):
    def forward(self, x, memory=None, mask=None):
        memory = x if memory is None else memory
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        q, k, v = (y.reshape(y.shape[0], self.heads, y.shape[1], -1) for y in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -torch.inf)
        mixed = scores.softmax(dim=-1) @ v
        return self.out(mixed.reshape(x.shape[0], x.shape[1], -1))


QUESTION.mistake(
    "the mask's batch taken for the heads",
    old="~mask[:, None]",
    new="~mask",
    hint="Your mask (B, T, S) meets scores (B, H, T, S), and broadcasting starts at the end: "
    "your B is taken for the heads, in silence where B = H. Give it an axis of length 1 "
    "for the heads: mask[:, None].",
)

QUESTION.mistake(
    "only the first head masked",
    old="scores = scores.masked_fill(~mask[:, None], -torch.inf)",
    new=(
        "first = scores[:, :1].masked_fill(~mask[:, None], -torch.inf)\n"
        "            scores = torch.cat([first, scores[:, 1:]], dim=1)"
    ),
    hint="You mask the first head; the others still see everything. mask[:, None] broadcasts "
    "to all of them.",
)

QUESTION.mistake(
    "polarity",
    old="~mask",
    new="mask",
    hint="You forbid where the mask is True. True means may attend: fill where it is False, ~mask.",
)

QUESTION.mistake(
    "mask not used",
    old="mask is not None",
    new="False",
    hint="All is right but for the mask, which changes nothing in your output. Put -inf into "
    "the scores where it is False, before the softmax.",
)

QUESTION.mistake(
    "softmax over the heads",
    old="softmax(dim=-1)",
    new="softmax(dim=1)",
    hint="Your weights sum to 1 over the heads. Each head is a question of its own: in each, "
    "the weights of a query run over the keys, the last axis.",
)

QUESTION.mistake(
    "memory not used",
    old="memory = x if memory is None else memory",
    new=("mask = mask if memory is None else None\n        memory = x"),
    hint="You take keys and values from x even where a memory is given. Then x only asks, and "
    "the memory answers: keys and values come from it.",
)
