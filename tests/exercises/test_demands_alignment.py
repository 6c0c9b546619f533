"""Each demand of assignment 15 has a case; how that is looked at stands in `demands.py`."""

from __future__ import annotations

import torch
from demands import becomes, edit, every, rough, single, spoils


def drift(answer):
    """Let the ratings lean towards whoever won last."""

    def call(votes, models):
        found = answer(votes, models)
        a, b, points = votes[-1]
        return [s + 0.01 * (points - 0.5) * ((n == a) - (n == b)) for n, s in enumerate(found)]

    return call


LOSSES = ("marginal_loss", "pair_reward_loss", "prefer")
FINITE = "neither the loss nor a gradient may become infinite or nan"
ANYTHING = "What stands at prompt and padding must not matter, even if it is nan or infinite"
AGAIN = "Again what stands at prompt and padding must not matter, even if it is nan or infinite"
SHARES = "relevance.log_softmax(dim=-1)"

DEMANDS = [
    *((name, "a tensor without axes", becomes(lambda found: found[None])) for name in LOSSES),
    *((name, "a tensor without axes", becomes(torch.Tensor.item)) for name in LOSSES),
    *(
        (name, "without axes, in the dtype of", change)
        for name in LOSSES
        for change in (single, rough)
    ),
    *(
        (name, "Leave what you were given as it is", spoils(0))
        for name in (*LOSSES, "kl_of_sample")
    ),
    *(
        (name, "Leave what you were given as it is", spoils(1))
        for name in (*LOSSES, "kl_of_sample")
    ),
    *(
        (name, "Leave what you were given as it is", spoils(2))
        for name in ("prefer", "kl_of_sample")
    ),
    (
        "marginal_loss",
        "any numbers, also large ones",
        edit(SHARES, "(relevance.exp() / relevance.exp().sum(-1, keepdim=True)).log()"),
    ),
    (
        "marginal_loss",
        "any numbers, also large ones",
        edit(SHARES, "relevance.softmax(dim=-1).log()"),
    ),
    ("marginal_loss", "natural ones", edit("+ logs", "+ 0.6931472 * logs")),
    (
        "marginal_loss",
        "they may lie thousands below 0",
        edit("joint.logsumexp(dim=-1)", "joint.exp().sum(dim=-1).log()"),
    ),
    (
        "marginal_loss",
        "Where a document makes the answer impossible the logarithm is minus infinity",
        edit("+ logs", "+ logs.clamp(min=-1000)"),
    ),
    (
        "marginal_loss",
        "Where a document makes the answer impossible the logarithm is minus infinity",
        edit("+ logs", "+ logs.nan_to_num(neginf=0.0)"),
    ),
    (
        "marginal_loss",
        "gives retriever and reader a gradient",
        edit("relevance.l", "relevance.detach().l"),
    ),
    ("marginal_loss", "gives retriever and reader a gradient", edit("+ logs", "+ logs.detach()")),
    (
        "marginal_loss",
        "a gradient that is finite too",
        edit("+ logs", "+ logs + (logs.exp().sqrt() - logs.exp().sqrt())"),
    ),
    ("pair_reward_loss", "margin=0.0", edit("margin=0.0", "margin=0.5")),
    ("pair_reward_loss", "Both rewards get a gradient", edit("= chosen", "= chosen.detach()")),
    ("pair_reward_loss", "Both rewards get a gradient", edit("- rejected", "- rejected.detach()")),
    ("pair_reward_loss", FINITE, edit("F.logsigmoid(lead)", "torch.sigmoid(lead).log()")),
    (
        "pair_reward_loss",
        FINITE,
        edit(
            "F.logsigmoid(lead)",
            "torch.where(lead > -80, torch.sigmoid(lead).log(), lead)",
        ),
    ),
    (
        "pair_reward_loss",
        "a pair that is badly wrong must still have a gradient",
        edit("F.logsigmoid(lead)", "F.logsigmoid(lead.clamp(min=-100))"),
    ),
    (
        "pair_reward_loss",
        "They may differ by thousands, either way",
        edit("F.logsigmoid(lead)", "F.logsigmoid(lead).clamp(max=-1e-3)"),
    ),
    ("prefer", "beta=0.1", edit("beta=0.1", "beta=0.2")),
    ("prefer", "its tokens do not count", edit("gap.masked_fill(~answer, 0.0)", "gap")),
    ("prefer", "nothing has to be shifted", edit("~answer", "~answer.roll(1, -1)")),
    ("prefer", ANYTHING, edit("gap.masked_fill(~answer, 0.0)", "(gap * answer)")),
    ("prefer", ANYTHING, edit("~answer", "~answer & ~gap.isinf()")),
    (
        "prefer",
        ANYTHING,  # right in value, but nan in the gradient
        edit("policy - ref", "policy.exp().log() * answer + policy * ~answer - ref"),
    ),
    (
        "prefer",
        "The policy gets a gradient, at the answers' tokens and zeros elsewhere",
        edit(".mean()", ".mean() + (policy - policy.detach())[~answer].sum()"),
    ),
    (
        "prefer",
        "The policy gets a gradient",
        edit("policy - reference.detach()", "policy.detach() - reference.detach()"),
    ),
    (
        "prefer",
        "the reference is frozen and gets none",
        edit("reference.detach()", "reference"),
    ),
    ("prefer", FINITE, edit("F.logsigmoid(beta * margin)", "torch.sigmoid(beta * margin).log()")),
    (
        "prefer",
        FINITE,
        edit(
            "F.logsigmoid(beta * margin)",
            "torch.where(beta * margin > -80, torch.sigmoid(beta * margin).log(), beta * margin)",
        ),
    ),
    ("kl_of_sample", "counted in nats", edit(".sum(dim=-1)", ".sum(dim=-1) / 0.6931472")),
    (
        "kl_of_sample",
        "per answer and not per token",
        edit("ratios.mean()", "(ratios.sum() / answer.sum())"),
    ),
    ("kl_of_sample", "Leave them so", edit(".sum(dim=-1)", ".sum(dim=-1).clamp(min=0)")),
    ("kl_of_sample", "Leave them so", becomes(lambda found: (found[0], max(found[1], 0.0)))),
    ("kl_of_sample", AGAIN, edit("gap.masked_fill(~answer, 0.0)", "(gap * answer)")),
    ("kl_of_sample", AGAIN, edit("~answer", "~answer & ~gap.isinf()")),
    ("kl_of_sample", AGAIN, edit("~answer", "~answer & ~gap.isnan()")),
    (
        "kl_of_sample",
        "a row has no True, its log ratio is 0",
        edit(".sum(dim=-1)", ".sum(dim=-1) / answer.any(dim=-1)"),
    ),
    (
        "kl_of_sample",
        "it counts as one of the $N$",
        edit("ratios.mean()", "ratios[answer.any(dim=-1)].mean()"),
    ),
    ("kl_of_sample", "Return a tuple", becomes(list)),
    (
        "kl_of_sample",
        "a tensor (N,) in the dtype of `policy`",
        becomes(lambda found: (found[0].float(), found[1])),
    ),
    (
        "kl_of_sample",
        "a tensor (N,) in the dtype of `policy`",
        edit(
            "(policy - reference).detach()", "(policy.float() - reference.float()).to(policy.dtype)"
        ),
    ),
    (
        "kl_of_sample",
        "a tensor (N,) in the dtype of `policy`",
        becomes(lambda found: (found[0].tolist(), found[1])),
    ),
    (
        "kl_of_sample",
        "a plain number",
        becomes(lambda found: (found[0], torch.tensor(found[1]))),
    ),
    ("kl_of_sample", "no gradient flows by them", edit(".detach()", "")),
    (
        "kl_of_sample",
        "no gradient flows by them",
        edit("reference).detach()", "reference.detach())"),
    ),
    ("ratings", "A draw is half a win for each", edit("1 - gained", "float(gained == 0)")),
    ("ratings", "their order must not matter", drift),
    ("ratings", "two different models", edit("        met[b, a] += 1\n", "")),
    ("ratings", "equal tuples are different people's votes", edit("in votes:", "in set(votes):")),
    ("ratings", "Return a list", becomes(tuple)),
    ("ratings", "Return a list of plain numbers", becomes(torch.tensor)),
    (
        "ratings",
        "Return a list of plain numbers",
        becomes(lambda found: list(torch.tensor(found, dtype=torch.float64))),
    ),
    ("ratings", "in the order of their numbers", becomes(sorted)),
    ("ratings", "with mean 0", becomes(lambda found: [s - found[0] for s in found])),
    ("ratings", "exact to 0.0001", becomes(lambda found: [round(s, 3) for s in found])),
    ("ratings", "it takes hundreds of rounds", edit("range(1000)", "range(100)")),
    ("ratings", "steps of 0.0001 may still add up to much more", edit("1e-12", "1e-4")),
    ("ratings", "Leave the list of votes as it is", spoils(0)),
]


test_whoever_forgets_a_demand_fails_a_case = every(DEMANDS)
