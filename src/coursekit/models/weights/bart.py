"""What `transformers` calls the parts of BART."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from coursekit.models.bart import Bart, BartConfig
from coursekit.models.bart_heads import BartCausalLM, BartClassifier, BartSpan
from coursekit.models.weights import fairseq
from coursekit.models.weights.rules import (
    Ignored,
    Kept,
    Rule,
    Same,
    Stacked,
    Tied,
    check_usual,
    only_huggingface,
    read_sizes,
    rows_of,
    same,
)

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


def read_config(theirs: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the arguments of `BartConfig`; positions are counted as Hugging Face does."""
    check_usual(theirs, USUAL, "{name} of a BART")
    for size in ("attention_heads", "ffn_dim"):
        encoder, decoder = theirs.get(f"encoder_{size}"), theirs.get(f"decoder_{size}")
        if encoder != decoder:
            raise ValueError(f"{size} must agree, found {encoder} (encoder), {decoder}")
    return {**read_sizes(theirs, SIZES), "count_padding": True}


def table(*, vocabulary: int, depth: int, decoder_depth: int) -> list[Rule]:
    """Return where each weight of a `BartForConditionalGeneration` belongs."""
    rows = fairseq.words(vocabulary)
    for our, side, blocks in (("source", "encoder", depth), ("target", "decoder", decoder_depth)):
        theirs = f"model.{side}"
        rows.append(Same(f"{our}_positions.weight", f"{theirs}.embed_positions.weight"))
        rows += same(f"{our}_norm", f"{theirs}.layernorm_embedding")
        rows += fairseq.blocks(side, blocks)
    return rows


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


def rules(
    model: Bart | BartCausalLM | BartClassifier | BartSpan,
    layout: str,
    theirs: Mapping[str, Tensor] | None = None,
) -> list[Rule]:
    """Return the names of `BartForConditionalGeneration`, or of the class with the same head.

    `theirs` may also be those of a bare `BartModel`. What scores words is not in the files of the
    models with another head. The cross-attention of a `BartForCausalLM` is never used.
    """
    only_huggingface(layout)
    if isinstance(model, BartCausalLM):
        return causal(model.config.depth_of_decoder)
    bart = model if isinstance(model, Bart) else model.bart
    config = bart.config
    rows = table(
        vocabulary=config.vocabulary, depth=config.depth, decoder_depth=config.depth_of_decoder
    )
    if isinstance(model, Bart):
        bare = theirs is not None and "shared.weight" in theirs
        return [_bare(row) for row in _without_scores(rows)] if bare else rows
    rows = [
        row if isinstance(row, Tied | Ignored) else replace(row, ours=f"bart.{row.ours}")
        for row in _without_scores(rows)
    ]
    if isinstance(model, BartSpan):
        return rows + same("span", "qa_outputs")
    head = "classification_head"
    return rows + same("dense", f"{head}.dense") + same("classifier", f"{head}.out_proj")


def fresh(
    kind: type[nn.Module], theirs: Mapping[str, Tensor], config: BartConfig, **options: Any
) -> nn.Module:
    """Return a model without weights, with as many classes as they have."""
    if issubclass(kind, BartClassifier):
        classes = rows_of(theirs, "classification_head.out_proj.bias")
        return kind(Bart(config), classes=classes, **options)
    return kind(Bart(config) if issubclass(kind, BartSpan) else config, **options)


def _without_scores(rows: list[Rule]) -> list[Rule]:
    """Return the rules with nothing for the head that scores words; its bias keeps its values."""
    names = ("final_logits_bias", "lm_head.weight")
    rest = [row for row in rows if getattr(row, "theirs", None) not in names]
    return [*rest, Kept("embedding.bias")]


def _bare(row: Rule) -> Rule:
    """Return a rule with the name of a model that has no prefix."""
    if isinstance(row, Kept):
        return row
    if isinstance(row, Stacked):
        return replace(row, theirs=tuple(name.removeprefix("model.") for name in row.theirs))
    row = replace(row, theirs=row.theirs.removeprefix("model."))
    return replace(row, to=row.to.removeprefix("model.")) if isinstance(row, Tied) else row
