"""Writing with a cache beside `transformers`: GPT, greedily for 1 and 16 prompts, and by beams.

    python benchmarks/generation.py [--rounds 5] [--threads 2] [--only beam] [--smoke]

GPT with 6 layers, 384 wide, 6 heads, vocabulary 512; prompts of 32 tokens; 128 new ones, 32 with
4 beams for 64 prompts. Both sides have the same weights and must write the same texts. There is no
end token, so that every text has its full length.
"""

from __future__ import annotations

import sys
from functools import partial

import torch
from harness import Call, run
from torch import Tensor

from coursekit.decoding.generation import beam_search, generate, power_penalty
from coursekit.models import weights
from coursekit.models.gpt import GPT, GPTConfig

VOCABULARY, PROMPT = 512, 32
NEW, NEW_BEAM, MANY = (8, 4, 2) if "--smoke" in sys.argv else (128, 32, 64)


def prompts(batch: int) -> Tensor:
    """Return prompts (batch, 32)."""
    noise = torch.Generator().manual_seed(batch)
    return torch.randint(VOCABULARY, (batch, PROMPT), generator=noise)


def gpt() -> GPT:
    """Return a model with weights large enough that its texts do not stand still."""
    torch.manual_seed(0)
    config = GPTConfig(vocabulary=VOCABULARY, width=384, depth=6, heads=6, positions=256)
    model = GPT(config).eval()
    for parameter in model.parameters():
        if parameter.ndim == 2:
            torch.nn.init.normal_(parameter, std=0.08)
    return model


def ours(batch: int) -> Call:
    """Greedy."""
    model, tokens = gpt(), prompts(batch)
    return lambda: generate(model, tokens, model.start(capacity=PROMPT + NEW), longest=NEW)


def ours_beam(batch: int) -> Call:
    """Four beams, the best text."""
    model, tokens = gpt(), prompts(batch)
    search = partial(beam_search, model, tokens, beams=4, alpha=1.0, penalty=power_penalty)
    return lambda: search(model.start(capacity=PROMPT + NEW_BEAM), longest=NEW_BEAM).tokens[:, 0]


def transformers(batch: int, *, beams: int = 1, new: int = NEW) -> Call:
    """`GPT2LMHeadModel.generate` with our weights."""
    from transformers import GPT2Config, GPT2LMHeadModel
    from transformers.utils import logging

    logging.set_verbosity_error()
    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_embd=384,
        n_layer=6,
        n_head=6,
        n_positions=256,
        bos_token_id=None,
        eos_token_id=None,
    )
    peer = GPT2LMHeadModel(config).eval()
    peer.load_state_dict(weights.export(gpt()))
    tokens = prompts(batch)
    write = partial(
        peer.generate,
        tokens,
        attention_mask=torch.ones_like(tokens),
        max_new_tokens=new,
        num_beams=beams,
        do_sample=False,
        pad_token_id=0,
    )
    return lambda: write()[:, PROMPT:]


CONTESTS = {
    "greedy, 1 prompt": {"ours": lambda: ours(1), "transformers": lambda: transformers(1)},
    "greedy, 16 prompts": {"ours": lambda: ours(16), "transformers": lambda: transformers(16)},
    "4 beams, 64 prompts": {
        "ours": lambda: ours_beam(MANY),
        "transformers": lambda: transformers(MANY, beams=4, new=NEW_BEAM),
    },
}

if __name__ == "__main__":
    what = f"prompts of {PROMPT} tokens, {NEW} new tokens ({NEW_BEAM} with beams), fp32, CPU"
    run(CONTESTS, script="generation", what=what, agree=0.5)
