"""What transformers calls the parameters of ViT, DeiT and MAE: one table for the three.

The rules are those of `conversion.py`; each model adds its heads and tokens in its own file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from coursekit.models.conversion import Rule, Same, Stacked

if TYPE_CHECKING:
    from coursekit.models.vit import ViTConfig


def encoder_rules(config: ViTConfig, theirs: str, ours: str = "") -> list[Rule]:
    """Return the rules for all but heads and added tokens, behind the prefixes of both sides."""
    if config.positions not in ("1d", "sine") or config.backbone_channels or config.pool != "class":
        raise ValueError(
            "transformers has this model with 1d or sine positions, a class token and no backbone, "
            f"found {config.positions} positions, pool={config.pool!r}, "
            f"backbone_channels={config.backbone_channels}"
        )
    rules: list[Rule] = [
        Same(f"{ours}class_token", f"{theirs}embeddings.cls_token"),
        Same(f"{ours}positions.weight", f"{theirs}embeddings.position_embeddings"),
    ]
    rules += same(f"{ours}embedding", f"{theirs}embeddings.patch_embeddings.projection")
    rules += block_rules(f"{ours}stack.blocks", f"{theirs}layers", config.depth)
    return rules + same(f"{ours}stack.final", f"{theirs}layernorm")


def block_rules(ours: str, theirs: str, depth: int) -> Iterable[Rule]:
    """Yield the rules for the blocks of an encoder, or of MAE's decoder."""
    for i in range(depth):
        our, their = f"{ours}.{i}", f"{theirs}.{i}"
        for kind in ("weight", "bias"):
            parts = tuple(f"{their}.attention.{part}_proj.{kind}" for part in "qkv")
            yield Stacked(f"{our}.self_attention.qkv.{kind}", parts)
        yield from same(f"{our}.self_attention.out", f"{their}.attention.o_proj")
        yield from same(f"{our}.self_residual.norm", f"{their}.layernorm_before")
        yield from same(f"{our}.feed_residual.norm", f"{their}.layernorm_after")
        yield from same(f"{our}.feed_forward.expand", f"{their}.mlp.fc1")
        yield from same(f"{our}.feed_forward.contract", f"{their}.mlp.fc2")


def same(ours: str, theirs: str) -> list[Rule]:
    """Return the rules for a weight and a bias."""
    return [Same(f"{ours}.{kind}", f"{theirs}.{kind}") for kind in ("weight", "bias")]


def square(side: int | Sequence[int]) -> int:
    """Return the side of a square that may be described by two equal numbers."""
    sides = set(side) if isinstance(side, list | tuple) else {side}
    if len(sides) != 1:
        raise ValueError(f"patches must be square, found {side}")
    return sides.pop()


IN_FILES = (  # names in the files on the hub, and in a model in memory since transformers 5
    ("encoder.layer.", "layers."),
    (".attention.attention.query.", ".attention.q_proj."),
    (".attention.attention.key.", ".attention.k_proj."),
    (".attention.attention.value.", ".attention.v_proj."),
    (".attention.output.dense.", ".attention.o_proj."),
    (".intermediate.dense.", ".mlp.fc1."),
    (".output.dense.", ".mlp.fc2."),
)


def current_names(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return `theirs` under the names that transformers gives them in memory."""
    renamed = {}
    for name, tensor in theirs.items():
        for old, new in IN_FILES:
            name = name.replace(old, new)
        renamed[name] = tensor
    return renamed
