"""The four measured criteria: known answers for encodings whose virtues and vices are known."""

import math

import pytest
import torch

from coursekit.analysis.positions import (
    closest_pair,
    falls_until,
    growth,
    length_dependence,
    shift_dependence,
    shift_residual,
)
from coursekit.biases import alibi
from coursekit.positions import LearnedPosition, Rotary, binary, sinusoidal

L = 64


def number(T):
    return torch.arange(T, dtype=torch.float32)[:, None]


def fraction(T):
    return number(T) / T


def waves(T):
    return sinusoidal(T, 32)


def bits(T):
    return binary(T, 32)


def table(T):
    torch.manual_seed(0)
    learned = LearnedPosition(size=L, width=32)
    return learned(torch.zeros(1, T, 32))[0]


def noise(T):
    return torch.randn(T, 32)


def products(encode):
    return lambda T: encode(T) @ encode(T).T


@pytest.mark.parametrize("encode", [number, waves, bits, table])
def test_an_encoding_by_place_alone_is_deterministic(encode):
    assert length_dependence(encode, L) == 0


@pytest.mark.parametrize("encode", [fraction, noise])
def test_length_and_chance_are_noticed(encode):
    assert length_dependence(encode, L) > 0.4


def test_length_dependence_of_the_fraction_by_hand():
    # The last place of 4 moves from 3/4 to 3/8; the root mean square of 0, 1/4, 2/4, 3/4 is the
    # size of a row.
    size = math.sqrt((0 + 1 / 16 + 4 / 16 + 9 / 16) / 4)
    assert length_dependence(fraction, 4) == pytest.approx((3 / 8) / size)


def test_closest_pair_finds_a_repeated_row():
    assert closest_pair(lambda T: waves(T)[torch.arange(T) % (T - 1)], L) == 0


def test_closest_pair_by_hand():
    rows = torch.tensor([[0.0, 3.0], [0.0, 4.0], [5.0, 0.0]])
    size = math.sqrt((9 + 16 + 25) / 3)
    assert closest_pair(lambda T: rows[:T], 3) == pytest.approx(1 / size)


def test_closest_pair_sees_small_gaps_at_long_lengths():
    assert closest_pair(number, 4096) == pytest.approx(1 / math.sqrt(4095 * 8191 / 6), rel=1e-4)


def test_growth():
    assert growth(waves, L, times=8) == pytest.approx(1, abs=1e-5)
    assert growth(number, L, times=8) == pytest.approx((8 * L - 1) / (L - 1))
    assert growth(table, L, times=8) == math.inf
    assert growth(lambda T: waves(T) / (T < L * 2), L, times=8) == math.inf


def test_a_bias_may_fall_but_not_rise():
    def toward_nearness(T):
        return alibi(T, heads=4)[:, -1].flip(-1).T  # (T, H), by distance

    assert growth(toward_nearness, L, times=8, bias=True) == 1
    assert growth(lambda T: -toward_nearness(T), L, times=8, bias=True) > 8
    assert growth(toward_nearness, L, times=8) > 8


@pytest.mark.parametrize("delta", [1, 3, 17])
def test_only_sinusoids_and_numbers_shift_linearly(delta):
    assert shift_residual(waves, 512, delta) < 1e-6
    assert shift_residual(number, 512, delta) < 1e-6
    assert shift_residual(bits, 512, delta) > 1e-2
    assert shift_residual(noise, 512, delta) > 0.8


def test_a_map_learned_by_heart_does_not_count():
    # 16 rows of width 32 can be mapped exactly; a random table must fail all the same.
    torch.manual_seed(0)
    rows = torch.randn(16, 32)
    assert shift_residual(lambda T: rows[:T], 16, 3) > 0.5


def test_scores_by_distance():
    turn, q, k = Rotary(width=32), torch.randn(32), torch.randn(32)
    assert shift_dependence(lambda T: turn(q.expand(T, -1)) @ turn(k.expand(T, -1)).T, L, 5) < 1e-4
    assert shift_dependence(lambda T: alibi(T, heads=4), L, 5) == 0
    assert shift_dependence(products(waves), L, 5) < 1e-4
    assert shift_dependence(products(bits), L, 5) > 1
    assert shift_dependence(products(number), L, 5) > 0.2


def test_sinusoids_look_less_alike_the_farther_apart_at_first():
    rows = sinusoidal(1000, 512)
    alike = rows @ rows[0] / 256  # (1000,), 1 at distance 0: each row has squared length 256
    assert alike[0].item() == pytest.approx(1)
    assert falls_until(alike) >= 5
    assert alike[5] < 0.8 and alike[500:].max() < 0.5


def test_falls_until():
    assert falls_until(torch.tensor([1.0, 0.5, 0.2, 0.3, 0.1])) == 2
    assert falls_until(torch.tensor([1.0, 0.5, 0.2])) == 2
    assert falls_until(torch.tensor([1.0, 2.0])) == 0


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: shift_residual(waves, 6, 4), "fewer than 4 pairs at a shift of 4"),
        (lambda: shift_dependence(products(waves), 8, 8), "between 0 and the length 8, found 8"),
        (lambda: shift_dependence(waves, 8, 2), r"must end on \(T, T\), found \(8, 32\)"),
        (lambda: falls_until(torch.ones(2, 2)), r"one axis, found \(2, 2\)"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_an_encoding_of_the_wrong_shape_is_named():
    with pytest.raises(TypeError, match=r"must return \(2, D\), found \(3,\)"):
        closest_pair(lambda T: torch.ones(3), 2)
