"""What transformers calls the parameters of ViT, DeiT and MAE: one table for the three."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from coursekit.models.deit import DeiT
from coursekit.models.mae import MAE, MAEConfig
from coursekit.models.vit import ViT, ViTConfig
from coursekit.models.weights.rules import GELUS, Rule, Same, only_huggingface, same, stacked

OLD_NAMES = {  # in files on the hub -> in a model in memory
    r"encoder\.layer\.": "layers.",
    r"\.attention\.attention\.query\.": ".attention.q_proj.",
    r"\.attention\.attention\.key\.": ".attention.k_proj.",
    r"\.attention\.attention\.value\.": ".attention.v_proj.",
    r"\.attention\.output\.dense\.": ".attention.o_proj.",
    r"\.intermediate\.dense\.": ".mlp.fc1.",
    r"\.output\.dense\.": ".mlp.fc2.",
}


def read_config(theirs: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the arguments of `ViTConfig`, `DeiTConfig` or `MAEConfig`.

    A model without a classifier has a pooler, which is our `representation`.
    """
    if issubclass(kind, MAEConfig):
        rest = {"classes": 0, "representation": 0, "positions": "sine"}
        encoder = ViTConfig(**(read_config(theirs, ViTConfig) | rest))
        return {"encoder": encoder, **_read_mae_config(theirs)}
    family = theirs.get("model_type", "vit")
    if family not in ("vit", "deit", "vit_mae"):
        raise ValueError(f"model_type must be vit, deit or vit_mae, found {family!r}")
    if theirs["hidden_act"] not in GELUS or not theirs.get("qkv_bias", True):
        raise ValueError(
            f"hidden_act must be one of {', '.join(GELUS)} and qkv_bias true, "
            f"found {theirs['hidden_act']!r} and {theirs.get('qkv_bias')}"
        )
    bare = any(name.endswith("Model") for name in theirs.get("architectures") or ())
    if bare and theirs.get("pooler_act", "tanh") != "tanh":
        raise ValueError(f"pooler_act must be tanh, found {theirs['pooler_act']!r}")
    image = theirs["image_size"]
    return {
        "image": image if isinstance(image, int) else tuple(image),
        "patch": square(theirs["patch_size"]),
        "channels": theirs["num_channels"],
        "classes": 0 if bare else len(theirs.get("id2label") or (0, 1)),
        "representation": (theirs.get("pooler_output_size") or theirs["hidden_size"]) * bare,
        "width": theirs["hidden_size"],
        "depth": theirs["num_hidden_layers"],
        "heads": theirs["num_attention_heads"],
        "hidden": theirs["intermediate_size"],
        "activation": GELUS[theirs["hidden_act"]],
        "dropout": theirs["hidden_dropout_prob"],
        "attention_dropout": theirs["attention_probs_dropout_prob"],
        "eps": theirs["layer_norm_eps"],
    }


def _read_mae_config(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `MAEConfig` but for its encoder, which `read_config` reads."""
    return {
        "decoder_width": theirs["decoder_hidden_size"],
        "decoder_depth": theirs["decoder_num_hidden_layers"],
        "decoder_heads": theirs["decoder_num_attention_heads"],
        "decoder_hidden": theirs["decoder_intermediate_size"],
        "mask_ratio": theirs["mask_ratio"],
        "normalise": theirs["norm_pix_loss"],
    }


def encoder(depth: int, theirs: str, ours: str = "") -> list[Rule]:
    """Return the rules for all but heads and added tokens, behind the prefixes of both sides."""
    return [
        Same(f"{ours}class_token", f"{theirs}embeddings.cls_token"),
        Same(f"{ours}positions.weight", f"{theirs}embeddings.position_embeddings"),
        *same(f"{ours}embedding", f"{theirs}embeddings.patch_embeddings.projection"),
        *blocks(f"{ours}stack.blocks", f"{theirs}layers", depth),
        *same(f"{ours}stack.final", f"{theirs}layernorm"),
    ]


def vit(depth: int, *, classes: bool, pooler: bool) -> list[Rule]:
    """Return the names of `ViTForImageClassification`, without classes those of `ViTModel`."""
    rules = encoder(depth, "vit." if classes else "")
    if pooler:
        rules += same("representation", "pooler.dense")
    return rules + (same("head", "classifier") if classes else [])


def deit(depth: int) -> list[Rule]:
    """Return the names of `DeiTForImageClassificationWithTeacher`."""
    return [
        *encoder(depth, "deit."),
        Same("distillation_token", "deit.embeddings.distillation_token"),
        *same("head", "cls_classifier"),
        *same("distillation_head", "distillation_classifier"),
    ]


def mae(depth: int, decoder_depth: int) -> list[Rule]:
    """Return the names of `ViTMAEForPreTraining`."""
    return [
        *encoder(depth, "vit.", "encoder."),
        *same("narrow", "decoder.decoder_embed"),
        Same("mask_token", "decoder.mask_token"),
        Same("positions.weight", "decoder.decoder_pos_embed"),
        *blocks("decoder.blocks", "decoder.decoder_layers", decoder_depth),
        *same("decoder.final", "decoder.decoder_norm"),
        *same("predict", "decoder.decoder_pred"),
    ]


def blocks(ours: str, theirs: str, depth: int) -> list[Rule]:
    """Return the rules for the blocks of an encoder, or of MAE's decoder."""
    rules: list[Rule] = []
    for i in range(depth):
        our, their = f"{ours}.{i}", f"{theirs}.{i}"
        qkv = (f"{their}.attention.{part}_proj" for part in "qkv")
        rules += stacked(f"{our}.self_attention.qkv", qkv)
        rules += same(f"{our}.self_attention.out", f"{their}.attention.o_proj")
        rules += same(f"{our}.self_residual.norm", f"{their}.layernorm_before")
        rules += same(f"{our}.feed_residual.norm", f"{their}.layernorm_after")
        rules += same(f"{our}.feed_forward.expand", f"{their}.mlp.fc1")
        rules += same(f"{our}.feed_forward.contract", f"{their}.mlp.fc2")
    return rules


def square(side: int | list[int] | tuple[int, ...]) -> int:
    """Return the side of a square that may be described by two equal numbers."""
    sides = set(side) if isinstance(side, list | tuple) else {side}
    if len(sides) != 1:
        raise ValueError(f"patches must be square, found {side}")
    return sides.pop()


def rules(model: ViT | MAE, layout: str, theirs: Mapping[str, Tensor] | None = None) -> list[Rule]:
    """Return the names of `ViTForImageClassification`, or of `ViTModel` if classes is 0.

    A `ViTModel` with a pooler needs a `representation`. Those of a `DeiT` are the names of
    `DeiTForImageClassificationWithTeacher`, those of a `MAE` of `ViTMAEForPreTraining`.
    """
    only_huggingface(layout)
    if isinstance(model, MAE):
        _check_known(model.config.encoder)
        return mae(model.config.encoder.depth, model.config.decoder_depth)
    config = model.config
    if isinstance(model, DeiT):
        _check_known(config)
        return deit(config.depth)
    if config.classes and config.representation:
        raise ValueError("transformers has no ViT with both a pooler and a classifier")
    _check_known(config)
    return vit(config.depth, classes=bool(config.classes), pooler=bool(config.representation))


def _check_known(config: ViTConfig) -> None:
    """Raise if transformers has no such encoder."""
    positions = config.positions in ("1d", "sine") and config.told == "once"
    if not positions or config.backbone_channels or config.pool != "class":
        raise ValueError(
            "transformers has this model with 1d or sine positions, told once, a class token and "
            f"no backbone, found {config.positions} positions, pool={config.pool!r}, "
            f"told={config.told!r}, backbone_channels={config.backbone_channels}"
        )
