"""What `transformers` calls the parts of BERT and RoBERTa.

In each rule the first name is ours, the second theirs. Both of their families call the layers
alike; a model around the encoder has it under "bert." or "roberta.", and their masked-LM heads
differ in every name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from torch import Tensor, nn

from coursekit.models.conversion import (
    Ignored,
    Rule,
    Same,
    Stacked,
    Tied,
    export_state,
    import_state,
    load_strictly,
)

if TYPE_CHECKING:
    from coursekit.models.bert import BertConfig

SIZES = {
    "vocabulary": "vocab_size",
    "width": "hidden_size",
    "depth": "num_hidden_layers",
    "heads": "num_attention_heads",
    "hidden": "intermediate_size",
    "positions": "max_position_embeddings",
    "segments": "type_vocab_size",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "eps": "layer_norm_eps",
    "pad": "pad_token_id",
}
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
ROBERTAS = ("roberta", "xlm-roberta", "camembert")  # one architecture, three vocabularies


class HuggingFace(nn.Module):
    """What the models here share: one table, `rules`, reads and writes the weights of others."""

    def rules(self) -> list[Rule]:
        """Say which parameter stands for which of theirs."""
        raise NotImplementedError

    def load_huggingface(self, theirs: Mapping[str, Tensor]) -> Self:
        """Copy the weights of the `transformers` model in; a name left over is an error."""
        state = import_state(self.rules(), theirs)
        load_strictly(self, state)
        return self

    def to_huggingface(self) -> dict[str, Tensor]:
        """Return the weights under the names of `transformers`."""
        return export_state(self.rules(), self.state_dict())


def read_config(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `BertConfig`; what our model would compute otherwise is refused."""
    family, activation = theirs.get("model_type", "bert"), theirs.get("hidden_act", "gelu")
    roberta = family in ROBERTAS
    refused = {
        "model_type": not roberta and family != "bert",
        # Their RoBERTa has GELU in its masked-LM head, whatever the blocks have.
        "hidden_act": activation not in ACTIVATIONS or (roberta and activation != "gelu"),
        "position_embedding_type": theirs.get("position_embedding_type", "absolute") != "absolute",
        "is_decoder": bool(theirs.get("is_decoder")),
        "tie_word_embeddings": not theirs.get("tie_word_embeddings", True),
    }
    for name, is_refused in refused.items():
        if is_refused:
            raise ValueError(f"this Bert cannot be one with {name} = {theirs[name]!r}")
    missing = [name for name in SIZES.values() if theirs.get(name) is None]
    if missing:
        raise ValueError(f"the configuration lacks {', '.join(missing)}")
    sizes = {ours: theirs[name] for ours, name in SIZES.items()}
    sizes["head_dropout"] = theirs.get("classifier_dropout")
    return {**sizes, "activation": ACTIVATIONS[activation], "skip_padding": roberta}


def encoder(config: BertConfig, prefix: str = "", *, pooler: bool) -> list[Rule]:
    """Name the encoder; `prefix` is what our names start with inside a larger model."""
    family = f"{_family(config)}." if prefix else ""
    ours, theirs = f"{prefix}embeddings", f"{family}embeddings"
    rules = [
        Same(f"{ours}.tokens.weight", f"{theirs}.word_embeddings.weight"),
        Same(f"{ours}.positions.weight", f"{theirs}.position_embeddings.weight"),
        Same(f"{ours}.segments.weight", f"{theirs}.token_type_embeddings.weight"),
        *linear(f"{ours}.norm", f"{theirs}.LayerNorm"),
        Ignored(f"{theirs}.position_ids"),  # 0, 1, 2, …: older files hold it
        Ignored(f"{theirs}.token_type_ids"),
    ]
    for layer in range(config.depth):
        ours, theirs = f"{prefix}encoder.blocks.{layer}", f"{family}encoder.layer.{layer}"
        for kind in ("weight", "bias"):
            qkv = tuple(f"{theirs}.attention.self.{x}.{kind}" for x in ("query", "key", "value"))
            rules.append(Stacked(f"{ours}.self_attention.qkv.{kind}", qkv))
        rules += linear(f"{ours}.self_attention.out", f"{theirs}.attention.output.dense")
        rules += linear(f"{ours}.self_residual.norm", f"{theirs}.attention.output.LayerNorm")
        rules += linear(f"{ours}.feed_forward.expand", f"{theirs}.intermediate.dense")
        rules += linear(f"{ours}.feed_forward.contract", f"{theirs}.output.dense")
        rules += linear(f"{ours}.feed_residual.norm", f"{theirs}.output.LayerNorm")
    if pooler:
        rules += linear(f"{prefix}pooler", f"{family}pooler.dense")
    return rules


def masked_lm(config: BertConfig) -> list[Rule]:
    """Name the masked-LM head; they store its tied matrix and its bias a second time."""
    if config.skip_padding:
        head, dense, norm = "lm_head", "lm_head.dense", "lm_head.layer_norm"
    else:
        head = "cls.predictions"
        dense, norm = f"{head}.transform.dense", f"{head}.transform.LayerNorm"
    return [
        *linear("masked_lm.transform", dense),
        *linear("masked_lm.norm", norm),
        Same("masked_lm.bias", f"{head}.bias"),
        Tied(f"{head}.decoder.weight", f"{_family(config)}.embeddings.word_embeddings.weight"),
        Tied(f"{head}.decoder.bias", f"{head}.bias"),
    ]


def linear(ours: str, theirs: str) -> list[Rule]:
    """Name the two parameters of a linear layer or of a norm."""
    return [Same(f"{ours}.{kind}", f"{theirs}.{kind}") for kind in ("weight", "bias")]


def _family(config: BertConfig) -> str:
    return "roberta" if config.skip_padding else "bert"
