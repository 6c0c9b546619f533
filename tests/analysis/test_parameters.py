"""The exact number of parameters of every model, as one table."""

import pytest
import torch

from coursekit.analysis.parameters import SIZES, count, detr
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


def test_a_figure_that_cannot_be_met_has_a_reason():
    assert {size.model for size in SIZES} == set(EXACT)
    for size in SIZES:
        assert size.why or round(EXACT[size.model] / 1e6) == size.millions, size.model
        assert abs(EXACT[size.model] / 1e6 - size.millions) < 0.07 * size.millions, size.model


def test_the_reasons_are_true():
    with_tanh = ViTConfig.large(patch=32, classes=0, representation=1024)
    assert round(count(lambda: ViT(with_tanh)) / 1e6) == 307
    with torch.device("meta"):
        backbone = detr("50").backbone
    first = sum(
        p.numel() for part in (backbone.stem, backbone.stages[0]) for p in part.parameters()
    )
    assert round((EXACT["DETR-R50"] - first) / 1e6, 1) == 41.3
