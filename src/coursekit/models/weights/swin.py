"""Which of Swin's weights are which in the authors' code and in transformers.

Ours are the keys of the tables below, theirs the values. A `Shape` says which parts there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from coursekit.models.swin import Swin
from coursekit.models.weights.rules import Ignored, Reshaped, Rule, Same, Stacked, same
from coursekit.models.weights.vit import square

Names = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What decides which weights a Swin has."""

    depths: tuple[int, ...]
    classes: bool
    qkv_bias: bool
    positions: tuple[int, ...] | None  # how many absolute ones, and how wide


ORIGINAL_MODEL = {
    "embedding.project": "patch_embed.proj",
    "embedding.norm": "patch_embed.norm",
    "positions": "absolute_pos_embed",
    "stages": "layers",
    "norm": "norm",
    "head": "head",
}
ORIGINAL_BLOCK = {
    "attention_residual.norm": "norm1",
    "attention.multi_head.out": "attn.proj",
    "attention.bias": "attn.relative_position_bias_table",
    "feed_residual.norm": "norm2",
    "feed_forward.expand": "mlp.fc1",
    "feed_forward.contract": "mlp.fc2",
}
HUGGINGFACE_MODEL = {
    "embedding.project": "embeddings.patch_embeddings.projection",
    "embedding.norm": "embeddings.norm",
    "positions": "embeddings.position_embeddings",
    "stages": "encoder.layers",
    "norm": "layernorm",
    "head": "classifier",
}
HUGGINGFACE_BLOCK = {
    "attention_residual.norm": "layernorm_before",
    "attention.multi_head.out": "attention.o_proj",
    "attention.bias": "attention.relative_position_bias.relative_position_bias_table",
    "feed_residual.norm": "layernorm_after",
    "feed_forward.expand": "mlp.fc1",
    "feed_forward.contract": "mlp.fc2",
}

OLD_NAMES = {  # in files on the hub -> in a model in memory
    r"\.attention\.self\.query\.": ".attention.q_proj.",
    r"\.attention\.self\.key\.": ".attention.k_proj.",
    r"\.attention\.self\.value\.": ".attention.v_proj.",
    r"\.attention\.self\.(relative_position_bias)_table": r".attention.\1.\1_table",
    r"\.attention\.output\.dense\.": ".attention.o_proj.",
    r"\.intermediate\.dense\.": ".mlp.fc1.",
    r"\.output\.dense\.": ".mlp.fc2.",
}


def original_rules(shape: Shape) -> Iterator[Rule]:
    """Yield the rules for the authors' `SwinTransformer`; its packed q, k, v are ours."""
    yield from _model_rules(shape, ORIGINAL_MODEL)
    for ours, theirs in blocks(shape, ORIGINAL_MODEL["stages"]):
        yield from _block_rules(ours, theirs, ORIGINAL_BLOCK)
        for kind in ("weight", "bias")[: 1 + shape.qkv_bias]:
            yield Same(f"{ours}.attention.multi_head.qkv.{kind}", f"{theirs}.attn.qkv.{kind}")
        yield Ignored(f"{theirs}.attn.relative_position_index")
        yield Ignored(f"{theirs}.attn_mask")


def huggingface_rules(shape: Shape) -> Iterator[Rule]:
    """Yield the rules for `SwinForImageClassification`, without classes those for `SwinModel`."""
    prefix = "swin." if shape.classes else ""
    yield from _model_rules(shape, HUGGINGFACE_MODEL, prefix)
    for ours, theirs in blocks(shape, prefix + HUGGINGFACE_MODEL["stages"]):
        yield from _block_rules(ours, theirs, HUGGINGFACE_BLOCK)
        for kind in ("weight", "bias")[: 1 + shape.qkv_bias]:
            parts = tuple(f"{theirs}.attention.{part}_proj.{kind}" for part in "qkv")
            yield Stacked(f"{ours}.attention.multi_head.qkv.{kind}", parts)
        yield Ignored(f"{theirs}.attention.self.relative_position_index")


def _model_rules(shape: Shape, names: Names, prefix: str = "") -> Iterator[Rule]:
    """Yield the rules for all but the blocks; merging ends a stage there and begins one here."""
    for part in ("embedding.project", "embedding.norm", "norm"):
        yield from same(part, prefix + names[part])
    if shape.classes:
        yield from same("head", names["head"])
    if (table := shape.positions) is not None:
        yield Reshaped("positions.weight", prefix + names["positions"], table, (1, *table))
    for stage in range(1, len(shape.depths)):
        ours, theirs = f"stages.{stage}.merge", f"{prefix}{names['stages']}.{stage - 1}.downsample"
        yield from same(f"{ours}.norm", f"{theirs}.norm")
        yield Same(f"{ours}.reduce.weight", f"{theirs}.reduction.weight")


def blocks(shape: Shape, theirs: str) -> Iterator[tuple[str, str]]:
    """Yield our name and theirs for every block."""
    for stage, depth in enumerate(shape.depths):
        for i in range(depth):
            yield f"stages.{stage}.blocks.{i}", f"{theirs}.{stage}.blocks.{i}"


def _block_rules(ours: str, theirs: str, names: Names) -> Iterator[Rule]:
    """Yield the rules for one block, but for its queries, keys and values."""
    for our, their in names.items():
        if our == "attention.bias":
            yield Same(f"{ours}.{our}.weight", f"{theirs}.{their}")
        else:
            yield from same(f"{ours}.{our}", f"{theirs}.{their}")


def read_config(theirs: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return what a `config.json` of transformers says, under our names."""
    if theirs.get("model_type", "swin") != "swin":
        raise ValueError(f"model_type must be swin, found {theirs['model_type']!r}")
    if theirs["hidden_act"] != "gelu" or theirs["layer_norm_eps"] != 1e-5:
        raise ValueError(
            "hidden_act must be 'gelu' and layer_norm_eps 1e-5 (transformers has 1e-5 in some "
            "of the norms whatever it says), "
            f"found {theirs['hidden_act']!r} and {theirs['layer_norm_eps']}"
        )
    bare = any(name.endswith("Model") for name in theirs.get("architectures") or ())
    image = theirs["image_size"]
    return {
        "image": image if isinstance(image, int) else tuple(image),
        "patch": square(theirs["patch_size"]),
        "channels": theirs["num_channels"],
        "width": theirs["embed_dim"],
        "depths": tuple(theirs["depths"]),
        "heads": tuple(theirs["num_heads"]),
        "window": theirs["window_size"],
        "mlp_ratio": theirs["mlp_ratio"],
        "qkv_bias": theirs["qkv_bias"],
        "absolute_positions": theirs["use_absolute_embeddings"],
        "dropout": theirs["hidden_dropout_prob"],
        "attention_dropout": theirs["attention_probs_dropout_prob"],
        "drop_path": theirs["drop_path_rate"],
        "classes": 0 if bare else len(theirs.get("id2label") or (0, 1)),
    }


def rules(model: Swin, layout: str, theirs: Mapping[str, Tensor] | None = None) -> Iterator[Rule]:
    """Yield the names of `SwinForImageClassification` (without classes `SwinModel`), or "original".

    The authors' `SwinTransformer` is one for `config.image`; its tables of indices are left out.
    """
    config = model.config
    if not (config.shifted and config.relative_bias):
        raise ValueError(
            "transformers and the authors' code have shifts and relative biases in every Swin, "
            f"found shifted={config.shifted} and relative_bias={config.relative_bias}"
        )
    shape = Shape(
        depths=config.depths,
        classes=bool(config.classes),
        qkv_bias=config.qkv_bias,
        positions=None if model.positions is None else tuple(model.positions.weight.shape),
    )
    return original_rules(shape) if layout == "original" else huggingface_rules(shape)
