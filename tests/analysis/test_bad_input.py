"""Bad input to any analysis gets a message that names the argument."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from coursekit import analysis as a
from coursekit.blocks import Stack
from coursekit.data.relations import Related
from coursekit.heads import MultiHeadAttention
from coursekit.models import BertConfig, GPTConfig
from coursekit.tokenizers.wordpiece import BERT_SPECIAL, WordPiece

from ..refusals import Good, missing, public

SMALL = GPTConfig(width=8, depth=1, heads=1, vocabulary=9, positions=8)
BERT = BertConfig(vocabulary=9, width=8, depth=1, heads=2, hidden=8)
RELATED = [Related(words=("a", "b"), dependent=0, head=1, relation="determiner")]
HITS = torch.rand(2, 3, 4) > 0.5
MATRIX = torch.randn(4, 4)
IMAGES, MASKED = torch.rand(2, 3, 4, 4), torch.tensor([[True, False, False, False]] * 2)
PATCHED = {"images": IMAGES, "masked": MASKED, "patch": 2}
MAPS = torch.full((1, 2, 5, 5), 0.2)  # (B, H, T, T) of [CLS] and 2 × 2 patches
FEATURES, LABELS = torch.randn(6, 2), torch.tensor([0, 1, 0, 1, 0, 1])
CORNERS = torch.tensor([[0.1, 0.2, 0.5, 0.6]])
GRID = (2, 2)
CURVES = {"compute": [[1.0, 2.0, 4.0], [2.0, 4.0, 8.0]], "loss": [[3.0, 2.0, 1.9], [3.5, 1.8, 1.5]]}

TORCH = "*:list *:axes"  # torch itself refuses a list, and axes that are not there


def encode(length: int) -> torch.Tensor:
    return torch.arange(length * 4.0).view(length, 4).sin()


def without(mask: torch.Tensor) -> None:
    with a.heads_off([MultiHeadAttention(width=4, heads=2)], mask):
        pass


def losses(mask: torch.Tensor) -> torch.Tensor:
    return mask.sum(dim=-1)


TABLE = {
    "distance_to_equal_rows": lambda: Good(a.distance_to_equal_rows, {"x": MATRIX}, free=TORCH),
    "distances_by_depth": lambda: Good(
        a.distances_by_depth, {"stack": Stack(depth=1, width=4, heads=2), "x": MATRIX[None]},
        free=TORCH,
    ),
    "local_exponents": lambda: Good(
        a.local_exponents, {"before": torch.rand(4) + 1, "after": torch.rand(4) + 1},
        free=TORCH,
    ),
    "flops_by_count": lambda: Good(a.flops_by_count, {"parameters": 1e6, "tokens": 1e6}),
    "flops_by_clock": lambda: Good(a.flops_by_clock, {"device_hours": 1.0, "sustained": 1e12}),
    "kilowatt_hours": lambda: Good(a.kilowatt_hours, {"device_hours": 1.0, "watts": 300.0}),
    "Training": lambda: Good(
        a.Training,
        {"name": "x", "sources": ("y",), "device": "z", "devices": 1, "device_hours": 1.0,
         "parameters": 1e6, "tokens": 1e6, "watts": 300.0},
    ),
    "gaussian_of": lambda: Good(a.gaussian_of, {"features": FEATURES}),
    "inception_score": lambda: Good(
        a.inception_score, {"probabilities": FEATURES.softmax(dim=-1)}
    ),
    "head_importance": lambda: Good(
        a.head_importance, {"losses": losses, "batch": 2, "heads": 3}
    ),
    "greedy_order": lambda: Good(a.greedy_order, {"losses": losses, "heads": 2}),
    "captured_energy": lambda: Good(a.captured_energy, {"matrix": MATRIX}, free=TORCH),
    "effective_rank": lambda: Good(a.effective_rank, {"matrix": MATRIX}, free=TORCH),
    "heads_off": lambda: Good(
        without,
        {"mask": torch.ones(2)},
    ),
    "weight_on": lambda: Good(
        a.weight_on, {"weights": MAPS, "chosen": torch.ones(1, 5, 5) > 0},
        free=TORCH,
    ),
    "bootstrap": lambda: Good(
        a.bootstrap, {**CURVES, "kinds": ["a", "b"], "generator": torch.Generator()}
    ),
    "cell_middles": lambda: Good(a.cell_middles, {"grid": GRID, "like": MATRIX}, free="like"),
    "cells_inside": lambda: Good(a.cells_inside, {"boxes": CORNERS, "grid": GRID}),
    "object_lifts": lambda: Good(
        a.object_lifts, {"weights": torch.full((4, 4), 0.25), "boxes": CORNERS, "grid": GRID},
        free=TORCH,
    ),
    "ring_shares": lambda: Good(
        a.ring_shares, {"weights": torch.full((1, 4), 0.25), "boxes": CORNERS, "grid": GRID},
        free=TORCH,
    ),
    "activations": lambda: Good(a.activations, {"config": SMALL, "batch": 2, "length": 4}),
    "counted": lambda: Good(a.counted, {"config": SMALL, "batch": 2, "length": 4}),
    "rows_that_fit": lambda: Good(
        a.rows_that_fit, {"config": SMALL, "length": 4, "room": 1e9}
    ),
    "hidden_pixels": lambda: Good(
        a.hidden_pixels, {"masked": MASKED, "patch": 2, "shape": (2, 3, 4, 4)}
    ),
    "fill_hidden": lambda: Good(a.fill_hidden, {**PATCHED, "guess": IMAGES}, free="guess:axes"),
    "painting_error": lambda: Good(a.painting_error, {**PATCHED, "painted": IMAGES}),
    "paint_from_neighbours": lambda: Good(a.paint_from_neighbours, PATCHED, free=TORCH),
    "paint_from_nearest": lambda: Good(
        a.paint_from_nearest, {**PATCHED, "train": torch.rand(3, 3, 4, 4)},
        free=TORCH,
    ),
    "LinearPainter": lambda: Good(
        a.LinearPainter, {"train": torch.rand(9, 3, 4, 4)}, free=TORCH,
        bad={"train": [torch.rand(1, 3, 4, 4)]}, says={"train": "pictures"},
    ),
    "patch_means": lambda: Good(a.patch_means, PATCHED),
    "length_dependence": lambda: Good(a.length_dependence, {"encode": encode, "length": 5}),
    "closest_pair": lambda: Good(a.closest_pair, {"encode": encode, "length": 5}),
    "growth": lambda: Good(a.growth, {"encode": encode, "length": 5, "times": 2}),
    "shift_residual": lambda: Good(
        a.shift_residual, {"encode": encode, "length": 9, "delta": 1}
    ),
    "shift_dependence": lambda: Good(
        a.shift_dependence,
        {"score": lambda n: torch.ones(n, n), "length": 4, "shift": 1},
    ),
    "falls_until": lambda: Good(
        a.falls_until, {"similarity": torch.tensor([1.0, 0.5, 0.7])},
        free=TORCH,
    ),
    "receptive_field": lambda: Good(
        a.receptive_field, {"layers": [(3, 1)]}, bad={"layers": [[(3, 0)], [(2.5, 1)]]}
    ),
    "depends_on": lambda: Good(
        a.depends_on,
        {"model": nn.Conv2d(1, 1, 3, padding=1), "x": torch.ones(1, 1, 4, 4), "place": (1, 1)},
    ),
    "linear_probe": lambda: Good(
        a.linear_probe, {"features": FEATURES, "labels": LABELS, "classes": 2, "steps": 2}
    ),
    "tuned_probe": lambda: Good(
        a.tuned_probe,
        {"train": (FEATURES, LABELS), "valid": (FEATURES, LABELS), "classes": 2,
         "decays": (0.1,)},
    ),
    "word_weights": lambda: Good(
        a.word_weights, {"weights": MAPS, "words": torch.tensor([[-1, 0, 0, 1, -1]])},
        free="words:dtype",
    ),
    "largest_other": lambda: Good(
        a.largest_other, {"weights": MAPS, "rows": torch.tensor([1])},
        free=f"{TORCH} rows:dtype",
    ),
    "judged_head": lambda: Good(
        a.judged_head, {"choosing": HITS, "judging": HITS},
        free=f"{TORCH} *:dtype",
    ),
    "fresh": lambda: Good(
        a.fresh, {"config": BERT},
    ),
    "relation_hits": lambda: Good(
        a.relation_hits,
        {"model": a.fresh(BERT), "tokenizer": WordPiece([*BERT_SPECIAL, "a", "b"]),
         "sentences": RELATED},
        bad={"sentences": [[]]},
    ),
    "relation_rows": lambda: Good(
        a.relation_rows,
        {"model": a.fresh(BERT), "untrained": [a.fresh(BERT, 1)], "parts": [(RELATED, RELATED)],
         "tokenizer": WordPiece([*BERT_SPECIAL, "a", "b"])},
        bad={"untrained": [[]]},
    ),
    "embed": lambda: Good(
        a.embed,
        {"model": a.fresh(BERT), "tokenizer": WordPiece([*BERT_SPECIAL, "a", "b"]),
         "texts": ["a b"]},
        bad={"texts": [[]]},
    ),
    "nearest": lambda: Good(
        a.nearest, {"queries": FEATURES, "index": FEATURES, "k": 2}, bad={"k": [7]},
        free="*:dtype",
    ),
    "recall_at_k": lambda: Good(
        a.recall_at_k, {"found": torch.tensor([[0, 1]]), "right": torch.tensor([1]), "k": 2},
        bad={"k": [3]}, free="*:dtype",
    ),
    "bm25": lambda: Good(
        a.bm25, {"queries": ["a b"], "passages": ["a", "b c"], "k1": 1.5, "b": 0.75},
        bad={"queries": [[]], "passages": [[]]},
    ),
    "offset_share": lambda: Good(
        a.offset_share, {"sentences": RELATED, "offset": -1}, free="offset:sign"
    ),
    "patch_distances": lambda: Good(a.patch_distances, {"grid": GRID, "patch": 2}),
    "attention_distance": lambda: Good(
        a.attention_distance, {"weights": MAPS, "grid": GRID, "patch": 2}
    ),
    "place_similarity": lambda: Good(
        a.place_similarity, {"table": torch.randn(4, 3), "grid": GRID},
        says={"table": "table|position vectors"},
    ),
    "principal_filters": lambda: Good(
        a.principal_filters, {"weight": torch.randn(6, 1, 2, 2), "count": 2},
        says={"weight": "weight|filters"},
    ),
    "ridge": lambda: Good(
        a.ridge, {"features": FEATURES, "targets": torch.randn(6, 2), "strength": 0.1}
    ),
    "few_shot": lambda: Good(
        a.few_shot, {"features": FEATURES, "labels": LABELS, "classes": 2, "strength": 0.1},
        free=TORCH,
    ),
}  # fmt: skip


def test_every_analysis_has_an_entry():
    assert missing(TABLE, public(a, a.__all__)) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []
