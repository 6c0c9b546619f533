"""What assignment 12 calls a fresh top is what the course's own recipe draws in a Bert.

The other answers of this assignment stand beside the course's parts in `test_parts.py`.
"""

from __future__ import annotations

import ours
import pytest
import torch

from coursekit.check.probe import randn
from coursekit.models.bert import Bert, BertConfig
from coursekit.training.finetuning import fresh_top
from coursetools.questions import catalogue

SHARED = ours.module("a12_finetuning", "shared")
became, learned = SHARED.became, SHARED.learned
RIGHT = catalogue.references(ours.load("a12_finetuning"))
DEPTH = 3


def pretrained(pooler):
    """Return a Bert whose norms and biases are not those of a new one any more."""
    sizes = {"vocabulary": 80, "width": 48, "heads": 2, "hidden": 96, "positions": 40}
    bert = Bert(BertConfig(depth=DEPTH, **sizes), pooler=pooler)
    with torch.no_grad():
        for place, weight in enumerate(bert.parameters()):
            weight += randn(*weight.shape, seed=place)
    return bert


def named(bert):
    """Return copies of the weights, with the names of the assignment."""
    return {
        name.removeprefix("encoder."): weight.detach().clone()
        for name, weight in bert.named_parameters()
    }


@pytest.mark.parametrize("pooler", [True, False])
@pytest.mark.parametrize("layers", range(DEPTH + 1))
def test_a_fresh_top_is_that_of_the_courses_recipe(layers, pooler):
    bert = pretrained(pooler)
    before = named(bert)
    ours = became(before, RIGHT.fresh_top(before, DEPTH, layers))
    theirs = became(before, named(fresh_top(bert, layers)))
    assert ours == theirs
    assert set(ours.values()) <= {"as it was", "all 0", "all 1", "normal, deviation 0.02"}
    assert sum(told != "as it was" for told in ours.values()) == 12 * layers + 2 * pooler


def test_what_became_of_a_weight_is_told_apart():
    before = learned(1, "pooler")
    torch.manual_seed(0)
    name = "blocks.0.attention.weight"
    old = before[name]
    told = [
        became({name: old}, {name: new})[name]
        for new in (
            old.clone(),
            0.2 * old,
            old.double(),
            old[:3],
            0.02 * torch.randn(64, 64),
            torch.randn(64, 64),
            1 + torch.randn(64, 64),
            torch.rand(64, 64),
            torch.full((64, 64), torch.nan),
            None,
        )
    ]
    assert told == [
        "as it was",
        "much like what it was",
        "float64 (64, 64)",
        "float32 (3, 64)",
        "normal, deviation 0.02",
        "normal, deviation 1",
        "normal, deviation 1, mean 1",
        "not normal, deviation 0.31, mean 0.5",
        "not finite",
        "of type NoneType",
    ]
    assert became(before, None) is None
    assert became(before, {name: old}) == [name]
