"""How far RAdam trusts what it has seen."""

from __future__ import annotations

import math

from coursetools.questions import hidden, visible


def trust(step, beta2=0.999):
    """Return how many squares are known, and RAdam's factor, None where it does not divide."""
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, None
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, math.sqrt(square)


@visible("beta 0.5, steps 1 and 2")
def beta_05_steps_1_and_2(student):
    return [student.trust(t, 0.5) for t in (1, 2)]


@visible("beta 0.9, step by step")
def beta_09_step_by_step(student):
    return [student.trust(t, 0.9) for t in range(1, 9)]


@visible("beta 0.999, the first ten steps")
def beta_0999_the_first_ten_steps(student):
    return [student.trust(t) for t in range(1, 11)]


@visible("beta 0.98, a hundred and a thousand steps")
def beta_098_a_hundred_and_a(student):
    return [student.trust(t, 0.98) for t in (100, 1000)]


@hidden("it never falls, and ends at one", weight=2)
def trust_grows(student):
    seen = [student.trust(step, 0.99)[1] for step in range(6, 900, 40)]
    assert seen == sorted(seen) and abs(seen[-1] - 1) < 1e-3
    return seen


@hidden("a memory so short that it never divides")
def trust_short(student):
    return [student.trust(step, 0.6) for step in (1, 3, 50)]


@hidden("the step on which it begins to divide, for several betas", weight=2)
def trust_begins(student):
    first = []
    for beta2 in (0.8, 0.9, 0.95, 0.98, 0.9999):
        steps = range(1, 100)
        first.append(next(t for t in steps if student.trust(t, beta2)[1] is not None))
    return first


@hidden("a long memory, many steps")
def trust_long(student):
    return [student.trust(10**power, 0.9999) for power in (2, 3, 4, 5)]


@hidden("the first step knows one square, whatever the memory")
def trust_first(student):
    known = [student.trust(1, beta2) for beta2 in (0.3, 0.75, 0.97, 0.995)]
    assert all(abs(rho - 1) < 1e-6 and factor is None for rho, factor in known)
    return known


@hidden("the memory unless told otherwise")
def trust_default(student):
    return [student.trust(step) for step in (3, 20, 400, 5000)]
