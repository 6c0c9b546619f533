"""A loss that is never quite sure, and never looks at padding."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def smoothed_loss(logits, labels, pad, smoothing=0.1):
    """logits (B, T, V), labels (B, T) -> (), the mean over real labels."""
    log_p = logits.log_softmax(dim=-1)  # (B, T, V)
    right = -log_p.gather(-1, labels[..., None])[..., 0]  # (B, T)
    every = -log_p.mean(dim=-1)
    each = (1 - smoothing) * right + smoothing * every
    return each[labels != pad].mean()


def _labels() -> Tensor:
    return torch.tensor([[3, 1, 6, 2, 4], [5, 2, 0, 0, 0], [1, 1, 2, 0, 0]])


@visible("one place, four words")
def one_place_four_words(student):
    return student.smoothed_loss(
        torch.tensor([[[0.4, 0.3, 0.2, 0.1]]]).log(), torch.tensor([[1]]), 0, 0.2
    )


@visible("a batch without padding")
def a_batch_without_padding(student):
    return student.smoothed_loss(2 * randn(2, 3, 5), torch.tensor([[3, 1, 2], [1, 0, 2]]), 4)


@visible("a batch with padding", weight=2)
def a_batch_with_padding(student):
    return student.smoothed_loss(2 * randn(3, 5, 7, seed=1), _labels(), 0)


@visible("no smoothing")
def no_smoothing(student):
    return student.smoothed_loss(2 * randn(3, 5, 7, seed=2), _labels(), 0, 0.0)


@visible("gradients at the logits")
def gradients_at_the_logits(student):
    return gradients(student.smoothed_loss, 2 * randn(3, 5, 7, seed=3), _labels(), 0, 0.3)


@visible("two places, and logits in the hundreds")
def logits_in_the_hundreds(student):
    logits = torch.tensor([[[300.0, -200.0, 100.0], [0.0, 250.0, 240.0]]])
    return student.smoothed_loss(logits, torch.tensor([[1, 2]]), 0)


@visible("logits and labels stay as they were")
def logits_and_labels_stay(student):
    return after(student.smoothed_loss, randn(1, 3, 4, seed=4), torch.tensor([[2, 1, 0]]), 0)


def some_labels():
    return torch.tensor([[4, 9, 2, 1, 7, 1], [3, 1, 1, 1, 1, 1], [8, 5, 6, 4, 2, 1]])


@hidden("another padding symbol, longer sentences", weight=2)
def loss_padded(student):
    return student.smoothed_loss(3 * randn(3, 6, 10, seed=5), some_labels(), 1)


@hidden("what is predicted at padding does not matter", weight=2)
def loss_noise_at_padding(student):
    logits = randn(3, 6, 10, seed=6)
    noise = 20 * randn(3, 6, 10, seed=7) * (some_labels() == 1)[..., None]
    first = student.smoothed_loss(logits, some_labels(), 1)
    second = student.smoothed_loss(logits + noise, some_labels(), 1)
    assert (first - second).abs() < 1e-5
    return second


@hidden("one row more of padding changes nothing")
def loss_more_padding(student):
    logits = randn(4, 6, 10, seed=8)
    labels = torch.cat([some_labels(), torch.ones_like(some_labels()[:1])])
    return student.smoothed_loss(logits, labels, 1)


@hidden("logits in the thousands")
def loss_extreme(student):
    return student.smoothed_loss(3000 * randn(2, 6, 10, seed=9), some_labels()[:2], 1)


@hidden("double precision", tolerance=1e-6)
def loss_double(student):
    logits = 2 * randn(3, 6, 10, seed=10, dtype=torch.float64)
    return student.smoothed_loss(logits, some_labels(), 1, 0.25)


@hidden("the lowest loss that there is")
def loss_lowest(student):
    logits = torch.tensor([0.9, 0.02, 0.02, 0.02, 0.02, 0.02]).log().expand(1, 2, 6)
    labels = torch.tensor([[0, 0]])
    best = student.smoothed_loss(logits, labels, 5, 0.12)
    surer = student.smoothed_loss(3 * logits, labels, 5, 0.12)
    assert best < surer
    return best, surer


@hidden("gradients at the logits", weight=2)
def loss_gradients(student):
    return gradients(student.smoothed_loss, randn(3, 6, 10, seed=11), some_labels(), 1)


@hidden("logits and labels are left as they were")
def loss_keeps(student):
    return after(student.smoothed_loss, randn(3, 6, 10, seed=12), some_labels(), 1)
