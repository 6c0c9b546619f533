"""What `transformers` calls the parts of BERT and RoBERTa.

In each rule the first name is ours, the second theirs. Both of their families call the layers
alike; a model around the encoder has it under "bert." or "roberta.", and their masked-LM heads
differ in every name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from torch import Tensor, nn

from coursekit.models import bert_heads as heads
from coursekit.models.bert import Bert, BertConfig, BertForPreTraining
from coursekit.models.weights.rules import (
    GELUS,
    Ignored,
    Rule,
    Same,
    Tied,
    only_huggingface,
    read_sizes,
    rows_of,
    same,
    stacked,
)

Family = Literal["bert", "roberta"]

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
KNOWN = {**GELUS, "relu": "relu"}
ROBERTAS = ("roberta", "xlm-roberta", "camembert")  # one architecture, three vocabularies


def read_config(theirs: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the arguments of `BertConfig`; what our model would compute otherwise is refused."""
    family, activation = theirs.get("model_type", "bert"), theirs.get("hidden_act", "gelu")
    roberta = family in ROBERTAS
    refused = {
        "model_type": not roberta and family != "bert",
        # Their RoBERTa has GELU in its masked-LM head, whatever the blocks have.
        "hidden_act": activation not in KNOWN or (roberta and activation != "gelu"),
        "position_embedding_type": theirs.get("position_embedding_type", "absolute") != "absolute",
        "is_decoder": bool(theirs.get("is_decoder")),
        "tie_word_embeddings": not theirs.get("tie_word_embeddings", True),
    }
    for name, is_refused in refused.items():
        if is_refused:
            raise ValueError(f"this Bert cannot be one with {name} = {theirs[name]!r}")
    return {
        **read_sizes(theirs, SIZES),
        "head_dropout": theirs.get("classifier_dropout"),
        "activation": KNOWN[activation],
        "skip_padding": roberta,
    }


def encoder(depth: int, *, pooler: bool, family: Family | None = None) -> list[Rule]:
    """Name the encoder; a `family` says that it is inside a larger model, and which."""
    our, their = ("", "") if family is None else ("bert.", f"{family}.")
    ours, theirs = f"{our}embeddings", f"{their}embeddings"
    rules = [
        Same(f"{ours}.tokens.weight", f"{theirs}.word_embeddings.weight"),
        Same(f"{ours}.positions.weight", f"{theirs}.position_embeddings.weight"),
        Same(f"{ours}.segments.weight", f"{theirs}.token_type_embeddings.weight"),
        *same(f"{ours}.norm", f"{theirs}.LayerNorm"),
        Ignored(f"{theirs}.position_ids"),  # 0, 1, 2, …: older files hold it
        Ignored(f"{theirs}.token_type_ids"),
    ]
    for layer in range(depth):
        ours, theirs = f"{our}encoder.blocks.{layer}", f"{their}encoder.layer.{layer}"
        qkv = (f"{theirs}.attention.self.{part}" for part in ("query", "key", "value"))
        rules += stacked(f"{ours}.self_attention.qkv", qkv)
        rules += same(f"{ours}.self_attention.out", f"{theirs}.attention.output.dense")
        rules += same(f"{ours}.self_residual.norm", f"{theirs}.attention.output.LayerNorm")
        rules += same(f"{ours}.feed_forward.expand", f"{theirs}.intermediate.dense")
        rules += same(f"{ours}.feed_forward.contract", f"{theirs}.output.dense")
        rules += same(f"{ours}.feed_residual.norm", f"{theirs}.output.LayerNorm")
    if pooler:
        rules += same(f"{our}pooler", f"{their}pooler.dense")
    return rules


def masked_lm(family: Family) -> list[Rule]:
    """Name the masked-LM head; they store its tied matrix and its bias a second time."""
    if family == "roberta":
        head, dense, norm = "lm_head", "lm_head.dense", "lm_head.layer_norm"
    else:
        head = "cls.predictions"
        dense, norm = f"{head}.transform.dense", f"{head}.transform.LayerNorm"
    return [
        *same("masked_lm.transform", dense),
        *same("masked_lm.norm", norm),
        Same("masked_lm.bias", f"{head}.bias"),
        Tied(f"{head}.decoder.weight", f"{family}.embeddings.word_embeddings.weight"),
        Tied(f"{head}.decoder.bias", f"{head}.bias"),
    ]


HEADS = {  # whose last layer is called what, by us and by them; with a pooler or not
    heads.BertClassifier: ("classifier", "classifier", True),
    heads.BertMultipleChoice: ("classifier", "classifier", True),
    heads.RobertaClassifier: ("classifier", "classifier.out_proj", False),
    heads.BertTagger: ("classifier", "classifier", False),
    heads.BertSpan: ("span", "qa_outputs", False),
}


def rules(
    model: Bert | BertForPreTraining | heads.BertHead,
    layout: str,
    theirs: Mapping[str, Tensor] | None = None,
) -> list[Rule]:
    """Return the names of the class of transformers with the same heads, BERT's or RoBERTa's."""
    only_huggingface(layout)
    config = (model if isinstance(model, Bert) else model.bert).config
    roberta = config.skip_padding  # BERT counts padding
    family: Family = "roberta" if roberta else "bert"
    if isinstance(model, Bert):
        return encoder(config.depth, pooler=model.pooler is not None)
    if isinstance(model, BertForPreTraining):
        following = model.next_sentence is not None
        if roberta and following:
            raise ValueError("transformers has no RoBERTa with a next-sentence head")
        rows = encoder(config.depth, family=family, pooler=following)
        rows += masked_lm(family) if model.masked_lm is not None else []
        return rows + (same("next_sentence", "cls.seq_relationship") if following else [])
    if type(model) is heads.BertClassifier and roberta:
        raise ValueError("transformers classifies with RoBERTa as RobertaClassifier does")
    ours, theirs_name, pooler = _head(type(model))
    rows = encoder(config.depth, family=family, pooler=pooler) + same(ours, theirs_name)
    if isinstance(model, heads.RobertaClassifier):
        rows += same("dense", "classifier.dense")
    return rows


def fresh(
    kind: type[nn.Module], theirs: Mapping[str, Tensor], config: BertConfig, **options: Any
) -> nn.Module:
    """Return a model without weights, with as many classes as they have."""
    if issubclass(kind, Bert | BertForPreTraining):
        return kind(config, **options)
    _, name, pooler = _head(kind)
    bert = Bert(config, pooler=pooler)
    if kind in (heads.BertMultipleChoice, heads.BertSpan):
        return kind(bert, **options)
    return kind(bert, **options, classes=rows_of(theirs, f"{name}.bias"))


def _head(kind: type) -> tuple[str, str, bool]:
    return next(HEADS[ancestor] for ancestor in kind.__mro__ if ancestor in HEADS)
