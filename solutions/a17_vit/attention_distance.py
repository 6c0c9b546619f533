"""How far a head looks, in pixels: the distance to what it sees, weighted by its attention."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def attention_distance(weights, grid, patch):
    """weights (H, T, T), (rows, columns) of patches, the side of one -> pixels (H,)."""
    rows, columns = grid
    number = torch.arange(rows * columns)
    places = torch.stack([number // columns, number % columns], dim=1).to(weights.dtype)  # (N, 2)
    apart = places[:, None] - places  # (N, N, 2), in patches
    pixels = patch * apart.square().sum(dim=-1).sqrt()  # (N, N)
    seen = weights[:, 1:, 1:]  # (H, N, N)
    shares = seen / seen.sum(dim=-1, keepdim=True)
    far = (shares * pixels).sum(dim=-1)  # (H, N)
    return far.mean(dim=-1)


def heads(count, rows, columns, seed, dtype=torch.float64):
    """Return weights of heads that look near, farther and far, and now and then at the class."""
    n = torch.arange(rows * columns)
    r, c = n // columns, n % columns
    steps = ((r[:, None] - r).square() + (c[:, None] - c).square()).to(dtype)
    reach = (1 + torch.arange(count)).to(dtype)[:, None, None]
    scores = randn(count, len(n) + 1, len(n) + 1, seed=seed, dtype=dtype)
    scores[:, 1:, 1:] -= steps / reach**2
    scores[:, 1:, 0] += 2 * randn(count, len(n), seed=seed + 1, dtype=dtype)
    return scores.softmax(dim=-1)


@visible("one head, one row of three patches")
def three_patches(student):
    first, second = [0.7, 0.1, 0.1, 0.1], [0.0, 0.5, 0.5, 0.0]
    weights = torch.tensor([[first, second, [0.0, 0.5, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0]]])
    return student.attention_distance(weights, (1, 3), 10)


@visible("four heads, more columns than rows", weight=2)
def four_heads(student):
    return student.attention_distance(heads(4, 2, 5, seed=1), (2, 5), 16)


@visible(
    "more rows than columns; the class token gets much, little or nothing of what a patch gives"
)
def class_token_seen(student):
    weights = heads(2, 4, 2, seed=3, dtype=torch.float32)
    weights[:, 1:, 0] = torch.tensor([1.0, 0.0, 99.0, 0.2, 9.0, 0.0, 1.0, 0.1])
    return student.attention_distance(weights / weights.sum(dim=-1, keepdim=True), (4, 2), 8)


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.attention_distance, heads(2, 2, 3, seed=6), (2, 3), 5)


@hidden("six heads of several reaches on 7 × 7 patches", weight=2)
def distance_seven(student):
    return student.attention_distance(heads(6, 7, 7, seed=331), (7, 7), 4)


@hidden("two very different sides", weight=2)
def distance_sides(student):
    return student.attention_distance(heads(3, 2, 8, seed=333), (2, 8), 16), (
        student.attention_distance(heads(3, 8, 2, seed=335), (8, 2), 16)
    )


@hidden("a head that looks everywhere alike")
def distance_even(student):
    return student.attention_distance(torch.full((2, 21, 21), 1 / 21), (5, 4), 12)


@hidden("heads that give nearly everything to the class token")
def distance_class(student):
    found = heads(3, 3, 4, seed=337)
    found[:, 1::2, 0] += 30.0
    return student.attention_distance(found / found.sum(dim=-1, keepdim=True), (3, 4), 10)


@hidden("each patch looks at its mirror image, and at itself")
def distance_mirror(student):
    weights = torch.zeros(2, 13, 13)
    weights[:, 0, 0] = 1.0
    weights[0, 1:, 1:] = torch.eye(12).reshape(12, 3, 4).flip(2).reshape(12, 12)
    weights[1, 1:, 1:] = torch.eye(12)
    return student.attention_distance(weights, (3, 4), 5)


@hidden("single precision: the same dtype comes back", tolerance=1e-4)
def distance_single(student):
    weights = heads(2, 4, 5, seed=339, dtype=torch.float32)
    return student.attention_distance(weights, (4, 5), 8), student.attention_distance(
        weights[:1, :2, :2], (1, 1), 8
    )


@hidden("double precision", tolerance=1e-12)
def distance_double(student):
    return student.attention_distance(heads(3, 3, 5, seed=343), (3, 5), 6)


@hidden("what was given is left as it was", weight=0.5)
def distance_keeps(student):
    return after(student.attention_distance, heads(2, 3, 3, seed=341), (3, 3), 7)
