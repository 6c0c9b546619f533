"""DETR on a page is DETR: the same weights give the same answers and learn the same."""

from pathlib import Path

import pytest
import torch
from torch import nn

from coursekit.models.detr import DETR, DETRConfig
from coursekit.models.resnet import ResNet, ResNetConfig
from coursekit.plain import detr as detr_plain
from coursekit.plain.detr import PlainDETR

SIZES = {"classes": 3, "queries": 4, "channels": 8, "width": 16, "heads": 2, "hidden": 24}
RESNET = ResNetConfig(block="basic", depths=(1, 1), width=4, classes=0, frozen_norm=True)


def twins(dtype: torch.dtype, depth: int = 2) -> tuple[PlainDETR, DETR]:
    """Return both models with one set of weights, none of them zero or one."""
    torch.manual_seed(0)
    plain = PlainDETR(ResNet(RESNET), depth=depth, **SIZES).to(dtype).eval()
    with torch.no_grad():
        for parameter in plain.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    config = DETRConfig(**SIZES, encoder_depth=depth, decoder_depth=depth)
    full = DETR(config, ResNet(RESNET)).to(dtype).eval()
    full.load_state_dict(plain.state_dict())
    return plain, full


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(("size", "depth"), [((40, 56), 2), ((33, 8), 1), ((1, 1), 3)])
def test_equal_to_the_full_one_forward_and_backward(size, depth, dtype, atol):
    plain, full = twins(dtype, depth)
    images = torch.randn(2, 3, *size, dtype=dtype)
    logits, boxes = plain(images)
    said = full(images)
    assert logits.shape == (2, 4, 4) and boxes.shape == (2, 4, 4)
    torch.testing.assert_close(logits, said.logits, atol=atol, rtol=atol)
    torch.testing.assert_close(boxes, said.boxes, atol=atol, rtol=atol)
    (logits.sin().sum() + boxes.sin().sum()).backward()
    (said.logits.sin().sum() + said.boxes.sin().sum()).backward()
    for (name, ours), theirs in zip(plain.named_parameters(), full.parameters(), strict=True):
        scale = 1 + theirs.grad.abs().max()
        assert (ours.grad - theirs.grad).abs().max() <= 10 * atol * scale, name


def test_dropout_and_sizes_are_those_of_the_paper():
    with torch.device("meta"):
        plain, full = PlainDETR(nn.Identity()), DETR(DETRConfig.r50())
    assert {n: p.shape for n, p in plain.state_dict().items()} == {
        n: p.shape for n, p in full.state_dict().items()
    }
    chances = [
        [m.p for m in model.modules() if isinstance(m, nn.Dropout)]
        + [m.dropout for m in model.modules() if isinstance(getattr(m, "dropout", None), float)]
        for model in (plain, full)
    ]
    assert chances[0] == chances[1] and chances[0]


def test_it_stays_on_a_page():
    assert len(Path(detr_plain.__file__).read_text(encoding="utf-8").splitlines()) <= 60
