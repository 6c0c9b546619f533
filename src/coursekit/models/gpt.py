"""GPT: a stack of causal blocks that writes the next token.

Radford et al. (2018) put the norm behind each sublayer ("post"); GPT-2 (Radford et al., 2019) moved
it in front, added one at the top, and shrank the layers that write into the residual stream by
1/√N, N being their number. The rest is the same: learned positions, GELU in its tanh form, and one
matrix that is embedding and output at once. The book explains it in "GPT".
Shapes: B batch, T length, S length with the past, D width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._check import (
    check_choice,
    check_keep,
    check_least,
    check_share,
    check_tokens,
    check_whole,
)
from coursekit.blocks import Stack, StackCache
from coursekit.decoding import State
from coursekit.models.conversion import (
    Ignored,
    Rule,
    Same,
    Tied,
    Transposed,
    export_state,
    import_state,
    load_strictly,
)
from coursekit.models.words import WordEmbedding
from coursekit.positions import LearnedPosition
from coursekit.quick import QuickStack

Activation = Literal["gelu tanh", "gelu", "relu"]
ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "gelu tanh": partial(F.gelu, approximate="tanh"),  # 0.5 x (1 + tanh(√(2/π) (x + 0.0447 x³)))
    "gelu": F.gelu,  # x Φ(x)
    "relu": F.relu,
}


@dataclass(frozen=True, kw_only=True)
class GPTConfig:
    """Sizes and choices of a `GPT`; the defaults are GPT-2's smallest."""

    vocabulary: int = 50_257
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int | None = None  # inside the feed-forward network; None is 4 · width
    positions: int = 1024
    norm: Literal["pre", "post"] = "pre"
    activation: Activation = "gelu tanh"
    dropout: float = 0.1  # behind each sublayer
    attention_dropout: float = 0.1  # on the attention weights
    embedding_dropout: float = 0.1
    eps: float = 1e-5

    def __post_init__(self) -> None:
        check_whole(
            vocabulary=self.vocabulary,
            width=self.width,
            depth=self.depth,
            heads=self.heads,
            hidden=1 if self.hidden is None else self.hidden,
            positions=self.positions,
        )
        check_share(
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            embedding_dropout=self.embedding_dropout,
        )
        check_least(eps=self.eps)
        if self.norm not in ("pre", "post"):
            raise ValueError(f"norm must be pre or post, found {self.norm!r}")
        check_choice(get_args(Activation), activation=self.activation)

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
    def from_huggingface(cls, config: Mapping[str, Any]) -> GPTConfig:
        """Read the `config.json` of a "gpt2" or an "openai-gpt"."""
        kind = config.get("model_type")
        if kind not in ("gpt2", "openai-gpt"):
            raise ValueError(f"model_type must be gpt2 or openai-gpt, found {kind!r}")
        unusual = {
            "scale_attn_weights": True,
            "scale_attn_by_inverse_layer_idx": False,
            "add_cross_attention": False,
            "tie_word_embeddings": True,
        }
        for name, usual in unusual.items():
            if config.get(name, usual) != usual:
                raise ValueError(f"{name} must be {usual}, found {config[name]!r}")
        post = kind == "openai-gpt"
        names = {"gelu_new": "gelu tanh", "gelu_pytorch_tanh": "gelu tanh"}
        names["gelu"] = "gelu tanh" if post else "gelu"  # theirs is tanh by any name in GPT-1
        found = config["afn" if post else "activation_function"]
        return cls(
            vocabulary=config["vocab_size"],
            width=config["n_embd"],
            depth=config["n_layer"],
            heads=config["n_head"],
            hidden=config.get("n_inner"),
            positions=config["n_positions"],
            norm="post" if post else "pre",
            activation=names.get(found, found),
            dropout=config["resid_pdrop"],
            attention_dropout=config["attn_pdrop"],
            embedding_dropout=config["embd_pdrop"],
            eps=config["layer_norm_epsilon"],
        )


class GPT(nn.Module):
    """Token and position vectors, causal blocks, and the token vectors again as output."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = WordEmbedding(config.vocabulary, config.width)
        self.positions = LearnedPosition(size=config.positions, width=config.width)
        self.dropout = nn.Dropout(config.embedding_dropout)
        self.stack = Stack(
            depth=config.depth,
            width=config.width,
            heads=config.heads,
            hidden=config.hidden,
            norm=config.norm,
            activation=ACTIVATIONS[config.activation],
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            hidden_dropout=0.0,
            eps=config.eps,
        )
        self._initialise()

    def _initialise(self) -> None:
        """N(0, 0.02²) for every matrix, zero for every bias; GPT-2 shrinks what adds up."""
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
        if self.config.norm == "pre":
            for block in self.stack.blocks:
                for last in (block.self_attention.out, block.feed_forward.contract):
                    nn.init.normal_(last.weight, std=0.02 / (2 * self.config.depth) ** 0.5)

    def forward(
        self, tokens: Tensor, keep: Tensor | None = None, **asked: bool
    ) -> Tensor | tuple[Tensor, ...]:
        """tokens (B, T) -> logits (B, T, V): at t, the scores of the token that follows t.

        `keep` (B, T) is False at padding, wherever it stands. `return_hidden` and `return_weights`
        add what `Stack` adds.
        """
        x = self.hidden(tokens, keep, **asked)
        return (self.read_out(x[0]), *x[1:]) if any(asked.values()) else self.read_out(x)

    def hidden(
        self,
        tokens: Tensor,
        keep: Tensor | None = None,
        *,
        cache: StackCache | None = None,
        quick: QuickStack | None = None,
        **asked: bool,
    ) -> Tensor | tuple[Tensor, ...]:
        """tokens (B, T) -> the top vectors (B, T, D), from which logits and all heads are read.

        With a `cache` the tokens follow those that it holds, and `keep` (B, S) is about both. A row
        starts to count its positions at the first token that it keeps. `quick` takes the place of
        the stack.
        """
        check_tokens(tokens, self.config.vocabulary)
        if keep is not None and cache is None:
            check_keep(keep, tokens)
        first = cache.length if cache is not None else 0
        mask = None
        if keep is not None:
            mask = keep[:, None, None, :]  # (B, 1, 1, S)
            first = first - keep.int().argmax(dim=1)  # (B,): the left padding stands before 0
        x = self.dropout(self.positions(self.tokens(tokens), first))  # (B, T, D)
        if quick is not None and tokens.shape[1] == 1:
            return quick(x, cache, mask=mask)
        return self.stack(x, mask=mask, causal=True, cache=cache, **asked)

    def read_out(self, x: Tensor) -> Tensor:
        """x (..., D) -> logits (..., V): how well each token's own vector agrees with x."""
        return self.tokens(x, scores=True)

    def start(self, keep: Tensor | None = None, *, capacity: int = 0) -> State:
        """Return the state before anything is read; `keep` (B, S) is False at left padding.

        The cache makes room for `capacity` positions at once, and grows when they are not enough.
        """
        if keep is not None:
            if keep.ndim != 2 or keep.dtype != keep.bool().dtype:
                raise ValueError(
                    "keep must be boolean of shape (batch, length), "
                    f"found {keep.dtype} {tuple(keep.shape)}"
                )
            if not keep[:, -1].all() or (keep[:, :-1] & ~keep[:, 1:]).any():
                raise ValueError("the padding of a prompt must stand on the left, before its text")
        return State(
            cache=StackCache(self.config.depth, capacity),
            keep=keep,
            positions=self.config.positions,
            quick=QuickStack.of(self.stack),
        )

    def decode(self, tokens: Tensor, state: State) -> Tensor:
        """Read tokens (B, T) after what `state` holds -> logits (B, V) of what follows them."""
        keep = state.keep_with(tokens)  # (B, S)
        x = self.hidden(tokens, keep, cache=state.cache, quick=state.quick)  # (B, T, D)
        return self.read_out(x[:, -1])

    @classmethod
    def from_huggingface(cls, state: Mapping[str, Tensor], config: GPTConfig) -> GPT:
        """Make a model of the weights of `GPT2LMHeadModel`, `GPT2Model` or their GPT-1 kin.

        It computes in the precision in which they are stored.
        """
        prefix = "transformer." if any(name.startswith("transformer.") for name in state) else ""
        weights = import_state(rules(config, theirs=prefix), state)
        model = cls(config).to(weights["tokens.weight"].dtype)
        load_strictly(model, weights)
        return model

    def to_huggingface(self, *, head: bool = True) -> dict[str, Tensor]:
        """Return the weights under their names, for the model with or without the output head."""
        prefix = "transformer." if head else ""
        return export_state(rules(self.config, theirs=prefix), self.state_dict())


def rules(config: GPTConfig, *, ours: str = "", theirs: str = "transformer.") -> list[Rule]:
    """Which of our weights is which of Hugging Face's; `ours` and `theirs` stand before each name.

    Their `Conv1D` multiplies from the other side, so every matrix is transposed. q, k and v stand
    in one matrix on both sides.
    """
    post = config.norm == "post"
    tokens = f"{theirs}{'tokens_embed' if post else 'wte'}.weight"
    table: list[Rule] = [
        Same(f"{ours}tokens.weight", tokens),
        Same(f"{ours}positions.weight", f"{theirs}{'positions_embed' if post else 'wpe'}.weight"),
    ]
    names = {
        "self_residual.norm": "ln_1",
        "self_attention.qkv": "attn.c_attn",
        "self_attention.out": "attn.c_proj",
        "feed_residual.norm": "ln_2",
        "feed_forward.expand": "mlp.c_fc",
        "feed_forward.contract": "mlp.c_proj",
    }
    for layer in range(config.depth):
        block, h = f"{ours}stack.blocks.{layer}.", f"{theirs}h.{layer}."
        for our, their in names.items():
            matrix = Same if our.endswith("norm") else Transposed
            table.append(matrix(f"{block}{our}.weight", f"{h}{their}.weight"))
            table.append(Same(f"{block}{our}.bias", f"{h}{their}.bias"))
        table += [Ignored(f"{h}attn.bias"), Ignored(f"{h}attn.masked_bias")]  # the causal mask
    if not post:
        table += [
            Same(f"{ours}stack.final.{name}", f"{theirs}ln_f.{name}") for name in ("weight", "bias")
        ]
    if theirs:
        table.append(Tied("lm_head.weight", to=tokens))
    return table
