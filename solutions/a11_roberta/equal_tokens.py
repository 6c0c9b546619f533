"""How long each run of an ablation trains, so that all of them read equally many tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import Chance, after
from coursetools.questions import hidden, visible


def equal_tokens(keep, budget, batches, base_batch=256, base_rate=1e-4):
    """keep (N, T), tokens to be read, batch sizes -> a list of (steps, passes, rate)."""
    rows = len(keep)
    real = int(keep.sum())
    plan = []
    for batch in batches:
        steps = budget * rows // (batch * real)
        plan.append((steps, steps * batch / rows, base_rate * batch / base_batch))
    return plan


def _rows(*lengths: int, width: int) -> Tensor:
    """True at the tokens of rows that have these lengths."""
    return torch.arange(width) < torch.tensor(lengths)[:, None]


@visible("three batch sizes")
def three_sizes(student):
    keep = _rows(6, 8, 4, 5, 7, 12, width=12)  # 7 on average
    return student.equal_tokens(keep, 10_000, [8, 32, 128], base_batch=32, base_rate=1e-3)


@visible("sizes in no order, the base not among them")
def no_order(student):
    keep = _rows(9, 3, 16, 10, 2, 2, 14, 4, width=16)  # 7.5 on average
    return student.equal_tokens(keep, 3_333, [24, 6, 100], base_batch=10, base_rate=0.02)


@visible("less than one pass, and one step only")
def less_than_a_pass(student):
    keep = _rows(*[5, 9, 7, 3] * 25, width=10)  # 6 on average, 100 rows
    return student.equal_tokens(keep, 500, [7, 50], base_batch=25, base_rate=0.1)


@visible("RoBERTa's own three runs, its base batch and rate")
def own_three_runs(student):
    keep = torch.ones(64, 512, dtype=torch.bool)
    return student.equal_tokens(keep, 10**6 * 256 * 512, [256, 2048, 8192])


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.equal_tokens, _rows(3, 4, 2, 4, width=5), 700, [9, 3, 5], 3, 0.5)


def lengths(seed, rows, width):
    """Return where the tokens are, in rows of random lengths."""
    chance = Chance(9000 + seed)
    sizes = chance.randint(2, width + 1, (rows,))
    return torch.arange(width) < sizes[:, None]


@hidden("many rows, many batch sizes", weight=2)
def equal_many(student):
    return student.equal_tokens(
        lengths(1, 128, 40), 1_000_003, [8, 512, 32, 33, 128, 1], base_batch=64, base_rate=2e-3
    )


@hidden("the base batch and rate unless told otherwise")
def equal_default(student):
    return student.equal_tokens(lengths(2, 16, 9), 54_321, [256, 100])


@hidden("budgets that are used to the last token", weight=2)
def equal_exact(student):
    keep = torch.arange(6) < torch.tensor([2, 4, 5, 3])[:, None]  # 3.5 on average
    return [student.equal_tokens(keep, 7 * 40 * n, [4, 10, 20], 10, 1e-3) for n in (1, 2, 5)]


@hidden("rows that are full, and rows with one token")
def equal_edges(student):
    full, one = torch.ones(5, 8, dtype=torch.bool), torch.arange(8).expand(4, 8) < 1
    return [student.equal_tokens(keep, 1_000, [3, 7], 3, 0.1) for keep in (full, one)]


@hidden("no run at all, and the same size twice")
def equal_none(student):
    keep = lengths(3, 8, 12)
    return student.equal_tokens(keep, 999, [], 4, 0.1), student.equal_tokens(
        keep, 999, [5, 5], 4, 0.1
    )


@hidden("what was given is left as it was")
def equal_keeps(student):
    return after(student.equal_tokens, lengths(4, 8, 7), 503, [6, 2, 4], 2, 0.01)
