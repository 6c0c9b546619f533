"""Weights from elsewhere: read into our models, and written for others.

A model knows nothing of other programs. Whose parameter is which is in the tables of this folder,
one file a family; the four functions here work for every model that has a table:

    model = weights.build(GPT, state, weights.read_config(GPTConfig, config))
    weights.load(model, state)
    state = weights.export(model)

`layout` names the program: "huggingface" is `transformers`, "original" the authors' code,
"torchvision" that library (and timm). A name that is missing or left over on either side is an
error.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from torch import Tensor, nn

from coursekit.models.weights.rules import (
    Kept,
    Rule,
    as_mapping,
    export_state,
    import_state,
    load_strictly,
    renamed,
)

FAMILIES = {  # a model or its config -> the file with its table
    **dict.fromkeys(("GPT", "GPTConfig", "GPTMultipleChoice"), "gpt"),
    **dict.fromkeys(("Bert", "BertConfig", "BertForPreTraining"), "bert"),
    **dict.fromkeys(("BertClassifier", "BertMultipleChoice", "BertSpan", "BertTagger"), "bert"),
    "RobertaClassifier": "bert",
    **dict.fromkeys(("Seq2SeqTransformer", "Seq2SeqConfig"), "marian"),
    **dict.fromkeys(("T5", "T5Config"), "t5"),
    **dict.fromkeys(("Bart", "BartConfig", "BartClassifier", "BartSpan", "BartCausalLM"), "bart"),
    **dict.fromkeys(("ViT", "ViTConfig", "DeiT", "DeiTConfig", "MAE", "MAEConfig"), "vit"),
    **dict.fromkeys(("Swin", "SwinConfig"), "swin"),
    **dict.fromkeys(("ResNet", "ResNetConfig"), "resnet"),
    **dict.fromkeys(("DETR", "DETRConfig"), "detr"),
}

Model = TypeVar("Model", bound=nn.Module)
Config = TypeVar("Config")


def load(model: Model, theirs: Mapping[str, Tensor], layout: str = "huggingface") -> Model:
    """Copy `theirs` into `model`, which takes over their dtype, and return it."""
    family = _home(type(model))
    if layout == "huggingface":
        theirs = renamed(theirs, getattr(family, "OLD_NAMES", {}))
    table = list(family.rules(model, layout, theirs))
    ours = model.state_dict()
    kept = {rule.ours: ours[rule.ours] for rule in table if isinstance(rule, Kept)}
    load_strictly(model, import_state(table, theirs) | kept)
    return model


def build(
    kind: type[Model],
    theirs: Mapping[str, Tensor],
    config: Any,
    layout: str = "huggingface",
    **options: Any,
) -> Model:
    """Return a model of this `kind` and `config` with their weights.

    `options` are those of the model. A head reads its number of classes from the weights.
    """
    fresh = getattr(_home(kind), "fresh", None)
    model = kind(config, **options) if fresh is None else fresh(kind, theirs, config, **options)
    return load(model, theirs, layout)


def export(model: nn.Module, layout: str = "huggingface", **options: Any) -> dict[str, Tensor]:
    """Return the weights of `model` under their names.

    A GPT takes `head=False` for the names without an output head, a DETR `backbone="torchvision"`
    for those of a backbone from there.
    """
    return export_state(rules_of(model, layout, **options), model.state_dict())


def rules_of(model: nn.Module, layout: str = "huggingface", **options: Any) -> list[Rule]:
    """Return which parameter of `model` is which of theirs."""
    return list(_home(type(model)).rules(model, layout, **options))


def read_config(kind: type[Config], theirs: Any, **changes: Any) -> Config:
    """Return the configuration of this `kind` that a `config.json` of transformers describes."""
    family = _home(kind)
    return kind(**(family.read_config(as_mapping(theirs), kind) | changes))


def _home(kind: type) -> ModuleType:
    for ancestor in kind.__mro__:
        if ancestor.__name__ in FAMILIES:
            return import_module(f"{__name__}.{FAMILIES[ancestor.__name__]}")
    raise TypeError(f"a {kind.__name__} has no counterpart in other programs")
