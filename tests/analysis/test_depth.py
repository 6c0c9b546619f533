"""The measures of depth: closed forms, laws, and the claims of the chapter on small stacks."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.analysis.depth import (
    distance_to_equal_rows,
    distances_by_depth,
    gradient_norms,
    local_exponents,
)
from coursekit.blocks import Stack

PURE = {"residual": False, "feed_forward": False, "norm": "none"}


def tokens(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def stack(depth: int, seed: int = 0, width: int = 32, **block) -> Stack:
    torch.manual_seed(seed)
    return Stack(depth=depth, width=width, heads=4, **block).double()


# --- the two distances ---


def test_distance_to_equal_rows_by_hand():
    x = torch.tensor([[1.0, 0.0], [3.0, 4.0]])  # mean (2, 2), residuals ±(1, 2)
    assert distance_to_equal_rows(x).item() == pytest.approx(math.sqrt(10 / 26))


def test_equal_tokens_are_at_distance_zero_and_opposite_ones_at_one():
    token = tokens(1, 5)
    assert distance_to_equal_rows(token.expand(4, 5)).item() == pytest.approx(0, abs=1e-12)
    assert distance_to_equal_rows(torch.cat([token, -token])).item() == pytest.approx(1)


def test_no_other_common_row_is_nearer_than_the_mean():
    x = tokens(6, 4)
    best = distance_to_equal_rows(x) * x.norm()
    for seed in range(20):
        row = x.mean(dim=0) + 0.1 * tokens(4, seed=seed)
        assert (x - row).norm() > best


def test_zeros_and_a_single_token_are_equal_to_themselves():
    assert distance_to_equal_rows(torch.zeros(3, 2)).item() == 0
    assert distance_to_equal_rows(tokens(1, 7)).item() == 0


@given(
    length=st.integers(1, 6),
    width=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    scale=st.floats(1e-3, 1e3),
    shift=st.floats(0, 10),
)
def test_distances_ignore_scale_and_batch(length, width, seed, scale, shift):
    x = tokens(3, length, width, seed=seed) + shift
    equal = distance_to_equal_rows(x)
    assert equal.shape == (3,)
    assert (equal >= 0).all()
    assert (equal <= 1 + 1e-9).all()
    torch.testing.assert_close(distance_to_equal_rows(scale * x), equal, atol=1e-9, rtol=1e-9)
    torch.testing.assert_close(distance_to_equal_rows(x[1]), equal[1], atol=1e-9, rtol=1e-9)


def test_a_distance_names_what_it_found():
    with pytest.raises(ValueError, match=r"\(\.\.\., T, D\), found \(5,\)"):
        distance_to_equal_rows(torch.ones(5))
    with pytest.raises(ValueError, match=r"at least one token.*found \(0, 5\)"):
        distance_to_equal_rows(torch.ones(0, 5))
    with pytest.raises(TypeError, match=r"floating point, found torch\.int64"):
        distance_to_equal_rows(torch.ones(2, 2, dtype=torch.int64))


# --- through a stack ---


def test_distances_by_depth_are_those_of_the_hidden_states():
    model, x = stack(3), tokens(2, 5, 32)
    found = distances_by_depth(model, x)
    assert found.shape == (4,)
    y = x
    for depth, block in enumerate(model.blocks, start=1):
        y = block(y)
        expected = torch.stack([distance_to_equal_rows(item) for item in y]).mean()
        torch.testing.assert_close(found[depth], expected)
    torch.testing.assert_close(found[0], distance_to_equal_rows(x).mean())
    assert not found.requires_grad


@pytest.mark.parametrize("seed", range(3))
def test_pure_attention_collapses_and_a_residual_holds_it_up(seed):
    x = tokens(2, 16, 32, seed=seed)
    pure = distances_by_depth(stack(4, seed, **PURE), x)
    kept = distances_by_depth(stack(4, seed, **{**PURE, "residual": True}), x)
    assert pure[0] > 0.9
    assert pure[-1] < 1e-12
    assert kept[-1] > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_one_layer_of_pure_attention_is_cubic_near_equal_tokens(seed):
    layer = stack(1, seed, **PURE)
    common, apart = tokens(1, 1, 32, seed=seed), tokens(1, 16, 32, seed=seed + 100)
    before = torch.logspace(-3, -1, 5, dtype=torch.float64)
    x = [common + size * (apart - apart.mean(dim=1, keepdim=True)) for size in before]
    after = torch.stack([distances_by_depth(layer, item)[1] for item in x])
    torch.testing.assert_close(
        local_exponents(before, after), torch.full_like(before[1:], 3.0), atol=0.1, rtol=0
    )


# --- gradients ---


def test_gradient_norms_are_those_of_each_block():
    model = stack(3)
    model(tokens(2, 5, 32)).square().sum().backward()
    expected = [block.feed_forward.contract.weight.grad.norm() for block in model.blocks]
    torch.testing.assert_close(gradient_norms(model), torch.stack(expected))
    other = gradient_norms(model, "self_attention.out.weight")
    expected = [block.self_attention.out.weight.grad.norm() for block in model.blocks]
    torch.testing.assert_close(other, torch.stack(expected))
    assert not torch.allclose(other, gradient_norms(model))


def test_last_gradient_stays_with_post_and_shrinks_with_pre():
    """Xiong et al. (2020): O(√log d) beside O(√(log d / L)) for Xavier weights."""
    ratio = {}
    for norm in ("post", "pre"):
        last = []
        for depth in (2, 18):
            model = stack(depth, norm=norm)
            for parameter in model.parameters():
                if parameter.ndim == 2:
                    torch.nn.init.xavier_uniform_(parameter)
            target = tokens(4, 8, 32, seed=1)
            (model(tokens(4, 8, 32)) * target).sum().backward()
            last.append(gradient_norms(model)[-1])
        ratio[norm] = (last[1] / last[0]).item()
    assert ratio["post"] > 0.7
    assert ratio["pre"] < 0.5


def test_gradient_norms_name_what_is_missing():
    model = stack(2)
    with pytest.raises(ValueError, match="call backward"):
        gradient_norms(model)
    with pytest.raises(ValueError, match=r"no parameter 'ffn'; it has .*feed_forward\.expand"):
        gradient_norms(model, "ffn")


def test_only_with_residuals_does_a_gradient_reach_the_first_of_many_layers():
    share = {}
    for residual in (True, False):
        model = stack(12, residual=residual, norm="none")
        target = tokens(4, 8, 32, seed=1)
        (model(tokens(4, 8, 32)) * target).sum().backward()
        norms = gradient_norms(model)
        share[residual] = (norms[0] / norms[-1]).item()
    assert share[True] > 0.1 > 20 * share[False]


# --- exponents ---


@given(st.floats(0.5, 4), st.floats(1e-3, 1e3))
def test_local_exponents_find_the_power(power, factor):
    before = torch.logspace(-2, 1, 7, dtype=torch.float64)
    found = local_exponents(before, factor * before**power)
    assert found.shape == (6,)
    torch.testing.assert_close(found, torch.full_like(found, power))


def test_local_exponents_name_what_they_found():
    with pytest.raises(ValueError, match=r"one length, at least 2, found \(3,\) and \(2,\)"):
        local_exponents(torch.ones(3), torch.ones(2))
    with pytest.raises(ValueError, match="at least 2"):
        local_exponents(torch.ones(1), torch.ones(1))
    with pytest.raises(ValueError, match="not above 0"):
        local_exponents(torch.ones(2), torch.tensor([1.0, 0.0]))
