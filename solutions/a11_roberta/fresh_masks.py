"""Which tokens are hidden in which epoch: RoBERTa's dynamic masking, and the static it replaced."""

from __future__ import annotations

import torch

from coursekit.check.probe import Chance, after
from coursetools.questions import hidden, visible


def fresh_masks(tokens, special, mask, epoch, seed, copies=None, rate=0.15):
    """tokens (N, T), a whole text -> what is read (N, T) in this epoch, labels (N, T)."""
    version = epoch if copies is None else epoch % copies
    generator = torch.Generator().manual_seed(1000 * seed + version)
    coins = torch.rand(tokens.shape, generator=generator)  # (N, T)
    chosen = ~torch.isin(tokens, torch.tensor(special)) & (coins < rate)
    return tokens.masked_fill(chosen, mask), tokens.masked_fill(~chosen, -100)


def table(rows, length, seed):
    """Return inputs with <s> 0 first, </s> 2 within and behind, and padding 1."""
    chance = Chance(6000 + seed)
    tokens = chance.randint(10, 5000, (rows, length))
    ends = chance.randint(length // 2, length, (rows,))
    places = torch.arange(length)
    tokens[places > ends[:, None]] = 1
    tokens[(places == ends[:, None]) | (places == length // 4)] = 2
    tokens[:, 0] = 0
    return tokens


@visible("the first epoch of a small text")
def first_epoch(student):
    return student.fresh_masks(table(3, 12, 10), [1, 0, 2], 50264, 0, 0, rate=0.4)


@visible("four epochs", weight=2)
def four_epochs(student):
    return [student.fresh_masks(table(2, 10, 11), [1, 0, 2], 3, n, 5, rate=0.5) for n in range(4)]


@visible("three copies, seven epochs", weight=2)
def three_copies(student):
    given = [1, 0, 2], 3
    return [student.fresh_masks(table(2, 8, 12), *given, n, 2, 3, rate=0.5) for n in range(7)]


@visible("other seeds, and one copy")
def other_seeds(student):
    given = [1, 0, 2], 3
    return [
        student.fresh_masks(table(2, 9, 13), *given, epoch, seed, copies, 0.5)
        for epoch, seed in ((0, 1), (1, 1), (0, 2), (1, 3))
        for copies in (None, 1)
    ]


@visible("many tokens at the usual rate, other special ids")
def usual_rate(student):
    return student.fresh_masks(table(8, 40, 14), [2, 1, *range(60, 900), 0], 4, 3, 7)


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.fresh_masks, table(2, 12, 15), [1, 0, 2], 3, 1, 4, None, 0.6)


@hidden("a text of many rows, ten epochs", weight=2)
def masks_many(student):
    return [student.fresh_masks(table(20, 64, 1), [0, 1, 2, 3], 50264, n, 9) for n in range(10)]


@hidden("ten copies over thirty epochs, as RoBERTa's static masks", weight=2)
def masks_copies(student):
    return [
        student.fresh_masks(table(3, 16, 2), [0, 1, 2], 4, n, 1, copies=10) for n in range(0, 30, 3)
    ]


@hidden("other special ids, that of the mask among them")
def masks_special(student):
    tokens = table(4, 30, 3)
    tokens[:, 5], tokens[:, 9] = 4, 4999
    return student.fresh_masks(tokens, [2, 4999, 0, 4, 1], 4, 2, 8, rate=0.8)


@hidden("rates 0 and 1")
def masks_rates(student):
    return [
        student.fresh_masks(table(2, 12, 4), [0, 1, 2], 4, 3, 6, rate=rate) for rate in (0.0, 1.0)
    ]


@hidden("a coin that equals the rate")
def masks_coin(student):
    tokens = torch.arange(20, 28)[None]
    coins = torch.rand(1, 8, generator=torch.Generator().manual_seed(1000 * 3 + 2))
    return student.fresh_masks(tokens, [0, 1, 2], 4, 2, 3, rate=coins[0, 4].item())


@hidden("large seeds and late epochs")
def masks_late(student):
    given = [0, 1, 2], 4
    runs = [(999, 41), (40, 123), (123, 40)]
    return [student.fresh_masks(table(2, 20, 5), *given, *run, rate=0.5) for run in runs]


@hidden("the text is left as it was")
def masks_keep(student):
    return after(student.fresh_masks, table(3, 15, 6), [0, 1, 2], 4, 0, 2, 4, 0.7)
