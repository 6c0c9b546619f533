"""Swin on a page is Swin: the same weights give the same answers and learn the same."""

import re

import pytest
import torch

from coursekit.biases import WindowBias
from coursekit.models import swin as full
from coursekit.models.swin import Swin, SwinConfig
from coursekit.plain.swin import (
    PlainSwin,
    WindowAttention,
    offset_index,
    shift_mask,
    window_partition,
    window_reverse,
)

from .twins import shaken, substituted

SIZES = {"patch": 2, "channels": 2, "classes": 5, "width": 4, "depths": (2, 3), "heads": (2, 4)}
RENAMED = {  # the page -> the full model; what is not here has one name in both
    r"^embedding\.": "embedding.project.",
    r"^embedding_norm\.": "embedding.norm.",
    r"^(stages\.\d+)\.0\.(norm|reduce)\.": r"\1.merge.\2.",
    r"\.attention_norm\.": ".attention_residual.norm.",
    r"\.feed_norm\.": ".feed_residual.norm.",
    r"\.(expand|contract)\.": r".feed_forward.\1.",
    r"\.attention\.bias$": ".attention.bias.weight",
}


def full_name(name: str) -> str:
    name = substituted(name, RENAMED)
    # Of the later stages the page counts the merging as number 0.
    number = re.match(r"stages\.(\d+)\.(\d+)\.(.*)", name)
    if number is None:
        return name
    stage, place, rest = number.groups()
    return f"stages.{stage}.blocks.{int(place) - (stage != '0')}.{rest}"


def random_plain(dtype: torch.dtype = torch.float64, **changes) -> PlainSwin:
    """Return the page's model with no weight zero or one."""
    torch.manual_seed(0)
    return shaken(PlainSwin(**{"window": 2, **SIZES, **changes}).to(dtype), by=0.3)


def twins(dtype: torch.dtype, image: tuple[int, int], **changes) -> tuple[PlainSwin, Swin]:
    """Return both models with one set of weights."""
    plain = random_plain(dtype, **changes)
    model = Swin(SwinConfig(image=image, **{"window": 2, **SIZES, **changes})).to(dtype)
    model.load_state_dict({full_name(n): weight for n, weight in plain.state_dict().items()})
    return plain, model


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    ("batch", "image", "changes"),
    [
        (2, (16, 24), {}),  # shifts in both stages
        (1, (8, 8), {}),  # one window in the last stage
        (2, (8, 24), {}),  # one row of windows there, which does not shift
        (3, (24, 36), {"window": 3}),  # a side without a middle
        (1, (2, 2), {"window": 1, "depths": (2,), "heads": (1,)}),  # a map of one cell
        (1, (32, 16), {"depths": (1, 2, 2), "heads": (1, 2, 4), "channels": 3, "classes": 1}),
        (1, (32, 32), {"depths": (2, 2, 2, 2), "heads": (1, 2, 4, 8)}),
        (2, (16, 20), {"window": 4, "patch": 1, "depths": (4,), "heads": (2,)}),
    ],
)
def test_equal_to_the_full_one_forward_and_backward(batch, image, changes, dtype, atol):
    plain, model = twins(dtype, image, **changes)
    images = torch.randn(batch, changes.get("channels", 2), *image, dtype=dtype)
    logits, expected = plain(images), model(images)
    assert logits.shape == (batch, changes.get("classes", 5))
    torch.testing.assert_close(logits, expected, atol=atol, rtol=atol)
    logits.sin().sum().backward()
    expected.sin().sum().backward()
    theirs = {name: parameter.grad for name, parameter in model.named_parameters()}
    for name, parameter in plain.named_parameters():
        grad = theirs.pop(full_name(name))
        scale = 1 + grad.abs().max()
        assert (parameter.grad - grad).abs().max() <= 10 * atol * scale, name
    assert not theirs


def test_sizes_are_those_of_the_paper():
    with torch.device("meta"):
        plain, model = PlainSwin(), Swin(SwinConfig.tiny())
    assert {full_name(n): p.shape for n, p in plain.state_dict().items()} == {
        n: p.shape for n, p in model.state_dict().items()
    }


def seen_from(row: int, column: int, shift: int) -> torch.Tensor:
    """(8, 8): which cells one cell of a map with windows of 4 looks at."""
    torch.manual_seed(0)
    attention = WindowAttention(width=4, heads=2, window=4, shift=shift).double()
    x = torch.randn(1, 8, 8, 4, dtype=torch.float64, requires_grad=True)
    attention(x)[0, row, column].sum().backward()
    return (x.grad[0] != 0).any(dim=-1)


@pytest.mark.parametrize(
    ("cell", "shift", "rows", "columns"),
    [
        ((1, 6), 0, (0, 4), (4, 8)),  # windows in their place
        ((3, 3), 2, (2, 6), (2, 6)),  # moved: over the border between four of them
        ((0, 0), 2, (0, 2), (0, 2)),  # the corners share a window and do not know each other
        ((7, 7), 2, (6, 8), (6, 8)),
        ((0, 7), 2, (0, 2), (6, 8)),
        ((4, 1), 2, (2, 6), (0, 2)),
    ],
)
def test_a_cell_sees_its_window_and_no_stranger(cell, shift, rows, columns):
    expected = torch.zeros(8, 8, dtype=torch.bool)
    expected[slice(*rows), slice(*columns)] = True
    assert torch.equal(seen_from(*cell, shift), expected)


def test_what_is_cut_can_be_joined():
    x = torch.arange(2 * 6 * 9 * 2).view(2, 6, 9, 2)
    windows = window_partition(x, 3)
    assert windows.shape == (12, 9, 2) and torch.equal(windows, full.window_partition(x, 3))
    assert torch.equal(windows[6 + 5], x[1, 3:6, 6:9].flatten(0, 1))
    assert torch.equal(window_reverse(windows, 3, 6, 9), x)


def test_masks_and_offsets_are_those_of_the_full_one():
    for sizes in ((8, 8, 4, 2), (6, 9, 3, 1), (4, 4, 4, 0)):
        assert torch.equal(shift_mask(*sizes), full.shift_mask(*sizes)[:, 0])
    table = WindowBias(heads=2, height=3, columns=3)
    assert torch.equal(table(3, 3), table.weight[offset_index(3)].permute(2, 0, 1))
