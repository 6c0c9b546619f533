"""What assignment 19 calls right is what the course's Swin computes, what transformers' Swin does
with its own tables and slices, and what loops over single cells give.
"""

from __future__ import annotations

import itertools
import os

os.environ["HF_HUB_OFFLINE"] = "1"

import ours
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from coursekit.attention import attention
from coursekit.biases import WindowBias
from coursekit.check.probe import randn
from coursekit.models.swin import (
    PatchMerging,
    WindowAttention,
    shift_mask,
    window_partition,
    window_reverse,
)
from coursetools.questions import catalogue

RIGHT = catalogue.references(ours.load("a19_swin"))
DOUBLE = torch.float64
SIDES = st.integers(1, 4)
GRIDS = st.tuples(st.integers(1, 3), st.integers(1, 3))  # windows, down and across


def windows(x, side, size=None):
    """The course's sentence has the three numbers, too."""
    return window_partition(x, side) if size is None else window_reverse(x, side, *size)


def hide_strangers(rows, columns, side, down, right):
    """As the authors' code does: a number for each of up to nine parts of the rolled map."""

    def cuts(n, shift):
        return slice(n - side), slice(n - side, n - shift), slice(n - shift, n)

    region = torch.zeros(1, rows, columns, 1)
    parts = itertools.product(cuts(rows, down), cuts(columns, right))
    for number, (row, column) in enumerate(parts):
        region[:, row, column] = number
    region = window_partition(region, side)  # (W, M², 1)
    return region == region.mT


def offset_index(rows, columns):
    """The course's bias, whose learned numbers are their own places."""
    bias = WindowBias(heads=1, height=rows, columns=columns)
    bias.weight.data = torch.arange(float(len(bias.weight)))[:, None]
    return bias()[0].long()


def shifted_attention(q, k, v, bias, side, shift=0):
    """The course's roll, windows, mask and attention; its module has projections about them."""
    R, C = q.shape[1:3]
    allowed = shift_mask(R, C, side, shift).repeat(len(q), 1, 1, 1)  # (B·W, 1, M², M²)
    moved = (window_partition(x.roll((-shift, -shift), dims=(1, 2)), side) for x in (q, k, v))
    seen = attention(*(x[:, None] for x in moved), allowed, bias=bias)[:, 0]
    return window_reverse(seen, side, R, C).roll((shift, shift), dims=(1, 2))


def merge(x, gain, bias, weight, eps=1e-5):
    module = PatchMerging(width=x.shape[3], eps=eps)
    parts = {"norm.weight": gain, "norm.bias": bias, "reduce.weight": weight}
    return torch.func.functional_call(module, parts, (x,))


def window_flops(rows, columns, width, heads, side=None):
    """Counted on the course's module, which sees only shapes on the device "meta"."""
    with torch.device("meta"):
        net = WindowAttention(
            width=width,
            heads=heads,
            window=side or max(rows, columns),
            shrink=False,
            relative_bias=False,
        )
        x = torch.empty(1, rows, columns, width)
    with FlopCounterMode(display=False) as counter:
        if side is None:
            net.multi_head(x.flatten(1, 2))
        else:
            net(x)
    return counter.get_total_flops() // 2


PARTS = [windows, hide_strangers, offset_index, shifted_attention, merge, window_flops]


@pytest.mark.parametrize("part", PARTS, ids=lambda f: f.__name__)
def test_our_answer_and_the_part_of_the_course_agree_on_every_case(part):
    ours.agree(part.__name__, part)


def cells_of(side, grid):
    """Yield window, place in it, row and column, in reading order."""
    for window, (down, right) in enumerate(itertools.product(*map(range, grid))):
        for place, (r, c) in enumerate(itertools.product(range(side), repeat=2)):
            yield window, place, down * side + r, right * side + c


@settings(deadline=None)
@given(st.integers(1, 3), GRIDS, SIDES)
def test_every_cell_is_in_its_window_and_comes_back(maps, grid, side):
    size = tuple(n * side for n in grid)
    x, count = randn(maps, *size, 2, seed=1), grid[0] * grid[1]
    cut = RIGHT.windows(x, side)
    assert cut.shape == (maps * count, side**2, 2)
    for (window, place, r, c), one in itertools.product(cells_of(side, grid), range(maps)):
        assert torch.equal(cut[one * count + window, place], x[one, r, c])
    assert torch.equal(RIGHT.windows(cut, side, size), x)


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 8))
def test_a_map_is_refused_where_the_course_refuses_it(rows, columns, side):
    x = torch.zeros(1, rows, columns, 1)
    if rows % side or columns % side:
        with pytest.raises(ValueError, match=rf"\b{side}\b.*\b{rows}\b.*\b{columns}\b"):
            RIGHT.windows(x, side)
        with pytest.raises(ValueError):
            window_partition(x, side)
    else:
        assert torch.equal(RIGHT.windows(x, side), window_partition(x, side))


@settings(deadline=None, max_examples=40)
@given(GRIDS, st.integers(1, 5), st.data())
def test_who_may_attend_lay_in_one_window_that_had_moved(grid, side, data):
    """The windows of the map before the roll, moved by the shift; smaller ones at the edges."""
    down, right = (data.draw(st.integers(0, side - 1)) for _ in range(2))
    rows, columns = (n * side for n in grid)
    allowed = RIGHT.hide_strangers(rows, columns, side, down, right)

    def home(r, c):  # of a cell of the rolled map
        return ((r + down) % rows - down) // side, ((c + right) % columns - right) // side

    homes = [[None] * side**2 for _ in range(grid[0] * grid[1])]
    for window, place, r, c in cells_of(side, grid):
        homes[window][place] = home(r, c)
    expected = [[[one == other for other in window] for one in window] for window in homes]
    assert allowed.tolist() == expected


def transformers_layer(width, rows, columns, side, shift):
    from transformers import SwinConfig
    from transformers.models.swin.modeling_swin import SwinLayer

    config = SwinConfig(window_size=side)
    config._attn_implementation = "eager"
    return SwinLayer(config, width, (rows, columns), num_heads=1, shift_size=shift)


@pytest.mark.parametrize(("rows", "columns", "side", "shift"), [(8, 12, 4, 2), (14, 21, 7, 3)])
def test_the_mask_is_that_of_transformers(rows, columns, side, shift):
    layer = transformers_layer(4, rows, columns, side, shift)
    theirs = layer.get_attn_mask(rows, columns, torch.float32, torch.device("cpu"))
    found = RIGHT.hide_strangers(rows, columns, side, shift, shift)
    assert torch.equal(found, theirs == 0)
    assert torch.equal(found, shift_mask(rows, columns, side, shift)[:, 0])


@pytest.mark.parametrize("side", [2, 4, 7])
def test_the_index_is_that_of_transformers(side):
    layer = transformers_layer(4, 2 * side, 2 * side, side, 0)
    theirs = layer.attention.relative_position_bias.relative_position_index
    assert torch.equal(RIGHT.offset_index(side, side).flatten(), theirs)


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 6))
def test_an_index_is_the_place_of_an_offset(rows, columns):
    places = list(itertools.product(range(1 - rows, rows), range(1 - columns, columns)))
    cells = list(itertools.product(range(rows), range(columns)))
    expected = [[places.index((r - s, c - d)) for s, d in cells] for r, c in cells]
    assert RIGHT.offset_index(rows, columns).tolist() == expected


def cell_by_cell(q, k, v, bias, side, shift):
    """No roll, no mask: windows that have moved, at the edges smaller ones."""
    R, C, D = q.shape[1:]
    cells = list(itertools.product(range(R), range(C)))

    def home(r, c):
        return (r - shift) // side, (c - shift) // side

    def place(r, c):
        return (r - shift) % side * side + (c - shift) % side

    out = torch.zeros_like(v)
    for one in cells:
        near = [other for other in cells if home(*other) == home(*one)]
        scores = torch.stack(
            [
                (q[:, *one] * k[:, *other]).sum(-1) / D**0.5 + bias[place(*one), place(*other)]
                for other in near
            ]
        )  # (cells that it sees, B)
        values = torch.stack([v[:, *other] for other in near])
        out[:, *one] = (scores.softmax(dim=0)[..., None] * values).sum(dim=0)
    return out


@settings(deadline=None, max_examples=25)
@given(GRIDS, st.integers(1, 3), st.integers(1, 2), st.data())
def test_a_shifted_step_is_one_of_windows_that_have_moved(grid, side, maps, data):
    shift = data.draw(st.integers(0, side - 1))
    size = maps, *(n * side for n in grid)
    given = [randn(*size, d, seed=n, dtype=DOUBLE) for n, d in enumerate((2, 2, 3))]
    bias = randn(side**2, side**2, seed=3, dtype=DOUBLE)
    torch.testing.assert_close(
        RIGHT.shifted_attention(*given, bias, side, shift),
        cell_by_cell(*given, bias, side, shift),
    )


@pytest.mark.parametrize(("rows", "columns", "shift"), [(8, 8, 2), (4, 12, 1), (4, 4, 3)])
def test_with_the_courses_projections_it_is_the_courses_layer(rows, columns, shift):
    torch.manual_seed(0)
    net = WindowAttention(width=6, heads=1, window=4, shift=shift, shrink=False).double()
    x = randn(2, rows, columns, 6, seed=4, dtype=DOUBLE)
    bias = net.bias.weight[RIGHT.offset_index(4, 4), 0]
    with torch.no_grad():
        q, k, v = net.multi_head.qkv(x).chunk(3, dim=-1)
        ours = net.multi_head.out(RIGHT.shifted_attention(q, k, v, bias, 4, shift))
        torch.testing.assert_close(ours, net(x))


def test_with_transformers_projections_it_is_their_layer():
    """Its norms left out, and of its feed-forward network there is nothing to add."""
    torch.manual_seed(0)
    layer = transformers_layer(6, 8, 12, 4, 2).eval()
    layer.layernorm_before = layer.layernorm_after = nn.Identity()
    layer.mlp = Nothing()
    inner, x = layer.attention, randn(2, 8, 12, 6, seed=5)
    with torch.no_grad():
        table = inner.relative_position_bias.relative_position_bias_table.normal_()
        found, _ = layer(x.flatten(1, 2), (8, 12))
        q, k, v = (part(x) for part in (inner.q_proj, inner.k_proj, inner.v_proj))
        bias = table[RIGHT.offset_index(4, 4), 0]
        out = inner.o_proj(RIGHT.shifted_attention(q, k, v, bias, 4, 2))
    torch.testing.assert_close(found, (x + out).flatten(1, 2), atol=1e-5, rtol=1e-5)


class Nothing(nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)


def test_two_steps_reach_over_a_border_and_one_does_not():
    still = torch.zeros(1, 8, 8, 1)
    bias = torch.zeros(16, 16)

    def heard(place, shifts):
        x = torch.ones(1, 8, 8, 1, requires_grad=True)
        out = x
        for shift in shifts:
            out = RIGHT.shifted_attention(still, still, out, bias, 4, shift)
        (slope,) = torch.autograd.grad(out[0, *place, 0], x)
        return int((slope > 0).sum())

    assert [heard((3, 3), shifts) for shifts in ((0,), (0, 0, 0), (0, 2))] == [16, 16, 64]
    assert [heard((0, 0), shifts) for shifts in ((2,), (0, 2), (0, 2, 0))] == [4, 16, 64]


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3), st.integers(2, 7), st.integers(2, 7), st.integers(1, 3))
def test_merging_is_that_of_transformers(maps, rows, columns, width):
    from transformers.models.swin.modeling_swin import SwinPatchMerging

    module = SwinPatchMerging(width)
    x = randn(maps, rows, columns, width, seed=6)
    with torch.no_grad():
        for n, parameter in enumerate(module.parameters()):
            parameter.copy_(randn(*parameter.shape, seed=7 + n))
        theirs = module(x.flatten(1, 2), (rows, columns))
        ours = RIGHT.merge(x, module.norm.weight, module.norm.bias, module.reduction.weight)
    torch.testing.assert_close(ours.flatten(1, 2), theirs, atol=1e-4, rtol=1e-4)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4)
)
def test_the_bill_is_what_torch_counts(rows, columns, heads, each, side):
    sizes = rows, columns, heads * each, heads
    assert RIGHT.window_flops(*sizes) == window_flops(*sizes)
    assert RIGHT.window_flops(*sizes, side) == window_flops(*sizes, side)


def test_the_texts_examples_are_right():
    cells = torch.arange(16).reshape(1, 4, 4, 1)
    assert RIGHT.windows(cells, 2)[:2, :, 0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert torch.equal(RIGHT.hide_strangers(2, 2, 2, 1, 1)[0], torch.eye(4).bool())
    assert RIGHT.offset_index(1, 3).tolist() == [[2, 1, 0], [3, 2, 1], [4, 3, 2]]
    q, v = torch.zeros(1, 2, 4, 1), torch.arange(8.0).reshape(1, 2, 4, 1)
    still, moved = (RIGHT.shifted_attention(q, q, v, torch.zeros(4, 4), 2, s) for s in (0, 1))
    assert still.flatten().tolist() == [2.5, 2.5, 4.5, 4.5] * 2
    assert moved.flatten().tolist() == [0, 1.5, 1.5, 3, 4, 5.5, 5.5, 7]
    four = torch.tensor([[1.0, 3.0], [2.0, 5.0]]).reshape(1, 2, 2, 1)
    made = RIGHT.merge(four, torch.ones(4), torch.zeros(4), torch.eye(4)[:1])
    assert made.item() == pytest.approx(-1.18, abs=5e-3)
    assert RIGHT.window_flops(2, 2, 3, 1) == 240


def test_the_written_questions_answer_counts_the_windows_rightly():
    for cells, edge in ((56, 15), (28, 7), (14, 3)):
        allowed = RIGHT.hide_strangers(cells, cells, 7, 3, 3)
        strange = (~allowed).any(dim=2).any(dim=1)
        assert (len(strange), int(strange.sum())) == ((cells // 7) ** 2, edge)
    outermost, luck = 1 - (200 / 224) ** 2, (0.8 * 0.2 / 5000) ** 0.5
    assert (round(outermost, 2), round(luck, 4)) == (0.2, 0.0057)
    scores = (74.1, 71.8), (73.0, 66.4)  # of all pixels and of the outermost, with and without
    inner = [(everything - outermost * edge) / (1 - outermost) for everything, edge in scores]
    assert inner[0] == pytest.approx(inner[1], abs=0.2)  # the rest is as good with and without
