"""Seq2SeqTransformer: attention is all you need (Vaswani et al., 2017).

An encoder reads the source in both directions at once. A decoder writes the target: each of its
blocks looks back at what is written (causal self-attention), then at what the encoder made of the
source (cross-attention). One matrix embeds both languages and, transposed, turns the decoder's
output into scores for words (section 3.4 of the paper). The book explains it in
"The Transformer that translates".

Where the paper is silent: linear maps start with Glorot's uniform, embeddings with a variance of
1/D, so that times √D they are of the size of the sine waves that are added to them.
Shapes: B batch, S source length, T target length, D width, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, Self

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_choice, check_config
from coursekit.activations import ACTIVATIONS
from coursekit.blocks import Norm, Stack
from coursekit.embedding import WordEmbedding
from coursekit.models.encoder_decoder import EncoderDecoder
from coursekit.positions import LearnedPosition, SinusoidalPosition

Share = Literal["all", "target", "none"]
Activation = Literal["relu", "gelu", "silu"]


@dataclass(frozen=True, kw_only=True)
class Seq2SeqConfig:
    """Sizes and choices of a `Seq2SeqTransformer`; the defaults are the paper's base model."""

    vocabulary: int = 37_000  # of the target, and of the source unless that has its own
    source_vocabulary: int | None = None
    width: int = 512
    depth: int = 6  # blocks in the encoder, and as many in the decoder
    heads: int = 8
    hidden: int = 2048
    head_width: int | None = None  # d_k; None: width / heads
    value_width: int | None = None  # d_v; None: d_k
    positions: int | None = None  # None: sine waves, for any length; else learned ones
    norm: Norm = "post"
    final_norm: bool | None = None  # None: only where the blocks leave their output unnormalised
    share: Share = "all"  # one matrix for source, target and output; "target": for the last two
    scale_embedding: bool = True  # by √D
    dropout: float = 0.1  # after every sublayer, and on the sums of embeddings and positions
    attention_dropout: float = 0.0  # on the attention weights; the paper has none
    hidden_dropout: float = 0.0  # inside the feed-forward network; the paper has none
    attention_bias: bool = False  # the paper's formulas have none; torch and Marian have
    output_bias: bool = False  # one number for each word, as in Marian
    activation: Activation = "relu"
    eps: float = 1e-5
    pad: int = 0
    start: int = 1
    end: int = 2

    def __post_init__(self) -> None:
        check_config(self, ids=("pad", "start", "end"))
        if self.share == "all" and self.vocabulary_of_source != self.vocabulary:
            raise ValueError(
                "one matrix for source and target needs one vocabulary, found "
                f"{self.source_vocabulary} and {self.vocabulary}; share='target' has two matrices"
            )

    @property
    def vocabulary_of_source(self) -> int:
        """The size of the encoder's vocabulary."""
        return self.vocabulary if self.source_vocabulary is None else self.source_vocabulary

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return the paper's base model."""
        return cls(**changes)

    @classmethod
    def big(cls, **changes: Any) -> Self:
        """Return the paper's big model."""
        return cls.table3("big", **changes)

    @classmethod
    def table3(cls, row: str, **changes: Any) -> Self:
        """Return the model of one row of the paper's Table 3; the rows are named in `TABLE3`."""
        check_choice(TABLE3, row=row)
        return replace(cls(**TABLE3[row].changes), **changes)


@dataclass(frozen=True)
class Row:
    """One row of Table 3: what differs from the base model, and the parameters that it prints."""

    changes: Mapping[str, Any]
    millions: int | None = None  # None: the paper leaves it blank, as it is the base model's


# Row (D) also varies label smoothing, which belongs to the loss (`objectives`): the model of those
# two rows is the base model.
TABLE3 = MappingProxyType(
    {
        "base": Row({}, 65),
        "A heads=1": Row({"heads": 1}),
        "A heads=4": Row({"heads": 4}),
        "A heads=16": Row({"heads": 16}),
        "A heads=32": Row({"heads": 32}),
        "B keys=16": Row({"head_width": 16, "value_width": 64}, 58),
        "B keys=32": Row({"head_width": 32, "value_width": 64}, 60),
        "C depth=2": Row({"depth": 2}, 36),
        "C depth=4": Row({"depth": 4}, 50),
        "C depth=8": Row({"depth": 8}, 80),
        "C width=256": Row({"width": 256}, 28),
        "C width=1024": Row({"width": 1024}, 168),
        "C hidden=1024": Row({"hidden": 1024}, 53),
        "C hidden=4096": Row({"hidden": 4096}, 90),
        "D dropout=0.0": Row({"dropout": 0.0}),
        "D dropout=0.2": Row({"dropout": 0.2}),
        "D smoothing=0.0": Row({}),
        "D smoothing=0.2": Row({}),
        "E learned": Row({"positions": 512}),
        "big": Row({"width": 1024, "hidden": 4096, "heads": 16, "dropout": 0.3}, 213),
    }
)


class Seq2SeqTransformer(EncoderDecoder):
    """Encoder and decoder of Transformer blocks, and the embeddings that both share."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        self.longest = config.positions
        width, share = config.width, config.share
        shares, bias = share != "none", None  # the bias belongs to the matrix that scores words
        if shares and config.output_bias:
            bias = nn.Parameter(torch.zeros(config.vocabulary))
        self.embedding = WordEmbedding(config.vocabulary, width, bias=bias)  # the shared one
        self.source_embedding = (
            None if share == "all" else nn.Embedding(config.vocabulary_of_source, width)
        )
        self.output = (
            None if shares else nn.Linear(width, config.vocabulary, bias=config.output_bias)
        )
        self.source_positions: SinusoidalPosition | LearnedPosition
        self.target_positions: SinusoidalPosition | LearnedPosition
        if config.positions is None:
            self.source_positions = SinusoidalPosition(width=width)
            self.target_positions = SinusoidalPosition(width=width)
        else:
            self.source_positions = LearnedPosition(size=config.positions, width=width)
            self.target_positions = LearnedPosition(size=config.positions, width=width)
        self.dropout = nn.Dropout(config.dropout)
        block: dict[str, Any] = {
            "depth": config.depth,
            "width": width,
            "heads": config.heads,
            "hidden": config.hidden,
            "head_width": config.head_width,
            "value_width": config.value_width,
            "norm": config.norm,
            "final_norm": config.final_norm,
            "activation": ACTIVATIONS[config.activation],
            "dropout": config.dropout,
            "attention_dropout": config.attention_dropout,
            "hidden_dropout": config.hidden_dropout,
            "attention_bias": config.attention_bias,
            "eps": config.eps,
        }
        self.encoder = Stack(**block)
        self.decoder = Stack(**block, cross_attention=True)
        self._initialise()

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=self.config.width**-0.5)
        if self.output is not None and self.output.bias is not None:
            nn.init.zeros_(self.output.bias)
        for block in (*self.encoder.blocks, *self.decoder.blocks):  # attention starts so by itself
            for linear in (block.feed_forward.expand, block.feed_forward.contract):
                nn.init.xavier_uniform_(linear.weight)
                nn.init.zeros_(linear.bias)

    def embed_source(self, source: Tensor, first: int | Tensor) -> Tensor:
        """source (B, S) -> (B, S, D)."""
        table = self.embedding if self.source_embedding is None else self.source_embedding
        return self._embed(source, table, self.source_positions, first)

    def embed_target(self, target: Tensor, first: int | Tensor) -> Tensor:
        """target (B, T) -> (B, T, D)."""
        return self._embed(target, self.embedding, self.target_positions, first)

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden (..., D) -> logits (..., V): how well each word's vector agrees with it."""
        return self.embedding.scores(hidden) if self.output is None else self.output(hidden)

    def _embed(
        self, tokens: Tensor, table: nn.Embedding, positions: nn.Module, first: int | Tensor
    ) -> Tensor:
        x = table(tokens)  # (B, T, D)
        if self.config.scale_embedding:
            x = x * self.config.width**0.5
        return self.dropout(positions(x, first))  # (B, T, D)

    @property
    def source_vocabulary(self) -> int:
        """The size of the encoder's vocabulary."""
        return self.config.vocabulary_of_source
