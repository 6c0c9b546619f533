"""Bad input to any part gets a message that names the argument."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import torch

from coursekit import activations as act
from coursekit import attention as at
from coursekit import biases, blocks, cost, heads, kernels, local, masks, norms, positions
from coursekit.cache import KeyValueCache, StackCache
from coursekit.embedding import WordEmbedding
from coursekit.feed_forward import FeedForward

from .refusals import Good, missing, public

PARTS = [path.stem for path in Path(act.__file__).parent.glob("*.py") if path.stem != "__init__"]

X = torch.randn(2, 5, 16)  # (B, T, D)
Q, K, V = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 6)
MASK, BIAS = torch.ones(5, 7) > 0, torch.zeros(5, 7)
QKV = {"q": Q, "k": K, "v": V, "mask": MASK, "bias": BIAS}
BROAD = "mask:axes bias:axes"  # they broadcast to the scores
WRONG = {"mask": [torch.ones(4, 7) > 0], "bias": [torch.ones(5, 6), torch.ones(5, 7) > 0]}
CALLED = {"q": "queries", "k": "keys", "v": "values"}
SQUARE = {"q": K, "k": K, "v": V}
GRID = torch.ones(1, 4, 4) > 0
SIZES = {"width": 16, "heads": 4}


def attend(**options: object) -> object:
    return heads.MultiHeadAttention(**SIZES, **options)


TABLE = {
    "relu": lambda: Good(act.relu, {"x": X}, free="x"),
    "gelu": lambda: Good(act.gelu, {"x": X}, free="x"),
    "gelu_tanh": lambda: Good(act.gelu_tanh, {"x": X}, free="x"),
    "gelu_sigmoid": lambda: Good(act.gelu_sigmoid, {"x": X}, free="x"),
    "silu": lambda: Good(act.silu, {"x": X}, free="x"),
    "stochastic_gelu": lambda: Good(act.stochastic_gelu, {"x": X}, free="x"),
    "attention": lambda: Good(
        at.attention, QKV, says=CALLED, free=BROAD, bad=WRONG
    ),
    "attention_weights": lambda: Good(
        at.attention_weights, {"q": Q, "k": K, "mask": MASK, "bias": BIAS},
        says=CALLED, free=BROAD, bad=WRONG,
    ),
    "masked_softmax": lambda: Good(
        at.masked_softmax, {"scores": BIAS, "mask": MASK}, free="scores mask:axes"
    ),
    "fused_attention": lambda: Good(
        at.fused_attention, QKV, says=CALLED, free=f"{BROAD} scale", bad=WRONG
    ),
    "nadaraya_watson": lambda: Good(
        at.nadaraya_watson, {"query": torch.ones(3), "x": torch.ones(2), "y": torch.ones(2)},
        says={"query": "queries|query", "x": "keys|x", "y": "values|y"},
    ),
    "alibi_slopes": lambda: Good(biases.alibi_slopes, {"heads": 2}),
    "alibi": lambda: Good(biases.alibi, {"T": 3, "S": 5, "heads": 2}),
    "relative_buckets": lambda: Good(
        biases.relative_buckets, {"distance": torch.arange(5)}, free="distance"
    ),
    "RelativeBias": lambda: Good(biases.RelativeBias, {"heads": 2}),
    "RelativeBias.forward": lambda: Good(biases.RelativeBias(heads=2).forward, {"T": 3, "S": 5}),
    "WindowBias": lambda: Good(biases.WindowBias, {"heads": 2, "height": 3, "columns": 4}),
    "WindowBias.forward": lambda: Good(
        biases.WindowBias(heads=2, height=3, columns=4).forward, {"height": 2, "columns": 3}
    ),
    "window_bias": lambda: Good(biases.window_bias, {"table": torch.ones(2, 5, 7)}, free="table"),
    "Residual": lambda: Good(blocks.Residual, {"width": 4, "norm": "pre"}),
    "Block": lambda: Good(
        blocks.Block, SIZES,
        says={"attention_dropout": "dropout", "hidden_dropout": "dropout"},
    ),
    "Block.forward": lambda: Good(
        blocks.Block(**SIZES, cross_attention=True).forward, {"x": X, "memory": X}, free="x",
        says={"memory": "key"},
    ),
    "Stack": lambda: Good(blocks.Stack, {**SIZES, "depth": 2}),
    "Stack.forward": lambda: Good(
        blocks.Stack(**SIZES, depth=1).forward, {"x": X}, free="x"
    ),
    "KeyValueCache": lambda: Good(KeyValueCache, {}),
    "StackCache": lambda: Good(StackCache, {"depth": 2}),
    "self_attention": lambda: Good(cost.self_attention, {"n": 5, "d": 4}),
    "recurrent": lambda: Good(cost.recurrent, {"n": 5, "d": 4}),
    "convolutional": lambda: Good(cost.convolutional, {"n": 5, "d": 4, "kernel": 3}),
    "restricted": lambda: Good(cost.restricted, {"n": 5, "d": 4, "radius": 2}),
    "training_flops": lambda: Good(
        cost.training_flops, {"tokens": 9, "weights": 9, "depth": 1, "width": 4, "length": 3}
    ),
    "FeedForward": lambda: Good(
        FeedForward, {"width": 4, "inner_norm": True}, bad={"activation": ["gelu"]}
    ),
    "FeedForward.forward": lambda: Good(FeedForward(width=16).forward, {"x": X}, free="x"),
    "split_heads": lambda: Good(heads.split_heads, {"x": X, "heads": 4}, free="x:dtype"),
    "merge_heads": lambda: Good(heads.merge_heads, {"x": Q}, free="x:dtype"),
    "Projections": lambda: Good(heads.Projections, {"width": 4, "sizes": (4, 2)}),
    "Projections.forward": lambda: Good(
        heads.Projections(16, (4, 2)).forward, {"x": X}, free="x part"
    ),
    "MultiHeadAttention": lambda: Good(heads.MultiHeadAttention, SIZES, free="scale"),
    "MultiHeadAttention.forward": lambda: Good(
        attend().forward,
        {"query": X, "key": X, "value": X, "mask": torch.ones(5, 5) > 0, "bias": BIAS[:, :5],
         "head_mask": torch.ones(4)},
        bad={"mask": [torch.ones(2, 5, 5) > 0], "position_ids": [torch.arange(5)],
             "key": [torch.zeros(3, 5, 16)]},
        free=f"{BROAD} head_mask:dtype",
    ),
    "dot": lambda: Good(kernels.dot, {"q": Q, "k": K}, says=CALLED),
    "scaled_dot": lambda: Good(kernels.scaled_dot, {"q": Q, "k": K}, says=CALLED),
    "cosine": lambda: Good(kernels.cosine, {"q": Q, "k": K}, says=CALLED),
    "gaussian": lambda: Good(kernels.gaussian, {"q": Q, "k": K}, says=CALLED),
    "General": lambda: Good(kernels.General, {"query_width": 8, "key_width": 8}),
    "General.forward": lambda: Good(
        kernels.General(query_width=8, key_width=8).forward, {"q": Q, "k": K}, says=CALLED
    ),
    "Additive": lambda: Good(
        kernels.Additive, {"query_width": 8, "key_width": 8, "hidden": 4}
    ),
    "Additive.forward": lambda: Good(
        kernels.Additive(query_width=8, key_width=8, hidden=4).forward,
        {"q": Q, "k": K}, says=CALLED,
    ),
    "upcast": lambda: Good(kernels.upcast, {"x": X}, free="x"),
    "local_attention": lambda: Good(
        local.local_attention, {**SQUARE, "radius": 1, "keep": torch.ones(2, 7) > 0}, says=CALLED
    ),
    "block_attention": lambda: Good(
        local.block_attention, {**SQUARE, "layout": torch.ones(7, 7) > 0, "block": 1}, says=CALLED
    ),
    "padding": lambda: Good(masks.padding, {"tokens": torch.ones(2, 3).long(), "pad": 0},
        free="tokens:dtype pad:sign",
   ),
    "lengths": lambda: Good(
        masks.lengths, {"lengths": [2, 3], "size": 4}, bad={"lengths": [torch.ones(2, 2)]}
    ),
    "causal": lambda: Good(masks.causal, {"T": 3, "S": 5}),
    "local": lambda: Good(masks.local, {"T": 3, "S": 5, "radius": 1}),
    "global_tokens": lambda: Good(masks.global_tokens, {"T": 3, "tokens": [0]}),
    "longformer": lambda: Good(masks.longformer, {"T": 3, "radius": 1}),
    "random_keys": lambda: Good(masks.random_keys, {"T": 3, "count": 2}),
    "bigbird": lambda: Good(
        masks.bigbird, {"T": 3, "radius": 1}, says={"random": "count"}
    ),
    "expand_blocks": lambda: Good(
        masks.expand_blocks, {"layout": GRID[0], "block": 2}, free="layout:dtype"
    ),
    "WordEmbedding": lambda: Good(
        WordEmbedding, {"vocabulary": 9, "width": 4}, free="padding_idx"
    ),
    "WordEmbedding.forward": lambda: Good(
        WordEmbedding(9, 4).forward, {"x": torch.ones(1, 3).long()}, free="x"
    ),
    "rms_norm": lambda: Good(norms.rms_norm, {"x": X}, free="x"),
    "RMSNorm": lambda: Good(norms.RMSNorm, {"width": 16}),
    "RMSNorm.forward": lambda: Good(norms.RMSNorm(16).forward, {"x": X}, free="x"),
    "make_norm": lambda: Good(norms.make_norm, {"width": 4, "rms": True, "eps": 1e-5}),
    "sinusoidal": lambda: Good(positions.sinusoidal, {"positions": 3, "width": 4}),
    "shift_matrix": lambda: Good(positions.shift_matrix, {"delta": 1.0, "width": 4}, free="delta"),
    "binary": lambda: Good(positions.binary, {"positions": 3, "width": 4}),
    "sine_2d": lambda: Good(positions.sine_2d, {"height": 2, "columns": 3, "width": 4}),
    "padded_sine_2d": lambda: Good(
        positions.padded_sine_2d, {"keep": GRID, "width": 4}, free="scale"
    ),
    "position_ids": lambda: Good(positions.position_ids, {"T": 3}),
    "NoPosition.forward": lambda: Good(positions.NoPosition().forward, {"x": X}, free="x"),
    "LearnedPosition": lambda: Good(positions.LearnedPosition, {"size": 9, "width": 4}, free="std"),
    "LearnedPosition.forward": lambda: Good(
        positions.LearnedPosition(size=9, width=16).forward, {"x": X}, free="x"
    ),
    "SinusoidalPosition": lambda: Good(positions.SinusoidalPosition, {"width": 4}),
    "SinusoidalPosition.forward": lambda: Good(
        positions.SinusoidalPosition(width=16).forward, {"x": X}, free="x"
    ),
    "BinaryPosition": lambda: Good(positions.BinaryPosition, {"width": 4}),
    "BinaryPosition.forward": lambda: Good(
        positions.BinaryPosition(width=16).forward, {"x": X}, free="x"
    ),
    "Rotary": lambda: Good(positions.Rotary, {"width": 4}),
    "Rotary.forward": lambda: Good(positions.Rotary(width=16).forward, {"x": X}, free="x"),
}  # fmt: skip


def test_every_part_has_an_entry():
    names = []
    for part in PARTS:
        module = import_module(f"coursekit.{part}")
        own = [name for name, thing in vars(module).items() if not name.startswith("_")
               and getattr(thing, "__module__", "") == module.__name__]  # fmt: skip
        names += public(module, own)
    assert missing(TABLE, names) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []
