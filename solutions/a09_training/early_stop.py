"""When it is enough, and which weights are kept."""

from __future__ import annotations

import math

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def early_stop(losses, patience):
    """Return which place in losses is kept, and at which place the training stops."""
    kept = 0
    for now, loss in enumerate(losses):
        if loss < losses[kept]:
            kept = now
        elif now - kept >= patience:
            return kept, now
    return kept, len(losses) - 1


@visible("it would have become better")
def it_would_have_become_better(student):
    return student.early_stop([3.0, 2.0, 2.5, 2.2, 1.0], 2)


@visible("the end comes before patience runs out")
def the_end_comes_before_patience_runs(student):
    return student.early_stop([3.0, 2.0, 1.0, 1.5, 1.2], 3)


@visible("up and down")
def up_and_down(student):
    return student.early_stop([5.0, 4.0, 4.5, 3.0, 3.5, 2.5, 2.75, 2.7, 2.6, 2.0], 3)


@visible("the same loss again and again")
def the_same_loss_again_and_again(student):
    return student.early_stop([2.0, 1.0, 1.0, 1.0, 0.5], 2)


@visible("a patience of one")
def a_patience_of_one(student):
    return student.early_stop([1.0, 0.5, 0.75, 0.25], 1)


@hidden("a single evaluation")
def stop_single(student):
    return student.early_stop([4.5], 1)


@hidden("it gets better all the time")
def stop_falls(student):
    return student.early_stop([1 / (n + 1) for n in range(25)], 2)


@hidden("it never gets better")
def stop_rises(student):
    return [student.early_stop([1.0 + n / 10 for n in range(12)], patience) for patience in (1, 5)]


@hidden("more patience than evaluations")
def stop_patient(student):
    return student.early_stop([2.0, 1.5, 1.75, 1.6, 1.9], 100)


@hidden("patience runs out on the very last evaluation")
def stop_at_end(student):
    return student.early_stop([3.0, 2.0, 2.25, 2.5, 2.125], 3)


@hidden("a training that falls apart: not a number", weight=2)
def stop_nan(student):
    return student.early_stop([2.0, 1.0, 0.5, math.nan, math.nan, math.nan, 0.1], 3)


@hidden("many histories, each with several lengths of patience", weight=2)
def stop_many(student):
    found = []
    for seed in range(8):
        losses = [round(float(x), 1) for x in randn(20, seed=300 + seed).abs()]
        found += [student.early_stop(losses, patience) for patience in (1, 2, 4, 7)]
    return found


@hidden("the losses stay as they were")
def stop_keeps(student):
    return after(student.early_stop, [2.5, 1.5, 2.0, 1.75], 2)
