"""What assignment 15 calls right is what sums over all cases, the course's DPO and the likelihood
of the votes give.

`test_parts.py` holds its losses beside the course's parts on their own cases; here they meet the
mathematics that they stand for.
"""

from __future__ import annotations

import itertools
import math

import ours
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.check.probe import randn
from coursekit.objectives.preferences import (
    answer_mask,
    dpo_loss,
    kl_to_reference,
    sequence_log_probability,
)
from coursetools.questions import catalogue

RIGHT = catalogue.references(ours.load("a15_alignment"))
DOUBLE = torch.float64
NUMBERS = st.floats(-8, 8)


@settings(deadline=None)
@given(st.lists(st.tuples(NUMBERS, st.floats(1e-4, 1)), min_size=1, max_size=6))
def test_a_marginal_loss_is_a_sum_of_probabilities(documents):
    raised = [math.exp(f) for f, _ in documents]
    right = sum(e / sum(raised) * p for e, (_, p) in zip(raised, documents))
    relevance = torch.tensor([[f for f, _ in documents]], dtype=DOUBLE)
    logs = torch.tensor([[math.log(p) for _, p in documents]], dtype=DOUBLE)
    assert RIGHT.marginal_loss(relevance, logs).item() == pytest.approx(-math.log(right))


def test_a_document_rises_that_helps_more_than_the_mean():
    """The gradient of REALM: p(z | x) less p(z | x, y), what the document has once y is known."""
    relevance = randn(1, 5, seed=1, dtype=DOUBLE).requires_grad_()
    logs = -randn(1, 5, seed=2, dtype=DOUBLE).abs()
    (found,) = torch.autograd.grad(RIGHT.marginal_loss(relevance, logs), relevance)
    before = relevance.detach().softmax(-1)
    whole = (before * logs.exp()).sum(-1, keepdim=True)
    torch.testing.assert_close(found, before - before * logs.exp() / whole)
    assert torch.equal(found[0] < 0, (logs.exp() > whole)[0])


def spoken(models=2, rows=6, length=7, words=5, seed=10):
    """Return logits of several models, tokens, and where the answers stand."""
    logits = [randn(rows, length, words, seed=seed + n, dtype=DOUBLE) for n in range(models)]
    tokens = torch.randint(words, (rows, length), generator=torch.Generator().manual_seed(seed))
    begins = torch.arange(rows) % 3 + 1
    return logits, tokens, answer_mask(begins, length - torch.arange(rows) % 2, length)


def at_tokens(logits, tokens):
    """Return the log probability of each token at its place; nothing predicts the first one."""
    logs = logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0]
    return F.pad(logs, (1, 0), value=torch.nan)


def test_prefer_is_the_dpo_of_two_models_that_read_the_texts():
    logits, tokens, answer = spoken()
    policy, reference = (sequence_log_probability(one, tokens, answer) for one in logits)
    theirs = dpo_loss(policy[:3], policy[3:], reference[:3], reference[3:], beta=0.3).loss
    given = [at_tokens(one, tokens).reshape(2, 3, -1) for one in logits]
    ours = RIGHT.prefer(*given, answer.reshape(2, 3, -1), 0.3)
    torch.testing.assert_close(ours, theirs)


def test_the_prompts_of_a_pair_cancel_where_they_are_alike():
    policy, reference = (randn(2, 4, 8, seed=n, dtype=DOUBLE) for n in (30, 31))
    for one in (policy, reference):
        one[1, :, :3] = one[0, :, :3]
    answer = (torch.arange(8) > 2).expand(2, 4, 8)
    torch.testing.assert_close(
        RIGHT.prefer(policy, reference, answer),
        RIGHT.prefer(policy, reference, torch.ones_like(answer)),
    )


def test_the_best_policy_of_a_reward_has_the_reward_models_loss():
    """π is π_ref exp(r / β), normalised: read as DPO does, it is the reward again."""
    beta, reward = 0.4, randn(6, seed=40, dtype=DOUBLE)
    reference = randn(6, seed=41, dtype=DOUBLE).log_softmax(-1)
    policy = (reference + reward / beta).log_softmax(-1)
    given = [one.reshape(2, 3, 1) for one in (policy, reference)]
    found = RIGHT.prefer(*given, torch.ones(2, 3, 1, dtype=torch.bool), beta)
    torch.testing.assert_close(found, RIGHT.pair_reward_loss(*reward.reshape(2, 3)))


def test_the_mean_over_all_that_a_policy_says_is_its_kl():
    """One token at each of three places, so that all answers can be gone through."""
    policy, reference = (randn(3, 4, seed=n, dtype=DOUBLE).log_softmax(-1) for n in (50, 51))
    said = torch.tensor(list(itertools.product(range(4), repeat=3)))  # (64, 3)
    ours, theirs = (one[torch.arange(3), said] for one in (policy, reference))  # (64, 3)
    ratios, _ = RIGHT.kl_of_sample(ours, theirs, torch.ones(64, 3, dtype=torch.bool))
    exact = kl_to_reference(
        F.pad(policy, (0, 0, 0, 1))[None],
        F.pad(reference, (0, 0, 0, 1))[None],
        torch.tensor([[False, True, True, True]]),
    )
    torch.testing.assert_close((ours.sum(dim=1).exp() * ratios).sum(), 3 * exact)
    assert (ratios < 0).any()


@st.composite
def polls(draw):
    """Return votes on up to six models of whom nobody is unbeaten, and how many models."""
    models = draw(st.integers(2, 6))
    pair = st.lists(st.integers(0, models - 1), min_size=2, max_size=2, unique=True)
    more = draw(st.lists(st.tuples(pair, st.sampled_from([0.0, 0.5, 1.0])), max_size=25))
    ring = [(n, (n + 1) % models, 1.0) for n in range(models)]
    return [*ring, *((a, b, points) for (a, b), points in more)], models


@settings(deadline=None, max_examples=60)
@given(polls(), st.randoms(use_true_random=False))
def test_ratings_make_the_votes_as_likely_as_they_can_be(poll, chance):
    votes, models = poll
    found = RIGHT.ratings(votes, models)
    s = torch.tensor(found, dtype=DOUBLE, requires_grad=True)
    a, b, points = (torch.tensor(x) for x in zip(*votes))
    loss = F.binary_cross_entropy_with_logits(s[a] - s[b], points.double(), reduction="sum")
    (slope,) = torch.autograd.grad(loss, s)
    assert slope.abs().max() < 1e-4 and abs(sum(found)) < 1e-9
    shuffled = [(b, a, 1 - p) if chance.random() < 0.5 else (a, b, p) for a, b, p in votes]
    chance.shuffle(shuffled)
    assert RIGHT.ratings(shuffled, models) == pytest.approx(found, abs=1e-6)
