"""Which patches of an image a masked autoencoder may read, and how they find their places again."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def hide_patches(noise, ratio):
    """noise (B, N), the share to hide -> keep (B, K), hidden (B, N), restore (B, N)."""
    N = noise.shape[1]
    K = int(N * (1 - ratio) + 1e-6)  # 10 · (1 − 0.8) is a hair below 2
    order = noise.argsort(dim=1)  # (B, N), which patch stands at each place of the list
    restore = order.argsort(dim=1)  # (B, N), at which place of the list each patch stands
    return order[:, :K], restore >= K, restore


def dice(rows, columns, seed, dtype=torch.float32):
    """Return numbers from 0 to 1, no two of a row equal."""
    cast = randn(rows, columns, seed=seed, dtype=torch.float64).argsort(dim=1)
    return ((cast + 0.5) / columns).to(dtype)


@visible("one image of five patches")
def one_image(student):
    return student.hide_patches(torch.tensor([[0.5, 0.2, 0.8, 0.1, 0.4]]), 0.5)


@visible("three images of 16 patches, three quarters hidden", weight=2)
def three_quarters(student):
    return student.hide_patches(randn(3, 16, seed=1).sigmoid(), 0.75)


@visible("shares of 49 patches that are no whole numbers")
def no_whole_numbers(student):
    return [student.hide_patches(dice(2, 49, seed=2), ratio) for ratio in (0.75, 0.9, 0.3)]


@visible("ten patches, 80% hidden: two stay")
def a_hair_below(student):
    return student.hide_patches(dice(2, 10, seed=6), 0.8)


@visible("nothing hidden, and all but one")
def nothing_hidden(student):
    return [student.hide_patches(dice(4, 9, seed=3), ratio) for ratio in (0.0, 0.85)]


@visible("any numbers, also below 0; what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.hide_patches, dice(2, 10, seed=5, dtype=torch.float64) - 0.5, 0.55)


@hidden("eight images of 196 patches, as in the paper", weight=2)
def hide_paper(student):
    return student.hide_patches(dice(8, 196, seed=301), 0.75)


@hidden("many shares of 15 patches")
def hide_shares(student):
    shares = (0.1, 0.25, 0.5, 0.62, 0.7, 0.9)
    return [student.hide_patches(dice(2, 15, seed=302), share) for share in shares]


@hidden("twenty patches, 80% and 90% hidden: four and two stay", weight=2)
def hide_a_hair_below(student):
    return [student.hide_patches(dice(3, 20, seed=308), share) for share in (0.8, 0.9)]


@hidden("nothing hidden, many images")
def hide_nothing(student):
    return student.hide_patches(dice(12, 7, seed=303), 0.0)


@hidden("a single patch stays of each image", weight=2)
def hide_nearly_all(student):
    return student.hide_patches(dice(5, 11, seed=304), 0.88)


@hidden("numbers that rise, and numbers that fall")
def hide_sorted(student):
    rising = torch.linspace(-2.0, 5.0, 12).repeat(2, 1)
    return student.hide_patches(rising, 0.5), student.hide_patches(-rising, 0.5)


@hidden("one image, and one patch")
def hide_one(student):
    return [student.hide_patches(dice(*size, seed=305), 0.0) for size in ((1, 6), (3, 1), (1, 1))]


@hidden("double precision: numbers that lie very close together")
def hide_close(student):
    numbers = 0.5 + 1e-12 * dice(3, 14, seed=306, dtype=torch.float64)
    return student.hide_patches(numbers, 0.6)


@hidden("what was given is left as it was", weight=0.5)
def hide_keeps(student):
    return after(student.hide_patches, dice(3, 8, seed=307), 0.5)
