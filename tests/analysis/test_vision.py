"""What a ViT has learned: against loops, closed forms and torch, with laws and bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.analysis import capture
from coursekit.analysis.vision import (
    attention_distance,
    few_shot,
    patch_distances,
    place_similarity,
    principal_filters,
    ridge,
    rollout,
)
from coursekit.models.vit import ViT, ViTConfig

SIZES = st.integers(1, 4)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def attention(*shape: int, seed: int = 0) -> torch.Tensor:
    return random(*shape, seed=seed).softmax(dim=-1)


# Attention distance


def test_distances_are_counted_in_pixels():
    apart = patch_distances((2, 3), 4)
    assert apart.shape == (6, 6)
    assert apart[0].tolist() == pytest.approx([0, 4, 8, 4, math.sqrt(32), math.sqrt(80)])
    assert apart[4, 0] == pytest.approx(math.sqrt(32))


@settings(max_examples=25, deadline=None)
@given(SIZES, SIZES, st.integers(1, 3), st.integers(0, 2), st.integers(1, 3))
def test_the_distance_is_the_loop_written_out(rows, columns, patch, prefix, heads):
    T = prefix + rows * columns
    weights = attention(2, heads, T, T)
    found = attention_distance(weights, (rows, columns), patch=patch, prefix=prefix)
    for head in range(heads):
        means = []
        for picture in range(2):
            for q in range(rows * columns):
                total = far = 0.0
                for k in range(rows * columns):
                    share = weights[picture, head, prefix + q, prefix + k].item()
                    down, right = q // columns - k // columns, q % columns - k % columns
                    far += share * patch * math.hypot(down, right)
                    total += share
                means.append(far / total)
        assert found[head].item() == pytest.approx(sum(means) / len(means), abs=1e-12)


def test_the_worked_values_of_the_page():
    weights = torch.zeros(1, 1, 5, 5, dtype=torch.double)
    weights[..., 0] = 0.5  # the class token stands nowhere
    weights[0, 0, 1:, 1:] = torch.eye(4) * 0.5
    weights[0, 0, 1] = torch.tensor([0.2, 0.4, 0.2, 0.1, 0.1])  # 4 patches of 4 pixels
    found = attention_distance(weights, (2, 2), patch=4)
    far = (0.2 * 4 + 0.1 * 4 + 0.1 * math.sqrt(32)) / 0.8
    assert far == pytest.approx(2.2071, abs=1e-4)
    assert found.item() == pytest.approx(far / 4)


def test_looking_at_oneself_is_0_and_what_goes_to_the_class_token_changes_nothing():
    near = torch.eye(10)[None, None]
    assert attention_distance(near, (3, 3), patch=7)[0] == 0
    weights = attention(1, 2, 10, 10)
    more = weights.clone()
    more[..., 0] += 5
    for one in (more, more / more.sum(dim=-1, keepdim=True)):
        torch.testing.assert_close(
            attention_distance(one, (3, 3), patch=2), attention_distance(weights, (3, 3), patch=2)
        )


def test_distance_of_a_model_and_bad_input():
    net = ViT(ViTConfig(image=8, patch=2, channels=1, width=8, depth=2, heads=2, hidden=8)).eval()
    layers = capture(net, torch.randn(3, 1, 8, 8)).weights["stack.self_attention"]
    for layer in layers:
        far = attention_distance(layer, net.config.grid, patch=2)
        assert far.shape == (2,) and far.dtype == torch.float32
        assert (far > 0).all() and (far < 2 * math.hypot(3, 3)).all()
    with pytest.raises(ValueError, match=r"\(pictures, heads, 10, 10\) for 1 prefix.*\(2, 9, 9\)"):
        attention_distance(attention(2, 9, 9), (3, 3), patch=2)
    with pytest.raises(ValueError, match=r"found \(1, 1, 9, 9\)"):
        attention_distance(attention(1, 1, 9, 9), (3, 3), patch=2)
    with pytest.raises(ValueError, match="attends to no patch"):
        attention_distance(torch.zeros(1, 1, 5, 5), (2, 2), patch=2)


# Places


def test_similarity_is_the_cosine_and_stands_where_the_patch_stands():
    table = random(6, 5)
    maps = place_similarity(table, (2, 3))
    assert maps.shape == (2, 3, 2, 3)
    for one in range(6):
        for other in range(6):
            expected = torch.cosine_similarity(table[one], table[other], dim=0)
            found = maps[one // 3, one % 3, other // 3, other % 3]
            torch.testing.assert_close(found, expected)
    with pytest.raises(ValueError, match=r"2 × 2 has position vectors \(4, width\)"):
        place_similarity(table, (2, 2))


# Filters


def test_components_are_those_of_the_covariance():
    weight = random(20, 2, 3, 3)
    found = principal_filters(weight, 4)
    flat = weight.flatten(1)
    values, vectors = torch.linalg.eigh(flat.T.cov())
    assert found.filters.shape == (4, 2, 3, 3)
    torch.testing.assert_close(found.shares, values.flip(0)[:4] / values.sum())
    for number, component in enumerate(found.filters.flatten(1)):
        inner = component @ vectors[:, -1 - number]
        assert abs(inner.item()) == pytest.approx(1)
        assert component[component.abs().argmax()] > 0


def test_components_of_filters_that_are_made_of_two():
    one, other = torch.zeros(1, 2, 2), torch.zeros(1, 2, 2)
    one[0, 0] = 1 / math.sqrt(2)
    other[0, 1, 0] = 1.0
    weight = (
        7
        + random(30, 1, seed=1)[..., None, None] * 3 * one
        + random(30, 1)[..., None, None] * other
    )
    found = principal_filters(weight.double(), 3)
    assert found.shares[:2].sum().item() == pytest.approx(1)
    assert abs((found.filters[0] * one).sum().item()) > 0.95
    with pytest.raises(ValueError, match="4 components at most, found count=5"):
        principal_filters(weight, 5)
    with pytest.raises(ValueError, match=r"\(width, channels, P, P\), found \(30, 4\)"):
        principal_filters(weight.flatten(1), 2)


# Roll-out


def test_the_rollout_is_a_product_of_halves():
    first, second = attention(2, 3, 4, 4), attention(2, 3, 4, 4, seed=1)
    eye = torch.eye(4).double()
    expected = (second.mean(1) / 2 + eye / 2) @ (first.mean(1) / 2 + eye / 2)
    torch.testing.assert_close(rollout([first, second]), expected)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), SIZES, st.integers(1, 6))
def test_rows_of_a_rollout_sum_to_1_and_nothing_is_lost(depth, heads, T):
    layers = [attention(2, heads, T, T, seed=n) for n in range(depth)]
    out = rollout(layers)
    torch.testing.assert_close(out.sum(dim=-1), torch.ones(2, T).double())
    assert (out >= 0).all() and (out.diagonal(dim1=1, dim2=2) >= 0.5**depth).all()


def test_a_rollout_needs_layers_of_one_shape():
    with pytest.raises(ValueError, match="found none"):
        rollout([])
    with pytest.raises(ValueError, match=r"found \(1, 2, 4, 4\)"):
        rollout([attention(1, 2, 3, 3), attention(1, 2, 4, 4)])
    with pytest.raises(ValueError, match=r"one shape \(pictures, heads, T, T\)"):
        rollout([attention(1, 2, 3, 4)])


# Few-shot


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(1, 5), st.integers(1, 3), st.floats(0.01, 100))
def test_ridge_is_where_the_gradient_is_zero(N, D, K, strength):
    x, y = random(N, D), random(N, K, seed=1)
    solved = ridge(x, y, strength)
    weight, bias = (part.clone().requires_grad_() for part in solved)
    cost = (x @ weight + bias - y).square().sum() + strength * weight.square().sum()
    for slope in torch.autograd.grad(cost, (weight, bias)):
        assert slope.abs().max() < 1e-8 * (1 + strength)


def test_the_worked_value_of_the_page():
    solved = ridge(torch.tensor([[1.0], [3.0]]), torch.tensor([[-1.0], [1.0]]), 2.0)
    assert solved.weight.item() == pytest.approx(0.5)
    assert solved.bias.item() == pytest.approx(-1.0)
    assert solved(torch.tensor([[2.5]])).item() == pytest.approx(0.25)


def test_a_shift_of_all_features_changes_no_score():
    x, y, asked = random(9, 4), random(9, 2, seed=1), random(5, 4, seed=2)
    torch.testing.assert_close(ridge(x, y, 3.0)(asked), ridge(x + 50, y, 3.0)(asked + 50))


def test_few_shot_has_targets_of_plus_and_minus_1_and_learns_what_can_be_told_apart():
    labels = torch.tensor([0, 1, 2, 2, 1, 0])
    features = torch.eye(3)[labels] * 5 + random(6, 3).float() * 0.1
    solved = few_shot(features, labels, classes=3, strength=0.1)
    assert solved(features).argmax(dim=1).tolist() == labels.tolist()
    targets = torch.where(torch.eye(3)[labels] > 0, 1.0, -1.0)
    torch.testing.assert_close(solved(features), ridge(features, targets, 0.1)(features))
    assert few_shot(features, labels, classes=5, strength=1.0)(features).shape == (6, 5)


def test_bad_examples_get_a_sentence():
    x = torch.zeros(2, 3)
    with pytest.raises(ValueError, match="strength above 0, found 2 examples and strength 0"):
        ridge(x, x, 0)
    with pytest.raises(ValueError, match=r"one row for each example, found \(2, 3\) and \(3, 1\)"):
        ridge(x, torch.zeros(3, 1), 1.0)
    with pytest.raises(ValueError, match=r"labels must be \(2,\) of int64, found torch.float32"):
        few_shot(x, torch.zeros(2), classes=2, strength=1.0)
    with pytest.raises(ValueError, match=r"0 … 1, found 0 to 2"):
        few_shot(x, torch.tensor([0, 2]), classes=2, strength=1.0)
    with pytest.raises(ValueError, match="found 0 examples"):
        few_shot(x[:0], torch.zeros(0, dtype=torch.int64), classes=2, strength=1.0)
