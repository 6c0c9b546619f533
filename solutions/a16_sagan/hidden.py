"""The hidden cases of assignment 16: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- reach


def pile(depth, seed):
    """Return layers of all kinds: kernels to 6, strides to 3, dilations to 3, paddings to 4."""
    dice = torch.Generator().manual_seed(8000 + seed)
    highest = (6, 3, 3, 5)
    lowest = (1, 1, 1, 0)
    return [
        tuple(
            int(torch.randint(low, high + (low > 0), (), generator=dice))
            for low, high in zip(lowest, highest)
        )
        for _ in range(depth)
    ]


@hidden("reach", says="many kinds of layers", weight=2)
def reach_many(student):
    return [student.reach(pile(depth, depth)) for depth in range(1, 9)]


@hidden("reach", says="many kinds of layers, another place", weight=2)
def reach_places(student):
    return [student.reach(pile(4, 20 + place), place) for place in (1, 2, 9, 100)]


@hidden("reach", says="a discriminator that halves the picture four times")
def reach_halves(student):
    return student.reach([(4, 2, 1, 1)] * 4), student.reach([(4, 2, 1, 1)] * 4 + [(4, 1, 1, 0)], 2)


@hidden("reach", says="pooling alone, without overlap and with it")
def reach_pooling(student):
    return student.reach([(2, 2, 1, 0)] * 3, 5), student.reach([(3, 2, 1, 1)] * 3, 5)


@hidden("reach", says="dilations that double")
def reach_doubling(student):
    return [student.reach([(2, 1, 2**n, 0) for n in range(depth)]) for depth in (4, 7)]


@hidden("reach", says="much padding")
def reach_padding(student):
    return [student.reach([(3, 2, 1, 6), (5, 3, 2, 9)], place) for place in (0, 1, 4)]


@hidden("reach", says="kernels of one place")
def reach_ones(student):
    return student.reach([(1, 1, 1, 0)] * 4), student.reach([(1, 3, 2, 1), (2, 1, 1, 0)], 2)


@hidden("reach", says="the list is left as it was", weight=0.5)
def reach_keeps(student):
    return after(student.reach, pile(5, 40), 3)


# --- look_around


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


@hidden("look_around", says="a larger map", weight=2)
def look_large(student):
    given = asked(2, 8, 5, 7, seed=401, narrow=2, middle=4, scale=0.5)
    return student.look_around(*single(given))


@hidden("look_around", says="one row, one column, one place")
def look_thin(student):
    return [
        student.look_around(*asked(2, 3, rows, columns, seed=410 + rows))
        for rows, columns in ((1, 5), (6, 1), (1, 1))
    ]


@hidden("look_around", says="one channel")
def look_one_channel(student):
    return student.look_around(*asked(2, 1, 2, 3, seed=420, narrow=3, middle=2))


@hidden("look_around", says="everything of one size: gradients", weight=2)
def look_gradients(student):
    return gradients(student.look_around, *asked(3, 3, 3, 1, seed=430, narrow=3, middle=3))


@hidden("look_around", says="gradients where γ is 0")
def look_start(student):
    return gradients(student.look_around, *asked(1, 4, 2, 2, seed=440, gamma=0.0))


@hidden("look_around", says="negative γ, double precision", tolerance=1e-12)
def look_negative(student):
    return student.look_around(*asked(2, 4, 2, 3, seed=450, gamma=-2.5))


@hidden("look_around", says="scores in the thousands: gradients")
def look_huge(student):
    x, f, g, *more = asked(2, 2, 2, 2, seed=460, narrow=2)
    return gradients(student.look_around, x, 40 * f, 40 * g, *more)


@hidden("look_around", says="a map without any difference")
def look_flat(student):
    _, *more = asked(1, 3, 2, 4, seed=470)
    return student.look_around(torch.full((1, 3, 2, 4), 0.5, dtype=torch.float64), *more)


@hidden("look_around", says="what was given is left as it was", weight=0.5)
def look_keeps(student):
    return after(student.look_around, *asked(2, 3, 2, 2, seed=480))


# --- spectral


@hidden("spectral", says="a larger convolution", weight=2)
def spectral_large(student):
    return student.spectral(randn(16, 8, 3, 3, seed=501), randn(16, seed=502))


@hidden("spectral", says="one round to ten of them", weight=2)
def spectral_rounds(student):
    weight, u = randn(4, 3, 1, 2, seed=503), randn(4, seed=504)
    return [student.spectral(weight, u, steps) for steps in range(1, 11)]


@hidden("spectral", says="one output channel, and one number")
def spectral_one(student):
    return student.spectral(randn(1, 3, 2, 2, seed=505), randn(1, seed=506)), student.spectral(
        randn(1, 1, 1, 1, seed=507), randn(1, seed=508)
    )


@hidden("spectral", says="gradients where rows and columns are as many, five rounds")
def spectral_gradients(student):
    given = [randn(*shape, seed=509, dtype=torch.float64) for shape in ((4, 4, 1, 1), (4,))]
    return gradients(student.spectral, *given, 5)


@hidden("spectral", says="gradients of a convolution after one round", weight=2)
def spectral_one_round(student):
    given = [randn(*shape, seed=511, dtype=torch.float64) for shape in ((5, 2, 3, 2), (5,))]
    return gradients(student.spectral, *given)


@hidden("spectral", says="a training: the weight moves, u goes on")
def spectral_training(student):
    u, found = randn(3, seed=513), []
    for n in range(5):
        weight = randn(3, 2, 2, 2, seed=514) + 0.1 * n * randn(3, 2, 2, 2, seed=515)
        scaled, u = student.spectral(weight, u)
        found.append(scaled)
    return found, u


@hidden("spectral", says="a start of any length, and weights of any size")
def spectral_sizes(student):
    weight, u = randn(3, 2, 2, 1, seed=517), randn(3, seed=518)
    return [
        student.spectral(weight * size, u * length, 2)
        for size, length in ((1e-6, 1.0), (1e4, 100.0), (0.01, 0.01))
    ]


@hidden("spectral", says="linear layers, double precision", tolerance=1e-12)
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


@hidden("spectral", says="what was given is left as it was", weight=0.5)
def spectral_keeps(student):
    return after(student.spectral, randn(2, 3, 3, 3, seed=527), randn(2, seed=528), 2)


# --- hinge


def judged(reals, fakes, seed, scale=2.0, dtype=torch.float32):
    return [scale * randn(n, seed=seed + n, dtype=dtype) for n in (reals, fakes)]


@hidden("hinge", says="many scores", weight=2)
def hinge_many(student):
    return student.hinge(*judged(64, 48, seed=601))


@hidden("hinge", says="one of each, on all sides")
def hinge_one(student):
    marks = (-1.5, -0.5, 0.5, 1.5)
    return [student.hinge(torch.tensor([r]), torch.tensor([f])) for r in marks for f in marks]


@hidden("hinge", says="one score that is very good and one that is very bad", weight=2)
def hinge_mixed(student):
    return student.hinge(torch.tensor([50.0, -50.0]), torch.tensor([-70.0, 40.0]))


@hidden("hinge", says="gradients", weight=2)
def hinge_gradients(student):
    return gradients(student.hinge, *judged(7, 7, seed=603, dtype=torch.float64))


@hidden("hinge", says="a column of scores, and a map of them: gradients")
def hinge_maps(student):
    real, fake = judged(12, 24, seed=605)
    return gradients(student.hinge, real[:, None], fake.reshape(2, 1, 3, 4))


@hidden("hinge", says="double precision", tolerance=1e-12)
def hinge_double(student):
    return student.hinge(*judged(5, 6, seed=607, dtype=torch.float64))


@hidden("hinge", says="everything far enough, nothing left to learn")
def hinge_done(student):
    return gradients(student.hinge, torch.tensor([1.5, 9.0]), torch.tensor([-2.0, -1.25, -4.0]))


@hidden("hinge", says="what was given is left as it was", weight=0.5)
def hinge_keeps(student):
    return after(student.hinge, *judged(4, 3, seed=609))


# --- frechet


def features(count, width, seed, wide=1.0, far=0.0):
    """Return features whose axes lie anywhere."""
    turn = randn(width, width, seed=seed)
    return wide * randn(count, width, seed=seed + 1) @ turn + far * randn(width, seed=seed + 2)


@hidden("frechet", says="many pictures, many features", weight=2)
def frechet_many(student):
    first, second = features(200, 12, 701), features(150, 12, 704, far=1.0)
    return student.frechet(first, second), student.frechet(second, first)


@hidden("frechet", says="a cloud and one that is twice as wide")
def frechet_wide(student):
    cloud = features(20, 3, 707)
    return [student.frechet(cloud, scale * cloud) for scale in (2.0, 0.5, -1.0)]


@hidden("frechet", says="the same cloud, turned", weight=2)
def frechet_turned(student):
    cloud = torch.tensor([4.0, 1.0, 0.2]) * randn(30, 3, seed=710)
    turn = torch.linalg.qr(randn(3, 3, seed=711)).Q
    return [student.frechet(cloud, cloud @ turn), student.frechet(cloud, cloud.flip(1))]


@hidden("frechet", says="one feature, and two pictures")
def frechet_one(student):
    return [
        student.frechet(features(9, 1, 712), features(5, 1, 715, far=2.0)),
        student.frechet(features(2, 2, 718), features(2, 2, 721)),
    ]


@hidden("frechet", says="far fewer pictures than features")
def frechet_few(student):
    return [student.frechet(features(n, 20, 724), features(6, 20, 727)) for n in (3, 8, 40)]


@hidden("frechet", says="a feature that is always the same")
def frechet_constant(student):
    first, second = features(12, 4, 730), features(14, 4, 733)
    first[:, 1], second[:, 1] = 2.0, -1.0
    return student.frechet(first, second)


@hidden("frechet", says="features far from zero, in single precision")
def frechet_far(student):
    return student.frechet(features(25, 3, 736) + 5000.0, features(35, 3, 739) + 5001.0)


@hidden("frechet", says="what was given is left as it was", weight=0.5)
def frechet_keeps(student):
    return after(student.frechet, features(7, 3, 742).double(), features(6, 3, 745).double())
