"""QuickStack computes what `Stack` computes, and steps aside for whatever it does not know."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from accelerate.hooks import ModelHook, add_hook_to_module
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrize, prune
from torch.nn.utils.parametrizations import weight_norm

from coursekit.biases import RelativeBias
from coursekit.blocks import FeedForward, Stack
from coursekit.cache import StackCache
from coursekit.decoding.fast_step import QuickStack
from coursekit.positions import Rotary

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
        {"gated": True, "activation": F.silu},
        {"gated": True, "bias": False, "cross_attention": True, "norm": "post"},
        {"rotary": Rotary(width=4)},
        {"heads": 6, "kv_heads": 2, "rotary": Rotary(width=2, layout="halves"), "bias": False},
        {"heads": 6, "kv_heads": 1, "cross_attention": True, "norm": "post"},
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
        net(
            x[:, :2],
            memory,
            causal=True,
            cache=cache,
            mask=None,
            **given,
            **({} if "kv_heads" in choices else {"bias": bias(2)}),
        )
    for read in range(2, 6):
        mask = MASK[:, None, None, : read + 1] if masked else None
        shared = {"mask": mask, **given}
        shared |= {} if "kv_heads" in choices else {"bias": bias(1, read + 1)}
        new = x[:, read : read + 1]
        expected = net(new, memory, causal=True, cache=slow, **shared)
        torch.testing.assert_close(quick(new, fast, **shared), expected)
    assert fast.length == slow.length == 6


def test_a_bias_for_grouped_heads_is_left_to_the_stack():
    net, x, bias = stack(heads=6, kv_heads=2), torch.randn(B, 2, D).double(), torch.randn(6, 1, 2)
    slow, fast = StackCache(2), StackCache(2)
    for cache in (slow, fast):
        net(x[:, :1], causal=True, cache=cache)
    expected = net(x[:, 1:], causal=True, cache=slow, bias=bias.double())
    torch.testing.assert_close(QuickStack.of(net)(x[:, 1:], fast, bias=bias.double()), expected)


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


def own_forward(net: Stack) -> None:
    feed = net.blocks[1].feed_forward
    plain = feed.forward
    feed.forward = lambda x: 2 * plain(x)


def another_norm(net: Stack) -> None:
    net.blocks[0].feed_forward.norm = nn.LayerNorm(20).double()


def head_scale(net: Stack) -> None:
    net.blocks[1].head_scale = nn.Parameter(torch.tensor([0.5, 1.0, 2.0]).double())


def parametrized(net: Stack) -> None:
    class Twice(nn.Module):
        def forward(self, weight):
            return 2 * weight

    parametrize.register_parametrization(net.blocks[0].feed_forward.contract, "weight", Twice())


def own_attribute(net: Stack) -> None:
    net.blocks[0].self_attention.scale = 2.0


def new_weights(net: Stack) -> None:
    other = {name: 2 * tensor for name, tensor in net.state_dict().items()}
    net.load_state_dict(other, assign=True)


def new_data(net: Stack) -> None:
    net.blocks[1].feed_residual.norm.weight.data = torch.full((D,), 3.0).double()


def in_training(net: Stack, part: str, chance: float = 0.5) -> None:
    """Only the draw itself may differ, so the tests below compare under one seed."""
    net.train()
    for module in net.modules():
        if isinstance(getattr(module, part, None), float):
            setattr(module, part, chance)


TAMPERING = {
    "a module": own_module,
    "a forward": own_forward,
    "a norm": another_norm,
    "a linear for a norm": lambda net: setattr(net, "final", nn.Linear(D, D).double()),
    "another placement": lambda net: setattr(net.blocks[1].feed_residual, "placement", "post"),
    "a norm after": lambda net: setattr(
        net.blocks[0].self_residual, "outer_norm", nn.LayerNorm(D).double()
    ),
    "head scale": head_scale,
    "parametrization": parametrized,
    "weight norm": lambda net: weight_norm(net.blocks[0].feed_forward.expand),
    "pruning": lambda net: prune.l1_unstructured(net.blocks[0].feed_forward.expand, "weight", 0.5),
    "hook": lambda net: net.blocks[0].self_attention.register_forward_hook(
        lambda module, inputs, output: 2 * output
    ),
    "pre-hook": lambda net: net.blocks[0].feed_forward.register_forward_pre_hook(
        lambda module, inputs: 2 * inputs[0]
    ),
    "hook of accelerate": lambda net: add_hook_to_module(net.blocks[1].feed_forward, Doubling()),
    "backward hook": lambda net: net.blocks[0].register_full_backward_hook(lambda *_: None),
    "dropout": lambda net: in_training(net, "p"),
    "attention dropout": lambda net: in_training(net, "dropout"),
    "drop path": lambda net: in_training(net, "drop_path"),
    "quantized": lambda net: torch.ao.quantization.quantize_dynamic(
        net.float(), {nn.Linear}, inplace=True
    ).double(),
}  # fmt: skip


class Doubling(ModelHook):
    def post_forward(self, module, output):
        return 2 * output


@pytest.mark.parametrize("change", TAMPERING.values(), ids=TAMPERING)
def test_it_steps_aside_for_what_was_put_in(change):
    net = stack()
    assert QuickStack.of(net) is not None
    change(net)
    assert QuickStack.of(net) is None


def test_it_steps_aside_for_hooks_on_all_modules_and_for_another_class(monkeypatch):
    net, x = stack(), torch.randn(B, 1, D).double()
    quick = QuickStack.of(net)
    seen = []
    with nn.modules.module.register_module_forward_hook(lambda module, *_: seen.append(module)):
        assert QuickStack.of(net) is None
        quick(x, StackCache(2))
    assert net.blocks[1].feed_forward in seen
    assert QuickStack.of(net) is not None
    monkeypatch.setattr(FeedForward, "forward", lambda self, x: x)
    assert QuickStack.of(net) is None
    torch.testing.assert_close(quick(x, StackCache(2)), net(x))


def no_residual(net):
    net.blocks[1].feed_residual.skip = False


def other_eps(net):
    net.blocks[1].feed_residual.norm.eps = 1.0


LATER = TAMPERING | {
    "eps": other_eps,
    "attribute": own_attribute,
    "residual": no_residual,
    "new weights": new_weights,
    "new data": new_data,
}
del LATER["quantized"]  # makes it a network of other numbers, which the cache does not hold


@pytest.mark.parametrize("change", LATER.values(), ids=LATER)
@pytest.mark.parametrize("cross", [False, True])
def test_a_stack_that_is_changed_later_is_run_as_it_stands(change, cross):
    net, x = stack(cross_attention=cross, norm="pre"), torch.randn(B, 3, D).double()
    memory = torch.randn(B, M, D).double() if cross else None
    quick, slow, fast = QuickStack.of(net), StackCache(2), StackCache(2)
    for cache in (slow, fast):
        net(x[:, :1], memory, causal=True, cache=cache)
    before = quick(x[:, 1:2], fast, memory)
    torch.testing.assert_close(net(x[:, 1:2], memory, causal=True, cache=slow), before)
    change(net)
    torch.manual_seed(2)
    expected = net(x[:, 2:], memory, causal=True, cache=slow)
    torch.manual_seed(2)
    torch.testing.assert_close(quick(x[:, 2:], fast, memory), expected)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["pre", "post", "none", "normformer", "dlcl"]),
    st.booleans(),
    st.fixed_dictionaries({}, optional={
        "dropout": st.sampled_from([0.0, 0.3]), "attention_dropout": st.sampled_from([0.0, 0.3]),
        "hidden_dropout": st.sampled_from([0.0, 0.3]), "drop_path": st.sampled_from([0.0, 0.5]),
        "rms_norm": st.booleans(), "bias": st.booleans(), "attention_bias": st.booleans(),
        "kv_heads": st.just(1), "head_width": st.just(5), "value_width": st.just(3),
        "rotary": st.sampled_from([Rotary(width=4), Rotary(width=4, layout="halves")]),
        "scale": st.just(1.0), "residual": st.booleans(), "final_norm": st.booleans(),
        "gated": st.booleans(),
        "activation": st.sampled_from([F.gelu, torch.tanh]),
    }),
    st.lists(st.sampled_from(sorted(set(LATER) - {"weight norm", "parametrization", "pruning"})),
             max_size=2, unique=True),
    st.booleans(),
)  # fmt: skip
@example("pre", True, {}, ["attribute"], False)  # a scale of its own, in one of two attentions
def test_whatever_the_stack_it_is_quick_and_right_or_not_at_all(norm, cross, more, tampering, late):
    more = {name: more[name] for name in more if name != "head_width" or "rotary" not in more}
    net = stack(norm=norm, cross_attention=cross, **more)
    x, memory = torch.randn(B, 2, D).double(), torch.randn(B, M, D).double() if cross else None
    quick = QuickStack.of(net) if late else None
    try:
        for name in tampering:
            LATER[name](net)
    except AttributeError:
        return  # no such part here
    quick = quick if late else QuickStack.of(net)
    if quick is None:
        return
    outs = []
    for run in (partial(net, causal=True), quick):
        cache = StackCache(2)
        torch.manual_seed(1)
        net(x[:, :1], memory, causal=True, cache=cache)
        outs.append(run(x[:, 1:], memory=memory, cache=cache))
    torch.testing.assert_close(*outs)


@pytest.mark.parametrize(
    "choices",
    [
        {"norm": "none"},
        {"norm": "normformer"},
        {"norm": "dlcl"},
        {"residual": False},
        {"value_width": 3},
        {"feed_forward": False},
        {"self_attention": False},
    ],
)
def test_it_steps_aside_for_other_blocks(choices):
    assert QuickStack.of(stack(**choices)) is None


def test_it_steps_aside_where_blocks_turn_by_different_positions():
    net, x = stack(rotary=Rotary(width=4)), torch.randn(B, 1, D).double()
    assert QuickStack.of(net) is not None
    net.blocks[1].self_attention.rotary = Rotary(width=4, base=50.0)
    assert QuickStack.of(net) is None and net(x).shape == x.shape
