"""Learning from preferences: of two answers to one prompt, people chose one.

RLHF (Ouyang et al., 2022) first fits a reward model r with P(chosen ≻ rejected) = σ(r_c − r_r), the
model of Bradley and Terry, and then seeks a policy π of high reward that stays near a reference:
max E[r] − β KL(π ‖ π_ref). The best such policy is known in closed form, π ∝ π_ref exp(r/β). DPO
(Rafailov et al., 2023) reads that backwards: every policy is the best one for the reward
β log(π/π_ref), so the policy itself can be fitted as the reward model, and no RL is left.
Shapes: B batch, T length, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import (
    check_at_least,
    check_fraction,
    check_int,
    check_labels,
    check_number,
    check_numbers,
    check_positive,
    check_shape,
    check_tensor,
    readable,
)


def answer_mask(prompt_lengths: Tensor, lengths: Tensor, size: int) -> Tensor:
    """prompt_lengths (B,), lengths (B,) -> (B, size), True from the prompt's end to the row's.

    `lengths` count prompt and answer together; what follows is padding on the right.
    """
    _check_lengths(prompt_lengths, lengths, size)
    places = torch.arange(size, device=lengths.device)  # (T,)
    return (places >= prompt_lengths[:, None]) & (places < lengths[:, None])  # (B, T)


def sequence_log_probability(
    logits: Tensor, tokens: Tensor, answer: Tensor, *, mean: bool = False
) -> Tensor:
    """logits (B, T, V), tokens (B, T), answer (B, T) boolean -> log π(answer | prompt) (B,).

    The logits at place t predict the token at t + 1; a row's sum runs over the tokens marked in
    `answer`, so neither prompt nor padding counts. The first token has no prediction and cannot be
    part of the answer. With `mean` the sum is divided by the number of the answer's tokens.
    """
    _check_answers(logits, tokens, answer)
    answer = answer[:, 1:]  # (B, T − 1)
    # The loss of a token is −log π(token | before it); −100 marks the tokens that do not count.
    targets = tokens[:, 1:].long().masked_fill(~answer, -100)  # (B, T − 1)
    losses = F.cross_entropy(logits[:, :-1].mT, targets, reduction="none")  # (B, T − 1)
    total = -losses.sum(dim=1)  # (B,)
    return total / answer.sum(dim=1) if mean else total


@dataclass(frozen=True)
class Preference:
    """A loss, and the rewards that it gives to the two answers; no gradient flows by these."""

    loss: Tensor  # (), the mean over the batch
    chosen: Tensor  # (B,)
    rejected: Tensor  # (B,)

    @property
    def accuracy(self) -> Tensor:
        """How often the chosen answer has the higher reward."""
        check_numbers(self.chosen - self.rejected, "the rewards")
        return (self.chosen > self.rejected).float().mean()


def dpo_loss(
    policy_chosen: Tensor,
    policy_rejected: Tensor,
    reference_chosen: Tensor,
    reference_rejected: Tensor,
    *,
    beta: float = 0.1,
    smoothing: float = 0.0,
) -> Preference:
    """Return −log σ(β log π/π_ref (chosen) − β log π/π_ref (rejected)), all inputs (B,).

    The inputs are log-probabilities of whole answers under the policy and the frozen reference.
    `smoothing` is the share of pairs thought to be labelled the wrong way round ("conservative
    DPO", Mitchell, 2023); then the best margin is finite.
    """
    check_positive(beta=beta)
    check_fraction(smoothing=smoothing)
    _check_rows(
        policy_chosen=policy_chosen,
        policy_rejected=policy_rejected,
        reference_chosen=reference_chosen,
        reference_rejected=reference_rejected,
    )
    chosen = beta * (policy_chosen - reference_chosen.detach())  # (B,)
    rejected = beta * (policy_rejected - reference_rejected.detach())  # (B,)
    margin = chosen - rejected  # (B,)
    loss = -(1 - smoothing) * F.logsigmoid(margin) - smoothing * F.logsigmoid(-margin)  # (B,)
    return Preference(loss.mean(), chosen.detach(), rejected.detach())


def reward_loss(chosen: Tensor, rejected: Tensor, *, margin: float = 0.0) -> Tensor:
    """Return the mean of −log σ(r_c − r_r − margin), rewards (B,): Bradley–Terry's likelihood.

    Only differences count, so a reward model's zero is arbitrary. `margin` asks for a lead
    (Touvron et al., 2023).
    """
    _check_rows(chosen=chosen, rejected=rejected)
    check_number(margin=margin)
    return -F.logsigmoid(chosen - rejected - margin).mean()


def kl_to_reference(policy: Tensor, reference: Tensor, answer: Tensor) -> Tensor:
    """Logits (B, T, V) of both, answer (B, T) boolean -> mean KL(π ‖ π_ref) per answer token.

    The KL of the whole distributions, in nats, where RLHF samples a token and takes one term,
    log π − log π_ref, as an estimate. The marked logits predict the token after their place, so
    `answer` is shifted by one here as in `sequence_log_probability`.
    """
    check_tensor(policy, "policy")
    check_shape(reference, "reference", policy.shape)
    check_shape(answer, "answer", policy.shape[:-1], torch.bool)
    predicts = answer[:, 1:]  # (B, T − 1)
    if not predicts.any():
        raise ValueError("a mean over no tokens: no answer is marked")
    log_p = policy[:, :-1][predicts].log_softmax(dim=-1)  # (N, V)
    log_q = reference[:, :-1][predicts].detach().log_softmax(dim=-1)  # (N, V)
    gap = (log_p - log_q).masked_fill(log_p.isneginf(), 0.0)  # 0 · log 0 = 0
    return (log_p.exp() * gap).sum(dim=-1).mean()


def rlhf_reward(reward: Tensor, policy: Tensor, reference: Tensor, *, beta: float) -> Tensor:
    """Return r − β (log π − log π_ref), all (B,): the reward that RLHF maximises for an answer.

    `policy` and `reference` are `sequence_log_probability` of the answer that was sampled.
    """
    _check_rows(reward=reward, policy=policy, reference=reference)
    check_at_least(beta=beta)
    return reward - beta * (policy - reference.detach())  # (B,)


def _check_rows(**tensors: Tensor) -> None:
    """Raise unless all have one and the same axis, the batch: (B,) and (B, 1) would broadcast."""
    for name, tensor in tensors.items():
        check_tensor(tensor, name)
    shapes = [tuple(tensor.shape) for tensor in tensors.values()]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise ValueError(f"{', '.join(tensors)} must have one shape, (batch,), found {shapes}")


def _check_lengths(prompt_lengths: Tensor, lengths: Tensor, size: int) -> None:
    """Raise unless each row has room for its prompt and its answer."""
    check_int(size=size)
    _check_rows(prompt_lengths=prompt_lengths, lengths=lengths)
    ordered = (prompt_lengths >= 0) & (prompt_lengths <= lengths) & (lengths <= size)  # (B,)
    if readable(ordered) and not ordered.all():
        row = int((~ordered).nonzero()[0])
        raise ValueError(
            f"a row has room for {size} tokens, prompt and answer together, found a prompt of "
            f"{prompt_lengths[row]} and {lengths[row]} together in row {row}"
        )


def _check_answers(logits: Tensor, tokens: Tensor, answer: Tensor) -> None:
    """Raise unless each row has an answer of token ids that the logits can predict."""
    check_tensor(logits, "logits")
    check_shape(tokens, "tokens", logits.shape[:-1])
    check_shape(answer, "answer", tokens.shape, torch.bool)
    if answer[:, 0].any():
        raise ValueError("nothing predicts the first token, so an answer needs a prompt before it")
    answer = answer[:, 1:]
    if not answer.any(dim=1).all():
        row = int((~answer.any(dim=1)).nonzero()[0])
        raise ValueError(f"every row needs an answer of at least one token, row {row} has none")
    check_labels(tokens[:, 1:][answer].long(), logits.shape[-1], "the answer's tokens")
