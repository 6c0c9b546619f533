"""DETR on a page is DETR: the same weights give the same answers and learn the same."""

import pytest
import torch
from torch import Tensor, nn

from coursekit.models.detr import DETR, DETRConfig
from coursekit.models.resnet import ResNet, ResNetConfig
from coursekit.plain.detr import PlainDETR

from .twins import shaken, substituted

SIZES = {"classes": 3, "queries": 4, "channels": 8, "width": 16, "heads": 2, "hidden": 24}
RESNET = ResNetConfig(block="basic", depths=(1, 1), width=4, classes=0, frozen_norm=True)
RENAMED = {  # the page -> the full model; what is not here has one name in both
    r"^(encoder|decoder)\.": r"\1.blocks.",
    r"^decoder_norm\.": "decoder.final.",
    r"\.(self|cross|feed)_norm\.": r".\1_residual.norm.",
}


def renamed(ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return weights, or their gradients, under the full model's names."""
    return {substituted(name, RENAMED): value for name, value in ours.items()}


def twins(dtype: torch.dtype, depth: int = 2) -> tuple[PlainDETR, DETR]:
    """Return both models with one set of weights, none of them zero or one."""
    torch.manual_seed(0)
    plain = PlainDETR(ResNet(RESNET), depth=depth, **SIZES).to(dtype).eval()
    shaken(plain, by=0.2)
    config = DETRConfig(**SIZES, encoder_depth=depth, decoder_depth=depth)
    full = DETR(config, ResNet(RESNET)).to(dtype).eval()
    full.load_state_dict(renamed(plain.state_dict()))
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
    theirs = {name: p.grad for name, p in full.named_parameters()}
    ours = renamed({name: p.grad for name, p in plain.named_parameters()})
    assert ours.keys() == theirs.keys()
    for name, grad in theirs.items():
        assert (ours[name] - grad).abs().max() <= 10 * atol * (1 + grad.abs().max()), name


def test_the_same_dropout_in_training():
    """One seed drops the same entries in both, since they drop in one order with one rate."""
    plain, full = twins(torch.float64)
    images = torch.randn(2, 3, 40, 56, dtype=torch.float64)
    outputs = []
    for model in (plain.train(), full.train()):
        torch.manual_seed(1)
        outputs.append(model(images))
    torch.testing.assert_close(outputs[0][0], outputs[1].logits, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(outputs[0][1], outputs[1].boxes, atol=1e-12, rtol=1e-12)
    assert not torch.allclose(outputs[0][0], plain.eval()(images)[0])


def test_sizes_are_those_of_the_paper():
    with torch.device("meta"):
        plain, full = PlainDETR(nn.Identity()), DETR(DETRConfig.r50())
    assert {substituted(n, RENAMED): p.shape for n, p in plain.state_dict().items()} == {
        n: p.shape for n, p in full.state_dict().items()
    }
