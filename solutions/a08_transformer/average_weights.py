"""The weighted mean of checkpoints, name by name."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def average_weights(checkpoints, shares):
    """State dicts, and a positive number for each -> one state dict, their weighted mean."""
    found = {}
    for name, first in checkpoints[0].items():
        total = sum(share * state[name].double() for share, state in zip(shares, checkpoints))
        mean = total / sum(shares)
        found[name] = mean.to(first.dtype) if first.is_floating_point() else first.clone()
    return found


def saved(count: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> list:
    """Return `count` checkpoints: two weights, and a table of whole numbers that all share."""
    return [
        {
            "embed.weight": scale * (1 + randn(3, 4, seed=step).abs()).to(dtype),
            "norm.bias": randn(4, seed=50 + step).to(dtype),
            "places": torch.arange(3),
        }
        for step in range(count)
    ]


@visible("two checkpoints of two numbers, the second counts three times")
def two_checkpoints_of_two_numbers(student):
    return student.average_weights(
        [{"w": torch.tensor([1.0, 5.0])}, {"w": torch.tensor([3.0, -1.0])}], [1, 3]
    )


@visible("five checkpoints, one tensor of whole numbers")
def five_checkpoints_one_tensor_of_whole(student):
    return student.average_weights(saved(5), [1, 2, 3, 4, 5])


@visible("two checkpoints that count the same")
def two_checkpoints_that_count_the_same(student):
    return student.average_weights(saved(2), [0.5, 0.5])


@visible("large numbers in 16 bits")
def large_numbers_in_16_bits(student):
    return student.average_weights(saved(4, torch.float16, 15_000.0), [0.5, 1.5, 2.0, 3.0])


@visible("the checkpoints are left as they were")
def the_checkpoints_are_left_as_they(student):
    return after(student.average_weights, saved(3), [3.0, 0.5, 1.0])


def saved_again(count, dtype=torch.float32, scale=1.0):
    return [
        {
            "blocks.0.weight": (scale * randn(2, 5, seed=60 + step)).to(dtype),
            "blocks.0.index": torch.tensor([3, 1, 4]),
            "bias": (scale * randn(5, seed=90 + step)).to(dtype),
        }
        for step in range(count)
    ]


@hidden("twenty checkpoints, each counts a little less than the next", weight=2)
def average_twenty(student):
    return student.average_weights(saved_again(20), [0.9**back for back in range(19, -1, -1)])


@hidden("one checkpoint, whatever its share")
def average_one(student):
    return student.average_weights(saved_again(1), [2.5])


@hidden("only the ratio of the shares counts", weight=2)
def average_ratio(student):
    small, large = (student.average_weights(saved_again(3), s) for s in ([1, 4, 2], [50, 200, 100]))
    assert all((small[n].double() - large[n].double()).abs().max() < 1e-5 for n in small)
    return large


@hidden("double precision", tolerance=1e-12)
def average_double(student):
    names = ("blocks.0.weight", "bias")
    states = [{name: state[name] for name in names} for state in saved_again(3, torch.float64, 1e8)]
    found = student.average_weights(states, [0.7, 0.1, 0.4])
    return {name: mean / 1e8 for name, mean in found.items()}


@hidden("16-bit weights", weight=2)
def average_sixteen(student):
    return student.average_weights(
        saved_again(6, torch.float16, 20_000.0), [1, 1, 2, 2, 3, 3]
    )  # their sum is too large


@hidden("bfloat16 weights")
def average_bfloat(student):
    return student.average_weights(saved_again(3, torch.bfloat16), [9, 1, 1])


@hidden("a table of True and False")
def average_bools(student):
    table = torch.tensor([[True, False], [True, True]])
    states = [{"mask": table.clone(), "w": randn(2, seed=step)} for step in range(3)]
    return student.average_weights(states, [1, 2, 4])


@hidden("checkpoints and shares are left as they were")
def average_keeps(student):
    shares = [4.0, 3.0, 2.0, 1.5]
    return after(student.average_weights, saved_again(4), shares), shares
