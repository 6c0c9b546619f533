"""GPT: a stack of causal blocks that predicts the next token.

Radford et al. (2018) put the norm after each sublayer ("post"); GPT-2 (Radford et al., 2019) moved
it in front, added one at the top, and scaled the initial weights of the layers that write into the
residual stream by 1/√N, N being their number. The rest is the same: learned positions, GELU in its
tanh form, and one matrix that is embedding and output at once. Each change of later models is a
field of `GPTConfig`. `GPTConfig.llama()` sets those of the first Llama (Touvron et al., 2023):
rotary positions, the root mean square as norm, SwiGLU, no biases, an output matrix of its own;
fewer heads for keys and values, and a window, came later. The book explains it in "GPT".
Shapes: B batch, T length, S length with the past, D width, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from weakref import ref

import torch
from torch import Tensor, nn

from coursekit import masks
from coursekit._base.checks import check_config, check_keep, check_shape, check_tokens
from coursekit.activations import ACTIVATIONS
from coursekit.blocks import Block, Stack
from coursekit.cache import StackCache
from coursekit.decoding.fast_step import QuickStack
from coursekit.decoding.generation import State
from coursekit.embedding import WordEmbedding
from coursekit.positions import LearnedPosition, NoPosition, Rotary

Activation = Literal["gelu", "gelu_tanh", "relu", "silu"]


@dataclass(frozen=True, kw_only=True)
class GPTConfig:
    """Sizes and choices of a `GPT`; the defaults are GPT-2's smallest."""

    vocabulary: int = 50_257
    width: int = 768
    depth: int = 12
    heads: int = 12
    kv_heads: int | None = None  # fewer than `heads`: groups of heads share keys and values
    head_width: int | None = None  # None is width / heads
    hidden: int | None = None  # inside the feed-forward network; None is its own default
    positions: int = 1024  # how many are learned; rotary ones have no end
    rotary: bool = False
    rotary_base: float = 10_000.0
    window: int | None = None  # how many tokens a token sees, itself included; None: all before it
    norm: Literal["pre", "post"] = "pre"
    rms_norm: bool = False
    activation: Activation = "gelu_tanh"
    gated: bool = False  # a second linear map times the activated one; with "silu" it is SwiGLU
    bias: bool = True  # of every linear map in the blocks,
    attention_bias: bool | None = None  # unless this says otherwise for those of the attention
    tied: bool = True  # the embedding is the output matrix, too
    dropout: float = 0.1  # after each sublayer
    attention_dropout: float = 0.1  # on the attention weights
    embedding_dropout: float = 0.1
    eps: float = 1e-5

    def __post_init__(self) -> None:
        check_config(self, positive=("rotary_base",))

    @classmethod
    def gpt1(cls) -> GPTConfig:
        """117M: 40,000 merges, 478 bytes and symbols; 512 positions; post-norm."""
        return cls(vocabulary=40_478, positions=512, norm="post")

    @classmethod
    def gpt2(cls) -> GPTConfig:
        """124M (the paper says 117M), the first row of GPT-2's Table 2."""
        return cls()

    @classmethod
    def gpt2_medium(cls) -> GPTConfig:
        """355M (the paper says 345M)."""
        return cls(width=1024, depth=24, heads=16)

    @classmethod
    def gpt2_large(cls) -> GPTConfig:
        """774M (the paper says 762M)."""
        return cls(width=1280, depth=36, heads=20)

    @classmethod
    def gpt2_xl(cls) -> GPTConfig:
        """1558M (the paper says 1542M)."""
        return cls(width=1600, depth=48, heads=25)

    @classmethod
    def llama(cls, **changes: Any) -> GPTConfig:
        """6.7B, the smallest of Touvron et al. (2023); `changes` make it smaller or newer.

        With another `width` and no `hidden`, that is two thirds of 4 · width.
        """
        sizes = {
            "vocabulary": 32_000, "width": 4096, "depth": 32, "heads": 32,
            "hidden": None if "width" in changes else 11_008, "positions": 2048,
        }  # fmt: skip
        parts = {
            "rotary": True, "rms_norm": True, "activation": "silu", "gated": True, "bias": False,
            "tied": False, "eps": 1e-6,
        }  # fmt: skip
        none = dict.fromkeys(("dropout", "attention_dropout", "embedding_dropout"), 0.0)
        return cls(**{**sizes, **parts, **none, **changes})


class GPT(nn.Module):
    """Token and position vectors, causal blocks, and the token vectors again as output.

    Rotary positions are in the blocks; untied, the output has vectors of its own.
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = WordEmbedding(config.vocabulary, config.width)
        self.positions = (
            NoPosition()
            if config.rotary
            else LearnedPosition(size=config.positions, width=config.width)
        )
        self.dropout = nn.Dropout(config.embedding_dropout)
        self.stack = Stack(
            depth=config.depth,
            width=config.width,
            heads=config.heads,
            kv_heads=config.kv_heads,
            head_width=config.head_width,
            rotary=_rotary(config) if config.rotary else None,
            hidden=config.hidden,
            norm=config.norm,
            activation=ACTIVATIONS[config.activation],
            gated=config.gated,
            bias=config.bias,
            attention_bias=config.attention_bias,
            rms_norm=config.rms_norm,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            hidden_dropout=0.0,
            eps=config.eps,
        )
        self.output = None
        if not config.tied:
            self.output = nn.Linear(config.width, config.vocabulary, bias=False)
        self._initialise()

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        """tokens (B, T) -> logits (B, T, V): at t, the scores of the token that follows t.

        `keep` (B, T) is False at padding, wherever it is. The loss is not computed here: the
        logits at all positions but the last are scores for `tokens[:, 1:]`.
        """
        return self.read_out(self.hidden(tokens, keep))  # (B, T, V)

    def hidden(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        """tokens (B, T) -> the top vectors (B, T, D), from which logits and all heads are read."""
        check_tokens(tokens, self.config.vocabulary)
        if keep is not None:
            check_keep(keep, tokens)
        x = self.embed(tokens, keep)  # (B, T, D)
        return self.stack(x, mask=self._mask(keep, tokens), causal=True)  # (B, T, D)

    def embed(self, tokens: Tensor, keep: Tensor | None = None, past: int = 0) -> Tensor:
        """tokens (B, T) -> (B, T, D): each token's vector plus that of its position.

        `past` tokens come before these. A row counts its positions from its first real token in
        `keep` (B, past + T), so left padding comes before 0.
        """
        first = past if keep is None else past - keep.int().argmax(dim=1)  # one, or (B,)
        return self.dropout(self.positions(self.tokens(tokens), first))  # (B, T, D)

    def read_out(self, x: Tensor) -> Tensor:
        """x (..., D) -> logits (..., V): how well each token's own vector agrees with x."""
        return self.tokens.scores(x) if self.output is None else self.output(x)

    def _mask(self, keep: Tensor | None, tokens: Tensor, past: int = 0) -> Tensor | None:
        """keep (B, S) -> mask (B, 1, 1, S) without padding, (B, 1, T, S) where a `window` ends."""
        padding = None if keep is None else keep[:, None, None, :]
        T, window = tokens.shape[1], self.config.window
        if window is None or past + T <= window:
            return padding
        near = masks.local(T, past + T, radius=window - 1, device=tokens.device)  # (T, S)
        return near if padding is None else padding & near

    def _initialise(self) -> None:
        """N(0, 0.02²) for matrices, less for those that write into GPT-2's stream, 0 for biases."""
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        if self.config.norm == "pre":
            for block in (module for module in self.modules() if isinstance(module, Block)):
                for last in (block.self_attention.out, block.feed_forward.contract):
                    nn.init.normal_(last.weight, std=0.02 / (2 * self.config.depth) ** 0.5)

    # Decoding: one token at a time, each past position computed once (`decoding`).

    def start(self, keep: Tensor | None = None, *, capacity: int = 0) -> State:
        """Return the state before anything is read; `keep` (B, S) is False at left padding.

        The cache makes room for `capacity` positions at once, and grows when they are not enough.
        """
        if keep is not None:
            check_shape(keep, "keep", "batch, length", torch.bool)
            if not keep[:, -1].all() or (keep[:, :-1] & ~keep[:, 1:]).any():
                raise ValueError("the padding of a prompt must be on the left, before its text")
        return State(
            cache=StackCache(self.config.depth, capacity),
            keep=keep,
            positions=None if self.config.rotary else self.config.positions,
            quick=QuickStack.of(self.stack),
            owner=ref(self),
        )

    def decode(self, tokens: Tensor, state: State) -> Tensor:
        """Read tokens (B, T) after those in `state` -> logits (B, V) of what follows them.

        The result is that of `forward` on all tokens so far; the cache holds those already read.
        """
        check_tokens(tokens, self.config.vocabulary)
        state.check_owner(self)
        keep = state.keep_with(tokens)  # (B, past + T), or None
        x = self.embed(tokens, keep, past=state.length)  # (B, T, D)
        mask = self._mask(keep, tokens, past=state.length)
        if state.quick is not None and tokens.shape[1] == 1:
            x = state.quick(x, state.cache, mask=mask)  # (B, 1, D)
        else:
            x = self.stack(x, mask=mask, causal=True, cache=state.cache)  # (B, T, D)
        return self.read_out(x[:, -1])


def _rotary(config: GPTConfig) -> Rotary:
    """Return the rotary positions of queries and keys, in the layout of Llama."""
    width = config.width // config.heads if config.head_width is None else config.head_width
    return Rotary(width=width, base=config.rotary_base, layout="halves")
