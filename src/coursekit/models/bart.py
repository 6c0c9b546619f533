"""BART: an encoder that reads damaged text, a decoder that writes it whole (Lewis et al., 2020).

The Transformer of `seq2seq.py` with what GPT and BERT had changed since: GELU, learned positions,
weights that start with a standard deviation of 0.02; and a norm on the embeddings. Any noise will
do for training, `objectives` has the paper's five. The book explains it in "T5 and BART".

Two things come from the authors' code. The table of positions starts with two rows that belong to
padding, so that the first real token is at place 2. And padding takes up no place, so that a padded
source is read like a bare one; Hugging Face counts columns instead (`count_padding`), which
differs where padding is on the left.
Shapes: B batch, S source length, T target length, D width, H heads, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import check_config, readable
from coursekit.blocks import Stack
from coursekit.embedding import WordEmbedding
from coursekit.models.encoder_decoder import EncoderDecoder
from coursekit.positions import LearnedPosition

FIRST_PLACE = 2  # of a real token in the table of positions


@dataclass(frozen=True, kw_only=True)
class BartConfig:
    """Sizes and choices of a `Bart`; the defaults are those of BART-base."""

    vocabulary: int = 50_265
    width: int = 768
    depth: int = 6  # blocks in the encoder
    decoder_depth: int | None = None  # None: as many in the decoder
    heads: int = 12
    hidden: int = 3072
    positions: int = 1024
    count_padding: bool = False  # True: padding on the left takes up places, as in Hugging Face
    scale_embedding: bool = False  # by √D
    dropout: float = 0.1  # after every sublayer and on the embeddings
    attention_dropout: float = 0.0
    hidden_dropout: float = 0.0  # inside the feed-forward network
    eps: float = 1e-5
    start: int = 2  # the decoder starts with the end of a sentence
    pad: int = 1
    end: int = 2

    def __post_init__(self) -> None:
        check_config(self, ids=("pad", "start", "end"))
        if self.start == self.pad:
            raise ValueError(f"start and pad must be different ids, found {self.pad} for both")

    @property
    def depth_of_decoder(self) -> int:
        """How many blocks the decoder has."""
        return self.depth if self.decoder_depth is None else self.decoder_depth

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """BART-base, 139 million parameters."""
        return cls(**changes)

    @classmethod
    def large(cls, **changes: Any) -> Self:
        """BART-large, 406 million parameters."""
        return cls(**{"width": 1024, "depth": 12, "heads": 16, "hidden": 4096, **changes})


class Bart(EncoderDecoder):
    """Encoder, decoder, and one embedding for both and for the output."""

    def __init__(self, config: BartConfig) -> None:
        super().__init__()
        self.config = config
        self.longest, width = config.positions, config.width
        # Not trained, but some published weights hold one that is not zero: it is saved with them.
        bias = nn.Buffer(torch.zeros(config.vocabulary))
        self.embedding = WordEmbedding(config.vocabulary, width, padding_idx=config.pad, bias=bias)
        self.source_positions = LearnedPosition(size=config.positions + FIRST_PLACE, width=width)
        self.target_positions = LearnedPosition(size=config.positions + FIRST_PLACE, width=width)
        self.source_norm = nn.LayerNorm(width, eps=config.eps)
        self.target_norm = nn.LayerNorm(width, eps=config.eps)
        self.dropout = nn.Dropout(config.dropout)
        block = block_of(config)
        self.encoder = Stack(depth=config.depth, **block)
        self.decoder = Stack(depth=config.depth_of_decoder, **block, cross_attention=True)
        initialise(self, config.pad)

    def embed_source(self, source: Tensor, first: int | Tensor) -> Tensor:
        """source (B, S) -> (B, S, D)."""
        x = placed(self.config, self.embedding, source, self.source_positions, first)
        return self.dropout(self.source_norm(x))

    def embed_target(self, target: Tensor, first: int | Tensor) -> Tensor:
        """target (B, T) -> (B, T, D)."""
        x = placed(self.config, self.embedding, target, self.target_positions, first)
        return self.dropout(self.target_norm(x))

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden (..., D) -> logits (..., V)."""
        return self.embedding.scores(hidden)

    def first(self, keep: Tensor | None, past: int = 0) -> int | Tensor:
        """Return the place of column 0; to Hugging Face, padding on the left is a place, too."""
        return past if self.config.count_padding else super().first(keep, past)


# What the decoder alone (`bart_heads`) has in common with the whole.


def block_of(config: BartConfig) -> dict[str, Any]:
    """Return what each block of a BART is made of."""
    return {
        "width": config.width,
        "heads": config.heads,
        "hidden": config.hidden,
        "norm": "post",
        "activation": F.gelu,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "hidden_dropout": config.hidden_dropout,
        "eps": config.eps,
    }


def initialise(model: nn.Module, pad: int | None = None) -> None:
    """Draw all weights from N(0, 0.02²); biases, and the vector of padding, are zero."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding | LearnedPosition):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and pad is not None:
            nn.init.zeros_(module.weight.data[pad])


def placed(
    config: BartConfig,
    words: nn.Embedding,
    tokens: Tensor,
    positions: LearnedPosition,
    first: int | Tensor,
) -> Tensor:
    """tokens (B, T) -> (B, T, D): each one's vector and that of its place, from `first` on."""
    last = first if isinstance(first, int) else int(first.max()) if readable(first) else 0
    if (length := last + tokens.shape[1]) > config.positions:
        raise ValueError(
            f"a sequence of {length} tokens is longer than the {config.positions} "
            "positions that were learned"
        )
    x = words(tokens)  # (B, T, D)
    if config.scale_embedding:
        x = x * config.width**0.5
    return positions(x, first + FIRST_PLACE)  # (B, T, D)
