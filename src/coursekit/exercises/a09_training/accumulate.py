"""Small batches that add up to a large one."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def accumulate(weight, batches, pad=0):
    """weight (V, D), batches of x (B, T, D) and labels (B, T) -> the gradient (V, D)."""
    w = weight.detach().clone().requires_grad_()
    tokens = sum(int((labels != pad).sum()) for _, labels in batches)
    for x, labels in batches:
        scores, flat = (x @ w.T).flatten(0, 1), labels.flatten()  # (B · T, V), (B · T,)
        loss = F.cross_entropy(scores, flat, ignore_index=pad, reduction="sum")
        (loss / tokens).backward()
    return w.grad


QUESTION = Question(
    name="accumulate",
    title="Four small ones for one big one",
    points=5,
    difficulty=3,
    minutes=35,
    page="training.html#sec-training-batches",
    hint="Count the real tokens of all batches first. Then for each batch the sum of its losses, "
    "not the mean (F.cross_entropy has an argument for it, and one for padding), divided by "
    "that one count, and backward: gradients add up by themselves. Work on a copy that asks "
    "for a gradient of its own.",
    reference=accumulate,
    forbidden=("coursekit",),
)


def micro_batches(*lengths: list[int], vocabulary: int = 5, width: int = 3, seed: int = 0) -> list:
    """Return (x (B, T, D), labels (B, T)) for each list of lengths of sentences; 0 is padding."""
    made = []
    for number, sentences in enumerate(lengths):
        size = max(sentences)
        x = randn(len(sentences), size, width, seed=seed + 10 * number)
        places = torch.arange(len(sentences) * size).reshape(len(sentences), size)
        labels = 1 + (places * 7 + number + seed) % (vocabulary - 1)
        made.append((x, labels * (torch.arange(size) < torch.tensor(sentences)[:, None])))
    return made


@QUESTION.visible(says="one batch, no padding")
def one_batch_no_padding(student):
    return student.accumulate(randn(5, 3, seed=1), micro_batches([4, 4]))


@QUESTION.visible(says="two batches of two sentences, nothing but lengths differ")
def two_batches_of_two_sentences_nothing(student):
    return student.accumulate(randn(5, 3, seed=1), micro_batches([2, 2], [5, 5]))


@QUESTION.visible(says="four batches of different sizes, with padding", weight=2)
def four_batches_of_different_sizes_with(student):
    return student.accumulate(
        randn(6, 4, seed=2),
        micro_batches([3, 1], [7], [2, 5, 4], [1, 1], vocabulary=6, width=4),
    )


@QUESTION.visible(says="two batches of two sentences, padding in one")
def two_batches_of_two_sentences_padding(student):
    return student.accumulate(randn(5, 2, seed=3), micro_batches([4, 4], [4, 1], width=2, seed=3))


QUESTION.mistake(
    "mean of means",
    old=(', reduction="sum")\n        (loss / tokens).backward()'),
    new=(")\n        (loss / len(batches)).backward()"),
    hint="You average the means of the batches, so a token of a short batch counts more than "
    "one of a long batch. Divide each sum by the number of tokens of all batches.",
)

QUESTION.mistake(
    "means added",
    old=(', reduction="sum")\n        (loss / tokens).backward()'),
    new=(")\n        loss.backward()"),
    hint="You add up the means of the batches: with four of them the gradient is about four "
    "times too large. Divide each sum by the number of tokens of all batches.",
)

QUESTION.mistake(
    "never divided",
    old="(loss / tokens)",
    new="loss",
    hint="This is the gradient of the sum over all tokens. Divide by how many there are.",
)

QUESTION.mistake(
    "weighted by sentences",
    old=(', reduction="sum")\n        (loss / tokens).backward()'),
    new=(")\n        (loss * len(labels) / sum(len(y) for _, y in batches)).backward()"),
    hint="You weight the batches by their sentences. The loss is a mean over tokens, so tokens "
    "are what counts, and only real ones.",
)

QUESTION.mistake(
    "padding in the count",
    old="int((labels != pad).sum())",
    new="labels.numel()",
    hint="The sums are right, and you divide by all places. Only real tokens count: "
    "(labels != pad).sum().",
)

QUESTION.mistake(
    "padding scored",
    old=(', ignore_index=pad, reduction="sum")\n        (loss / tokens)'),
    new=(', reduction="sum")\n        (loss / sum(y.numel() for _, y in batches))'),
    hint="Padding is scored as if it were a word to learn. ignore_index=pad leaves it out, of "
    "the sum; leave it out of the count as well.",
)

QUESTION.mistake(
    "emptied in the loop",
    old="loss = F",
    new=("w.grad = None\n        loss = F"),
    hint="Only the last batch is left in your gradient: you empty it in the loop. Empty it "
    "once, before the first batch.",
)

QUESTION.mistake(
    "divided twice",
    old="loss / tokens",
    new="loss / tokens / len(batches)",
    hint="You divide by the tokens of all batches and then by the number of batches as well. "
    "The first is enough.",
)
