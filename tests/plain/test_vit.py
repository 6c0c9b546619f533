"""ViT on a page is ViT: the same weights give the same answers and learn the same."""

import pytest
import torch

from coursekit.models.vit import ViT, ViTConfig
from coursekit.plain.vit import PlainViT

from .twins import shaken, substituted

SIZES = {"patch": 4, "channels": 2, "classes": 5, "width": 12, "heads": 3, "hidden": 20}
RENAMED = {  # the page -> the full model; what is not here has one name in both
    r"^positions$": "positions.weight",
    r"blocks\.": "stack.blocks.",
    r"final_norm\.": "stack.final.",
    r"\.attention_norm\.": ".self_residual.norm.",
    r"\.qkv\.": ".self_attention.qkv.",
    r"\.out\.": ".self_attention.out.",
    r"\.feed_norm\.": ".feed_residual.norm.",
    r"\.expand\.": ".feed_forward.expand.",
    r"\.contract\.": ".feed_forward.contract.",
}


def random_plain(dtype: torch.dtype = torch.float64, **changes) -> PlainViT:
    """Return the page's model with no weight zero or one."""
    torch.manual_seed(0)
    return shaken(PlainViT(**{"depth": 2, **SIZES, **changes}).to(dtype), by=0.3)


def twins(dtype: torch.dtype, **changes) -> tuple[PlainViT, ViT]:
    """Return both models with one set of weights."""
    plain = random_plain(dtype, **changes)
    full = ViT(ViTConfig(**{"depth": 2, **SIZES, **changes})).to(dtype)
    full.load_state_dict(
        {substituted(n, RENAMED): weight for n, weight in plain.state_dict().items()}
    )
    return plain, full


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    ("batch", "changes"),
    [
        (2, {"image": (8, 12)}),
        (1, {"image": (4, 4)}),
        (3, {"image": (12, 4), "depth": 1, "heads": 1}),
        (1, {"image": (6, 9), "patch": 3, "channels": 1, "classes": 1, "depth": 3}),
        (2, {"image": (2, 3), "patch": 1, "channels": 3}),
    ],
)
def test_equal_to_the_full_one_forward_and_backward(batch, changes, dtype, atol):
    plain, full = twins(dtype, **changes)
    channels = changes.get("channels", SIZES["channels"])
    images = torch.randn(batch, channels, *changes["image"], dtype=dtype)
    logits, expected = plain(images), full(images)
    assert logits.shape == (batch, changes.get("classes", SIZES["classes"]))
    torch.testing.assert_close(logits, expected, atol=atol, rtol=atol)
    logits.sin().sum().backward()
    expected.sin().sum().backward()
    theirs = {name: parameter.grad for name, parameter in full.named_parameters()}
    for name, parameter in plain.named_parameters():
        grad = theirs.pop(substituted(name, RENAMED))
        scale = 1 + grad.abs().max()
        assert (parameter.grad - grad).abs().max() <= 10 * atol * scale, name
    assert not theirs


def test_sizes_are_those_of_the_paper():
    with torch.device("meta"):
        plain, full = PlainViT(), ViT(ViTConfig.base())
    assert {substituted(n, RENAMED): p.shape for n, p in plain.state_dict().items()} == {
        n: p.shape for n, p in full.state_dict().items()
    }


def test_every_patch_reaches_the_class_token():
    plain = random_plain(image=(8, 12), depth=1)
    images = torch.randn(1, 2, 8, 12, dtype=torch.float64, requires_grad=True)
    plain(images)[0, 0].backward()
    assert (images.grad != 0).all()


def test_the_patches_are_a_set_but_for_their_positions():
    plain = random_plain(image=(8, 12))
    images = torch.randn(2, 2, 8, 12, dtype=torch.float64)
    turned = images.roll((4, 8), dims=(2, 3))  # whole patches change their places
    assert (plain(turned) - plain(images)).abs().max() > 1e-3
    with torch.no_grad():
        plain.positions[:, 1:] = plain.positions[:, 1:2]  # one for all
    torch.testing.assert_close(plain(turned), plain(images))
    shifted = images.roll((1, 0), dims=(2, 3))  # the patches are others
    assert (plain(shifted) - plain(images)).abs().max() > 1e-3
