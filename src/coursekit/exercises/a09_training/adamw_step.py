"""One step of AdamW."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.a09_training.shared import READY_ADAM
from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def adamw_step(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    """Return the new weights and the new means m and v, all of the shape of w."""
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps), m, v


QUESTION = Question(
    name="adamw_step",
    title="One step of AdamW",
    points=5,
    difficulty=2,
    minutes=30,
    page="training.html#sec-training-adam",
    hint="First the new means, which you also return. Then, for this step alone, the corrected "
    "ones. Last the weights: the decay takes a share of the old w, and the quotient is "
    "subtracted. Do not write into what you were given.",
    reference=adamw_step,
    forbidden=READY_ADAM,
)


def middle(shape: tuple[int, ...] = (2, 3), seed: int = 0) -> tuple[Tensor, ...]:
    """Return weights, gradients and both means as they may be in the midst of a training."""
    w, g, m, v = (randn(*shape, seed=seed + n) for n in range(4))
    return w, g, 0.5 * m, v.square() + 0.1


def _adam_run(student: object, steps: int) -> list[Tensor]:
    """Return the weights after each of some steps, each with a gradient of its own."""
    w, m, v, seen = randn(3, seed=9), torch.zeros(3), torch.zeros(3), []
    for step in range(1, steps + 1):
        g = torch.tensor([1.0, 0.1, 10.0]) * randn(3, seed=20 + step)
        w, m, v = student.adamw_step(w, g, m, v, step, lr=0.1)
        seen.append(w.clone())
    return seen


@QUESTION.visible(says="the first step, without decay")
def the_first_step_without_decay(student):
    return student.adamw_step(
        *(torch.tensor([1.0, -2.0]), torch.tensor([0.5, -8.0])),
        *(torch.zeros(2), torch.zeros(2)),
        *(1, 0.1),
        decay=0.0,
    )


@QUESTION.visible(says="decay alone: no gradient yet")
def decay_alone_no_gradient_yet(student):
    return student.adamw_step(
        torch.tensor([1.0, -2.0, 4.0]), *torch.zeros(3, 3), 1, 0.5, decay=0.25
    )


@QUESTION.visible(says="the seventh step of a matrix", weight=2)
def the_seventh_step_of_a_matrix(student):
    return student.adamw_step(*middle(), 7, 0.1, decay=0.5)


@QUESTION.visible(says="other betas, eps of a half")
def other_betas_eps_of_a_half(student):
    return student.adamw_step(*middle((4,), seed=5), 2, 0.3, betas=(0.5, 0.75), eps=0.5, decay=0.1)


@QUESTION.visible(says="four steps in a row")
def four_steps_in_a_row(student):
    return _adam_run(student, 4)


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays_as_it(student):
    return after(student.adamw_step, *middle((3,), seed=7), 3, 0.1)


QUESTION.mistake(
    "not corrected",
    old="mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)",
    new="mean, square = m, v",
    hint="You divide m by the root of v as they are. Both began at zero and are too small at "
    "first, v more than m: divide by 1 - β₁ᵗ and 1 - β₂ᵗ.",
)

QUESTION.mistake(
    "only the mean corrected",
    old="v / (1 - betas[1] ** step)",
    new="v",
    hint="You correct m and leave v too small, which at β₂ = 0.999 makes the first step about "
    "thirty times too long. v gets a correction of its own, 1 - β₂ᵗ.",
)

QUESTION.mistake(
    "corrected for the step before",
    old="mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)",
    new=(
        "done = torch.tensor(step - 1.0)\n"
        "    mean, square = m / (1 - betas[0] ** done), v / (1 - betas[1] ** done)"
    ),
    hint="Your correction is that of the step before, t - 1, and at the first step it divides "
    "by zero. `step` counts from 1 and includes this one.",
)

QUESTION.mistake(
    "corrected for the step after",
    old="mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)",
    new="mean, square = m / (1 - betas[0] ** (step + 1)), v / (1 - betas[1] ** (step + 1))",
    hint="Your correction is that of the next step, t + 1. `step` counts from 1 already; use it "
    "as it comes.",
)

QUESTION.mistake(
    "corrected means handed on",
    old="mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)",
    new=("m, v = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)\n    mean, square = m, v"),
    hint="You return the corrected m and v, and the next step would correct them again. The "
    "correction is for this step's quotient alone; return the running means themselves.",
)

QUESTION.mistake(
    "eps inside the root",
    old="(square.sqrt() + eps)",
    new="(square + eps).sqrt()",
    hint="You add eps under the root. It is added to the root, √v̂ + eps: under it, 1e-8 would "
    "count as much as 1e-4.",
)

QUESTION.mistake(
    "eps before the correction",
    old="lr * mean / (square.sqrt() + eps)",
    new="lr * mean / ((v.sqrt() + eps) / (1 - betas[1] ** step) ** 0.5)",
    hint="You add eps to the root of the uncorrected v and correct the sum, so that eps is "
    "larger in early steps. Correct v first, then take the root, then add eps.",
)

QUESTION.mistake(
    "no root",
    old="square.sqrt()",
    new="square",
    hint="You divide by the mean square. Divide by its root: then a gradient ten times as "
    "large makes the same step.",
)

QUESTION.mistake(
    "betas changed over",
    old="m = betas[0] * m",
    new=("betas = betas[::-1]\n    m = betas[0] * m"),
    hint="The first beta is for the mean m, the second for the mean of squares v. Yours are "
    "changed over.",
)

QUESTION.mistake(
    "the new one counts most",
    old=("m = betas[0] * m + (1 - betas[0]) * g\n    v = betas[1] * v + (1 - betas[1]) * g**2"),
    new=("m = (1 - betas[0]) * m + betas[0] * g\n    v = (1 - betas[1]) * v + betas[1] * g**2"),
    hint="In your means the new gradient has the share β and the past 1 - β. It is the other "
    "way round: β of what was, 1 - β of what is new.",
)

QUESTION.mistake(
    "uphill",
    old=" - lr * mean",
    new=" + lr * mean",
    hint="You walk uphill: the step is subtracted from the weights.",
)

QUESTION.mistake(
    "decay divided too",
    old="m = betas[0] * m",
    new=("g, decay = g + decay * w, 0.0\n    m = betas[0] * m"),
    hint="You add decay · w to the gradient. Then Adam divides it like the rest, and m and v "
    "remember it. In AdamW the decay stays out of both: w - lr · decay · w.",
)

QUESTION.mistake(
    "no decay",
    old="w * (1 - lr * decay)",
    new="w",
    hint="This is Adam. AdamW also takes lr · decay · w off the weights.",
)

QUESTION.mistake(
    "decay at full rate",
    old="1 - lr * decay",
    new="1 - decay",
    hint="You shrink the weights by the factor 1 - decay at each step. It is 1 - lr · decay, so "
    "that a schedule for the rate steers the decay as well.",
)

QUESTION.mistake(
    "decay after the move",
    old="w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps)",
    new="(w - lr * mean / (square.sqrt() + eps)) * (1 - lr * decay)",
    hint="You move first and shrink the weights that have moved, so the step shrinks as well. "
    "The decay is taken of w as it was: lr · decay · w.",
)


@QUESTION.mistake(
    "changed in place",
    hint="The values are right, and the tensors that you were given have changed. Make new "
    "ones, without .mul_(), .add_() or +=.",
)
def adam_in_place(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m.mul_(betas[0]).add_((1 - betas[0]) * g)
    v.mul_(betas[1]).add_((1 - betas[1]) * g**2)
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w.mul_(1 - lr * decay).sub_(lr * mean / (square.sqrt() + eps)), m, v
