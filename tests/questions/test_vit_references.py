"""What assignment 17 calls right is what the course's ViT, loops over places and the calculus of
least squares give.
"""

from __future__ import annotations

import itertools
import math

import ours
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.check.probe import randn
from coursekit.models.patches import GridPositions, patchify, unpatchify
from coursekit.models.vit import ViT, ViTConfig
from coursetools.questions import catalogue

RIGHT = catalogue.references(ours.load("a17_vit"))
DOUBLE = torch.float64
SIDES = st.integers(1, 5)
GRIDS = st.tuples(st.integers(1, 6), st.integers(1, 6))


@settings(deadline=None)
@given(st.integers(1, 3), st.integers(1, 4), GRIDS, SIDES)
def test_cut_side_by_side_is_the_courses_patchify_and_loses_nothing(
    pictures, channels, grid, patch
):
    size = tuple(patch * n for n in grid)
    images = randn(pictures, channels, *size, seed=1)
    found = RIGHT.cut(images, patch, patch)
    assert torch.equal(found, patchify(images, patch))
    assert torch.equal(unpatchify(found, patch, size), images)


@settings(deadline=None)
@given(st.integers(1, 3), GRIDS, SIDES, st.data())
def test_each_overlapping_patch_is_the_courses_one_patch_of_a_square_of_the_picture(
    channels, grid, patch, data
):
    stride = data.draw(st.integers(1, patch))
    images = randn(2, channels, *(patch + stride * (n - 1) for n in grid), seed=1)
    found = RIGHT.cut(images, patch, stride)
    assert found.shape[1] == grid[0] * grid[1]
    for n, (row, column) in enumerate(itertools.product(*map(range, grid))):
        top, left = stride * row, stride * column
        square = images[:, :, top : top + patch, left : left + patch]
        assert torch.equal(found[:, n], patchify(square, patch)[:, 0])


def test_a_linear_map_of_what_is_cut_is_a_convolution_of_the_same_stride():
    images, kernels = randn(2, 3, 8, 12, seed=2), randn(5, 3, 4, 4, seed=3)
    matrix = kernels.permute(0, 2, 3, 1).reshape(5, -1)  # (D, P·P·C)
    for stride in (4, 2, 1):
        maps = F.conv2d(images, kernels, stride=stride)  # (B, D, rows, columns)
        found = RIGHT.cut(images, 4, stride) @ matrix.T
        torch.testing.assert_close(found, maps.flatten(2).transpose(1, 2))


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 8), st.data())
def test_a_picture_is_refused_where_the_last_patch_does_not_end_at_the_edge(
    rows, columns, patch, data
):
    stride = data.draw(st.integers(1, patch))
    images = torch.zeros(1, 1, rows, columns)
    ends = [range(patch, side + 1, stride)[-1:] for side in (rows, columns)]
    if [*map(list, ends)] == [[rows], [columns]]:
        RIGHT.cut(images, patch, stride)
    else:
        with pytest.raises(
            ValueError, match=rf"\b{patch}\b.*\b{stride}\b.*\b{rows}\b.*\b{columns}\b"
        ):
            RIGHT.cut(images, patch, stride)


def test_the_course_reads_the_same_tokens():
    sizes = {"width": 6, "depth": 1, "heads": 2, "hidden": 8}
    model = ViT(ViTConfig(image=(8, 12), patch=4, channels=2, classes=3, **sizes))
    model.class_token.data, images = randn(1, 1, 6, seed=4), randn(3, 2, 8, 12, seed=5)
    patches = model.embedding(images)
    theirs = model.with_prefix(patches, model.positions())
    ours = RIGHT.prepare_tokens(patches, model.class_token[0, 0], model.positions.weight[0])
    torch.testing.assert_close(ours, theirs)


@settings(deadline=None, max_examples=30)
@given(GRIDS, st.integers(1, 3), st.integers(1, 20), st.integers(0, 99))
def test_a_heads_distance_is_the_mean_of_a_walk_by_hand(grid, heads, patch, seed):
    rows, columns = grid
    places = list(itertools.product(range(rows), range(columns)))
    weights = randn(heads, len(places) + 1, len(places) + 1, seed=seed, dtype=DOUBLE).softmax(-1)
    found = RIGHT.attention_distance(weights, grid, patch)
    for head, one in enumerate(weights.tolist()):
        means = []
        for query, here in enumerate(places, start=1):
            walk = [(one[query][key], there) for key, there in enumerate(places, start=1)]
            far = sum(weight * patch * math.dist(here, there) for weight, there in walk)
            means.append(far / sum(weight for weight, _ in walk))
        assert found[head].item() == pytest.approx(sum(means) / len(means), abs=1e-9)


def test_what_the_class_token_does_changes_no_distance():
    weights = randn(2, 13, 13, seed=6, dtype=DOUBLE).softmax(-1)
    other = weights.clone()
    other[:, 0] = randn(2, 13, seed=7, dtype=DOUBLE).softmax(-1)
    other[:, 1:] *= torch.linspace(0.01, 1, 12, dtype=DOUBLE)[:, None]
    other[:, 1:, 0] = 1 - other[:, 1:, 1:].sum(-1)
    torch.testing.assert_close(
        RIGHT.attention_distance(weights, (3, 4), 8), RIGHT.attention_distance(other, (3, 4), 8)
    )


def test_an_even_head_of_the_written_question_has_the_distance_that_its_answer_says():
    even = torch.full((1, 197, 197), 1 / 197, dtype=DOUBLE)
    greedy = torch.full((1, 197, 197), 0.01 / 196, dtype=DOUBLE)
    greedy[:, :, 0] = 0.99
    for weights in (even, greedy):
        found = RIGHT.attention_distance(weights, (14, 14), 16).item()
        assert found == pytest.approx(116.5, abs=0.05)


def mixed(table, old, new):
    """Each new place by itself, as the question's text says it."""
    made = [table[0]]
    for place in itertools.product(range(new[0]), range(new[1])):
        total = torch.zeros_like(table[0])
        for n, one in enumerate(itertools.product(range(old[0]), range(old[1]))):
            share = 1.0
            for at, many, few, here in zip(place, new, old, one):
                centre = min(max((at + 0.5) * few / many - 0.5, 0.0), few - 1.0)
                share *= max(1.0 - abs(centre - here), 0.0)
            total = total + share * table[1 + n]
        made.append(total)
    return torch.stack(made)


@settings(deadline=None, max_examples=40)
@given(GRIDS, GRIDS)
def test_a_table_is_stretched_as_the_text_says(old, new):
    table = randn(1 + old[0] * old[1], 3, seed=8, dtype=DOUBLE)
    torch.testing.assert_close(RIGHT.resize_places(table, old, new), mixed(table, old, new))


@settings(deadline=None, max_examples=40)
@given(GRIDS, GRIDS)
def test_a_picture_on_its_side_is_stretched_on_its_side(old, new):
    table = randn(1 + old[0] * old[1], 2, seed=9, dtype=DOUBLE)

    def turned(x, grid):
        return torch.cat([x[:1], x[1:].unflatten(0, grid).transpose(0, 1).flatten(0, 1)])

    torch.testing.assert_close(
        turned(RIGHT.resize_places(table, old, new), new),
        RIGHT.resize_places(turned(table, old), old[::-1], new[::-1]),
    )


def test_the_course_which_stretches_by_curves_puts_every_place_where_a_line_puts_it():
    """Within the borders, and up to the bend of the curves, which is small on a plane."""
    grid, new = (6, 5), (9, 10)
    row, column = torch.meshgrid(torch.arange(6.0), torch.arange(5.0), indexing="ij")
    positions = GridPositions(kind="1d", grid=grid, width=2, prefix=1)
    positions.weight.data[0, 1:] = torch.stack([row, column], dim=-1).flatten(0, 1)
    theirs = positions.resized(new).weight[0]
    ours = RIGHT.resize_places(positions.weight[0], grid, new)
    assert torch.equal(ours[0], theirs[0]) and ours.shape == theirs.shape
    inner = [x[1:].unflatten(0, new)[3:-3, 4:-4] for x in (ours, theirs)]
    torch.testing.assert_close(*inner, atol=0.15, rtol=0)


def few(seed, pictures=9, width=4, classes=3):
    features = 3 + randn(pictures, width, seed=seed, dtype=DOUBLE)
    labels = torch.arange(pictures) ** 2 % classes
    return features, labels, classes


@pytest.mark.parametrize(("pictures", "ridge"), [(9, 0.3), (3, 0.01), (30, 50.0)])
def test_no_other_weights_and_no_other_bias_make_the_ridge_loss_smaller(pictures, ridge):
    features, labels, classes = few(10, pictures)
    y = torch.full((pictures, classes), -1.0, dtype=DOUBLE).scatter(1, labels[:, None], 1.0)
    corners = torch.cat([torch.zeros(1, 4, dtype=DOUBLE), torch.eye(4, dtype=DOUBLE)])
    _, scores = RIGHT.few_shot(features, labels, corners, classes, ridge)
    bias = scores[0].clone().requires_grad_()  # the scores are linear, and here they are read off
    weight = (scores[1:] - scores[0]).clone().requires_grad_()
    loss = (features @ weight + bias - y).square().sum() + ridge * weight.square().sum()
    for slope in torch.autograd.grad(loss, (weight, bias)):
        torch.testing.assert_close(slope, torch.zeros_like(slope), atol=1e-9, rtol=0)


def test_a_small_ridge_fits_the_few_and_a_large_one_says_how_common_a_class_is():
    features, labels, classes = few(11, pictures=5, width=8)
    found, scores = RIGHT.few_shot(features, labels, features, classes, 1e-9)
    targets = 2.0 * F.one_hot(labels, classes).double() - 1
    assert torch.equal(found, labels)
    torch.testing.assert_close(scores, targets, atol=1e-6, rtol=0)
    _, scores = RIGHT.few_shot(features, labels, features, classes, 1e12)
    torch.testing.assert_close(scores, targets.mean(0).expand(5, -1), atol=1e-6, rtol=0)


def test_moved_features_change_nothing():
    features, labels, classes = few(12)
    unseen = 3 + randn(6, 4, seed=13, dtype=DOUBLE)
    _, scores = RIGHT.few_shot(features, labels, unseen, classes, 0.5)
    _, moved = RIGHT.few_shot(features + 100, labels, unseen + 100, classes, 0.5)
    torch.testing.assert_close(scores, moved)
