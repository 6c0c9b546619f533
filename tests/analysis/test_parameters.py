"""The exact number of parameters of every model, as one table."""

import dataclasses

import pytest
import torch

from coursekit.analysis.parameters import SIZES, count, detr
from coursekit.models.bart import BartConfig
from coursekit.models.bert import BertConfig, BertForPreTraining
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.vit import ViT, ViTConfig

EXACT = {
    "Transformer, base": 63_045_632,
    "Transformer, B keys=16": 55_967_744,
    "Transformer, B keys=32": 58_327_040,
    "Transformer, C depth=2": 33_644_544,
    "Transformer, C depth=4": 48_345_088,
    "Transformer, C depth=8": 77_746_176,
    "Transformer, C width=256": 26_816_512,
    "Transformer, C width=1024": 163_815_424,
    "Transformer, C hidden=1024": 50_450_432,
    "Transformer, C hidden=4096": 88_236_032,
    "Transformer, big": 214_171_648,
    "BERT base": 110_106_428,
    "BERT large": 336_226_108,
    "GPT-2 small": 124_439_808,
    "GPT-2 medium": 354_823_168,
    "GPT-2 large": 774_030_080,
    "GPT-2 XL": 1_557_611_200,
    "T5 small": 60_506_624,
    "BART base": 139_420_416,
    "ViT-B/16": 85_798_656,
    "ViT-L/16": 303_301_632,
    "ViT-H/14": 632_045_800,
    "DeiT-S": 22_436_432,
    "Swin-T": 28_288_354,
    "Swin-S": 49_606_258,
    "Swin-B": 87_768_224,
    "DETR-R50": 41_524_768,
    "DETR-R101": 60_464_672,
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.model)
def test_every_model_has_its_number_of_parameters(size):
    assert count(size.build) == EXACT[size.model]


# Copied from the papers' own tables, not from a repository or a library.
PRINTED = {
    "BERT base": 110,
    "BERT large": 340,
    "GPT-2 small": 117,
    "GPT-2 medium": 345,
    "GPT-2 large": 762,
    "GPT-2 XL": 1542,
    "T5 small": 60,
    "BART base": None,
    "ViT-B/16": 86,
    "ViT-L/16": 307,
    "ViT-H/14": 632,
    "DeiT-S": 22,
    "Swin-T": 29,
    "Swin-S": 50,
    "Swin-B": 88,
    "DETR-R50": 41,
    "DETR-R101": 60,
}


def test_the_printed_figures_are_those_of_the_papers():
    table3 = (65, 58, 60, 36, 50, 80, 28, 168, 53, 90, 213)
    printed = {size.model: size.millions for size in SIZES}
    assert {name: printed.pop(name) for name in PRINTED} == PRINTED
    assert tuple(printed.values()) == table3


def test_a_figure_that_cannot_be_met_has_a_reason():
    assert {size.model for size in SIZES} == set(EXACT)
    for size in SIZES:
        exact = EXACT[size.model]
        rounds = size.millions is not None and round(exact / 1e6) == size.millions
        assert bool(size.why) == (not rounds), size.model
        assert size.differs(exact) == (size.millions is not None and not rounds)
        if size.millions is not None:
            assert abs(exact / 1e6 - size.millions) < 0.07 * size.millions, size.model


def test_the_reasons_are_true():
    with_tanh = ViTConfig.large(patch=32, classes=0, representation=1024)
    assert round(count(lambda: ViT(with_tanh)) / 1e6) == 307
    with torch.device("meta"):
        backbone = detr("50").backbone
    first = sum(
        p.numel() for part in (backbone.stem, backbone.stages[0]) for p in part.parameters()
    )
    assert round((EXACT["DETR-R50"] - first) / 1e6, 1) == 41.3


def test_gpt2_was_counted_with_the_words_of_the_first_gpt():
    for name in ("small", "medium", "large", "XL"):
        config = getattr(GPTConfig, "gpt2" if name == "small" else f"gpt2_{name.lower()}")()
        old = dataclasses.replace(config, vocabulary=GPTConfig.gpt1().vocabulary)
        assert round(count(lambda old=old: GPT(old)) / 1e6) == PRINTED[f"GPT-2 {name}"]


def test_bart_is_a_tenth_larger_than_a_bert_with_as_many_words():
    bert = dataclasses.replace(BertConfig.base(), vocabulary=BartConfig.base().vocabulary)
    assert 1.05 < EXACT["BART base"] / count(lambda: BertForPreTraining(bert)) < 1.15
    assert EXACT["BART base"] / EXACT["BERT base"] > 1.2
