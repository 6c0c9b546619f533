"""From GPT-2's block to one of today, rung by rung: the time of a training step and of writing.

    python benchmarks/modern_block.py [--rounds 5] [--threads 2] [--only writing] [--smoke]

GPT with 4 layers, 256 wide, 8 heads, vocabulary 512, fp32, no dropout; the rungs are those of
`notebooks/training/scaling/modern.toml`, each keeps what the ones before it changed. "ours" is
GPT-2's block. Forward and backward of 8 windows of 256 tokens; greedy writing with a cache, 128
tokens after 128, for one prompt and for sixteen. The window is a quarter of 256: a mask forbids
what lies before it, and no work is skipped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from harness import Call, run

from coursekit.decoding.generation import generate
from coursekit.models.gpt import GPT, GPTConfig

SMOKE = "--smoke" in sys.argv
VOCABULARY, LENGTH, HEADS = 512, 32 if SMOKE else 256, 8
ROWS, NEW, WIDTH, DEPTH = (1, 4, 64, 1) if SMOKE else (8, 128, 256, 4)
LADDER = {
    "GPT-2": {},
    "rotary": {"rotary": True},
    "RMSNorm": {"rms_norm": True},
    "SwiGLU": {"gated": True, "activation": "silu"},
    "no biases": {"bias": False},
    "grouped heads": {"kv_heads": HEADS // 2},
    "window": {"window": LENGTH // 4},
}


def gpt(rung: str) -> GPT:
    """Return the model of a rung, with all that the rungs before it changed."""
    names = list(LADDER)
    parts = {}
    for name in names[: names.index(rung) + 1]:
        parts |= LADDER[name]
    torch.manual_seed(0)
    none = dict.fromkeys(("dropout", "attention_dropout", "embedding_dropout"), 0.0)
    config = GPTConfig(
        vocabulary=VOCABULARY,
        width=WIDTH,
        depth=DEPTH,
        heads=HEADS,
        positions=LENGTH,
        **none,
        **parts,
    )
    return GPT(config)


def tokens(rows: int, length: int) -> torch.Tensor:
    """Return a text (rows, length)."""
    return torch.randint(VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(1))


def step(rung: str) -> Call:
    """Forward, loss and backward."""
    model, text = gpt(rung), tokens(ROWS, LENGTH + 1)

    def call() -> torch.Tensor:
        model.zero_grad()
        loss = F.cross_entropy(model(text[:, :-1]).mT, text[:, 1:])
        loss.backward()
        return loss.detach()

    return call


def writing(rung: str, rows: int) -> Call:
    """Greedy, with a cache."""
    model, prompt = gpt(rung).eval(), tokens(rows, LENGTH // 2)
    return lambda: generate(model, prompt, model.start(capacity=LENGTH // 2 + NEW), longest=NEW)


def rungs(prepare: Callable[[str], Call]) -> dict[str, partial[Call]]:
    """Return a contestant for each rung; GPT-2's block is the one that all are compared with."""
    return {"ours" if rung == "GPT-2" else rung: partial(prepare, rung) for rung in LADDER}


CONTESTS = {
    "forward and backward": rungs(step),
    "writing, 1 prompt": rungs(partial(writing, rows=1)),
    "writing, 16 prompts": rungs(partial(writing, rows=2 if SMOKE else 16)),
}

if __name__ == "__main__":
    what = f"{ROWS} windows of {LENGTH}; {NEW} new tokens after {LENGTH // 2}; fp32, CPU"
    run(CONTESTS, script="modern_block", what=what)
