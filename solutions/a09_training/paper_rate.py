"""A learning rate that warms up and cools down."""

from __future__ import annotations

from coursetools.questions import hidden, visible


def paper_rate(step, width, warmup=4000):
    """Return the learning rate of a step; the first one is number 1."""
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)


@visible("width 4 and a warm-up of 4, step by step")
def width_4_and_a_warm_up(student):
    return [student.paper_rate(step, 4, 4) for step in range(1, 10)]


@visible("around the peak of the paper's base model", tolerance=1e-9)
def around_the_peak_of_the_papers(student):
    return [student.paper_rate(step, 512) for step in (3999, 4000, 4001)]


@visible("the beginning and the end of its training", tolerance=1e-9)
def the_beginning_and_the_end_of(student):
    return [student.paper_rate(step, 512) for step in (1, 100, 100_000)]


@visible("a warm-up of one step")
def a_warm_up_of_one_step(student):
    return student.paper_rate(1, 9, 1)


@hidden("the two curves meet where the warm-up ends", weight=2)
def rate_meets(student):
    rates = [student.paper_rate(step, 64, 50) for step in range(1, 201)]
    assert rates.index(max(rates)) == 49
    return rates


@hidden("four times the width, half the rate")
def rate_width(student):
    narrow, wide = student.paper_rate(700, 256, 900), student.paper_rate(700, 1024, 900)
    assert abs(narrow - 2 * wide) < 1e-9
    return narrow, wide


@hidden("four times the warm-up, a lower peak", tolerance=1e-9)
def rate_peaks(student):
    return [student.paper_rate(warmup, 512, warmup) for warmup in (1000, 4000, 16000)]


@hidden("a warm-up that is never finished", tolerance=1e-12)
def rate_long(student):
    return [student.paper_rate(step, 100, 1_000_000) for step in (1, 10, 1000)]


@hidden("the paper's big model, from the first step to the last", tolerance=1e-9)
def rate_big(student):
    return [student.paper_rate(step, 1024) for step in (1, 2500, 4500, 16_000, 300_000)]
