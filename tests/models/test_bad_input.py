"""What no model can read gets one sentence, from every model alike; so do impossible sizes."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import typing
from functools import partial
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from coursekit import models as m
from coursekit.models import weights

from ..refusals import Good, missing, public
from .conftest import CASES, bert, bert_config, gpt, swin

CONFIGS = {
    "GPTConfig": {}, "BertConfig": {}, "T5Config": {}, "BartConfig": {}, "Seq2SeqConfig": {},
    "RNNSearchConfig": {"source_vocabulary": 17, "target_vocabulary": 17}, "ViTConfig": {},
    "DeiTConfig": {}, "MAEConfig": {}, "SwinConfig": {}, "ResNetConfig": {}, "DETRConfig": {},
}  # fmt: skip


def changes() -> list[tuple[str, str, Any]]:
    """Return every size and share of every configuration with values that it cannot have."""
    found = []
    for name in CONFIGS:
        config = getattr(m, name)
        kinds = typing.get_type_hints(config)
        for field in dataclasses.fields(config):
            kind = str(kinds[field.name])
            if "bool" in kind or "Literal" in kind or "str" in kind or "ViT" in kind:
                continue
            if "tuple" in kind:
                wrong = [12.5, math.nan, (4, 2.5), True, "4"]
            elif "int" in kind:
                wrong = [12.0, 2.5, True, -1, "4"]
            else:
                wrong = [-1.0, math.nan, True, "0.1"]
                wrong += [1.5] if "drop" in field.name else []
            found += [(name, field.name, value) for value in wrong]
    return found


@pytest.mark.parametrize(("name", "field", "value"), changes())
def test_a_size_that_cannot_be_is_refused_in_a_sentence(name, field, value):
    with pytest.raises((ValueError, TypeError)) as refused:
        getattr(m, name)(**{**CONFIGS[name], field: value})
    assert raised_here(refused)
    assert isinstance(value, tuple) or str(value) in str(refused.value)


def choices() -> list[tuple[str, str]]:
    """Return every field of every configuration that is one of a few words."""
    found = []
    for name in CONFIGS:
        for field, kind in typing.get_type_hints(getattr(m, name)).items():
            if typing.get_origin(kind) is typing.Literal or kind is str:
                found.append((name, field))
    return found


@pytest.mark.parametrize(("name", "field"), choices())
@pytest.mark.parametrize("value", ["no such word", ["pre"], None])
def test_a_word_that_is_no_choice_is_refused_in_a_sentence(name, field, value):
    with pytest.raises(ValueError, match=f"{field} must be .*, found {re.escape(repr(value))}"):
        getattr(m, name)(**{**CONFIGS[name], field: value})


def raised_here(refused: pytest.ExceptionInfo) -> bool:
    """Whether our code raised it, with a sentence, and not torch far below."""
    last = refused.traceback[-1]
    return "coursekit" in str(last.path) and str(last.statement).lstrip().startswith("raise")


def broken(given: dict[str, Tensor]) -> dict[str, dict[str, Any]]:
    """Return inputs that no model can read, by what is wrong with them."""
    found = {}
    for key, tensor in given.items():
        wrong = {
            "a list": tensor.tolist(), "an empty batch": tensor[:0], "one axis": tensor.flatten(),
            "an axis more": tensor[None], "complex": tensor.to(torch.complex64),
            "an empty axis": tensor[..., :0], "seven rows": torch.cat([tensor[:1]] * 7),
        }  # fmt: skip
        if not tensor.is_floating_point():
            wrong["floats"] = tensor.float()
            wrong["NaN"] = torch.full(tensor.shape, torch.nan)
        if tensor.dtype == torch.int64:
            wrong["too high"], wrong["below zero"] = tensor + 100, tensor - 100
        if tensor.is_floating_point():
            wrong |= {"other precision": tensor.double(), "whole numbers": tensor.long()}
        if tensor.ndim == 4:
            wrong["a channel more"] = torch.cat([tensor, tensor[:, :1]], dim=1)
        if tensor.dtype == torch.bool:
            wrong |= {"0 and 1": tensor.long(), "shorter": tensor[:, 1:]}
        found |= {f"{key}: {what}": {**given, key: value} for what, value in wrong.items()}
    return found


def test_input_that_cannot_be_read_is_refused_in_a_sentence(case):
    torch.manual_seed(0)
    net = case.make().eval()
    silent = []
    for what, given in broken(case.inputs(2, 16)).items():
        alone = len(case.inputs(2, 16)) == 1 and what.endswith("seven rows")
        if alone or what in ("noise: other precision", "noise: whole numbers", "noise: complex"):
            continue  # a larger batch is no mistake, and any numbers that can be sorted are noise
        try:
            net(**given)
        except (ValueError, TypeError) as error:
            last = inspect.getinnerframes(error.__traceback__)[-1]
            if "coursekit" not in last.filename or len(str(error)) < 20:
                silent.append((what, repr(error)))
        except Exception as error:
            silent.append((what, repr(error)[:200]))
        else:
            silent.append((what, "went through"))
    assert silent == []


BART = {"vocabulary": 17, "width": 16, "depth": 1, "heads": 2, "hidden": 32, "positions": 64}
MAP, PATCHES = torch.randn(1, 4, 4, 8), torch.randn(2, 16, 48)
MASKED = torch.tensor([[True, False], [False, True]])
TOKENS, HIDDEN = torch.ones(1, 3).long(), torch.randn(1, 3, 16)
POSITIONS = {"kind": "1d", "grid": (4, 4), "width": 8}
TORCH = "*:list *:axes *:dtype"  # torch itself refuses them

TABLE = {  # what is neither a model of `CASES` nor a configuration
    "shift_right": lambda: Good(m.shift_right, {"tokens": TOKENS, "start": 0}, free="tokens:dtype"),
    "BertEmbeddings.forward": lambda: Good(
        m.BertEmbeddings(bert_config()).forward, {"tokens": TOKENS}, free="tokens"
    ),
    "BertForPreTraining.forward": lambda: Good(
        m.BertForPreTraining(bert_config()).forward, {"tokens": TOKENS},
        bad={"positions": [torch.ones(1, 2) > 0]},
    ),
    "BertClassifier": lambda: Good(m.BertClassifier, {"bert": bert(), "classes": 3}),
    "RobertaClassifier": lambda: Good(
        m.RobertaClassifier, {"bert": bert(pooler=False), "classes": 3}
    ),
    "BertTagger": lambda: Good(m.BertTagger, {"bert": bert(), "classes": 3}),
    "Bert.forward": lambda: Good(
        bert().forward, {"tokens": TOKENS}, bad={"head_mask": [torch.ones(3)]}
    ),
    "GPT.start": lambda: Good(gpt().start, {"keep": TOKENS > 0}),
    "RNNSearch.encode": lambda: Good(
        CASES["RNNSearch"].make().encode, {"source": TOKENS}, bad={"source": [TOKENS[:, :0]]}
    ),
    "DeiTConfig": lambda: Good(m.DeiTConfig, {}, bad={"classes": [0]}),
    "ResNetConfig": lambda: Good(
        m.ResNetConfig, {}, bad={"depths": [()]}, says={"depths": "stages"}
    ),
    "BartClassifier": lambda: Good(
        m.BartClassifier, {"bart": m.Bart(m.BartConfig(**BART)), "classes": 3}
    ),
    "Marks": lambda: Good(m.Marks, {"start": 1, "delimiter": 2, "extract": 3, "pad": 0}),
    "add_tokens": lambda: Good(m.add_tokens, {"gpt": gpt(), "count": 2}),
    "Head": lambda: Good(m.Head, {"gpt": gpt(), "extract": 16, "outputs": 3}),
    "GPTClassifier": lambda: Good(m.GPTClassifier, {"gpt": gpt(), "extract": 16, "outputs": 3}),
    "GPTSimilarity": lambda: Good(m.GPTSimilarity, {"gpt": gpt(), "extract": 16, "outputs": 3}),
    "GPTMultipleChoice": lambda: Good(m.GPTMultipleChoice, {"gpt": gpt(), "extract": 16}),
    "SelfAttention2d": lambda: Good(m.SelfAttention2d, {"channels": 8}),
    "ResidualBlock2d": lambda: Good(m.ResidualBlock2d, {"channels": 8, "hidden": 4}),
    "GeneratorConfig": lambda: Good(m.GeneratorConfig, {}),
    "Discriminator": lambda: Good(m.Discriminator, {}),
    "ConvolutionalStem": lambda: Good(
        m.ConvolutionalStem, {"channels": 3, "width": 8, "stride": 4}
    ),
    "GridPositions": lambda: Good(m.GridPositions, POSITIONS),
    "RelativePositions": lambda: Good(m.RelativePositions, {"grid": (4, 4), "heads": 2}),
    "patchify": lambda: Good(m.patchify, {"images": torch.rand(2, 3, 16, 16), "patch": 4}),
    "unpatchify": lambda: Good(
        m.unpatchify, {"patches": PATCHES, "patch": 4, "size": (16, 16)}
    ),
    "random_masking": lambda: Good(
        m.random_masking, {"noise": torch.rand(2, 4), "ratio": 0.5}, bad={"ratio": [2.0]}
    ),
    "masked_patch_loss": lambda: Good(
        m.masked_patch_loss,
        {"predicted": torch.rand(2, 2, 3), "target": torch.rand(2, 2, 3), "masked": MASKED},
    ),
    "SwinBlock": lambda: Good(
        m.SwinBlock, {"config": swin().config, "stage": 0, "shifted": True, "drop_path": 0.0}
    ),
    "WindowAttention": lambda: Good(m.WindowAttention, {"width": 8, "heads": 2, "window": 4}),
    "SwinBlock.forward": lambda: Good(
        m.SwinBlock(swin().config, 0, shifted=False, drop_path=0.0).forward, {"x": MAP}, free="x"
    ),
    "WindowAttention.forward": lambda: Good(
        m.WindowAttention(width=8, heads=2, window=4).forward, {"x": MAP}, free="x"
    ),
    "BertFeatures": lambda: Good(
        m.BertFeatures, {"config": bert_config(), "layers": "last"}
    ),
    "BertMultipleChoice.forward": lambda: Good(
        m.BertMultipleChoice(bert()).forward, {"tokens": TOKENS[None]}
    ),
    "sentence_vectors": lambda: Good(
        m.sentence_vectors, {"hidden": HIDDEN, "keep": TOKENS > 0}, free="hidden"
    ),
    "BartClassifier.forward": lambda: Good(
        m.BartClassifier(m.Bart(m.BartConfig(**BART)), classes=3).forward, {"source": TOKENS + 1},
        says={"source": "tokens|source"},
    ),
    "BartSpan.forward": lambda: Good(
        m.BartSpan(m.Bart(m.BartConfig(**BART))).forward, {"source": TOKENS},
    ),
    "ResidualBlock2d.forward": lambda: Good(
        m.ResidualBlock2d(channels=8, hidden=4).forward, {"x": torch.rand(1, 8, 4, 4)}, free="x"
    ),
    "Generator.forward": lambda: Good(
        m.Generator(m.GeneratorConfig()).forward, {"z": torch.randn(1, 2, 32)}
    ),
    "Discriminator.forward": lambda: Good(
        m.Discriminator().forward, {"x": torch.rand(1, 1, 8, 24)}
    ),
    "ConvolutionalStem.forward": lambda: Good(
        m.ConvolutionalStem(channels=3, width=8, stride=4).forward,
        {"images": torch.rand(1, 3, 16, 16)}, free="images",
    ),
    "shift_mask": lambda: Good(m.shift_mask, {"rows": 4, "columns": 4, "window": 2, "shift": 1}),
    "window_partition": lambda: Good(m.window_partition, {"x": MAP, "window": 2}),
    "window_reverse": lambda: Good(
        m.window_reverse,
        {"windows": m.window_partition(MAP, 2), "window": 2, "rows": 4, "columns": 4},
    ),
}  # fmt: skip


def test_every_model_has_an_entry():
    """The configurations and the inputs of `CASES` are tried above."""
    done = {kind.__name__ for case in CASES.values() for kind in type(case.make()).__mro__}
    names = [name for name in public(m, m.__all__)
             if name not in CONFIGS and name.removesuffix(".forward") not in done]  # fmt: skip
    assert missing(TABLE, names) == []


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_is_refused_by_name(name):
    assert TABLE[name]().faults() == []


class TheirConfig:
    """As transformers' own: an object that can say what its file holds."""

    def __init__(self, **entries: Any) -> None:
        self.entries = entries

    def to_dict(self) -> dict[str, Any]:
        return self.entries


@pytest.mark.parametrize("name", [name for name in CONFIGS if name in weights.FAMILIES])
def test_a_config_of_transformers_is_read_out_of_its_object_too(name):
    if name == "ResNetConfig":
        pytest.skip("a ResNet is read as a backbone, its configuration is not")
    read = partial(weights.read_config, getattr(m, name))
    with pytest.raises(TypeError, match=r"what a config\.json holds, .* found str"):
        read("config.json")
    kind = {"GPT": "GPT2", "Seq2Seq": "Marian", "DETR": "Detr", "DeiT": "DeiT", "MAE": "ViTMAE"}
    stem = name.removesuffix("Config")
    theirs = getattr(import_module("transformers"), f"{kind.get(stem, stem)}Config")()
    assert read(theirs) == read(theirs.to_dict()) == read(TheirConfig(**theirs.to_dict()))


@pytest.mark.parametrize("head", ["BertClassifier", "BertTagger", "BertSpan", "BartSpan"])
def test_a_head_says_how_a_config_becomes_what_it_stands_on(head):
    kind = head[:4]
    config = getattr(m, f"{kind}Config")(**{"width": 8, "heads": 1, "depth": 1, "hidden": 8})
    given = {"classes": 2} if head in ("BertClassifier", "BertTagger") else {}
    with pytest.raises(TypeError, match=rf"found {kind}Config; make one of it: {kind}\(config\)"):
        getattr(m, head)(config, **given)


def test_a_detr_without_a_backbone_speaks_of_the_images_it_was_given():
    with pytest.raises(ValueError, match="without a backbone, images that are feature maps must"):
        m.DETR(m.DETRConfig.small()).eval()(torch.rand(1, 3, 64, 64))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: m.Discriminator()(torch.zeros(1, 1, 8, 20)), "canvases of 8 × 24 .*found .8, 20"),
        (lambda: m.Generator(m.GeneratorConfig())(torch.zeros(1, 2, 32).double()),
         "z must have the weights' dtype torch.float32, found torch.float64"),
        (lambda: m.SelfAttention2d(channels=8, pool=True)(torch.zeros(1, 8, 1, 1)),
         "pool needs a map of 2 × 2 or more, found .1, 1"),
    ],
    ids=["canvas", "noise", "pool"],
)  # fmt: skip
def test_what_a_sagan_cannot_read_is_said(call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call()
