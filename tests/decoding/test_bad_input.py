"""Bad input to decoding gets a message that names the argument."""

from __future__ import annotations

import pytest
import torch

from coursekit import decoding as d
from coursekit.cache import StackCache
from coursekit.models import GPT, GPTConfig

from ..refusals import Good, New, missing, public

TOKENS, LOGITS = torch.tensor([[1, 2, 3], [4, 5, 6]]), torch.randn(2, 9)
SCORES = {"start": torch.randn(2, 4), "end": torch.randn(2, 4)}
SAYS = {"tokens": "prompts"}
WRONG = {"longest": [0, torch.tensor([1, 2, 3])], "end": [99]}


def writing(**options: object) -> dict[str, object]:
    torch.manual_seed(0)
    model = GPT(GPTConfig(vocabulary=9, width=8, depth=1, heads=2, positions=12)).eval()
    return {"model": model, "tokens": TOKENS, "state": New(model.start), "longest": 2, **options}


TABLE = {
    "State": lambda: Good(d.State, {"cache": StackCache(1)}, free="positions"),
    "left_pad": lambda: Good(d.left_pad, {"prompts": [[1, 2], [3]], "pad": 0}),
    "stream": lambda: Good(d.stream, writing(), says=SAYS, bad=WRONG, free="pad:sign"),
    "generate": lambda: Good(d.generate, writing(), says=SAYS, bad=WRONG, free="pad:sign"),
    "wu_penalty": lambda: Good(d.wu_penalty, {"length": 3, "alpha": 0.6}, free="*:nan *:sign"),
    "power_penalty": lambda: Good(
        d.power_penalty, {"length": 3, "alpha": 0.6}, free="*:nan *:sign"
    ),
    "beam_search": lambda: Good(
        d.beam_search,
        writing(beams=2, end=8),
        says=SAYS,
        free="alpha:nan alpha:sign pad:sign",
        bad=WRONG,
    ),
    "greedy": lambda: Good(d.greedy, {"logits": LOGITS}),
    "sample": lambda: Good(d.sample, {"logits": LOGITS}),
    "keep_top_k": lambda: Good(d.keep_top_k, {"logits": LOGITS, "k": 3}, says={"k": "top_k"}),
    "best_span": lambda: Good(
        d.best_span,
        {**SCORES, "allowed": torch.ones(2, 4) > 0, "longest": 2},
        bad={"end": [SCORES["end"][:, 1:]], "start": [torch.randn(4)], "longest": [0]},
        free="start:axes",
    ),
    "keep_top_p": lambda: Good(d.keep_top_p, {"logits": LOGITS, "p": 0.5}, says={"p": "top_p"}),
}


def test_all_of_decoding_has_an_entry():
    assert missing(TABLE, public(d, d.__all__)) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []
