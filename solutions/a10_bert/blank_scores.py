"""The scores of all words, at the blanks alone: the head of BERT's masked language model."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible

from .shared import places


def blank_scores(hidden, chosen, words, head):
    """hidden (B, T, D), chosen (B, T), words (V, D), head a dict -> (N, V)."""
    x = hidden[chosen]  # (N, D)
    x = F.linear(x, head["transform.weight"], head["transform.bias"])
    x = F.gelu(x)
    x = F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)
    return F.linear(x, words, head["bias"])


def weights(width, vocabulary, seed, scale=1.0, dtype=torch.float32):
    """Return the head's weights, none of them what it is in a fresh model."""
    return {
        "transform.weight": scale * randn(width, width, seed=seed, dtype=dtype) / width**0.5,
        "transform.bias": scale * randn(width, seed=seed + 1, dtype=dtype),
        "norm.weight": 1 + randn(width, seed=seed + 2, dtype=dtype) / 3,
        "norm.bias": randn(width, seed=seed + 3, dtype=dtype),
        "bias": randn(vocabulary, seed=seed + 4, dtype=dtype),
    }


@visible("one sentence, two blanks, four words")
def two_blanks(student):
    chosen = torch.tensor([[False, True, False, False, True]])
    return student.blank_scores(randn(1, 5, 6), chosen, randn(4, 6, seed=1), weights(6, 4, 50))


@visible("three sentences, one of them without a blank")
def three_sentences(student):
    chosen = torch.tensor([[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]]).bool()
    return student.blank_scores(randn(3, 4, 8), chosen, randn(11, 8, seed=1), weights(8, 11, 50))


@visible("as many words as numbers in a vector")
def square(student):
    chosen = torch.tensor([[False, True, True], [True, False, False]])
    return student.blank_scores(randn(2, 3, 5), chosen, randn(5, 5, seed=1), weights(5, 5, 50))


@visible("a transform that makes very small numbers")
def small_numbers(student):
    head = weights(6, 4, 60, scale=1e-3)
    return student.blank_scores(randn(1, 3, 6), torch.ones(1, 3).bool(), randn(4, 6, seed=1), head)


@visible("gradients at the states and at the word matrix")
def with_gradients(student):
    chosen = torch.tensor([[False, True, False, True]])
    given = randn(1, 4, 4), chosen, randn(7, 4, seed=1), weights(4, 7, 70)
    return gradients(student.blank_scores, *given)


@hidden("a batch of long sentences", weight=2)
def scores_long(student):
    hidden_states, chosen = randn(6, 30, 12, seed=320), places(6, 30, seed=321)
    return student.blank_scores(
        hidden_states, chosen, randn(50, 12, seed=322), weights(12, 50, 323)
    )


@hidden("no blank at all: no rows")
def scores_none(student):
    given = randn(2, 5, 4, seed=330), torch.zeros(2, 5).bool(), randn(9, 4, seed=331)
    return student.blank_scores(*given, weights(4, 9, 332))


@hidden("every place is a blank")
def scores_all(student):
    given = randn(2, 3, 8, seed=340), torch.ones(2, 3).bool(), randn(8, 8, seed=341)
    return student.blank_scores(*given, weights(8, 8, 342))


@hidden("double precision", tolerance=1e-11)
def scores_double(student):
    given = randn(2, 7, 6, seed=350, dtype=torch.float64), places(2, 7, seed=351)
    words = randn(5, 6, seed=352, dtype=torch.float64)
    return student.blank_scores(*given, words, weights(6, 5, 353, dtype=torch.float64))


@hidden("very small numbers before the norm")
def scores_small(student):
    given = randn(1, 4, 16, seed=360), torch.ones(1, 4).bool(), randn(6, 16, seed=361)
    return student.blank_scores(*given, weights(16, 6, 362, scale=3e-4))


@hidden("gradients", weight=2)
def scores_gradients(student):
    given = randn(2, 6, 5, seed=370), places(2, 6, seed=371), randn(10, 5, seed=372)
    return gradients(student.blank_scores, *given, weights(5, 10, 373))


@hidden("large scores stay as they are")
def scores_large(student):
    given = randn(1, 3, 4, seed=380), torch.tensor([[True, False, True]])
    return student.blank_scores(*given, 100 * randn(6, 4, seed=381), weights(4, 6, 382))


@hidden("what was given stays as it was")
def scores_keep(student):
    given = randn(2, 4, 6, seed=390), places(2, 4, seed=391), randn(5, 6, seed=392)
    return after(student.blank_scores, *given, weights(6, 5, 393))
