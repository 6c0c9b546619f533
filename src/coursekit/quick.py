"""A stack of blocks without its modules: the arithmetic of a decoding step, and nothing else.

A step reads one token. That is so little work that a network of this course's size spends a good
part of the step around it: each module call, check and closure costs microseconds, and there are a
hundred. `QuickStack` takes the weights out of a `Stack` once and writes down what is computed with
them. And it cuts each matrix, because torch does not share out a product with few rows: one core
reads the whole matrix, the others wait. Cut into parts, the same product is a batch of products,
and those are shared out. It is the same computation as `Stack.forward` in eval mode, and tests
hold the two equal. The book explains it in "How fast is it?".
Shapes: B batch, S positions with the past, M length of the memory, D width, H heads, P parts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import NamedTuple

import torch
from torch import Tensor, nn

from coursekit.attention import fused_attention
from coursekit.blocks import Block, FeedForward, Residual, Stack, StackCache
from coursekit.heads import MultiHeadAttention

Map = Callable[[Tensor], Tensor]
Split = tuple[Tensor, Tensor, Tensor]  # queries, keys, values

PARTS = 8  # into how many a matrix is cut at most


class Layer(NamedTuple):
    """The weights of one `Block`, each bound to its function."""

    norm: Map
    qkv: Callable[[Tensor], Split]
    out: Map
    cross_norm: Map | None
    cross_query: Map | None
    cross_out: Map | None
    feed_norm: Map
    expand: Map
    activation: Map
    contract: Map
    scale: float


class QuickStack:
    """Run one new token through a `Stack` in eval mode, behind a cache that holds the others."""

    def __init__(self, stack: Stack) -> None:
        self.post = stack.blocks[0].self_residual.placement == "post"
        self.layers = [_layer(block) for block in stack.blocks]
        self.final = _norm(stack.final)

    def __call__(
        self,
        x: Tensor,
        cache: StackCache,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        """x (B, 1, D) -> (B, 1, D); the masks and the bias are those of `Stack`."""
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
        post = self.post
        for layer, own, memory in zip(self.layers, cache.own, cache.memory, strict=True):
            q, k, v = layer.qkv(x if post else layer.norm(x))  # 3 × (B, H, 1, Dh)
            k, v = own.append(k, v)  # (B, H, S, Dh)
            y = fused_attention(q, k, v, mask, bias=bias, scale=layer.scale)  # (B, H, 1, Dh)
            x = x + layer.out(y.transpose(1, 2).flatten(1))  # (B, D)
            if post:
                x = layer.norm(x)
            if layer.cross_query is not None:
                q = layer.cross_query(x if post else layer.cross_norm(x))  # (B, H·Dh)
                k, v = memory.keys, memory.values  # (B, H, M, Dh): computed with the prompt
                q = q.view(*k.shape[:2], 1, -1)  # (B, H, 1, Dh)
                y = fused_attention(q, k, v, memory_mask, scale=layer.scale)  # (B, H, 1, Dh)
                x = x + layer.cross_out(y.transpose(1, 2).flatten(1))  # (B, D)
                if post:
                    x = layer.cross_norm(x)
            y = x if post else layer.feed_norm(x)
            x = x + layer.contract(layer.activation(layer.expand(y)))  # (B, D)
            if post:
                x = layer.feed_norm(x)
        return self.final(x)  # (B, D)

    @classmethod
    def of(cls, stack: Stack) -> QuickStack | None:
        """Return the quick form of `stack`, or None if it has anything that is not written above.

        So it is with dropout at work, and once somebody has put a module of their own, or a hook,
        into the stack.
        """
        known = (Stack, Block, Residual, FeedForward, MultiHeadAttention, nn.ModuleList, nn.Linear)
        known += (nn.LayerNorm, nn.RMSNorm, nn.Dropout, nn.Identity)
        for module in stack.modules():
            if type(module) not in known or module._forward_hooks or module._forward_pre_hooks:
                return None
            if isinstance(module, nn.Dropout) and module.training and module.p:
                return None
            if isinstance(module, MultiHeadAttention) and (
                module.rotary is not None or len(set(module.sizes)) > 1
            ):
                return None
            if isinstance(module, Residual) and not (
                module.placement in ("pre", "post") and module.keep
            ):
                return None
        whole = ("self_attention", "feed_forward")
        if not all(hasattr(block, part) for block in stack.blocks for part in whole):
            return None
        return cls(stack)


def _layer(block: Block) -> Layer:
    own, feed = block.self_attention, block.feed_forward
    cross = {"cross_norm": None, "cross_query": None, "cross_out": None}
    if hasattr(block, "cross_attention"):
        attention = block.cross_attention
        cross = {
            "cross_norm": _norm(block.cross_residual.norm),
            "cross_query": _linear(*attention._part(0)),
            "cross_out": _linear(attention.out.weight, attention.out.bias),
        }
    return Layer(
        norm=_norm(block.self_residual.norm),
        qkv=_heads(own.qkv.weight, own.qkv.bias, own.heads),
        out=_linear(own.out.weight, own.out.bias),
        **cross,
        feed_norm=_norm(block.feed_residual.norm),
        expand=_linear(feed.expand.weight, feed.expand.bias),
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


def _heads(weight: Tensor, bias: Tensor | None, heads: int) -> Callable[[Tensor], Split]:
    """Return the function x (B, D) -> queries, keys and values, each (B, H, 1, Dh)."""
    parts = 3 * heads  # the rows of one head are one part: nothing is left to be split
    pieces, offset = _cut(weight, bias, parts)

    def qkv(x: Tensor) -> Split:
        y = torch.baddbmm(offset, x.expand(parts, -1, -1), pieces)  # (3·H, B, Dh)
        return y.view(3, heads, len(x), 1, -1).transpose(1, 2).unbind()

    return qkv


def _norm(module: nn.Module) -> Map:
    if isinstance(module, nn.Identity):
        return lambda x: x
    shape, weight, eps = module.normalized_shape, module.weight, module.eps
    if isinstance(module, nn.RMSNorm):
        return lambda x: torch.rms_norm(x, shape, weight, eps)
    bias = module.bias
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)
