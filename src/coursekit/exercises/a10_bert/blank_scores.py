"""The scores of all words, at the blanks alone: the head of BERT's masked language model."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.exercises.probe import gradients, randn
from coursekit.exercises.question import Question


def blank_scores(hidden, chosen, words, head):
    """hidden (B, T, D), chosen (B, T), words (V, D), head a dict -> (N, V)."""
    x = hidden[chosen]  # (N, D)
    x = F.gelu(F.linear(x, head["transform.weight"], head["transform.bias"]))
    x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)
    return F.linear(x, words, head["bias"])


QUESTION = Question(
    name="blank_scores",
    title="A score for every word",
    points=4,
    difficulty=2,
    minutes=25,
    page="bert.html#sec-bert-scores",
    hint="A boolean tensor as an index of `hidden` gives (N, D), row by row: begin with that. "
    "Then one line for each step of the formula; F.linear, F.gelu and F.layer_norm are allowed, "
    "and F.linear takes a matrix as torch keeps it, (out, in).",
    reference=blank_scores,
    forbidden=("coursekit",),
)


def _head(width: int, vocabulary: int, seed: int = 50, scale: float = 1.0) -> dict[str, Tensor]:
    """Weights of a head; each vector is far from what it is in a fresh model."""
    return {
        "transform.weight": scale * randn(width, width, seed=seed) / width**0.5,
        "transform.bias": scale * randn(width, seed=seed + 1),
        "norm.weight": 1 + randn(width, seed=seed + 2) / 2,
        "norm.bias": randn(width, seed=seed + 3),
        "bias": randn(vocabulary, seed=seed + 4),
    }


@QUESTION.visible(says="one sentence, two blanks, four words")
def two_blanks(student):
    chosen = torch.tensor([[False, True, False, False, True]])
    return student.blank_scores(randn(1, 5, 6), chosen, randn(4, 6, seed=1), _head(6, 4))


@QUESTION.visible(says="three sentences, one of them without a blank")
def three_sentences(student):
    chosen = torch.tensor([[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]]).bool()
    return student.blank_scores(randn(3, 4, 8), chosen, randn(11, 8, seed=1), _head(8, 11))


@QUESTION.visible(says="as many words as numbers in a vector")
def square(student):
    chosen = torch.tensor([[False, True, True], [True, False, False]])
    return student.blank_scores(randn(2, 3, 5), chosen, randn(5, 5, seed=1), _head(5, 5))


@QUESTION.visible(says="a transform that makes very small numbers")
def small_numbers(student):
    head = _head(6, 4, seed=60, scale=1e-3)
    return student.blank_scores(randn(1, 3, 6), torch.ones(1, 3).bool(), randn(4, 6, seed=1), head)


@QUESTION.visible(says="gradients at the states and at the word matrix")
def with_gradients(student):
    chosen = torch.tensor([[False, True, False, True]])
    given = randn(1, 4, 4), chosen, randn(7, 4, seed=1), _head(4, 7, seed=70)
    return gradients(student.blank_scores, *given)


QUESTION.mistake(
    "scores at all places",
    old="x = hidden[chosen]  # (N, D)",
    new="x = hidden  # (B, T, D)",
    hint="You score every place, (B, T, V). Only the chosen ones are asked for, one row each: "
    "(N, V).",
)

QUESTION.mistake(
    "the others left in, as zeros",
    old="x = hidden[chosen]  # (N, D)",
    new="x = hidden * chosen[..., None]  # (B, T, D)",
    hint="You set the other states to 0 and score them all the same, (B, T, V). Take only the "
    "chosen ones out: a boolean index does that.",
)

QUESTION.mistake(
    "the word matrix the wrong way round",
    old="F.linear(x, words, head",
    new="F.linear(x, words.T, head",
    hint="Your word matrix stands the wrong way round. A row of it is a word's vector; the score "
    "of a word is the product of the state with its row.",
)

QUESTION.mistake(
    "a matrix of its own",
    old="F.linear(x, words, head",
    new="F.linear(x, torch.nn.Linear(x.shape[-1], len(words)).weight, head",
    hint="You score with a new matrix. The scores come from `words`, the matrix that turned ids "
    "into vectors at the start: it is used twice.",
)

QUESTION.mistake(
    "no bias",
    old='words, head["bias"])',
    new="words)",
    hint='The last bias is missing: head["bias"], a number for each word.',
)

QUESTION.mistake(
    "no bias in the transform",
    old='head["transform.weight"], head["transform.bias"]',
    new='head["transform.weight"]',
    hint="The transform's own bias is missing.",
)

QUESTION.mistake(
    "the transform the wrong way round",
    old='head["transform.weight"], head',
    new='head["transform.weight"].T, head',
    hint="You use the transform's matrix the wrong way round. torch keeps it as (out, in): a row "
    "for each number that comes out, as F.linear expects it. With @ it has to be turned.",
)

QUESTION.mistake(
    "GELU after the norm",
    old='x = F.gelu(F.linear(x, head["transform.weight"], head["transform.bias"]))\n'
    '    x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)',
    new='x = F.linear(x, head["transform.weight"], head["transform.bias"])\n'
    '    x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)\n'
    "    x = F.gelu(x)",
    hint="The GELU comes before the norm, directly after the transform.",
)

QUESTION.mistake(
    "no GELU",
    old='F.gelu(F.linear(x, head["transform.weight"], head["transform.bias"]))',
    new='F.linear(x, head["transform.weight"], head["transform.bias"])',
    hint="Between transform and norm the GELU is missing.",
)

QUESTION.mistake(
    "ReLU",
    old="F.gelu(",
    new="F.relu(",
    hint="You use a ReLU. BERT has GELU: x Φ(x), which lets a little of the negative through.",
)

QUESTION.mistake(
    "GELU by tanh",
    old='head["transform.bias"]))',
    new='head["transform.bias"]), approximate="tanh")',
    hint='You are off by less than a thousandth: that is the approximation of GELU, "tanh". The '
    "exact one is asked for.",
)

QUESTION.mistake(
    "a norm without weights",
    old=', head["norm.weight"], head["norm.bias"], eps',
    new=", eps",
    hint="Your norm has no weights of its own: after it each number is multiplied by "
    'head["norm.weight"], and head["norm.bias"] is added.',
)

QUESTION.mistake(
    "no norm",
    old='x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)',
    new="",
    hint="The norm between GELU and word matrix is missing.",
)

QUESTION.mistake(
    "no transform",
    old='    x = F.gelu(F.linear(x, head["transform.weight"], head["transform.bias"]))\n'
    '    x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)\n',
    new="",
    hint="You multiply the states with the word matrix as they are. Before that come transform, "
    "GELU and norm, in this order.",
)

QUESTION.mistake(
    "another eps",
    old="eps=1e-12",
    new="eps=1e-5",
    hint="Only the small numbers go wrong: your eps is 1e-5, torch's own, and weighs more than "
    "their variance. BERT's is 1e-12.",
)

QUESTION.mistake(
    "n − 1 in the norm",
    old='F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)',
    new="x - x.mean(-1, keepdim=True)\n"
    "    x = x / (x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1) + 1e-12).sqrt()\n"
    '    x = x * head["norm.weight"] + head["norm.bias"]',
    hint="Your norm divides the squares by D - 1, as torch's var and std do unless told otherwise. "
    "A layer norm divides by D.",
)

QUESTION.mistake(
    "probabilities",
    old='F.linear(x, words, head["bias"])',
    new='F.linear(x, words, head["bias"]).softmax(dim=-1)',
    hint="You return probabilities. Scores are asked for, as they come from the last product; the "
    "loss takes the softmax itself.",
)

QUESTION.mistake(
    "logarithms of probabilities",
    old='F.linear(x, words, head["bias"])',
    new='F.linear(x, words, head["bias"]).log_softmax(dim=-1)',
    hint="You return logarithms of probabilities. Scores are asked for, as they come from the last "
    "product; the loss does the rest.",
)

QUESTION.mistake(
    "the others",
    old="hidden[chosen]",
    new="hidden[~chosen]",
    hint="You score the places that were not chosen. True in `chosen` is a blank.",
)

QUESTION.mistake(
    "the norm first",
    old='x = F.gelu(F.linear(x, head["transform.weight"], head["transform.bias"]))\n'
    '    x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)',
    new='x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)\n'
    '    x = F.gelu(F.linear(x, head["transform.weight"], head["transform.bias"]))',
    hint="Your norm comes first. It is the last of the three: transform, GELU, norm.",
)

QUESTION.mistake(
    "half of the norm's weights",
    old='head["norm.weight"], head["norm.bias"]',
    new='head["norm.weight"]',
    hint='Your norm multiplies and does not add: head["norm.bias"] is missing.',
)

QUESTION.mistake(
    "scaled as in attention",
    old="F.linear(x, words, head",
    new="F.linear(x / x.shape[-1] ** 0.5, words, head",
    hint="You divide by the root of D, as attention does. These scores are plain products.",
)

QUESTION.mistake(
    "scores at all places, then zeros",
    old='x = hidden[chosen]  # (N, D)\n    x = F.gelu(F.linear(x, head["transform.weight"], '
    'head["transform.bias"]))\n'
    '    x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)\n'
    '    return F.linear(x, words, head["bias"])',
    new='x = F.gelu(F.linear(hidden, head["transform.weight"], head["transform.bias"]))\n'
    '    x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)\n'
    '    return F.linear(x, words, head["bias"]) * chosen[..., None]',
    hint="You score every place and set the scores of the others to 0. Take the blanks out of "
    "`hidden` first; (N, V) has one row for each of them, and no other.",
)
