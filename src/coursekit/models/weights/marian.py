"""What `transformers` calls the parts of Marian, a Transformer as in `seq2seq.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from coursekit.models.seq2seq import Seq2SeqTransformer
from coursekit.models.weights import fairseq
from coursekit.models.weights.rules import Rule, Same, check_usual, only_huggingface, read_sizes

USUAL = {
    "tie_word_embeddings": True,
    "share_encoder_decoder_embeddings": True,
    "encoder_layerdrop": 0.0,
    "decoder_layerdrop": 0.0,
}
SIZES = {
    "vocabulary": "vocab_size",
    "width": "d_model",
    "depth": "encoder_layers",
    "heads": "encoder_attention_heads",
    "hidden": "encoder_ffn_dim",
    "positions": "max_position_embeddings",
    "scale_embedding": "scale_embedding",
    "dropout": "dropout",
    "attention_dropout": "attention_dropout",
    "hidden_dropout": "activation_dropout",
    "activation": "activation_function",
    "start": "decoder_start_token_id",
    "pad": "pad_token_id",
    "end": "eos_token_id",
}


def read_config(theirs: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the arguments of `Seq2SeqConfig`."""
    if (family := theirs.get("model_type")) != "marian":
        raise ValueError(f"model_type must be marian, found {family!r}")
    check_usual(theirs, USUAL, "{name} of a Marian")
    for side in ("layers", "attention_heads", "ffn_dim"):
        encoder, decoder = theirs.get(f"encoder_{side}"), theirs.get(f"decoder_{side}")
        if encoder != decoder:
            raise ValueError(f"{side} must agree, found {encoder} (encoder), {decoder}")
    if (size := theirs.get("decoder_vocab_size") or theirs["vocab_size"]) != theirs["vocab_size"]:
        raise ValueError(f"both sides need one vocabulary, found {theirs['vocab_size']} and {size}")
    sizes = read_sizes(theirs, SIZES)
    if sizes["activation"] == "swish":  # another name for it
        sizes["activation"] = "silu"
    return {**sizes, "attention_bias": True, "output_bias": True}


def table(*, vocabulary: int, depth: int) -> list[Rule]:
    """Return where each weight of a `MarianMTModel` belongs.

    Marian stores its sine waves, which are side by side and do not alternate (all sines, then all
    cosines); we take them as learned positions.
    """
    return [
        *fairseq.words(vocabulary),
        Same("source_positions.weight", "model.encoder.embed_positions.weight"),
        Same("target_positions.weight", "model.decoder.embed_positions.weight"),
        *fairseq.blocks("encoder", depth),
        *fairseq.blocks("decoder", depth),
    ]


def rules(
    model: Seq2SeqTransformer, layout: str, theirs: Mapping[str, Tensor] | None = None
) -> list[Rule]:
    """Return the names of `MarianMTModel`, which is one of the forms that this model takes."""
    only_huggingface(layout)
    config = model.config
    expected = {"share": "all", "norm": "post", "attention_bias": True, "output_bias": True}
    choices = {name: getattr(config, name) for name in expected}
    if choices != expected or config.positions is None:
        raise ValueError(
            f"Marian is a Seq2SeqTransformer with {expected} and learned positions, "
            f"found {choices} and positions={config.positions}"
        )
    return table(vocabulary=config.vocabulary, depth=config.depth)
