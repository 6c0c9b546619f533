"""The loss of a reward model: of two answers the chosen one should have the higher reward."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def pair_reward_loss(chosen, rejected, margin=0.0):
    """chosen (B,), rejected (B,), the lead that is asked for -> the loss, one number."""
    lead = chosen - rejected - margin  # (B,)
    return -F.logsigmoid(lead).mean()


def judged(pairs, seed, scale=2.0, dtype=torch.float32):
    """Return the rewards of the two answers of each pair."""
    return tuple(scale * randn(pairs, seed=seed + n, dtype=dtype) for n in (0, 1))


@visible("one pair")
def one_pair(student):
    return student.pair_reward_loss(torch.tensor([0.5]), torch.tensor([-1.5]))


@visible("six pairs", weight=2)
def six_pairs(student):
    return student.pair_reward_loss(*judged(6, seed=1))


@visible("a margin", weight=2)
def a_margin(student):
    return [student.pair_reward_loss(*judged(5, seed=3), margin) for margin in (0.5, 2.0)]


@visible("gradients, for both rewards")
def with_gradients(student):
    return gradients(student.pair_reward_loss, *judged(4, seed=5), 0.3)


@visible("leads of hundreds and thousands, either way")
def far_apart(student):
    chosen, rejected = torch.tensor([2000.0, -900.0, 40.0]), torch.tensor([-1000.0, 800.0, 140.0])
    return gradients(student.pair_reward_loss, chosen, rejected)


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.pair_reward_loss, *judged(3, seed=7, dtype=torch.float64), 1.0)


@hidden("many pairs", weight=2)
def pair_many(student):
    return student.pair_reward_loss(*judged(50, seed=221))


@hidden("margins, a large one too")
def pair_margins(student):
    return [student.pair_reward_loss(*judged(6, seed=223), margin) for margin in (0.0, 1.0, 30.0)]


@hidden("another zero of the rewards, the same loss")
def pair_zero(student):
    chosen, rejected = judged(4, seed=225)
    return [student.pair_reward_loss(chosen + zero, rejected + zero, 0.5) for zero in (0.0, 8.0)]


@hidden("leads of thousands, all of them right")
def pair_right(student):
    return student.pair_reward_loss(torch.tensor([2000.0, 3000.0]), torch.tensor([-500.0, 10.0]))


@hidden("equal rewards")
def pair_equal(student):
    return gradients(student.pair_reward_loss, torch.ones(3), torch.ones(3))


@hidden("double precision", tolerance=1e-12)
def pair_double(student):
    return student.pair_reward_loss(*judged(5, seed=227, dtype=torch.float64), 0.25)


@hidden("gradients of leads in the thousands, with a margin")
def pair_thousands(student):
    return gradients(student.pair_reward_loss, *judged(6, seed=229, scale=2000.0), 3.0)


@hidden("what was given is left as it was", weight=0.5)
def pair_keeps(student):
    return after(student.pair_reward_loss, *judged(4, seed=231), 0.5)
