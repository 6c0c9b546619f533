"""The count of a training's memory against a real step, byte by byte."""

from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from coursekit.analysis.memory import (
    Memory,
    activations,
    counted,
    kept_bytes,
    measured,
    rows_that_fit,
)
from coursekit.models.bert import Bert, BertConfig
from coursekit.models.gpt import GPT, GPTConfig

DROPS = [
    {"dropout": 0.0, "attention_dropout": 0.0},
    {"dropout": 0.1, "attention_dropout": 0.0},
    {"dropout": 0.1, "attention_dropout": 0.1},
]


def gpt(depth=2, **changes):
    changes = {"embedding_dropout": changes.get("dropout", 0.1), **changes}
    return GPTConfig(vocabulary=31, width=20, depth=depth, heads=4, positions=16, **changes)


def bert(depth=2, **changes):
    return BertConfig(
        vocabulary=31, width=20, depth=depth, heads=4, hidden=52, positions=16, **changes
    )


def step(config, B, T, fused=True):
    """Make a real step of a fresh model."""
    model = (GPT(config) if isinstance(config, GPTConfig) else Bert(config, pooler=False)).train()
    tokens = torch.randint(config.vocabulary, (B, T))

    def loss():
        with nullcontext() if fused else sdpa_kernel(SDPBackend.MATH):
            out = model(tokens)
        if isinstance(config, GPTConfig):
            return F.cross_entropy(out.flatten(0, 1), tokens.flatten())
        return out.sum()

    return measured(model, loss, torch.optim.AdamW(model.parameters()))


@pytest.mark.parametrize("drops", DROPS, ids=lambda drops: "/".join(map(str, drops.values())))
@pytest.mark.parametrize("kind", [gpt, bert])
@pytest.mark.parametrize(("B", "T", "depth"), [(1, 5, 1), (1, 9, 2), (3, 7, 2), (2, 16, 1)])
def test_the_count_is_what_is_there(kind, drops, B, T, depth):
    config = kind(depth, **drops)
    assert step(config, B, T) == counted(config, batch=B, length=T)


@pytest.mark.parametrize("kind", [gpt, bert])
def test_without_the_fused_call_the_tables_are_there(kind):
    config = kind(**DROPS[0])
    for B, T in ((3, 7), (2, 16)):
        assert step(config, B, T, fused=False) == counted(config, batch=B, length=T, fused=False)
        kept = activations(config, batch=B, length=T, fused=False)
        assert kept.tables == 4 * config.depth * B * config.heads * T * T
        assert activations(config, batch=B, length=T).tables == 0


def test_gpt_2_by_hand():
    memory = counted(GPTConfig.gpt2(), batch=1, length=1)
    assert memory[:3] == (4 * 124_439_808, 4 * 124_439_808, 8 * 124_439_808)
    assert memory.total == sum(memory) and isinstance(memory, Memory)
    kept = activations(gpt(**DROPS[0]), batch=2, length=3)
    # 16 vectors of 20 in a token's block, 4 numbers of its norms, 4 of its heads; 2 blocks
    assert kept.blocks == 4 * 2 * 6 * (16 * 20 + 4 + 4)
    assert kept.ends == 4 * 6 * (20 + 2 + 20 + 31) + 4 + 8 * 6
    assert kept.total == kept.blocks + kept.ends


def test_twice_the_length_is_twice_the_blocks_and_four_times_the_tables():
    short, long = (activations(bert(**DROPS[0]), batch=3, length=T, fused=False) for T in (8, 16))
    assert long.blocks == 2 * short.blocks and long.tables == 4 * short.tables


def kept_on(device, config):
    """Return what a forward pass keeps on a device."""
    with torch.device(device):
        model, tokens = GPT(config).train(), torch.zeros(2, 9, dtype=torch.long)
    return kept_bytes(lambda: model(tokens).logsumexp(-1).sum(), model)


def test_the_meta_device_counts_as_the_others_do():
    config = gpt(**DROPS[2])
    assert kept_on("cpu", config) == kept_on("meta", config)


def test_rows_that_fit_fit_and_one_more_does_not():
    for config in (gpt(**DROPS[0]), bert(**DROPS[2])):
        room = 3_000_000
        rows = rows_that_fit(config, length=12, room=room)
        assert rows > 2
        assert counted(config, batch=rows, length=12).total <= room
        assert counted(config, batch=rows + 1, length=12).total > room
    assert rows_that_fit(GPTConfig.gpt2(), length=1024, room=1e9) == 0


def test_what_is_not_counted_is_refused():
    with pytest.raises(ValueError, match="some of Llama"):
        counted(GPTConfig.llama(width=64, depth=1, heads=2), batch=1, length=4)
