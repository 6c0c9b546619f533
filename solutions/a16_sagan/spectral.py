"""A convolution divided by the most that it can stretch, found by a few multiplications."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def spectral(weight, u, steps=1):
    """weight (O, I, kh, kw), u (O,), rounds -> weight / its largest singular value, the new u."""
    rows = weight.flatten(1)  # (O, I kh kw)
    with torch.no_grad():
        for _ in range(steps):
            v = rows.T @ u  # (I kh kw,)
            v = v / v.norm()
            u = rows @ v  # (O,)
            u = u / u.norm()
    sigma = u @ rows @ v
    return weight / sigma, u


@visible("a diagonal: one round from (1, 1)")
def a_diagonal(student):
    return student.spectral(torch.tensor([[3.0, 0.0], [0.0, 4.0]])[..., None, None], torch.ones(2))


@visible("a convolution, and one round", weight=2)
def one_round(student):
    return student.spectral(randn(4, 3, 3, 3, seed=1), randn(4, seed=2))


@visible("three rounds, and sixty")
def many_rounds(student):
    return [student.spectral(randn(5, 2, 2, 2, seed=7), randn(5, seed=8), n) for n in (3, 60)]


@visible("gradients: for the weight, none for u")
def with_gradients(student):
    return gradients(student.spectral, randn(3, 2, 2, 2, seed=11), randn(3, seed=12))


@visible("weights of one in a million, and a linear layer")
def small_and_linear(student):
    tiny = student.spectral(1e-6 * randn(3, 2, 3, 3, seed=13), randn(3, seed=14))
    return tiny, student.spectral(randn(4, 6, seed=15), randn(4, seed=16), 5)


@visible("what was given stays as it was; double precision", tolerance=1e-10)
def what_was_given_stays(student):
    given = randn(3, 4, 2, 2, seed=17, dtype=torch.float64), randn(3, seed=18, dtype=torch.float64)
    return after(student.spectral, *given)


@hidden("a larger convolution", weight=2)
def spectral_large(student):
    return student.spectral(randn(16, 8, 3, 3, seed=501), randn(16, seed=502))


@hidden("one round to ten of them", weight=2)
def spectral_rounds(student):
    weight, u = randn(4, 3, 1, 2, seed=503), randn(4, seed=504)
    return [student.spectral(weight, u, steps) for steps in range(1, 11)]


@hidden("one output channel, and one number")
def spectral_one(student):
    return student.spectral(randn(1, 3, 2, 2, seed=505), randn(1, seed=506)), student.spectral(
        randn(1, 1, 1, 1, seed=507), randn(1, seed=508)
    )


@hidden("gradients where rows and columns are as many, five rounds")
def spectral_gradients(student):
    given = [randn(*shape, seed=509, dtype=torch.float64) for shape in ((4, 4, 1, 1), (4,))]
    return gradients(student.spectral, *given, 5)


@hidden("gradients of a convolution after one round", weight=2)
def spectral_one_round(student):
    given = [randn(*shape, seed=511, dtype=torch.float64) for shape in ((5, 2, 3, 2), (5,))]
    return gradients(student.spectral, *given)


@hidden("a training: the weight moves, u goes on")
def spectral_training(student):
    u, found = randn(3, seed=513), []
    for n in range(5):
        weight = randn(3, 2, 2, 2, seed=514) + 0.1 * n * randn(3, 2, 2, 2, seed=515)
        scaled, u = student.spectral(weight, u)
        found.append(scaled)
    return found, u


@hidden("a start of any length, and weights of any size")
def spectral_sizes(student):
    weight, u = randn(3, 2, 2, 1, seed=517), randn(3, seed=518)
    return [
        student.spectral(weight * size, u * length, 2)
        for size, length in ((1e-6, 1.0), (1e4, 100.0), (0.01, 0.01))
    ]


@hidden("linear layers, double precision", tolerance=1e-12)
def spectral_linear(student):
    shapes = (3, 7), (5, 2), (4, 4)
    return [
        student.spectral(
            randn(*shape, seed=519 + n, dtype=torch.float64),
            randn(shape[0], seed=522 + n, dtype=torch.float64),
            3,
        )
        for n, shape in enumerate(shapes)
    ]


@hidden("what was given is left as it was", weight=0.5)
def spectral_keeps(student):
    return after(student.spectral, randn(2, 3, 3, 3, seed=527), randn(2, seed=528), 2)
