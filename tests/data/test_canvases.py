"""Canvases: one kind at both ends, different pictures, nothing between."""

import pytest
import torch

from coursekit.data.canvases import as_canvas, ends, paint_canvases
from coursekit.data.images import Images


def pictures(counts=(3, 1, 5)):
    """Kinds 0, 1, 2, …; the value of picture n of kind k is 1 + 5k + n."""
    labels = torch.tensor([kind for kind, count in enumerate(counts) for _ in range(count)])
    values = [1 + 5 * kind + n for kind, count in enumerate(counts) for n in range(count)]
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(3))
    images = torch.tensor(values, dtype=torch.uint8)[:, None, None].expand(-1, 8, 8)
    return Images(images[order], labels[order], tuple(map(str, range(len(counts)))))


def drawn(count=3000, **options):
    made = paint_canvases(pictures(), count, generator=torch.Generator().manual_seed(0), **options)
    left, right = (part[:, 0, 0].long() - 1 for part in ends(made.images))
    return made, left, right


def test_both_ends_have_the_kind_of_the_label_and_the_middle_nothing():
    made, left, right = drawn()
    assert made.images.shape == (3000, 8, 24) and made.images.dtype == torch.uint8
    assert torch.equal(left // 5, made.labels) and torch.equal(right // 5, made.labels)
    assert not made.images[..., 8:16].any()
    for end in ends(made.images):
        assert (end == end[:, :1, :1]).all()  # whole pictures


def test_every_picture_and_every_pair_is_drawn_equally_often():
    made, left, right = drawn(9000)
    assert (torch.bincount(made.labels) / 9000 - 1 / 3).abs().max() < 0.02
    some = made.labels == 2
    pairs = torch.bincount((left[some] % 5) * 5 + right[some] % 5, minlength=25) / some.sum()
    assert (pairs - 1 / 25).abs().max() < 0.02


def test_other_ends_agree_by_chance_only():
    made, left, right = drawn(9000, same=False)
    assert torch.equal(left // 5, made.labels)
    assert (left // 5 == right // 5).double().mean().item() == pytest.approx(1 / 3, abs=0.02)
    assert (torch.bincount(right // 5) / 9000 - 1 / 3).abs().max() < 0.02


def test_gap_and_seed():
    made, _, _ = drawn(4, gap=0)
    assert made.images.shape == (4, 8, 16)
    again, other = drawn(4, gap=0)[0], paint_canvases(pictures(), 4, gap=0)
    assert torch.equal(made.images, again.images) and other.images.shape == (4, 8, 16)


def test_values_become_minus_one_to_one():
    canvas = torch.tensor([[[0, 8, 16]]], dtype=torch.uint8)
    assert as_canvas(canvas).tolist() == [[[[-1.0, 0.0, 1.0]]]]


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="each kind needs a picture, found none of 1"):
        paint_canvases(pictures((2, 0, 1)), 3)
    with pytest.raises(ValueError, match=r"images must be bytes \(N, rows, columns\), found"):
        as_canvas(torch.zeros(1, 8, 24))
    with pytest.raises(ValueError, match="8 rows and at least 16 columns, found the shape"):
        ends(torch.zeros(8, 15))
