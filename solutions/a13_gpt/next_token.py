"""From the scores of all tokens to the shares that the next one is drawn by."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def next_token(logits, temperature=1.0, top_k=None, top_p=1.0):
    """logits (B, V) -> the probability of each token to be the next, (B, V)."""
    ranked, order = (logits / temperature).sort(dim=-1, descending=True)  # (B, V)
    if top_k is not None:
        ranked[:, top_k:] = -torch.inf
    shares = ranked.softmax(dim=-1)  # (B, V)
    before = torch.zeros_like(shares)
    before[:, 1:] = shares.cumsum(dim=-1)[:, :-1]  # what the likelier ones have together
    kept = shares * ((before < top_p) | (top_p == 1.0))
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, order, kept)


@visible("the temperature alone: 0.5, 1 and 2")
def temperature_alone(student):
    return [student.next_token(2 * randn(2, 5, seed=1), temperature=t) for t in (0.5, 1.0, 2.0)]


@visible("top-k alone: 1, 2, as many as there are, and more")
def top_k_alone(student):
    return [student.next_token(2 * randn(3, 6, seed=2), top_k=k) for k in (1, 2, 6, 9)]


@visible("top-p alone: rows with nuclei of several sizes")
def top_p_alone(student):
    rows = [
        [0.05, 0.45, 0.08, 0.3, 0.12],
        [0.04, 0.91, 0.03, 0.015, 0.005],
        [0.2, 0.22, 0.24, 0.18, 0.16],
    ]
    return [student.next_token(torch.tensor(rows).log(), top_p=p) for p in (0.2, 0.7, 0.97)]


@visible("all three at once", weight=2)
def all_three(student):
    drawn, known = 2 * randn(3, 9, seed=5), torch.tensor([[0.3, 0.26, 0.24, 0.12, 0.08]]).log()
    return [
        student.next_token(drawn.clone(), 0.7, 4, 0.9),
        student.next_token(drawn.clone(), 1.6, 5, 0.8),
        student.next_token(known, 1.0, 3, 0.68),
    ]


@visible("what was given stays as it was; double precision", tolerance=1e-9)
def what_was_given_stays(student):
    return after(student.next_token, randn(2, 7, seed=6, dtype=torch.float64), 0.8, 5, 0.85)


@hidden("many rows, many tokens, several settings", weight=2)
def next_many(student):
    settings = [(0.3, 10, 0.95), (1.0, None, 0.5), (2.5, 40, 0.99), (1.3, 7, 1.0), (0.9, 300, 0.8)]
    given = [(3 * randn(16, 200, seed=200 + n), one) for n, one in enumerate(settings)]
    return [student.next_token(logits, *one) for logits, one in given]


@hidden("one setting at a time, and none")
def next_alone(student):
    logits = 2 * randn(3, 8, seed=226)
    settings = {}, {"temperature": 0.6}, {"top_k": 3}, {"top_p": 0.7}
    return [student.next_token(logits.clone(), **one) for one in settings]


@hidden("a flat row beside a steep one")
def next_flat(student):
    logits = torch.stack([randn(12, seed=211) / 10, 9 * randn(12, seed=212)])
    return [student.next_token(logits.clone(), top_p=p) for p in (0.05, 0.5, 0.93)]


@hidden("a temperature near 0, and a very high one")
def next_extreme(student):
    logits = randn(3, 8, seed=213)
    return [student.next_token(logits.clone(), t, 6, 0.9) for t in (0.01, 0.1, 50.0)]


@hidden("logits in the thousands")
def next_thousands(student):
    logits = 2 * randn(4, 9, seed=224)  # whose nuclei end far from 0.9
    return [student.next_token(logits + shift, 0.9, 5, 0.9) for shift in (-5000.0, 5000.0)]


@hidden("top-k before top-p: what top-k has left decides", weight=2)
def next_order(student):
    rows = torch.tensor([[0.22, 0.3, 0.18, 0.2, 0.1], [0.1, 0.12, 0.4, 0.2, 0.18]]).log()
    return [student.next_token(rows.clone(), 1.0, k, p) for k, p in ((2, 0.55), (3, 0.7), (4, 0.6))]


@hidden("a vocabulary of one token, and of two")
def next_small(student):
    pair = torch.tensor([[0.2, 1.3], [2.0, -1.0]])
    return student.next_token(torch.ones(2, 1), 0.5, 3, 0.4), student.next_token(pair, 2.0, 2, 0.6)


@hidden("double precision, the logits as they were", tolerance=1e-10)
def next_double(student):
    return after(student.next_token, 3 * randn(5, 30, seed=215, dtype=torch.float64), 1.2, 20, 0.9)
