"""DPO: a policy learns from pairs without a reward model beside it."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.exercises.a15_alignment.shared import texts
from coursekit.exercises.probe import after, gradients
from coursekit.exercises.question import Question


def prefer(policy, reference, answer, beta=0.1):
    """policy, reference, answer (2, B, T), chosen and rejected -> the loss, one number."""
    gap = policy - reference.detach()  # (2, B, T)
    gains = gap.masked_fill(~answer, 0.0).sum(dim=-1)  # (2, B)
    margin = gains[0] - gains[1]  # (B,)
    return -F.logsigmoid(beta * margin).mean()


QUESTION = Question(
    name="prefer",
    title="The policy as its own judge",
    points=5,
    difficulty=2,
    minutes=30,
    page="alignment.html#sec-alignment-dpo",
    hint="Go in three steps. For one text: what is the log probability of its answer, under the "
    "policy and under the reference, when each token has its own? For one pair: by how much more "
    "has the chosen answer gained over the reference than the rejected one? Then it is the loss "
    "of question 2, with beta times that as the lead.",
    reference=prefer,
    forbidden=("coursekit",),
    needs=("pair_reward_loss",),
)


@QUESTION.visible(says="one pair, answers of two tokens and one")
def one_pair(student):
    policy = torch.tensor([[[-9.0, -1.0, -2.0, -7.0]], [[-3.0, -4.0, -6.0, -1.0]]])
    reference = torch.tensor([[[-2.0, -3.0, -5.0, -1.0]], [[-8.0, -2.0, -3.0, -6.0]]])
    answer = torch.tensor([[[False, True, True, False]], [[False, True, False, False]]])
    return student.prefer(policy, reference, answer, 0.25)


@QUESTION.visible(says="five pairs, prompts and answers of several lengths", weight=2)
def five_pairs(student):
    return student.prefer(*texts(2, 5, 9, seed=1))


@QUESTION.visible(says="two other values of beta")
def other_betas(student):
    return [student.prefer(*texts(2, 3, 8, seed=3), beta) for beta in (0.5, 2.0)]


@QUESTION.visible(says="gradients: the policy learns, the reference is frozen")
def with_gradients(student):
    return gradients(student.prefer, *texts(2, 3, 7, seed=5), 0.4)


@QUESTION.visible(says="anything at all outside of the answers")
def anything_outside(student):
    policy, reference, answer = texts(2, 4, 8, seed=7)
    policy[~answer], reference[:, 1:][~answer[:, 1:]] = -torch.inf, torch.nan
    return gradients(student.prefer, policy, reference, answer)


@QUESTION.visible(says="log probabilities thousands below zero")
def thousands(student):
    policy, reference, answer = texts(2, 3, 8, seed=10, scale=3000.0)
    return gradients(student.prefer, policy, reference, answer, 1.0)


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.prefer, *texts(2, 2, 7, seed=13, dtype=torch.float64))


GAP = "gap = policy - reference.detach()"
SUM = "gap.masked_fill(~answer, 0.0).sum(dim=-1)"
END = "return -F.logsigmoid(beta * margin).mean()"

QUESTION.mistake(
    "no reference",
    old=GAP,
    new="gap = policy",
    hint="You compare what the policy says of the two answers, and the reference has no part in "
    "it. It is what the policy has gained over the reference that counts; else a likely, short "
    "answer wins before anything has been learned.",
)

QUESTION.mistake(
    "the wrong way round",
    old="gains[0] - gains[1]",
    new="gains[1] - gains[0]",
    hint="Your loss falls as the rejected answers gain. Either they have changed places with the "
    "chosen ones, which have index 0, or the policy has with its reference.",
)

QUESTION.mistake(
    "prompt and padding counted",
    old=SUM,
    new="gap.sum(dim=-1)",
    hint="You sum over all tokens. Prompt and padding do not count: only where `answer` is True.",
)

QUESTION.mistake(
    "prompt counted",
    old="~answer",
    new="~answer.flip(-1).cummax(dim=-1).values.flip(-1)",
    hint="The padding does not count in yours, but the prompt does. `answer` is False at both.",
)

QUESTION.mistake(
    "padding counted",
    old="~answer",
    new="~answer.cummax(dim=-1).values",
    hint="The prompt does not count in yours, but the padding does. `answer` is False at both.",
)

QUESTION.mistake(
    "the mask the wrong way round",
    old="~answer",
    new="answer",
    hint="You sum over prompt and padding and leave the answers out. True marks the tokens of the "
    "answer.",
)

QUESTION.mistake(
    "one mask for both",
    old="~answer",
    new="~answer[:1]",
    hint="You use the mask of the chosen text for the rejected one as well. Their answers have "
    "other lengths: each has its own mask.",
)

QUESTION.mistake(
    "shifted once more",
    old=SUM,
    new="gap[..., :-1].masked_fill(~answer[..., 1:], 0.0).sum(dim=-1)",
    hint="You shift by one, as one does with logits. These are log probabilities, and each already "
    "stands at the token that it is about.",
)

QUESTION.mistake(
    "mean over tokens",
    old=SUM,
    new="gap.masked_fill(~answer, 0.0).sum(dim=-1) / answer.sum(dim=-1)",
    hint="You average over the tokens of an answer. The probability of an answer is the product of "
    "its tokens', so their logarithms are summed.",
)

QUESTION.mistake(
    "mean over places",
    old="0.0).sum(dim=-1)",
    new="0.0).mean(dim=-1)",
    hint="You average over all T places, padding too. The log probability of an answer is a sum "
    "over its tokens.",
)

QUESTION.mistake(
    "β outside the sigmoid",
    old=END,
    new="return -beta * F.logsigmoid(margin).mean()",
    hint="Your beta multiplies the loss, which is no more than another learning rate. It belongs "
    "inside the sigmoid, as a factor of the difference.",
)

QUESTION.mistake(
    "β forgotten",
    old="beta * margin",
    new="margin",
    hint="You leave beta out.",
)

QUESTION.mistake(
    "divided by β",
    old="beta * margin",
    new="margin / beta",
    hint="You divide by beta. It is a factor.",
)

QUESTION.mistake(
    "β for the policy alone",
    old=GAP,
    new="gap = policy - reference.detach() / beta",
    hint="Your beta multiplies the policy's log probability but not the reference's. It multiplies "
    "their difference.",
)

QUESTION.mistake(
    "β always 0.1",
    old="beta * margin",
    new="0.1 * margin",
    hint="You take 0.1, whatever the argument `beta` says.",
)

QUESTION.mistake(
    "gains added",
    old="gains[0] - gains[1]",
    new="gains[0] + gains[1]",
    hint="You add the gains of the two answers. The chosen one should gain more than the rejected "
    "one: a difference.",
)

QUESTION.mistake(
    "each answer for itself",
    old=END,
    new="return -(F.logsigmoid(beta * gains[0]) + F.logsigmoid(-beta * gains[1])).mean()",
    hint="You put each answer through a sigmoid of its own. One sigmoid of the difference says "
    "that the one is better than the other; nobody said that the one is good.",
)

QUESTION.mistake(
    "the chosen answer alone",
    old="gains[0] - gains[1]",
    new="gains[0]",
    hint="The rejected answers have no part in your loss. What the chosen one has gained counts "
    "only beside what the rejected one has gained.",
)

QUESTION.mistake(
    "plain fine-tuning on the chosen answers",
    old=END,
    new="return -policy[0].masked_fill(~answer[0], 0.0).sum(dim=-1).mean()",
    hint="You make the chosen answers likely, as in fine-tuning on examples. Here the pair "
    "teaches, the chosen against the rejected answer, each compared with the reference.",
)

QUESTION.mistake(
    "a sigmoid for each token",
    old=END,
    new="kept = gap.masked_fill(~answer, 0.0)\n"
    "    return -F.logsigmoid(beta * (kept[0] - kept[1])).sum(dim=-1).mean()",
    hint="You compare the answers token by token, the third of the one with the third of the "
    "other. People chose whole answers: sum over the tokens first.",
)

QUESTION.mistake(
    "a quotient of logs",
    old=GAP,
    new="gap = policy / reference.detach()",
    hint="You divide log probabilities. The logarithm of a quotient is a difference of logarithms.",
)

QUESTION.mistake(
    "probabilities",
    old=GAP,
    new="gap = policy.exp() - reference.detach().exp()",
    hint="You compare probabilities. The formula has the logarithm of their quotient, which is a "
    "difference of logarithms.",
)

QUESTION.mistake(
    "a squared distance",
    old=END,
    new="return (margin - 1 / (2 * beta)).square().mean()",
    hint="You square the distance to a wished-for margin. That is another loss, IPO; this one is "
    "minus the logarithm of a sigmoid.",
)

QUESTION.mistake(
    "a hinge",
    old=END,
    new="return (1 - beta * margin).clamp(min=0).mean()",
    hint="You take a hinge. The loss is minus the logarithm of a sigmoid.",
)

QUESTION.mistake(
    "no sigmoid",
    old=END,
    new="return -beta * margin.mean()",
    hint="You return minus the mean margin. Without a sigmoid the rejected answer can be made less "
    "likely for ever, and every step still pays.",
)

QUESTION.mistake(
    "no logarithm",
    old=END,
    new="return -torch.sigmoid(beta * margin).mean()",
    hint="You average probabilities, with a minus. The loss is the logarithm of the probability, "
    "with a minus.",
)

QUESTION.mistake(
    "the logarithm after the sigmoid",
    old=END,
    new="return -torch.sigmoid(beta * margin).log().mean()",
    hint="You take the logarithm in a step of its own, after a sigmoid or an exponential. Where "
    "the margin is far below zero the sigmoid is rounded to 0, the exponential is infinite, "
    "and so is your loss. torch has a function for the logarithm of a sigmoid.",
)

QUESTION.mistake(
    "the cross-entropy of a probability",
    old=END,
    new="return F.binary_cross_entropy(torch.sigmoid(beta * margin), torch.ones_like(margin))",
    hint="You hand a probability to a cross-entropy. Where it is rounded to 0 torch counts 100 for "
    "its logarithm, whatever it was, and no gradient is left; do not take the sigmoid first.",
)

QUESTION.mistake(
    "a small number in the logarithm",
    old=END,
    new="return -(torch.sigmoid(beta * margin) + 1e-9).log().mean()",
    hint="You add a small number within the logarithm. A pair that is badly wrong then costs no "
    "more than about 20, and has no gradient.",
)

QUESTION.mistake(
    "sign",
    old="return -F",
    new="return F",
    hint="Your loss is negative, and falls as the rejected answers gain. A minus is missing.",
)

QUESTION.mistake(
    "the mean margin",
    old="margin).mean()",
    new="margin.mean())",
    hint="You average the margins and take one sigmoid. Each pair has its own loss, and those are "
    "averaged.",
)

QUESTION.mistake(
    "the sum of the pairs",
    old="margin).mean()",
    new="margin).sum()",
    hint="You add up the pairs. Their mean is asked for, or the loss grows with the batch.",
)

QUESTION.mistake(
    "a loss for each pair",
    old="margin).mean()",
    new="margin)",
    hint="You return a loss for each pair. Take their mean.",
)

QUESTION.mistake(
    "the reference learns",
    old="reference.detach()",
    new="reference",
    hint="The number is right, but the reference gets a gradient: it would run away from the "
    "chosen answers, so that the policy need not move. It is frozen: detach it.",
)

QUESTION.mistake(
    "the policy detached",
    old="policy - reference.detach()",
    new="policy.detach() - reference",
    hint="You detach the policy, which is the one that learns. The reference is frozen.",
)

QUESTION.mistake(
    "the rejected answer detached",
    old="gains[0] - gains[1]",
    new="gains[0] - gains[1].detach()",
    hint="The number is right, but the rejected answers get no gradient. They should become less "
    "likely as the chosen ones become more so.",
)

QUESTION.mistake(
    "multiplied by the mask",
    old="gap.masked_fill(~answer, 0.0)",
    new="(gap * answer)",
    hint="You multiply by the mask. What stands outside of an answer may be nan or infinite, and 0 "
    "times that is nan: choose without multiplying, as masked_fill and torch.where do.",
)

BOTH = "policy - reference.detach()  # (2, B, T)\n    gains = gap.masked_fill(~answer, 0.0)"

QUESTION.mistake(
    "multiplied by the mask, and the reference learns",
    old=BOTH,
    new="policy - reference\n    gains = (gap * answer)",
    hint="Two things: you multiply by the mask, but 0 times nan is nan, so choose with masked_fill "
    "or torch.where; and the reference gets a gradient, though it is frozen: detach it.",
)

QUESTION.mistake(
    "the reference learns, two steps",
    old="reference.detach()  # (2, B, T)\n    gains = gap.masked_fill(~answer, 0.0).sum(dim=-1)  "
    "# (2, B)\n    margin = gains[0] - gains[1]  # (B,)\n    " + END,
    new="reference\n    gains = gap.masked_fill(~answer, 0.0).sum(dim=-1)\n"
    "    return -torch.sigmoid(beta * (gains[0] - gains[1])).log().mean()",
    hint="Two things: the reference gets a gradient, though it is frozen, so detach it; and you "
    "take the logarithm in a step of its own, which is minus infinity where the sigmoid is rounded "
    "to 0.",
)

QUESTION.mistake(
    "no gradient",
    old="margin).mean()",
    new="margin).mean().detach()",
    hint="Your loss has no gradient. Nothing can be learned from it.",
)

QUESTION.mistake(
    "a plain number",
    old="margin).mean()",
    new="margin).mean().item()",
    hint="You return a plain number, which has no gradient. Leave it a tensor.",
)

QUESTION.mistake(
    "written into the policy",
    old=GAP,
    new="gap = policy.sub_(reference.detach())",
    hint="You write into `policy`: what ends in an underscore, and -= too, changes what you were "
    "given, and torch cannot go backwards through a leaf that was changed.",
)

QUESTION.mistake(
    "written into the policy's data",
    old=GAP,
    new="policy.data.masked_fill_(~answer, 0.0)\n    gap = policy - reference.detach()",
    hint="The number is right, but `policy` has zeros now where it had something else. Make a new "
    "tensor: masked_fill without the underscore.",
)

QUESTION.mistake(
    "written into the reference",
    old=GAP,
    new="gap = policy - reference.detach().masked_fill_(~answer, 0.0)",
    hint="The number is right, but `reference` has zeros now where it had something else: a "
    "detached tensor shares its numbers with the one it came from. Use masked_fill without the "
    "underscore.",
)

QUESTION.mistake(
    "in single precision",
    old="margin).mean()",
    new="margin).mean().float()",
    hint="Your loss is float32, whatever the dtype of what you were given.",
)
