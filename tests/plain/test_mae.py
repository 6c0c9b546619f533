"""MAE on a page is MAE: the same weights paint the same and learn the same."""

import pytest
import torch
from torch import Tensor

from coursekit.models.mae import MAE, MAEConfig, masked_patch_loss
from coursekit.models.patches import patchify
from coursekit.models.vit import ViTConfig
from coursekit.plain.mae import PlainMAE

from .twins import shaken, substituted

ENCODER = {"image": (8, 12), "patch": 4, "channels": 2, "width": 12, "heads": 3, "hidden": 20}
DECODER = {"decoder_width": 8, "decoder_heads": 2, "decoder_hidden": 12, "decoder_depth": 1}
RENAMED = {  # the page -> the full model; what is not here has one name in both
    r"^encoder\.": "encoder.stack.blocks.",
    r"^encoder_norm\.": "encoder.stack.final.",
    r"^decoder\.": "decoder.blocks.",
    r"^decoder_norm\.": "decoder.final.",
    r"^(embedding\.|class_token)": r"encoder.\1",
    r"^positions$": "encoder.positions.weight",
    r"^decoder_positions$": "positions.weight",
    r"\.attention_norm\.": ".self_residual.norm.",
    r"\.(qkv|out)\.": r".self_attention.\1.",
    r"\.feed_norm\.": ".feed_residual.norm.",
    r"\.(expand|contract)\.": r".feed_forward.\1.",
}


def renamed(ours: dict[str, Tensor], patch: int) -> dict[str, Tensor]:
    """Return weights, or their gradients, under the full model's names."""
    theirs = {substituted(name, RENAMED): value for name, value in ours.items()}
    weight = theirs["encoder.embedding.weight"]  # (D, P·P·C), in the full model (D, C, P, P)
    weight = weight.unflatten(1, (patch, patch, -1)).permute(0, 3, 1, 2)
    return theirs | {"encoder.embedding.weight": weight}


def random_plain(dtype: torch.dtype = torch.float64, **changes) -> PlainMAE:
    """Return the page's model with no weight zero or one."""
    torch.manual_seed(0)
    return shaken(
        PlainMAE(**{"depth": 2, "visible": 2, **ENCODER, **DECODER, **changes}).to(dtype), by=0.3
    )


def twins(dtype: torch.dtype, patches: int, visible: int, **changes) -> tuple[PlainMAE, MAE]:
    """Return both models with one set of weights."""
    plain = random_plain(dtype, visible=visible, **changes)
    encoder = {"depth": 2, **ENCODER, **changes}
    decoder = {key: encoder.pop(key, DECODER[key]) for key in DECODER}
    encoder = ViTConfig(classes=0, positions="sine", **encoder)
    config = MAEConfig(encoder=encoder, mask_ratio=1 - visible / patches, **decoder)
    full = MAE(config).to(dtype)
    full.load_state_dict(renamed(plain.state_dict(), encoder.patch))
    return plain, full


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    ("batch", "patches", "visible", "changes"),
    [
        (2, 6, 2, {}),
        (1, 6, 1, {"decoder_depth": 2}),
        (3, 6, 5, {"depth": 1}),
        (1, 2, 1, {"image": (4, 8), "heads": 1}),
        (2, 12, 3, {"image": (9, 12), "patch": 3, "channels": 3, "decoder_width": 12}),
        (2, 4, 2, {"image": (4, 1), "patch": 1, "channels": 3}),
    ],
)
def test_equal_to_the_full_one_forward_and_backward(batch, patches, visible, changes, dtype, atol):
    plain, full = twins(dtype, patches, visible, **changes)
    sizes = ENCODER | changes
    images = torch.randn(batch, sizes["channels"], *sizes["image"], dtype=dtype)
    noise = torch.rand(batch, patches, dtype=dtype)
    loss, painted = plain(images, noise)
    painting = full(images, noise)
    assert painting.masked.sum() == batch * (patches - visible)
    expected = masked_patch_loss(painting.patches, full.target(images), painting.masked)
    torch.testing.assert_close(painted, painting.patches, atol=atol, rtol=atol)
    torch.testing.assert_close(loss, expected, atol=atol, rtol=atol)
    (loss + painted.sin().sum()).backward()
    (expected + painting.patches.sin().sum()).backward()
    theirs = {n: p.grad for n, p in full.named_parameters() if p.requires_grad}
    ours = renamed({n: p.grad for n, p in plain.named_parameters()}, sizes["patch"])
    assert ours.keys() == theirs.keys()
    for name, grad in theirs.items():
        scale = 1 + grad.abs().max()
        assert (ours[name] - grad).abs().max() <= 10 * atol * scale, name


def test_sizes_are_those_of_the_paper():
    with torch.device("meta"):
        plain, full = PlainMAE(), MAE(MAEConfig.base())
    assert {n: p.shape for n, p in renamed(plain.state_dict(), 16).items()} == {
        n: p.shape for n, p in full.state_dict().items()
    }
    assert plain.visible == int(196 * (1 - full.config.mask_ratio))


def test_the_waves_are_the_full_ones_in_another_order():
    encoder = ViTConfig(classes=0, positions="sine", **ENCODER)
    full = MAE(MAEConfig(encoder=encoder, decoder_width=8, decoder_heads=2, decoder_depth=1))
    plain = random_plain(torch.float32)
    for ours, theirs in [
        (plain.positions, full.encoder.positions.weight),
        (plain.decoder_positions, full.positions.weight),
    ]:
        assert ours.shape == theirs.shape
        columns = [sorted(waves[0].T.tolist()) for waves in (ours, theirs)]
        assert columns[0] == columns[1]


def test_the_loss_sees_the_hidden_pixels_and_the_painting_does_not():
    plain = random_plain()
    images = torch.randn(1, 2, 8, 12, dtype=torch.float64, requires_grad=True)
    noise = torch.tensor([[0.5, 0.1, 0.9, 0.8, 0.2, 0.6]], dtype=torch.float64)
    hidden = torch.tensor([True, False, True, True, False, True])  # all but the least two
    _, painted = plain(images, noise)
    (grad,) = torch.autograd.grad(painted[0, 0].sum(), images)
    assert torch.equal((patchify(grad, 4)[0] != 0).any(dim=-1), ~hidden)
    # The loss asks for nothing at the visible places.
    loss, painted = plain(images.detach(), noise)
    (grad,) = torch.autograd.grad(loss, painted)
    assert torch.equal((grad[0] != 0).any(dim=-1), hidden)


def test_pixels_are_normalised_within_their_patch():
    plain = random_plain()
    with torch.no_grad():
        for parameter in plain.predict.parameters():
            parameter.zero_()
    images = 7 * torch.randn(2, 2, 8, 12, dtype=torch.float64) + 3
    loss, _ = plain(images, torch.rand(2, 6))
    # All is painted grey: the error is each patch's variance, 1 but for Bessel's n / (n − 1).
    assert loss.item() == pytest.approx(31 / 32, rel=1e-5)
