"""The pictures of "Swin" show what they are given."""

import torch

from coursekit.figures.swin import (
    SHADES,
    heard,
    per_pixel,
    pyramid,
    scores,
    shared_keys,
    shift_steps,
    window_masks,
)
from coursekit.models.swin import shift_mask, window_partition

ROLLED = torch.arange(64).view(8, 8).roll((-2, -2), dims=(0, 1))


def cells(axis):
    """Number and colour of each cell of a panel, row by row."""
    colours = [patch.get_facecolor() for patch in axis.patches]
    return [int(text.get_text()) for text in axis.texts], colours


def test_the_roll_moves_numbers_and_colours_together():
    plain, shifted, rolled = (cells(axis) for axis in shift_steps(8, 4, 2).axes)
    assert plain[0] == shifted[0] == list(range(64))
    assert rolled[0] == ROLLED.flatten().tolist()
    of = dict(zip(*shifted, strict=True))
    assert [of[n] for n in rolled[0]] == rolled[1]
    assert len(set(plain[1])) == 4 and len(set(shifted[1])) == 9


def test_cells_of_one_colour_within_a_window_are_those_that_may_meet():
    _, colours = cells(shift_steps(8, 4, 2).axes[2])
    names = {colour: n for n, colour in enumerate(dict.fromkeys(colours))}
    region = torch.tensor([names[colour] for colour in colours]).view(1, 8, 8, 1)
    region = window_partition(region, 4)[..., 0]  # (W, N)
    assert torch.equal(region[:, :, None] == region[:, None], shift_mask(8, 8, 4, 2)[:, 0])


def test_masks_are_drawn_in_the_colours_of_their_rows():
    allowed = shift_mask(8, 8, 4, 2)[:, 0]
    regions = torch.arange(4)[:, None].expand(4, 16)
    for n, axis in enumerate(window_masks(allowed, regions).axes):
        table = torch.as_tensor(axis.images[0].get_array())
        assert torch.equal(table > 0, allowed[n]) and table.max() == n + 1
        assert len(axis.images[0].cmap.colors) == len(SHADES) + 1


def test_maps_and_costs_are_those_given():
    one = torch.rand(8, 8)
    one[0, 0] = 0
    first, last, below, empty = heard(
        {"still": {"a": one, "b": one}, "shifted": {"c": one}}, 4, (3, 4)
    ).axes
    assert (first.get_ylabel(), below.get_ylabel()) == ("still", "shifted")
    assert last.get_title() == "b" and not empty.images
    shown = torch.as_tensor(first.images[0].get_array())
    expected = 0.15 + 0.85 * (one / one.max()) ** 0.25
    expected[0, 0] = 0
    torch.testing.assert_close(shown, expected)
    assert first.lines[0].get_xydata().tolist() == [[4, 3]] and below.get_title() == "c"


def test_costs_and_scores_are_those_given():
    first, second = per_pixel([14, 28], {"cost": LINES, "time": LINES}).axes
    assert first.lines[1].get_xydata().tolist() == [[14, 1], [28, 16]]
    assert (first.get_ylabel(), second.get_ylabel()) == ("cost", "time")
    left, right = scores(SCORES, xlabel="%").axes
    assert left.get_xlim() == right.get_xlim() and left.get_title() == "cells"
    bar, seeds = right.lines[:2]
    assert list(bar.get_xdata()) == [15, 15] and list(seeds.get_xdata()) == [10, 20]


def test_the_pyramid_says_its_shapes():
    said = [text.get_text() for text in pyramid(224, 4, 96, (2, 2, 6, 2), 7, 1000).axes[0].texts]
    for stage, side in enumerate((56, 28, 14, 7)):
        assert f"{side} × {side} × {96 * 2**stage}" in said
    assert {"64 windows", "16 windows", "4 windows", "1 window"} <= set(said)
    assert "merge 2 × 2 cells: 384 numbers to 192" in said


def test_four_ways_to_look_have_as_many_keys():
    colours = [[cell.get_facecolor() for cell in axis.patches]
               for axis in shared_keys(21, 5).axes]  # fmt: skip
    looked = [sum(colour[:3] != (1, 1, 1) for colour in panel) for panel in colours]
    assert looked == [25, 25, 9 * 9, 25]


LINES = {"one": [1.0, 4.0], "two": [1.0, 16.0]}
SCORES = {name: {"cells": [30.0, 40.0], "largest": [10.0, 20.0]} for name in ("Swin", "neither")}


DRAWINGS = {
    "shift_steps": lambda: shift_steps(8, 4, 2),
    "window_masks": lambda: window_masks(shift_mask(8, 8, 4, 2)[:, 0], torch.zeros(4, 16).long()),
    "heard": lambda: heard(
        {
            name: {f"{n} blocks,\nshifted": torch.rand(8, 8) for n in range(4)}
            for name in ("", "shifted")
        },
        4,
        (0, 0),
    ),
    "pyramid": lambda: pyramid(224, 4, 96, (2, 2, 6, 2), 7, 1000),
    "per_pixel": lambda: per_pixel([14, 28], {"multiplications per\npixel (thousands)": LINES}),
    "scores": lambda: scores(SCORES, xlabel="%"),
    "shared_keys": lambda: shared_keys(21, 5),
}
