"""The factor that brings the variance of a score to 1."""

from __future__ import annotations

import math

from coursekit.check.probe import randn
from coursetools.questions import hidden, visible


def score_factor(width, q_variance, k_variance):
    """Return the factor that brings the variance of q · k to 1."""
    return 1 / math.sqrt(width * q_variance * k_variance)


@visible("variance 1, width 64")
def variance_1_width_64(student):
    return student.score_factor(64, 1.0, 1.0)


@visible("variances 4 and 9, width 16")
def variances_4_and_9_width_16(student):
    return student.score_factor(16, 4.0, 9.0)


@visible("small variances, width 300")
def small_variances_width_300(student):
    return student.score_factor(300, 0.5, 0.02)


@hidden("a width of one")
def factor_narrow(student):
    return student.score_factor(1, 2.0, 3.0)


@hidden("a very wide layer", tolerance=1e-9)
def factor_wide(student):
    return student.score_factor(2**20, 1.0, 1.0)


@hidden("queries and keys play the same part")
def factor_symmetric(student):
    one, other = student.score_factor(48, 0.3, 5.0), student.score_factor(48, 5.0, 0.3)
    assert math.isclose(one, other, rel_tol=1e-9)
    return one


@hidden("random scores really get variance 1")
def factor_measured(student):
    q, k = 3 * randn(20_000, 32), 0.5 * randn(20_000, 32, seed=1)
    scores = (q * k).sum(dim=-1) * student.score_factor(32, 9.0, 0.25)
    assert abs(scores.var().item() - 1) < 0.05
