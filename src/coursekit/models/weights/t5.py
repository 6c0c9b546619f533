"""What `transformers` calls the parts of T5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.models.weights.rules import Ignored, Rule, Same, Stacked, Tied, check_usual

USUAL = {
    "model_type": "t5",
    "feed_forward_proj": "relu",
    "dense_act_fn": "relu",
    "is_gated_act": False,
}
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


def read_config(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `T5Config`; a file of the first T5 may leave some of them out."""
    check_usual(theirs, USUAL, "only the first T5 with its ReLU is covered: {name}")
    # Since transformers 5 the two are one, and a file that says "not tied" says "not scaled".
    tied = theirs.get("tie_word_embeddings") is not False
    found = {our: theirs.get(their) for our, their in SIZES.items()}
    found["scale_output"] = theirs.get("scale_decoder_outputs", tied)
    return {name: value for name, value in found.items() if value is not None}


def rules(depth: int, decoder_depth: int) -> list[Rule]:
    """Return where each weight of a `T5ForConditionalGeneration` belongs; T5 has no biases."""
    rules: list[Rule] = [Same("embedding.weight", "shared.weight")]
    copies = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight")
    rules += [Tied(copy, "shared.weight") for copy in copies]
    # Files of 2020 hold distances of the cross-attention, which were never used.
    rules.append(Ignored("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"))
    for side, blocks in (("encoder", depth), ("decoder", decoder_depth)):
        distances = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        rules.append(Same(f"{side}_bias.weight", distances))
        rules.append(Same(f"{side}.final.weight", f"{side}.final_layer_norm.weight"))
        for layer in range(blocks):
            rules += block(f"{side}.blocks.{layer}", f"{side}.block.{layer}", side == "decoder")
    return rules


def block(ours: str, theirs: str, cross_attention: bool) -> list[Rule]:
    """Return the rules of one block, whose sublayers have numbers on their side."""
    rules: list[Rule] = []
    attentions = [("self", "SelfAttention"), ("cross", "EncDecAttention")][: 1 + cross_attention]
    for number, (our, their) in enumerate(attentions):
        attention = f"{theirs}.layer.{number}.{their}"
        qkv = tuple(f"{attention}.{part}.weight" for part in "qkv")
        rules.append(Stacked(f"{ours}.{our}_attention.qkv.weight", qkv))
        rules.append(Same(f"{ours}.{our}_attention.out.weight", f"{attention}.o.weight"))
    feed = f"{theirs}.layer.{len(attentions)}.DenseReluDense"
    rules.append(Same(f"{ours}.feed_forward.expand.weight", f"{feed}.wi.weight"))
    rules.append(Same(f"{ours}.feed_forward.contract.weight", f"{feed}.wo.weight"))
    for number, (our, _) in enumerate([*attentions, ("feed", "DenseReluDense")]):
        norm = f"{theirs}.layer.{number}.layer_norm.weight"
        rules.append(Same(f"{ours}.{our}_residual.norm.weight", norm))
    return rules
