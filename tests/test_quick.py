"""QuickStack computes what `Stack` computes, and steps aside for whatever it does not know."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from coursekit.blocks import Stack, StackCache
from coursekit.positions import RelativeBias, Rotary
from coursekit.quick import QuickStack

B, D, H, M = 3, 12, 3, 4
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1]]).bool()
MEMORY_MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]).bool()[:, None, None]


def stack(**choices) -> Stack:
    torch.manual_seed(0)
    net = Stack(**{"depth": 2, "width": D, "heads": H, "hidden": 20} | choices).double()
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.4)
    return net.eval()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"norm": "post", "activation": F.gelu, "eps": 1e-2},
        {"norm": "pre", "final_norm": False, "activation": partial(F.gelu, approximate="tanh")},
        {"norm": "post", "final_norm": True, "dropout": 0.5},
        {"cross_attention": True},
        {"cross_attention": True, "norm": "post"},
        {"cross_attention": True, "bias": False, "rms_norm": True, "scale": 1.0, "head_width": 5},
    ],
)
def test_it_is_the_stack(choices, masked):
    torch.manual_seed(1)
    net, x, bias = stack(**choices), torch.randn(B, 6, D).double(), RelativeBias(heads=H).double()
    cross = choices.get("cross_attention", False)
    memory = torch.randn(B, M, D).double() if cross else None
    given = {"memory_mask": MEMORY_MASK} if cross and masked else {}
    quick = QuickStack.of(net)
    slow, fast = StackCache(2), StackCache(2)
    for cache in (slow, fast):  # both read the beginning with the stack
        net(x[:, :2], memory, causal=True, cache=cache, mask=None, bias=bias(2), **given)
    for read in range(2, 6):
        mask = MASK[:, None, None, : read + 1] if masked else None
        shared = {"mask": mask, "bias": bias(1, read + 1), **given}
        new = x[:, read : read + 1]
        expected = net(new, memory, causal=True, cache=slow, **shared)
        torch.testing.assert_close(quick(new, fast, **shared), expected)
    assert fast.length == slow.length == 6


def test_gradients_flow_through_it_as_through_the_stack():
    net, x = stack(), torch.randn(B, 1, D).double()
    for run in (partial(net, causal=True, cache=StackCache(2)),
                lambda x: QuickStack.of(net)(x, StackCache(2))):  # fmt: skip
        net.zero_grad()
        run(x).square().sum().backward()
        gradients = [parameter.grad.clone() for parameter in net.parameters()]
    net.zero_grad()
    net(x, causal=True).square().sum().backward()
    for parameter, gradient in zip(net.parameters(), gradients):
        torch.testing.assert_close(parameter.grad, gradient)


def test_what_it_leaves_behind_are_ordinary_tensors():
    torch.manual_seed(1)
    net, x, cache = stack(), torch.randn(B, 3, D).double(), StackCache(2)
    quick = QuickStack.of(net)
    with torch.no_grad():
        for read in range(3):  # the first makes room in the cache, the others make more
            out = quick(x[:, read : read + 1], cache)
    head = nn.Linear(D, 1).double()
    head(out).sum().backward()  # may be learned from
    assert head.weight.grad.abs().sum() > 0
    keys = cache.own[0].keys.clone()
    cache.reorder(torch.tensor([1, 0, 2]))  # may be written into
    torch.testing.assert_close(cache.own[0].keys, keys[[1, 0, 2]])


def test_new_weights_are_seen():
    net, x = stack(), torch.randn(B, 1, D).double()
    quick = QuickStack.of(net)
    net.load_state_dict({name: 2 * tensor for name, tensor in net.state_dict().items()})
    torch.testing.assert_close(quick(x, StackCache(2)), net(x))


def own_module(net: Stack) -> None:
    net.blocks[1].feed_forward.expand = nn.Sequential(net.blocks[1].feed_forward.expand)


@pytest.mark.parametrize(
    "change",
    [
        own_module,
        lambda net: net.blocks[0].self_attention.register_forward_hook(lambda *_: None),
        lambda net: net.blocks[0].register_forward_pre_hook(lambda *_: None),
        lambda net: net.blocks[1].feed_residual.dropout.train(),
    ],
)
def test_it_steps_aside_for_what_was_put_in(change):
    net = stack(dropout=0.1)
    assert QuickStack.of(net) is not None
    change(net)
    assert QuickStack.of(net) is None


@pytest.mark.parametrize(
    "choices",
    [
        {"norm": "none"},
        {"norm": "normformer"},
        {"norm": "dlcl"},
        {"residual": False},
        {"kv_heads": 1},
        {"rotary": Rotary(width=4)},
        {"feed_forward": False},
        {"self_attention": False},
    ],
)
def test_it_steps_aside_for_other_blocks(choices):
    assert QuickStack.of(stack(**choices)) is None
