"""Nobody sees what comes later."""

from __future__ import annotations

import torch

from coursekit.questions import hidden, visible


def causal_mask(T, S):
    """Return (T, S), True where a query (one of the last T places) may see a key."""
    return torch.ones(T, S, dtype=torch.bool).tril(S - T)


@visible("four queries, four keys")
def four_queries_four_keys(student):
    return student.causal_mask(4, 4)


@visible("two new queries, five keys")
def two_new_queries_five_keys(student):
    return student.causal_mask(2, 5)


@visible("the newest query alone, six keys")
def the_newest_query_alone_six_keys(student):
    return student.causal_mask(1, 6)


@hidden("one query, one key")
def causal_one(student):
    return student.causal_mask(1, 1)


@hidden("a long sequence")
def causal_long(student):
    return student.causal_mask(70, 70)


@hidden("the mask for the newest queries is the end of the mask for all")
def causal_end(student):
    return student.causal_mask(4, 9), student.causal_mask(9, 9)[5:]


@hidden("one query fewer than keys")
def causal_one_fewer(student):
    return student.causal_mask(6, 7)
