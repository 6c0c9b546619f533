"""A norm for each token."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.exercises.a06_blocks.shared import weights
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question

READY_NORM = (
    "torch.nn.LayerNorm",
    "torch.nn.RMSNorm",
    "torch.nn.GroupNorm",
    "torch.nn.InstanceNorm1d",
    "torch.nn.BatchNorm1d",
    "torch.nn.functional.layer_norm",
    "torch.nn.functional.rms_norm",
    "torch.nn.functional.group_norm",
    "torch.nn.functional.instance_norm",
    "torch.nn.functional.batch_norm",
    "torch.layer_norm",
    "torch.rms_norm",
    "torch.group_norm",
    "torch.instance_norm",
    "torch.batch_norm",
    "torch.native_layer_norm",
    "torch.native_group_norm",
    "torch.native_batch_norm",
    "coursekit",
)


class TokenNorm(nn.Module):
    def __init__(self, *, width, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        """x (..., width) -> (..., width), each token by itself."""
        mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)
        return (x - mean) / (var + self.eps).sqrt() * self.weight + self.bias


QUESTION = Question(
    name="TokenNorm",
    title="Bring it to size",
    points=4,
    difficulty=2,
    minutes=25,
    page="blocks.html#sec-blocks-residual",
    hint="Mean and variance run along the last axis, which has to stay as an axis of length 1. The "
    "variance divides by the width; torch's own divides by one less unless it is told "
    "otherwise. eps is added to the variance, before the root. Gain and bias come last.",
    reference=TokenNorm,
    forbidden=READY_NORM,
)


def _normed(student: object, x: Tensor, eps: float = 1e-5) -> Tensor:
    module = student.TokenNorm(width=x.shape[-1], eps=eps)
    module.load_state_dict(weights(TokenNorm(width=x.shape[-1]), scale=1.0))
    return module(x)


@QUESTION.visible(says="a fresh norm, one token of four numbers")
def a_fresh_norm_one_token_of(student):
    return student.TokenNorm(width=4)(torch.tensor([[1.0, 2.0, 3.0, 6.0]]))


@QUESTION.visible(says="gain and bias loaded")
def gain_and_bias_loaded(student):
    return _normed(student, randn(5, 4) + 1)


@QUESTION.visible(says="a batch of two")
def a_batch_of_two(student):
    return _normed(student, 3 * randn(2, 5, 6) - 1)


@QUESTION.visible(says="eps of a half")
def eps_of_a_half(student):
    return _normed(student, randn(3, 4, seed=1), 0.5)


@QUESTION.visible(says="names and start of the weights")
def names_and_start_of_the_weights(student):
    return {
        name: weight.tolist() for name, weight in student.TokenNorm(width=3).state_dict().items()
    }


QUESTION.mistake(
    "unbiased variance",
    old=", correction=0",
    new="",
    hint="You divide the squares by the width minus 1, which is what .var and .std do unless "
    "told otherwise. Nothing is estimated here: divide by the width, correction=0.",
)

QUESTION.mistake(
    "eps outside the root",
    old="(var + self.eps).sqrt()",
    new="(var.sqrt() + self.eps)",
    hint="You add eps to the standard deviation. It belongs under the root, to the variance: "
    "the difference shows for quiet tokens and for a large eps.",
)

QUESTION.mistake(
    "unbiased, and eps outside the root",
    old=(", correction=0)\n        return (x - mean) / (var + self.eps).sqrt()"),
    new=(")\n        return (x - mean) / (var.sqrt() + self.eps)"),
    hint="Two things at once: .std divides by the width minus 1 unless it is told "
    "correction=0, and eps belongs to the variance, under the root.",
)

QUESTION.mistake(
    "over the tokens",
    old="mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)",
    new="mean, var = x.mean(dim=-2, keepdim=True), x.var(dim=-2, keepdim=True, correction=0)",
    hint="You take mean and variance over the tokens of a sentence. Each token is normalised by "
    "itself, over its own numbers: the last axis.",
)

QUESTION.mistake(
    "over the whole sentence",
    old="mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)",
    new=(
        "mean = x.mean(dim=(-2, -1), keepdim=True)\n"
        "        var = x.var(dim=(-2, -1), keepdim=True, correction=0)"
    ),
    hint="All tokens of a sentence share one mean and one variance in yours. Each token has its "
    "own: the last axis only.",
)

QUESTION.mistake(
    "batch normalisation",
    old="mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)",
    new=(
        "rows = x.flatten(0, -2)\n"
        "        mean, var = rows.mean(dim=0), rows.var(dim=0, correction=0)"
    ),
    hint="Yours is batch normalisation: each number is compared with the same number of all "
    "other tokens. A token must not depend on its company; take the last axis.",
)

QUESTION.mistake(
    "gain and bias forgotten",
    old=" * self.weight + self.bias",
    new="",
    hint="A fresh norm passes. With gain and bias loaded, it must multiply by self.weight and "
    "add self.bias.",
)

QUESTION.mistake(
    "bias before the gain",
    old="(x - mean) / (var + self.eps).sqrt() * self.weight + self.bias",
    new="((x - mean) / (var + self.eps).sqrt() + self.bias) * self.weight",
    hint="You add the bias and multiply by the gain afterwards, so the bias is multiplied too. "
    "Gain first.",
)

QUESTION.mistake(
    "mean not subtracted",
    old="mean, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)",
    new="mean, var = 0, x.square().mean(dim=-1, keepdim=True)",
    hint="You divide by the root mean square and do not subtract the mean. That is RMSNorm, "
    "T5's and Llama's. LayerNorm subtracts the mean first.",
)

QUESTION.mistake(
    "no root",
    old=".sqrt()",
    new="",
    hint="You divide by the variance. Divide by its root, or loud tokens come out quieter than "
    "quiet ones.",
)
