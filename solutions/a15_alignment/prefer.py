"""DPO: a policy learns from pairs without a reward model beside it."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import after, gradients
from coursetools.questions import hidden, visible

from .shared import spoken


def prefer(policy, reference, answer, beta=0.1):
    """policy, reference, answer (2, B, T), chosen and rejected -> the loss, one number."""
    gap = policy - reference.detach()  # (2, B, T)
    gains = gap.masked_fill(~answer, 0.0).sum(dim=-1)  # (2, B)
    margin = gains[0] - gains[1]  # (B,)
    return -F.logsigmoid(beta * margin).mean()


def paired(pairs, length, seed, **more):
    """Return log probabilities, and where answers are, for both texts of each pair: (2, B, T)."""
    begins = [1 + (3 * n) % 4 for n in range(2 * pairs)]
    ends = [length - (2 * n) % 5 for n in range(2 * pairs)]
    return [x.reshape(2, pairs, length) for x in spoken(begins, ends, length, seed, **more)]


@visible("one pair, answers of two tokens and one")
def one_pair(student):
    policy = torch.tensor([[[-9.0, -1.0, -2.0, -7.0]], [[-3.0, -4.0, -6.0, -1.0]]])
    reference = torch.tensor([[[-2.0, -3.0, -5.0, -1.0]], [[-8.0, -2.0, -3.0, -6.0]]])
    answer = torch.tensor([[[False, True, True, False]], [[False, True, False, False]]])
    return student.prefer(policy, reference, answer, 0.25)


@visible("five pairs, prompts and answers of several lengths, two values of beta", weight=2)
def five_pairs(student):
    given = paired(5, 9, seed=1)
    return student.prefer(*given), student.prefer(*given, 2.0)


@visible("gradients: the policy learns, the reference is frozen")
def with_gradients(student):
    return gradients(student.prefer, *paired(3, 7, seed=5), 0.4)


@visible("anything at all outside of the answers")
def anything_outside(student):
    policy, reference, answer = paired(4, 8, seed=7)
    policy[~answer], reference[:, 1:][~answer[:, 1:]] = -torch.inf, torch.nan
    return gradients(student.prefer, policy, reference, answer)


@visible("log probabilities thousands below zero")
def thousands(student):
    return gradients(student.prefer, *paired(3, 8, seed=10, scale=3000.0), 1.0)


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.prefer, *paired(2, 7, seed=13, dtype=torch.float64))


@hidden("many pairs", weight=2)
def prefer_many(student):
    return student.prefer(*paired(24, 16, seed=241))


@hidden("four values of beta")
def prefer_betas(student):
    return [student.prefer(*paired(4, 12, seed=243), beta) for beta in (0.01, 0.1, 0.7, 5.0)]


@hidden("a policy that is its reference still")
def prefer_start(student):
    policy, _, answer = paired(3, 10, seed=245)
    return gradients(student.prefer, policy, policy.clone(), answer, 0.3)


@hidden("gradients of long answers beside short ones", weight=2)
def prefer_gradients(student):
    given = spoken([1, 8, 3, 2, 5, 9], [10, 9, 4, 10, 10, 10], 10, seed=247)
    return gradients(student.prefer, *(x.reshape(2, 3, 10) for x in given), 0.5)


@hidden("double precision", tolerance=1e-12)
def prefer_double(student):
    return student.prefer(*paired(3, 9, seed=249, dtype=torch.float64), 0.2)


@hidden("gradients with nan and infinities in prompts and padding")
def prefer_outside(student):
    policy, reference, answer = paired(4, 11, seed=251)
    policy[0][~answer[0]], reference[1][~answer[1]] = torch.nan, -torch.inf
    policy[1][~answer[1]], reference[0][~answer[0]] = -torch.inf, torch.inf
    return gradients(student.prefer, policy, reference, answer, 0.3)


@hidden("pairs that are badly wrong, and clearly right")
def prefer_huge(student):
    return gradients(student.prefer, *paired(5, 9, seed=253, scale=2000.0), 0.5)


@hidden("what was given is left as it was")
def prefer_keeps(student):
    return after(student.prefer, *paired(3, 9, seed=255))
