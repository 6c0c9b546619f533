"""MAE: equal to transformers, what the encoder may see, where the loss is, exact sizes."""

import dataclasses

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from coursekit.analysis import capture
from coursekit.models import weights
from coursekit.models.mae import MAE, MAEConfig, masked_patch_loss, random_masking
from coursekit.models.patches import patchify, unpatchify
from coursekit.models.vit import ViT, ViTConfig
from coursekit.models.weights.rules import export_state

from .conftest import randomised


def small(positions: str = "sine", image: int | tuple = 16, **changes) -> MAE:
    encoder = ViTConfig(
        image=image, patch=4, classes=0, width=8, depth=2, heads=2, hidden=12, positions=positions
    )
    sizes = {"decoder_width": 12, "decoder_depth": 1, "decoder_heads": 3, "decoder_hidden": 16}
    config = MAEConfig(encoder=encoder, **(sizes | changes))
    return randomised(MAE(config)).double().eval()


def random(*shape: int, seed: int = 1, dtype: torch.dtype = torch.double) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


# Parity with transformers

THEIRS = {
    "image_size": 16,
    "patch_size": 4,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "decoder_hidden_size": 24,
    "decoder_num_hidden_layers": 2,
    "decoder_num_attention_heads": 3,
    "decoder_intermediate_size": 20,
}
CONFIGS = {
    "small": {},
    "normalised, one channel": {"norm_pix_loss": True, "num_channels": 1, "image_size": 20},
    "half masked, patch 2": {"mask_ratio": 0.5, "patch_size": 2, "image_size": 10},
    "eps": {"layer_norm_eps": 1e-3, "norm_pix_loss": True, "mask_ratio": 0.6},
}


def pair(dtype: torch.dtype, **changes):
    theirs = transformers.ViTMAEForPreTraining(transformers.ViTMAEConfig(**(THEIRS | changes)))
    theirs = randomised(theirs).to(dtype).eval()
    config = weights.read_config(MAEConfig, theirs.config.to_dict())
    return theirs, weights.build(MAE, theirs.state_dict(), config).to(dtype).eval()


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_equal_to_transformers_forward_and_backward(changes, dtype, atol):
    theirs, ours = pair(dtype, **changes)
    encoder = ours.config.encoder
    x = random(3, encoder.channels, *encoder.size, dtype=dtype)
    noise = random(3, encoder.grid[0] * encoder.grid[1], seed=2)
    expected, found = theirs(x, noise=noise), ours(x, noise)
    torch.testing.assert_close(found.patches, expected.logits, atol=atol, rtol=atol)
    assert torch.equal(found.masked, expected.mask.bool())
    assert torch.equal(found.restore, expected.ids_restore)
    loss = masked_patch_loss(found.patches, ours.target(x), found.masked)
    torch.testing.assert_close(loss, expected.loss, atol=atol, rtol=atol)
    latent, _ = ours.encode(x, noise)
    torch.testing.assert_close(
        latent, theirs.vit(x, noise=noise).last_hidden_state, atol=atol, rtol=atol
    )
    expected.loss.backward()
    loss.backward()
    gradients = {
        name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        for name, parameter in ours.named_parameters()
    }
    assert {name for name, p in ours.named_parameters() if p.grad is None} == {
        "encoder.positions.weight",
        "positions.weight",
    }
    exported = export_state(weights.rules_of(ours), gradients)
    for name, parameter in theirs.named_parameters():
        found = exported.pop(name)
        if "pos" in name:  # fixed sines; some versions of transformers compute a gradient for them
            assert found.eq(0).all()
            continue
        torch.testing.assert_close(found, parameter.grad, atol=10 * atol, rtol=10 * atol, msg=name)
    assert not exported


@pytest.mark.parametrize("size", [(24, 24), (8, 28)])
def test_interpolated_positions_of_the_encoder_are_those_of_transformers(size):
    theirs, ours = pair(torch.float64)
    x = random(2, 3, *size)
    noise = random(2, size[0] * size[1] // 16, seed=2)
    expected = theirs.vit(x, noise=noise, interpolate_pos_encoding=True).last_hidden_state
    found, _ = ours.encode(x, noise, interpolate=True)
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
    assert ours(x, noise, interpolate=True).patches.shape == (2, noise.shape[1], 48)


def test_round_trip_and_left_overs():
    theirs, ours = pair(torch.float32)
    state, back = theirs.state_dict(), weights.export(ours)
    assert back.keys() == state.keys()
    for name, tensor in state.items():
        assert torch.equal(back[name], tensor), name
    with pytest.raises(ValueError, match="'extra'"):
        weights.build(MAE, state | {"extra": torch.zeros(1)}, ours.config)
    in_a_file = {}
    for name, tensor in state.items():
        name = name.replace("decoder_layers.", "decoder_encoder.layer.")
        in_a_file[name.replace("mlp.fc1", "intermediate.dense")] = tensor
    assert "decoder.decoder_encoder.layer.1.intermediate.dense.weight" in in_a_file
    weights.build(MAE, in_a_file, ours.config)
    del state["decoder.mask_token"]
    with pytest.raises(ValueError, match=r"lack 'decoder.mask_token'"):
        weights.build(MAE, state, ours.config)


# Laws


@given(st.integers(1, 3), st.integers(1, 30), st.floats(0, 0.99), st.integers(0, 99))
def test_the_masking_is_a_shuffle_that_can_be_undone(B, N, ratio, seed):
    K = int(N * (1 - ratio) + 1e-6)
    if K == 0:
        with pytest.raises(ValueError, match=f"leaves 0 of {N} patches visible"):
            random_masking(random(B, N), ratio)
        return
    noise = random(B, N, seed=seed)
    keep, masked, restore = random_masking(noise, ratio)
    assert keep.shape == (B, K) and masked.sum(1).tolist() == [N - K] * B
    for b in range(B):
        assert sorted(restore[b].tolist()) == list(range(N))
        assert sorted(keep[b].tolist()) == masked[b].logical_not().nonzero()[:, 0].tolist()
        assert restore[b, keep[b]].tolist() == list(range(K))  # back at the front, in order
        assert noise[b][~masked[b]].max() <= noise[b][masked[b]].min() if N > K else True


@pytest.mark.parametrize(("ratio", "N"), [(0.8, 10), (0.8, 25), (0.9, 10), (0.7, 10), (0.6, 5)])
def test_a_share_that_is_a_whole_number_of_patches_is_that_number(ratio, N):
    """1 − 0.8 is a hair below 0.2, and 10 times that a hair below 2."""
    assert random_masking(random(1, N), ratio).masked.sum() == round(ratio * N)


def test_what_stands_in_a_visible_patch_does_not_reach_the_loss():
    predicted, target = random(1, 4, 3).requires_grad_(), random(1, 4, 3, seed=1)
    masked = torch.tensor([[True, False, True, False]])
    loss = masked_patch_loss(predicted, target, masked)
    odd = target.masked_fill(~masked[..., None], torch.nan)
    again = masked_patch_loss(predicted, odd, masked)
    assert torch.equal(again, loss)
    (slope,) = torch.autograd.grad(again, predicted)
    assert slope.isfinite().all() and (slope[~masked] == 0).all()


def test_exactly_a_quarter_is_visible_and_it_changes_from_call_to_call():
    net = small()
    x = random(4, 3, 16, 16)
    first, second = net(x), net(x)
    assert first.masked.sum(1).tolist() == [12] * 4
    assert net.encode(x)[0].shape == (4, 1 + 4, 8)
    assert not torch.equal(first.masked, second.masked)
    assert not torch.equal(first.masked[0], first.masked[1])


@pytest.mark.parametrize("positions", ["sine", "1d", "2d", "none"])
def test_the_encoder_sees_visible_patches_only(positions):
    net = small(positions)
    x, noise = random(2, 3, 16, 16), random(2, 16, seed=2)
    before, hidden = net.encode(x, noise)
    patches = patchify(x, 4)
    other = patches.where(~hidden.masked[..., None], 100.0)
    after, _ = net.encode(unpatchify(other, 4, (16, 16)), noise)
    assert torch.equal(before, after)
    for b in range(2):
        for place in hidden.keep[b].tolist():
            changed = patches.clone()
            changed[b, place] += 1
            after, _ = net.encode(unpatchify(changed, 4, (16, 16)), noise)
            assert not torch.allclose(after[b], before[b])


def test_with_nothing_masked_the_encoder_is_the_vit():
    net = small(mask_ratio=0.0)
    x, noise = random(2, 3, 16, 16), random(2, 16, seed=2)
    latent, hidden = net.encode(x, noise)
    features = net.encoder.features(x)
    torch.testing.assert_close(latent[:, 0], features[:, 0])
    back = latent[:, 1:].gather(1, hidden.restore[..., None].expand(-1, -1, 8))
    torch.testing.assert_close(back, features[:, 1:])
    out = net(x, noise)
    loss = masked_patch_loss(out.patches, net.target(x), out.masked)
    assert loss.item() == 0


def test_the_decoder_puts_every_patch_at_its_place():
    """The decoder does not know in which order the visible patches came."""
    net = small()
    x, noise = random(2, 3, 16, 16), random(2, 16, seed=2)
    latent, hidden = net.encode(x, noise)
    turned = torch.cat([latent[:, :1], latent[:, 1:].flip(1)], dim=1)
    other = hidden._replace(keep=hidden.keep.flip(1))
    torch.testing.assert_close(net.decode(turned, other), net.decode(latent, hidden))
    assert not torch.allclose(net.decode(turned, hidden), net.decode(latent, hidden))


def test_only_masked_patches_carry_loss():
    net = small()
    x = random(2, 3, 16, 16)
    out = net(x)
    predicted = out.patches.detach().requires_grad_()
    loss = masked_patch_loss(predicted, net.target(x), out.masked)
    loss.backward()
    assert predicted.grad[~out.masked].eq(0).all() and predicted.grad[out.masked].ne(0).all()
    by_hand = [
        (predicted[b, n] - net.target(x)[b, n]).square().mean()
        for b in range(2) for n in range(16) if out.masked[b, n]
    ]  # fmt: skip
    torch.testing.assert_close(loss, sum(by_hand) / len(by_hand))


def test_the_target_is_normalised_within_each_patch():
    net = small()
    x = 5 + 3 * random(2, 3, 16, 16)
    target = net.target(x)
    torch.testing.assert_close(target.mean(-1), torch.zeros(2, 16).double(), atol=1e-9, rtol=0)
    torch.testing.assert_close(target.std(-1), torch.ones(2, 16).double(), atol=1e-5, rtol=0)
    assert net.target(torch.ones(1, 3, 16, 16)).isfinite().all()
    assert torch.equal(small(normalise=False).target(x), patchify(x, 4))


@pytest.mark.parametrize("normalise", [True, False])
def test_painting_keeps_what_was_visible(normalise):
    net = small(image=(8, 16), normalise=normalise)
    x = random(2, 3, 8, 16)
    out = net(x)
    painted = patchify(net.paint(x, out), 4)
    assert torch.equal(painted[~out.masked], patchify(x, 4)[~out.masked])
    assert not torch.isclose(painted[out.masked], patchify(x, 4)[out.masked]).all(-1).any()
    perfect = out._replace(patches=net.target(x))
    torch.testing.assert_close(net.paint(x, perfect), x)


def test_a_batch_equals_its_items_and_gradients_reach_everything():
    net = small("1d").train()
    x, noise = random(3, 3, 16, 16), random(3, 16, seed=2)
    out = net(x, noise)
    for i in range(3):
        torch.testing.assert_close(net(x[i : i + 1], noise[i : i + 1]).patches[0], out.patches[i])
    masked_patch_loss(out.patches, net.target(x), out.masked).backward()
    for name, parameter in net.named_parameters():
        if name == "positions.weight":
            assert parameter.grad is None  # fixed
            continue
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_weights_and_hidden_states_of_the_encoder():
    net, images = small(), random(2, 3, 16, 16)
    recording, latent = capture(net, images), net.encode(images)[0]
    assert latent.shape == (2, 5, 8) and len(recording.states["encoder.stack"]) == 3
    weights = recording.weights["encoder.stack.self_attention"]
    assert [tuple(one.shape) for one in weights] == [(2, 2, 5, 5)] * 2


def test_the_encoder_goes_on_as_a_classifier():
    net = small()
    config = dataclasses.replace(net.config.encoder, classes=3, pool="mean")
    classifier = ViT(config).double()
    missing = classifier.load_state_dict(net.encoder.state_dict(), strict=False)
    assert set(missing.missing_keys) == {"head.weight", "head.bias"}
    assert not missing.unexpected_keys
    x = random(2, 3, 16, 16)
    torch.testing.assert_close(classifier.features(x), net.encoder.features(x))


# Learning, sizes, bad input


def test_it_learns_to_continue_a_colour():
    torch.manual_seed(0)
    net = MAE(small(normalise=False, image=16).config)
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
    losses = []
    for _ in range(120):
        x = torch.randn(16, 3, 1, 1).expand(-1, -1, 16, 16)  # one colour an image
        out = net(x)
        losses.append(masked_patch_loss(out.patches, net.target(x), out.masked))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[0].item() > 0.8 and sum(losses[-10:]).item() / 10 < 0.3


def test_mixed_precision():
    net, x = small("1d").float(), random(2, 3, 16, 16).float()
    noise = random(2, 16, seed=2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(x, noise)
        loss = masked_patch_loss(out.patches, net.target(x), out.masked)
    loss.backward()
    expected = net(x, noise).patches
    torch.testing.assert_close(out.patches.float(), expected, atol=0.1, rtol=0.05)


def test_the_sines_of_transformers():
    """Ours equal those of the published files; a new model of theirs has zeros until it is told."""
    theirs = transformers.ViTMAEForPreTraining(transformers.ViTMAEConfig(**THEIRS)).decoder
    theirs.initialize_weights(16)
    ours = MAE(MAEConfig(encoder=small().config.encoder, decoder_width=24, decoder_heads=3))
    torch.testing.assert_close(ours.positions.weight, theirs.decoder_pos_embed, atol=1e-6, rtol=0)
    assert not ours.positions.weight.requires_grad


def test_the_paper_s_sizes():
    def count(config):
        with torch.device("meta"):
            model = MAE(config)
        encoder = sum(p.numel() for p in model.encoder.parameters())
        return encoder, sum(p.numel() for p in model.parameters() if p.requires_grad)

    # The encoders are ViT-B/L/H without a head; the positions are not learned.
    assert count(MAEConfig.base()) == (85_798_656, 111_655_680)
    assert count(MAEConfig.large()) == (303_301_632, 329_239_296)
    assert count(MAEConfig.huge()) == (630_764_800, 656_613_964)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"mask_ratio": 1.0}, r"mask_ratio must lie in \[0, 1\), found 1.0"),
        ({"positions": "relative"}, "adds its positions, found 'relative'"),
        ({"image": 18}, "patches of 4 must divide the image, found 18×18"),
        ({"encoder": ViTConfig()}, "no head .* found classes=1000"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        MAEConfig(**changes) if "encoder" in changes else small(**changes)


def test_bad_input_gets_a_sentence():
    net = small()
    with pytest.raises(ValueError, match="patches of 4 must divide the image, found 15×16"):
        net(torch.zeros(1, 3, 15, 16).double())
    with pytest.raises(ValueError, match="16×16 images, 4×4 patches, found 2×4"):
        net(torch.zeros(1, 3, 8, 16).double())
    with pytest.raises(ValueError, match="leaves 0 of 1 patches visible"):
        small(image=4)(random(1, 3, 4, 4))


def test_a_kept_model_is_built_again_from_its_config():
    config = small().config
    assert MAEConfig(**dataclasses.asdict(config)) == config
    with pytest.raises(TypeError, match="must be a ViTConfig, found int"):
        MAEConfig(encoder=3)


def test_how_many_of_49_patches_stay():
    noise = torch.rand(1, 49)
    visible = {ratio: random_masking(noise, ratio).keep.shape[1] for ratio in (0.25, 0.75, 0.9)}
    assert visible == {0.25: 36, 0.75: 12, 0.9: 4}
