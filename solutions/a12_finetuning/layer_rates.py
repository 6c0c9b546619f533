"""Learning rates that fall from the top of a model to its bottom."""

from __future__ import annotations

from coursetools.questions import hidden, visible

from .shared import names_of


def layer_rates(names, depth, peak, decay):
    """Names of weights -> a dict that has the rate of each name."""
    rates = {}
    for name in names:
        part, number = name.split(".")[:2]
        distance = 0
        if part == "blocks":
            distance = depth - int(number)
        elif part == "embeddings":
            distance = depth + 1
        rates[name] = peak * decay**distance
    return rates


@visible("two blocks, one weight in each layer")
def two_blocks(student):
    names = ["embeddings.tokens.weight", "blocks.0.weight", "blocks.1.weight", "head.weight"]
    return student.layer_rates(names, 2, 1.0, 0.5)


@visible("three blocks of several weights each, the names in no order", weight=2)
def three_blocks(student):
    names = names_of(3, "pooler", "head")
    return student.layer_rates(names[::2] + names[1::2][::-1], 3, 2.0, 0.25)


@visible("twelve blocks, at rates as they are used", tolerance=1e-12)
def twelve_blocks(student):
    return student.layer_rates(names_of(12, "classifier"), 12, 2e-5, 0.95)


@visible("what stands on top has other names: all of it at the full rate")
def other_tops(student):
    names = ["span.weight", *names_of(1, "pooler", "tagger"), "head.blocks.0.weight", "top.1.bias"]
    return student.layer_rates(names, 1, 0.5, 0.1)


def named(depth, *tops):
    """Return the names of an encoder's weights, blocks from the last to the first."""
    found = [f"{top}.weight" for top in tops]
    for number in reversed(range(depth)):
        found += [f"blocks.{number}.{part}" for part in ("norm1.weight", "mlp.0.bias", "q.weight")]
    return [*found, "embeddings.positions.weight", "embeddings.tokens.weight"]


@hidden("24 blocks, as in BERT large", tolerance=1e-12, weight=2)
def rates_large(student):
    return student.layer_rates(named(24, "pooler", "classifier"), 24, 3e-5, 0.9)


@hidden("a decay of 1, and of 0")
def rates_extreme(student):
    names = named(4, "head")
    return [student.layer_rates(names, 4, 0.5, decay) for decay in (1.0, 0.0)]


@hidden("the words blocks and embeddings further back in a name")
def rates_further_back(student):
    names = ["head.blocks.0.weight", "head.embeddings.bias", "pooler.blocks.1.weight"]
    return student.layer_rates(names + named(2), 2, 1.0, 0.5)


@hidden("only some of the weights, and not the highest block")
def rates_some(student):
    names = ["blocks.3.norm.bias", "blocks.10.q.weight", "embeddings.norm.weight"]
    return student.layer_rates(names, 12, 1.5, 0.5)


@hidden("a model without blocks")
def rates_without(student):
    return student.layer_rates(named(0, "head", "tagger"), 0, 2.0, 0.3)
