"""A learning rate that warms up and cools down."""

from __future__ import annotations

from coursekit.exercises.question import Question

READY_RATE = ("torch.optim.lr_scheduler", "coursekit")


def paper_rate(step, width, warmup=4000):
    """Return the learning rate of a step; the first one is number 1."""
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)


QUESTION = Question(
    name="paper_rate",
    title="Up along a line, down as a root",
    points=2,
    difficulty=1,
    minutes=10,
    page="training.html#sec-training-warmup",
    hint="Two curves, one rising and one falling. Take the lower one, and multiply it by what the "
    "width says. ** is the power, and min takes two numbers.",
    reference=paper_rate,
    forbidden=READY_RATE,
)


@QUESTION.visible(says="width 4 and a warm-up of 4, step by step")
def width_4_and_a_warm_up(student):
    return [student.paper_rate(step, 4, 4) for step in range(1, 10)]


@QUESTION.visible(says="around the peak of the paper's base model", tolerance=1e-9)
def around_the_peak_of_the_papers(student):
    return [student.paper_rate(step, 512) for step in (3999, 4000, 4001)]


@QUESTION.visible(says="the beginning and the end of its training", tolerance=1e-9)
def the_beginning_and_the_end_of(student):
    return [student.paper_rate(step, 512) for step in (1, 100, 100_000)]


@QUESTION.visible(says="a warm-up of one step")
def a_warm_up_of_one_step(student):
    return student.paper_rate(1, 9, 1)


QUESTION.mistake(
    "the larger of the two",
    old="min(",
    new="max(",
    hint="You take the larger of the two curves, so the rate is highest at step 1 and grows "
    "without end later. The lower one counts: min.",
)

QUESTION.mistake(
    "times the root of the width",
    old="width**-0.5",
    new="width**0.5",
    hint="Wider models get larger rates in yours. The factor is width^-0.5, one over the root.",
)

QUESTION.mistake(
    "width forgotten",
    old="width**-0.5 * ",
    new="",
    hint="The shape is right, the height is not: multiply by width^-0.5.",
)

QUESTION.mistake(
    "counted from 0",
    old="return width**-0.5 * min(step**-0.5",
    new=("step = step - 1\n    return width**-0.5 * min(max(step, 1) ** -0.5"),
    hint="Your first step has a rate of 0, as if steps were counted from 0. The first is number "
    "1: use `step` as it comes.",
)

QUESTION.mistake(
    "one step ahead",
    old="return width",
    new=("step = step + 1\n    return width"),
    hint="You are one step ahead: you add 1 to a number that counts from 1 already.",
)

QUESTION.mistake(
    "no warm-up",
    old="min(step**-0.5, step * warmup**-1.5)",
    new="step**-0.5",
    hint="Yours falls from the first step on. Up to step `warmup` the other curve is the lower "
    "one, the line step · warmup^-1.5.",
)

QUESTION.mistake(
    "stays at the peak",
    old="min(step**-0.5",
    new="min(warmup**-0.5",
    hint="Your warm-up is right, and then the rate stays where it is. From there it falls, as "
    "step^-0.5.",
)

QUESTION.mistake(
    "too steep",
    old="warmup**-1.5",
    new="warmup**-0.5",
    hint="Your line is too steep: it crosses the other curve before step `warmup`. Its slope "
    "is warmup^-1.5, so that the two meet at exactly that step.",
)

QUESTION.mistake(
    "falls as 1/step",
    old="min(step**-0.5",
    new="min(warmup**0.5 / step",
    hint="After the peak you fall as 1/step. The paper's rate falls as 1/√step: at four times "
    "the warm-up it is still half of the peak.",
)
