"""Which of DETR's weights are which in the authors' code and in transformers.

Our names stand on the left, theirs on the right; `coursekit.models.conversion` reads the table in
both directions. A backbone names its own weights, in a method `rules(layout)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from torch import Tensor, nn

from coursekit.models.conversion import Ignored, Rule, Same, Stacked, Tied

if TYPE_CHECKING:
    from coursekit.models.detr import DETRConfig

Layout = Literal["torchvision", "huggingface"]  # whose names a ResNet has
HUGGINGFACE_BACKBONE = "model.backbone.model."


def original_rules(config: DETRConfig, backbone: nn.Module) -> Iterator[Rule]:
    """Yield the rules for the authors' code; its packed q, k, v are ours."""
    yield from backbone_rules(backbone, "torchvision", "backbone.0.body.")
    yield from same("project", "input_proj")
    yield Same("queries", "query_embed.weight")
    yield from same("class_head", "class_embed")
    for i in range(3):
        yield from same(f"box_head.{2 * i}", f"bbox_embed.layers.{i}")
    for ours, theirs, decoder in layers(config, "transformer."):
        attentions = [("self", "self_attn"), ("cross", "multihead_attn")][: 1 + decoder]
        for our, their in attentions:
            for kind in ("weight", "bias"):
                yield Same(f"{ours}.{our}_attention.qkv.{kind}", f"{theirs}.{their}.in_proj_{kind}")
            yield from same(f"{ours}.{our}_attention.out", f"{theirs}.{their}.out_proj")
        yield from same(f"{ours}.feed_forward.expand", f"{theirs}.linear1")
        yield from same(f"{ours}.feed_forward.contract", f"{theirs}.linear2")
        norms = ["self", "cross", "feed"] if decoder else ["self", "feed"]
        for n, norm in enumerate(norms, 1):
            yield from same(f"{ours}.{norm}_residual.norm", f"{theirs}.norm{n}")
    yield from same("decoder.final", "transformer.decoder.norm")
    if config.norm == "pre":
        yield from same("encoder.final", "transformer.encoder.norm")


def huggingface_rules(config: DETRConfig, backbone: nn.Module, layout: Layout) -> Iterator[Rule]:
    """Yield the rules for `DetrForObjectDetection` as it is in memory since transformers 5."""
    if config.norm != "post":
        raise ValueError(f"transformers has DETR with norm='post' only, found {config.norm!r}")
    yield from backbone_rules(backbone, layout, HUGGINGFACE_BACKBONE)
    yield from same("project", "model.input_projection")
    yield Same("queries", "model.query_position_embeddings.weight")
    yield from same("class_head", "class_labels_classifier")
    for i in range(3):
        yield from same(f"box_head.{2 * i}", f"bbox_predictor.layers.{i}")
    for ours, theirs, decoder in layers(config, "model."):
        attentions = [("self", "self_attn"), ("cross", "encoder_attn")][: 1 + decoder]
        for our, their in attentions:
            for kind in ("weight", "bias"):
                parts = tuple(f"{theirs}.{their}.{part}_proj.{kind}" for part in "qkv")
                yield Stacked(f"{ours}.{our}_attention.qkv.{kind}", parts)
            yield from same(f"{ours}.{our}_attention.out", f"{theirs}.{their}.o_proj")
            yield from same(f"{ours}.{our}_residual.norm", f"{theirs}.{their}_layer_norm")
        yield from same(f"{ours}.feed_forward.expand", f"{theirs}.mlp.fc1")
        yield from same(f"{ours}.feed_forward.contract", f"{theirs}.mlp.fc2")
        yield from same(f"{ours}.feed_residual.norm", f"{theirs}.final_layer_norm")
    yield from same("decoder.final", "model.decoder.layernorm")


def layers(config: DETRConfig, prefix: str) -> Iterator[tuple[str, str, bool]]:
    """Yield our name and theirs for every layer, and whether it stands in the decoder."""
    for side, depth in (("encoder", config.encoder_depth), ("decoder", config.decoder_depth)):
        for i in range(depth):
            yield f"{side}.blocks.{i}", f"{prefix}{side}.layers.{i}", side == "decoder"


def backbone_rules(backbone: nn.Module, layout: Layout, prefix: str) -> Iterator[Rule]:
    """Yield the backbone's own rules behind our prefix and theirs; without any, equal names."""
    if hasattr(backbone, "rules"):
        rules = backbone.rules(layout)
    else:
        rules = [Same(name, name) for name in backbone.state_dict()]
    for rule in rules:
        match rule:
            case Ignored():
                yield Ignored(prefix + rule.theirs)
            case Tied():
                yield Tied(prefix + rule.theirs, prefix + rule.to)
            case Stacked():
                theirs = tuple(prefix + name for name in rule.theirs)
                yield replace(rule, ours=f"backbone.{rule.ours}", theirs=theirs)
            case _:
                yield replace(rule, ours=f"backbone.{rule.ours}", theirs=prefix + rule.theirs)


def same(ours: str, theirs: str) -> list[Rule]:
    """Return the rules for a weight and a bias."""
    return [Same(f"{ours}.{kind}", f"{theirs}.{kind}") for kind in ("weight", "bias")]


IN_FILES = (  # names in the files on the hub, and in a model in memory since transformers 5
    (r"\.backbone\.conv_encoder\.", ".backbone."),
    (r"_attn\.out_proj\.", "_attn.o_proj."),
    (r"(layers\.\d+)\.(fc[12])\.", r"\1.mlp.\2."),
)


def current_names(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return `theirs` under the names that transformers gives them in memory."""
    renamed = {}
    for name, tensor in theirs.items():
        for old, new in IN_FILES:
            name = re.sub(old, new, name)
        renamed[name] = tensor
    return renamed


def layout_of(theirs: Mapping[str, Tensor]) -> Layout:
    """Tell whose ResNet is in there by the name of its first convolution."""
    return "torchvision" if f"{HUGGINGFACE_BACKBONE}conv1.weight" in theirs else "huggingface"
