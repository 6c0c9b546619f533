"""A stack of blocks without its modules: the arithmetic of a decoding step, and nothing else.

A step reads one token. That is so little work that a network of this course's size spends most of
the step around it: each module call, check and closure costs microseconds, and there are a hundred.
`QuickStack` takes the weights out of a `Stack` once and writes down what is computed with them. It
is the same computation as `Stack.forward` in eval mode, and tests hold the two equal. The book
explains it in "How fast is it?".
Shapes: B batch, T new tokens, S all of them, M length of the memory, D width, H heads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.attention import fused_attention
from coursekit.blocks import Block, FeedForward, Residual, Stack, StackCache
from coursekit.heads import MultiHeadAttention, merge_heads, split_heads

Map = Callable[[Tensor], Tensor]


class Layer(NamedTuple):
    """The weights of one `Block`, each bound to its function."""

    norm: Map
    qkv: Map
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
    """Run new tokens through a `Stack` in eval mode, behind a cache that already holds a prompt."""

    def __init__(self, stack: Stack) -> None:
        first = stack.blocks[0]
        self.post = first.self_residual.placement == "post"
        self.heads = first.self_attention.heads
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
        """x (B, T, D) -> (B, T, D); the masks and the bias are those of `Stack`, causal."""
        H, post = self.heads, self.post
        for layer, own, memory in zip(self.layers, cache.own, cache.memory, strict=True):
            y = x if post else layer.norm(x)  # (B, T, D)
            q, k, v = (split_heads(part, H) for part in layer.qkv(y).chunk(3, -1))  # (B, H, T, Dh)
            k, v = own.append(k, v)  # (B, H, S, Dh)
            y = fused_attention(q, k, v, mask, causal=True, bias=bias, scale=layer.scale)
            x = x + layer.out(merge_heads(y))  # (B, T, D)
            if post:
                x = layer.norm(x)
            if layer.cross_query is not None:
                q = split_heads(layer.cross_query(x if post else layer.cross_norm(x)), H)
                k, v = memory.keys, memory.values  # (B, H, M, Dh): computed with the prompt
                y = fused_attention(q, k, v, memory_mask, scale=layer.scale)  # (B, H, T, Dh)
                x = x + layer.cross_out(merge_heads(y))  # (B, T, D)
                if post:
                    x = layer.cross_norm(x)
            y = x if post else layer.feed_norm(x)
            x = x + layer.contract(layer.activation(layer.expand(y)))  # (B, T, D)
            if post:
                x = layer.feed_norm(x)
        return self.final(x)

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
            "cross_query": partial(attention._linear, 0),
            "cross_out": _linear(attention.out),
        }
    return Layer(
        norm=_norm(block.self_residual.norm),
        qkv=_linear(own.qkv),
        out=_linear(own.out),
        **cross,
        feed_norm=_norm(block.feed_residual.norm),
        expand=_linear(feed.expand),
        activation=feed.activation,
        contract=_linear(feed.contract),
        scale=own.scale,
    )


def _linear(module: nn.Linear) -> Map:
    return partial(F.linear, weight=module.weight, bias=module.bias)


def _norm(module: nn.Module) -> Map:
    if isinstance(module, nn.Identity):
        return lambda x: x
    shape = module.normalized_shape
    if isinstance(module, nn.RMSNorm):
        return partial(F.rms_norm, normalized_shape=shape, weight=module.weight, eps=module.eps)
    return partial(
        F.layer_norm, normalized_shape=shape, weight=module.weight, bias=module.bias, eps=module.eps
    )
