"""The visible cases hand over the same numbers on every machine and with every version of torch.

What `check` compares with was computed elsewhere. Draws are held to the last bit; what cases make
of them may differ by a rounding, so of each question's inputs the count and two sums are held.
`python tests/check/test_inputs.py` writes them anew, after a case was changed on purpose.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from coursekit.check import compiled
from coursekit.check.probe import Chance, randn

HELD = Path(__file__).with_name("inputs.json")
NAMES = [(name, one.name) for name in compiled.names() for one in compiled.load(name).questions]


def bits(tensor: torch.Tensor) -> str:
    return hashlib.sha256(tensor.contiguous().numpy().tobytes()).hexdigest()[:16]


DRAWN = {
    "randn": randn(40, 25, seed=7),
    "rand": Chance(11).rand(1000),
    "randint": Chance(12).randint(-5, 10_000, (1000,)),
    "randperm": Chance(13).randperm(1000),
}


@pytest.mark.parametrize("name", DRAWN)
def test_draws_are_the_same_to_the_last_bit(name):
    assert bits(DRAWN[name]) == json.loads(HELD.read_text())["draws"][name]


def test_numpy_promises_these_draws():
    """`RandomState` is frozen by numpy (NEP 19); a `Generator` may change with any version."""
    assert isinstance(Chance(0)._draws, np.random.RandomState)


@pytest.mark.parametrize(("assignment", "name"), NAMES, ids=[name for _, name in NAMES])
def test_inputs_are_the_same_everywhere(assignment, name):
    held = json.loads(HELD.read_text())["inputs"][name]
    assert fingerprint(assignment, name) == pytest.approx(held, rel=1e-4, abs=1e-4)


def test_nothing_that_torch_draws_decides_what_a_case_gives():
    """But for the one question that is about torch's own generator."""
    for name in compiled.names():
        for question in compiled.load(name).questions:
            uses = [
                word for word in ("torch.rand", "Generator", "manual_seed") if word in question.code
            ]
            assert not uses, question.name


def fingerprint(assignment: str, name: str) -> list[float]:
    """Return how many numbers the visible cases of a question hand over, and two sums of them."""
    question = next(one for one in compiled.load(assignment).questions if one.name == name)
    numbers: list[float] = []

    class Recorder(nn.Module):
        """Stands for a class; its weights are not there, so a case ends where it fills them."""

        def __init__(self, *given, **named):
            super().__init__()
            numbers.extend(flat([given, named]))

        def forward(self, *given, **named):
            numbers.extend(flat([given, named]))
            raise LookupError

        def load_state_dict(self, state, **_):
            numbers.extend(flat(state))

    def answer(*given, **named):
        numbers.extend(flat([given, named]))
        raise LookupError

    student = SimpleNamespace(**{name: Recorder if question.is_class else answer})
    for case in question.cases:
        case.observe(student)
    weights = np.cos(np.arange(len(numbers)))
    return [float(len(numbers)), float(np.sum(numbers)), float(weights @ np.array(numbers))]


def flat(value: object) -> Iterator[float]:
    if isinstance(value, torch.Tensor):
        yield from value.detach().double().nan_to_num(7, 8, -8).flatten().tolist()
    elif isinstance(value, dict):
        yield from flat([list(value), list(value.values())])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from flat(one)
    elif isinstance(value, bool | int | float):
        yield float(value)
    elif isinstance(value, str):
        yield float(sum(map(ord, value)))


def write() -> None:
    held = {
        "draws": {name: bits(tensor) for name, tensor in DRAWN.items()},
        "inputs": {name: fingerprint(assignment, name) for assignment, name in NAMES},
    }
    lines = [
        f'"{kind}": {{\n'
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in part.items())
        + "\n}"
        for kind, part in held.items()
    ]
    HELD.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    sys.exit(write())
