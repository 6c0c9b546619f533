"""A loss that is never quite sure, and never looks at padding."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import gradients, randn
from coursekit.exercises.question import Question

READY_LOSS = (
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
    "torch.nn.functional.kl_div",
    "torch.nn.CrossEntropyLoss",
    "torch.nn.NLLLoss",
    "torch.nn.KLDivLoss",
    "coursekit",
)


def smoothed_loss(logits, labels, pad, smoothing=0.1):
    """logits (B, T, V), labels (B, T) -> (), the mean over real labels."""
    log_p = logits.log_softmax(dim=-1)  # (B, T, V)
    right = -log_p.gather(-1, labels[..., None])[..., 0]  # (B, T)
    every = -log_p.mean(dim=-1)
    each = (1 - smoothing) * right + smoothing * every
    return each[labels != pad].mean()


QUESTION = Question(
    name="smoothed_loss",
    title="Right, but not too sure",
    points=4,
    difficulty=2,
    minutes=30,
    page="translation.html#sec-translation-loss",
    hint="Take logarithms of probabilities once, (B, T, V), in a way that bears large logits. For "
    "each place there are two losses: that of the right word, which gather picks out, and the "
    "mean of the losses of all words. Mix them with 1 - ε and ε, choose the real places, and "
    "only then take the mean.",
    reference=smoothed_loss,
    forbidden=READY_LOSS,
)


def _labels() -> Tensor:
    return torch.tensor([[3, 1, 6, 2, 4], [5, 2, 0, 0, 0], [1, 1, 2, 0, 0]])


@QUESTION.visible(says="one place, four words")
def one_place_four_words(student):
    return student.smoothed_loss(
        torch.tensor([[[0.4, 0.3, 0.2, 0.1]]]).log(), torch.tensor([[1]]), 0, 0.2
    )


@QUESTION.visible(says="a batch without padding")
def a_batch_without_padding(student):
    return student.smoothed_loss(2 * randn(2, 3, 5), torch.tensor([[3, 1, 2], [1, 0, 2]]), 4)


@QUESTION.visible(says="a batch with padding", weight=2)
def a_batch_with_padding(student):
    return student.smoothed_loss(2 * randn(3, 5, 7, seed=1), _labels(), 0)


@QUESTION.visible(says="no smoothing")
def no_smoothing(student):
    return student.smoothed_loss(2 * randn(3, 5, 7, seed=2), _labels(), 0, 0.0)


@QUESTION.visible(says="gradients at the logits")
def gradients_at_the_logits(student):
    return gradients(student.smoothed_loss, 2 * randn(3, 5, 7, seed=3), _labels(), 0, 0.3)


QUESTION.mistake(
    "padding scored",
    old="each[labels != pad].mean()",
    new="each.mean()",
    hint="You score the padding too. It teaches the model to say padding, and the more there is "
    "in a batch, the lower the loss. Choose the places where the label is not pad.",
)

QUESTION.mistake(
    "mean over all places",
    old="each[labels != pad].mean()",
    new="(each * (labels != pad)).mean()",
    hint="Padding has no loss in yours, but it still counts in the mean: you divide by B·T. "
    "Divide by the number of real labels.",
)

QUESTION.mistake(
    "mean of sentence means",
    old="return each[labels != pad].mean()",
    new=("real = labels != pad\n    return ((each * real).sum(dim=-1) / real.sum(dim=-1)).mean()"),
    hint="You take the mean of each sentence, and then the mean of these. A word in a short "
    "sentence then weighs more than one in a long sentence. All real words weigh the same.",
)

QUESTION.mistake(
    "summed",
    old="].mean()",
    new="].sum()",
    hint="You return the sum. Divide by the number of real labels, or the step that the "
    "optimiser takes depends on how long the sentences are.",
)

QUESTION.mistake(
    "no smoothing at all",
    old="(1 - smoothing) * right + smoothing * every",
    new="right",
    hint="Your loss is that of the right word alone, whatever `smoothing` says. A share ε of "
    "the target is spread over all words.",
)

QUESTION.mistake(
    "the share of the others lost",
    old=" + smoothing * every",
    new="",
    hint="You take (1 - ε) of the right word's loss, and nothing for ε: that is a smaller loss, "
    "no smoother target. The share ε goes to all words, ε/V to each.",
)

QUESTION.mistake(
    "spread over the other words",
    old="every = -log_p.mean(dim=-1)",
    new="every = (-log_p.sum(dim=-1) - right) / (logits.shape[-1] - 1)",
    hint="You spread ε over the V - 1 wrong words. Here it goes to all V, the right one too, as "
    "in torch and in the paper that invented it.",
)

QUESTION.mistake(
    "does not sum to one",
    old="every = -log_p.mean(dim=-1)",
    new="every = (-log_p.sum(dim=-1) - right) / logits.shape[-1]",
    hint="You give ε/V to each wrong word and 1 - ε to the right one, together less than 1. "
    "The right one gets its ε/V as well.",
)

QUESTION.mistake(
    "padding and the right word left out",
    old="every = -log_p.mean(dim=-1)",
    new="every = (-log_p.sum(dim=-1) - right + log_p[..., pad]) / (logits.shape[-1] - 2)",
    hint="You spread ε over the V - 2 words that are neither right nor padding. That can be "
    "defended, and some do it; here it goes to all V.",
)

QUESTION.mistake(
    "more than one in all",
    old="(1 - smoothing) * right",
    new="right",
    hint="The right word keeps a share of 1 in yours, and ε comes on top. It has 1 - ε, and "
    "its part of the ε.",
)

QUESTION.mistake(
    "shares changed over",
    old="(1 - smoothing) * right + smoothing * every",
    new="smoothing * right + (1 - smoothing) * every",
    hint="You give ε to the right word and 1 - ε to all. The right one gets the large share.",
)
