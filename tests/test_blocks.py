"""Blocks against torch's encoder and decoder layers, and against their own description."""

import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from coursekit import masks
from coursekit.activations import gelu, relu
from coursekit.analysis import capture
from coursekit.blocks import Block, FeedForward, Residual, Stack
from coursekit.cache import KeyValueCache, StackCache
from coursekit.norms import RMSNorm
from coursekit.positions import Rotary

NAN = float("nan")
TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-12}
D, H, HIDDEN = 16, 4, 24
NORMS = ["post", "pre", "normformer", "dlcl", "none"]


def names(cross):
    """torch's parameter names -> ours."""
    table = {
        "self_attn.in_proj_": "self_attention.qkv.",
        "self_attn.out_proj.": "self_attention.out.",
        "multihead_attn.in_proj_": "cross_attention.qkv.",
        "multihead_attn.out_proj.": "cross_attention.out.",
        "linear1.": "feed_forward.expand.",
        "linear2.": "feed_forward.contract.",
        "norm1.": "self_residual.norm.",
        "norm2.": "cross_residual.norm." if cross else "feed_residual.norm.",
        "norm3.": "feed_residual.norm.",
    }

    def ours(name):
        prefix = next(p for p in table if name.startswith(p))
        return table[prefix] + name[len(prefix) :]

    return ours


def twins(norm, cross, activation, dtype):
    torch.manual_seed(0)
    kind = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    options = {"activation": F.relu if activation is relu else F.gelu, "dropout": 0.0}
    theirs = kind(D, H, HIDDEN, batch_first=True, norm_first=norm == "pre", dtype=dtype, **options)
    ours = Block(
        width=D, heads=H, hidden=HIDDEN, norm=norm, cross_attention=cross, activation=activation
    ).to(dtype)
    rename = names(cross)
    with torch.no_grad():
        for p in theirs.parameters():
            p.normal_(std=0.3)
    missing = ours.load_state_dict({rename(k): v for k, v in theirs.state_dict().items()})
    assert not missing.missing_keys and not missing.unexpected_keys
    return ours, theirs, rename


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("activation", [relu, gelu])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_equals_torch_layers_forward_and_gradients(dtype, activation, norm, cross, masked):
    ours, theirs, rename = twins(norm, cross, activation, dtype)
    x, memory = torch.randn(2, 5, D, dtype=dtype), torch.randn(2, 7, D, dtype=dtype)
    own, other = {}, {}
    if masked:
        pad, memory_pad = masks.lengths([5, 3], 5), masks.lengths([7, 2], 7)
        own = {"mask": pad & masks.causal(5)}
        prefix = "tgt_" if cross else "src_"
        other = {f"{prefix}key_padding_mask": ~pad[:, 0, 0]}
        other["tgt_mask" if cross else "src_mask"] = ~masks.causal(5)
        if cross:
            own["memory_mask"] = memory_pad
            other["memory_key_padding_mask"] = ~memory_pad[:, 0, 0]
    inputs = (x, memory) if cross else (x,)
    out, want = ours(*inputs, **own), theirs(*inputs, **other)
    torch.testing.assert_close(out, want, atol=TOLERANCE[dtype], rtol=0)
    direction = torch.randn_like(out)
    (out * direction).sum().backward()
    (want * direction).sum().backward()
    mine = dict(ours.named_parameters())
    for name, parameter in theirs.named_parameters():
        got = mine.pop(rename(name))
        torch.testing.assert_close(got.grad, parameter.grad, atol=100 * TOLERANCE[dtype], rtol=1e-4)
    assert not mine  # every parameter of ours has been compared


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_stack_equals_torch_encoder(norm):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        D, H, HIDDEN, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    )
    final = nn.LayerNorm(D) if norm == "pre" else None
    theirs = nn.TransformerEncoder(layer, 3, norm=final, enable_nested_tensor=False)
    ours = Stack(depth=3, width=D, heads=H, hidden=HIDDEN, norm=norm)
    with torch.no_grad():
        for p in theirs.parameters():
            p.normal_(std=0.3)
    rename = names(False)
    state = {}
    for key, value in theirs.state_dict().items():
        if key.startswith("norm."):
            state["final." + key[5:]] = value
        else:
            _, index, rest = key.split(".", 2)
            state[f"blocks.{index}.{rename(rest)}"] = value
    ours.load_state_dict(state)
    x = torch.randn(2, 5, D)
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("parts", range(1, 8))
def test_every_part_can_be_removed(norm, residual, parts):
    has = {
        "self_attention": bool(parts & 1),
        "cross_attention": bool(parts & 2),
        "feed_forward": bool(parts & 4),
    }
    block = Block(width=D, heads=H, norm=norm, residual=residual, **has)
    memory = torch.randn(2, 3, D) if has["cross_attention"] else None
    x = torch.randn(2, 5, D)
    out = block(x, memory)
    assert out.shape == x.shape
    out.square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in block.parameters())
    kinds = {name.split(".")[0] for name, _ in block.named_parameters()}
    for part, present in has.items():
        assert (part in kinds) == present


def around(residual, x, sublayer):
    return residual.after(x, sublayer(residual.before(x)))


def test_placements_are_their_formulas():
    torch.manual_seed(0)
    x = torch.randn(2, 5, D)
    f = nn.Linear(D, D)
    normalise = nn.LayerNorm(D)
    want = {
        "post": normalise(x + f(x)),
        "pre": x + f(normalise(x)),
        "dlcl": x + f(normalise(x)),
        "none": x + f(x),
    }
    for norm, y in want.items():
        torch.testing.assert_close(around(Residual(width=D, norm=norm), x, f), y)
    both = around(Residual(width=D, norm="normformer", outer=True), x, f)
    torch.testing.assert_close(both, x + normalise(f(normalise(x))))
    bare = around(Residual(width=D, norm="post", skip=False), x, f)
    torch.testing.assert_close(bare, normalise(f(x)))


def test_normformer_has_its_three_extra_parts():
    pre = Block(width=D, heads=H)
    former = Block(width=D, heads=H, norm="normformer")
    extra = H + 2 * D + 2 * (4 * D)  # head factors, norm after attention, norm inside the FFN
    count = [sum(p.numel() for p in b.parameters()) for b in (pre, former)]
    assert count[1] - count[0] == extra
    x = torch.randn(2, 5, D)
    with torch.no_grad():
        former.head_scale[2] = 0
    torch.testing.assert_close(former(x), former(x, head_mask=torch.tensor([1.0, 1, 0, 1])))


def test_dlcl_mixes_every_layer_below():
    torch.manual_seed(0)
    stack = Stack(depth=3, width=D, heads=H, norm="dlcl")
    with torch.no_grad():
        stack.mixture.normal_()
    x = torch.randn(2, 5, D)
    ys = [x]
    for depth, block in enumerate(stack.blocks):
        normed = [norm(y) for norm, y in zip(stack.mixture_norms, ys)]
        ys.append(block(sum(w * y for w, y in zip(stack.mixture[depth], normed))))
    normed = [norm(y) for norm, y in zip(stack.mixture_norms, ys)]
    want = sum(w * y for w, y in zip(stack.mixture[3], normed))
    out, hidden = stack(x), stack.states(x)
    torch.testing.assert_close(out, want)
    for a, b in zip(hidden, ys, strict=True):
        torch.testing.assert_close(a, b)
    fresh = Stack(depth=3, width=D, heads=H, norm="dlcl")
    torch.testing.assert_close(fresh.mixture.sum(1), torch.ones(4))  # starts as the mean
    assert (fresh.mixture.triu(1) == 0).all()


def test_feed_forward_works_on_each_position_alone():
    feed = FeedForward(width=D)
    x = torch.randn(2, 5, D)
    one_by_one = torch.stack([feed(x[:, t : t + 1])[:, 0] for t in range(5)], 1)
    torch.testing.assert_close(feed(x), one_by_one)
    assert feed.expand.out_features == 4 * D
    want = feed.contract(relu(feed.expand(x)))
    torch.testing.assert_close(feed(x), want)


def test_a_wide_network_has_the_products_of_many_narrow_ones_in_two_steps():
    """As in the notebook on blocks: width adds to what runs at once, depth to what has to wait."""
    wide = FeedForward(width=64, hidden=4096)
    deep = nn.Sequential(*[FeedForward(width=64, hidden=128) for _ in range(32)])
    x, counts, waits = torch.randn(1, 16, 64), [], []
    for network in (wide, deep):
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            network(x)
        counts.append(counter.get_total_flops())
        waits.append(sum(isinstance(part, nn.Linear) for part in network.modules()))
    assert counts[0] == counts[1] > 0
    assert waits == [2, 64]


@pytest.mark.parametrize("norm", NORMS)
def test_causality_of_a_stack(norm):
    torch.manual_seed(0)
    stack = Stack(depth=2, width=D, heads=H, norm=norm).eval()
    x = torch.randn(1, 6, D)
    out = stack(x, mask=masks.causal(6))
    x[:, 3] = torch.randn(D)  # not += 1: LayerNorm would not see a constant
    changed = stack(x, mask=masks.causal(6))
    torch.testing.assert_close(changed[:, :3], out[:, :3])
    assert not torch.allclose(changed[:, 3], out[:, 3])


@pytest.mark.parametrize("norm", NORMS)
def test_permutation_equivariance_without_positions(norm):
    stack = Stack(depth=2, width=D, heads=H, norm=norm).double()
    x, order = torch.randn(2, 6, D).double(), torch.randperm(6)
    torch.testing.assert_close(stack(x[:, order]), stack(x)[:, order])


def test_cached_block_equals_uncached():
    torch.manual_seed(0)
    block = Block(width=D, heads=H, cross_attention=True).double().eval()
    x, memory = torch.randn(2, 5, D).double(), torch.randn(2, 3, D).double()
    want = block(x, memory, mask=masks.causal(5))
    cache, memory_cache = KeyValueCache(), KeyValueCache()
    steps = [
        block(x[:, t : t + 1], memory, cache=cache, memory_cache=memory_cache) for t in range(5)
    ]
    torch.testing.assert_close(torch.cat(steps, 1), want)


def test_dropout_acts_on_every_sublayer_in_training_only():
    x = torch.ones(1, 3, D)
    for part in ("self_attention", "feed_forward"):
        only = {"self_attention": False, "feed_forward": False, part: True}
        block = Block(width=D, heads=H, norm="none", dropout=0.5, attention_dropout=0.0, **only)
        change = block(x) - x
        assert (change == 0).any() and (change != 0).any()
        block.eval()
        assert torch.equal(block(x), block(x))


x3 = torch.zeros(1, 3, D)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Block(width=D, heads=3), "3 heads and width 16"),
        (lambda: Block(width=D, heads=4)(x3, x3), "has no cross-attention, but a memory was given"),
        (lambda: Block(width=D, heads=4, cross_attention=True)(x3), "no memory was given"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_drop_path_of_1_leaves_every_sublayer_out():
    block = Block(width=D, heads=4, drop_path=1.0)
    x = torch.randn(2, 3, D)
    torch.testing.assert_close(block(x), x)


def test_a_stack_hands_the_places_to_its_rotary():
    torch.manual_seed(0)
    stack = Stack(depth=2, width=D, heads=4, rotary=Rotary(width=4, base=50)).double()
    x, position_ids = torch.randn(4, 5, D).double(), torch.randint(0, 99, (4, 5))
    together = stack(x, causal=True, position_ids=position_ids)
    for row in range(4):
        alone = stack(x[row : row + 1], causal=True, position_ids=position_ids[row])
        torch.testing.assert_close(together[row], alone[0])


def test_positions_reach_queries_and_keys_but_not_values():
    torch.manual_seed(0)
    block = Block(width=8, heads=2, cross_attention=True, norm="post").double()
    x, y = torch.randn(2, 3, 8).double(), torch.randn(2, 5, 8).double()
    here, there = torch.randn(1, 3, 8).double(), torch.randn(2, 5, 8).double()
    own = block.self_attention(x + here, x + here, x.clone())
    h = F.layer_norm(x + own, (8,))
    h = F.layer_norm(h + block.cross_attention(h + here, y + there, y), (8,))
    want = F.layer_norm(h + block.feed_forward(h), (8,))
    got = block(x, y, positions=here, memory_positions=there)
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize("norm", ["post", "pre", "normformer", "dlcl"])
def test_a_stack_shows_what_it_looked_at(norm):
    torch.manual_seed(0)
    stack = Stack(depth=2, width=8, heads=2, norm=norm, cross_attention=True)
    x, y = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    recording = capture(stack, x, y, causal=True)
    torch.testing.assert_close(recording.output, stack(x, y, causal=True))
    states = recording.states[""]
    assert len(states) == 3 and torch.equal(states[0], x) == (norm != "dlcl")
    for state, other in zip(states[1:], stack.states(x, y, causal=True)[1:], strict=True):
        torch.testing.assert_close(state, other)
    own, cross = (recording.weights[name] for name in ("self_attention", "cross_attention"))
    for one, other in zip(own, cross, strict=True):
        assert one.shape == (2, 2, 3, 3) and other.shape == (2, 2, 3, 5)
        assert one.triu(1).abs().max() == 0
        torch.testing.assert_close(one.sum(-1), torch.ones(2, 2, 3))
        torch.testing.assert_close(other.sum(-1), torch.ones(2, 2, 3))
    assert not capture(Block(width=8, heads=2, self_attention=False), x).weights


@torch.no_grad()
@pytest.mark.parametrize("norm", ["post", "pre", "normformer"])
def test_a_stack_without_gradients_holds_one_output_at_a_time(norm):
    stack, outputs, alive = Stack(depth=4, width=8, heads=2, norm=norm), [], []
    for block in stack.blocks:
        block.register_forward_hook(lambda block, x, y: outputs.append(weakref.ref(y)))
        block.register_forward_pre_hook(lambda block, x: alive.append([y() for y in outputs[:-1]]))
    stack(torch.randn(2, 3, 8))
    assert alive == [[], [], [None], [None, None]]  # a block has the output of the one before it
    assert len(stack.states(torch.randn(2, 3, 8))) == 5


@torch.no_grad()
def test_a_cached_stack_equals_an_uncached_one_also_after_reordering():
    torch.manual_seed(0)
    stack = Stack(depth=2, width=8, heads=2, cross_attention=True, norm="post")
    x, y = torch.randn(3, 6, 8), torch.randn(3, 5, 8)
    order = torch.tensor([2, 0, 0])
    cache = StackCache(depth=2)
    first = stack(x[:, :4], y, causal=True, cache=cache)
    torch.testing.assert_close(first, stack(x, y, causal=True)[:, :4])
    cache.reorder(order)
    last = torch.cat([stack(x[order, t : t + 1], y[order], cache=cache) for t in (4, 5)], dim=1)
    torch.testing.assert_close(last, stack(x[order], y[order], causal=True)[:, 4:])
    assert cache.length == 6


def test_drop_path_skips_whole_sequences_and_keeps_the_mean():
    torch.manual_seed(0)
    part = Residual(width=4, norm="none", drop_path=0.25)
    x = torch.zeros(4000, 3, 4)
    change = part.after(x, x + 1)
    rows = change.flatten(1)
    assert bool((rows == rows[:, :1]).all())  # a sequence skips as a whole
    assert set(rows[:, 0].tolist()) == {0.0, float(torch.tensor(1 / 0.75))}
    assert abs(rows.mean() - 1) < 5 * (0.25 / 0.75 / 4000) ** 0.5
    torch.testing.assert_close(part.eval().after(x, x + 1), x + 1)
    stack = Stack(depth=3, width=8, heads=2, drop_path=0.2)
    rates = [block.feed_residual.drop_path for block in stack.blocks]
    assert rates == pytest.approx([0, 0.1, 0.2])


def test_rms_norm_divides_by_the_root_mean_square_and_no_more():
    torch.manual_seed(0)
    stack = Stack(depth=1, width=8, heads=2, rms_norm=True, eps=1e-6)
    norms = [m for m in stack.modules() if isinstance(m, (RMSNorm, nn.LayerNorm))]
    assert len(norms) == 3 and all(isinstance(m, RMSNorm) for m in norms)
    x = torch.randn(2, 3, 8)
    by_hand = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    torch.testing.assert_close(stack.final(x), by_hand)


@pytest.mark.parametrize("norm", NORMS)
def test_rms_norm_is_every_norm_of_a_stack(norm):
    """Those that NormFormer and DLCL add, too."""
    counts = [
        [sum(isinstance(m, kind) for m in stack.modules()) for kind in (nn.LayerNorm, RMSNorm)]
        for stack in (
            Stack(depth=2, width=8, heads=2, norm=norm, rms_norm=rms) for rms in (False, True)
        )
    ]
    assert counts[0] == counts[1][::-1] and counts[1][0] == 0


def test_each_dropout_has_its_own_place():
    block = Block(width=8, heads=2, dropout=0.1, attention_dropout=0.2, hidden_dropout=0.3)
    assert block.self_attention.dropout == 0.2
    assert block.feed_forward.dropout.p == 0.3
    assert block.self_residual.dropout.p == block.feed_residual.dropout.p == 0.1
