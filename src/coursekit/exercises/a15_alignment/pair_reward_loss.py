"""The loss of a reward model: of two answers the chosen one should have the higher reward."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def pair_reward_loss(chosen, rejected, margin=0.0):
    """chosen (B,), rejected (B,), the lead that is asked for -> the loss, one number."""
    lead = chosen - rejected - margin  # (B,)
    return -F.logsigmoid(lead).mean()


QUESTION = Question(
    name="pair_reward_loss",
    title="Which of the two is better",
    points=3,
    difficulty=1,
    minutes=15,
    page="alignment.html#sec-alignment-reward",
    hint="For one pair: by how much does the chosen answer lead, and what is left of the lead when "
    "the margin has been paid? A sigmoid of that is the probability of what people said. Its "
    "logarithm in one step is a function of torch that bears large numbers.",
    reference=pair_reward_loss,
    forbidden=("coursekit",),
)


def rewards(
    pairs: int, seed: int, scale: float = 1.5, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor]:
    """Return the rewards of the two answers of each pair; the chosen one leads now and then."""
    return tuple(scale * randn(pairs, seed=seed + n, dtype=dtype) + 0.7 - n for n in (0, 1))


@QUESTION.visible(says="one pair")
def one_pair(student):
    return student.pair_reward_loss(torch.tensor([0.5]), torch.tensor([-1.5]))


@QUESTION.visible(says="six pairs", weight=2)
def six_pairs(student):
    return student.pair_reward_loss(*rewards(6, seed=1))


@QUESTION.visible(says="a margin", weight=2)
def a_margin(student):
    return [student.pair_reward_loss(*rewards(5, seed=3), margin) for margin in (0.5, 2.0)]


@QUESTION.visible(says="gradients, for both rewards")
def with_gradients(student):
    return gradients(student.pair_reward_loss, *rewards(4, seed=5), 0.3)


@QUESTION.visible(says="leads of hundreds and thousands, either way")
def far_apart(student):
    chosen, rejected = torch.tensor([2000.0, -900.0, 40.0]), torch.tensor([-1000.0, 800.0, 140.0])
    return gradients(student.pair_reward_loss, chosen, rejected)


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.pair_reward_loss, *rewards(3, seed=7, dtype=torch.float64), 1.0)


LEAD = "chosen - rejected - margin"
END = "return -F.logsigmoid(lead).mean()"

QUESTION.mistake(
    "sum of rewards",
    old=LEAD,
    new="chosen + rejected - margin",
    hint="You add the two rewards. It is their difference that counts: how far the chosen answer "
    "leads.",
)

QUESTION.mistake(
    "the worse one leads",
    old=LEAD,
    new="rejected - chosen - margin",
    hint="Your lead is that of the rejected answer: the model would learn to like what people do "
    "not.",
)

QUESTION.mistake(
    "sign",
    old="return -F",
    new="return F",
    hint="Your loss is negative, and falls as the rejected answer leads. A minus is missing.",
)

QUESTION.mistake(
    "margin added to the winner",
    old="- margin",
    new="+ margin",
    hint="You give the margin to the chosen answer as a present. It is a lead that is asked for: "
    "it makes the pair harder, not easier.",
)

QUESTION.mistake(
    "margin added to the winner, two steps",
    old=f"{LEAD}  # (B,)\n    {END}",
    new="chosen - rejected + margin\n    return -torch.sigmoid(lead).log().mean()",
    hint="Two things: you give the margin to the chosen answer as a present, where it is a lead "
    "that is asked for; and you take the logarithm in a step of its own, which is minus infinity "
    "where the sigmoid is rounded to 0.",
)

QUESTION.mistake(
    "margin ignored",
    old=" - margin",
    new="",
    hint="You leave the margin out.",
)

QUESTION.mistake(
    "margin outside",
    old="mean()",
    new="mean() + margin",
    hint="You add the margin to the loss, where it changes no gradient. It belongs to the lead, "
    "inside the sigmoid.",
)

QUESTION.mistake(
    "a hinge",
    old=END,
    new="return (-lead).clamp(min=0).mean()",
    hint="You take a hinge: what leads by the margin costs nothing, the rest what is missing. "
    "Bradley and Terry's model costs minus the logarithm of a sigmoid.",
)

QUESTION.mistake(
    "squared error",
    old=END,
    new="return (1 - torch.sigmoid(lead)).square().mean()",
    hint="You square how far the probability is from 1. A pair that is badly wrong then has hardly "
    "any gradient; the loss is minus the logarithm of the probability.",
)

QUESTION.mistake(
    "squared error of the lead",
    old=END,
    new="return (1 - lead).square().mean()",
    hint="You square how far the lead is from 1. Then a clear lead costs as much as none; the loss "
    "is minus the logarithm of a sigmoid.",
)

QUESTION.mistake(
    "no sigmoid",
    old=END,
    new="return -lead.mean()",
    hint="You return minus the mean lead. Without a sigmoid the rewards can grow for ever, and "
    "pairs that are already right pull as hard as those that are wrong.",
)

QUESTION.mistake(
    "no logarithm",
    old=END,
    new="return -torch.sigmoid(lead).mean()",
    hint="You average probabilities, with a minus. The loss is the logarithm of the probability, "
    "with a minus.",
)

QUESTION.mistake(
    "the logarithm after the sigmoid",
    old=END,
    new="return -torch.sigmoid(lead).log().mean()",
    hint="You take the logarithm in a step of its own, after a sigmoid or an exponential. Where "
    "the rejected answer leads by a hundred the sigmoid is rounded to 0, the exponential is "
    "infinite, and so is your loss. torch has a function for the logarithm of a sigmoid.",
)

QUESTION.mistake(
    "the cross-entropy of a probability",
    old=END,
    new="return F.binary_cross_entropy(torch.sigmoid(lead), torch.ones_like(lead))",
    hint="You hand a probability to a cross-entropy. Where it is rounded to 0 torch counts 100 for "
    "its logarithm, whatever it was, and no gradient is left; do not take the sigmoid first.",
)

QUESTION.mistake(
    "a small number in the logarithm",
    old=END,
    new="return -(torch.sigmoid(lead) + 1e-9).log().mean()",
    hint="You add a small number within the logarithm. A pair that is badly wrong then costs no "
    "more than about 20, and has no gradient.",
)

QUESTION.mistake(
    "clipped",
    old="lead)",
    new="lead.clamp(-50, 50))",
    hint="You clip the lead. What is wrong by more than the bound then has no gradient, though it "
    "has most to learn.",
)

QUESTION.mistake(
    "each answer for itself",
    old=END,
    new="return -(F.logsigmoid(chosen - margin) + F.logsigmoid(-rejected)).mean()",
    hint="You ask of each answer whether it is good, yes or no. Nobody said so: of two the one is "
    "better, and only the difference of their rewards counts.",
)

QUESTION.mistake(
    "each answer for itself, halved",
    old=END,
    new="return -(F.logsigmoid(chosen - margin) + F.logsigmoid(-rejected)).mean() / 2",
    hint="You ask of each answer whether it is good, and average the two. Nobody said so: of two "
    "the one is better, and only the difference of their rewards counts.",
)

QUESTION.mistake(
    "every answer against every other",
    old="chosen - rejected",
    new="chosen[:, None] - rejected",
    hint="You compare each chosen answer with the rejected ones of all pairs, (B, B). They answer "
    "other prompts: pair b is chosen[b] and rejected[b].",
)

QUESTION.mistake(
    "the mean lead",
    old="lead).mean()",
    new="lead.mean())",
    hint="You average the leads and take one sigmoid. Each pair has its own loss, and those are "
    "averaged.",
)

QUESTION.mistake(
    "the logarithm of the mean",
    old=END,
    new="return -torch.sigmoid(lead).mean().log()",
    hint="You average the probabilities and take one logarithm. Each pair has its own, and the "
    "mean is taken at the end.",
)

QUESTION.mistake(
    "the sum of the pairs",
    old=".mean()",
    new=".sum()",
    hint="You add up the pairs. Their mean is asked for, or the loss grows with the batch.",
)

QUESTION.mistake(
    "a loss for each pair",
    old=".mean()",
    new="",
    hint="You return a loss for each pair. Take their mean.",
)

QUESTION.mistake(
    "the rejected answer detached",
    old="- rejected",
    new="- rejected.detach()",
    hint="The number is right, but the rejected answer gets no gradient. Its reward should fall as "
    "that of the chosen one rises.",
)

QUESTION.mistake(
    "no gradient",
    old=".mean()",
    new=".mean().detach()",
    hint="Your loss has no gradient. Nothing can be learned from it.",
)

QUESTION.mistake(
    "a plain number",
    old=".mean()",
    new=".mean().item()",
    hint="You return a plain number, which has no gradient. Leave it a tensor.",
)

QUESTION.mistake(
    "written into the rewards",
    old="    lead = chosen - rejected - margin",
    new="    chosen -= rejected + margin\n    lead = chosen",
    hint="You change `chosen` itself: -= writes into what you were given, and torch cannot go "
    "backwards through a leaf that was changed.",
)

QUESTION.mistake(
    "written into the rewards' data",
    old="    lead = chosen - rejected - margin",
    new="    lead = chosen - rejected - margin\n    rejected.data += margin",
    hint="The number is right, but `rejected` is no longer what you were given. Make a new tensor.",
)

QUESTION.mistake(
    "in single precision",
    old=".mean()",
    new=".mean().float()",
    hint="Your loss is float32, whatever the dtype of the rewards.",
)

QUESTION.mistake(
    "in bits",
    old=".mean()",
    new=".mean() / 0.6931471805599453",
    hint="You count in bits. The natural logarithm is meant.",
)
