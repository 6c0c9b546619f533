"""What each head adds to the result."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def head_contributions(x, weight):
    """x (B, H, T, Dh), weight (D, H·Dh) -> (B, H, T, D)."""
    bands = weight.T.unflatten(0, (x.shape[1], -1))  # (H, Dh, D)
    return x @ bands


QUESTION = Question(
    name="head_contributions",
    title="A sum of heads",
    points=3,
    difficulty=2,
    minutes=20,
    page="heads.html#sec-heads-split",
    hint="nn.Linear computes x @ weight.T, so a column of weight belongs to an input, and the "
    "inputs are the heads side by side: head h has the columns from h·Dh to (h + 1)·Dh. Multiply "
    "each head by its own band.",
    reference=head_contributions,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="one place, two heads of width 1")
def one_place_two_heads_of_width(student):
    return student.head_contributions(
        torch.tensor([[[[3.0]], [[5.0]]]]), torch.tensor([[1.0, 2.0], [10.0, 20.0]])
    )


@QUESTION.visible(says="three heads of width 2, a square weight")
def three_heads_of_width_2_a(student):
    return student.head_contributions(randn(2, 3, 4, 2), randn(6, 6, seed=1))


@QUESTION.visible(says="two heads of width 4, out to width 5")
def two_heads_of_width_4_out(student):
    return student.head_contributions(randn(2, 2, 3, 4), randn(5, 8, seed=1))


QUESTION.mistake(
    "bands of rows",
    old="weight.T.unflatten(0, (x.shape[1], -1))",
    new="weight.reshape(x.shape[1], x.shape[-1], -1)",
    hint="You cut the rows of weight. The formula on the page has W on the right, xW, and bands "
    "of rows; nn.Linear keeps the transpose, so here the bands are columns.",
)

QUESTION.mistake(
    "columns dealt out in turn",
    old="(x.shape[1], -1))",
    new="(-1, x.shape[1])).transpose(0, 1)",
    hint="You give a head every H-th column. The heads stand side by side, so each has a block "
    "of Dh neighbouring columns.",
)

QUESTION.mistake(
    "already added up",
    old="x @ bands",
    new="(x @ bands).sum(dim=1)",
    hint="You return the sum of all heads. Here it is asked for head by head, "
    "(B, H, T, D); its sum over the heads is what you have.",
)

QUESTION.mistake(
    "one band for all",
    old="x @ bands",
    new="x @ bands[0]",
    hint="All your heads go through the first band. Head h has its own: the columns from h·Dh "
    "to (h + 1)·Dh.",
)
