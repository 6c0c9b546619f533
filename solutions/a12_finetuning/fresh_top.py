"""The top of a pre-trained model drawn anew, and everything below it left alone."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible

from .shared import became, learned


def fresh_top(weights, depth, layers):
    """Weights by name -> a new dict of them, the last blocks and the pooler as in a new model."""
    fresh = dict(weights)
    for name, weight in weights.items():
        part, number = name.split(".")[:2]
        if part == "pooler" or (part == "blocks" and int(number) >= depth - layers):
            if weight.ndim == 2:
                fresh[name] = 0.02 * torch.randn_like(weight)
            elif name.endswith("bias"):
                fresh[name] = torch.zeros_like(weight)
            else:
                fresh[name] = torch.ones_like(weight)
    return fresh


def drawn(depth, layers, *tops, seed, dtype=torch.float32):
    """Return a function that says what an answer makes of such weights."""
    before = learned(depth, *tops, seed=seed, dtype=dtype)
    given = {name: weight.clone() for name, weight in before.items()}
    return lambda student: became(before, student.fresh_top(given, depth, layers))


@visible("four blocks, the last one anew", weight=2)
def the_last_of_four(student):
    return drawn(4, 1, "pooler", seed=0)(student)


@visible("five blocks, the last three anew; no pooler, and double precision")
def three_of_five(student):
    return drawn(5, 3, seed=1, dtype=torch.float64)(student)


@visible("no block, the pooler alone")
def the_pooler_alone(student):
    return drawn(3, 0, "pooler", seed=2)(student)


@visible("twelve blocks, the last four anew")
def four_of_twelve(student):
    return drawn(12, 4, "pooler", seed=3)(student)


@visible("what was given stays as it was")
def what_was_given_stays(student):
    weights = learned(2, "pooler", seed=4)
    found, left = after(student.fresh_top, learned(2, "pooler", seed=4), 2, 1)
    return became(weights, found), became(weights, left[0])


@visible("two calls draw two tops")
def two_calls(student):
    tops = [student.fresh_top(learned(2, "pooler", seed=5), 2, 1) for _ in range(2)]
    first, again = (top["blocks.1.attention.weight"] for top in tops)
    return {"the same in both calls": bool(torch.equal(first, again))}


@hidden("a top of several sizes", weight=2)
def top_several(student):
    return [drawn(6, layers, "pooler", seed=20 + layers)(student) for layers in (1, 3, 5)]


@hidden("all blocks: only the embeddings stay")
def top_all(student):
    return drawn(3, 3, "pooler", seed=30)(student)


@hidden("no block, with a pooler and without; one block without a pooler")
def top_nothing(student):
    alone = drawn(3, 0, "pooler", seed=36)(student)
    return alone, drawn(2, 0, seed=31)(student), drawn(2, 1, seed=32)(student)


@hidden("more than ten blocks")
def top_many(student):
    return drawn(24, 6, "pooler", seed=33)(student), drawn(11, 2, seed=34)(student)


@hidden("double precision, and half")
def top_double(student):
    return [
        drawn(2, 1, "pooler", seed=35, dtype=dtype)(student)
        for dtype in (torch.float64, torch.float16)
    ]


@hidden("matrices that are not square, names in another order")
def top_oblong(student):
    def given():
        return {
            "pooler.bias": 1 + randn(8, seed=40),
            "blocks.1.mlp.2.weight": randn(48, 96, seed=41),
            "blocks.0.mlp.2.weight": randn(48, 96, seed=42),
            "blocks.1.norm2.weight": randn(96, seed=43),
            "blocks.1.mlp.2.bias": randn(48, seed=44),
            "embeddings.tokens.weight": randn(300, 32, seed=45),
            "blocks.1.norm2.bias": randn(96, seed=46),
        }

    return became(given(), student.fresh_top(given(), 2, 1))


@hidden("several calls from the same weights, which stay as they are")
def top_again(student):
    def given():
        return learned(3, "pooler", seed=50)

    before, tops = given(), [student.fresh_top(given(), 3, 2) for _ in range(3)]
    found, left = after(student.fresh_top, given(), 3, 2)
    first = tops[0]["blocks.2.attention.weight"]
    alike = [bool(torch.equal(first, top["blocks.2.attention.weight"])) for top in tops[1:]]
    return became(before, found), became(before, left[0]), alike
