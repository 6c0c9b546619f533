"""Schedules have the values of the papers and of `transformers`, and the right shape everywhere."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.training import schedules as S


def test_the_papers_formula():
    rate = S.vaswani(width=512, warmup=4000)
    for step in (1, 100, 4000, 4001, 100_000):
        expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert math.isclose(rate(step), expected)
    assert max(map(rate, range(1, 20_000))) == rate(4000)


@pytest.mark.parametrize("name", ["linear", "cosine", "constant", "inverse_sqrt"])
def test_the_values_of_transformers(name):
    transformers = pytest.importorskip("transformers")
    weight = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=0.5)
    theirs = {
        "linear": lambda: transformers.get_linear_schedule_with_warmup(optimiser, 10, 50),
        "cosine": lambda: transformers.get_cosine_schedule_with_warmup(optimiser, 10, 50),
        "constant": lambda: transformers.get_constant_schedule_with_warmup(optimiser, 10),
        "inverse_sqrt": lambda: transformers.get_inverse_sqrt_schedule(optimiser, 10),
    }[name]()
    whole = {"total": 50} if name in ("linear", "cosine") else {}
    ours = getattr(S, name)(warmup=10, **whole)
    for step in range(51 if name == "cosine" else 60):  # theirs rises again behind its end
        assert math.isclose(optimiser.param_groups[0]["lr"], 0.5 * ours(step), abs_tol=1e-12)
        optimiser.step()
        theirs.step()


@given(warmup=st.integers(0, 50), length=st.integers(1, 100), floor=st.floats(0, 1))
def test_up_to_1_and_down_to_the_floor_without_a_jump(warmup, length, floor):
    for make in (S.linear, S.cosine):
        values = [make(warmup=warmup, total=warmup + length, floor=floor)(t) for t in range(200)]
        assert values[warmup] == 1
        assert math.isclose(values[warmup + length], floor, abs_tol=1e-12)
        assert values[: warmup + 1] == sorted(values[: warmup + 1])
        falling = values[warmup:]
        assert all(b <= a + 1e-12 for a, b in pairwise(falling))
        steepest = max(1 / max(warmup, 1), math.pi / 2 / length)
        assert all(abs(a - b) <= steepest + 1e-12 for a, b in pairwise(values))


def test_without_a_warm_up_the_first_step_is_whole():
    assert S.constant()(1) == S.linear(total=10)(0) == S.cosine(total=10)(0) == 1
    assert S.constant(warmup=4)(1) == 0.25


def test_sizes_grow_evenly_and_stay():
    batch = S.growth(first=8, last=64, steps=7)
    assert [batch(step) for step in range(10)] == [8, 8, 16, 24, 32, 40, 48, 56, 64, 64]
    assert S.growth(first=5, last=5, steps=1)(99) == 5


def test_short_inputs_for_nine_tenths_of_the_steps():
    length = S.switch(first=128, last=512, steps=1_000_000)
    assert [length(step) for step in (1, 900_000, 900_001, 1_000_000)] == [128, 128, 512, 512]
    assert [S.switch(first=8, last=4, steps=4, share=0.5)(s) for s in range(1, 6)] == [
        8,
        8,
        4,
        4,
        4,
    ]
    assert S.switch(first=8, last=4, steps=4, share=0.0)(1) == 4
    assert [S.switch(first=8, last=4, steps=3)(s) for s in (2, 3)] == [8, 8]  # 2.7 is nearer to 3


def test_attached_to_an_optimiser():
    weights = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": weights[:1], "lr": 1.0}, {"params": weights[1:], "lr": 0.1}]
    optimiser = torch.optim.SGD(groups)
    steering = S.attach(optimiser, S.linear(warmup=2, total=4))
    seen = []
    for _ in range(4):
        seen.append([group["lr"] for group in optimiser.param_groups])
        optimiser.step()
        steering.step()
    assert seen == [[0.5, 0.05], [1.0, 0.1], [0.5, 0.05], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: S.linear(warmup=5, total=5), "total must be more than warmup, found 5 and 5"),
        (lambda: S.growth(first=3, last=2, steps=1), "last must be at least first"),
    ],
)
def test_bad_input_gets_a_sentence(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_a_rate_that_falls_ends_nearer_to_the_minimum_than_one_that_stays():
    def ends(schedule):  # a thousand bowls with noisy slopes; how far from the bottom on the way
        chance = torch.Generator().manual_seed(0)
        w = torch.full((1000,), 5.0, requires_grad=True)
        adam = torch.optim.Adam([w], lr=1.0, betas=(0.9, 0.98))
        away = []
        for step in range(1, 1201):
            adam.param_groups[0]["lr"] = 0.1 * schedule(step)
            w.grad = w.detach() + 3 * torch.randn(1000, generator=chance)
            adam.step()
            away.append(w.detach().square().mean().sqrt().item())
        return away

    stays, falls = ends(S.constant()), ends(S.inverse_sqrt(warmup=100))
    assert stays[-1] == pytest.approx(stays[399], rel=0.1)  # a plateau
    assert falls[-1] < 0.65 * stays[-1] and falls[-1] < 0.9 * falls[399]
