"""Learning rates that fall from the top of a model to its bottom."""

from __future__ import annotations

from coursekit.exercises.a12_finetuning.shared import names_of
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="layer_rates",
    title="Slower, the deeper it lies",
    points=3,
    difficulty=1,
    minutes=20,
    page="finetuning.html#sec-finetuning-rates",
    hint="For each name first say how far its layer lies below the top, a whole number: split the "
    "name at its dots and look at the first piece, and for a block at the second. The rate comes "
    "from that number in one line, the same for all.",
    reference=layer_rates,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="two blocks, one weight in each layer")
def two_blocks(student):
    names = ["embeddings.tokens.weight", "blocks.0.weight", "blocks.1.weight", "head.weight"]
    return student.layer_rates(names, 2, 1.0, 0.5)


@QUESTION.visible(says="three blocks of several weights each, the names in no order", weight=2)
def three_blocks(student):
    names = names_of(3, "pooler", "head")
    return student.layer_rates(names[::2] + names[1::2][::-1], 3, 2.0, 0.25)


@QUESTION.visible(says="twelve blocks, at rates as they are used", tolerance=1e-12)
def twelve_blocks(student):
    return student.layer_rates(names_of(12, "classifier"), 12, 2e-5, 0.95)


@QUESTION.visible(says="what stands on top has other names: all of it at the full rate")
def other_tops(student):
    names = ["span.weight", *names_of(1, "pooler", "tagger"), "head.blocks.0.weight", "top.1.bias"]
    return student.layer_rates(names, 1, 0.5, 0.1)


QUESTION.mistake(
    "decay from below",
    old='distance = 0\n        if part == "blocks":\n'
    '            distance = depth - int(number)\n        elif part == "embeddings":\n'
    "            distance = depth + 1",
    new='distance = depth + 1\n        if part == "blocks":\n'
    '            distance = int(number) + 1\n        elif part == "embeddings":\n'
    "            distance = 0",
    hint="Your rates fall from the bottom to the top. What lies low is general and worth keeping: "
    "the embeddings have the lowest rate, the head the full one.",
)

QUESTION.mistake(
    "blocks counted from below",
    old="depth - int(number)",
    new="int(number) + 1",
    hint="Your blocks are in the wrong order: block 0, next to the embeddings, has the highest "
    "rate. It lies farthest below the top and has the lowest of all blocks.",
)

QUESTION.mistake(
    "the power of the block's own number",
    old="depth - int(number)",
    new="int(number)",
    hint="You raise the decay to the number of the block. What counts is how far the block lies "
    "below the top; block 0 is at the bottom.",
)

QUESTION.mistake(
    "embeddings forgotten",
    old='        elif part == "embeddings":\n            distance = depth + 1\n',
    new='        elif part == "embeddings":\n            continue\n',
    hint="The embeddings have no rate in yours. An optimiser that is given such groups would never "
    "move them: every name has a rate.",
)

QUESTION.mistake(
    "the top forgotten",
    old="        rates[name] = ",
    new='        if part not in ("blocks", "embeddings"):\n            continue\n'
    "        rates[name] = ",
    hint="What stands above the blocks has no rate in yours, and would never be trained. It has "
    "the full one.",
)

QUESTION.mistake(
    "the blocks alone",
    old="        rates[name] = ",
    new='        if part != "blocks":\n            continue\n        rates[name] = ',
    hint="Only blocks have a rate in yours. The embeddings and all that stands on top have one "
    "too; what has none is never trained.",
)

QUESTION.mistake(
    "embeddings at the full rate",
    old='        elif part == "embeddings":\n            distance = depth + 1\n',
    new="",
    hint="Your embeddings learn at the full rate, like the head. They lie below all blocks and "
    "have the lowest rate.",
)

QUESTION.mistake(
    "embeddings at the rate of block 0",
    old="distance = depth + 1",
    new="distance = depth",
    hint="Your embeddings have the rate of block 0. They lie one step below it.",
)

QUESTION.mistake(
    "embeddings two steps below",
    old="distance = depth + 1",
    new="distance = depth + 2",
    hint="Your embeddings lie two steps below block 0. It is one.",
)

QUESTION.mistake(
    "head decayed",
    old="decay**distance",
    new="decay**(distance + 1)",
    hint="Every rate of yours has one factor too many, so that the head decays as well. The head "
    "has the full rate, and the last block the first factor.",
)

QUESTION.mistake(
    "the head decays, and nothing else is lower",
    old="distance = 0",
    new="distance = 1",
    hint="Your head has the rate of the last block. It stands above it and has the full rate.",
)

QUESTION.mistake(
    "the last block at the full rate",
    old='distance = depth - int(number)\n        elif part == "embeddings":\n'
    "            distance = depth + 1",
    new='distance = depth - int(number) - 1\n        elif part == "embeddings":\n'
    "            distance = depth",
    hint="Your last block has the full rate, like the head. The head stands one step above it, so "
    "the last block has one factor, and all below it one more than yours.",
)

QUESTION.mistake(
    "the last block at the full rate, the embeddings right",
    old="depth - int(number)",
    new="depth - int(number) - 1",
    hint="Your blocks are one step too high: the last one has the full rate, like the head. They "
    "are numbered from 0, so the last is number depth - 1, and it lies one step below the head.",
)

QUESTION.mistake(
    "a line",
    old="decay**distance",
    new="(1 - (1 - decay) * distance)",
    hint="You subtract the same amount at each step. Each step multiplies by the decay.",
)

QUESTION.mistake(
    "times the distance",
    old="decay**distance",
    new="(decay * distance if distance else 1.0)",
    hint="You multiply the decay by the number of steps. Each step down multiplies once more: it "
    "is a power.",
)

QUESTION.mistake(
    "divided",
    old="* decay**distance",
    new="/ decay**distance",
    hint="You divide by the decay, so the rates grow downwards. It is below 1: multiply.",
)

QUESTION.mistake(
    "twice a step",
    old="decay**distance",
    new="decay**(2 * distance)",
    hint="Your rates are multiplied twice at each step down. Once is enough.",
)

QUESTION.mistake(
    "a step for each weight",
    old="rates[name] = peak * decay**distance\n    return rates",
    new='rates[name] = peak\n    lower = [n for n in names if n.split(".")[0] in '
    '("blocks", "embeddings")]\n'
    "    for step, name in enumerate(reversed(lower), 1):\n"
    "        rates[name] = peak * decay**step\n    return rates",
    hint="Your rate falls from weight to weight. It falls from layer to layer: all weights of a "
    "block have one rate, in whatever order the names come.",
)

QUESTION.mistake(
    "the peak twice",
    old="peak * decay",
    new="peak * peak * decay",
    hint="The peak is in your rates twice. It is the rate of the head, and each step down "
    "multiplies it by the decay alone.",
)

QUESTION.mistake(
    "the factor without the peak",
    old="peak * decay",
    new="decay",
    hint="You return the factors. The rates are the factors times the peak.",
)

QUESTION.mistake(
    "one digit of the number",
    old="int(number)",
    new="int(number[0])",
    hint="Block 10 and block 11 have the rate of block 1 in yours: you read one digit. Split the "
    "name at its dots.",
)

QUESTION.mistake(
    "the pooler among the blocks",
    old='elif part == "embeddings":',
    new='elif part == "pooler":\n            distance = 1\n        elif part == "embeddings":',
    hint="Your pooler decays. It stands above the blocks, as the head does, and has the full rate.",
)

QUESTION.mistake(
    "the head by its name",
    old="        rates[name] = ",
    new='        if part not in ("blocks", "embeddings", "head", "pooler"):\n            continue\n'
    "        rates[name] = ",
    hint="You know a top only if it is called head or pooler; others have no rate. Whatever is "
    "neither a block nor in the embeddings stands on top.",
)

QUESTION.mistake(
    "a list for a dict",
    old="return rates",
    new="return list(rates.values())",
    hint="You return the rates alone. A dict is asked for, which tells the rate of each name.",
)

QUESTION.mistake(
    "a number for each layer",
    old="return rates",
    new='return {".".join(name.split(".")[: 1 + name.startswith("blocks")]): rate '
    "for name, rate in rates.items()}",
    hint="You return one rate for each layer. Every single name has its rate: those of one block "
    "all the same one.",
)

QUESTION.mistake(
    "the words anywhere in the name",
    old='part, number = name.split(".")[:2]',
    new='pieces = name.split(".")\n'
    '        part = next((x for x in pieces if x in ("blocks", "embeddings")), "head")\n'
    '        number = pieces[pieces.index(part) + 1] if part == "blocks" else ""',
    hint="You look for the word anywhere in the name. Its first piece decides: a weight called "
    "head.blocks.0.weight belongs to the head.",
)

QUESTION.mistake(
    "the head alone by its name",
    old="        rates[name] = ",
    new='        if part not in ("blocks", "embeddings", "head"):\n            continue\n'
    "        rates[name] = ",
    hint="You know a top only if it is called head; others have no rate. Whatever is neither a "
    "block nor in the embeddings stands on top.",
)

QUESTION.mistake(
    "norms and biases at the full rate",
    old="distance = depth + 1\n",
    new='distance = depth + 1\n        if "norm" in name or name.endswith("bias"):\n'
    "            distance = 0\n",
    hint="Your norms and biases learn at the full rate. They are left out of weight decay; the "
    "rate of a layer holds for all that is in it.",
)

QUESTION.mistake(
    "embeddings frozen",
    old="rates[name] = peak * decay**distance",
    new="rates[name] = peak * decay**distance if distance <= depth else 0.0",
    hint="Your embeddings have the rate 0. They learn too, one step more slowly than block 0.",
)

QUESTION.mistake(
    "groups for an optimiser",
    old="return rates",
    new='return [{"params": [name], "lr": rate} for name, rate in rates.items()]',
    hint="You return groups, as torch's optimisers want them. Here a dict is asked for, from each "
    "name to its rate.",
)

QUESTION.mistake(
    "in the order of the names",
    old="    return rates",
    new="    rate, last = peak, None\n"
    "    for name in reversed(names):\n"
    '        layer = name.split(".")[: 1 + name.startswith("blocks")]\n'
    "        rate, last = rate * (decay if last not in (None, layer) else 1), layer\n"
    "        rates[name] = rate\n"
    "    return rates",
    hint="You walk through the names and lower the rate whenever another layer begins. The names "
    "come in any order: compute each rate from its own name.",
)
