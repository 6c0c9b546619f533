"""Do two languages meet? Each sentence looks for its translation among all of the other's."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import Chance, after, randn
from coursetools.questions import hidden, visible


def find_translation(first, keep_first, second, keep_second):
    """first (N, T, D), second (N, S, D), each with its keep -> there (N,), back (N,), two shares"""
    vectors = []
    for states, keep in ((first, keep_first), (second, keep_second)):
        total = states.masked_fill(~keep[..., None], 0.0).sum(dim=1)  # (N, D)
        vectors.append(F.normalize(total / keep.sum(dim=1)[:, None], dim=-1))
    cosines = vectors[0] @ vectors[1].T  # (N, N)
    there, back = cosines.argmax(dim=1), cosines.argmax(dim=0)  # (N,) each
    right = [(found == torch.arange(len(found))).float().mean().item() for found in (there, back)]
    return there, back, *right


def spoken(sizes):
    return torch.arange(max(sizes) + 2) < torch.tensor(sizes)[:, None]


def languages(count, width, seed, noise, dtype=torch.float32):
    """Return states and keeps of `count` sentences in two languages, some of them loud."""
    talkers = Chance(seed)
    shared = randn(count, 1, width, seed=seed) + 0.7 * randn(1, 1, width, seed=seed + 1)
    found = []
    for n in range(2):
        keep = spoken(talkers.randint(2, 12, (count,)).tolist())
        shape = count, keep.shape[1], width
        states = shared + noise * randn(*shape, seed=seed + 2 + n)
        states[:, 0] = 2 * randn(count, width, seed=seed + 4 + n)
        states = states * (0.1 + 2 * randn(count, 1, 1, seed=seed + 6 + n).abs())
        found += [torch.where(keep[..., None], states, 15 * randn(*shape, seed=seed + 8 + n)), keep]
    return [x.to(dtype) if x.is_floating_point() else x for x in found]


@visible("three verses")
def three_verses(student):
    return student.find_translation(*languages(3, 4, 100, 1.0))


@visible("eight verses, much padding", weight=2)
def eight_verses(student):
    return student.find_translation(*languages(8, 6, 120, 2.0))


@visible("twelve verses, and the same in the other order", weight=2)
def twelve_verses(student):
    a, keep_a, b, keep_b = languages(12, 8, 140, 3.0)
    one = student.find_translation(a.clone(), keep_a.clone(), b.clone(), keep_b.clone())
    return one, student.find_translation(b, keep_b, a, keep_a)


@visible("nan at padding")
def nan_at_padding(student):
    a, keep_a, b, keep_b = languages(4, 5, 160, 1.5)
    a = a.masked_fill(~keep_a[..., None], torch.nan)
    b = b.masked_fill(~keep_b[..., None], torch.nan)
    return student.find_translation(a, keep_a, b, keep_b)


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.find_translation, *languages(4, 5, 180, 2.0))


@hidden("sixty verses", weight=2)
def find_sixty(student):
    return student.find_translation(*languages(60, 16, 500, 3.0))


@hidden("verses that are hard to tell apart", weight=2)
def find_hard(student):
    return [student.find_translation(*languages(15, 4, 520 + 20 * n, 2.0)) for n in range(3)]


@hidden("one verse only")
def find_one(student):
    return student.find_translation(*languages(1, 5, 600, 1.0))


@hidden("both languages have equally many tokens")
def find_square(student):
    keep = spoken([5, 3, 4, 6, 2])
    a, b = randn(5, 8, 6, seed=621), randn(5, 8, 6, seed=622)
    return student.find_translation(a, keep, a + b, keep.flip(0))


@hidden("double precision, nan at padding")
def find_double(student):
    a, real_a, b, real_b = languages(9, 5, 640, 2.0, dtype=torch.float64)
    a[~real_a], b[~real_b] = torch.nan, torch.inf
    return student.find_translation(a, real_a, b, real_b)


@hidden("all right one way, not all the other")
def find_one_way(student):
    keep = spoken([1, 1, 1])[:, :1]
    a = torch.tensor([[1.0, 0.0], [1.0, 0.2], [1.0, 0.4]])[:, None]
    b = torch.tensor([[1.0, -3.0], [3.0, 0.5], [0.1, 0.2]])[:, None]
    return student.find_translation(a, keep, b, keep.clone())


@hidden("opposite directions, very short vectors")
def find_opposite(student):
    a, keep_a, b, keep_b = languages(8, 3, 660, 0.5)
    return student.find_translation(1e-3 * a, keep_a, -b, keep_b)


@hidden("what was given is left as it was")
def find_keeps(student):
    return after(student.find_translation, *languages(4, 6, 680, 1.0))
