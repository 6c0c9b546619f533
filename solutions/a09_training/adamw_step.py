"""One step of AdamW."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def adamw_step(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    """Return the new weights and the new means m and v, all of the shape of w."""
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps), m, v


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


@visible("the first step, without decay")
def the_first_step_without_decay(student):
    return student.adamw_step(
        *(torch.tensor([1.0, -2.0]), torch.tensor([0.5, -8.0])),
        *(torch.zeros(2), torch.zeros(2)),
        *(1, 0.1),
        decay=0.0,
    )


@visible("decay alone: no gradient yet")
def decay_alone_no_gradient_yet(student):
    return student.adamw_step(
        torch.tensor([1.0, -2.0, 4.0]), *torch.zeros(3, 3), 1, 0.5, decay=0.25
    )


@visible("the seventh step of a matrix", weight=2)
def the_seventh_step_of_a_matrix(student):
    return student.adamw_step(*middle(), 7, 0.1, decay=0.5)


@visible("other betas, eps of a half")
def other_betas_eps_of_a_half(student):
    return student.adamw_step(*middle((4,), seed=5), 2, 0.3, betas=(0.5, 0.75), eps=0.5, decay=0.1)


@visible("four steps in a row")
def four_steps_in_a_row(student):
    return _adam_run(student, 4)


@visible("what was given stays as it was")
def what_was_given_stays_as_it(student):
    return after(student.adamw_step, *middle((3,), seed=7), 3, 0.1)


def amid(*shape, seed=60, dtype=torch.float32):
    """Return what an optimiser holds after some steps: the second mean is never negative."""
    w, g, m, v = (randn(*shape, seed=seed + n, dtype=dtype) for n in range(4))
    return w, g, m / 3, v * v + 0.05


def run(student, gradients, **settings):
    """Return what each of some steps gives, from zero means on."""
    w = randn(*gradients[0].shape, seed=70, dtype=gradients[0].dtype)
    m, v, seen = torch.zeros_like(w), torch.zeros_like(w), []
    for number, g in enumerate(gradients, 1):
        w, m, v = student.adamw_step(w, g, m, v, number, **settings)
        seen.append((w.clone(), m.clone(), v.clone()))
    return seen


@hidden("the first move does not know how large a gradient is", weight=2)
def adam_scale(student):
    def move(scale):
        w, g = randn(6, seed=61), scale * (randn(6, seed=62) + 3)
        return student.adamw_step(w, g, torch.zeros(6), torch.zeros(6), 1, 0.01)[0]

    small, large = move(1.0), move(1000.0)
    assert (small - large).abs().max() < 1e-5
    return small, large


@hidden("thirty steps in a row", weight=2)
def adam_long(student):
    gradients = [randn(2, 5, seed=100 + n) * (1 + n % 4) for n in range(30)]
    return run(student, gradients, lr=0.05, decay=0.2)[9::10]


@hidden("double precision", tolerance=1e-11)
def adam_double(student):
    gradients = [randn(4, seed=140 + n, dtype=torch.float64) for n in range(3)]
    return run(student, gradients, lr=0.3, eps=1e-3)


@hidden("gradients that are gone: the means fade, the weights go on")
def adam_fades(student):
    w, g, m, v = amid(3, 2)
    return student.adamw_step(w, torch.zeros_like(g), m, v, 12, 0.1, decay=0.0)


@hidden("decay does not depend on the gradients")
def adam_decay(student):
    bare = student.adamw_step(*amid(2, 3, 2, seed=80), 5, 0.2, decay=0.0)[0]
    with_decay = student.adamw_step(*amid(2, 3, 2, seed=80), 5, 0.2, decay=0.3)[0]
    assert (bare - with_decay - 0.06 * amid(2, 3, 2, seed=80)[0]).abs().max() < 1e-5
    return with_decay


@hidden("what it does unless told otherwise")
def adam_defaults(student):
    return student.adamw_step(*amid(5, seed=90), 2, 1.0)


@hidden("the eps unless told otherwise, and gradients as small as it")
def adam_default_eps(student):
    w, m, v = randn(4, seed=97), torch.zeros(4), torch.zeros(4)
    return student.adamw_step(w, 1e-8 * randn(4, seed=98), m, v, 1, 1.0)


@hidden("no memory at all: both betas zero")
def adam_forgets(student):
    return student.adamw_step(*amid(4, seed=95), 9, 0.1, betas=(0.0, 0.0), eps=0.25)


@hidden("what was given is left as it was")
def adam_keeps(student):
    return after(student.adamw_step, *amid(2, 4, seed=99), 4, 0.2)


@hidden("after a million steps nothing is left to correct")
def adam_late(student):
    return student.adamw_step(*amid(3, seed=98), 1_000_000, 0.1)
