"""ViT: equal to transformers, patches, positions, resolution, hybrids, counts and bad input."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from coursekit.analysis import capture
from coursekit.models import weights
from coursekit.models.patches import (
    ConvolutionalStem,
    GridPositions,
    PatchEmbedding,
    RelativePositions,
    patchify,
    sine_positions,
    stretch,
    unpatchify,
)
from coursekit.models.vit import ViT, ViTConfig
from coursekit.models.weights.rules import export_state

from .conftest import randomised

KINDS = ("1d", "2d", "relative", "sine", "none")


def small(backbone: nn.Module | None = None, **changes) -> ViT:
    sizes = {"image": 8, "patch": 4, "classes": 5, "width": 8, "depth": 2, "heads": 2, "hidden": 12}
    return randomised(ViT(ViTConfig(**(sizes | changes)), backbone=backbone)).double().eval()


def images(*shape: int, dtype: torch.dtype = torch.double) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=dtype)


# Parity with transformers

THEIRS = {
    "image_size": 8,
    "patch_size": 4,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}
CONFIGS = {
    "small": {},
    "rectangular, patch 2": {"image_size": (4, 10), "patch_size": 2, "num_channels": 1},
    "deep, eps": {"num_hidden_layers": 3, "num_attention_heads": 4, "layer_norm_eps": 1e-3},
    "tanh": {"hidden_act": "gelu_new", "image_size": 12, "num_channels": 4},
}


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("head", [True, False])
def test_equal_to_transformers_forward_and_backward(head, changes, dtype, atol):
    kind = transformers.ViTForImageClassification if head else transformers.ViTModel
    theirs = kind(transformers.ViTConfig(**(THEIRS | changes), num_labels=7))
    theirs = randomised(theirs).to(dtype).eval()
    config = theirs.config.to_dict() | {"architectures": [kind.__name__]}
    ours = weights.build(ViT, theirs.state_dict(), weights.read_config(ViTConfig, config)).to(dtype)
    x = images(2, ours.config.channels, *ours.config.size, dtype=dtype)
    inputs = [x.clone().requires_grad_() for _ in range(2)]

    expected = theirs(inputs[0], output_hidden_states=True)
    recording = capture(ours.eval(), inputs[1])
    found, hidden = recording.output, recording.states["stack"]
    result = expected.logits if head else expected.pooler_output
    torch.testing.assert_close(found, result, atol=atol, rtol=atol)
    for mine, its in zip(hidden[:-1], expected.hidden_states):
        torch.testing.assert_close(mine, its, atol=atol, rtol=atol)

    (result.sin().sum()).backward()
    (found.sin().sum()).backward()
    torch.testing.assert_close(inputs[1].grad, inputs[0].grad, atol=10 * atol, rtol=10 * atol)
    exported = export_state(weights.rules_of(ours), {n: p.grad for n, p in ours.named_parameters()})
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(
            exported.pop(name), parameter.grad, atol=10 * atol, rtol=10 * atol, msg=name
        )
    assert not exported


@pytest.mark.parametrize("size", [(8, 8), (12, 12), (16, 4), (20, 28)])
def test_interpolated_positions_are_those_of_transformers(size):
    theirs = randomised(transformers.ViTModel(transformers.ViTConfig(**THEIRS))).double().eval()
    config = theirs.config.to_dict() | {"architectures": ["ViTModel"]}
    ours = weights.build(ViT, theirs.state_dict(), weights.read_config(ViTConfig, config))
    ours = ours.double().eval()
    x = images(2, 3, *size)
    expected = theirs(x, interpolate_pos_encoding=True)
    found = ours.features(x, interpolate=True)
    torch.testing.assert_close(found, expected.last_hidden_state, atol=1e-10, rtol=0)
    expected.last_hidden_state.sin().sum().backward()
    found.sin().sum().backward()
    torch.testing.assert_close(
        ours.positions.weight.grad, theirs.embeddings.position_embeddings.grad, atol=1e-9, rtol=0
    )
    torch.testing.assert_close(ours.resized(size).features(x), found)


def test_their_attention_weights():
    theirs = transformers.ViTModel(
        transformers.ViTConfig(**THEIRS, attn_implementation="eager"), add_pooling_layer=False
    )
    theirs = randomised(theirs).eval()
    config = weights.read_config(ViTConfig, theirs.config.to_dict(), classes=0)
    ours = weights.build(ViT, theirs.state_dict(), config).eval()
    x = images(2, 3, 8, 8, dtype=torch.float32)
    expected = theirs(x, output_attentions=True).attentions
    attentions = capture(ours, x).weights["stack.self_attention"]
    for mine, its in zip(attentions, expected, strict=True):
        torch.testing.assert_close(mine, its, atol=1e-5, rtol=1e-5)


def test_round_trip_and_names_of_files():
    theirs = transformers.ViTForImageClassification(transformers.ViTConfig(**THEIRS))
    state = randomised(theirs).state_dict()
    config = weights.read_config(
        ViTConfig, theirs.config.to_dict() | {"architectures": ["ViTForImageClassification"]}
    )
    back = weights.export(weights.build(ViT, state, config))
    assert back.keys() == state.keys()
    assert all(torch.equal(back[name], state[name]) for name in state)

    def in_a_file(name):
        name = name.replace("vit.layers.", "vit.encoder.layer.")
        for old, new in (("o_proj", "output.dense"), ("mlp.fc1", "intermediate.dense"),
                         ("mlp.fc2", "output.dense"), ("q_proj", "attention.query"),
                         ("k_proj", "attention.key"), ("v_proj", "attention.value")):  # fmt: skip
            name = name.replace(old, new)
        return name

    filed = {in_a_file(name): tensor for name, tensor in state.items()}
    assert "vit.encoder.layer.1.attention.attention.query.weight" in filed
    back = weights.export(weights.build(ViT, filed, config))
    assert all(torch.equal(back[name], state[name]) for name in state)

    with pytest.raises(ValueError, match="'extra'"):
        weights.build(ViT, state | {"extra": torch.zeros(1)}, config)
    lacking = {name: tensor for name, tensor in state.items() if name != "classifier.bias"}
    with pytest.raises(ValueError, match=r"lack 'classifier.bias'"):
        weights.build(ViT, lacking, config)
    with pytest.raises(ValueError, match=r"positions.weight has shape"):
        weights.build(ViT, state, dataclasses.replace(config, image=16))


def test_what_transformers_does_not_have_gets_a_sentence():
    with pytest.raises(ValueError, match="2d positions, pool='class'"):
        weights.export(small(positions="2d"))
    with pytest.raises(ValueError, match="both a pooler and a classifier"):
        weights.export(small(representation=4))
    theirs = transformers.ViTConfig(**THEIRS, qkv_bias=False).to_dict()
    with pytest.raises(ValueError, match="qkv_bias true, found 'gelu' and False"):
        weights.read_config(ViTConfig, theirs)


# Patches


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 2), st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)
)
def test_patchify_and_unpatchify_are_inverses(B, C, rows, columns, patch):
    x = images(B, C, rows * patch, columns * patch)
    patches = patchify(x, patch)
    assert patches.shape == (B, rows * columns, patch * patch * C)
    assert torch.equal(unpatchify(patches, patch, (rows * patch, columns * patch)), x)
    assert torch.equal(patchify(unpatchify(patches, patch, tuple(x.shape[2:])), patch), patches)
    last = x[:, :, -patch:, -patch:].permute(0, 2, 3, 1).flatten(1)  # by hand
    assert torch.equal(patches[:, -1], last)
    if columns > 1:
        assert torch.equal(patches[:, 1, 0], x[:, 0, 0, patch])  # the second is to the right


def test_the_patch_embedding_is_a_strided_convolution():
    embed = randomised(PatchEmbedding(patch=3, channels=2, width=5)).double()
    x = images(2, 2, 6, 9)
    expected = F.conv2d(x, embed.weight, embed.bias, stride=3).flatten(2).mT
    torch.testing.assert_close(embed(x), expected)


# Laws


@pytest.mark.parametrize("kind", KINDS)
def test_only_positions_tell_one_order_of_patches_from_another(kind):
    net = small(positions=kind, image=12)
    x = images(2, 3, 12, 12)
    order = torch.tensor([4, 0, 8, 2, 6, 1, 7, 3, 5])
    moved = unpatchify(patchify(x, 4)[:, order], 4, (12, 12))
    before, after = net.features(x), net.features(moved)
    expected = torch.cat([before[:, :1], before[:, 1:][:, order]], dim=1)
    if kind == "none":
        torch.testing.assert_close(after, expected)
        torch.testing.assert_close(net(x), net(moved))
    else:
        assert (after - expected).abs().max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pool", ["class", "mean"])
def test_a_batch_equals_its_items_and_gradients_reach_everything(kind, pool):
    net = small(positions=kind, pool=pool, class_token=pool == "class", representation=6)
    x = images(3, 3, 8, 8)
    out = net(x)
    assert out.shape == (3, 5)
    for i in range(3):
        torch.testing.assert_close(net(x[i : i + 1])[0], out[i])
    out.square().sum().backward()
    for name, parameter in net.named_parameters():
        if kind == "sine" and name == "positions.weight":
            assert parameter.grad is None  # fixed
            continue
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_mean_pooling_reads_the_patches_only():
    net = small(pool="mean")  # with a class token in the sequence, as MAE is fine-tuned
    x = images(2, 3, 8, 8)
    features = net.features(x)
    assert features.shape == (2, 5, 8)
    torch.testing.assert_close(net(x), net.head(features[:, 1:].mean(dim=1)))
    alone = small(pool="mean", class_token=False)
    assert alone.class_token is None and alone.features(x).shape == (2, 4, 8)
    torch.testing.assert_close(alone(x), alone.head(alone.features(x).mean(dim=1)))


def test_representation_is_a_tanh_layer_before_the_head():
    net = small(representation=6)
    x = images(2, 3, 8, 8)
    middle = net.representation(net.features(x)[:, 0]).tanh()
    assert middle.shape == (2, 6)
    torch.testing.assert_close(net(x), net.head(middle))


def test_states_and_weights_of_a_recording():
    net = small(image=(8, 12))
    x = images(2, 3, 8, 12)
    recording = capture(net, x)
    states, weights = recording.states["stack"], recording.weights["stack.self_attention"]
    torch.testing.assert_close(recording.output, net(x))
    assert [tuple(state.shape) for state in states] == [(2, 7, 8)] * 3
    assert [tuple(one.shape) for one in weights] == [(2, 2, 7, 7)] * 2
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(2, 2, 7).double())
    torch.testing.assert_close(net.stack.final(states[-1]), net.features(x))


def test_dropout_is_where_the_paper_has_it():
    net = small(dropout=0.5)
    x = images(2, 3, 8, 8)
    assert torch.equal(net(x), net(x))
    net.train()
    assert not torch.equal(net(x), net(x))
    dropped = net.with_prefix(torch.ones(2, 4, 8).double(), torch.ones(1, 5, 8).double())
    assert 20 < dropped.eq(0).sum() < 60  # of 80: directly behind the positions
    block = net.stack.blocks[0]
    assert net.dropout.p == block.self_residual.dropout.p == block.feed_forward.dropout.p == 0.5
    assert block.self_attention.dropout == 0
    assert small(attention_dropout=0.2).stack.blocks[0].self_attention.dropout == 0.2
    rates = [b.self_residual.drop_path for b in small(drop_path=0.3, depth=3).stack.blocks]
    assert rates == pytest.approx([0, 0.15, 0.3])


# Positions and resolution


def test_2d_positions_are_half_row_half_column():
    places = randomised(GridPositions(kind="2d", grid=(2, 3), width=6, prefix=1))
    table = places()
    assert table.shape == (1, 7, 6) and table[0, 0].eq(0).all()
    table = table[0, 1:].unflatten(0, (2, 3))
    for row in range(2):
        for column in range(3):
            assert torch.equal(table[row, column, :3], places.rows[row])
            assert torch.equal(table[row, column, 3:], places.columns[column])


def test_sine_positions_are_those_of_mae_written_out():
    table = sine_positions((3, 5), 8).double()
    for row in range(3):
        for column in range(5):
            speeds = [1.0, 10_000**-0.5]
            expected = [
                f(torch.tensor(place * speed, dtype=torch.double))
                for place in (column, row)
                for f in (torch.sin, torch.cos)
                for speed in speeds
            ]
            torch.testing.assert_close(table[row, column], torch.stack(expected), atol=1e-6, rtol=0)


def test_relative_positions_know_the_offset_only_and_spare_the_class_token():
    bias = randomised(RelativePositions(grid=(3, 3), heads=2, prefix=1))()
    assert bias.shape == (2, 10, 10)
    assert bias[:, 0].eq(0).all() and bias[:, :, 0].eq(0).all()
    inner = bias[:, 1:, 1:]
    assert torch.equal(inner[:, 0, 1], inner[:, 7, 8])  # one to the right
    assert torch.equal(inner[:, 0, 3], inner[:, 5, 8])  # one down
    assert not torch.equal(inner[:, 0, 1], inner[:, 1, 0])
    assert not torch.equal(inner[:, 0, 1], inner[:, 0, 3])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(8, 12), (12, 12), (4, 20), (28, 12)])
def test_another_resolution(kind, size):
    net = small(positions=kind, image=(8, 12))
    x = images(2, 3, *size)
    found = net(x, interpolate=True)
    new = net.resized(size)
    assert new.config.size == size
    torch.testing.assert_close(new(x), found)
    if size == (8, 12):
        assert torch.equal(net(x), found)
    elif kind != "none":
        with pytest.raises(ValueError, match=r"8×12 images, 2×3 patches.*interpolate=True"):
            net(x)
    new(x).square().sum().backward()
    assert all(p.grad is not None for p in new.parameters() if p.requires_grad)
    assert all(p.grad is None for p in net.parameters())


EVERY = [("1d", "every layer"), ("2d", "every layer"), ("1d", "every layer, shared"),
         ("2d", "every layer, shared"), ("sine", "every layer, shared")]  # fmt: skip


@pytest.mark.parametrize(("kind", "told"), EVERY)
def test_positions_before_every_layer_written_out(kind, told):
    net = small(positions=kind, told=told, depth=3)
    x = images(2, 3, 8, 8)
    places = [net.positions, *(net.later or [net.positions, net.positions])]
    state = torch.cat([net.class_token.expand(2, -1, -1), net.embedding(x)], dim=1)
    expected = [state + net.positions()]
    for block, place in zip(net.stack.blocks, places):
        state = block(state + place())
        expected.append(state)
    found, recording = net.features(x), capture(net, x)
    torch.testing.assert_close(found, net.stack.final(state))
    for mine, written in zip(recording.states["stack"], expected, strict=True):
        torch.testing.assert_close(mine, written)
    weights = recording.weights["stack.self_attention"]
    assert [tuple(one.shape) for one in weights] == [(2, 2, 5, 5)] * 3
    learned = {"1d": 1, "2d": 2, "sine": 0}[kind] * (3 if told == "every layer" else 1)
    free = {name: p for name, p in net.named_parameters() if p.requires_grad}
    assert sum(name.startswith(("positions", "later")) for name in free) == learned
    found.square().sum().backward()
    for name, p in free.items():
        assert name.startswith("head") or p.grad.abs().sum() > 0, name


@pytest.mark.parametrize(("kind", "told"), EVERY)
def test_positions_before_every_layer_see_parts_and_other_sizes(kind, told):
    net = small(positions=kind, told=told, image=12)
    x = images(2, 3, 12, 12)
    order = torch.tensor([[4, 0, 8, 2, 6, 1, 7, 3, 5]]).expand(2, -1)
    whole, seen = net.features(x), net.features(x, visible=order)
    torch.testing.assert_close(seen[:, 1:], whole[:, 1:][:, order[0]])
    torch.testing.assert_close(seen[:, 0], whole[:, 0])
    wide = images(2, 3, 20, 12)
    new = net.resized((20, 12))
    torch.testing.assert_close(new(wide), net(wide, interpolate=True))
    with pytest.raises(ValueError, match=r"12×12 images, 3×3 patches"):
        net(wide)
    with pytest.raises(ValueError, match=f"told='{told}'"):
        weights.export(net)


def test_with_one_layer_every_layer_is_once():
    for told in ("every layer", "every layer, shared"):
        net, once = small(told=told, depth=1), small(depth=1)
        x = images(2, 3, 8, 8)
        assert torch.equal(net(x), once(x))


@pytest.mark.parametrize("kind", ["none", "relative"])
@pytest.mark.parametrize("told", ["every layer", "every layer, shared"])
def test_what_is_not_added_cannot_be_told_again(kind, told):
    with pytest.raises(ValueError, match=f"found positions='{kind}' with told='{told}'"):
        ViTConfig(positions=kind, told=told)


def test_told_is_one_of_three_and_waves_have_nothing_to_learn():
    with pytest.raises(ValueError, match="sine positions are not learned"):
        ViTConfig(positions="sine", told="every layer")
    with pytest.raises(ValueError, match=r"told must be one of .*once.*found 'twice'"):
        ViTConfig(told="twice")


def test_stretch_is_the_identity_at_its_own_size_and_keeps_constants():
    table = images(3, 5, 2)
    assert torch.equal(stretch(table, (3, 5)), table)
    constant = torch.ones(3, 5, 2)
    for grid in ((1, 1), (7, 11), (2, 5), (6, 5)):
        assert stretch(table, grid).shape == (*grid, 2)
        torch.testing.assert_close(stretch(constant, grid), torch.ones(*grid, 2))


# Hybrids


def test_hybrid_cuts_patches_out_of_a_feature_map():
    backbone = nn.Conv2d(3, 6, 3, stride=2, padding=1)
    net = small(backbone, image=16, patch=2, backbone_channels=6, backbone_stride=2).train()
    x = images(2, 3, 16, 16)
    assert net.config.grid == (4, 4) and net.embedding.weight.shape == (8, 6, 2, 2)
    assert net.features(x).shape == (2, 17, 8)
    net(x).sum().backward()
    assert net.backbone.weight.grad.abs().sum() > 0


def test_the_convolutional_stem():
    net = small(image=16, patch=1, backbone_channels=8, backbone_stride=4)
    assert isinstance(net.backbone, ConvolutionalStem)
    x = images(3, 3, 16, 16)
    assert net.backbone(x).shape == (3, 8, 4, 4)
    torch.testing.assert_close(net(x)[1:2], net(x[1:2]))
    assert net(images(1, 3, 24, 16), interpolate=True).shape == (1, 5)


# Sizes and bad input


def test_the_paper_s_sizes():
    """Exact, with a head for 1000 classes. The paper says 86M, 307M and 632M (table 1).

    86M and 632M are ViT-B/16 and ViT-H/14 before the head. No ViT-L/16 has 307M; ViT-L/32 does.
    """

    def count(config):
        with torch.device("meta"):
            return sum(p.numel() for p in ViT(config).parameters())

    assert count(ViTConfig.base()) == 86_567_656
    assert count(ViTConfig.large()) == 304_326_632
    assert count(ViTConfig.huge()) == 632_045_800
    assert count(ViTConfig.base(classes=0, representation=768)) == 86_389_248
    assert count(ViTConfig.huge(classes=0, representation=1280)) == 632_404_480
    assert count(ViTConfig.large(patch=32)) == 306_535_400


def test_the_head_starts_at_zero_and_the_rest_does_not():
    net = ViT(ViTConfig(image=8, patch=4, classes=3, width=8, depth=1, heads=2, hidden=8))
    assert net(images(2, 3, 8, 8).float()).eq(0).all()
    zero = {name for name, p in net.named_parameters() if p.eq(0).all() and "bias" not in name}
    assert zero == {"class_token", "head.weight"}
    assert ViTConfig().eps == 1e-6


@pytest.mark.parametrize(
    ("x", "error", "sentence"),
    [
        (torch.zeros(2, 3, 9, 8), ValueError, "patches of 4 must divide the image, found 9×8"),
        (torch.zeros(2, 3, 16, 8), ValueError, "8×8 images, 2×2 patches, found 4×2 patches"),
    ],
)
def test_bad_images_get_a_sentence(x, error, sentence):
    with pytest.raises(error, match=sentence):
        small()(x if x.dtype == torch.uint8 else x.double())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"image": 10}, "patches of 4 must divide the image, found 10×10"),
        ({"image": (8, 6)}, "found 8×6"),
        ({"class_token": False}, "pool='class' reads the class token"),
        ({"heads": 3}, "heads must divide the width"),
        ({"width": 6, "positions": "sine"}, "4 must divide the width"),
        ({"backbone_channels": 4, "backbone_stride": 3, "image": 12}, "a power of 2"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(**changes)


def test_other_mistakes_get_a_sentence():
    with pytest.raises(ValueError, match="the config's backbone_channels is 0"):
        small(nn.Identity())
    with pytest.raises(ValueError, match=r"\(batch, 4, channels · 16\), found \(2, 5, 48\)"):
        unpatchify(torch.zeros(2, 5, 48), 4, (8, 8))
    with pytest.raises(ValueError, match="2d positions halve the width, which is odd: 7"):
        GridPositions(kind="2d", grid=(2, 2), width=7)


def test_features_are_a_call_of_the_model_so_what_brings_its_weights_hears_of_it():
    net, calls = small(), []
    net.register_forward_pre_hook(lambda *_: calls.append(1))
    net.features(torch.zeros(1, 3, 8, 8, dtype=torch.double))
    assert calls == [1]
