"""The counts against what torch counts, keeps and reaches."""

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from coursekit import cost, masks
from coursekit.attention import attention
from coursekit.local import local_attention
from coursekit.models.gpt import GPT, GPTConfig


def flops(function):
    with FlopCounterMode(display=False) as counter:
        function()
    return counter.get_total_flops()


def kept_bytes(function, weights=()):
    """Bytes that autograd keeps for the backward pass, each storage once, without the weights."""
    kept = {}

    def note(x):
        kept[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
        out = function()
        for weight in weights:
            kept.pop(weight.untyped_storage().data_ptr(), None)
        total = sum(kept.values())
    del out
    return total


def heads(n, d, h):
    return [torch.randn(1, h, n, d // h, requires_grad=True) for _ in range(3)]


@pytest.mark.parametrize(("n", "d", "h"), [(7, 12, 1), (32, 16, 4), (5, 64, 8)])
def test_self_attention(n, d, h):
    q, k, v = heads(n, d, h)
    counted = cost.self_attention(n, d, heads=h)
    assert flops(lambda: attention(q, k, v)) == counted.flops
    assert kept_bytes(lambda: attention(q, k, v)) == counted.bytes
    assert (counted.sequential, counted.path) == (1, 1)


@pytest.mark.parametrize(("n", "d"), [(7, 12), (32, 16)])
def test_recurrent(n, d):
    W, U = torch.randn(d, d, requires_grad=True), torch.randn(d, d, requires_grad=True)
    inputs = [torch.randn(1, d) for _ in range(n)]

    def run():
        state = torch.zeros(1, d)
        states = []
        for x in inputs:
            state = torch.tanh(x @ W + state @ U)
            states.append(state)
        return states

    counted = cost.recurrent(n, d)
    assert flops(run) == counted.flops
    # one state more is kept than counted: the zeros before the first step
    assert kept_bytes(run, weights=(W, U)) == counted.bytes + 4 * d
    assert counted.sequential == counted.path == n


@pytest.mark.parametrize(("n", "d", "k"), [(7, 12, 3), (32, 16, 5)])
def test_convolutional(n, d, k):
    x, W = torch.randn(1, d, n), torch.randn(d, d, k, requires_grad=True)

    def run():
        return F.conv1d(x, W, padding=k // 2)

    counted = cost.convolutional(n, d, kernel=k)
    assert flops(run) == counted.flops
    assert kept_bytes(run, weights=(W,)) == counted.bytes
    assert counted.sequential == 1


def test_restricted_counts_what_the_window_needs_and_blocks_pay_little_more():
    n, d, radius = 512, 16, 16
    counted = cost.restricted(n, d, radius=radius)
    allowed = masks.local(n, radius=radius).sum().item()
    ends = radius * (radius + 1)  # what the windows lack at the two ends
    assert counted.flops == 4 * d * (allowed + ends)
    q, k, v = heads(n, d, 1)
    with sdpa_kernel(SDPBackend.MATH):  # torch's counter knows no FLOPs for the fused CPU kernel
        blocked = flops(lambda: local_attention(q, k, v, radius=radius))
    assert counted.flops < blocked < 1.6 * counted.flops
    assert counted.flops < cost.self_attention(n, d).flops / 10
    assert cost.restricted(9, d, radius=50) == cost.self_attention(9, d)


def layers_needed(n, steps_of_layer):
    """Breadth-first search: after how many layers does a position feel one n − 1 places away?"""
    felt, layers = {0}, 0
    while n - 1 not in felt:
        felt = {i + step for i in felt for step in steps_of_layer(layers)}
        layers += 1
    return layers


@pytest.mark.parametrize("n", [2, 3, 9, 10, 28, 50])
@pytest.mark.parametrize("kernel", [3, 5, 7])
def test_path_lengths_by_search(n, kernel):
    r = kernel // 2
    near = range(-r, r + 1)
    contiguous = cost.convolutional(n, 4, kernel=kernel, dilated=False).path
    assert contiguous == layers_needed(n, lambda layer: near)
    dilated = cost.convolutional(n, 4, kernel=kernel).path
    assert dilated == layers_needed(n, lambda layer: [s * kernel**layer for s in near])
    assert cost.restricted(n, 4, radius=r).path == layers_needed(n, lambda layer: near)
    assert cost.self_attention(n, 4).path == layers_needed(n, lambda layer: range(-n, n + 1))


def test_table_1_orders():
    # Doubling n: self-attention ×4, the others ×2. Doubling d: recurrent and convolutional ×4.
    for layer, by_n, by_d in (
        (cost.self_attention, 4, 2),
        (cost.recurrent, 2, 4),
        (lambda n, d: cost.convolutional(n, d, kernel=3), 2, 4),
        (lambda n, d: cost.restricted(n, d, radius=4), 2, 2),
    ):
        base = layer(64, 32).flops
        assert layer(128, 32).flops == by_n * base
        assert layer(64, 64).flops == by_d * base
    # "self-attention layers are faster than recurrent layers when n is smaller than d"
    assert cost.self_attention(63, 64).flops < cost.recurrent(63, 64).flops
    assert cost.self_attention(65, 64).flops > cost.recurrent(65, 64).flops


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cost.convolutional(5, 4, kernel=2), "odd and at least 3, found 2"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(("length", "window"), [(5, None), (5, 2), (8, 3), (1, None)])
def test_training_flops_of_attention_are_those_of_the_keys_that_are_seen(length, window):
    sizes = {"weights": 100, "depth": 3, "width": 16, "length": length}
    mask = masks.causal(length)
    if window is not None:
        mask &= masks.local(length, radius=window - 1)
    found = cost.training_flops(length, **sizes, window=window)
    products = 2 * 3 * 16 * mask.sum().item()  # scores and mixture, layers, width
    assert found == pytest.approx(3 * 2 * (length * 100 + products))


@pytest.mark.parametrize("parts", [{}, {"gated": True, "activation": "silu", "kv_heads": 2}])
def test_training_flops_of_matrices_are_those_that_torch_counts(parts):
    config = GPTConfig(vocabulary=50, width=16, depth=2, heads=4, positions=6, **parts)
    model, tokens = GPT(config), torch.randint(50, (3, 6))
    with FlopCounterMode(display=False) as counter:
        model(tokens).sum().backward()
    counts = counter.get_flop_counts()["Global"]
    products = counts[torch.ops.aten.mm] + counts.get(torch.ops.aten.addmm, 0)  # bmm: attention
    weights = sum(w.numel() for w in model.stack.parameters() if w.ndim == 2)
    sizes = {"weights": weights, "depth": 2, "width": 16, "length": 6}
    attended = cost.training_flops(18, **{**sizes, "weights": 1}) - 6 * 18
    assert cost.training_flops(18, **sizes, vocabulary=50) - attended == pytest.approx(products)
    assert cost.training_flops(18, **sizes) == pytest.approx(products + attended - 6 * 18 * 50 * 16)
