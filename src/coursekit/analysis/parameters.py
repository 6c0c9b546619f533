"""How many parameters every model of the course has, beside the number that its paper prints.

The models are built on torch's meta device: all shapes, no numbers, so that the largest costs no
more than the smallest. The book shows the table in "How large is it?".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from coursekit.models.bart import Bart, BartConfig
from coursekit.models.bert import BertConfig, BertForPreTraining
from coursekit.models.deit import DeiT, DeiTConfig
from coursekit.models.detr import DETR, DETRConfig
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.resnet import ResNet, ResNetConfig
from coursekit.models.seq2seq import TABLE3, Seq2SeqConfig, Seq2SeqTransformer
from coursekit.models.swin import Swin, SwinConfig
from coursekit.models.t5 import T5, T5Config
from coursekit.models.vit import ViT, ViTConfig


@dataclass(frozen=True)
class Size:
    """One model: how to build it, the millions of parameters that its paper prints, and why not.

    What a repository or a library says later is not what the paper prints. `why` explains a figure
    that the exact count does not round to, or that is missing.
    """

    model: str
    build: Callable[[], nn.Module]
    millions: int | None  # None: the paper prints no count
    source: str  # key in references.bib
    why: str = ""

    def differs(self, exact: int) -> bool:
        """Return whether the paper prints a figure that `exact` parameters do not round to."""
        return self.millions is not None and round(exact / 1e6) != self.millions


def count(build: Callable[[], nn.Module]) -> int:
    """Build a model on the meta device and count its parameters; a shared one counts once."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build().parameters())


def detr(depth: str) -> DETR:
    """DETR with its backbone, whose norms are frozen and thus hold no parameters."""
    backbone = ResNet(getattr(ResNetConfig, f"resnet{depth}")(classes=0, frozen_norm=True))
    return DETR(getattr(DETRConfig, f"r{depth}")(), backbone)


VOCABULARY = "another vocabulary than 37,000 tokens: see below"
GPT2 = "an error of the paper, which its authors corrected later: see below"
TABLE3_ROWS = [name for name, row in TABLE3.items() if row.millions is not None]
SIZES = [
    *(
        Size(
            f"Transformer, {name}",
            partial(lambda name: Seq2SeqTransformer(Seq2SeqConfig.table3(name)), name),
            TABLE3[name].millions,
            "vaswani2017",
            VOCABULARY,
        )
        for name in TABLE3_ROWS
    ),
    Size("BERT base", lambda: BertForPreTraining(BertConfig.base()), 110, "devlin2019"),
    Size(
        "BERT large",
        lambda: BertForPreTraining(BertConfig.large()),
        340,
        "devlin2019",
        "the encoder has 335 million with its pooler and 336 with both heads; the paper rounds up",
    ),
    *(
        Size(
            f"GPT-2 {name}",
            partial(lambda build: GPT(build()), build),
            millions,
            "radford2019",
            GPT2,
        )
        for name, build, millions in (
            ("small", GPTConfig.gpt2, 117),
            ("medium", GPTConfig.gpt2_medium, 345),
            ("large", GPTConfig.gpt2_large, 762),
            ("XL", GPTConfig.gpt2_xl, 1542),
        )
    ),
    Size(
        "T5 small",
        lambda: T5(T5Config.small()),
        60,
        "raffel2020",
        "60.5 million, which the paper cuts and does not round",
    ),
    Size(
        "BART base",
        lambda: Bart(BartConfig.base()),
        None,
        "lewis2020",
        'the paper prints no count, only "roughly 10% more" than BERT has: see below',
    ),
    Size("ViT-B/16", lambda: ViT(ViTConfig.base(classes=0)), 86, "dosovitskiy2021"),
    Size(
        "ViT-L/16",
        lambda: ViT(ViTConfig.large(classes=0)),
        307,
        "dosovitskiy2021",
        "307 is what ViT-L/32 has with the tanh layer before its head",
    ),
    Size(
        "ViT-H/14",
        lambda: ViT(ViTConfig.huge(classes=1000)),
        632,
        "dosovitskiy2021",
    ),
    Size("DeiT-S", lambda: DeiT(DeiTConfig.small()), 22, "touvron2021"),
    Size(
        "Swin-T",
        lambda: Swin(SwinConfig.tiny()),
        29,
        "liu2021swin",
        "the authors' repository says 28",
    ),
    Size("Swin-S", lambda: Swin(SwinConfig.small()), 50, "liu2021swin"),
    Size("Swin-B", lambda: Swin(SwinConfig.base()), 88, "liu2021swin"),
    Size(
        "DETR-R50",
        lambda: detr("50"),
        41,
        "carion2020",
        "41.3 million are trained: the backbone's first layers stay as they are",
    ),
    Size("DETR-R101", lambda: detr("101"), 60, "carion2020"),
]
