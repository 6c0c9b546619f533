"""How far a policy has gone from its reference, estimated from what it says."""

from __future__ import annotations

import torch

from coursekit.exercises.a15_alignment.shared import texts
from coursekit.exercises.probe import after, gradients
from coursekit.exercises.question import Question


def kl_of_sample(policy, reference, answer):
    """policy, reference, answer (N, T), sampled from the policy -> log ratios (N,), the KL."""
    gap = (policy - reference).detach()  # (N, T)
    ratios = gap.masked_fill(~answer, 0.0).sum(dim=-1)  # (N,)
    return ratios, ratios.mean().item()


QUESTION = Question(
    name="kl_of_sample",
    title="How long the leash is",
    points=3,
    difficulty=1,
    minutes=20,
    page="alignment.html#sec-alignment-kl",
    hint="First one answer: its log probability under a model is a sum over its tokens, and the "
    "ratio is a difference of two such sums. The answers come from the policy, so likely ones come "
    "more often by themselves: nothing is weighted when you average over them.",
    reference=kl_of_sample,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="two answers, of two tokens and of one")
def two_answers(student):
    policy = torch.tensor([[-4.0, -1.0, -0.5, -3.0], [-2.0, -2.0, -3.0, -1.0]])
    reference = torch.tensor([[-6.0, -2.0, -3.0, -1.0], [-1.0, -1.5, -5.0, -9.0]])
    answer = torch.tensor([[False, True, True, False], [False, True, False, False]])
    return student.kl_of_sample(policy, reference, answer)


@QUESTION.visible(says="seven answers of several lengths", weight=2)
def seven_answers(student):
    return student.kl_of_sample(*texts(7, 9, seed=20))


@QUESTION.visible(says="an estimate below zero")
def below_zero(student):
    policy, reference, answer = texts(3, 6, seed=22)
    return student.kl_of_sample(policy, reference + 0.9, answer)


@QUESTION.visible(says="no gradient flows by it")
def no_gradient(student):
    return gradients(student.kl_of_sample, *texts(4, 6, seed=24))


@QUESTION.visible(says="anything at all outside of the answers")
def anything_outside(student):
    policy, reference, answer = texts(5, 8, seed=26)
    policy[~answer], reference[:, 1:][~answer[:, 1:]] = -torch.inf, torch.nan
    return student.kl_of_sample(policy, reference, answer)


@QUESTION.visible(says="answers without a token")
def without_token(student):
    policy, reference, answer = texts(4, 6, seed=28)
    answer[[0, 2]] = False
    return student.kl_of_sample(policy, reference, answer)


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.kl_of_sample, *texts(3, 6, seed=30, dtype=torch.float64))


GAP = "gap = (policy - reference).detach()"
SUM = "ratios = gap.masked_fill(~answer, 0.0).sum(dim=-1)"
END = "return ratios, ratios.mean().item()"

QUESTION.mistake(
    "reversed",
    old="policy - reference",
    new="reference - policy",
    hint="Policy and reference have changed places. The ratio has the policy above, since the "
    "answers were sampled from it.",
)

QUESTION.mistake(
    "prompt and padding counted",
    old="gap.masked_fill(~answer, 0.0).sum",
    new="gap.sum",
    hint="You sum over all tokens. Prompt and padding do not count: only where `answer` is True.",
)

QUESTION.mistake(
    "padding counted",
    old="~answer",
    new="~answer.cummax(dim=-1).values",
    hint="The prompt does not count in yours, but the padding does. `answer` is False at both.",
)

QUESTION.mistake(
    "prompt counted",
    old="~answer",
    new="~answer.flip(-1).cummax(dim=-1).values.flip(-1)",
    hint="The padding does not count in yours, but the prompt does. `answer` is False at both.",
)

QUESTION.mistake(
    "the mask the wrong way round",
    old="~answer",
    new="answer",
    hint="You sum over prompt and padding and leave the answers out. True marks the tokens of the "
    "answer.",
)

QUESTION.mistake(
    "shifted once more",
    old=SUM,
    new="ratios = gap[:, :-1].masked_fill(~answer[:, 1:], 0.0).sum(dim=-1)",
    hint="You shift by one, as one does with logits. These are log probabilities, and each already "
    "stands at the token that it is about.",
)

QUESTION.mistake(
    "absolute value",
    old=".sum(dim=-1)",
    new=".sum(dim=-1).abs()",
    hint="You drop the signs of the ratios. An answer that the policy finds less likely than the "
    "reference counts against the others; without it the mean is too large.",
)

QUESTION.mistake(
    "absolute value of each token",
    old="(policy - reference).detach()",
    new="(policy - reference).abs().detach()",
    hint="You drop the sign at each token. Gains and losses within an answer offset each other.",
)

QUESTION.mistake(
    "nothing below zero",
    old="ratios.mean().item()",
    new="max(ratios.mean().item(), 0.0)",
    hint="You raise an estimate below zero to 0. The KL itself is never negative, but an estimate "
    "from few answers may be; cut off below, it would be too high on average.",
)

QUESTION.mistake(
    "no ratio below zero",
    old=".sum(dim=-1)",
    new=".sum(dim=-1).clamp(min=0)",
    hint="You raise ratios below zero to 0. The KL is never negative, but the ratio of a single "
    "answer may well be.",
)

QUESTION.mistake(
    "absolute value of the estimate",
    old="ratios.mean().item()",
    new="abs(ratios.mean().item())",
    hint="You drop the sign of the estimate. The KL itself is never negative, but an estimate from "
    "few answers may be.",
)

QUESTION.mistake(
    "per token",
    old=".sum(dim=-1)",
    new=".sum(dim=-1) / answer.sum(dim=-1).clamp(min=1)",
    hint="You divide by the number of tokens. The reward is one for a whole answer, and so is the "
    "leash: a sum.",
)

QUESTION.mistake(
    "per token, 0/0 for an empty answer",
    old=".sum(dim=-1)",
    new=".sum(dim=-1) / answer.sum(dim=-1)",
    hint="You divide by the number of tokens, and for an empty answer by 0. The reward is one for "
    "a whole answer, and so is the leash: a sum.",
)

QUESTION.mistake(
    "the estimate per token",
    old="ratios.mean().item()",
    new="(ratios.sum() / answer.sum()).item()",
    hint="Your estimate is that of a token. There are N answers: it is the mean of their ratios.",
)

QUESTION.mistake(
    "the mean over places",
    old=".sum(dim=-1)",
    new=".mean(dim=-1)",
    hint="You average over all T places, padding too. The log probability of an answer is a sum "
    "over its tokens.",
)

QUESTION.mistake(
    "weighted with the policy",
    old="(policy - reference)",
    new="(policy.exp() * (policy - reference))",
    hint="You multiply with the policy's probability. That is right in a sum over all tokens of "
    "the vocabulary; these were sampled, and likely ones came more often already.",
)

QUESTION.mistake(
    "answers weighted with the policy",
    old="ratios.mean().item()",
    new="(policy.masked_fill(~answer, 0.0).sum(dim=-1).softmax(dim=-1) * ratios).sum().item()",
    hint="You weigh the answers with the policy's probability. They were sampled from it, so that "
    "likely ones came more often already: a plain mean.",
)

QUESTION.mistake(
    "a ratio of probabilities",
    old=".sum(dim=-1)",
    new=".sum(dim=-1).exp()",
    hint="You return ratios of probabilities. Their logarithms are asked for.",
)

QUESTION.mistake(
    "a difference of probabilities",
    old="(policy - reference)",
    new="(policy.exp() - reference.exp())",
    hint="You subtract probabilities. The logarithm of a ratio is a difference of logarithms.",
)

QUESTION.mistake(
    "a quotient of logs",
    old="(policy - reference)",
    new="(policy / reference)",
    hint="You divide log probabilities. The logarithm of a ratio is their difference.",
)

QUESTION.mistake(
    "squared",
    old=".sum(dim=-1)",
    new=".sum(dim=-1).square() / 2",
    hint="You square the ratios and halve them. That is another estimate, never negative, and not "
    "right on average; the ratios themselves are asked for.",
)

QUESTION.mistake(
    "an estimate that is never negative",
    old="(policy - reference).detach()",
    new="((reference - policy).exp() - 1 + policy - reference).detach()",
    hint="You add the other ratio less 1 at each token, which keeps every term above zero. That is "
    "another estimate; the plain logarithm of the ratio is asked for.",
)

QUESTION.mistake(
    "the reference left out",
    old="(policy - reference)",
    new="policy",
    hint="You return the log probabilities under the policy. How far these are from the reference "
    "is the question.",
)

QUESTION.mistake(
    "in bits",
    old=".sum(dim=-1)",
    new=".sum(dim=-1) / 0.6931471805599453",
    hint="You count in bits. The natural logarithm is meant.",
)

QUESTION.mistake(
    "the sum over the answers",
    old="ratios.mean()",
    new="ratios.sum()",
    hint="You add up the ratios of the answers. The KL is their mean.",
)

QUESTION.mistake(
    "empty answers left out",
    old="ratios.mean().item()",
    new="ratios[answer.any(dim=-1)].mean().item()",
    hint="You leave answers without a token out of the mean. The policy has given them: they "
    "count, with a ratio of 0.",
)

QUESTION.mistake(
    "multiplied by the mask",
    old="gap.masked_fill(~answer, 0.0)",
    new="(gap * answer)",
    hint="You multiply by the mask. What stands outside of an answer may be nan or infinite, and 0 "
    "times that is nan: choose without multiplying, as masked_fill and torch.where do.",
)

BOTH = "(policy - reference).detach()  # (N, T)\n    ratios = gap.masked_fill(~answer, 0.0)"

QUESTION.mistake(
    "multiplied by the mask, and a gradient",
    old=BOTH,
    new="policy - reference\n    ratios = (gap * answer)",
    hint="Two things: you multiply by the mask, but 0 times nan is nan, so choose with masked_fill "
    "or torch.where; and a gradient flows by the ratios, which are numbers that are given: detach.",
)

QUESTION.mistake(
    "a tensor with a gradient",
    old=BOTH + ".sum(dim=-1)  # (N,)\n    return ratios, ratios.mean().item()",
    new="policy - reference\n    ratios = gap.masked_fill(~answer, 0.0).sum(dim=-1)\n"
    "    return ratios, ratios.mean()",
    hint="Two things: your estimate is a tensor where a plain number is asked for, .item() makes "
    "one; and a gradient flows by the ratios, which are numbers that are given: detach them.",
)

QUESTION.mistake(
    "multiplied by the mask, a tensor with a gradient",
    old=BOTH + ".sum(dim=-1)  # (N,)\n    return ratios, ratios.mean().item()",
    new="policy - reference\n    ratios = (gap * answer).sum(dim=-1)\n"
    "    return ratios, ratios.mean()",
    hint="Three things: 0 times nan is nan, so choose with masked_fill or torch.where where you "
    "multiply by the mask; a gradient flows by the ratios, which should be detached; and the "
    "estimate should be a plain number.",
)

QUESTION.mistake(
    "a gradient",
    old="(policy - reference).detach()",
    new="(policy - reference)",
    hint="The numbers are right, but a gradient flows by the ratios. They are a part of the "
    "reward, and a reward is a number that is given: detach it.",
)

QUESTION.mistake(
    "a gradient for the policy",
    old="(policy - reference).detach()",
    new="(policy - reference.detach())",
    hint="The numbers are right, but a gradient flows to the policy. It learns by the reward of "
    "what it has sampled, not through the reward: the ratios are numbers that are given.",
)

QUESTION.mistake(
    "token by token",
    old=END,
    new="return gap.masked_fill(~answer, 0.0), ratios.mean().item()",
    hint="You return a ratio for each token, (N, T). Sum over the tokens of an answer.",
)

QUESTION.mistake(
    "the estimate alone",
    old=END,
    new="return ratios.mean().item()",
    hint="You return the estimate alone. The ratios come first: each is taken off its answer's "
    "reward.",
)

QUESTION.mistake(
    "the estimate first",
    old=END,
    new="return ratios.mean().item(), ratios",
    hint="Your two results have changed places: the ratios come first, then the estimate.",
)

QUESTION.mistake(
    "a tensor",
    old="ratios.mean().item()",
    new="ratios.mean()",
    hint="Your estimate is a tensor. A plain number is asked for: .item() makes one of it.",
)

QUESTION.mistake(
    "a list",
    old=END,
    new="return ratios.tolist(), ratios.mean().item()",
    hint="Your ratios are a list. Leave them a tensor.",
)

QUESTION.mistake(
    "in single precision",
    old=".sum(dim=-1)",
    new=".sum(dim=-1).float()",
    hint="Your ratios are float32, whatever the dtype of what you were given.",
)

QUESTION.mistake(
    "written into the policy",
    old="gap.masked_fill(~answer, 0.0).sum",
    new="policy.data.sub_(reference).masked_fill_(~answer, 0.0).sum",
    hint="The numbers are right, but `policy` is no longer what you were given: what ends in an "
    "underscore, and -= too, changes it. Make a new tensor.",
)
