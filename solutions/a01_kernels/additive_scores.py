"""Bahdanau's kernel: a small network scores each pair, and is told what was read already."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.check.probe import after, module_gradients, randn
from coursetools.questions import hidden, visible


class AdditiveScores(nn.Module):
    def __init__(self, *, query_width, key_width, hidden):
        super().__init__()
        self.query = nn.Linear(query_width, hidden, bias=False)
        self.key = nn.Linear(key_width, hidden, bias=False)
        self.covered = nn.Linear(1, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)

    def forward(self, q, k, covered):
        """q (..., T, query_width), k (..., S, key_width), covered (..., T, S) -> (..., T, S)."""
        pairs = self.query(q)[..., :, None, :] + self.key(k)[..., None, :, :]
        pairs = pairs + self.covered(covered[..., None])  # (..., T, S, hidden)
        return self.score(pairs.tanh())[..., 0]


def _scores(student: object, q: Tensor, k: Tensor, covered: Tensor, hidden: int) -> Tensor:
    """Build the module, give it weights that are always the same, and score q and k with it."""
    module = student.AdditiveScores(query_width=q.shape[-1], key_width=k.shape[-1], hidden=hidden)
    module.load_state_dict(_weights(q.shape[-1], k.shape[-1], hidden))
    return module(q, k, covered)


def _covered(*shape: int) -> Tensor:
    return randn(*shape, seed=14).abs()


def _weights(query_width: int, key_width: int, hidden: int) -> dict[str, Tensor]:
    return {
        "query.weight": randn(hidden, query_width, seed=11),
        "key.weight": randn(hidden, key_width, seed=12),
        "covered.weight": randn(hidden, 1, seed=15),
        "score.weight": randn(1, hidden, seed=13),
    }


@visible("one query, one key")
def one_query_one_key(student):
    return _scores(student, randn(1, 2), randn(1, 2, seed=1), _covered(1, 1), 3)


@visible("queries and keys of different widths")
def queries_and_keys_of_different_widths(student):
    return _scores(student, randn(4, 3), randn(6, 5, seed=1), _covered(4, 6), 8)


@visible("a batch of two")
def a_batch_of_two(student):
    return _scores(student, randn(2, 4, 3), randn(2, 6, 5, seed=1), _covered(2, 4, 6), 8)


@visible("names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.AdditiveScores(query_width=3, key_width=5, hidden=8)
        .state_dict()
        .items()
    }


def build(student, query_width, key_width, hidden_width):
    module = student.AdditiveScores(
        query_width=query_width, key_width=key_width, hidden=hidden_width
    )
    module.load_state_dict(
        {
            "query.weight": randn(hidden_width, query_width, seed=21),
            "key.weight": randn(hidden_width, key_width, seed=22),
            "covered.weight": randn(hidden_width, 1, seed=24),
            "score.weight": randn(1, hidden_width, seed=23),
        }
    )
    return module


@hidden("axes in front that broadcast")
def additive_broadcast(student):
    module = build(student, 3, 5, 4)
    return module(randn(2, 1, 4, 3), randn(3, 6, 5, seed=1), _covered(3, 4, 6))


@hidden("gradients at inputs and weights", weight=2)
def additive_gradients(student):
    module = build(student, 3, 5, 4)
    return module_gradients(module, randn(4, 3), randn(6, 5, seed=1), _covered(4, 6))


@hidden("before anything is covered, an odd function of query and key")
def odd(student):
    module = build(student, 3, 3, 6)
    q, k, nothing = randn(4, 3), randn(5, 3, seed=1), torch.zeros(4, 5)
    return module(-q, -k, nothing), module(q, k, nothing)


@hidden("as many queries as keys, one of them covered again and again")
def additive_square(student):
    covered = torch.tensor([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
    return build(student, 3, 5, 4)(randn(3, 3), randn(3, 5, seed=1), covered)


@hidden("a hidden width of one")
def additive_narrow(student):
    return build(student, 2, 2, 1)(randn(3, 2), randn(4, 2, seed=1), _covered(3, 4))


@hidden("no item of a batch changes another")
def additive_batch(student):
    module = build(student, 3, 5, 4)
    q, k, covered = randn(2, 4, 3), randn(2, 6, 5, seed=1), _covered(2, 4, 6)
    return module(q, k, covered)[1], module(q[1:], k[1:], covered[1:])[0]


@hidden("what was given stays as it was")
def additive_keeps(student):
    return after(build(student, 2, 3, 4), randn(3, 2, seed=2), randn(4, 3, seed=3), _covered(3, 4))
