"""Multi-head attention against torch's own, and its cache, heads and masks against their laws."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from coursekit import masks
from coursekit.cache import KeyValueCache
from coursekit.heads import MultiHeadAttention, Projections, merge_heads, split_heads
from coursekit.positions import Rotary

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def twins(width=16, heads=4, bias=True, dtype=torch.float64, **options):
    """Ours and torch's module with the same random weights."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(width, heads, bias=bias, batch_first=True, dtype=dtype)
    ours = MultiHeadAttention(width=width, heads=heads, bias=bias, **options).to(dtype)
    with torch.no_grad():
        for p in theirs.parameters():
            p.normal_(std=0.3)
        ours.qkv.weight.copy_(theirs.in_proj_weight)
        ours.out.weight.copy_(theirs.out_proj.weight)
        if bias:
            ours.qkv.bias.copy_(theirs.in_proj_bias)
            ours.out.bias.copy_(theirs.out_proj.bias)
    return ours, theirs


def inputs(dtype=torch.float64, T=5, S=7, width=16):
    torch.manual_seed(1)
    return torch.randn(2, T, width, dtype=dtype), torch.randn(2, S, width, dtype=dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["self", "cross", "three"])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_equals_torch_forward_and_gradients(dtype, bias, kind, weights, masked):
    ours, theirs = twins(bias=bias, dtype=dtype)
    x, y = inputs(dtype)
    z = y.flip(1)
    args = {"self": (x, x, x), "cross": (x, y, y), "three": (x, y, z)}[kind]
    S = args[1].shape[1]
    # torch's masks are True = may NOT attend
    pad, causal = masks.lengths([S, S - 2], S), masks.causal(5, S)
    mask = pad & causal if masked else None
    options = {"key_padding_mask": ~pad[:, 0, 0], "attn_mask": ~causal} if masked else {}
    want, want_weights = theirs(*args, **options, average_attn_weights=False)
    ours_args = {"self": (x,), "cross": (x, y), "three": (x, y, z)}[kind]
    out = ours(*ours_args, mask=mask)
    if weights:
        got = ours.weights(*ours_args[:2], mask=mask)
        torch.testing.assert_close(got, want_weights, atol=TOLERANCE[dtype], rtol=0)
    torch.testing.assert_close(out, want, atol=TOLERANCE[dtype], rtol=0)
    direction = torch.randn_like(out)
    (out * direction).sum().backward()
    (want * direction).sum().backward()
    pairs = [(ours.qkv.weight, theirs.in_proj_weight), (ours.out.weight, theirs.out_proj.weight)]
    if bias:
        pairs += [(ours.qkv.bias, theirs.in_proj_bias), (ours.out.bias, theirs.out_proj.bias)]
    for a, b in pairs:
        torch.testing.assert_close(a.grad, b.grad, atol=100 * TOLERANCE[dtype], rtol=0)


def test_fused_qkv_equals_three_separate_products():
    ours, _ = twins()
    x, _ = inputs()
    fused = ours.project(x)
    separate = ours.project(x, x, x)  # the same input, named three times, is multiplied three times
    for a, b in zip(fused, separate, strict=True):
        torch.testing.assert_close(a, b, atol=1e-12, rtol=0)
    q, k, v = ours.qkv.weight.split(16)
    for got, weight, bias in zip(fused, (q, k, v), ours.qkv.bias.split(16), strict=True):
        torch.testing.assert_close(merge_heads(got), x @ weight.T + bias)


def test_heads_are_independent_attentions_side_by_side():
    ours, _ = twins()
    x, _ = inputs()
    q, k, v = (x @ w.T + b for w, b in zip(ours.qkv.weight.split(16), ours.qkv.bias.split(16)))
    results = []
    for h in range(4):
        cut = slice(4 * h, 4 * h + 4)
        scores = q[..., cut] @ k[..., cut].transpose(1, 2) / 2
        results.append(scores.softmax(-1) @ v[..., cut])
    torch.testing.assert_close(ours(x), ours.out(torch.cat(results, -1)))


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))
def test_split_and_merge_are_inverse(heads, T, head_width):
    x = torch.randn(2, T, heads * head_width)
    split = split_heads(x, heads)
    assert split.shape == (2, heads, T, head_width)
    assert torch.equal(split[:, 0], x[..., :head_width])
    assert torch.equal(merge_heads(split), x)


def test_readable_path_equals_fused_path():
    ours, _ = twins()
    x, y = inputs()
    mask = masks.lengths([7, 3], 7)
    bias = torch.randn(4, 5, 7, dtype=torch.float64)
    gates = torch.rand(2, 4, dtype=torch.float64)
    options = {"mask": mask, "bias": bias, "head_mask": gates}
    weights = ours.weights(x, y, mask=mask, bias=bias)
    out = (weights @ ours.project(x, y)[2]) * gates[..., None, None]
    torch.testing.assert_close(ours(x, y, **options), ours.out(merge_heads(out)))


def test_head_mask_removes_a_head():
    ours, _ = twins()
    x, _ = inputs()
    without = ours(x, head_mask=torch.tensor([1, 1, 0, 1]))
    with torch.no_grad():
        ours.out.weight[:, 8:12] = 0  # the columns that read head 2
    torch.testing.assert_close(without, ours(x))
    assert not torch.allclose(without, ours(x, head_mask=torch.tensor([1, 0, 0, 1])))
    gate = torch.ones(4, dtype=torch.float64, requires_grad=True)
    ours(x, head_mask=gate).square().sum().backward()
    assert gate.grad[2] == 0 and gate.grad[0] != 0  # a differentiable gate, for importance


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_grouped_heads_equal_repeated_heads(kv_heads):
    torch.manual_seed(0)
    grouped = MultiHeadAttention(width=16, heads=4, kv_heads=kv_heads).double()
    full = MultiHeadAttention(width=16, heads=4).double()
    repeat = 4 // kv_heads
    with torch.no_grad():
        for name in ("weight", "bias"):
            q, k, v = getattr(grouped.qkv, name).split(grouped.sizes)
            k, v = (
                x.unflatten(0, (kv_heads, 4)).repeat_interleave(repeat, 0).flatten(0, 1)
                for x in (k, v)
            )
            getattr(full.qkv, name).copy_(torch.cat([q, k, v]))
        full.out.load_state_dict(grouped.out.state_dict())
    x, y = inputs()
    torch.testing.assert_close(grouped(x), full(x))
    torch.testing.assert_close(grouped(x, y), full(x, y))
    cache = KeyValueCache()
    grouped(x, cache=cache)
    assert cache.keys.shape == (2, kv_heads, 5, 4)  # only the shared heads are stored


@pytest.mark.parametrize("rotary", [None, "pairs", "halves"])
@pytest.mark.parametrize("kv_heads", [2, 4])
@pytest.mark.parametrize("steps", [[1] * 5, [3, 2], [4, 1]])
def test_cached_equals_uncached(rotary, kv_heads, steps):
    torch.manual_seed(0)
    turn = Rotary(width=4, layout=rotary) if rotary else None
    ours = MultiHeadAttention(width=16, heads=4, kv_heads=kv_heads, rotary=turn).double()
    x, _ = inputs()
    want = ours(x, mask=masks.causal(5))
    cache, out, seen = KeyValueCache(), [], 0
    for step in steps:
        seen += step
        mask = masks.causal(step, seen)
        out.append(ours(x[:, seen - step : seen], mask=mask, cache=cache))
    torch.testing.assert_close(torch.cat(out, 1), want)
    assert cache.length == 5


def test_cross_attention_caches_the_memory_once():
    ours, _ = twins()
    x, y = inputs()
    cache = KeyValueCache()
    first = ours(x, y, cache=cache)
    keys = cache.keys
    second = ours(x.flip(1), y, cache=cache)
    assert cache.keys.data_ptr() == keys.data_ptr() and cache.length == 7
    torch.testing.assert_close(first, ours(x, y))
    torch.testing.assert_close(second, ours(x.flip(1), y))


def test_cache_reorder():
    ours, _ = twins()
    x, _ = inputs()
    cache = KeyValueCache()
    cache.reorder(torch.tensor([0]))  # empty: nothing to do
    ours(x, cache=cache)
    cache.reorder(torch.tensor([1, 1, 0]))
    out = ours(x[[1, 1, 0], :1], cache=cache)
    want = ours(torch.cat([x[[1, 1, 0]], x[[1, 1, 0], :1]], 1))[:, -1:]
    torch.testing.assert_close(out, want)


def test_rotary_module_sees_only_distances():
    torch.manual_seed(0)
    ours = MultiHeadAttention(width=16, heads=2, rotary=Rotary(width=8)).double()
    x, _ = inputs()
    shifted = KeyValueCache()
    shifted.append(torch.zeros(2, 2, 9, 8).double(), torch.zeros(2, 2, 9, 8).double())
    mask = masks.causal(5, 14) & (torch.arange(14) >= 9)  # nine places later, the past invisible
    torch.testing.assert_close(ours(x, mask=mask, cache=shifted), ours(x, mask=masks.causal(5)))


def test_widths_that_differ_and_scale():
    ours = MultiHeadAttention(width=12, heads=3, head_width=5, value_width=2, scale=1.0)
    x = torch.randn(2, 4, 12)
    out, weights = ours(x), ours.weights(x)
    assert out.shape == (2, 4, 12) and ours.out.in_features == 6
    q, k, v = ours.project(x)
    torch.testing.assert_close(weights, (q @ k.transpose(-1, -2)).softmax(-1))
    torch.testing.assert_close(out, ours.out(merge_heads(weights @ v)))


def test_dropout_acts_in_training_only():
    ours = MultiHeadAttention(width=16, heads=4, dropout=0.5).double()
    x, _ = inputs()
    assert not torch.equal(ours(x), ours(x))
    ours.eval()
    assert torch.equal(ours(x), ours(x))


def test_a_batch_equals_its_items_under_padding():
    ours, _ = twins()
    x, _ = inputs()
    out = ours(x, mask=masks.lengths([5, 3], 5))
    torch.testing.assert_close(out[1:, :3], ours(x[1:, :3]))
    torch.testing.assert_close(out[:1], ours(x[:1]))


@given(st.integers(0, 4), st.integers(0, 99))
def test_causality(t, seed):
    torch.manual_seed(seed)
    ours = MultiHeadAttention(width=8, heads=2)
    x = torch.randn(1, 5, 8)
    out = ours(x, mask=masks.causal(5))
    x[:, t] += 1
    changed = ours(x, mask=masks.causal(5))
    torch.testing.assert_close(changed[:, :t], out[:, :t])
    assert not torch.allclose(changed[:, t], out[:, t])


def call(**options):
    given = {"width": 16, "heads": 4, **options}
    return MultiHeadAttention(**given)


x = torch.zeros(2, 5, 16)


@pytest.mark.parametrize(
    ("do", "error", "words"),
    [
        (lambda: call(heads=3), ValueError, "3 heads and width 16"),
        (lambda: call(kv_heads=3), ValueError, "kv_heads must divide heads, found 3 and 4"),
        (lambda: call()(x, value=x), ValueError, "value was given without key"),
        (lambda: call(rotary=Rotary(width=4))(x, x), ValueError, "rotary.*self-attention"),
        (lambda: call(rotary=Rotary(width=8))(x), ValueError, "8 wide"),
        (lambda: call()(x, position_ids=torch.arange(5)), ValueError, "but there is no rotary"),
        (
            lambda: call(rotary=Rotary(width=4))(x, position_ids=torch.arange(4)),
            ValueError,
            r"must be \(5,\) or \(batch, 5\), found torch.int64 \(4,\)",
        ),
    ],
)
def test_bad_input_gets_a_sentence(do, error, words):
    with pytest.raises(error, match=words):
        do()


def test_causal_needs_no_mask_with_and_without_a_cache():
    ours, _ = twins()
    x, _ = inputs(T=6)
    want = ours(x, mask=masks.causal(6))
    torch.testing.assert_close(ours(x, causal=True), want)
    cache = KeyValueCache()
    steps = [ours(piece, causal=True, cache=cache) for piece in x.split([3, 1, 2], dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), want)


def test_autocast_may_mix_dtypes():
    ours, _ = twins(dtype=torch.float32)
    x, y = inputs(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        for args in ((x.bfloat16(),), (x.bfloat16(), y.bfloat16())):
            out = ours(*args)
            assert out.dtype == torch.bfloat16
            torch.testing.assert_close(out.float(), ours(*map(torch.Tensor.float, args)).float())
    with pytest.raises(TypeError, match=r"found torch\.bfloat16"):
        ours(x.bfloat16())


@pytest.mark.parametrize("B", [1, 2, 4, 5])  # 4 is the number of heads
@pytest.mark.parametrize("kv_heads", [4, 1])
@pytest.mark.parametrize("weights", [False, True])
def test_each_sequence_may_have_position_ids_of_its_own(B, kv_heads, weights):
    torch.manual_seed(0)
    rotary = Rotary(width=4, base=50)
    ours = MultiHeadAttention(width=16, heads=4, kv_heads=kv_heads, rotary=rotary).double()
    x, position_ids = torch.randn(B, 6, 16).double(), torch.randint(0, 99, (B, 6))
    call = ours.weights if weights else ours
    together = call(x, position_ids=position_ids)
    for row in range(B):
        alone = call(x[row : row + 1], position_ids=position_ids[row])
        torch.testing.assert_close(together[row], alone[0])
    count = ours(x, position_ids=torch.arange(6))
    torch.testing.assert_close(count, ours(x))
    torch.testing.assert_close(count, ours(x, position_ids=torch.arange(6).expand(B, -1)))


def test_prompts_padded_on_the_left_with_rotary_are_those_without_padding():
    """The places of each row begin at its first token, in the prompt and behind the cache."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(width=16, heads=4, rotary=Rotary(width=4, base=50)).double()
    x, pads, cache = torch.randn(4, 6, 16).double(), torch.tensor([0, 2, 1, 0]), KeyValueCache()
    keep = (torch.arange(6) >= pads[:, None])[:, None, None]
    position_ids = (torch.arange(6) - pads[:, None]).clamp_min(0)
    outs = [
        ours(
            x[:, a:b],
            mask=keep[..., :b],
            causal=True,
            position_ids=position_ids[:, a:b],
            cache=cache,
        )
        for a, b in ((0, 4), (4, 5), (5, 6))
    ]
    found = torch.cat(outs, dim=1)
    for row, pad in enumerate(pads.tolist()):
        alone = ours(x[row : row + 1, pad:], causal=True)
        torch.testing.assert_close(found[row, pad:], alone[0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [nn.Linear, Projections])
def test_quantized_attention_works_and_is_nearly_the_same(kind):
    """Also where `qkv` itself is quantized: then a part of it is not to be had alone."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(width=16, heads=4).eval()
    x, y = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    want = ours(x), ours(x, y), ours.weights(x, y)
    if kind is Projections:
        plain = nn.Linear(16, 48)
        plain.load_state_dict(ours.qkv.state_dict())
        ours.qkv = plain
    small = torch.ao.quantization.quantize_dynamic(ours, {nn.Linear}, dtype=torch.qint8)
    assert type(small.out) is not nn.Linear
    assert callable(small.qkv.weight) == (kind is Projections)
    for found, expected in zip((small(x), small(x, y), small.weights(x, y)), want):
        assert (found - expected).abs().max() < 0.05 < expected.abs().max()


@pytest.mark.filterwarnings("ignore")
def test_made_plain_all_linear_maps_are_quantized():
    """torch looks for `nn.Linear` itself, and passes over a class made of it without a word."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(width=16, heads=4).eval()
    x = torch.randn(2, 3, 16)
    want = ours(x)
    left = torch.ao.quantization.quantize_dynamic(ours)
    assert type(left.qkv) is Projections
    weight, ours.qkv = ours.qkv.weight, ours.qkv.plain()
    assert ours.qkv.weight is weight and torch.equal(ours(x), want)
    small = torch.ao.quantization.quantize_dynamic(ours)
    assert not any(isinstance(part, nn.Linear) for part in small.modules())
    assert (small(x) - want).abs().max() < 0.05


def test_a_gradient_dies_or_explodes_along_a_recurrent_chain_and_not_in_attention():
    def arrives(layer, n):  # at token 1, from the output n tokens later
        torch.manual_seed(0)
        x = torch.randn(1, n + 1, 32, requires_grad=True)
        out = layer(x)
        out = out[0] if isinstance(out, tuple) else out
        (back,) = torch.autograd.grad(out[0, -1].sum(), x)
        return back[0, 0].norm().item()

    def chain(size):
        layer = torch.nn.RNN(32, 32, batch_first=True)
        torch.nn.init.orthogonal_(layer.weight_hh_l0, gain=size)
        layer.weight_ih_l0.data *= 0.1  # small states: the slope of tanh stays near 1
        return layer

    torch.manual_seed(1)
    kept = {
        name: arrives(layer, 50) / arrives(layer, 1)
        for name, layer in (
            ("dies", chain(0.8)),
            ("explodes", chain(2.0)),
            ("attention", MultiHeadAttention(width=32, heads=4)),
        )
    }
    assert kept["dies"] < 0.8**40 and kept["explodes"] > 100
    assert 0.1 / 51 < kept["attention"] < 10 / 51  # an even look at 51 tokens
