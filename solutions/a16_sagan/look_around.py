"""SAGAN's attention: every place of a map looks at every other one, and γ fades it in."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def look_around(x, f, g, h, v, gamma):
    """x (B, C, R, L), f and g (K, C), h (M, C), v (C, M), gamma -> y like x, shares (B, N, N)."""
    places = x.flatten(2).mT  # (B, N, C)
    keys, queries, values = places @ f.T, places @ g.T, places @ h.T  # (B, N, K), twice, (B, N, M)
    shares = (queries @ keys.mT).softmax(dim=-1)  # (B, N, N)
    seen = shares @ values @ v.T  # (B, N, C)
    return x + gamma * seen.mT.reshape(x.shape), shares


def asked(batch, channels, rows, columns, seed, narrow=1, middle=2, gamma=0.4, scale=1.0):
    """Return a map, the matrices f, g, h and v, and γ, in double precision."""
    shapes = (narrow, channels), (narrow, channels), (middle, channels), (channels, middle)
    x = randn(batch, channels, rows, columns, seed=seed, dtype=torch.float64)
    more = [
        scale * randn(*shape, seed=seed + 1 + n, dtype=torch.float64)
        for n, shape in enumerate(shapes)
    ]
    return [x, *more, torch.tensor(gamma, dtype=torch.float64)]


def single(given):
    return [one.float() for one in given]


@visible("two channels, two places")
def two_places(student):
    x = torch.tensor([[[[1.0, 0.0]], [[0.0, 2.0]]]])
    f, g, one = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), torch.eye(2)
    return student.look_around(x, f, g, one, one, torch.tensor(0.5))


@visible("three maps with more rows than columns", weight=2)
def three_maps(student):
    return student.look_around(*single(asked(3, 4, 3, 2, seed=10, narrow=2, middle=3)))


@visible("γ = 0: the map comes back, and γ has a gradient")
def at_the_start(student):
    return gradients(student.look_around, *single(asked(2, 3, 2, 3, seed=30, gamma=0.0)))


@visible("gradients for the map, all four matrices and γ")
def with_gradients(student):
    return gradients(student.look_around, *single(asked(2, 3, 1, 4, seed=40, gamma=-1.3)))


@visible("scores in the hundreds", weight=0.5)
def large_scores(student):
    x, f, g, *more = asked(1, 3, 2, 3, seed=50)
    return student.look_around(x, 20 * f, 20 * g, *more)


@visible("what was given stays as it was; double precision", tolerance=1e-10)
def what_was_given_stays(student):
    return after(student.look_around, *asked(2, 2, 2, 3, seed=60))


@hidden("a larger map", weight=2)
def look_large(student):
    given = asked(2, 8, 5, 7, seed=401, narrow=2, middle=4, scale=0.5)
    return student.look_around(*single(given))


@hidden("one row, one column, one place")
def look_thin(student):
    return [
        student.look_around(*asked(2, 3, rows, columns, seed=410 + rows))
        for rows, columns in ((1, 5), (6, 1), (1, 1))
    ]


@hidden("one channel")
def look_one_channel(student):
    return student.look_around(*asked(2, 1, 2, 3, seed=420, narrow=3, middle=2))


@hidden("everything of one size: gradients", weight=2)
def look_gradients(student):
    return gradients(student.look_around, *asked(3, 3, 3, 1, seed=430, narrow=3, middle=3))


@hidden("gradients where γ is 0")
def look_start(student):
    return gradients(student.look_around, *asked(1, 4, 2, 2, seed=440, gamma=0.0))


@hidden("negative γ, double precision", tolerance=1e-12)
def look_negative(student):
    return student.look_around(*asked(2, 4, 2, 3, seed=450, gamma=-2.5))


@hidden("scores in the thousands: gradients")
def look_huge(student):
    x, f, g, *more = asked(2, 2, 2, 2, seed=460, narrow=2)
    return gradients(student.look_around, x, 40 * f, 40 * g, *more)


@hidden("a map without any difference")
def look_flat(student):
    _, *more = asked(1, 3, 2, 4, seed=470)
    return student.look_around(torch.full((1, 3, 2, 4), 0.5, dtype=torch.float64), *more)


@hidden("what was given is left as it was", weight=0.5)
def look_keeps(student):
    return after(student.look_around, *asked(2, 3, 2, 2, seed=480))
