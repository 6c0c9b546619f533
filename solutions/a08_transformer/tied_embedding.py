"""One matrix, by which words become vectors and vectors scores of words."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit.check.probe import gradients, module_gradients, randn
from coursetools.questions import hidden, visible


class TiedEmbedding(nn.Module):
    def __init__(self, *, vocabulary, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocabulary, width) / math.sqrt(width))

    def forward(self, tokens):
        """tokens (...) -> (..., width)."""
        return self.weight[tokens] * math.sqrt(self.weight.shape[1])

    def scores(self, hidden):
        """hidden (..., width) -> (..., vocabulary)."""
        return hidden @ self.weight.T


def _tied(student: object, vocabulary: int, width: int, seed: int = 3) -> object:
    module = student.TiedEmbedding(vocabulary=vocabulary, width=width)
    module.load_state_dict({"weight": randn(vocabulary, width, seed=seed)})
    return module


def _there_and_back(student: object) -> Tensor:
    module = _tied(student, 5, 3)
    return module.scores(module(torch.tensor([[0, 4, 4, 2]])))


def _fresh(student: object, vocabulary: int, width: int) -> bool:
    """Say whether the numbers of a fresh matrix have mean 0 and standard deviation 1/√D."""
    weight = student.TiedEmbedding(vocabulary=vocabulary, width=width).state_dict()["weight"]
    sized = weight * math.sqrt(width)
    return abs(float(sized.std()) - 1) < 0.05 and abs(float(sized.mean())) < 0.05


@visible("two words, a matrix of three by four")
def two_words_a_matrix_of_three(student):
    return _tied(student, 3, 4)(torch.tensor([[2, 0]]))


@visible("the scores of two vectors")
def the_scores_of_two_vectors(student):
    return _tied(student, 6, 4).scores(randn(1, 2, 4))


@visible("there and back")
def there_and_back(student):
    return _there_and_back(student)


@visible("a fresh one starts at the right size")
def a_fresh_one_starts_at_the(student):
    return _fresh(student, 1000, 64)


@visible("name and shape of the weights")
def name_and_shape_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.TiedEmbedding(vocabulary=7, width=2).state_dict().items()
    }


def tied(student, vocabulary, width, seed=40, scale=1.0):
    embedding = student.TiedEmbedding(width=width, vocabulary=vocabulary)
    embedding.load_state_dict({"weight": randn(vocabulary, width, seed=seed) * scale})
    return embedding


@hidden("several axes in front", weight=2)
def tied_axes(student):
    module = tied(student, 9, 5)
    tokens = torch.tensor([[[0, 8], [3, 3], [7, 1]], [[2, 2], [5, 6], [4, 0]]])
    return module(tokens), module.scores(randn(2, 3, 2, 5, seed=1))


@hidden("a single word, and a single vector")
def tied_single(student):
    module = tied(student, 4, 9)
    return module(torch.tensor(3)), module.scores(randn(9, seed=2))


@hidden("gradients at the matrix, for words that come and words that do not")
def tied_gradients(student):
    return module_gradients(tied(student, 6, 4), torch.tensor([[1, 1, 5], [0, 1, 5]]))


@hidden("gradients of the scores")
def tied_score_gradients(student):
    return gradients(tied(student, 6, 4).scores, randn(2, 3, 4, seed=3))


@hidden("a wide one starts at the right size", weight=2)
def tied_fresh(student):
    weight = student.TiedEmbedding(vocabulary=300, width=400).state_dict()["weight"]
    return abs(float(weight.std()) * 20 - 1) < 0.03


@hidden("the numbers of a fresh one are normal")
def tied_normal(student):
    weight = student.TiedEmbedding(vocabulary=300, width=400).state_dict()["weight"]
    far = (weight.abs() * 20 > 2).float().mean()  # 4.6% of normal numbers lie beyond two sigmas
    return 0.03 < float(far) < 0.06


@hidden("width one")
def tied_narrow(student):
    module = tied(student, 5, 1)
    return module(torch.tensor([[4, 0]])), module.scores(torch.tensor([[2.0]]))
