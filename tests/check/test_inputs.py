"""The visible cases get the same numbers on every machine and with every version of torch.

What `check` compares with was computed elsewhere. Draws are held to the last bit here; that a case
still gives what was compiled from it, on this machine, is part of the audit of each question.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch

from coursekit.check import compiled
from coursekit.check.probe import Chance, randn


def bits(tensor: torch.Tensor) -> str:
    return hashlib.sha256(tensor.contiguous().numpy().tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        (randn(40, 25, seed=7), "8b814bddfd17a728"),
        (Chance(11).rand(1000), "815efb959d1d1431"),
        (Chance(12).randint(-5, 10_000, (1000,)), "b166400b3aba7ae7"),
        (Chance(13).randperm(1000), "3b73db6199ac05c6"),
    ],
    ids=["randn", "rand", "randint", "randperm"],
)
def test_draws_are_the_same_to_the_last_bit(drawn, expected):
    assert bits(drawn) == expected


def test_numpy_promises_these_draws():
    """`RandomState` is frozen by numpy (NEP 19); a `Generator` may change with any version."""
    assert isinstance(Chance(0)._draws, np.random.RandomState)


def test_nothing_that_torch_draws_decides_what_a_case_gives():
    """But for the one question that is about torch's own generator."""
    for name in compiled.names():
        for question in compiled.load(name).questions:
            uses = [
                word for word in ("torch.rand", "Generator", "manual_seed") if word in question.code
            ]
            assert not uses, question.name
