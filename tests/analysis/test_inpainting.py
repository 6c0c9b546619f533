"""Painters that have learned nothing: what is visible stays, and each paints by its formula."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.analysis.inpainting import (
    LinearPainter,
    fill_hidden,
    hidden_pixels,
    paint_from_nearest,
    paint_from_neighbours,
    painting_error,
    patch_means,
)
from coursekit.models.mae import random_masking

P = 2


def pictures(number, seed=0, side=6, channels=1):
    coin = torch.Generator().manual_seed(seed)
    return torch.randn(number, channels, side, side, generator=coin).double()


def masks(number, ratio=0.5, seed=1, patches=9):
    noise = torch.rand(number, patches, generator=torch.Generator().manual_seed(seed))
    return random_masking(noise, ratio).masked


PAINTERS = {
    "fill": lambda x, masked, train: fill_hidden(x, train.mean(0, keepdim=True), masked, P),
    "neighbours": lambda x, masked, train: paint_from_neighbours(x, masked, P),
    "nearest": lambda x, masked, train: paint_from_nearest(x, masked, P, train),
    "linear": lambda x, masked, train: LinearPainter(train).paint(x, masked, P),
    "means": lambda x, masked, train: patch_means(x, masked, P),
}


@pytest.mark.parametrize("name", PAINTERS)
@given(ratio=st.sampled_from([0.2, 0.5, 0.8]), channels=st.integers(1, 3), seed=st.integers(0, 99))
def test_visible_patches_stay_and_hidden_ones_are_not_looked_at(name, ratio, channels, seed):
    x, train = pictures(4, seed, channels=channels), pictures(7, seed + 1, channels=channels)
    masked = masks(4, ratio, seed)
    out, hidden = PAINTERS[name](x, masked, train), hidden_pixels(masked, P, x.shape)
    assert out.shape == x.shape and out.dtype == x.dtype
    assert out[~hidden].equal(x[~hidden])
    if name != "means":  # which is given something away
        other = PAINTERS[name](x.where(~hidden, 100.0), masked, train)
        torch.testing.assert_close(out, other)


def test_hidden_pixels_are_those_of_hidden_patches():
    masked = torch.zeros(1, 9, dtype=torch.bool)
    masked[0, 5] = True  # second row, third column
    expected = torch.zeros(1, 1, 6, 6, dtype=torch.bool)
    expected[:, :, 2:4, 4:6] = True
    assert hidden_pixels(masked, P, (1, 1, 6, 6)).equal(expected)


def test_the_error_is_that_of_hidden_pixels_only():
    x, masked = pictures(3), masks(3)
    hidden = hidden_pixels(masked, P, x.shape)
    assert painting_error(x + 3 * hidden, x, masked, P) == pytest.approx(3)
    assert painting_error(x + 5 * ~hidden, x, masked, P) == 0


def test_neighbours_by_hand():
    """One row of three patches of one pixel, the middle hidden: as far from one as the other."""
    x = torch.tensor([[[[1.0, 9.0, 5.0]]]])
    masked = torch.tensor([[False, True, False]])
    assert paint_from_neighbours(x, masked, 1).tolist() == [[[[1.0, 3.0, 5.0]]]]
    masked = torch.tensor([[False, False, True]])  # at distances 2 and 1: weights 1/16 and 1
    found = paint_from_neighbours(x, masked, 1, power=4)[0, 0, 0, 2].item()
    assert found == pytest.approx((1 / 16 * 1 + 9) / (1 / 16 + 1))


def test_the_nearest_picture_is_found_by_a_loop():
    x, train, masked = pictures(5), pictures(20, seed=3), masks(5)
    hidden = hidden_pixels(masked, P, x.shape)
    out = paint_from_nearest(x, masked, P, train)
    for one, away, painted in zip(x, hidden, out, strict=True):
        distances = [(one - other)[~away].square().sum().item() for other in train]
        best = train[distances.index(min(distances))]
        assert painted.equal(best.where(away, one))


def test_the_linear_painter_is_least_squares():
    """With all rows hiding the same, it is the regression of hidden on visible pixels."""
    train = pictures(300, side=4)
    train = train + 0.5 * train.roll(1, 3) + 0.3 * train.roll(1, 2) + 2  # pixels go together
    x, masked = train[:5] + 0.1, masks(1, patches=4).expand(5, -1)
    hidden = hidden_pixels(masked, P, x.shape)[0].flatten()
    flat = train.flatten(1)
    design = torch.cat([flat[:, ~hidden], torch.ones(300, 1).double()], dim=1)
    fitted = torch.linalg.lstsq(design, flat[:, hidden]).solution
    ones = torch.ones(5, 1).double()
    expected = torch.cat([x.flatten(1)[:, ~hidden], ones], dim=1) @ fitted
    found = LinearPainter(train, ridge=0).paint(x, masked, P, batch=2).flatten(1)[:, hidden]
    torch.testing.assert_close(found, expected)


def test_without_correlations_the_linear_painter_paints_the_mean():
    train = torch.cat([torch.eye(36), -torch.eye(36)]).reshape(-1, 1, 6, 6).double() + 3
    out = LinearPainter(train).paint(pictures(2), masks(2), P)
    hidden = hidden_pixels(masks(2), P, out.shape)
    torch.testing.assert_close(out[hidden], torch.full_like(out[hidden], 3))


def test_patch_means_by_hand():
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    out = patch_means(x, torch.tensor([[True, False, False, False]]), P)
    assert out[0, 0, :2, :2].unique().item() == (0 + 1 + 4 + 5) / 4


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda x, m: fill_hidden(x, x, m.float(), P), "masked must be boolean with shape"),
        (lambda x, m: fill_hidden(x, x, m[:, :4], P), r"shape \(3, 9\), found .* \(3, 4\)"),
        (lambda x, m: fill_hidden(x, x, m, 4), "patches of 4 must divide the image"),
        (lambda x, m: painting_error(x[:, :, :4], x, m, P), "must have one shape"),
        (lambda x, m: painting_error(x, x, torch.zeros_like(m), P), "no patch is hidden"),
        (lambda x, m: paint_from_neighbours(x, torch.ones_like(m), P), "no visible patch"),
        (lambda x, m: paint_from_nearest(x, m, P, x[:, :, :4]), "pictures of the same shape"),
        (lambda x, m: paint_from_nearest(x, m, P, x[:0]), "pictures of the same shape"),
        (
            lambda x, m: LinearPainter(x).paint(x, torch.ones(3, 9).tril() > 0, P),
            "must hide equally many",
        ),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(pictures(3), masks(3))
