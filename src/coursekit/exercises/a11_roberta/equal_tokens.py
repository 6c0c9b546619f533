"""How long each run of an ablation trains, so that all of them read equally many tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def equal_tokens(keep, budget, batches, base_batch=256, base_rate=1e-4):
    """keep (N, T), tokens to be read, batch sizes -> a list of (steps, passes, rate)."""
    rows = len(keep)
    real = int(keep.sum())
    plan = []
    for batch in batches:
        steps = budget * rows // (batch * real)
        plan.append((steps, steps * batch / rows, base_rate * batch / base_batch))
    return plan


QUESTION = Question(
    name="equal_tokens",
    title="At equal cost",
    points=3,
    difficulty=1,
    minutes=25,
    page="roberta.html#sec-roberta-batches",
    hint="Do it by hand for one batch size. How many real tokens has a row on average, so how many "
    "has a step? How often does that fit into the budget? How many rows have all those steps read "
    "together, and how many texts of N rows is that? How many times the base batch is the batch?",
    reference=equal_tokens,
    forbidden=("coursekit",),
)


def _rows(*lengths: int, width: int) -> Tensor:
    """True at the tokens of rows that have these lengths."""
    return torch.arange(width) < torch.tensor(lengths)[:, None]


@QUESTION.visible(says="three batch sizes")
def three_sizes(student):
    keep = _rows(6, 8, 4, 5, 7, 12, width=12)  # 7 on average
    return student.equal_tokens(keep, 10_000, [8, 32, 128], base_batch=32, base_rate=1e-3)


@QUESTION.visible(says="sizes in no order, the base not among them")
def no_order(student):
    keep = _rows(9, 3, 16, 10, 2, 2, 14, 4, width=16)  # 7.5 on average
    return student.equal_tokens(keep, 3_333, [24, 6, 100], base_batch=10, base_rate=0.02)


@QUESTION.visible(says="a budget that is used to the last token")
def last_token(student):
    keep = _rows(10, 6, 8, 12, width=20)  # 9 on average
    return student.equal_tokens(keep, 9 * 4 * 250, [4, 20], base_batch=4, base_rate=3e-4)


@QUESTION.visible(says="less than one pass, and one step only")
def less_than_a_pass(student):
    keep = _rows(*[5, 9, 7, 3] * 25, width=10)  # 6 on average, 100 rows
    return student.equal_tokens(keep, 500, [7, 50], base_batch=25, base_rate=0.1)


@QUESTION.visible(says="RoBERTa's own three runs, its base batch and rate")
def own_three_runs(student):
    keep = torch.ones(64, 512, dtype=torch.bool)
    return student.equal_tokens(keep, 10**6 * 256 * 512, [256, 2048, 8192])


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.equal_tokens, _rows(3, 4, 2, 4, width=5), 700, [9, 3, 5], 3, 0.5)


QUESTION.mistake(
    "padding counted",
    old="int(keep.sum())",
    new="keep.numel()",
    hint="You count padding as text. Of a row only the tokens where `keep` is True are read.",
)

QUESTION.mistake(
    "only padding counted",
    old="int(keep.sum())",
    new="int((~keep).sum())",
    hint="You count the padding alone. True in `keep` is a real token.",
)

QUESTION.mistake(
    "the longest row",
    old="int(keep.sum())",
    new="rows * int(keep.sum(dim=1).max())",
    hint="You take every row for as long as the longest. A step of rows drawn from the text has "
    "as many tokens as the mean says.",
)

QUESTION.mistake(
    "the first row",
    old="int(keep.sum())",
    new="rows * int(keep[0].sum())",
    hint="You take the length of the first row for that of all. The mean over all rows is asked.",
)

QUESTION.mistake(
    "the middle row",
    old="int(keep.sum())",
    new="rows * int(keep.sum(dim=1).median())",
    hint="You take the median of the lengths. How many tokens come together is a matter of their "
    "sum, so of the mean.",
)

QUESTION.mistake(
    "the mean rounded",
    old="int(keep.sum())",
    new="rows * (int(keep.sum()) // rows)",
    hint="You round the mean length to a whole number before you go on. Only the number of steps "
    "is rounded.",
)

QUESTION.mistake(
    "down the columns",
    old="int(keep.sum())",
    new="int(keep.sum()) * rows // keep.shape[1]",
    hint="Your mean is over the columns: how many rows have a token at a place. Count along each "
    "row, and take the mean over the rows.",
)

QUESTION.mistake(
    "the tokens of a step rounded",
    old="budget * rows // (batch * real)",
    new="budget // int(batch * real / rows)",
    hint="You round the tokens of a step to a whole number. It is a mean and stays as it is; only "
    "the number of steps is rounded.",
)

QUESTION.mistake(
    "the same number of steps for all",
    old="budget * rows // (batch * real)",
    new="budget * rows // (base_batch * real)",
    hint="All your runs take the same number of steps, so that the one with the largest batch "
    "reads most. A step with more rows uses more of the budget.",
)

QUESTION.mistake(
    "rounded twice",
    old="budget * rows // (batch * real)",
    new="budget * rows // (base_batch * real) * base_batch // batch",
    hint="You round the steps of the base batch, and compute the others from them. Begin with the "
    "budget for each size, and round once.",
)

QUESTION.mistake(
    "steps rounded to the nearest",
    old="budget * rows // (batch * real)",
    new="round(budget * rows / (batch * real))",
    hint="You round the steps to the nearest whole number, and some runs read more than the "
    "budget. Whatever is left over is no step.",
)

QUESTION.mistake(
    "steps rounded up",
    old="budget * rows // (batch * real)",
    new="-(-budget * rows // (batch * real))",
    hint="You round the steps up, and the last one reads beyond the budget. Whatever is left over "
    "is no step.",
)

QUESTION.mistake(
    "one step fewer",
    old="budget * rows // (batch * real)",
    new="(budget * rows - 1) // (batch * real)",
    hint="Where the budget can be used to its last token you stop one step before that.",
)

QUESTION.mistake(
    "parts of a step",
    old="budget * rows // (batch * real)",
    new="budget * rows / (batch * real)",
    hint="Your steps are no whole numbers. Nobody can take part of a step: round down.",
)

QUESTION.mistake(
    "a float of a whole number",
    old="budget * rows // (batch * real)",
    new="float(budget * rows // (batch * real))",
    hint="Your steps are floats, such as 5.0. That is what // gives as soon as one of the numbers "
    "is a float; int() makes a whole number of it.",
)

QUESTION.mistake(
    "a batch of tokens",
    old="budget * rows // (batch * real)",
    new="budget // batch",
    hint="You take the batch for a number of tokens. It is a number of rows, and a row has many "
    "tokens.",
)

QUESTION.mistake(
    "one row a step",
    old="budget * rows // (batch * real)",
    new="budget * rows // real",
    hint="You count how many rows the budget buys. A step reads `batch` of them.",
)

QUESTION.mistake(
    "passes rounded up",
    old="steps * batch / rows, base",
    new="float(-(-steps * batch // rows)), base",
    hint="You round the passes up. Runs that read a third of the text and all of it would look "
    "the same; leave the number as it is.",
)

QUESTION.mistake(
    "passes rounded down",
    old="steps * batch / rows, base",
    new="float(steps * batch // rows), base",
    hint="You round the passes down. A run that reads less than the whole text has no pass then; "
    "leave the number as it is.",
)

QUESTION.mistake(
    "passes of the budget",
    old="steps * batch / rows, base",
    new="budget / real, base",
    hint="Your passes are those of the whole budget, the same for all. The steps are rounded down, "
    "so a run reads a little less: count the rows that its steps read.",
)

QUESTION.mistake(
    "passes without the batch",
    old="steps * batch / rows, base",
    new="steps / rows, base",
    hint="Your passes count a row for each step. A step reads `batch` rows.",
)

QUESTION.mistake(
    "batches of a pass",
    old="steps * batch / rows, base",
    new="rows / batch, base",
    hint="You return how many steps one pass takes. How many passes all the steps make is asked.",
)

QUESTION.mistake(
    "passes over columns",
    old="steps * batch / rows, base",
    new="steps * batch / keep.shape[1], base",
    hint="You divide by T, the width of the table. A pass is over when all N rows have been read.",
)

QUESTION.mistake(
    "whole batches of a pass",
    old="steps * batch / rows, base",
    new="steps / (rows // batch or 1), base",
    hint="You leave the last rows of each pass out, where they fill no batch. A batch may go on "
    "with the first rows of the next pass: count all rows that were read.",
)

QUESTION.mistake(
    "passes over tokens",
    old="steps * batch / rows, base",
    new="steps * batch / real, base",
    hint="You divide rows by tokens. A pass is over when N rows have been read.",
)

QUESTION.mistake(
    "passes over the padded text",
    old="steps * batch / rows, base",
    new="steps * batch * real / rows / keep.numel(), base",
    hint="Your passes are too few: you divide the real tokens that were read by all places of the "
    "table, padding too. Count rows.",
)

QUESTION.mistake(
    "the rate the wrong way",
    old="base_rate * batch / base_batch",
    new="base_rate * base_batch / batch",
    hint="Your rate falls where the batch grows. A larger batch takes fewer steps and has less "
    "noise in each: it takes longer ones.",
)

QUESTION.mistake(
    "the rate not scaled",
    old="base_rate * batch / base_batch",
    new="base_rate",
    hint="All your runs have the base rate. It is for the base batch; the others have one in "
    "proportion to their size.",
)

QUESTION.mistake(
    "the root",
    old="base_rate * batch / base_batch",
    new="base_rate * (batch / base_batch) ** 0.5",
    hint="You scale the rate by the root of the ratio. That is another rule, with its own "
    "arguments; here it grows in proportion to the batch.",
)

QUESTION.mistake(
    "a whole ratio",
    old="base_rate * batch / base_batch",
    new="base_rate * (batch // base_batch)",
    hint="You round the ratio of the two batch sizes to a whole number. A batch of half the base "
    "has half of the base rate, not none.",
)

QUESTION.mistake(
    "scaled from the first size",
    old="base_rate * batch / base_batch",
    new="base_rate * batch / batches[0]",
    hint="You scale from the first batch size of the list. The base rate was found for "
    "`base_batch`, which need not be in the list.",
)

QUESTION.mistake(
    "base twice",
    old="base_rate * batch / base_batch",
    new="base_rate * batch",
    hint="You multiply the rate by the whole batch size. It is the ratio to the base batch that "
    "counts: for the base batch itself the rate stays.",
)

QUESTION.mistake(
    "in order of size",
    old="in batches:",
    new="in sorted(batches):",
    hint="You return the runs in order of their batch size. They stay in the order in which the "
    "sizes were given.",
)

QUESTION.mistake(
    "sorted in place",
    old="plan = []",
    new="plan, given = [], list(batches)\n    batches.sort()\n    batches = given",
    hint="The plan is right, but the list of batch sizes has been changed: sort() works on the "
    "caller's own list, sorted() does not.",
)
