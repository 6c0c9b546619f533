"""Bahdanau's kernel: a small network scores each pair."""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="AdditiveScores",
    title="Bahdanau's kernel",
    points=5,
    difficulty=3,
    minutes=30,
    page="kernels.html#sec-kernels-bahdanau",
    hint="The queries become (..., T, hidden), the keys (..., S, hidden). Give each an axis of "
    "length 1 so that their sum is (..., T, S, hidden); then tanh, then the last layer, whose "
    "axis of length 1 goes.",
    reference=AdditiveScores,
    forbidden=("coursekit",),
)


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


@QUESTION.visible(says="one query, one key")
def one_query_one_key(student):
    return _scores(student, randn(1, 2), randn(1, 2, seed=1), 3)


@QUESTION.visible(says="queries and keys of different widths")
def queries_and_keys_of_different_widths(student):
    return _scores(student, randn(4, 3), randn(6, 5, seed=1), 8)


@QUESTION.visible(says="a batch of two")
def a_batch_of_two(student):
    return _scores(student, randn(2, 4, 3), randn(2, 6, 5, seed=1), 8)


@QUESTION.visible(says="names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.AdditiveScores(query_width=3, key_width=5, hidden=8)
        .state_dict()
        .items()
    }


QUESTION.mistake(
    "no tanh",
    old="pairs.tanh()",
    new="pairs",
    hint="Your scores equal those without a tanh. Then a score is one number for the query plus "
    "one number for the key, and the softmax over the keys forgets the query altogether.",
)

QUESTION.mistake(
    "tanh after the score",
    old="self.score(pairs.tanh())[..., 0]",
    new="self.score(pairs)[..., 0].tanh()",
    hint="You take tanh of the score. It belongs between the two layers: tanh of the sum, then "
    "self.score.",
)

QUESTION.mistake(
    "tanh of each part",
    old=(
        "pairs = self.query(q)[..., :, None, :] + self.key(k)[..., None, :, :]\n"
        "        return self.score(pairs.tanh())"
    ),
    new=(
        "q, k = self.query(q).tanh(), self.key(k).tanh()\n"
        "        return self.score(q[..., :, None, :] + k[..., None, :, :])"
    ),
    hint="You take tanh of the query's part and of the key's part and then add. Add first: the "
    "two can only talk to each other inside one tanh.",
)

QUESTION.mistake(
    "relu for tanh",
    old="tanh()",
    new="relu()",
    hint="Your scores equal those with a relu. Bahdanau's network has a tanh.",
)

QUESTION.mistake(
    "biases",
    old=(
        "self.query = nn.Linear(query_width, hidden, bias=False)\n"
        "        self.key = nn.Linear(key_width, hidden, bias=False)\n"
        "        self.score = nn.Linear(hidden, 1, bias=False)"
    ),
    new=(
        "self.query = nn.Linear(query_width, hidden)\n"
        "        self.key = nn.Linear(key_width, hidden)\n"
        "        self.score = nn.Linear(hidden, 1)"
    ),
    hint="Your layers have biases, which are not in the formula. nn.Linear adds one unless it "
    "is told bias=False.",
)

QUESTION.mistake(
    "shares in place of scores",
    old="self.score(pairs.tanh())[..., 0]",
    new="self.score(pairs.tanh())[..., 0].softmax(dim=-1)",
    hint="You return shares. A kernel returns scores; the softmax is the same for all kernels "
    "and comes later.",
)
