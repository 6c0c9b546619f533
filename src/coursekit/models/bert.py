"""BERT: an encoder that reads in both directions, trained to fill in words (Devlin et al., 2019).

A token's vector is the sum of three: word, position, and which of the two sentences. Post-norm
Transformer blocks follow. Pre-training asks two questions: which words were hidden (masked LM), and
is the second sentence the one that followed the first (next sentence). RoBERTa (Liu et al., 2019)
is the same network, trained longer and without the second question; see `BertConfig.roberta_base`.
The heads for fine-tuning are in `bert_heads`, the names of other people's weights in
`weights.bert`. The book explains all of it in "BERT".
Shapes: B batch, T length, D width, H heads, V vocabulary, M masked positions of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_config, check_int, check_keep, check_shape, check_tokens
from coursekit.activations import ACTIVATIONS
from coursekit.blocks import Stack
from coursekit.embedding import WordEmbedding

Activation = Literal["gelu", "gelu_tanh", "relu"]


@dataclass(frozen=True, kw_only=True)
class BertConfig:
    """Sizes and choices of a `Bert`. The defaults are BERT base: 109,482,240 parameters."""

    vocabulary: int = 30_522  # WordPieces of the uncased English model
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    positions: int = 512
    segments: int = 2  # sentence A, sentence B
    dropout: float = 0.1  # on the embeddings and after every sublayer
    attention_dropout: float = 0.1
    activation: Activation = "gelu"
    eps: float = 1e-12
    pad: int = 0
    skip_padding: bool = False  # RoBERTa: padding is not counted, the first word has place pad + 1
    head_dropout: float | None = None  # before the layer of a task (`bert_heads`); None: dropout
    pooler: bool = True  # the layer on [CLS] that next-sentence training made

    def __post_init__(self) -> None:
        check_config(self, ids=("pad",))
        check_int(longest=self.longest)

    @classmethod
    def base(cls) -> BertConfig:
        """Return BERT base, 109,482,240 parameters with the pooler (the paper's "110M")."""
        return cls()

    @classmethod
    def large(cls) -> BertConfig:
        """Return BERT large, 335,141,888 parameters with the pooler (the paper's "340M")."""
        return cls(width=1024, depth=24, heads=16, hidden=4096)

    @classmethod
    def roberta_base(cls) -> BertConfig:
        """Return RoBERTa base, 124,697,433 parameters with its masked-LM head (the paper's 125M).

        Byte-level BPE vocabulary, one segment, and 514 positions of which 512 can be used.
        """
        return cls(vocabulary=50_265, segments=1, positions=514, pad=1, skip_padding=True, eps=1e-5)

    @classmethod
    def roberta_large(cls) -> BertConfig:
        """Return RoBERTa large, 355,412,057 parameters with its masked-LM head (355M)."""
        return cls(
            vocabulary=50_265, segments=1, positions=514, pad=1, skip_padding=True, eps=1e-5,
            width=1024, depth=24, heads=16, hidden=4096,
        )  # fmt: skip

    @property
    def longest(self) -> int:
        """The largest number of tokens of a sequence."""
        return self.positions - self.pad - 1 if self.skip_padding else self.positions

    @property
    def dropout_of_head(self) -> float:
        """The dropout of a head, on the vectors that it reads."""
        return self.dropout if self.head_dropout is None else self.head_dropout


class BertEmbeddings(nn.Module):
    """The sum of token, position and segment vectors, normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        # What is read at `padding_idx` gets no gradient: padding teaches nothing.
        unused_position = config.pad if config.skip_padding else None
        self.tokens = WordEmbedding(config.vocabulary, config.width, padding_idx=config.pad)
        self.positions = nn.Embedding(config.positions, config.width, padding_idx=unused_position)
        self.segments = nn.Embedding(config.segments, config.width)
        self.norm = nn.LayerNorm(config.width, eps=config.eps)
        self.dropout = nn.Dropout(config.dropout)
        self.config = config

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """tokens, segments (B, T) -> (B, T, D); without `segments` all belong to sentence 0."""
        x = self.tokens(tokens) + self.positions(self.position_ids(tokens))  # (B, T, D)
        x = x + self.segments(tokens.new_zeros(()) if segments is None else segments)
        return self.dropout(self.norm(x))

    def position_ids(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) -> their positions, (T,) for BERT, (B, T) for RoBERTa."""
        if not self.config.skip_padding:
            return torch.arange(tokens.shape[1], device=tokens.device)  # (T,)
        real = tokens != self.config.pad  # (B, T)
        return real.cumsum(dim=1) * real + self.config.pad  # (B, T): padding gets id `pad`


class Bert(nn.Module):
    """The encoder. `pooler`, the layer on [CLS], may be chosen here in place of the config.

    The weights start from N(0, 0.02); the paper's code redraws what lies beyond two deviations.
    """

    def __init__(self, config: BertConfig, *, pooler: bool | None = None) -> None:
        super().__init__()
        pooler = config.pooler if pooler is None else pooler
        self.config = config if pooler == config.pooler else replace(config, pooler=pooler)
        self.embeddings = BertEmbeddings(config)
        self.encoder = Stack(
            depth=config.depth,
            width=config.width,
            heads=config.heads,
            hidden=config.hidden,
            norm="post",
            activation=ACTIVATIONS[config.activation],
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            hidden_dropout=0.0,
            eps=config.eps,
        )
        self.pooler = nn.Linear(config.width, config.width) if pooler else None
        initialise(self)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        keep: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> Tensor:
        """tokens (B, T) -> hidden states (B, T, D).

        segments   (B, T): 0 for the first sentence, 1 for the second; all 0 if left out
        keep       (B, T) boolean: True = a real token; everything is real if left out
        head_mask  (depth, H): a factor for the result of each head, 0 removes it
        """
        self._check(tokens, segments, keep, head_mask)
        mask = None if keep is None else keep[:, None, None, :]  # (B, 1, 1, T)
        x = self.embeddings(tokens, segments)  # (B, T, D)
        head_mask = None if head_mask is None else head_mask[:, None]  # (depth, 1, H)
        return self.encoder(x, mask=mask, head_mask=head_mask)  # (B, T, D)

    def pool(self, hidden: Tensor) -> Tensor:
        """Hidden states (B, T, D) -> one vector for each row (B, D), made of its [CLS]."""
        if self.pooler is None:
            raise ValueError("this Bert was made with pooler=False and cannot pool")
        return self.pooler(hidden[:, 0]).tanh()  # (B, D)

    def _check(
        self,
        tokens: Tensor,
        segments: Tensor | None,
        keep: Tensor | None,
        head_mask: Tensor | None,
    ) -> None:
        config = self.config
        check_tokens(tokens, config.vocabulary)
        if tokens.shape[1] > config.longest:
            raise ValueError(
                f"a sequence can have at most {config.longest} tokens, found {tokens.shape[1]}"
            )
        if segments is not None:
            check_tokens(segments, config.segments, "segments")
            check_shape(segments, "segments", tokens.shape)
        if head_mask is not None:
            check_shape(head_mask, "head_mask", (config.depth, config.heads))
        if keep is not None:
            check_keep(keep, tokens)


class MaskedLMHead(nn.Module):
    """A layer and a norm, then the scores of all words by the token embeddings, transposed."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.transform = nn.Linear(config.width, config.width)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.width, eps=config.eps)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary))
        initialise(self)

    def forward(
        self, hidden: Tensor, scores: Callable[..., Tensor], positions: Tensor | None = None
    ) -> Tensor:
        """Hidden (B, T, D), the embedding's `scores` -> logits (B, T, V), or of some positions.

        Boolean `positions` (B, T) of which N are True -> (N, V), row by row; indices (B, M) ->
        (B, M, V). With 15% of the words hidden this saves most of the work here.
        """
        if positions is not None:
            hidden = select(hidden, positions)  # (…, D)
        hidden = self.norm(self.activation(self.transform(hidden)))  # (…, D)
        return scores(hidden, self.bias)  # (…, V)


def select(hidden: Tensor, positions: Tensor) -> Tensor:
    """Hidden (B, T, D) and boolean (B, T) -> (N, D), or indices (B, M) -> (B, M, D)."""
    B, T, D = hidden.shape
    if positions.dtype == torch.bool:
        check_shape(positions, "positions", (B, T))
        return hidden[positions]  # (N, D)
    check_shape(positions, "positions", (B, "M"))
    return hidden.gather(1, positions[..., None].expand(-1, -1, D))  # (B, M, D)


class PreTraining(NamedTuple):
    """The answers to the two questions of pre-training; None where the question is not asked."""

    masked_lm: Tensor | None  # (B, T, V), or of the chosen positions only
    next_sentence: Tensor | None  # (B, 2): class 0 = it followed, class 1 = it was drawn at random


class BertForPreTraining(nn.Module):
    """BERT with its two pre-training heads; base has 110,106,428 parameters, large 336,226,108.

    `next_sentence=False` trains as RoBERTa does (and the ablation "No NSP" in BERT's Table 5), and
    then there is no pooler; `masked_lm=False` asks about the next sentence alone.
    """

    def __init__(
        self, config: BertConfig, *, masked_lm: bool = True, next_sentence: bool = True
    ) -> None:
        super().__init__()
        if not masked_lm and not next_sentence:
            raise ValueError("pre-training needs a question: masked_lm, next_sentence or both")
        self.config = config
        self.options = {"masked_lm": masked_lm, "next_sentence": next_sentence}
        self.bert = Bert(config, pooler=next_sentence)
        self.masked_lm = MaskedLMHead(config) if masked_lm else None
        self.next_sentence = nn.Linear(config.width, 2) if next_sentence else None
        if self.next_sentence is not None:
            initialise(self.next_sentence)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        keep: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> PreTraining:
        """Tokens, segments, keep (B, T) -> `PreTraining`; `positions` as in `MaskedLMHead`."""
        hidden = self.bert(tokens, segments, keep, head_mask=head_mask)  # (B, T, D)
        words = following = None
        if self.masked_lm is not None:
            words = self.masked_lm(hidden, self.bert.embeddings.tokens.scores, positions)
        if self.next_sentence is not None:
            following = self.next_sentence(self.bert.pool(hidden))  # (B, 2)
        return PreTraining(words, following)


def initialise(module: nn.Module, std: float = 0.02) -> None:
    """Draw every matrix from N(0, std); biases start at 0 and norms as the identity."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
        if isinstance(part, nn.Linear):
            nn.init.zeros_(part.bias)
