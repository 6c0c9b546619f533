"""Where a detector looks, counted on maps small enough to count by hand."""

import pytest
import torch

from coursekit.analysis.detector_attention import (
    cell_middles,
    cells_inside,
    object_lifts,
    ring_shares,
)

# A map of 4 rows and 5 columns. The left object holds cells 0, 1, 5, 6, the right one 13 and 14.
GRID = (4, 5)
BOXES = torch.tensor([[0.0, 0.0, 0.4, 0.5], [0.6, 0.5, 1.0, 0.75]])
OWN = torch.zeros(2, 20, dtype=torch.bool)
OWN[0, [0, 1, 5, 6]] = True
OWN[1, [13, 14]] = True


def test_cells_are_numbered_row_by_row():
    middles = cell_middles(GRID, BOXES)
    torch.testing.assert_close(middles[13], torch.tensor([0.7, 0.625]))
    assert torch.equal(cells_inside(BOXES, GRID), OWN)


def test_even_attention_is_1_everywhere():
    even = torch.full((20, 20), 1 / 20)
    torch.testing.assert_close(object_lifts(even, BOXES, GRID), torch.ones(2, 3))
    told, cells = ring_shares(even[:2], BOXES, GRID)
    torch.testing.assert_close(told, cells)
    torch.testing.assert_close(cells.sum(dim=1), torch.ones(2))


def test_who_is_looked_at_from_the_middle_of_an_object():
    """The left middle lies in cell 6, the right one in cell 14."""
    weights = torch.zeros(20, 20)
    weights[6, 0], weights[6, 13], weights[6, 19] = 0.5, 0.3, 0.2
    weights[14, 14] = 1.0
    expected = [[0.5 / (4 / 20), 0.3 / (2 / 20), 0.2 / (14 / 20)], [1 / (2 / 20), 0, 0]]
    torch.testing.assert_close(object_lifts(weights, BOXES, GRID), torch.tensor(expected))


def test_an_object_between_the_cells_middles_owns_the_cell_it_lies_in():
    small = torch.tensor([[0.01, 0.01, 0.05, 0.05]])
    weights = torch.zeros(20, 20)
    weights[0, 0] = 1.0
    own, others, rest = object_lifts(weights, small, GRID)[0]
    assert own == 20 and others.isnan() and rest == 0


def test_rings_around_a_box():
    """The box is 0.4 wide, so rings end at 0.1, 0.2 and 0.3 from its middle."""
    box = torch.tensor([[0.3, 0.3, 0.7, 0.7]])
    weights = torch.zeros(10, 10)
    for row, share in (
        (5, 0.1),
        (6, 0.2),
        (7, 0.3),
        (8, 0.4),
    ):  # middles 0.05, 0.15, 0.25, 0.35 off
        weights[row, 4] = share
    told, cells = ring_shares(weights.flatten()[None], box, (10, 10))
    torch.testing.assert_close(told, torch.tensor([[0.1, 0.2, 0.3, 0.4]]))
    torch.testing.assert_close(cells, torch.tensor([[0.04, 0.12, 0.20, 0.64]]))


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match=r"weights must have shape \(20, 20\) on a map of 4×5"):
        object_lifts(torch.zeros(4, 4), BOXES, GRID)
    with pytest.raises(ValueError, match=r"weights must have shape \(2, 20\), a row for each box"):
        ring_shares(torch.zeros(3, 20), BOXES, GRID)
