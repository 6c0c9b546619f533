"""Small batches that add up to a large one."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def accumulate(weight, batches, pad=0):
    """weight (V, D), batches of x (B, T, D) and labels (B, T) -> the gradient (V, D)."""
    w = weight.detach().clone().requires_grad_()
    tokens = sum(int((labels != pad).sum()) for _, labels in batches)
    for x, labels in batches:
        scores, flat = (x @ w.T).flatten(0, 1), labels.flatten()  # (B · T, V), (B · T,)
        loss = F.cross_entropy(scores, flat, ignore_index=pad, reduction="sum")
        (loss / tokens).backward()
    return w.grad


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


@visible("one batch, no padding")
def one_batch_no_padding(student):
    return student.accumulate(randn(5, 3, seed=1), micro_batches([4, 4]))


@visible("two batches of two sentences, nothing but lengths differ")
def two_batches_of_two_sentences_nothing(student):
    return student.accumulate(randn(5, 3, seed=1), micro_batches([2, 2], [5, 5]))


@visible("four batches of different sizes, with padding", weight=2)
def four_batches_of_different_sizes_with(student):
    return student.accumulate(
        randn(6, 4, seed=2),
        micro_batches([3, 1], [7], [2, 5, 4], [1, 1], vocabulary=6, width=4),
    )


@visible("two batches of two sentences, padding in one")
def two_batches_of_two_sentences_padding(student):
    return student.accumulate(randn(5, 2, seed=3), micro_batches([4, 4], [4, 1], width=2, seed=3))


def piece(sentences, length, vocabulary, width, seed, real=None, pad=0):
    """Return one batch; in each of its sentences only the first `real` labels are no padding."""
    x = randn(sentences, length, width, seed=seed)
    number = torch.arange(sentences * length).view(sentences, length)
    labels = (pad + 1 + (5 * number + seed) % (vocabulary - 1)) % vocabulary
    labels[:, length if real is None else real :] = pad
    return x, labels


@hidden("cut in pieces or whole, the same gradient", weight=2)
def accumulate_cut(student):
    weight, (x, labels) = randn(7, 4, seed=201), piece(9, 6, 7, 4, 202, real=4)
    whole = student.accumulate(weight, [(x, labels)])
    parts = [(x[a:b], labels[a:b]) for a, b in ((0, 1), (1, 4), (4, 9))]
    cut = student.accumulate(weight, parts)
    assert (whole - cut).abs().max() < 1e-5
    return cut


@hidden("a batch of nothing but padding", weight=2)
def accumulate_empty(student):
    batches = [piece(2, 3, 5, 3, 211), piece(2, 4, 5, 3, 212, real=0), piece(1, 5, 5, 3, 213)]
    return student.accumulate(randn(5, 3, seed=210), batches)


@hidden("padding is another number")
def accumulate_pad(student):
    batches = [piece(3, 4, 6, 2, 221, real=2, pad=5), piece(2, 7, 6, 2, 222, real=6, pad=5)]
    return student.accumulate(randn(6, 2, seed=220), batches, pad=5)


@hidden("the order of the batches does not matter")
def accumulate_order(student):
    weight = randn(4, 3, seed=230)
    batches = [piece(1, n, 4, 3, 231 + n) for n in (1, 6, 2)]
    there, back = (student.accumulate(weight, given) for given in (batches, batches[::-1]))
    assert (there - back).abs().max() < 1e-5
    return there


@hidden("one long batch among many short ones, in double precision")
def accumulate_double(student):
    sizes = (1, 1, 30, 2, 1)
    batches = [piece(1, n, 5, 3, 241 + place) for place, n in enumerate(sizes)]
    wide = [(x.double(), labels) for x, labels in batches]
    return student.accumulate(randn(5, 3, seed=240, dtype=torch.float64), wide)


@hidden("called twice, nothing is left over from the first time")
def accumulate_twice(student):
    weight, batches = randn(5, 3, seed=250), [piece(2, 4, 5, 3, 251), piece(1, 3, 5, 3, 252)]
    first = student.accumulate(weight, batches)
    return first, student.accumulate(weight, batches)


@hidden("weights and batches are left as they were")
def accumulate_keeps(student):
    return after(student.accumulate, randn(4, 2, seed=260), [piece(2, 3, 4, 2, 261, real=1)])
