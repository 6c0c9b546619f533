"""Bad input to any source of data gets a message that names the argument."""

from __future__ import annotations

import pytest
import torch

from coursekit import data as d
from coursekit.data.images import Images

from ..refusals import Good, missing, public

IMAGES, SHARES = torch.rand(3, 1, 4, 4), torch.eye(3)
PICTURES = Images(torch.zeros(4, 8, 8).byte(), torch.tensor([0, 1, 0, 1]), ("a", "b"))
NEGATIVE, NEGATIVE_SAYS = {"targets": [SHARES - 1]}, {"targets": "targets|smallest_share"}
SPLIT = {"split": ["dev", 3]}

TABLE = {
    "random_flip": lambda: Good(d.random_flip, {"images": IMAGES}, bad={"share": [1.5]}),
    "random_shift": lambda: Good(d.random_shift, {"images": IMAGES}, free="fill"),
    "random_erase": lambda: Good(
        d.random_erase, {"images": IMAGES}, bad={"share": [1.5], "aspect": [0.0, 3.0]}
    ),
    "mixup": lambda: Good(
        d.mixup, {"images": IMAGES, "targets": SHARES}, bad=NEGATIVE, says=NEGATIVE_SAYS
    ),
    "cutmix": lambda: Good(
        d.cutmix, {"images": IMAGES, "targets": SHARES}, bad=NEGATIVE, says=NEGATIVE_SAYS
    ),
    "blanks": lambda: Good(d.blanks, {}, bad={**SPLIT, "longest": [0]}),
    "paint_canvases": lambda: Good(d.paint_canvases, {"pictures": PICTURES, "count": 2}),
    "as_canvas": lambda: Good(d.as_canvas, {"images": torch.zeros(1, 8, 24).byte()}),
    "ends": lambda: Good(d.ends, {"canvases": torch.zeros(1, 1, 8, 24)}),
    "split_commands": lambda: Good(d.split_commands, {"name": "jump"}, says={"name": "split"}),
    "digits": lambda: Good(d.digits, {}, bad=SPLIT),
    "documents": lambda: Good(d.documents, {}, bad=SPLIT),
    "fashion": lambda: Good(d.fashion, {}, bad={**SPLIT, "source": ["hub"]}),
    "related_words": lambda: Good(
        d.related_words, {"relation": "object", "part": "choose", "count": 3},
        bad={"relation": ["verb"], "part": ["train"], "count": [0]},
    ),
    "Related": lambda: Good(
        d.Related, {"words": ("a", "b"), "dependent": 0, "head": 1, "relation": "object"},
        free="dependent head",
    ),
    "punctuation": lambda: Good(
        d.punctuation, {}, bad={**SPLIT, "texts": ["reviews"], "longest": [1]}
    ),
    "reviews": lambda: Good(d.reviews, {}, bad={**SPLIT, "site": ["rt"], "source": ["hub"]}),
    "Scenes": lambda: Good(
        d.Scenes, {"split": "train", "count": 3, "seed": 0, "size": 32, "turned": 0}
    ),
    "scenes": lambda: Good(d.scenes, {"count": 3}, bad={**SPLIT, "turned": [181], "size": [16]}),
    "speeches": lambda: Good(d.speeches, {}, bad=SPLIT),
    "near_pairs": lambda: Good(d.near_pairs, {"texts": ["a b", "c d"]}),
    "leaders": lambda: Good(d.leaders, {"count": 3, "pairs": [(0, 1)]}),
    "king_james": lambda: Good(d.king_james, {}, bad={**SPLIT, "longest": [0]}),
    "verses": lambda: Good(d.verses, {}, bad={**SPLIT, "longest": [0]}),
    "verse_pairs": lambda: Good(d.verse_pairs, {}, bad={**SPLIT, "longest": [0]}),
}  # fmt: skip


def test_every_source_has_an_entry():
    assert missing(TABLE, public(d, d.__all__)) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []
