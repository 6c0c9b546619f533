"""The top of a pre-trained model drawn anew, and everything below it left alone."""

from __future__ import annotations

import torch

from coursekit.exercises.a12_finetuning.shared import became, learned
from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


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


QUESTION = Question(
    name="fresh_top",
    title="A fresh top",
    points=4,
    difficulty=2,
    minutes=30,
    page="finetuning.html#sec-finetuning-top",
    hint="Go through the names, and ask two questions about each. Does it belong to what is drawn "
    "anew? The pieces between its dots say so; mind that blocks count from 0. And of which of the "
    "three kinds is it? The number of its axes and the end of its name tell. The tensors of the "
    "new dict are new ones, or those that you were given, never given ones that you wrote into.",
    reference=fresh_top,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="four blocks, the last one anew", weight=2)
def the_last_of_four(student):
    weights = learned(4, "pooler")
    return became(weights, student.fresh_top(learned(4, "pooler"), 4, 1))


@QUESTION.visible(says="five blocks, the last three anew; no pooler, and double precision")
def three_of_five(student):
    weights, given = (learned(5, seed=1, dtype=torch.float64) for _ in range(2))
    return became(weights, student.fresh_top(given, 5, 3))


@QUESTION.visible(says="no block, the pooler alone")
def the_pooler_alone(student):
    given = learned(3, "pooler", seed=2)
    return became(given, student.fresh_top(learned(3, "pooler", seed=2), 3, 0))


@QUESTION.visible(says="twelve blocks, the last four anew")
def four_of_twelve(student):
    given = learned(12, "pooler", seed=3)
    return became(given, student.fresh_top(learned(12, "pooler", seed=3), 12, 4))


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    weights = learned(2, "pooler", seed=4)
    found, left = after(student.fresh_top, learned(2, "pooler", seed=4), 2, 1)
    return became(weights, found), became(weights, left[0])


@QUESTION.visible(says="two calls draw two tops, and each matrix its own numbers")
def two_calls(student):
    weights = learned(2, "pooler", seed=5)
    found = [student.fresh_top(learned(2, "pooler", seed=5), 2, 1) for _ in range(2)]
    told = [became(weights, one) for one in found]
    if told[0] != told[1] or not all(isinstance(x, torch.Tensor) for x in found[0].values()):
        return told
    first, again = (one["blocks.1.attention.weight"] for one in found)
    same = bool(torch.equal(first, again)), bool(torch.equal(first, found[0]["pooler.weight"]))
    return told[0], {"the same in both calls": same[0], "the same in both matrices": same[1]}


QUESTION.mistake(
    "bottom reset",
    old="int(number) >= depth - layers",
    new="int(number) < layers",
    hint="You draw the first blocks anew. Block 0 stands next to the embeddings and is worth "
    "keeping; it is the last ones that have specialised.",
)

QUESTION.mistake(
    "one block too many",
    old="int(number) >= depth - layers",
    new="int(number) >= depth - layers - 1",
    hint="You draw one block too many anew. The blocks count from 0, so the last of four is "
    "number 3.",
)

QUESTION.mistake(
    "one block too few",
    old="int(number) >= depth",
    new="int(number) > depth",
    hint="You draw one block too few anew. The blocks count from 0, so the last of four is "
    "number 3.",
)

QUESTION.mistake(
    "one block only",
    old="int(number) >= depth",
    new="int(number) == depth",
    hint="You draw a single block anew. `layers` of them are meant, up to the top.",
)

QUESTION.mistake(
    "the number of a block for how many",
    old="int(number) >= depth - layers",
    new="int(number) >= layers",
    hint="You draw anew what lies from block number `layers` on. `layers` says how many blocks, "
    "counted from the top.",
)

QUESTION.mistake(
    "zero taken for all",
    old="int(number) >= depth - layers",
    new="int(number) in list(range(depth))[-layers:]",
    hint="With `layers` 0 you draw all blocks anew: a slice [-0:] is the whole list.",
)

QUESTION.mistake(
    "all blocks",
    old=" and int(number) >= depth - layers",
    new="",
    hint="You draw all blocks anew. `layers` says how many, counted from the top; what lies below "
    "stays.",
)

QUESTION.mistake(
    "pooler kept",
    old='part == "pooler" or ',
    new="",
    hint="The pooler stays as it was. It was made for the task of the pre-training: it is drawn "
    "anew, however many blocks are.",
)

QUESTION.mistake(
    "embeddings too",
    old='part == "pooler" or ',
    new='part in ("pooler", "embeddings") or ',
    hint="You draw the embeddings anew. They are the bottom, and know what the words mean: "
    "leave them.",
)

QUESTION.mistake(
    "norms kept",
    old="            else:\n                fresh[name] = torch.ones_like(weight)\n",
    new="",
    hint="The weights of your norms stay as they were. In a new model a norm multiplies by 1.",
)

QUESTION.mistake(
    "norms kept altogether",
    old='elif name.endswith("bias"):',
    new='elif "norm" in name:\n                continue\n            elif name.endswith("bias"):',
    hint="Your norms stay as they were, weight and bias. They belong to their block and start anew "
    "with it: weight 1, bias 0.",
)

QUESTION.mistake(
    "norms at zero",
    old="torch.ones_like(weight)",
    new="torch.zeros_like(weight)",
    hint="Your norms multiply by 0, and nothing gets through the block. In a new model their "
    "weight is 1.",
)

QUESTION.mistake(
    "everything drawn",
    old="if weight.ndim == 2:\n                fresh[name] = 0.02 * torch.randn_like(weight)\n"
    '            elif name.endswith("bias"):\n                fresh[name] = '
    "torch.zeros_like(weight)\n            else:\n                fresh[name] = "
    "torch.ones_like(weight)",
    new="fresh[name] = 0.02 * torch.randn_like(weight)",
    hint="You draw all of it at random. Only matrices are: a bias starts at 0, and a norm "
    "multiplies by 1.",
)

QUESTION.mistake(
    "biases kept",
    old='elif name.endswith("bias"):\n                fresh[name] = torch.zeros_like(weight)\n'
    "            else:",
    new='elif not name.endswith("bias"):',
    hint="Your biases stay as they were. In a new model they are 0.",
)

QUESTION.mistake(
    "biases drawn",
    old="torch.zeros_like(weight)",
    new="0.02 * torch.randn_like(weight)",
    hint="You draw the biases at random. They start at 0.",
)

QUESTION.mistake(
    "biases at one",
    old="torch.zeros_like(weight)",
    new="torch.ones_like(weight)",
    hint="All that has one axis becomes 1 in yours. That is right for the weight of a norm; every "
    "bias, a norm's too, becomes 0.",
)

QUESTION.mistake(
    "matrices only",
    old='            elif name.endswith("bias"):\n                fresh[name] = '
    "torch.zeros_like(weight)\n            else:\n                fresh[name] = "
    "torch.ones_like(weight)\n",
    new="",
    hint="Only the matrices are new in yours. Biases and norms belong to the block as well: 0 for "
    "a bias, 1 for the weight of a norm.",
)

QUESTION.mistake(
    "std 1",
    old="0.02 * torch.randn_like(weight)",
    new="torch.randn_like(weight)",
    hint="Your matrices have standard deviation 1, fifty times too much.",
)

QUESTION.mistake(
    "0.02 as a variance",
    old="0.02 * torch",
    new="0.02**0.5 * torch",
    hint="You take 0.02 for the variance. It is the standard deviation.",
)

QUESTION.mistake(
    "as torch starts a layer",
    old="0.02 * torch.randn_like(weight)",
    new="torch.empty_like(weight).uniform_(-1, 1) * weight.shape[1] ** -0.5",
    hint="You start as torch's own nn.Linear does, with uniform numbers up to one over the root of "
    "the width. BERT's are normal, with standard deviation 0.02.",
)

QUESTION.mistake(
    "rand for randn",
    old="torch.randn_like",
    new="torch.rand_like",
    hint="Your numbers are uniform and all of them positive: rand draws between 0 and 1, randn "
    "normal numbers around 0.",
)

QUESTION.mistake(
    "noise upon what was learned",
    old="0.02 * torch",
    new="weight + 0.02 * torch",
    hint="You add noise to what was learned. Nothing of it should remain.",
)

QUESTION.mistake(
    "a seed of its own",
    old="fresh = dict(weights)",
    new="fresh = dict(weights)\n    torch.manual_seed(0)",
    hint="You set a seed inside, so every call draws the same top, and twenty runs that should "
    "differ start alike. Whoever calls you sets the seed.",
)

QUESTION.mistake(
    "a seed for each matrix",
    old="torch.randn_like(weight)",
    new="torch.randn(weight.shape, generator=torch.Generator().manual_seed(0))",
    hint="You set a seed before each matrix, so all of them get the same numbers, in every call. "
    "Whoever calls you sets the seed, once.",
)

QUESTION.mistake(
    "written into what was given",
    old="fresh = dict(weights)",
    new="fresh = weights",
    hint="The new weights are right, but they stand in the dict that you were given as well: the "
    "next run would start from them. `fresh = weights` is no copy; weights.copy() is one, but has "
    "the same tensors in it, which zero_() and the like change.",
)

QUESTION.mistake(
    "written into the tensors",
    old="fresh[name] = 0.02 * torch.randn_like(weight)",
    new="weight.normal_(std=0.02)",
    hint="The new weights are right, but you have written into the matrices that you were given: a "
    "new dict has the same tensors in it, and what ends in an underscore changes them.",
)

QUESTION.mistake(
    "the top alone",
    old="return fresh",
    new='return {name: x for name, x in fresh.items() if name.split(".")[0] == "pooler" or '
    'name.startswith("blocks") and int(name.split(".")[1]) >= depth - layers}',
    hint="You return only what is new. The dict has all names that you were given.",
)

QUESTION.mistake(
    "one digit of the number",
    old="int(number) >=",
    new="int(number[0]) >=",
    hint="You read one digit of the block's number: blocks 10 and 11 count as 1 in yours. Split "
    "the name at its dots.",
)

QUESTION.mistake(
    "written into the biases",
    old="fresh[name] = torch.zeros_like(weight)",
    new="weight.zero_()",
    hint="The new weights are right, but you have written into the biases that you were given: a "
    "new dict has the same tensors in it, and what ends in an underscore changes them.",
)

QUESTION.mistake(
    "matrices in torch's usual dtype",
    old="torch.randn_like(weight)",
    new="torch.randn(weight.shape)",
    hint="Your matrices are float32, whatever the dtype of those that you were given.",
)

QUESTION.mistake(
    "everything new in torch's usual dtype",
    old="if weight.ndim == 2:",
    new="weight = weight.float()\n            if weight.ndim == 2:",
    hint="What is new is float32 in yours, whatever the dtype of what you were given.",
)

QUESTION.mistake(
    "a norm's bias at one",
    old='elif name.endswith("bias"):',
    new='elif name.endswith("bias") and "norm" not in name:',
    hint="The bias of your norms is 1 as well. A norm that changes nothing multiplies by 1 and "
    "adds 0.",
)

QUESTION.mistake(
    "cut at two deviations",
    old="0.02 * torch.randn_like(weight)",
    new="torch.nn.init.trunc_normal_(torch.empty_like(weight), std=0.02, a=-0.04, b=0.04)",
    hint="Your numbers are cut at two deviations, as in BERT's own program. That makes their "
    "deviation 0.018; here they are not cut.",
)

QUESTION.mistake(
    "one over the root of the width",
    old="0.02 * torch.randn_like(weight)",
    new="torch.randn_like(weight) / weight.shape[1] ** 0.5",
    hint="Your deviation is one over the root of the width, as other models start. BERT's is 0.02 "
    "for all matrices.",
)
