"""The loss of a model that marks an answer in a passage."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def span_loss(start, end, first, last, passage):
    """start, end, passage (B, T), first, last (B,) -> the loss, one number."""
    loss = 0.0
    for scores, place in ((start, first), (end, last)):
        logs = scores.masked_fill(~passage, -torch.inf).log_softmax(dim=-1)  # (B, T)
        loss = loss - logs[torch.arange(len(place)), place].mean()
    return loss / 2


QUESTION = Question(
    name="span_loss",
    title="What the marks cost",
    points=5,
    difficulty=2,
    minutes=30,
    page="finetuning.html#sec-finetuning-spans",
    hint="Begin with one of the two and one row: which T classes are there, and which of them "
    "cannot be the answer? What cannot be should have a share of 0 after the softmax, so think "
    "about its score before it. Then a cross-entropy, whose mean over the rows is taken. The end "
    "goes the same way.",
    reference=span_loss,
    forbidden=("coursekit",),
)


def asked(
    rows: int, length: int, seed: int, scale: float = 2.0, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, ...]:
    """Return scores, places and passages of several lengths; large scores lie outside as well."""
    start, end = (scale * randn(rows, length, seed=seed + n, dtype=dtype) for n in range(2))
    begin = torch.arange(rows) % 3 + 2
    stop = length - 2 - torch.arange(rows) % 4
    place = torch.arange(length)
    passage = (place >= begin[:, None]) & (place <= stop[:, None])
    first = begin + torch.arange(rows) % 2
    last = torch.minimum(first + torch.arange(rows) % 3, stop)
    return start, end, first, last, passage


@QUESTION.visible(says="one passage of three tokens")
def one_passage(student):
    start, end = torch.tensor([[[9.0, 1.0, 2.0, 0.0, 5.0]], [[3.0, 0.0, 1.0, 3.0, 7.0]]])
    passage = torch.tensor([[False, True, True, True, False]])
    return student.span_loss(start, end, torch.tensor([2]), torch.tensor([3]), passage)


@QUESTION.visible(says="five passages of several lengths", weight=2)
def five_passages(student):
    return student.span_loss(*asked(5, 12, seed=3))


@QUESTION.visible(says="gradients")
def with_gradients(student):
    return gradients(student.span_loss, *asked(3, 8, seed=5))


@QUESTION.visible(says="scores far below zero, but for one outside")
def thousands(student):
    start, end, *rest = asked(4, 10, seed=8, scale=2000.0)
    start, end = start - 50_000, end - 50_000
    start[:, 0], end[:, 1] = 20_000, 0
    return student.span_loss(start, end, *rest)


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.span_loss, *asked(2, 9, seed=11, dtype=torch.float64))


LOGS = "scores.masked_fill(~passage, -torch.inf).log_softmax(dim=-1)"
PAIRS = "((start, first), (end, last))"
ADD = "loss = loss - logs[torch.arange(len(place)), place].mean()"

QUESTION.mistake(
    "start only",
    old=f"{PAIRS}:",
    new="((start, first), (start, first)):",
    hint="Your loss is that of the starts. The ends count as much: it is the mean of both.",
)

QUESTION.mistake(
    "end only",
    old=f"{PAIRS}:",
    new="((end, last), (end, last)):",
    hint="Your loss is that of the ends. The starts count as much: it is the mean of both.",
)

QUESTION.mistake(
    "the sum of both",
    old="return loss / 2",
    new="return loss",
    hint="You add the two cross-entropies. Their mean is asked for, so that the loss compares with "
    "that of one choice among as many tokens.",
)

QUESTION.mistake(
    "question and padding allowed",
    old=LOGS,
    new="scores.log_softmax(dim=-1)",
    hint="Question, [SEP] and padding are possible places in yours, and take a share of the "
    "softmax. Only where `passage` is True may an answer lie.",
)

QUESTION.mistake(
    "question and padding allowed, the sum of both",
    old=f"logs = {LOGS}  # (B, T)\n        {ADD}\n    return loss / 2",
    new=f"logs = scores.log_softmax(dim=-1)\n        {ADD}\n    return loss",
    hint="Two things: places outside the passage take a share of your softmax, and you add the two "
    "cross-entropies where their mean is asked for.",
)

QUESTION.mistake(
    "padding alone left out",
    old="~passage",
    new="~passage.flip(-1).cummax(dim=-1).values.flip(-1)",
    hint="What stands behind the passage has no share in yours, but the question before it has. "
    "`passage` is False at both.",
)

QUESTION.mistake(
    "the question alone left out",
    old="~passage",
    new="~passage.cummax(dim=-1).values",
    hint="The question has no share in yours, but the [SEP] and the padding behind the passage "
    "have. `passage` is False at both.",
)

QUESTION.mistake(
    "the mask the wrong way round",
    old="~passage",
    new="passage",
    hint="You hide the passage and leave the rest, so the right place has no share at all. True "
    "means may be the answer.",
)

QUESTION.mistake(
    "zero for minus infinity",
    old="-torch.inf",
    new="0.0",
    hint="Outside the passage your scores are 0, and e⁰ is a share like others. Minus infinity has "
    "none.",
)

QUESTION.mistake(
    "multiplied by the mask",
    old="scores.masked_fill(~passage, -torch.inf).log_softmax(dim=-1)",
    new="(scores.softmax(dim=-1) * passage).clamp(min=1e-30).log()",
    hint="You take the softmax over the whole row and set the shares outside to 0 afterwards. Then "
    "those inside no longer add up to 1: hide before the softmax.",
)

for low in (-100, -1000, -10_000):
    QUESTION.mistake(
        f"{low} for minus infinity",
        old="-torch.inf",
        new=str(low),
        hint=f"Where the answer may not lie the score is {low} in yours. Scores in the passage may "
        "be lower than that: take minus infinity.",
    )
    QUESTION.mistake(
        f"{low} added",
        old="scores.masked_fill(~passage, -torch.inf)",
        new=f"(scores + {low} * ~passage)",
        hint=f"You add {low} where the answer may not lie. A score there may be higher than others "
        "by more than that: set it to minus infinity.",
    )

QUESTION.mistake(
    "softmax before the cross-entropy",
    old=LOGS,
    new="scores.masked_fill(~passage, -torch.inf).softmax(dim=-1).log_softmax(dim=-1)",
    hint="You take a softmax and hand it to a cross-entropy, which takes another one. It wants "
    "scores.",
)

QUESTION.mistake(
    "probabilities in place of logs",
    old=".log_softmax(dim=-1)",
    new=".softmax(dim=-1)",
    hint="You average probabilities, with a minus. The loss is the logarithm of the probability of "
    "the right place, with a minus.",
)

QUESTION.mistake(
    "the logarithm after the softmax",
    old=".log_softmax(dim=-1)",
    new=".softmax(dim=-1).log()",
    hint="Your softmax rounds small shares to 0, whose logarithm is minus infinity. Take both in "
    "one step: log_softmax, or the cross-entropy of torch.",
)

QUESTION.mistake(
    "a small number in the logarithm",
    old=".log_softmax(dim=-1)",
    new=".softmax(dim=-1).add(1e-9).log()",
    hint="You add a small number within the logarithm. A place that is far off then costs no more "
    "than about 20, and teaches nothing; log_softmax needs no such help.",
)

QUESTION.mistake(
    "sign",
    old="loss = loss - logs",
    new="loss = loss + logs",
    hint="Your loss is negative, and the better the lower the probability of what is right. A "
    "minus is missing.",
)

QUESTION.mistake(
    "summed over the batch",
    old="place].mean()",
    new="place].sum()",
    hint="You add up the rows of the batch. Their mean is asked for, or the loss grows with the "
    "batch.",
)

QUESTION.mistake(
    "divided by all places",
    old="place].mean()",
    new="place].sum() / start.numel()",
    hint="You divide by all B · T places. There is one question a row: divide by B.",
)

QUESTION.mistake(
    "a loss for each row",
    old=".mean()",
    new="",
    hint="You return one loss for each row. Take their mean.",
)

QUESTION.mistake(
    "a softmax down the batch",
    old="log_softmax(dim=-1)",
    new="log_softmax(dim=0)",
    hint="Your softmax runs down the batch, along axis 0. The places of a row are what is chosen "
    "from.",
)

QUESTION.mistake(
    "start and end exchanged",
    old=f"{PAIRS}:",
    new="((start, last), (end, first)):",
    hint="You ask the scores of the starts for the last token, and those of the ends for the "
    "first.",
)

QUESTION.mistake(
    "a yes or no at each place",
    old=f"logs = {LOGS}  # (B, T)\n        {ADD}",
    new="right = torch.nn.functional.one_hot(place, start.shape[1]).to(scores)\n"
    "        loss = loss + torch.nn.functional.binary_cross_entropy_with_logits("
    "scores[passage], right[passage])",
    hint="You ask each place for itself, yes or no. The places compete: one softmax over those of "
    "the passage.",
)

QUESTION.mistake(
    "written into the scores",
    old="scores.masked_fill(",
    new="scores.masked_fill_(",
    hint="You write minus infinity into `start` and `end` themselves: what ends in an underscore "
    "changes what you were given, and torch cannot go backwards through a leaf that was changed.",
)

QUESTION.mistake(
    "written into the scores' data",
    old="scores.masked_fill(",
    new="scores.data.masked_fill_(~passage, -torch.inf)\n        logs = scores.masked_fill(",
    hint="The number is right, but `start` and `end` now have minus infinity in them. Make a new "
    "tensor, with masked_fill without the underscore or with torch.where.",
)

QUESTION.mistake(
    "a plain number",
    old="return loss / 2",
    new="return (loss / 2).item()",
    hint="You return a plain number, which has no gradient. Leave it a tensor.",
)

QUESTION.mistake(
    "no gradient",
    old="return loss / 2",
    new="return (loss / 2).detach()",
    hint="Your loss has no gradient. Nothing can be learned from it.",
)

QUESTION.mistake(
    "the exponentials by hand",
    old=LOGS,
    new="(passage * scores.exp() / (passage * scores.exp()).sum(-1, keepdim=True)).log()",
    hint="Far from 0 the exponentials of your scores are 0 or infinite. log_softmax takes the "
    "largest score off first, and the logarithm in the same step.",
)

QUESTION.mistake(
    "no softmax",
    old=".log_softmax(dim=-1)",
    new="",
    hint="You take the scores for logarithms of probabilities, as nll_loss does. They become such "
    "by a log-softmax.",
)

QUESTION.mistake(
    "infinity times zero",
    old="scores.masked_fill(~passage, -torch.inf)",
    new="(scores + (1 - passage.to(scores)) * -torch.inf)",
    hint="You multiply infinity by a mask: infinity times 0 is nan. masked_fill or torch.where "
    "choose without multiplying.",
)

QUESTION.mistake(
    "the places of all rows in each row",
    old="logs[torch.arange(len(place)), place]",
    new="logs[:, place]",
    hint="logs[:, place] takes the right places of all rows in each row, (B, B). Each row has its "
    "own: index with the number of the row too, or use gather.",
)

QUESTION.mistake(
    "ends before the start hidden",
    old=LOGS,
    new="scores.masked_fill(~passage | ((place is last) & (torch.arange(start.shape[1]) < "
    "first[:, None])), -torch.inf).log_softmax(dim=-1)",
    hint="You hide the places before the right start from the ends. The two choices are learned "
    "each for itself, over the whole passage; whoever answers later does not know the right start.",
)

QUESTION.mistake(
    "in single precision",
    old="return loss / 2",
    new="return (loss / 2).float()",
    hint="Your loss is float32, whatever the dtype of the scores.",
)

QUESTION.mistake(
    "the ends anywhere",
    old="~passage",
    new="~passage & (scores is start)",
    hint="Your starts are chosen from the passage, but your ends from the whole row.",
)

QUESTION.mistake(
    "the end one behind",
    old="loss = 0.0",
    new="last, loss = (last - 1).clamp(min=0), 0.0",
    hint="You take `last` for the place behind the answer, as in a slice. It is the place of its "
    "last token.",
)
