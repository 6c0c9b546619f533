"""Swin: windows and their shift, equal to transformers, to the paper written out, linear cost."""

import dataclasses
import math
import os
from functools import partial
from itertools import pairwise

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from coursekit.analysis import capture
from coursekit.attention import attention
from coursekit.heads import MultiHeadAttention
from coursekit.models import weights
from coursekit.models.swin import (
    PatchMerging,
    Swin,
    SwinConfig,
    WindowAttention,
    _shift_mask,
    shift_mask,
    window_partition,
    window_reverse,
)
from coursekit.models.weights.rules import export_state

from .conftest import randomised

SMALL = SwinConfig(image=16, patch=2, width=8, depths=(2, 2), heads=(2, 4), window=4, classes=5)


def small(**changes) -> Swin:
    return randomised(Swin(dataclasses.replace(SMALL, **changes))).double().eval()


# Windows


@given(
    st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)
)
def test_windows_partition_and_reverse(batch, window, down, right, width):
    rows, columns = window * down, window * right
    x = torch.arange(batch * rows * columns * width).view(batch, rows, columns, width)
    windows = window_partition(x, window)
    assert windows.shape == (batch * down * right, window**2, width)
    assert torch.equal(window_reverse(windows, window, rows, columns), x)
    for b in range(batch):  # windows follow each other row by row, and so do the cells in them
        for w in range(down * right):
            top, left = w // right * window, w % right * window
            cut = x[b, top : top + window, left : left + window].flatten(0, 1)
            assert torch.equal(windows[b * down * right + w], cut)


def test_a_map_without_whole_windows_gets_a_sentence():
    with pytest.raises(ValueError, match=r"a map of \(4, 6\) cannot be cut into windows of side 4"):
        window_partition(torch.zeros(1, 4, 6, 2), 4)


def written_out(net: WindowAttention, x: Tensor, window: int, shift: int) -> Tensor:
    """The paper's equation 4, one cell at a time.

    The windows of a shifted map are cut `shift` rows and columns further on; at the edges they are
    smaller. The map is filled up with zeros first.
    """
    inner, table, side = net.multi_head, net.bias.weight, 2 * net.window - 1
    rows, columns = x.shape[1:3]
    down, right = -(-rows // window) * window, -(-columns // window) * window
    filled = x.new_zeros(len(x), down, right, x.shape[-1])
    filled[:, :rows, :columns] = x
    q, k, v = (part.unflatten(-1, (inner.heads, -1)) for part in inner.qkv(filled).chunk(3, dim=-1))
    out = torch.zeros_like(filled)

    def home(r, c):
        return (r - shift) // window, (c - shift) // window

    cells = [(r, c) for r in range(down) for c in range(right)]
    for r, c in cells:
        near = [cell for cell in cells if home(*cell) == home(r, c)]
        scores = torch.stack(
            [
                (q[:, r, c] * k[:, i, j]).sum(-1) / math.sqrt(q.shape[-1])
                + table[(r - i + net.window - 1) * side + c - j + net.window - 1]
                for i, j in near
            ],
            dim=-1,
        )  # (B, H, cells in the window)
        values = torch.stack([v[:, i, j] for i, j in near], dim=-2)
        out[:, r, c] = (scores.softmax(-1)[..., None] * values).sum(-2).flatten(1)
    return inner.out(out)[:, :rows, :columns]


@pytest.mark.parametrize(
    ("rows", "columns", "shift", "shrink", "expected"),
    [
        (6, 9, 0, True, (3, 0)),  # whole windows
        (6, 9, 1, True, (3, 1)),
        (7, 5, 0, True, (3, 0)),  # filled up to 9 × 6
        (7, 5, 1, True, (3, 1)),
        (3, 7, 1, True, (3, 0)),  # one window high: no shift
        (2, 5, 1, True, (2, 0)),  # lower than a window: a smaller one
        (3, 7, 1, False, (3, 1)),
        (2, 5, 1, False, (3, 1)),
    ],
)
def test_attention_is_the_equation_written_out(rows, columns, shift, shrink, expected):
    net = WindowAttention(width=6, heads=2, window=3, shift=shift, shrink=shrink)
    net = randomised(net, 0.5).double()
    x = torch.randn(2, rows, columns, 6, dtype=torch.double)
    torch.testing.assert_close(net(x), written_out(net, x, *expected))


@pytest.mark.parametrize(("rows", "columns", "window", "shift"), [(8, 12, 4, 2), (14, 7, 7, 3)])
def test_the_mask_is_that_of_the_paper_s_code(rows, columns, window, shift):
    """There: nine regions, counted up; here: who came around which edge."""
    regions, number = torch.zeros(1, rows, columns, 1), 0
    for down in (slice(0, -window), slice(-window, -shift), slice(-shift, None)):
        for right in (slice(0, -window), slice(-window, -shift), slice(-shift, None)):
            regions[:, down, right] = number
            number += 1
    cells = window_partition(regions, window)[..., 0]
    expected = (cells[:, None, :] == cells[:, :, None])[:, None]
    assert torch.equal(shift_mask(rows, columns, window, shift), expected)


def reach(x: Tensor, out: Tensor, row: int, column: int) -> set[tuple[int, int]]:
    """Which cells of the map `x` (1, R, C, D) the cell of `out` knows about."""
    (gradient,) = torch.autograd.grad(out[0, row, column].square().sum(), x, retain_graph=True)
    return {tuple(cell) for cell in gradient[0].abs().sum(-1).nonzero().tolist()}


def test_nothing_crosses_windows_before_the_shift_and_something_does_after():
    still, shifted = (
        randomised(WindowAttention(width=4, heads=2, window=4, shift=shift)).double()
        for shift in (0, 2)
    )
    x = torch.randn(1, 8, 8, 4, dtype=torch.double, requires_grad=True)

    def square(top, left, bottom, right):
        return {(r, c) for r in range(top, bottom) for c in range(left, right)}

    once, moved, both = still(x), shifted(x), shifted(still(x))
    assert reach(x, once, 1, 1) == square(0, 0, 4, 4)
    assert reach(x, once, 4, 3) == square(4, 0, 8, 4)
    assert reach(x, moved, 3, 4) == square(2, 2, 6, 6)  # across all four windows
    assert reach(x, moved, 0, 0) == square(0, 0, 2, 2)  # and not around the edge of the image
    assert reach(x, moved, 7, 4) == square(6, 2, 8, 6)
    assert reach(x, both, 3, 4) == square(0, 0, 8, 8)
    assert reach(x, both, 0, 0) == square(0, 0, 4, 4)


def test_the_mask_is_made_once_and_serves_training_after_inference():
    _shift_mask.cache_clear()
    net = small(image=32)
    images = torch.randn(1, 3, 32, 32, dtype=torch.double)
    with torch.inference_mode():
        net(images)
    before = _shift_mask.cache_info()
    net(images).sum().backward()
    after = _shift_mask.cache_info()
    assert after.misses == before.misses == 2 and after.hits > before.hits  # 16 × 16 and 8 × 8
    assert not any("mask" in name or "offset" in name for name in net.state_dict())


def test_a_mask_that_somebody_changes_is_their_own():
    shift_mask(8, 8, 4, 2).logical_not_()
    assert shift_mask(8, 8, 4, 2)[0, 0, 0, 0]
    assert shift_mask(8, 8, 4, 2) is not shift_mask(8, 8, 4, 2)


# The rows of Table 4, and what a cell looks at


def test_without_the_shift_nothing_ever_crosses_a_window():
    net = small(shifted=False, depths=(4,), heads=(2,))
    assert {block.attention.shift for block in net.stages[0].blocks} == {0}
    assert [block.attention.shift for block in small().stages[0].blocks] == [0, 2]
    x = torch.randn(1, 8, 8, 8, dtype=torch.double, requires_grad=True)
    assert reach(x, net.stages[0](x), 3, 3) == {(r, c) for r in range(4) for c in range(4)}


def test_without_the_relative_bias_it_is_a_swin_whose_biases_are_zero():
    bare, full = small(relative_bias=False), small()
    zeros = {
        name: torch.zeros_like(t) for name, t in full.state_dict().items() if "on.bias.w" in name
    }
    assert len(zeros) == 4
    full.load_state_dict(bare.state_dict() | zeros)
    images = torch.randn(2, 3, 16, 16, dtype=torch.double)
    torch.testing.assert_close(bare(images), full(images))


@pytest.mark.parametrize("bias", [True, False])
def test_weights_of_a_recording_are_those_that_were_used(bias):
    net = small(image=32, relative_bias=bias)
    images = torch.randn(2, 3, 30, 32, dtype=torch.double)
    recording = capture(net, images)
    torch.testing.assert_close(recording.output, net(images))
    weights = [
        [one.unflatten(0, (2, -1)) for one in recording.weights[f"stages.{n}.attention.multi_head"]]
        for n in range(2)
    ]
    assert [[tuple(w.shape) for w in stage] for stage in weights] == [
        [(2, 16, 2, 16, 16)] * 2,
        [(2, 4, 4, 16, 16)] * 2,
    ]
    for still, moved in weights:
        torch.testing.assert_close(still.sum(-1), torch.ones_like(still[..., 0]))
        torch.testing.assert_close(moved.sum(-1), torch.ones_like(moved[..., 0]))
        side = math.isqrt(moved.shape[1]) * 4
        allowed = shift_mask(side, side, 4, 2).expand_as(moved[0])
        assert (still > 0).all() and torch.equal(moved[0] > 0, allowed)


def test_weights_and_values_give_what_the_attention_gives():
    net = randomised(WindowAttention(width=6, heads=2, window=3, shift=1), 0.5).double()
    x = torch.randn(2, 6, 9, 6, dtype=torch.double)
    recording = capture(net, x)
    out, (weights,) = recording.output, recording.weights["multi_head"]  # …, (B·W, H, 9, 9)
    moved = window_partition(x.roll((-1, -1), dims=(1, 2)), 3)  # (B·W, 9, D)
    values = net.multi_head.qkv(moved).chunk(3, dim=-1)[2].unflatten(-1, (2, -1)).transpose(1, 2)
    seen = net.multi_head.out((weights @ values).transpose(1, 2).flatten(2))
    again = window_reverse(seen, 3, 6, 9).roll((1, 1), dims=(1, 2))
    torch.testing.assert_close(again, out)


@pytest.mark.parametrize("change", [{"shifted": False}, {"relative_bias": False}])
def test_what_no_other_program_has_is_not_exported(change):
    for layout in ("huggingface", "original"):
        with pytest.raises(ValueError, match="have shifts and relative biases in every Swin"):
            weights.export(small(**change), layout)


# Merging


def test_merging_goes_down_first_and_halves_the_map():
    merge = PatchMerging(width=1).double()
    with torch.no_grad():
        merge.norm.weight.copy_(torch.tensor([1.0, 10.0, 100.0, 1000.0]))
        merge.reduce.weight.fill_(1.0)
    cells = torch.tensor([[1.0, 3.0], [2.0, 5.0]], dtype=torch.double)  # 2 stands below the 1
    x = cells.view(1, 2, 2, 1)
    normed = (cells - cells.mean()) / (cells.var(correction=0) + 1e-5).sqrt()
    expected = normed[0, 0] + 10 * normed[1, 0] + 100 * normed[0, 1] + 1000 * normed[1, 1]
    torch.testing.assert_close(merge(x), expected.expand(1, 1, 1, 2))
    assert merge(torch.randn(2, 5, 7, 1, dtype=torch.double)).shape == (2, 3, 4, 2)


# transformers


def theirs(kind: str, config: SwinConfig, **changes) -> nn.Module:
    import transformers

    described = transformers.SwinConfig(
        image_size=config.image,
        patch_size=config.patch,
        num_channels=config.channels,
        embed_dim=config.width,
        depths=list(config.depths),
        num_heads=list(config.heads),
        window_size=config.window,
        mlp_ratio=config.mlp_ratio,
        qkv_bias=config.qkv_bias,
        use_absolute_embeddings=config.absolute_positions,
        drop_path_rate=0.0,
        num_labels=config.classes,
        **changes,
    )
    return randomised(getattr(transformers, kind)(described))


CASES = {  # the image that it is made for, its changes, and the image that it gets
    "two shifts": ({"image": 32}, (32, 32)),
    "last map is one window": ({"image": 16}, (16, 16)),
    "odd": ({"image": 32}, (29, 41)),
    "rectangular": ({"image": 32}, (64, 24)),
    "window 7": ({"image": 56, "window": 7, "depths": (3, 2), "mlp_ratio": 2.0}, (54, 60)),
    "window 3, three stages": (
        {"image": 32, "window": 3, "depths": (2, 1, 2), "heads": (1, 2, 4), "patch": 2},
        (30, 34),
    ),
    "positions": ({"image": 16, "absolute_positions": True, "qkv_bias": False}, (16, 16)),
    "one channel": ({"image": 40, "channels": 1, "patch": 3}, (25, 38)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("case", CASES)
def test_it_equals_transformers(case, dtype):
    changes, size = CASES[case]
    config = dataclasses.replace(SMALL, **changes)
    reference = theirs("SwinForImageClassification", config).to(dtype).eval()
    net = weights.build(Swin, reference.state_dict(), config).to(dtype).eval()
    atol = 1e-5 if dtype == torch.float32 else 1e-10
    images = torch.randn(2, config.channels, *size, dtype=dtype)

    expected = reference(images, output_hidden_states=True)
    maps = net.maps(images)
    # Theirs come after merging, which begins our next stage.
    found = [stage.merge(x) for stage, x in zip(net.stages[1:], maps)] + maps[-1:]
    hidden, reshaped = expected.hidden_states[1:], expected.reshaped_hidden_states[1:]
    for x, flat, square in zip(found, hidden, reshaped, strict=True):
        torch.testing.assert_close(x.flatten(1, 2), flat, atol=atol, rtol=atol)
        torch.testing.assert_close(x.permute(0, 3, 1, 2), square, atol=atol, rtol=atol)
    logits = net(images)
    torch.testing.assert_close(logits, expected.logits, atol=atol, rtol=atol)

    target = torch.randn_like(logits)
    (expected.logits * target).sum().backward()
    (logits * target).sum().backward()
    gradients = {name: parameter.grad for name, parameter in net.named_parameters()}
    gradients = export_state(weights.rules_of(net), gradients)
    for name, parameter in reference.named_parameters():
        scale = 1 + float(parameter.grad.abs().max())
        torch.testing.assert_close(
            gradients[name] / scale, parameter.grad / scale, atol=atol, rtol=atol
        )


def test_without_classes_it_is_their_bare_model():
    config = dataclasses.replace(SMALL, classes=0)
    reference = theirs("SwinModel", config).double().eval()
    net = weights.build(Swin, reference.state_dict(), config).double().eval()
    images = torch.randn(2, 3, 30, 16, dtype=torch.double)
    expected = reference(images)
    torch.testing.assert_close(net.encode(images), expected.last_hidden_state)
    torch.testing.assert_close(net(images), expected.pooler_output)


@pytest.mark.parametrize("size", [(16, 16), (10, 22)])
def test_with_whole_windows_its_maps_are_those_of_their_backbone(size):
    config = dataclasses.replace(SMALL, classes=0, shrink_windows=False, depths=(2, 2), window=5)
    reference = theirs("SwinBackbone", config, out_features=["stage1", "stage2"]).double().eval()
    names = {
        name.removeprefix("swin."): tensor
        for name, tensor in reference.state_dict().items()
        if not name.startswith("hidden_states_norms")
    }
    net = weights.build(Swin, names, config).double().eval()
    images = torch.randn(2, 3, *size, dtype=torch.double)
    expected = reference(images).feature_maps
    for stage, x in enumerate(net.maps(images)):
        norm = reference.hidden_states_norms[f"stage{stage + 1}"]
        torch.testing.assert_close(norm(x).permute(0, 3, 1, 2), expected[stage])


def test_the_configuration_of_transformers_is_read():
    import transformers

    described = transformers.SwinConfig(image_size=[32, 48], window_size=5, num_labels=7)
    config = weights.read_config(SwinConfig, described.to_dict(), drop_path=0.2)
    assert config == SwinConfig(image=(32, 48), window=5, classes=7, drop_path=0.2)
    with torch.device("meta"):
        reference = transformers.SwinForImageClassification(transformers.SwinConfig())
        net = Swin(weights.read_config(SwinConfig, transformers.SwinConfig().to_dict()))
    found, expected = weights.export(net), reference.state_dict()
    assert {k: v.shape for k, v in found.items()} == {k: v.shape for k, v in expected.items()}
    bare = described.to_dict() | {"architectures": ["SwinModel"]}
    assert weights.read_config(SwinConfig, bare).classes == 0
    with pytest.raises(ValueError, match=r"hidden_act must be 'gelu'.*found 'relu'"):
        weights.read_config(SwinConfig, described.to_dict() | {"hidden_act": "relu"})


# Names


@pytest.mark.parametrize("classes", [0, 5])
@pytest.mark.parametrize("changes", [{}, {"absolute_positions": True, "qkv_bias": False}])
@pytest.mark.parametrize("kind", ["huggingface", "original"])
def test_names_go_there_and_back(kind, changes, classes):
    net = small(classes=classes, **changes)
    state = weights.export(net, kind)
    load = partial(weights.build, Swin, layout=kind)
    again = load(state, net.config).double().state_dict()
    assert again.keys() == net.state_dict().keys()
    for name, tensor in net.state_dict().items():
        assert torch.equal(again[name], tensor), name
    with pytest.raises(ValueError, match=r"'norm\.of\.theirs'"):
        load(state | {"norm.of.theirs": torch.zeros(1)}, net.config)
    name = next(iter(state))
    with pytest.raises(ValueError, match=f"'{name}'"):
        load({k: v for k, v in state.items() if k != name}, net.config)


def test_a_file_from_the_hub_is_read():
    """Older versions of transformers wrote other names, and so do newer ones into files."""
    net = small()
    old = {
        "attention.q_proj": "attention.self.query",
        "attention.k_proj": "attention.self.key",
        "attention.v_proj": "attention.self.value",
        "attention.relative_position_bias.relative_position_bias_table": (
            "attention.self.relative_position_bias_table"
        ),
        "attention.o_proj": "attention.output.dense",
        "mlp.fc1": "intermediate.dense",
        "mlp.fc2": "output.dense",
    }
    state = {"swin.encoder.layers.0.blocks.1.attention.self.relative_position_index": torch.ones(1)}
    for name, tensor in weights.export(net).items():
        for new, was in old.items():
            name = name.replace(new, was)
        state[name] = tensor
    again = weights.build(Swin, state, net.config).double()
    assert all(torch.equal(again.state_dict()[k], v) for k, v in net.state_dict().items())


def original_names(depths: tuple[int, ...]) -> set[str]:
    """The names in the authors' files, written out from their constructor."""

    def both(name):
        return {f"{name}.weight", f"{name}.bias"}

    names = both("patch_embed.proj") | both("patch_embed.norm") | both("norm") | both("head")
    for i, depth in enumerate(depths):
        for j in range(depth):
            block = f"layers.{i}.blocks.{j}"
            for part in ("norm1", "attn.qkv", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2"):
                names |= both(f"{block}.{part}")
            names.add(f"{block}.attn.relative_position_bias_table")
        if i < len(depths) - 1:
            names |= both(f"layers.{i}.downsample.norm")
            names.add(f"layers.{i}.downsample.reduction.weight")
    return names


def test_the_names_and_shapes_are_the_authors():
    with torch.device("meta"):
        state = weights.export(Swin(SwinConfig.tiny()), "original")
    assert state.keys() == original_names((2, 2, 6, 2))
    assert state["layers.0.downsample.reduction.weight"].shape == (2 * 96, 4 * 96)
    assert state["layers.2.downsample.norm.weight"].shape == (4 * 384,)
    assert state["layers.2.blocks.5.attn.qkv.weight"].shape == (3 * 384, 384)
    assert state["layers.2.blocks.5.attn.relative_position_bias_table"].shape == (13**2, 12)

    # Made for a small image, their last stages have smaller windows and so smaller tables.
    net = small(image=16, depths=(1, 1, 2), heads=(1, 2, 4))  # maps of 8, 4 and 2
    state = weights.export(net, "original")
    tables = [state[f"layers.{i}.blocks.0.attn.relative_position_bias_table"] for i in range(3)]
    assert [len(table) for table in tables] == [7**2, 7**2, 3**2]
    assert [stage.blocks[-1].attention.window for stage in net.stages] == [4, 4, 2]

    constants = {
        "layers.0.blocks.0.attn.relative_position_index": torch.zeros(16, 16),
        "layers.0.blocks.0.attn_mask": torch.zeros(4, 16, 16),
    }
    again = weights.build(Swin, state | constants, net.config, "original").double()
    assert all(torch.equal(again.state_dict()[k], v) for k, v in net.state_dict().items())


# Laws


def flops(run, *arguments) -> int:
    with FlopCounterMode(display=False) as counter:
        run(*arguments)
    return counter.get_total_flops()


def test_the_cost_is_linear_in_the_pixels_and_that_of_global_attention_is_not():
    net = randomised(Swin(dataclasses.replace(SMALL, image=64, classes=0)))
    everybody = MultiHeadAttention(width=8, heads=2)

    def look(x):  # the readable path, whose two products of T × T the counter sees
        return attention(*everybody.project(x))

    windowed, looked = [], []
    for width in (32, 64, 128, 256):
        windowed.append(flops(net, torch.randn(1, 3, 32, width)))
        looked.append(flops(look, torch.randn(1, 16 * width // 2, 8)))
    assert [wide / narrow for narrow, wide in pairwise(windowed)] == [2, 2, 2]
    growth = [wide / narrow for narrow, wide in pairwise(looked)]
    assert all(ratio > 3.5 for ratio in growth) and growth == sorted(growth) and growth[-1] < 4


def test_the_attention_costs_what_the_paper_says():
    """Equations 1 and 2, without softmax: 4hwC² + 2M²hwC multiplications for windows."""
    rows, columns, width, window = 8, 12, 6, 4
    net = WindowAttention(width=width, heads=2, window=window, shift=2)
    cells = rows * columns
    expected = 2 * (4 * cells * width**2 + 2 * window**2 * cells * width)
    assert flops(net, torch.randn(1, rows, columns, width)) == expected


def test_a_batch_equals_its_items():
    net = small()
    images = torch.randn(3, 3, 22, 34, dtype=torch.double)
    torch.testing.assert_close(torch.cat([net(image[None]) for image in images]), net(images))


def test_one_model_takes_images_of_any_size():
    net = small()
    for size in [(1, 1), (2, 30), (7, 9), (40, 24)]:
        images = torch.randn(2, 3, *size, dtype=torch.double)
        rows, columns = (-(-side // 2) for side in size)
        fine, coarse = net.maps(images)
        assert fine.shape == (2, rows, columns, 8)
        assert coarse.shape == (2, -(-rows // 2), -(-columns // 2), 16)
        logits = net(images)
        assert logits.shape == (2, 5) and logits.isfinite().all()
        torch.testing.assert_close(net(images), logits)  # another size before leaves no trace
    assert net.config.map_sizes == ((8, 8), (4, 4))
    assert SwinConfig(image=(225, 100)).map_sizes == ((57, 25), (29, 13), (15, 7), (8, 4))


@pytest.mark.parametrize("changes", [{}, {"absolute_positions": True}])
def test_gradients_reach_every_parameter(changes):
    net = small(image=32, **changes)
    net(torch.randn(2, 3, 32, 32, dtype=torch.double)).square().sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all() and parameter.grad.abs().sum() > 0, name


def test_drop_path_grows_from_block_to_block_and_rests_in_evaluation():
    net = small(depths=(2, 3), drop_path=0.4)
    blocks = [block for stage in net.stages for block in stage.blocks]
    for part in ("attention_residual", "feed_residual"):
        rates = [getattr(block, part).drop_path for block in blocks]
        assert rates == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    images = torch.randn(2, 3, 16, 16, dtype=torch.double)
    assert torch.equal(net(images), net(images))
    assert not torch.equal(net.train()(images), net(images))


@pytest.mark.parametrize("kind", ["dropout", "attention_dropout"])
def test_dropout_is_off_in_evaluation(kind):
    net = small(**{kind: 0.5})
    images = torch.randn(1, 3, 16, 16, dtype=torch.double)
    assert torch.equal(net(images), net(images))
    assert not torch.equal(net.train()(images), net(images))


@pytest.mark.parametrize(
    ("size", "count"),
    [("tiny", 28_288_354), ("small", 49_606_258), ("base", 87_768_224), ("large", 196_532_476)],
)
def test_parameters(size, count):
    with torch.device("meta"):
        net = Swin(getattr(SwinConfig, size)())
    assert sum(parameter.numel() for parameter in net.parameters()) == count


def test_it_starts_as_the_paper_s_code_does():
    torch.manual_seed(0)
    net = Swin(dataclasses.replace(SMALL, width=32))
    for name, parameter in net.named_parameters():
        if "norm" in name:
            assert parameter.eq(float(name.endswith("weight"))).all(), name
        elif name.endswith("bias") and "embedding" not in name:
            assert parameter.eq(0).all(), name
        elif "embedding" not in name:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.2), name


# Bad input


def test_absolute_positions_hold_for_one_size():
    net = small(absolute_positions=True)
    with pytest.raises(ValueError, match=r"learned for \(8, 8\) patches, found .*\(4, 16\)"):
        net(torch.zeros(1, 3, 8, 32, dtype=torch.double))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"depths": (2, 2, 2)}, r"for each stage, found \(2, 2, 2\) and \(2, 4\)"),
        ({"heads": (3, 4)}, "heads must divide the width, found 3 heads and width 8"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(**changes)


def test_the_rolled_map_of_the_page():
    """A map of 8 × 8, windows of 4, a shift of 2."""
    number = torch.arange(64).view(1, 8, 8, 1).roll((-2, -2), dims=(1, 2))
    windows = window_partition(number, 4)[..., 0]  # (4, 16)
    assert len(windows) == 4 and number[0, :2, :2, 0].tolist() == [[18, 19], [26, 27]]
    last = [54, 55, 62, 63, 48, 49, 56, 57, 6, 7, 14, 15, 0, 1, 8, 9]
    assert sorted(windows[3].tolist()) == sorted(last)
    places = torch.arange(8)
    home = (places - 2).div(4, rounding_mode="floor")
    sizes = (3 * home[:, None] + home).flatten().unique(return_counts=True)[1].tolist()
    assert len(sizes) == 9 and set(sizes) == {4, 8, 16}
    mask = shift_mask(8, 8, 4, 2)[:, 0]  # (4, 16, 16)
    ordered = windows[3].tolist()
    assert not mask[3][ordered.index(0), ordered.index(63)]
    assert mask[3][ordered.index(0), ordered.index(1)]
