"""A network for each token."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.exercises.a06_blocks.gelu import gelu
from coursekit.exercises.a06_blocks.shared import weights
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


class FeedForward(nn.Module):
    def __init__(self, *, width, hidden):
        super().__init__()
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)

    def forward(self, x):
        """x (..., width) -> (..., width)."""
        return self.contract(gelu(self.expand(x)))


QUESTION = Question(
    name="FeedForward",
    title="A network for each token alone",
    points=3,
    difficulty=1,
    minutes=15,
    page="blocks.html#sec-blocks-ffn",
    hint="In __init__ two nn.Linear, self.expand and self.contract. In forward: widen, bend, "
    "narrow. nn.Linear works on the last axis and leaves all others alone, so each token passes "
    "by itself.",
    reference=FeedForward,
    forbidden=("coursekit",),
    needs=("gelu",),
)


def _fed(student: object, x: Tensor, hidden: int) -> Tensor:
    module = student.FeedForward(width=x.shape[-1], hidden=hidden)
    module.load_state_dict(weights(FeedForward(width=x.shape[-1], hidden=hidden)))
    return module(x)


@QUESTION.visible(says="one token of two numbers")
def one_token_of_two_numbers(student):
    return _fed(student, torch.tensor([[1.0, -2.0]]), 3)


@QUESTION.visible(says="two sentences of four tokens")
def two_sentences_of_four_tokens(student):
    return _fed(student, randn(2, 4, 5), 20)


@QUESTION.visible(says="narrower in the middle")
def narrower_in_the_middle(student):
    return _fed(student, randn(3, 6, seed=1), 4)


@QUESTION.visible(says="names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.FeedForward(width=3, hidden=7).state_dict().items()
    }


QUESTION.mistake(
    "no bend",
    old="gelu(self.expand(x))",
    new="self.expand(x)",
    hint="Your result equals that without an activation. Two linear maps in a row are one "
    "linear map; gelu between them makes the wide middle worth having.",
)

QUESTION.mistake(
    "bend at the end",
    old="self.contract(gelu(self.expand(x)))",
    new="gelu(self.contract(self.expand(x)))",
    hint="The activation comes last in yours. It stands between the two maps; the output must "
    "be free to be negative.",
)

QUESTION.mistake(
    "bent twice",
    old="self.contract(gelu(self.expand(x)))",
    new="gelu(self.contract(gelu(self.expand(x))))",
    hint="You bend the output as well. There is one activation, between the two maps.",
)

QUESTION.mistake(
    "relu for gelu",
    old="gelu(self.expand(x))",
    new="self.expand(x).relu()",
    hint="Your network has a ReLU, like the one of 2017. Here it is gelu.",
)

QUESTION.mistake(
    "the tanh in the middle",
    old="gelu(self.expand(x))",
    new='nn.functional.gelu(self.expand(x), approximate="tanh")',
    hint="Your results are those of GELU with the tanh, off in the fourth digit. Use the exact "
    "one: your gelu, or F.gelu without approximate.",
)

QUESTION.mistake(
    "residual inside",
    old="return self",
    new="return x + self",
    hint="You add x to the result. That is right for the block, which will do it; done here as "
    "well, it would be done twice.",
)
