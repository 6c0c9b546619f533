"""The mean of checkpoints, name by name."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def average_weights(checkpoints):
    """A list of state dicts -> one state dict, their mean."""
    found = {}
    for name, first in checkpoints[0].items():
        mean = sum(state[name].double() for state in checkpoints) / len(checkpoints)
        found[name] = mean.to(first.dtype) if first.is_floating_point() else first.clone()
    return found


QUESTION = Question(
    name="average_weights",
    title="The mean of the last few",
    points=2,
    difficulty=1,
    minutes=15,
    page="translation.html#sec-translation-averaging",
    hint="For each name of the first checkpoint: a sum over all of them in double precision, "
    "divided by how many there are, and back to the dtype that it had. Tensors of whole "
    "numbers are the same in all. Make new tensors.",
    reference=average_weights,
    forbidden=("coursekit", "torch.optim.swa_utils"),
)


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


@QUESTION.visible(says="two checkpoints of two numbers")
def two_checkpoints_of_two_numbers(student):
    return student.average_weights(
        [{"w": torch.tensor([1.0, 5.0])}, {"w": torch.tensor([3.0, -1.0])}]
    )


@QUESTION.visible(says="five checkpoints, one tensor of whole numbers")
def five_checkpoints_one_tensor_of_whole(student):
    return student.average_weights(saved(5))


@QUESTION.visible(says="one checkpoint")
def one_checkpoint(student):
    return student.average_weights(saved(1))


@QUESTION.visible(says="large numbers in 16 bits")
def large_numbers_in_16_bits(student):
    return student.average_weights(saved(4, torch.float16, 15_000.0))


@QUESTION.visible(says="the checkpoints are left as they were")
def the_checkpoints_are_left_as_they(student):
    return after(student.average_weights, saved(3))


QUESTION.mistake(
    "sum",
    old=" / len(checkpoints)",
    new="",
    hint="You add up and do not divide by the number of checkpoints.",
)


@QUESTION.mistake(
    "the last one", hint="You return the last checkpoint. All of them count the same."
)
def average_is_last(checkpoints):
    return {name: weight.clone() for name, weight in checkpoints[-1].items()}


@QUESTION.mistake(
    "half and half",
    hint="Two checkpoints pass. With more, you halve what came before at every step, so that "
    "the last one weighs ½ and the first next to nothing. Add up all, divide once.",
)
def average_by_halves(checkpoints):
    found = {name: weight.clone() for name, weight in checkpoints[0].items()}
    for state in checkpoints[1:]:
        for name, weight in state.items():
            if weight.is_floating_point():
                found[name] = ((found[name].double() + weight.double()) / 2).to(weight.dtype)
    return found


QUESTION.mistake(
    "summed in 16 bits",
    old="state[name].double()",
    new="state[name]",
    hint="float16 ends at 65,504, and your sum is larger. Make the tensors .double() before "
    "you add them up, and go back at the end.",
)

QUESTION.mistake(
    "mean of whole numbers",
    old="first.clone()",
    new="mean",
    hint="You average the tensor of whole numbers as well, and it comes out as floats. It is "
    "the same in all checkpoints and stays as it is.",
)

QUESTION.mistake(
    "dtype lost",
    old="mean.to(first.dtype)",
    new="mean.float()",
    hint="The numbers are right, but 16-bit weights come back with 32. A mean has the dtype of "
    "what it is made of.",
)


@QUESTION.mistake(
    "written into the first",
    hint="You write the mean into the first checkpoint, which is then lost to whoever gave it "
    "to you. (+= on a tensor does it too.) Make new tensors.",
)
def average_into_the_first(checkpoints):
    found = checkpoints[0]
    for name, first in found.items():
        if first.is_floating_point():
            first.copy_(sum(state[name].double() for state in checkpoints) / len(checkpoints))
    return found


QUESTION.mistake(
    "whole numbers left out",
    old="found[name] = mean.to(first.dtype) if first.is_floating_point() else first.clone()",
    new=("if first.is_floating_point():\n            found[name] = mean.to(first.dtype)"),
    hint="The tensor of whole numbers is missing, and a model will not load without it. It is "
    "the same in all checkpoints: take that of the first.",
)
