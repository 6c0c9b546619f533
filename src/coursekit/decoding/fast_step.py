"""A stack of blocks without its modules: the arithmetic of a decoding step, and nothing else.

A step reads one token. That is so little work that a network of this course's size spends a good
part of the step around it: each module call, check and closure costs microseconds, and there are a
hundred. `QuickStack` takes the weights out of a `Stack` once and writes down what is computed with
them. And it cuts each matrix, because torch does not share out a product with few rows: one core
reads the whole matrix, the others wait. Cut into parts, the same product is a batch of products,
and those are shared out. It is the same computation as `Stack.forward` in eval mode, and tests
hold the two equal. A stack in which anything else is at work has no quick form, and one that is
changed later is run as it is. The book explains it in "How fast is it?".
Shapes: B batch, S positions with the past, M length of the memory, D width, H heads, P parts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from math import gcd
from operator import getitem, is_not
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules import module as torch_module

from coursekit.attention import fused_attention
from coursekit.blocks import Block, Residual, Stack
from coursekit.cache import StackCache
from coursekit.feed_forward import FeedForward
from coursekit.heads import MultiHeadAttention, Projections
from coursekit.norms import RMSNorm
from coursekit.positions import Rotary

Map = Callable[[Tensor], Tensor]
Split = tuple[Tensor, Tensor, Tensor]  # queries, keys, values

PARTS = 8  # into how many a matrix is cut at most

NORMS = (nn.LayerNorm, nn.RMSNorm, RMSNorm, nn.Identity)
MODULES: tuple[type[nn.Module], ...] = (
    Stack,
    Block,
    Residual,
    FeedForward,
    MultiHeadAttention,
    nn.ModuleList,
    nn.Linear,
)
MODULES += (*NORMS, nn.Dropout, Projections, Rotary)
FORWARD = {kind: kind.forward for kind in MODULES}  # to notice when somebody puts in another
USUAL = vars(nn.Module()).keys()  # what every module has of its own
# What decides in a module, beside its weights, about the result.
CHOICES = {"training", "p", "dropout", "drop_path", "scale", "heads", "rotary", "placement", "skip"}
CHOICES |= {"activation", "eps", "base", "layout"}
PLAIN = {nn.Parameter, Tensor, type(None)}  # what may be among a module's weights
GLOBAL_HOOKS = (  # of all modules
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
    "_global_backward_hooks",
    "_global_backward_pre_hooks",
)
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Cross(NamedTuple):
    """The weights of a `Block`'s cross-attention, each bound to its function."""

    norm: Map
    query: Map
    out: Map
    scale: float


class Layer(NamedTuple):
    """The weights of one `Block`, each bound to its function."""

    norm: Map
    qkv: Callable[[Tensor], Split]
    out: Map
    cross: Cross | None
    feed_norm: Map
    expand: Map
    gate: Map | None
    activation: Map
    contract: Map
    scale: float


class QuickStack:
    """Run one new token through a `Stack` in eval mode, behind a cache that holds the others."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.watch = stack, _Watch(stack)
        blocks: list[Any] = list(stack.blocks)
        self.post = blocks[0].self_residual.placement == "post"
        self.layers = [_layer(block) for block in blocks]
        self.final = _norm(stack.final)
        attention = blocks[0].self_attention
        self.rotary: Rotary | None = attention.rotary
        self.grouped = attention.heads != attention.kv_heads

    def __call__(
        self,
        x: Tensor,
        cache: StackCache,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        """x (B, 1, D) -> (B, 1, D); the memory, the masks and the bias are those of `Stack`.

        The memory's keys and values are in the cache; a stack that was changed reads it once more.
        """
        if self.watch.changed() or (self.grouped and bias is not None):
            given = {"mask": mask, "bias": bias, "cache": cache}
            given |= {} if memory is None else {"memory_mask": memory_mask}
            return self.stack(x, memory, causal=True, **given)
        # Without gradients torch need not keep account of what was changed in place either.
        with torch.inference_mode(not torch.is_grad_enabled()):
            x = self._step(x[:, 0], cache, mask, memory_mask, bias)  # (B, D)
        return x[:, None].clone()  # (B, 1, D): an ordinary tensor again

    def _step(
        self,
        x: Tensor,
        cache: StackCache,
        mask: Tensor | None,
        memory_mask: Tensor | None,
        bias: Tensor | None,
    ) -> Tensor:
        """x (B, D) -> (B, D)."""
        post, rotary = self.post, self.rotary
        if rotary is not None:  # one position for all layers: its angles are computed once
            place = torch.tensor([cache.own[0].length], device=x.device)
            sin, cos = rotary.waves(place, x.dtype)  # 2 × (1, Dh / 2)
        for layer, own, memory in zip(self.layers, cache.own, cache.memory, strict=True):
            # The queries of a group share keys and values, and are beside each other as rows: G.
            q, k, v = layer.qkv(x if post else layer.norm(x))  # (B, Hkv, G or 1, Dh)
            if rotary is not None:
                q, k = rotary.turn(q, sin, cos), rotary.turn(k, sin, cos)
            k, v = own.append(k, v)  # (B, Hkv, S, Dh)
            y = _attend(q, k, v, mask, bias, scale=layer.scale)  # (B, Hkv, G, Dh)
            x = x + layer.out(y.flatten(1))  # (B, D)
            if post:
                x = layer.norm(x)
            if (cross := layer.cross) is not None:
                q = cross.query(x if post else cross.norm(x))  # (B, H·Dh)
                k, v = memory.stored()  # (B, Hkv, M, Dh): computed with the prompt
                q = q.view(*k.shape[:2], -1, k.shape[-1])  # (B, Hkv, G, Dh)
                y = _attend(q, k, v, memory_mask, scale=cross.scale)  # (B, Hkv, G, Dh)
                x = x + cross.out(y.flatten(1))  # (B, D)
                if post:
                    x = cross.norm(x)
            y = x if post else layer.feed_norm(x)
            if layer.gate is None:
                y = layer.activation(layer.expand(y))  # (B, hidden)
            else:
                y = layer.activation(layer.gate(y)) * layer.expand(y)  # (B, hidden)
            x = x + layer.contract(y)  # (B, D)
            if post:
                x = layer.feed_norm(x)
        return self.final(x)  # (B, D)

    @classmethod
    def of(cls, stack: Stack) -> QuickStack | None:
        """Return the quick form of `stack`, or None if it has anything that is not written above.

        So it is with dropout or drop path at work, and once somebody has put a module, a weight, a
        method or a hook of their own into the stack.
        """
        return cls(stack) if _is_plain(stack) else None


def _is_plain(stack: Stack) -> bool:
    """Whether all that `Stack.forward` does is what `QuickStack` does."""
    for module in stack.modules():
        kind = type(module)
        if kind not in MODULES or any(getattr(module, hooks) for hooks in HOOKS):
            return False
        if any(callable(getattr(kind, name, None)) for name in vars(module).keys() - USUAL):
            return False  # a method of its own comes before that of its class
        if not {type(weight) for weight in module._parameters.values()} <= PLAIN:
            return False  # tensor subclasses: quantized, distributed
        if module.training and _chance(module):
            return False
    blocks: list[Any] = list(stack.blocks)
    places: set[Any] = set()
    rotaries: set[Any] = set()
    if not all(hasattr(b, "self_attention") and hasattr(b, "feed_forward") for b in blocks):
        return False
    if len({hasattr(block, "cross_attention") for block in blocks}) > 1:
        return False
    norms, linears = [stack.final], []
    for block in blocks:
        feed = block.feed_forward
        linears += [feed.expand, feed.contract] + [feed.gate] * (feed.gate is not None)
        if block.head_scale is not None or type(feed.norm) is not nn.Identity:
            return False
        for part in ("self", "cross", "feed"):
            residual = getattr(block, f"{part}_residual", None)
            if residual is None:
                continue
            norms.append(residual.norm)
            places.add((residual.placement, residual.skip, type(residual.outer_norm)))
            attention = getattr(block, f"{part}_attention", None)
            if attention is not None:
                linears += [attention.qkv, attention.out]
                heads = (attention.heads, attention.kv_heads, attention.kv_heads)
                if len({size / count for size, count in zip(attention.sizes, heads)}) > 1:
                    return False  # heads of several widths
                if part == "self":
                    rotaries.add(attention.rotary)
    allowed = ({("pre", True, nn.Identity)}, {("post", True, nn.Identity)})
    return (
        places in allowed
        and len(rotaries) == 1
        and stack.mixture is None
        and all(type(norm) in NORMS for norm in norms)
        and all(type(linear) in (nn.Linear, Projections) for linear in linears)
        and not _Watch.everywhere()
    )


def _chance(module: nn.Module) -> float:
    """With what probability a module leaves something out in training."""
    if isinstance(module, nn.Dropout):
        return module.p
    return getattr(module, "drop_path", 0.0) or getattr(module, "dropout", 0.0)


class _Watch:
    """Notices, in a hundredth of a step's time, that a stack is not what it was.

    It looks at some hundred places in each step; `map` walks through them without Python's loop.
    """

    def __init__(self, stack: Stack) -> None:
        modules = list(stack.modules())
        self.hooks = [getattr(module, hooks) for module in modules for hooks in HOOKS]
        self.inside = [vars(module) for module in modules]
        self.sizes = list(map(len, self.inside))
        # In a module with no other choice it makes no difference whether it is in training.
        seen = [
            (own, name)
            for own in self.inside
            if len(own.keys() & CHOICES) > 1
            for name in own.keys() & CHOICES
        ]
        for module in modules:
            for own in (module._modules, module._parameters):
                seen += zip(repeat(own), own)
        self.owners, self.names = [own for own, _ in seen], [name for _, name in seen]
        self.values = list(map(getitem, self.owners, self.names))
        self.weights = [value for value in self.values if isinstance(value, Tensor)]
        self.places = list(map(Tensor.data_ptr, self.weights))

    def changed(self) -> bool:
        """Whether there is a hook now, or another attribute, module or weight."""
        return (
            any(self.hooks)
            or self.sizes != list(map(len, self.inside))
            or any(map(is_not, map(dict.get, self.owners, self.names), self.values))
            or self.places != list(map(Tensor.data_ptr, self.weights))
            or self.everywhere()
        )

    @staticmethod
    def everywhere() -> bool:
        """Whether there are hooks on all modules, or a class has another `forward`."""
        return any(getattr(torch_module, name) for name in GLOBAL_HOOKS) or any(
            kind.forward is not forward for kind, forward in FORWARD.items()
        )


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    scale: float,
) -> Tensor:
    """`fused_attention`, whose checks cost: those of shapes that we made are left out."""
    if mask is None and bias is None:
        return F.scaled_dot_product_attention(q, k, v, scale=scale)
    return fused_attention(q, k, v, mask, bias=bias, scale=scale)


def _layer(block: Block) -> Layer:
    own, feed = block.self_attention, block.feed_forward
    cross = None
    if hasattr(block, "cross_attention"):
        attention = block.cross_attention
        cross = Cross(
            norm=_norm(block.cross_residual.norm),
            query=_linear(*attention.qkv.part(0)),
            out=_linear(attention.out.weight, attention.out.bias),
            scale=attention.scale,
        )
    return Layer(
        norm=_norm(block.self_residual.norm),
        qkv=_heads(own.qkv.weight, own.qkv.bias, own.heads, own.kv_heads),
        out=_linear(own.out.weight, own.out.bias),
        cross=cross,
        feed_norm=_norm(block.feed_residual.norm),
        expand=_linear(feed.expand.weight, feed.expand.bias),
        gate=None if feed.gate is None else _linear(feed.gate.weight, feed.gate.bias),
        activation=feed.activation,
        contract=_linear(feed.contract.weight, feed.contract.bias),
        scale=own.scale,
    )


def _cut(weight: Tensor, bias: Tensor | None, parts: int) -> tuple[Tensor, Tensor]:
    """Weight (out, D), bias (out,) -> (P, D, out / P), (P, 1, out / P): views, for `baddbmm`."""
    bias = weight.new_zeros(len(weight)) if bias is None else bias
    return weight.unflatten(0, (parts, -1)).transpose(1, 2), bias.view(parts, 1, -1)


def _linear(weight: Tensor, bias: Tensor | None) -> Map:
    """Return the function x (B, D) -> x Wᵀ + b (B, out)."""
    width = len(weight)
    parts = gcd(width, PARTS)
    pieces, offset = _cut(weight, bias, parts)

    def linear(x: Tensor) -> Tensor:
        y = torch.baddbmm(offset, x.expand(parts, -1, -1), pieces)  # (P, B, out / P)
        return y.transpose(0, 1).reshape(-1, width)  # (B, out)

    return linear


def _heads(
    weight: Tensor, bias: Tensor | None, heads: int, groups: int
) -> Callable[[Tensor], Split]:
    """Return the function x (B, D) -> queries (B, Hkv, G, Dh), keys and values (B, Hkv, 1, Dh)."""
    parts = heads + 2 * groups  # the rows of one head are one part: nothing is left to be split
    pieces, offset = _cut(weight, bias, parts)

    def qkv(x: Tensor) -> Split:
        y = torch.baddbmm(offset, x.expand(parts, -1, -1), pieces)  # (H + 2·Hkv, B, Dh)
        y = y.transpose(0, 1)  # (B, H + 2·Hkv, Dh)
        q, k, v = y[:, :heads], y[:, heads : heads + groups], y[:, heads + groups :]
        return q.unflatten(1, (groups, -1)), k[:, :, None], v[:, :, None]

    return qkv


def _norm(module: Any) -> Map:
    if isinstance(module, nn.Identity):
        return lambda x: x
    weight, eps = module.weight, module.eps
    if isinstance(module, RMSNorm):
        return lambda x: torch.rms_norm(x, (len(weight),), weight, eps)
    shape = module.normalized_shape
    if isinstance(module, nn.RMSNorm):
        return lambda x: torch.rms_norm(x, shape, weight, eps)
    bias = module.bias
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)
