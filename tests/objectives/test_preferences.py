"""Preferences: DPO by hand, its gradient, the reward model, and the distance to the reference."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.preferences import (
    answer_mask,
    dpo_loss,
    kl_to_reference,
    reward_loss,
    rlhf_reward,
    sequence_log_probability,
)

numbers = st.floats(-30, 30)
positive = st.floats(0.01, 5)


def rows(*values):
    return torch.tensor(values, dtype=torch.double)


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def example(seed=0):
    torch.manual_seed(seed)
    logits = torch.randn(3, 6, 5, dtype=torch.double, requires_grad=True)
    tokens = torch.randint(5, (3, 6))
    answer = answer_mask(torch.tensor([2, 1, 4]), torch.tensor([6, 3, 5]), 6)
    return logits, tokens, answer


def test_the_answer_lies_between_prompt_and_padding():
    _, _, answer = example()
    assert answer.int().tolist() == [[0, 0, 1, 1, 1, 1], [0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0]]


@pytest.mark.parametrize("mean", [False, True])
def test_sequence_log_probability_token_by_token(mean):
    logits, tokens, answer = example()
    found = sequence_log_probability(logits, tokens, answer, mean=mean)
    for row in range(3):
        terms = []
        for t in range(1, 6):
            if answer[row, t]:
                before = logits[row, t - 1].exp()  # the place before predicts this token
                terms.append((before[tokens[row, t]] / before.sum()).log())
        want = sum(terms) / (len(terms) if mean else 1)
        torch.testing.assert_close(found[row], want)


def test_neither_prompt_nor_padding_carries_gradient():
    logits, tokens, answer = example()
    (grad,) = torch.autograd.grad(sequence_log_probability(logits, tokens, answer).sum(), logits)
    predicts = torch.cat([answer[:, 1:], torch.zeros(3, 1).bool()], dim=1)
    assert grad[~predicts].eq(0).all() and grad[predicts].ne(0).all()
    changed = torch.where(answer, tokens, (tokens + 1) % 5)
    torch.testing.assert_close(
        sequence_log_probability(logits, changed, answer),
        sequence_log_probability(logits, tokens, answer),
    )


def test_the_probabilities_of_all_answers_sum_to_one():
    """A fixed table as the model: 3 tokens after the first, from a vocabulary of 3."""
    torch.manual_seed(0)
    table = torch.randn(3, 3, dtype=torch.double)  # logits of the next token, given the last
    answers = torch.cartesian_prod(*[torch.arange(3)] * 3)  # (27, 3)
    tokens = torch.cat([torch.zeros(27, 1).long(), answers], dim=1)
    answer = answer_mask(torch.full((27,), 1), torch.full((27,), 4), 4)
    found = sequence_log_probability(table[tokens], tokens, answer)
    torch.testing.assert_close(found.exp().sum(), torch.tensor(1.0, dtype=torch.double))


@given(
    st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=5),
    positive,
    st.floats(0, 0.49),
)
def test_dpo_by_hand(pairs, beta, smoothing):
    """Rafailov et al., eq. 7; with smoothing, the mean over right and wrong labels."""
    pc, pr, rc, rr = (rows(*column) for column in zip(*pairs))
    found = dpo_loss(pc, pr, rc, rr, beta=beta, smoothing=smoothing)
    terms = []
    for a, b, c, d in pairs:
        h = beta * ((a - c) - (b - d))
        right, wrong = max(sigmoid(h), 1e-300), max(sigmoid(-h), 1e-300)
        terms.append(-(1 - smoothing) * math.log(right) - smoothing * math.log(wrong))
    assert found.loss.item() == pytest.approx(sum(terms) / len(terms), rel=1e-6, abs=1e-9)
    assert found.chosen.tolist() == pytest.approx([beta * (a - c) for a, _, c, _ in pairs])
    assert found.rejected.tolist() == pytest.approx([beta * (b - d) for _, b, _, d in pairs])


def test_dpo_s_gradient_is_the_paper_s():
    """−β σ(r̂(rejected) − r̂(chosen)) · (∇ log π(chosen) − ∇ log π(rejected)), over the batch."""
    torch.manual_seed(0)
    policy = torch.randn(2, 4, dtype=torch.double, requires_grad=True)
    reference = torch.randn(2, 4, dtype=torch.double, requires_grad=True)
    found = dpo_loss(*policy, *reference, beta=0.7)
    found.loss.backward()
    want = 0.7 * torch.sigmoid(found.rejected - found.chosen) / 4
    torch.testing.assert_close(policy.grad, torch.stack([-want, want]))
    assert (policy.grad[0] < 0).all() and (policy.grad[1] > 0).all()
    assert reference.grad is None  # the reference is frozen, whatever was passed
    assert not found.chosen.requires_grad and not found.rejected.requires_grad


@given(numbers, numbers, positive)
def test_dpo_at_the_reference_is_a_coin_and_a_wrong_margin_weighs_more(a, b, beta):
    chosen, rejected = rows(a), rows(b)
    same = dpo_loss(chosen, rejected, chosen, rejected, beta=beta)
    assert same.loss.item() == pytest.approx(math.log(2)) and same.accuracy == 0
    better = dpo_loss(chosen + 1, rejected, chosen, rejected, beta=beta)
    worse = dpo_loss(chosen, rejected + 1, chosen, rejected, beta=beta)
    assert better.loss < same.loss < worse.loss and better.accuracy == 1 and worse.accuracy == 0
    # Both answers more likely by one factor: the loss sees only the difference.
    moved = dpo_loss(chosen + 2, rejected + 2, chosen, rejected, beta=beta)
    assert moved.loss.item() == pytest.approx(math.log(2))


@given(st.floats(0.01, 0.49), positive)
def test_with_smoothing_the_best_margin_is_finite(smoothing, beta):
    margin = math.log((1 - smoothing) / smoothing) / beta

    def grad(lead):
        policy = rows(lead).requires_grad_()
        dpo_loss(
            policy, rows(0.0), rows(0.0), rows(0.0), beta=beta, smoothing=smoothing
        ).loss.backward()
        return policy.grad.item()

    assert grad(margin) == pytest.approx(0, abs=1e-9)
    assert grad(margin - 0.1) < 0 < grad(margin + 0.1)


def test_dpo_raises_the_chosen_answer_of_a_small_policy():
    torch.manual_seed(0)
    tokens = torch.randint(5, (8, 6))
    answer = answer_mask(torch.full((8,), 2), torch.full((8,), 6), 6)
    policy = torch.nn.Embedding(5, 5).double()
    with torch.no_grad():
        reference = sequence_log_probability(policy(tokens), tokens, answer)
    optimizer = torch.optim.SGD(policy.parameters(), lr=1.0)
    for _ in range(60):
        log_p = sequence_log_probability(policy(tokens), tokens, answer)
        found = dpo_loss(log_p[:4], log_p[4:], reference[:4], reference[4:])
        optimizer.zero_grad()
        found.loss.backward()
        optimizer.step()
    assert found.loss < 0.6 and found.accuracy == 1


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), numbers)
def test_the_reward_loss_is_bradley_and_terry_s(pairs, shift):
    chosen, rejected = (rows(*column) for column in zip(*pairs))
    found = reward_loss(chosen, rejected)
    want = [-math.log(max(sigmoid(a - b), 1e-300)) for a, b in pairs]
    assert found.item() == pytest.approx(sum(want) / len(want), rel=1e-6, abs=1e-9)
    # A reward's zero is arbitrary.
    torch.testing.assert_close(reward_loss(chosen + shift, rejected + shift), found)
    # P(a ≻ b) + P(b ≻ a) = 1
    one = [
        (-reward_loss(rows(a), rows(b))).exp() + (-reward_loss(rows(b), rows(a))).exp()
        for a, b in pairs
    ]
    torch.testing.assert_close(torch.stack(one), torch.ones(len(pairs), dtype=torch.double))
    # DPO is this loss on the rewards β log π/π_ref.
    zero = torch.zeros_like(chosen)
    torch.testing.assert_close(dpo_loss(chosen, rejected, zero, zero, beta=1.0).loss, found)
    assert reward_loss(chosen, rejected, margin=1.0) > found


def test_kl_to_the_reference():
    logits, _, answer = example()
    torch.manual_seed(1)
    reference = torch.randn_like(logits).requires_grad_()
    found = kl_to_reference(logits, reference, answer)
    p, q = (
        torch.distributions.Categorical(logits=x[:, :-1][answer[:, 1:]])
        for x in (logits, reference)
    )
    torch.testing.assert_close(found, torch.distributions.kl_divergence(p, q).mean())
    assert found > 0 and kl_to_reference(logits, logits.detach(), answer).abs() < 1e-12
    assert not torch.allclose(found, kl_to_reference(reference, logits, answer))  # π first
    grads = torch.autograd.grad(found, [logits, reference], allow_unused=True)
    predicts = torch.cat([answer[:, 1:], torch.zeros(3, 1).bool()], dim=1)
    assert grads[0][~predicts].eq(0).all() and grads[0][predicts].ne(0).any() and grads[1] is None
    torch.testing.assert_close(kl_to_reference(logits + 3, reference, answer), found)


def test_samples_of_the_penalty_estimate_the_kl():
    torch.manual_seed(0)
    policy, reference = torch.randn(2, 6, dtype=torch.double).log_softmax(-1)
    tokens = torch.multinomial(policy.exp(), 40_000, replacement=True)
    rewards = rlhf_reward(torch.zeros(40_000), policy[tokens], reference[tokens], beta=0.5)
    logits = [x.expand(1, 2, 6) for x in (policy, reference)]
    exact = kl_to_reference(*logits, torch.tensor([[False, True]]))
    assert rewards.mean().item() == pytest.approx(-0.5 * exact.item(), abs=0.02)


def test_the_best_policy_of_rlhf_is_the_one_that_dpo_assumes():
    """max E[r] − β KL is reached by π ∝ π_ref exp(r/β), whose implied reward is r again."""
    torch.manual_seed(0)
    reward, reference = torch.randn(2, 6, dtype=torch.double)
    reference = reference.log_softmax(-1)
    best = (reference + reward / 0.5).log_softmax(-1)

    def value(log_p):
        return (log_p.exp() * rlhf_reward(reward, log_p, reference, beta=0.5)).sum()

    for _ in range(50):
        assert value(best) >= value((best + 0.1 * torch.randn(6)).log_softmax(-1))
    implied = 0.5 * (best - reference)
    torch.testing.assert_close(implied - implied[0], reward - reward[0])


def test_bad_input_gets_a_sentence():
    logits, tokens, answer = example()
    with pytest.raises(ValueError, match="nothing predicts the first token"):
        sequence_log_probability(logits, tokens, torch.ones_like(answer))
    with pytest.raises(ValueError, match="row 0 has none"):
        sequence_log_probability(logits, tokens, torch.zeros_like(answer))
    one = rows(0.0)
    with pytest.raises(ValueError, match=r"one shape, .*found \[\(1,\), \(2,\), \(1"):
        dpo_loss(one, rows(0.0, 1.0), one, one)
    with pytest.raises(ValueError, match="no answer is marked"):
        kl_to_reference(logits, logits, torch.zeros_like(answer))


def test_what_is_no_answer_gets_a_sentence_too():
    logits, tokens, answer = example()
    for wrong in (5, -1):
        spoilt = tokens.clone()
        spoilt[answer] = wrong
        with pytest.raises(ValueError, match=f"must be ids from 0 to 4, found {wrong}"):
            sequence_log_probability(logits, spoilt, answer)
    spoilt = tokens.masked_fill(~answer, -100)  # what is not the answer may be anything
    torch.testing.assert_close(
        sequence_log_probability(logits, spoilt, answer),
        sequence_log_probability(logits, tokens, answer),
    )
    with pytest.raises(ValueError, match=r"one shape, \(batch,\), found \[\(2,\), \(3,\)\]"):
        answer_mask(torch.ones(2), torch.ones(3), 4)


def test_a_word_that_nobody_believes_in_adds_nothing_to_the_kl():
    logits, _, answer = example()
    reference = torch.randn_like(logits)
    want = kl_to_reference(logits[..., :4], reference[..., :4], answer)
    never = logits.detach().clone()
    never[..., 4] = reference[..., 4] = -torch.inf
    never.requires_grad_()
    found = kl_to_reference(never, reference, answer)
    torch.testing.assert_close(found, want)
    assert torch.autograd.grad(found, never)[0].isfinite().all()
