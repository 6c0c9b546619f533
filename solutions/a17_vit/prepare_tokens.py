"""What the encoder of a ViT reads: a class token before the patches, and a position on each."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def prepare_tokens(patches, class_token, positions):
    """patches (B, N, D), class token (D,), positions (N + 1, D) -> tokens (B, N + 1, D)."""
    first = class_token.expand(len(patches), 1, -1)  # (B, 1, D)
    return torch.cat([first, patches], dim=1) + positions


def sentence(B, N, D, seed, dtype=torch.float32):
    """Return patches, class token and positions of very different sizes."""
    patches = randn(B, N, D, seed=seed, dtype=dtype)
    return (
        patches,
        5 * randn(D, seed=seed + 1, dtype=dtype),
        randn(N + 1, D, seed=seed + 2, dtype=dtype) - 3,
    )


@visible("one picture of two patches")
def one_picture(student):
    patches = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    positions = torch.tensor([[100.0, 200.0], [300.0, 400.0], [500.0, 600.0]])
    return student.prepare_tokens(patches, torch.tensor([10.0, 20.0]), positions)


@visible("three pictures", weight=2)
def three_pictures(student):
    return student.prepare_tokens(*sentence(3, 4, 5, seed=1))


@visible("gradients, for all three")
def with_gradients(student):
    return gradients(student.prepare_tokens, *sentence(3, 2, 4, seed=16))


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.prepare_tokens, *sentence(2, 3, 4, seed=19, dtype=torch.float64))


@hidden("the sequence of a small ViT, 49 patches", weight=2)
def prepare_many(student):
    return student.prepare_tokens(*sentence(6, 49, 8, seed=311))


@hidden("a single picture, a single patch, a single number")
def prepare_single(student):
    sizes = (1, 5, 3), (4, 1, 3), (2, 3, 1), (1, 1, 1)
    return [student.prepare_tokens(*sentence(*size, seed=314)) for size in sizes]


@hidden("gradients: the class token hears of every picture", weight=2)
def prepare_gradients(student):
    return gradients(student.prepare_tokens, *sentence(5, 4, 3, seed=317))


@hidden("equal patches: positions alone tell them apart")
def prepare_equal(student):
    _, class_token, positions = sentence(2, 4, 3, seed=320)
    return student.prepare_tokens(torch.ones(2, 4, 3), class_token, positions)


@hidden("double precision", tolerance=1e-12)
def prepare_double(student):
    return student.prepare_tokens(*sentence(3, 4, 4, seed=323, dtype=torch.float64))


@hidden("what was given is left as it was", weight=0.5)
def prepare_keeps(student):
    return after(student.prepare_tokens, *sentence(2, 5, 3, seed=326))
