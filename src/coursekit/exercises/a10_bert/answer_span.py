"""The best answer in a passage: where it begins and where it ends, chosen together."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


def answer_span(start, end, passage, longest=30):
    """start, end, passage (B, T) -> first, last (B,)."""
    T = start.shape[1]
    scores = start[:, :, None] + end[:, None, :]  # (B, T, T)
    size = torch.arange(T)[None, :] - torch.arange(T)[:, None] + 1  # (T, T)
    inside = passage[:, :, None] & passage[:, None, :]  # (B, T, T)
    scores = scores.masked_fill(~(inside & (size >= 1) & (size <= longest)), -torch.inf)
    best = scores.flatten(1).argmax(dim=1)  # (B,)
    return best // T, best % T


QUESTION = Question(
    name="answer_span",
    title="From here to there",
    points=5,
    difficulty=3,
    minutes=35,
    page="bert.html#sec-bert-heads",
    hint="Make a table of all pairs (B, T, T), with the first place along the rows and the last "
    "one along the columns: broadcasting adds two vectors to a table. Set the pairs that may not "
    "be an answer to minus infinity. The place of the largest entry of a flattened table tells "
    "its row and its column. Two loops are right as well.",
    reference=answer_span,
    forbidden=("coursekit",),
)


def _passage(length: int, first: int, last: int) -> Tensor:
    """True at the passage: before it [CLS], question and [SEP], behind it [SEP] and padding."""
    place = torch.arange(length)
    return ((place >= first) & (place <= last))[None]


@QUESTION.visible(says="one passage of five tokens")
def five_tokens(student):
    start = torch.tensor([[0.0, 0.5, 0.2, 1.0, 2.0, 0.1, 0.3, 0.0]])
    end = torch.tensor([[0.0, 0.1, 0.3, 2.2, 0.6, 1.5, 0.4, 0.0]])
    return student.answer_span(start, end, _passage(8, 2, 6))


@QUESTION.visible(says="the largest scores lie in the question, at [CLS] and at [SEP]")
def large_outside(student):
    start = torch.tensor([[9.0, 7.0, 5.0, 1.0, 0.5, 2.0, 6.0, 0.0]])
    end = torch.tensor([[8.0, 3.0, 9.0, 0.2, 1.0, 0.4, 7.0, 4.0]])
    return student.answer_span(start, end, _passage(8, 3, 5))


@QUESTION.visible(says="an answer of at most three tokens")
def three_tokens(student):
    start = torch.tensor([[-9.0, 5.0, 1.0, 2.5, 0.0, -1.0, -1.0, 3.0]])
    end = torch.tensor([[-9.0, -4.0, -4.0, 0.0, 2.0, 1.0, 4.0, -2.0]])
    return student.answer_span(start, end, _passage(8, 1, 7), 3)


@QUESTION.visible(says="an answer of at most two tokens, all scores below zero")
def below_zero(student):
    start, end = -5 - randn(1, 9, seed=3).abs(), -4 - randn(1, 9, seed=4).abs()
    return student.answer_span(start, end, _passage(9, 3, 7), longest=2)


@QUESTION.visible(says="six passages of several lengths", weight=2)
def six_passages(student):
    passage = torch.cat([_passage(14, 3 + n, 12 - n // 2) for n in range(6)])
    start, end = randn(6, 14, seed=5), randn(6, 14, seed=6)
    return student.answer_span(start, end, passage, 4)


@QUESTION.visible(says="an answer of one token")
def one_token(student):
    start = torch.tensor([[0.0, 0.0, 1.0, 6.0, 1.5, 0.0]])
    end = torch.tensor([[0.0, 0.0, 1.0, 5.0, 2.0, 0.0]])
    return student.answer_span(start, end, _passage(6, 2, 4))


QUESTION.mistake(
    "chosen apart",
    old="best = scores.flatten(1).argmax(dim=1)  # (B,)\n    return best // T, best % T",
    new="start, end = start.masked_fill(~passage, -torch.inf), end.masked_fill(~passage, "
    "-torch.inf)\n    return start.argmax(dim=1), end.argmax(dim=1)",
    hint="You look for the best start and the best end, each for itself. The end may then lie "
    "before the start, or far away. Compare pairs, by the sum of both scores.",
)

QUESTION.mistake(
    "chosen apart, anywhere",
    old="best = scores.flatten(1).argmax(dim=1)  # (B,)\n    return best // T, best % T",
    new="return start.argmax(dim=1), end.argmax(dim=1)",
    hint="You take the best start and the best end of the whole row, each for itself. Compare "
    "pairs, and only those that may be an answer.",
)

QUESTION.mistake(
    "the start first",
    old="best = scores.flatten(1).argmax(dim=1)  # (B,)\n    return best // T, best % T",
    new="first = start.masked_fill(~passage, -torch.inf).argmax(dim=1)  # (B,)\n"
    "    return first, scores[torch.arange(len(first)), first].argmax(dim=1)",
    hint="You fix the best start and look for an end that suits it. Another start may have a much "
    "better end: compare the sums of all pairs.",
)

QUESTION.mistake(
    "the end first",
    old="best = scores.flatten(1).argmax(dim=1)  # (B,)\n    return best // T, best % T",
    new="last = end.masked_fill(~passage, -torch.inf).argmax(dim=1)  # (B,)\n"
    "    return scores[torch.arange(len(last)), :, last].argmax(dim=1), last",
    hint="You fix the best end and look for a start that suits it. Another end may have a much "
    "better start: compare the sums of all pairs.",
)

QUESTION.mistake(
    "end before start",
    old=" & (size >= 1)",
    new="",
    hint="Some of your answers end before they begin. A pair counts only if its last place is not "
    "before its first.",
)

QUESTION.mistake(
    "two tokens at least",
    old="size >= 1",
    new="size > 1",
    hint="Your answers have at least two tokens. One that begins and ends at the same place has "
    "one token, and may be the best.",
)

QUESTION.mistake(
    "everything allowed",
    old="inside & (size >= 1)",
    new="(size >= 1)",
    hint="Your answers lie in the question too, or at [CLS], [SEP] and padding. Both ends must be "
    "where `passage` is True.",
)

QUESTION.mistake(
    "only the start inside",
    old="passage[:, :, None] & passage[:, None, :]",
    new="passage[:, :, None]",
    hint="Your start lies in the passage, but the end may lie behind it, at [SEP] or in the "
    "padding. Ask both.",
)

QUESTION.mistake(
    "only the end inside",
    old="passage[:, :, None] & passage[:, None, :]",
    new="passage[:, None, :]",
    hint="Your end lies in the passage, but the start may lie before it, in the question. Ask "
    "both.",
)

QUESTION.mistake(
    "one token too long",
    old="size <= longest",
    new="size <= longest + 1",
    hint="Your answers may have one token too many: from place 3 to place 5 there are three "
    "tokens, not two.",
)

QUESTION.mistake(
    "one token too short",
    old="size <= longest",
    new="size < longest",
    hint="Your answers have fewer than `longest` tokens. They may have just as many.",
)

QUESTION.mistake(
    "of any length",
    old=" & (size <= longest)",
    new="",
    hint="Your answers may be of any length. `longest` is the greatest number of tokens.",
)

QUESTION.mistake(
    "product",
    old="start[:, :, None] + end[:, None, :]",
    new="start[:, :, None] * end[:, None, :]",
    hint="You multiply the two scores. They are logits: it is the probabilities that multiply, "
    "and then the logits add. (The product of two bad scores, both negative, would be a good one.)",
)

QUESTION.mistake(
    "the mean of the answer",
    old="start[:, :, None] + end[:, None, :]",
    new="(start[:, :, None] + end[:, None, :]) / "
    "(torch.arange(T)[None, :] - torch.arange(T)[:, None] + 1).clamp(min=1)",
    hint="You divide by the number of tokens. The sum of the two scores counts as it is, however "
    "long the answer.",
)

QUESTION.mistake(
    "zero for minus infinity",
    old="-torch.inf",
    new="0.0",
    hint="What may not be an answer has the score 0 in yours, or your search for the best begins "
    "at 0. That is a score like any other, and beats all that are below zero: take minus infinity.",
)

QUESTION.mistake(
    "last and first",
    old="return best // T, best % T",
    new="return best % T, best // T",
    hint="Your two results have changed places: the first place comes first.",
)

QUESTION.mistake(
    "one behind the last",
    old="best % T",
    new="best % T + 1",
    hint="Your end is one behind the last token, as for a slice. The place of the last token "
    "itself is asked for.",
)

QUESTION.mistake(
    "one answer for the batch",
    old="best = scores.flatten(1).argmax(dim=1)  # (B,)",
    new="best = scores.flatten().argmax().expand(len(scores)) % (T * T)",
    hint="You look for the best pair of the whole batch. Each row is a passage of its own and has "
    "an answer of its own.",
)

QUESTION.mistake(
    "triu leaves zeros",
    old="scores.masked_fill(~(inside & (size >= 1) & (size <= longest)), -torch.inf)",
    new="scores.masked_fill(~inside, -torch.inf).triu().tril(longest - 1)",
    hint="triu and tril put zeros where a pair may not be. Zero is a score like any other, and "
    "beats all that are below it. Cut a table of ones with them, and make it a mask.",
)

QUESTION.mistake(
    "apart, then put in order",
    old="best = scores.flatten(1).argmax(dim=1)  # (B,)\n    return best // T, best % T",
    new="a, b = (x.masked_fill(~passage, -torch.inf).argmax(dim=1) for x in (start, end))\n"
    "    return torch.minimum(a, b), torch.maximum(a, b)",
    hint="You look for the best start and the best end, each for itself, and put them in order "
    "afterwards. Then a good end may stand as a start. Compare pairs, by the sum of both scores.",
)

QUESTION.mistake(
    "start and end exchanged",
    old="start[:, :, None] + end[:, None, :]",
    new="start[:, None, :] + end[:, :, None]",
    hint="You have exchanged the two: the score of an end is added for the first place, and that "
    "of a start for the last.",
)

QUESTION.mistake(
    "backwards, but not far",
    old="(size >= 1) & (size <= longest)",
    new="((size - 1).abs() < longest)",
    hint="Your distance has no sign, so some answers end before they begin. The last place is not "
    "before the first.",
)

QUESTION.mistake(
    "probabilities added",
    old="start[:, :, None] + end[:, None, :]",
    new="start.softmax(dim=-1)[:, :, None] + end.softmax(dim=-1)[:, None, :]",
    hint="You add probabilities. They multiply; it is the logits that add, so leave the softmax "
    "away.",
)

QUESTION.mistake(
    "counted from the passage",
    old="return best // T, best % T",
    new="before = passage.int().argmax(dim=1)  # (B,)\n"
    "    return best // T - before, best % T - before",
    hint="You count the places from the beginning of the passage. They are places of the row.",
)
