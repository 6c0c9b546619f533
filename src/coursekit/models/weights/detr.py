"""Which of DETR's weights are which in the authors' code and in transformers.

Our names are on the left, theirs on the right. A backbone that has a table of its own is named by
it; any other must have their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from coursekit.models import weights
from coursekit.models.detr import DETR
from coursekit.models.weights.rules import (
    Ignored,
    Kept,
    Rule,
    Same,
    Stacked,
    Tied,
    check_usual,
    same,
    stacked,
)

HUGGINGFACE_BACKBONE = "model.backbone.model."
OLD_NAMES = {  # in files on the hub -> in a model in memory
    r"\.backbone\.conv_encoder\.": ".backbone.",
    r"_attn\.out_proj\.": "_attn.o_proj.",
    r"(layers\.\d+)\.(fc[12])\.": r"\1.mlp.\2.",
}
USUAL = {
    "model_type": "detr",
    "encoder_layerdrop": 0.0,
    "decoder_layerdrop": 0.0,
    "auxiliary_loss": False,  # there it norms what each layer hands to the next
    "dilation": False,  # it belongs to the backbone: ResNetConfig(dilation=True)
}


def read_config(theirs: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the arguments of `DETRConfig`, but for `channels`, of which the file says nothing."""
    check_usual(theirs, USUAL, "{name} of a DETR")
    for name in ("attention_heads", "ffn_dim"):
        pair = theirs[f"encoder_{name}"], theirs[f"decoder_{name}"]
        if pair[0] != pair[1]:
            raise ValueError(f"encoder and decoder must agree in {name}, found {pair}")
    places = theirs["position_embedding_type"]
    if theirs["activation_function"] != "relu" or places not in ("sine", "learned"):
        raise ValueError(
            "activation_function must be relu and position_embedding_type sine or learned, found "
            f"{theirs['activation_function']!r} and {places!r}"
        )
    return {
        "classes": len(theirs["id2label"]),
        "queries": theirs["num_queries"],
        "width": theirs["d_model"],
        "heads": theirs["encoder_attention_heads"],
        "hidden": theirs["encoder_ffn_dim"],
        "encoder_depth": theirs["encoder_layers"],
        "decoder_depth": theirs["decoder_layers"],
        "dropout": theirs["dropout"],
        "attention_dropout": theirs["attention_dropout"],
        "hidden_dropout": theirs["activation_dropout"],
        "places": places,
    }


def original_rules(
    backbone: Iterable[Rule], encoder_depth: int, decoder_depth: int, *, pre: bool, learned: bool
) -> Iterator[Rule]:
    """Yield the rules for the authors' code; its packed q, k, v are ours.

    `pre` says that norms come first, and then one more at the end of the encoder; `learned` that
    the places are.
    """
    yield from behind(backbone, "backbone.0.body.")
    yield from same("project", "input_proj")
    yield Same("queries", "query_embed.weight")
    if learned:
        yield Same("rows", "backbone.1.row_embed.weight")
        yield Same("columns", "backbone.1.col_embed.weight")
    yield from same("class_head", "class_embed")
    for i in range(3):
        yield from same(f"box_head.{2 * i}", f"bbox_embed.layers.{i}")
    for ours, theirs, decoder in layers(encoder_depth, decoder_depth, "transformer."):
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
    if pre:
        yield from same("encoder.final", "transformer.encoder.norm")


def huggingface_rules(
    backbone: Iterable[Rule], encoder_depth: int, decoder_depth: int, *, learned: bool
) -> Iterator[Rule]:
    """Yield the rules for `DetrForObjectDetection` as it is in memory since transformers 5."""
    yield from behind(backbone, HUGGINGFACE_BACKBONE)
    yield from same("project", "model.input_projection")
    yield Same("queries", "model.query_position_embeddings.weight")
    if learned:
        yield Same("rows", "model.position_embedding.row_embeddings.weight")
        yield Same("columns", "model.position_embedding.column_embeddings.weight")
    yield from same("class_head", "class_labels_classifier")
    for i in range(3):
        yield from same(f"box_head.{2 * i}", f"bbox_predictor.layers.{i}")
    for ours, theirs, decoder in layers(encoder_depth, decoder_depth, "model."):
        attentions = [("self", "self_attn"), ("cross", "encoder_attn")][: 1 + decoder]
        for our, their in attentions:
            qkv = (f"{theirs}.{their}.{part}_proj" for part in "qkv")
            yield from stacked(f"{ours}.{our}_attention.qkv", qkv)
            yield from same(f"{ours}.{our}_attention.out", f"{theirs}.{their}.o_proj")
            yield from same(f"{ours}.{our}_residual.norm", f"{theirs}.{their}_layer_norm")
        yield from same(f"{ours}.feed_forward.expand", f"{theirs}.mlp.fc1")
        yield from same(f"{ours}.feed_forward.contract", f"{theirs}.mlp.fc2")
        yield from same(f"{ours}.feed_residual.norm", f"{theirs}.final_layer_norm")
    yield from same("decoder.final", "model.decoder.layernorm")


def layers(encoder_depth: int, decoder_depth: int, prefix: str) -> Iterator[tuple[str, str, bool]]:
    """Yield our name and theirs for every layer, and whether it is in the decoder."""
    for side, depth in (("encoder", encoder_depth), ("decoder", decoder_depth)):
        for i in range(depth):
            yield f"{side}.blocks.{i}", f"{prefix}{side}.layers.{i}", side == "decoder"


def behind(backbone: Iterable[Rule], prefix: str) -> Iterator[Rule]:
    """Yield the backbone's own rules behind our prefix and theirs."""
    for rule in backbone:
        match rule:
            case Ignored():
                yield Ignored(prefix + rule.theirs)
            case Tied():
                yield Tied(prefix + rule.theirs, prefix + rule.to)
            case Stacked():
                theirs = tuple(prefix + name for name in rule.theirs)
                yield replace(rule, ours=f"backbone.{rule.ours}", theirs=theirs)
            case Kept():
                yield Kept(f"backbone.{rule.ours}")
            case _:
                yield replace(rule, ours=f"backbone.{rule.ours}", theirs=prefix + rule.theirs)


def _layout_of(theirs: Mapping[str, Tensor]) -> str:
    """Tell whose ResNet is in there by the name of its first convolution."""
    return "torchvision" if f"{HUGGINGFACE_BACKBONE}conv1.weight" in theirs else "huggingface"


def rules(
    model: DETR,
    layout: str,
    theirs: Mapping[str, Tensor] | None = None,
    *,
    backbone: str = "huggingface",
) -> Iterator[Rule]:
    """Yield the names of `DetrForObjectDetection`, or with "original" of the authors' code.

    `backbone` is the program whose ResNet it has: transformers' own, or "torchvision", whose names
    timm has as well.
    """
    config = model.config
    if config.places not in ("sine", "learned") or not config.feed_forward:
        raise ValueError(
            "other programs have sine or learned places and feed-forward networks, found "
            f"places={config.places!r} and feed_forward={config.feed_forward}"
        )
    learned, depths = config.places == "learned", (config.encoder_depth, config.decoder_depth)
    if layout == "original":
        below = _backbone_rules(model.backbone, "torchvision")
        return original_rules(below, *depths, pre=config.norm == "pre", learned=learned)
    if config.norm != "post":
        raise ValueError(f"transformers has DETR with norm='post' only, found {config.norm!r}")
    backbone = backbone if theirs is None else _layout_of(theirs)
    return huggingface_rules(_backbone_rules(model.backbone, backbone), *depths, learned=learned)


def _backbone_rules(backbone: nn.Module, layout: str) -> Iterable[Rule]:
    if type(backbone).__name__ in weights.FAMILIES:
        return weights.rules_of(backbone, layout)
    return [Same(name, name) for name in backbone.state_dict()]
