"""Bahdanau's kernel: a small network scores each pair."""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.check.probe import module_gradients, randn
from coursekit.questions import hidden, visible


class AdditiveScores(nn.Module):
    def __init__(self, *, query_width, key_width, hidden):
        super().__init__()
        self.query = nn.Linear(query_width, hidden, bias=False)
        self.key = nn.Linear(key_width, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)

    def forward(self, q, k):
        """q (..., T, query_width), k (..., S, key_width) -> scores (..., T, S)."""
        pairs = self.query(q)[..., :, None, :] + self.key(k)[..., None, :, :]
        return self.score(pairs.tanh())[..., 0]


def _scores(student: object, q: Tensor, k: Tensor, hidden: int) -> Tensor:
    """Build the module, give it weights that are always the same, and score q and k with it."""
    module = student.AdditiveScores(query_width=q.shape[-1], key_width=k.shape[-1], hidden=hidden)
    module.load_state_dict(_weights(q.shape[-1], k.shape[-1], hidden))
    return module(q, k)


def _weights(query_width: int, key_width: int, hidden: int) -> dict[str, Tensor]:
    return {
        "query.weight": randn(hidden, query_width, seed=11),
        "key.weight": randn(hidden, key_width, seed=12),
        "score.weight": randn(1, hidden, seed=13),
    }


@visible("one query, one key")
def one_query_one_key(student):
    return _scores(student, randn(1, 2), randn(1, 2, seed=1), 3)


@visible("queries and keys of different widths")
def queries_and_keys_of_different_widths(student):
    return _scores(student, randn(4, 3), randn(6, 5, seed=1), 8)


@visible("a batch of two")
def a_batch_of_two(student):
    return _scores(student, randn(2, 4, 3), randn(2, 6, 5, seed=1), 8)


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
            "score.weight": randn(1, hidden_width, seed=23),
        }
    )
    return module


@hidden("axes in front that broadcast")
def additive_broadcast(student):
    return build(student, 3, 5, 4)(randn(2, 1, 4, 3), randn(3, 6, 5, seed=1))


@hidden("gradients at inputs and weights", weight=2)
def additive_gradients(student):
    return module_gradients(build(student, 3, 5, 4), randn(4, 3), randn(6, 5, seed=1))


@hidden("an odd function of query and key")
def odd(student):
    module = build(student, 3, 3, 6)
    q, k = randn(4, 3), randn(5, 3, seed=1)
    return module(-q, -k), module(q, k)


@hidden("a hidden width of one")
def additive_narrow(student):
    return build(student, 2, 2, 1)(randn(3, 2), randn(4, 2, seed=1))


@hidden("no item of a batch changes another")
def additive_batch(student):
    module = build(student, 3, 5, 4)
    q, k = randn(2, 4, 3), randn(2, 6, 5, seed=1)
    return module(q, k)[1], module(q[1:], k[1:])[0]
