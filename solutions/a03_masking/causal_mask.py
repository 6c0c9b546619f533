"""Nobody sees what comes later, or not by much."""

from __future__ import annotations

import torch

from coursetools.questions import hidden, visible


def causal_mask(T, S, ahead):
    """Return (T, S), True where a query (one of the last T places) may see a key."""
    return torch.ones(T, S, dtype=torch.bool).tril(S - T + ahead)


@visible("four queries, four keys, none ahead")
def four_queries_four_keys_none_ahead(student):
    return student.causal_mask(4, 4, 0)


@visible("three new queries, six keys, one ahead")
def three_new_queries_six_keys(student):
    return student.causal_mask(3, 6, 1)


@visible("six queries, six keys, two ahead")
def six_queries_six_keys_two_ahead(student):
    return student.causal_mask(6, 6, 2)


@hidden("the newest query alone, none ahead")
def causal_newest(student):
    return student.causal_mask(1, 6, 0)


@hidden("a long sequence")
def causal_long(student):
    return student.causal_mask(70, 70, 5)


@hidden("the mask for the newest queries is the end of the mask for all")
def causal_end(student):
    return student.causal_mask(4, 9, 2), student.causal_mask(9, 9, 2)[5:]


@hidden("one query fewer than keys")
def causal_one_fewer(student):
    return student.causal_mask(6, 7, 1)


@hidden("further ahead than the sequence is long")
def causal_beyond(student):
    return student.causal_mask(3, 5, 8)
