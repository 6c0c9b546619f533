"""How far a policy has gone from its reference, estimated from what it says."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients
from coursetools.questions import hidden, visible

from .shared import spoken


def kl_of_sample(policy, reference, answer):
    """policy, reference, answer (N, T), sampled from the policy -> log ratios (N,), the KL."""
    gap = (policy - reference).detach()  # (N, T)
    ratios = gap.masked_fill(~answer, 0.0).sum(dim=-1)  # (N,)
    return ratios, ratios.mean().item()


@visible("two answers, of two tokens and of one")
def two_answers(student):
    policy = torch.tensor([[-4.0, -1.0, -0.5, -3.0], [-2.0, -2.0, -3.0, -1.0]])
    reference = torch.tensor([[-6.0, -2.0, -3.0, -1.0], [-1.0, -1.5, -5.0, -9.0]])
    answer = torch.tensor([[False, True, True, False], [False, True, False, False]])
    return student.kl_of_sample(policy, reference, answer)


@visible("seven answers of several lengths", weight=2)
def seven_answers(student):
    return student.kl_of_sample(*spoken([1, 2, 3, 1, 2, 3, 1], [9, 8, 7, 6, 9, 8, 7], 9, seed=20))


@visible("an estimate below zero; no gradient flows by it")
def below_zero(student):
    policy, reference, answer = spoken([1, 2, 3], [6, 5, 4], 6, seed=22)
    return gradients(student.kl_of_sample, policy - 0.9, reference, answer)


@visible("anything at all outside of the answers")
def anything_outside(student):
    policy, reference, answer = spoken([1, 2, 3, 1, 2], [8, 7, 6, 5, 8], 8, seed=26)
    policy[~answer], reference[:, 1:][~answer[:, 1:]] = -torch.inf, torch.nan
    return student.kl_of_sample(policy, reference, answer)


@visible("answers without a token; what was given stays as it was; double precision")
def without_token(student):
    given = spoken([1, 2, 3, 4], [1, 5, 6, 4], 6, seed=28, dtype=torch.float64)
    return after(student.kl_of_sample, *given)


@hidden("many answers", weight=2)
def kl_many(student):
    begins, ends = [1 + n % 6 for n in range(40)], [14 - n % 7 for n in range(40)]
    return student.kl_of_sample(*spoken(begins, ends, 14, seed=261))


@hidden("one answer")
def kl_one(student):
    return student.kl_of_sample(*spoken([2], [6], 8, seed=263))


@hidden("a policy that is its reference still")
def kl_start(student):
    policy, _, answer = spoken([1, 2, 3], [5, 6, 4], 7, seed=265)
    return student.kl_of_sample(policy, policy.clone(), answer)


@hidden("no gradient, and ratios of both signs", weight=2)
def kl_gradients(student):
    policy, reference, answer = spoken([1, 3, 2, 4], [8, 5, 9, 9], 9, seed=267, scale=3.0)
    return gradients(student.kl_of_sample, policy - 0.5, reference, answer)


@hidden("double precision", tolerance=1e-12)
def kl_double(student):
    given = spoken([1, 3, 2, 4], [8, 5, 9, 9], 9, seed=269, dtype=torch.float64)
    return student.kl_of_sample(*given)


@hidden("nan in prompts, infinities in padding, and no answer at all in one")
def kl_outside(student):
    ours, theirs, marked = spoken([2, 1, 3, 4], [6, 1, 8, 9], 9, seed=271)
    ours[~marked], theirs[:, 4:][~marked[:, 4:]] = torch.nan, -torch.inf
    return student.kl_of_sample(ours, theirs, marked)


@hidden("what was given is left as it was", weight=0.5)
def kl_keeps(student):
    return after(student.kl_of_sample, *spoken([1, 3, 2], [4, 5, 7], 7, seed=273))
