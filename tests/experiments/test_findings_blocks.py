"""What "Blocks" says beyond the asserts of its notebook: other seeds, and how deep is deep."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from coursekit.analysis.depth import distances_by_depth
from coursekit.blocks import Stack

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "blocks.ipynb"
SHALLOW = 4  # layers with which Post-LN trains at the high rate without a warm-up


@pytest.fixture(scope="module")
def sorter() -> dict[str, Any]:
    """Return what the cells that define the model, its training and the runs leave behind."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = {cell["id"]: "".join(cell["source"]) for cell in cells}
    given: dict[str, Any] = {}
    for cell in ("imports", "stream-growth", "sorter", "train", "train-go-on"):
        exec(code[cell].split("torch.manual_seed(0)\nsizes")[0], given)
    return given


@pytest.mark.parametrize("seed", range(4))
def test_attention_alone_makes_one_token_of_all(seed):
    torch.manual_seed(seed)
    pure = Stack(depth=6, width=64, heads=4, residual=False, feed_forward=False, norm="none")
    apart = distances_by_depth(pure.double(), torch.randn(1, 32, 64, dtype=torch.float64))
    assert apart[0] > 0.9 and apart[2] < 0.1 and apart[4:].max() < 1e-14


@pytest.mark.parametrize("seed", range(2))
def test_a_shallow_post_ln_stack_trains_without_warm_up(sorter, seed, monkeypatch):
    deep = sorter["Sorter"]
    monkeypatch.setitem(sorter, "Sorter", lambda norm: deep(norm, layers=SHALLOW))
    losses, apart = sorter["train"]("post", 5e-3, 0, seed)
    assert losses[-20:].mean() < 1 and apart[-1, -1] > 0.5


def test_equal_tokens_cost_more_than_the_position_alone():
    torch.manual_seed(0)
    target = torch.randint(10, (4000, 8)).sort(dim=1).values

    def entropy(of):
        return -(of * of.clamp_min(1e-12).log()).sum(dim=-1).mean().item()

    often = torch.nn.functional.one_hot(target, 10).double()
    position, together = entropy(often.mean(dim=0)), entropy(often.mean(dim=1))
    assert position + 0.02 < together < math.log(10)
    best = often.mean(dim=1, keepdim=True).expand_as(often).clamp_min(1e-12).log()
    assert abs(cross_entropy(best.flatten(0, 1), target.flatten()) - together) < 1e-6
