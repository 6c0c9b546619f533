"""What `transformers` calls the parts of BART."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.models.weights import fairseq
from coursekit.models.weights.rules import Rule, Same, Tied, check_usual, read_sizes, same

USUAL = {
    "model_type": "bart",
    "activation_function": "gelu",
    "tie_word_embeddings": True,
    "encoder_layerdrop": 0.0,
    "decoder_layerdrop": 0.0,
}
SIZES = {
    "vocabulary": "vocab_size",
    "width": "d_model",
    "depth": "encoder_layers",
    "decoder_depth": "decoder_layers",
    "heads": "encoder_attention_heads",
    "hidden": "encoder_ffn_dim",
    "positions": "max_position_embeddings",
    "scale_embedding": "scale_embedding",
    "dropout": "dropout",
    "attention_dropout": "attention_dropout",
    "hidden_dropout": "activation_dropout",
    "start": "decoder_start_token_id",
    "pad": "pad_token_id",
    "end": "eos_token_id",
}


def read_config(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `BartConfig`; positions are counted as Hugging Face does."""
    check_usual(theirs, USUAL, "{name} of a BART")
    for size in ("attention_heads", "ffn_dim"):
        encoder, decoder = theirs.get(f"encoder_{size}"), theirs.get(f"decoder_{size}")
        if encoder != decoder:
            raise ValueError(f"{size} must agree, found {encoder} (encoder), {decoder}")
    return {**read_sizes(theirs, SIZES), "count_padding": True}


def rules(*, vocabulary: int, depth: int, decoder_depth: int) -> list[Rule]:
    """Return where each weight of a `BartForConditionalGeneration` belongs."""
    rules = fairseq.words(vocabulary)
    for our, side, blocks in (("source", "encoder", depth), ("target", "decoder", decoder_depth)):
        theirs = f"model.{side}"
        rules.append(Same(f"{our}_positions.weight", f"{theirs}.embed_positions.weight"))
        rules += same(f"{our}_norm", f"{theirs}.layernorm_embedding")
        rules += fairseq.blocks(side, blocks)
    return rules


def causal(depth: int) -> list[Rule]:
    """Return where each weight of a `BartForCausalLM` belongs, the decoder alone."""
    theirs = "model.decoder"
    return [
        Same("embedding.weight", f"{theirs}.embed_tokens.weight"),
        Tied("lm_head.weight", f"{theirs}.embed_tokens.weight"),
        Same("positions.weight", f"{theirs}.embed_positions.weight"),
        *same("norm", f"{theirs}.layernorm_embedding"),
        *fairseq.blocks("decoder", depth, alone=True),
    ]
