"""One matrix, by which words become vectors and vectors scores of words."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="TiedEmbedding",
    title="One matrix, used twice",
    points=3,
    difficulty=1,
    minutes=20,
    page="translation.html#sec-translation-model",
    hint="Random normal numbers have standard deviation 1; what makes it 1/√width? A row of the "
    "matrix is found by indexing, with any axes, and grows on its way in. The scores are a "
    "product with the matrix transposed, and nothing else.",
    reference=TiedEmbedding,
    forbidden=("coursekit",),
)


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


@QUESTION.visible(says="two words, a matrix of three by four")
def two_words_a_matrix_of_three(student):
    return _tied(student, 3, 4)(torch.tensor([[2, 0]]))


@QUESTION.visible(says="the scores of two vectors")
def the_scores_of_two_vectors(student):
    return _tied(student, 6, 4).scores(randn(1, 2, 4))


@QUESTION.visible(says="there and back")
def there_and_back(student):
    return _there_and_back(student)


@QUESTION.visible(says="a fresh one starts at the right size")
def a_fresh_one_starts_at_the(student):
    return _fresh(student, 1000, 64)


@QUESTION.visible(says="name and shape of the weights")
def name_and_shape_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.TiedEmbedding(vocabulary=7, width=2).state_dict().items()
    }


QUESTION.mistake(
    "no scale",
    old=" * math.sqrt(self.weight.shape[1])",
    new="",
    hint="You return the rows as they are. With numbers of size 1/√D they would drown in the "
    "waves of the positions, of size 1, which are added next. Multiply by √D.",
)

QUESTION.mistake(
    "divided",
    old=" * math.sqrt",
    new=" / math.sqrt",
    hint="You divide by √D. That is for the scores of attention; here small numbers are to be "
    "made larger: multiply.",
)

QUESTION.mistake(
    "D for its root",
    old="math.sqrt(self.weight.shape[1])",
    new="self.weight.shape[1]",
    hint="You multiply by D. Numbers of standard deviation 1/√D come to 1 by √D.",
)

QUESTION.mistake(
    "the root of the vocabulary",
    old="self.weight.shape[1]",
    new="self.weight.shape[0]",
    hint="You multiply by the root of the number of words. D is the width, the second axis of "
    "the matrix.",
)

QUESTION.mistake(
    "scores scaled too",
    old="hidden @ self.weight.T",
    new="hidden @ self.weight.T * math.sqrt(hidden.shape[-1])",
    hint="The way in is right. On the way out you scale as well; the scores are the plain "
    "product with the matrix transposed.",
)

QUESTION.mistake(
    "scores divided",
    old="hidden @ self.weight.T",
    new="hidden @ self.weight.T / math.sqrt(hidden.shape[-1])",
    hint="The way in is right. On the way out you divide by √D; the scores are the plain "
    "product with the matrix transposed.",
)

QUESTION.mistake(
    "probabilities for scores",
    old="hidden @ self.weight.T",
    new="(hidden @ self.weight.T).softmax(dim=-1)",
    hint="You return probabilities. The loss wants scores and takes the softmax itself, where "
    "it can do so without rounding to zero.",
)

QUESTION.mistake(
    "starts at size 1",
    old=" / math.sqrt(width)",
    new="",
    hint="A fresh matrix has numbers of size 1 in yours, as nn.Embedding's has. Times √D they "
    "are far too large, and so are the scores. Start with torch.randn(...) / √D.",
)


@QUESTION.mistake(
    "a plain table",
    hint="Yours starts at size 1 and is not scaled, like nn.Embedding. The way in would be the "
    "same; but the scores, of the same matrix, start √D times too large. Start at 1/√D, "
    "and multiply by √D on the way in.",
)
class TiedPlainTable(TiedEmbedding):
    def __init__(self, *, vocabulary, width):
        super().__init__(vocabulary=vocabulary, width=width)
        self.weight = nn.Parameter(torch.randn(vocabulary, width))

    def forward(self, tokens):
        return self.weight[tokens]


@QUESTION.mistake(
    "two matrices",
    hint="You have a second matrix for the way out. The point is that there is one: "
    "self.weight, (V, D), transposed.",
)
class TiedNot(TiedEmbedding):
    def __init__(self, *, vocabulary, width):
        super().__init__(vocabulary=vocabulary, width=width)
        self.output = nn.Linear(width, vocabulary, bias=False)

    def scores(self, hidden):
        return self.output(hidden)
