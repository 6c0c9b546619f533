"""What `transformers` calls the parts of T5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from coursekit.models.t5 import T5
from coursekit.models.weights.rules import (
    GELUS,
    Ignored,
    Rule,
    Same,
    Stacked,
    Tied,
    only_huggingface,
)

SIZES = {
    "vocabulary": "vocab_size",
    "width": "d_model",
    "depth": "num_layers",
    "decoder_depth": "num_decoder_layers",
    "heads": "num_heads",
    "head_width": "d_kv",
    "hidden": "d_ff",
    "buckets": "relative_attention_num_buckets",
    "max_distance": "relative_attention_max_distance",
    "dropout": "dropout_rate",
    "eps": "layer_norm_epsilon",
    "pad": "pad_token_id",
    "start": "decoder_start_token_id",
    "end": "eos_token_id",
}


def read_config(theirs: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the arguments of `T5Config`; a file of the first T5 may leave some of them out."""
    model_type = theirs.get("model_type", "t5")
    if model_type not in ("t5", "mt5"):
        raise ValueError(f"model_type must be t5 or mt5, found {model_type!r}")
    sizes = {our: theirs.get(their) for our, their in SIZES.items()}
    # A file that says "not tied" means "not scaled" as well. Since transformers 5 a model in memory
    # says that it is tied whatever it is, and "not scaled" is all that is left of the file's word.
    scaled = theirs.get("tie_word_embeddings") is not False and model_type == "t5"
    sizes["scale_output"] = sizes["tied"] = theirs.get("scale_decoder_outputs", scaled)
    # "gated-gelu" is the tanh form; newer files spell out what it means.
    *gate, activation = theirs.get("feed_forward_proj", "relu").split("-")
    activation = "gelu_new" if gate and activation == "gelu" else activation
    activation = theirs.get("dense_act_fn", activation)
    sizes["activation"] = GELUS.get(activation, activation)
    sizes["gated"] = theirs.get("is_gated_act", gate == ["gated"])
    return {name: value for name, value in sizes.items() if value is not None}


def table(depth: int, decoder_depth: int, *, gated: bool = False, tied: bool = True) -> list[Rule]:
    """Return where each weight of a `T5ForConditionalGeneration` belongs; T5 has no biases."""
    rules: list[Rule] = [Same("embedding.weight", "shared.weight")]
    copies = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    rules += [Tied(copy, "shared.weight") for copy in copies]
    head = "lm_head.weight"
    rules.append(Tied(head, "shared.weight") if tied else Same("output.weight", head))
    # Files of 2020 hold distances of the cross-attention, which were never used.
    rules.append(Ignored("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"))
    for side, blocks in (("encoder", depth), ("decoder", decoder_depth)):
        distances = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        rules.append(Same(f"{side}_bias.weight", distances))
        rules.append(Same(f"{side}.final.weight", f"{side}.final_layer_norm.weight"))
        for layer in range(blocks):
            names = f"{side}.blocks.{layer}", f"{side}.block.{layer}"
            rules += block(*names, cross_attention=side == "decoder", gated=gated)
    return rules


def block(ours: str, theirs: str, *, cross_attention: bool, gated: bool) -> list[Rule]:
    """Return the rules of one block, whose sublayers have numbers on their side."""
    rules: list[Rule] = []
    attentions = [("self", "SelfAttention"), ("cross", "EncDecAttention")][: 1 + cross_attention]
    for number, (our, their) in enumerate(attentions):
        attention = f"{theirs}.layer.{number}.{their}"
        qkv = tuple(f"{attention}.{part}.weight" for part in "qkv")
        rules.append(Stacked(f"{ours}.{our}_attention.qkv.weight", qkv))
        rules.append(Same(f"{ours}.{our}_attention.out.weight", f"{attention}.o.weight"))
    feed = f"{theirs}.layer.{len(attentions)}.DenseReluDense"
    maps = {"gate": "wi_0", "expand": "wi_1"} if gated else {"expand": "wi"}
    for our, their in {**maps, "contract": "wo"}.items():
        rules.append(Same(f"{ours}.feed_forward.{our}.weight", f"{feed}.{their}.weight"))
    for number, (our, _) in enumerate([*attentions, ("feed", "DenseReluDense")]):
        norm = f"{theirs}.layer.{number}.layer_norm.weight"
        rules.append(Same(f"{ours}.{our}_residual.norm.weight", norm))
    return rules


def rules(model: T5, layout: str, theirs: Mapping[str, Tensor] | None = None) -> list[Rule]:
    """Return the names of `T5ForConditionalGeneration`, which are those of `T5Model` too."""
    only_huggingface(layout)
    config = model.config
    return table(config.depth, config.depth_of_decoder, gated=config.gated, tied=config.tied)
