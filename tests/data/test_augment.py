"""Augmentation: what may not change stays, what is mixed is mixed in its targets too."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import one_hot

from coursekit.data.augment import cutmix, mixup, random_erase, random_flip, random_shift

sizes = st.tuples(st.integers(1, 9), st.integers(1, 3), st.integers(1, 12), st.integers(1, 12))
seeds = st.integers(0, 10_000)


def coin(seed=0):
    return torch.Generator().manual_seed(seed)


def some(shape, seed=0):
    return torch.rand(shape, generator=coin(seed)) + 1  # nowhere 0


def targets_of(number, classes=4, seed=0):
    return one_hot(torch.randint(classes, (number,), generator=coin(seed)), classes).float()


CALLS = {
    "flip": lambda x, g: random_flip(x, generator=g),
    "shift": lambda x, g: random_shift(x, generator=g),
    "erase": lambda x, g: random_erase(x, share=1.0, generator=g),
    "mixup": lambda x, g: mixup(x, targets_of(len(x)), generator=g).images,
    "cutmix": lambda x, g: cutmix(x, targets_of(len(x)), generator=g).images,
}


@pytest.mark.parametrize("name", CALLS)
@given(shape=sizes, seed=seeds)
def test_shape_and_dtype_stay_and_what_was_given_is_left_alone(name, shape, seed):
    x = some(shape, seed)
    before = x.clone()
    out = CALLS[name](x, coin(seed))
    assert out.shape == x.shape and out.dtype == x.dtype
    assert x.equal(before)
    assert out.equal(CALLS[name](x, coin(seed)))  # the generator decides


@pytest.mark.parametrize("name", CALLS)
def test_doubles_stay_doubles(name):
    assert CALLS[name](some((4, 1, 6, 6)).double(), coin()).dtype == torch.double


# Flips and shifts


@given(shape=sizes, seed=seeds)
def test_a_flipped_picture_is_the_picture_or_its_mirror_image(shape, seed):
    x = some(shape, seed)
    for before, after in zip(x, random_flip(x, generator=coin(seed)), strict=True):
        assert after.equal(before) or after.equal(before.flip(2))


def test_shares_of_flips():
    x = some((2000, 1, 2, 3))
    assert random_flip(x, share=0).equal(x)
    assert random_flip(x, share=1).equal(x.flip(3))
    turned = (random_flip(x, share=0.3, generator=coin()) != x).flatten(1).any(dim=1)
    assert abs(turned.float().mean() - 0.3) < 0.04


@given(shape=sizes, most=st.integers(0, 4), seed=seeds)
def test_a_shifted_picture_is_a_window_of_the_padded_one(shape, most, seed):
    x = some(shape, seed)
    H, W = shape[2:]
    out = random_shift(x, most=most, fill=-7.0, generator=coin(seed))
    padded = torch.nn.functional.pad(x, [most] * 4, value=-7.0)
    for wide, after in zip(padded, out, strict=True):
        windows = [wide[:, a : a + H, b : b + W] for a in range(2 * most + 1)
                   for b in range(2 * most + 1)]  # fmt: skip
        assert any(after.equal(window) for window in windows)


def test_all_shifts_occur_and_each_picture_has_its_own():
    x = torch.zeros(2000, 1, 9, 9)
    x[:, :, 4, 4] = 1
    out = random_shift(x, most=2, generator=coin())
    places = out[:, 0].flatten(1).argmax(dim=1)
    found = {(int(place) // 9 - 4, int(place) % 9 - 4) for place in places}
    assert found == {(a, b) for a in range(-2, 3) for b in range(-2, 3)}
    counts = torch.bincount(places)
    assert counts[counts > 0].min() > 45  # of 80 expected


# Erasing


@given(shape=sizes, seed=seeds)
def test_what_is_erased_is_a_rectangle(shape, seed):
    x = some(shape, seed)
    out = random_erase(x, share=1.0, generator=coin(seed))
    for lost in (out != x).any(dim=1):
        rows, columns = lost.any(dim=1), lost.any(dim=0)
        assert lost.equal(rows[:, None] & columns)
        for line in (rows, columns):
            assert (line.int().diff().abs()).sum() <= 2  # in one piece


def test_shares_and_areas_of_what_is_erased():
    x = some((3000, 1, 30, 30))
    out = random_erase(x, share=0.4, area=(0.1, 0.2), generator=coin())
    lost = (out != x).flatten(1).float().mean(dim=1)
    assert abs((lost > 0).float().mean() - 0.4) < 0.04
    assert lost.max() < 0.24  # sides are rounded
    assert 0.08 < lost[lost > 0].mean() < 0.16  # less than 0.15: what sticks out is cut off
    assert random_erase(x, share=0).equal(x)
    noise = out[out != x]
    assert abs(noise.mean()) < 0.02 and abs(noise.std() - 1) < 0.02


def test_what_sticks_out_is_cut_off_at_every_edge_alike():
    """A rectangle that was pushed inside instead would be whole at some edge."""
    x = torch.ones(4000, 1, 20, 20)
    out = random_erase(x, share=1.0, area=(0.25, 0.25), aspect=1.0, generator=coin())
    erased = (out != x)[:, 0]  # (B, H, W): squares of 10 × 10 whose centre is anywhere
    for lines in (erased.any(dim=2), erased.any(dim=1)):  # (B, 20): rows, columns
        length, first, last = lines.sum(dim=1), lines[:, 0], lines[:, -1]
        assert sorted(set(length[first].tolist())) == list(range(5, 11))
        assert sorted(set(length[last].tolist())) == list(range(6, 11))
        assert (length[~first & ~last] == 10).all()


# Mixing


@given(shape=sizes, seed=seeds, alpha=st.floats(0.05, 5))
def test_mixup_is_the_weighted_mean_and_so_are_its_targets(shape, seed, alpha):
    x, y = some(shape, seed).double(), targets_of(shape[0], seed=seed).double()
    out = mixup(x, y, alpha=alpha, generator=coin(seed))
    assert sorted(out.partner.tolist()) == list(range(shape[0]))
    for i, (kept, j) in enumerate(zip(out.kept.tolist(), out.partner.tolist(), strict=True)):
        assert 0 <= kept <= 1
        torch.testing.assert_close(out.images[i], kept * x[i] + (1 - kept) * x[j])
        torch.testing.assert_close(out.targets[i], kept * y[i] + (1 - kept) * y[j])


@given(shape=sizes, seed=seeds, alpha=st.floats(0.05, 5))
def test_cutmix_pastes_a_rectangle_and_counts_its_pixels(shape, seed, alpha):
    x = torch.arange(shape[0]).double()[:, None, None, None].expand(shape).contiguous()
    y = torch.eye(shape[0]).double()  # every picture is a class of its own
    out = cutmix(x, y, alpha=alpha, generator=coin(seed))
    for i, j in enumerate(out.partner.tolist()):
        pasted = (out.images[i] != i).any(dim=0)
        assert pasted.equal(pasted.any(dim=1)[:, None] & pasted.any(dim=0))
        assert set(out.images[i].unique().tolist()) <= {float(i), float(j)}
        if i != j:
            kept = 1 - pasted.double().mean()
            torch.testing.assert_close(out.kept[i], kept)
            torch.testing.assert_close(out.targets[i], kept * y[i] + (1 - kept) * y[j])
        else:
            assert out.images[i].equal(x[i]) and out.targets[i].equal(y[i])


@pytest.mark.parametrize("mix", [mixup, cutmix])
@given(seed=seeds)
def test_targets_are_shares_again(mix, seed):
    out = mix(some((5, 1, 8, 8)), targets_of(5, seed=seed), generator=coin(seed))
    torch.testing.assert_close(out.targets.sum(dim=1), torch.ones(5))
    assert out.targets.min() >= 0


def test_the_shares_are_drawn_from_beta():
    """Its mean is 1/2 and its variance 1 / (4 (2α + 1))."""
    x, y = torch.zeros(20_000, 1, 1, 1), torch.ones(20_000, 1)
    for alpha in (0.2, 1.0, 4.0):
        kept = mixup(x, y, alpha=alpha, generator=coin()).kept
        assert abs(kept.mean() - 0.5) < 0.01
        assert abs(kept.var() - 1 / (4 * (2 * alpha + 1))) < 0.005
    assert kept.unique().numel() > 19_000  # one for each picture


def test_a_rectangle_in_the_middle_has_the_area_that_was_drawn():
    """What is cut off at the border is missing, so the mean of what was kept is above 1/2."""
    out = cutmix(torch.zeros(4000, 1, 64, 64), torch.ones(4000, 1), generator=coin())
    assert 0.55 < out.kept.mean() < 0.75
    assert out.kept.min() < 0.1 and out.kept.max() > 0.99


# Bad input


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda x, y: random_erase(x, area=(0.5, 0.2)), "from the smaller to the larger"),
        (lambda x, y: random_erase(x, aspect=3.0), "aspect be at most 1"),
        (lambda x, y: cutmix(x, y[:2]), r"\(3, classes\), found \(2, 4\)"),
        (lambda x, y: cutmix(x, y.argmax(1)), r"\(3, classes\), found \(3,\)"),
        (lambda x, y: mixup(x, y.long()), "targets must be shares.*found torch.int64"),
        (lambda x, y: mixup(x, [1, 2, 3]), "found list"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call(some((3, 1, 4, 4)), targets_of(3))
