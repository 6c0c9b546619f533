"""Every model of the package, small: what the tests that hold for all of them run over."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn

from coursekit import models as m

sys.path.insert(0, str(Path(__file__).parent))  # the tests import what they share from this folder

IMAGE, PATCH = 16, 4


class Case(NamedTuple):
    """One model in eval mode, made by `make`, and what it reads."""

    make: Callable[[], nn.Module]
    inputs: Callable[[int, int], dict[str, Tensor]]  # of a batch size and a length (or a height)
    free: str = ""  # of which inputs the second axis may have any length


def randomised(model: nn.Module, std: float = 0.2) -> nn.Module:
    """Draw every parameter, so that no zero and no unit norm can hide a mistake."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, std)
    return model


def ids(batch: int, length: int) -> Tensor:
    return torch.randint(3, 16, (batch, length))


def keep(batch: int, length: int, *, left: bool = False) -> Tensor:
    """Return where tokens are real: all of them in the first row, the others lack one."""
    real = torch.ones(batch, length, dtype=torch.bool)
    real[1:, 0 if left else -1] = False
    return real


def tokens(batch: int, length: int) -> dict[str, Tensor]:
    return {"tokens": ids(batch, length), "keep": keep(batch, length)}


def segments(batch: int, length: int) -> dict[str, Tensor]:
    return {**tokens(batch, length), "segments": torch.randint(2, (batch, length))}


def marked(*axes: int) -> Callable[[int, int], dict[str, Tensor]]:
    """Return what makes sequences that end in the extract token, 16."""

    def inputs(batch: int, length: int) -> dict[str, Tensor]:
        sequences = torch.randint(3, 16, (batch, *axes, length))
        sequences[..., -1] = 16
        return {"tokens": sequences}

    return inputs


def pair(first: str, second: str) -> Callable[[int, int], dict[str, Tensor]]:
    return lambda batch, length: {first: ids(batch, length), second: ids(batch, length + 1)}


def images(channels: int = 3, side: int | None = None) -> Callable[[int, int], dict[str, Tensor]]:
    """Return what makes images, square with a `side` or as high as asked."""

    def inputs(batch: int, height: int) -> dict[str, Tensor]:
        return {"images": torch.randn(batch, channels, side or height, side or IMAGE)}

    return inputs


def gpt(**changes: object) -> m.GPT:
    sizes = {"vocabulary": 17, "width": 16, "depth": 2, "heads": 2, "positions": 64}
    return m.GPT(m.GPTConfig(**{**sizes, **changes}))


def bert_config(**changes: object) -> m.BertConfig:
    sizes = {"vocabulary": 17, "width": 16, "depth": 2, "heads": 2, "hidden": 32, "positions": 64}
    return m.BertConfig(**{**sizes, **changes})


def bert(*, pooler: bool = True, **changes: object) -> m.Bert:
    return m.Bert(bert_config(**changes), pooler=pooler)


def seq2seq(**changes: object) -> m.Seq2SeqTransformer:
    sizes = {"vocabulary": 17, "width": 16, "depth": 2, "heads": 2, "hidden": 32}
    return m.Seq2SeqTransformer(m.Seq2SeqConfig(**{**sizes, **changes}))


def rnnsearch(kernel: str) -> m.RNNSearch:
    sizes = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8, "kernel": kernel}
    return m.RNNSearch(m.RNNSearchConfig(source_vocabulary=17, target_vocabulary=17, **sizes))


VIT = {"image": IMAGE, "patch": PATCH, "width": 16, "depth": 2, "heads": 2, "hidden": 32}


def vit(**changes: object) -> m.ViT:
    return m.ViT(m.ViTConfig(**{**VIT, "classes": 5, **changes}))


def mae() -> m.MAE:
    encoder = m.ViTConfig(**VIT, classes=0, positions="sine")
    sizes = {"decoder_width": 16, "decoder_depth": 1, "decoder_heads": 2, "decoder_hidden": 32}
    return m.MAE(m.MAEConfig(encoder=encoder, **sizes))


def noisy(batch: int, height: int) -> dict[str, Tensor]:
    return {**images(side=IMAGE)(batch, height), "noise": torch.rand(batch, (IMAGE // PATCH) ** 2)}


def swin() -> m.Swin:
    return m.Swin(m.SwinConfig(
        image=32, patch=2, width=8, depths=(2, 1), heads=(1, 2), window=4, classes=5
    ))  # fmt: skip


def resnet(**changes: object) -> m.ResNet:
    return m.ResNet(m.ResNetConfig(depths=(1, 1), width=4, **{"classes": 5, **changes}))


def detr() -> m.DETR:
    config = m.DETRConfig.small(
        classes=5, queries=3, channels=32, width=16, heads=2, hidden=32, encoder_depth=1
    )
    return m.DETR(config, resnet(classes=0, frozen_norm=True))


def padded(batch: int, height: int) -> dict[str, Tensor]:
    real = torch.ones(batch, height, IMAGE, dtype=torch.bool)
    real[1:, :, -4:] = False
    return {"images": torch.randn(batch, 3, height, IMAGE), "keep": real}


def places(batch: int, height: int) -> dict[str, Tensor]:
    return {"x": torch.randn(batch, 8, height, 4)}


CASES = {
    "GPT": Case(gpt, tokens),
    "GPT-1": Case(lambda: gpt(norm="post"), tokens),
    "GPT, Llama": Case(lambda: m.GPT(m.GPTConfig.llama(
        vocabulary=17, width=16, depth=2, heads=4, kv_heads=2)), tokens),
    "GPTClassifier": Case(lambda: m.GPTClassifier(gpt(), extract=16, outputs=3), marked()),
    "GPTSimilarity": Case(lambda: m.GPTSimilarity(gpt(), extract=16, outputs=1), marked(2)),
    "GPTMultipleChoice": Case(lambda: m.GPTMultipleChoice(gpt(), extract=16), marked(3)),
    "Bert": Case(bert, segments),
    "BertForPreTraining": Case(lambda: m.BertForPreTraining(bert_config()), segments),
    "Roberta": Case(lambda: m.BertForPreTraining(
        bert_config(pad=1, segments=1, skip_padding=True), next_sentence=False), tokens),
    "BertClassifier": Case(lambda: m.BertClassifier(bert(), classes=3), segments),
    "RobertaClassifier": Case(
        lambda: m.RobertaClassifier(bert(pooler=False, pad=1, skip_padding=True), classes=3),
        tokens),
    "BertTagger": Case(lambda: m.BertTagger(bert(), classes=3), segments),
    "BertSpan": Case(lambda: m.BertSpan(bert()), segments),
    "RNNSearch": Case(lambda: rnnsearch("additive"), pair("source", "target")),
    "RNNSearch, general": Case(lambda: rnnsearch("general"), pair("source", "target")),
    "RNNSearch, no attention": Case(lambda: rnnsearch("none"), pair("source", "target")),
    "Seq2SeqTransformer": Case(seq2seq, pair("source", "target_in")),
    "Marian": Case(
        lambda: seq2seq(positions=64, attention_bias=True, output_bias=True),
        pair("source", "target_in")),
    "Seq2SeqTransformer, three matrices": Case(
        lambda: seq2seq(share="none", norm="dlcl", output_bias=True),
        pair("source", "target_in")),
    "T5": Case(lambda: m.T5(m.T5Config(
        vocabulary=17, width=16, depth=2, heads=2, head_width=8, hidden=32)),
        pair("source", "target_in")),
    "T5 1.1": Case(lambda: m.T5(m.T5Config.t5_1_1_small(
        vocabulary=17, width=16, depth=2, heads=2, head_width=8, hidden=32)),
        pair("source", "target_in")),
    "BartCausalLM": Case(lambda: m.BartCausalLM(m.BartConfig(
        vocabulary=17, width=16, depth=2, heads=2, hidden=32, positions=64)), tokens),
    "Bart": Case(lambda: m.Bart(m.BartConfig(
        vocabulary=17, width=16, depth=2, heads=2, hidden=32, positions=64)),
        pair("source", "target_in")),
    "ViT": Case(vit, images(side=IMAGE)),
    "ViT, relative": Case(lambda: vit(positions="relative", pool="mean"), images(side=IMAGE)),
    "ViT, hybrid": Case(lambda: vit(
        positions="2d", backbone_channels=8, backbone_stride=4, patch=1, representation=8),
        images(side=IMAGE)),
    "DeiT": Case(lambda: m.DeiT(m.DeiTConfig(**VIT, classes=5)), images(side=IMAGE)),
    "MAE": Case(mae, noisy),
    "Swin": Case(swin, images()),
    "ResNet": Case(resnet, images()),
    "DETR": Case(detr, padded),
    "SelfAttention2d": Case(lambda: m.SelfAttention2d(channels=8, pool=True), places),
}  # fmt: skip


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    """Each model in turn."""
    return CASES[request.param]


@pytest.fixture
def norm_in_one_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their T5's norm squares in float32 whatever its precision; in float64 that costs 1e-8."""
    from transformers.models.t5 import modeling_t5

    def forward(self: nn.Module, x: Tensor) -> Tensor:
        x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * x

    monkeypatch.setattr(modeling_t5.T5LayerNorm, "forward", forward)
