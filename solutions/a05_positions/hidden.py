"""The hidden cases of assignment 5: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, module_gradients, randn

# --- add_places


@hidden("add_places", says="one word only")
def add_one_word(student):
    return student.add_places(randn(2, 1, 3), randn(5, 3, seed=1), 4)


@hidden("add_places", says="a table that is used up to its end")
def add_to_the_end(student):
    return student.add_places(randn(4, 3, 2), randn(8, 2, seed=1), 5)


@hidden("add_places", says="the inputs are left as they were", weight=2)
def add_keeps(student):
    return after(student.add_places, randn(2, 3, 4), randn(7, 4, seed=1), 2)


@hidden("add_places", says="gradients of words and table")
def add_gradients(student):
    return gradients(student.add_places, randn(3, 2, 4), randn(6, 4, seed=1), 3)


@hidden("add_places", says="double precision", tolerance=1e-12)
def add_double(student):
    x, table = randn(2, 3, 4, dtype=torch.float64), randn(5, 4, seed=1, dtype=torch.float64)
    return student.add_places(x, table, 1)


# --- sinusoids


@hidden("sinusoids", says="one place, one clock")
def one_clock(student):
    return student.sinusoids(torch.tensor([3.0]), 2)


@hidden("sinusoids", says="double precision, far away", weight=2, tolerance=1e-9)
def far_away(student):
    return student.sinusoids(torch.tensor([0.0, 12_345.0, 100_000.0], dtype=torch.float64), 64)


@hidden("sinusoids", says="places before zero")
def before_zero(student):
    return student.sinusoids(torch.tensor([-3.0, -0.5, 2.0]), 10)


@hidden("sinusoids", says="several axes in front")
def sinusoids_axes(student):
    return student.sinusoids(3 * randn(2, 3, 4, seed=3), 6, 500.0)


@hidden("sinusoids", says="each clock's hand has length one")
def hands(student):
    found = student.sinusoids(torch.arange(50.0), 16)
    assert found.shape == (50, 16) and found.dtype == torch.float32
    assert (found.unflatten(-1, (8, 2)).square().sum(dim=-1) - 1).abs().max() < 1e-5


@hidden("sinusoids", says="the product of two places depends on their distance")
def distances(student):
    found = student.sinusoids(torch.tensor([2.0, 5.0, 12.0, 15.0]), 12, 300.0)
    return found @ found.transpose(-2, -1)


# --- shift


@hidden("shift", says="nowhere to go")
def nowhere(student):
    return student.shift(0.0, 8)


@hidden("shift", says="far away", tolerance=1e-3)
def far_shift(student):
    return student.shift(1000.0, 16)


@hidden("shift", says="there and back")
def there_and_back(student):
    both = student.shift(4.5, 6, 70.0) @ student.shift(-4.5, 6, 70.0)
    assert (both - torch.eye(6)).abs().max() < 1e-5
    return both


@hidden("shift", says="two steps are one", weight=2)
def two_steps(student):
    return student.shift(2.0, 10) @ student.shift(3.0, 10), student.shift(5.0, 10)


@hidden("shift", says="it moves every place by the same matrix", weight=2)
def every_place(student):
    places = torch.tensor([0.0, 1.0, 7.0, 30.0])
    speeds = 90.0 ** (-torch.arange(0, 12, 2) / 12)

    def waves(t):
        turned = t[:, None] * speeds
        return torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(-2)

    moved = waves(places) @ student.shift(6.0, 12, 90.0).transpose(-2, -1)
    assert (moved - waves(places + 6)).abs().max() < 1e-4


# --- turn


@hidden("turn", says="scores know the distance and nothing else", weight=2)
def only_the_distance(student):
    q, k = randn(1, 8), randn(1, 8, seed=1)

    def score(i, j):
        at = torch.tensor([i]), torch.tensor([j])
        return (student.turn(q, at[0]) * student.turn(k, at[1])).sum()

    near, same_distance = score(5.0, 2.0), score(25.0, 22.0)
    assert (near - same_distance).abs() < 1e-4
    return near, score(5.0, 3.0)


@hidden("turn", says="lengths are kept")
def lengths(student):
    x = randn(3, 6, 4)
    turned = student.turn(x, 2 * torch.arange(6.0))
    assert (turned.norm(dim=-1) - x.norm(dim=-1)).abs().max() < 1e-5
    return turned


@hidden("turn", says="whole-number places")
def whole_numbers(student):
    return student.turn(randn(2, 3, 4), torch.tensor([4, 0, 7]))


@hidden("turn", says="double precision and several axes in front", tolerance=1e-12)
def turn_double(student):
    places = torch.tensor([0.0, 3.0, 11.0], dtype=torch.float64)
    return student.turn(randn(2, 2, 5, 3, 6, dtype=torch.float64), places, 77.0)


@hidden("turn", says="the inputs are left as they were")
def turn_keeps(student):
    return after(student.turn, randn(4, 6), torch.arange(4.0))


@hidden("turn", says="gradients")
def turn_gradients(student):
    return gradients(student.turn, randn(3, 4), torch.tensor([1.0, 2.0, 6.0]))


# --- relative_bias


@hidden("relative_bias", says="one word only")
def bias_one_word(student):
    return student.relative_bias(randn(5, 2), 1)


@hidden("relative_bias", says="a table with one row")
def bias_one_row(student):
    return student.relative_bias(randn(1, 3), 4)


@hidden("relative_bias", says="long sentences", weight=2)
def bias_long(student):
    return student.relative_bias(randn(9, 4, seed=3), 30)


@hidden("relative_bias", says="constant along diagonals")
def bias_diagonals(student):
    found = student.relative_bias(randn(7, 2, seed=4), 6)
    assert found.shape == (2, 6, 6)
    assert (found[:, 1:, 1:] - found[:, :-1, :-1]).abs().max() == 0


@hidden("relative_bias", says="gradients: how often each row is used", weight=2)
def bias_gradients(student):
    return gradients(student.relative_bias, randn(5, 2, seed=5), 4)


# --- RotaryAttention


def build(student, width, base=10_000.0, scale=0.5):
    built = student.RotaryAttention(width=width, base=base)
    parts = [f"{part}.weight" for part in ("query", "key", "value")]
    built.load_state_dict(
        {name: scale * randn(width, width, seed=n) for n, name in enumerate(parts, 21)}
    )
    return built


@hidden("RotaryAttention", says="all places moved on by a hundred", weight=2, tolerance=1e-3)
def moved_on(student):
    module, x = build(student, 6, 60.0), randn(2, 5, 6)
    here, there = module(x, torch.arange(5.0)), module(x, torch.arange(5.0) + 100)
    assert (here - there).abs().max() < 1e-3
    return here


@hidden("RotaryAttention", says="one word only")
def rotary_one_word(student):
    return build(student, 4)(randn(3, 1, 4), torch.tensor([17.0]))


@hidden("RotaryAttention", says="shuffled with their places, words keep what they get")
def shuffled(student):
    module, x, places = build(student, 8), randn(2, 5, 8), torch.arange(5.0)
    order = torch.tensor([3, 0, 4, 1, 2])
    return module(x, places)[:, order], module(x[:, order], places[order])


@hidden("RotaryAttention", says="no sentence of a batch changes another")
def rotary_batch(student):
    module, x, places = build(student, 4, 30.0), randn(2, 6, 4), torch.arange(6.0)
    return module(x, places)[1], module(x[1:], places)[0]


@hidden("RotaryAttention", says="gradients at inputs and weights", weight=2)
def rotary_gradients(student):
    return module_gradients(build(student, 6, 25.0), randn(2, 4, 6), torch.arange(4.0))


@hidden("RotaryAttention", says="large scores")
def rotary_large(student):
    return build(student, 4, scale=5.0)(randn(1, 3, 4), torch.tensor([0.0, 2.0, 5.0]))


@hidden("RotaryAttention", says="the base unless told otherwise")
def rotary_default(student):
    module = student.RotaryAttention(width=4)
    module.load_state_dict(build(student, 4).state_dict())
    return module(randn(2, 3, 4), torch.tensor([0.0, 40.0, 90.0]))
