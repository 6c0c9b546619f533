"""What "Masking" says beyond the asserts of its notebook."""

from __future__ import annotations

import pytest
import torch

from coursekit import masks
from coursekit.blocks import Stack


def reached(mask: torch.Tensor, layers: int) -> torch.Tensor:
    """Return which inputs (T, S) each output can depend on after some layers."""
    field = torch.eye(len(mask))
    for _ in range(layers):
        field = ((mask | torch.eye(len(mask), dtype=torch.bool)).float() @ field > 0).float()
    return field > 0


@pytest.mark.parametrize(
    ("mask", "layers"),
    [
        (masks.local(64, radius=3), 21),
        (masks.longformer(64, radius=3, tokens=[0]), 2),
        (torch.ones(64, 64, dtype=torch.bool), 1),
    ],
)
def test_so_many_layers_and_not_one_fewer_reach_the_whole_text(mask, layers):
    assert reached(mask, layers).all() and not reached(mask, layers - 1).all()


@pytest.mark.parametrize(("lead", "lost"), [(100, False), (110, True)])
def test_dividing_after_the_softmax_loses_the_row_when_the_lead_is_large(lead, lost):
    """The last question: weights set to zero after the softmax, each row divided by its sum."""
    weights = torch.tensor([float(lead), 0.0, 0.0]).softmax(dim=-1)[1:]
    assert (weights / weights.sum()).isnan().any() == lost


@pytest.mark.parametrize("seed", range(3))
def test_padding_changes_a_sentence_unless_it_is_masked(seed):
    torch.manual_seed(seed)
    stack = Stack(depth=2, width=16, heads=2).eval()
    x = torch.randn(1, 6, 16)
    keep = torch.arange(6) < 3
    alone, without = stack(x[:, :3]), stack(x)[:, :3]
    torch.testing.assert_close(stack(x, mask=keep[None, None, None])[:, :3], alone)
    assert (without - alone).abs().max() > 0.1
