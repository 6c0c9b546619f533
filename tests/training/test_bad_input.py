"""Bad input to anything about training gets a message that names the argument."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from coursekit import training as t
from coursekit.boxes.geometry import Objects
from coursekit.models import Bert, BertConfig, Seq2SeqConfig, Seq2SeqTransformer
from coursekit.tokenizers import Words

from ..refusals import Good, New, missing, public

ITEMS = [torch.zeros(1)] * 3
MODEL = nn.Linear(1, 1)
WEIGHTS = [torch.zeros(2, requires_grad=True)]
SMALL = BertConfig(vocabulary=9, width=8, depth=2, heads=2, hidden=8)
PICTURES, LABELS = torch.zeros(4, 1, 4, 4), torch.tensor([0, 1, 0, 1])
CORNERS = torch.tensor([[0.1, 0.1, 0.6, 0.7]])
SCENES = t.Pictures(torch.rand(1, 3, 32, 32), torch.tensor([1]), CORNERS, torch.tensor([1]))


TRANSLATOR = Seq2SeqTransformer(Seq2SeqConfig(vocabulary=9, width=8, depth=1, heads=2, hidden=8))
PAIRS = [t.Encoded([5, 2], [5, 2])]
WORDS = Words(["<pad>", "<start>", "<end>", *"abcdef"])


class Means(nn.Module):
    """A classifier into two classes, by the mean of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1).mean(dim=1, keepdim=True) * self.weight


def bert() -> Bert:
    return Bert(SMALL)


def summed(model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
    return model(batch).sum(), len(batch)


def growing() -> dict[str, object]:
    return {"first": 1, "last": 4, "steps": 9}


TABLE = {
    "Batches": lambda: Good(
        t.Batches, {"items": ITEMS, "collate": list, "size": 2}, bad={"size": [0, 1.5]}
    ),
    "Batches.from_step": lambda: Good(
        t.Batches(ITEMS, list, size=2).from_step, {"first": 1}
    ),
    "random_mirror": lambda: Good(t.random_mirror, {"batch": SCENES}),
    "set_loss": lambda: Good(t.set_loss, {"objective": None}),
    "detect": lambda: Good(t.detect, {"model": Means(), "items": []}),
    "ClipGradients": lambda: Good(t.ClipGradients, {"max_norm": 1.0}, bad={"max_norm": [0.0]}),
    "EarlyStopping": lambda: Good(t.EarlyStopping, {"patience": 2}, bad={"patience": [0]}),
    "Evaluate": lambda: Good(t.Evaluate, {"every": 2}, bad={"every": [0]}),
    "AverageWeights": lambda: Good(t.AverageWeights, {"last": 2}, bad={"last": [0]}),
    "KeepWeights": lambda: Good(
        t.KeepWeights, {"last": 2, "until": 1.0}, bad={"last": [0], "until": [0.0]}
    ),
    "layer_rates": lambda: Good(
        t.layer_rates, {"model": bert(), "lr": 0.1, "decay": 0.9}, bad={"decay": [1.1]}
    ),
    "fresh_top": lambda: Good(t.fresh_top, {"model": New(bert), "layers": 1}),
    "expected_best": lambda: Good(t.expected_best, {"scores": [0.1, 0.2], "n": 2}, bad={"n": [0]}),
    "clip_gradients": lambda: Good(
        t.clip_gradients, {"parameters": WEIGHTS, "largest": 1.0}, bad={"largest": [0]}
    ),
    "Computing": lambda: Good(t.Computing, {}),
    "LoRA": lambda: Good(t.LoRA, {"frozen": nn.Linear(4, 4), "rank": 2, "alpha": 4.0}),
    "LoRA.forward": lambda: Good(
        t.LoRA(nn.Linear(4, 4), rank=2, alpha=4.0).forward, {"x": torch.ones(2, 4)}, free="x"
    ),
    "add_lora": lambda: Good(t.add_lora, {"model": New(bert), "rank": 2, "alpha": 4.0}),
    "AdamW": lambda: Good(t.AdamW, {"parameters": WEIGHTS}),
    "RAdam": lambda: Good(t.RAdam, {"parameters": WEIGHTS}),
    "as_input": lambda: Good(
        t.as_input, {"images": torch.zeros(4, 8, 8).byte()}, free="images:dtype"
    ),
    "picture_loss": lambda: Good(t.picture_loss, {}),
    "class_scores": lambda: Good(
        t.class_scores, {"model": Means(), "pictures": PICTURES}, free="pictures"
    ),
    "accuracy": lambda: Good(
        t.accuracy, {"model": Means(), "pictures": PICTURES, "labels": LABELS},
        free="pictures labels",
    ),
    "constant": lambda: Good(t.constant, {}, free="*:fraction"),
    "inverse_sqrt": lambda: Good(t.inverse_sqrt, {"warmup": 4}, free="*:fraction"),
    "vaswani": lambda: Good(t.vaswani, {"width": 8}, free="*:fraction"),
    "linear": lambda: Good(t.linear, {"total": 9}, free="*:fraction"),
    "cosine": lambda: Good(t.cosine, {"total": 9}, free="*:fraction"),
    "growth": lambda: Good(t.growth, growing()),
    "switch": lambda: Good(t.switch, growing()),
    "crop": lambda: Good(
        t.crop, {"images": torch.rand(1, 3, 32, 32), "picture": torch.tensor([0]),
                 "boxes": CORNERS},
        free="picture",
    ),
    "draw_windows": lambda: Good(
        t.draw_windows, {"batch": SCENES},
        bad={"sides": [(0.1, 4.0)]}, says={"sides": "largest_side"},
    ),
    "window_loss": lambda: Good(t.window_loss, {"sides": (0.1, 0.4)}),
    "all_windows": lambda: Good(t.all_windows, {"size": 32, "sides": (8, 16)}),
    "scan": lambda: Good(
        t.scan, {"model": Means(), "image": torch.rand(3, 24, 24), "windows": CORNERS}
    ),
    "without_duplicates": lambda: Good(
        t.without_duplicates,
        {"detections": Objects(
            labels=torch.tensor([0]), boxes=CORNERS, scores=torch.tensor([0.5]))},
    ),
    "random_windows": lambda: Good(
        t.random_windows, {"tokens": torch.arange(9), "length": 3, "size": 2}
    ),
    "train": lambda: Good(
        t.train,
        {"model": MODEL, "batches": t.Batches(ITEMS, torch.stack, size=2), "loss": summed,
         "optimizer": torch.optim.SGD(MODEL.parameters(), lr=0.1), "steps": 1,
         "callbacks": [t.ProgressBar(quiet=True)]},
        bad={"batches": [iter([])]},
    ),
    "mean_loss": lambda: Good(
        t.mean_loss, {"model": TRANSLATOR, "pairs": PAIRS}, bad={"pairs": [[]]}
    ),
    "translate": lambda: Good(
        t.translate, {"model": TRANSLATOR, "pairs": PAIRS, "tokenizer": WORDS},
        free="alpha",
    ),
    "translation_loss": lambda: Good(t.translation_loss, {}),
}  # fmt: skip


def test_everything_about_training_has_an_entry():
    assert missing(TABLE, public(t, t.__all__)) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []
