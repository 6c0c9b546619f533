"""Heads are joined to the width again, those that are switched off as zeros."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def merge_heads(x, keep):
    """x (B, H, T, Dh), keep (H,) -> (B, T, H·Dh)."""
    on = x * keep[:, None, None]
    return on.transpose(1, 2).flatten(-2)


@visible("two heads of width 2, three places, all heads on")
def two_heads_of_width_2_all_on(student):
    return student.merge_heads(torch.arange(12.0).reshape(1, 2, 3, 2), torch.tensor([True, True]))


@visible("two sentences, three heads of width 4, the second off")
def two_sentences_three_heads_the_second_off(student):
    return student.merge_heads(randn(2, 3, 5, 4), torch.tensor([True, False, True]))


@visible("as many heads as places and columns, only the first on")
def as_many_heads_as_places_and_columns(student):
    return student.merge_heads(randn(2, 3, 3, 3, seed=1), torch.tensor([True, False, False]))


@visible("the heads are left as they were")
def the_heads_are_left_as_they_were(student):
    return after(
        student.merge_heads, randn(1, 4, 2, 3, seed=2), torch.tensor([False, True, True, False])
    )


@hidden("one head, on and off")
def merge_one(student):
    return [student.merge_heads(randn(2, 1, 3, 5), torch.tensor([on])) for on in (True, False)]


@hidden("as many sentences as heads, places and columns")
def merge_cube(student):
    return student.merge_heads(randn(3, 3, 3, 3, seed=1), torch.tensor([True, False, True]))


@hidden("six heads of width 1, two of them off")
def merge_narrow(student):
    keep = torch.tensor([True, True, False, True, False, True])
    return student.merge_heads(randn(2, 6, 3, 1, seed=2), keep)


@hidden("what is off and what is on add up")
def merge_halves(student):
    x, keep = randn(2, 4, 5, 3, seed=3), torch.tensor([False, False, True, False])
    one, other = student.merge_heads(x, keep), student.merge_heads(x, ~keep)
    assert ((one == 0) | (other == 0)).all()
    return one + other, other


@hidden("all heads off, in double precision")
def merge_none(student):
    return student.merge_heads(
        randn(1, 2, 3, 2, seed=4, dtype=torch.float64), torch.tensor([False, False])
    )


@hidden("gradients, and the input as it was")
def merge_gradients(student):
    x, keep = randn(2, 3, 4, 2, seed=4), torch.tensor([False, True, True])
    return gradients(student.merge_heads, x, keep), after(student.merge_heads, x, keep)
