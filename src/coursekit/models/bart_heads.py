"""What BART is used for beside writing: classes, answers, and the decoder on its own.

`BartClassifier` and `BartSpan` feed the same text to the encoder and to the decoder, and read what
the decoder says: it has seen the whole text by then (Lewis et al., 2020, section 3). `BartCausalLM`
is the decoder without its encoder: a `GPT` with BART's weights. The book explains BART in
"T5 and BART". Shapes: B batch, S source length, T length, D width, C classes, V vocabulary.
"""

from __future__ import annotations

from weakref import ref

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_fraction, check_int, check_tokens, check_under, readable
from coursekit.blocks import Stack
from coursekit.cache import StackCache
from coursekit.decoding.fast_step import QuickStack
from coursekit.decoding.generation import State
from coursekit.decoding.spans import SpanLogits
from coursekit.embedding import WordEmbedding
from coursekit.models.bart import FIRST_PLACE, Bart, BartConfig, block_of, initialise, placed
from coursekit.models.encoder_decoder import padding_mask, real_tokens, shift_right
from coursekit.positions import LearnedPosition


class Head(nn.Module):
    """A whole BART that reads one text on both sides."""

    def __init__(self, bart: Bart) -> None:
        super().__init__()
        check_under(bart, Bart)
        self.bart = bart

    def read(self, source: Tensor, keep: Tensor | None) -> Tensor:
        """source, keep (B, S) -> (B, S, D): the decoder's output where it reads the source again.

        Its input is the source shifted right, as in training.
        """
        check_tokens(source, self.bart.config.vocabulary, "source")
        return self.bart.hidden(source, shift_right(source, self.bart.config.start), keep)


class BartClassifier(Head):
    """The class of a text, or of two with a separator between them, read at its last end token."""

    def __init__(self, bart: Bart, *, classes: int, dropout: float = 0.0) -> None:
        super().__init__(bart)
        check_int(classes=classes)
        check_fraction(dropout=dropout)
        width = bart.config.width
        self.dropout = nn.Dropout(dropout)
        self.dense, self.classifier = nn.Linear(width, width), nn.Linear(width, classes)
        for linear in (self.dense, self.classifier):
            initialise(linear)

    def forward(self, source: Tensor, keep: Tensor | None = None) -> Tensor:
        """Source, keep (B, S) -> logits (B, C)."""
        hidden = self.read(source, keep)  # (B, S, D)
        ends = source == self.bart.config.end  # (B, S)
        if readable(ends) and not ends.any(dim=1).all():
            row = int((~ends.any(dim=1)).nonzero()[0])
            raise ValueError(
                f"every text must have the end token {self.bart.config.end}, row {row} has none"
            )
        last = ends.shape[1] - 1 - ends.flip(1).int().argmax(dim=1)  # (B,)
        x = hidden[torch.arange(len(last), device=last.device), last]  # (B, D)
        x = self.dense(self.dropout(x)).tanh()  # (B, D)
        return self.classifier(self.dropout(x))  # (B, C)


class BartSpan(Head):
    """Where the answer to a question is: how well each token begins it, how well it ends it."""

    def __init__(self, bart: Bart) -> None:
        super().__init__(bart)
        self.span = nn.Linear(bart.config.width, 2)
        initialise(self.span)

    def forward(self, source: Tensor, keep: Tensor | None = None) -> SpanLogits:
        """Source, keep (B, S) -> `SpanLogits`, padding included; see `best_span`."""
        return SpanLogits(*self.span(self.read(source, keep)).unbind(dim=-1))  # 2 × (B, S)


class BartCausalLM(nn.Module):
    """BART's decoder without an encoder: it continues a text, as a GPT does."""

    def __init__(self, config: BartConfig) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.embedding = WordEmbedding(config.vocabulary, width, padding_idx=config.pad)
        self.positions = LearnedPosition(size=config.positions + FIRST_PLACE, width=width)
        self.norm = nn.LayerNorm(width, eps=config.eps)
        self.dropout = nn.Dropout(config.dropout)
        self.stack = Stack(depth=config.depth_of_decoder, **block_of(config))
        initialise(self, config.pad)

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        """tokens (B, T) -> logits (B, T, V); `keep` (B, T) is False at padding."""
        check_tokens(tokens, self.config.vocabulary)
        keep = real_tokens(keep, tokens, "keep")
        x = self.embed(tokens, keep)  # (B, T, D)
        x = self.stack(x, mask=padding_mask(keep), causal=True)  # (B, T, D)
        return self.embedding.scores(x)  # (B, T, V)

    def embed(self, tokens: Tensor, keep: Tensor | None, past: int = 0) -> Tensor:
        """tokens (B, T) after `past` others -> (B, T, D); see `count_padding` of the config."""
        first: int | Tensor = past
        if keep is not None and not self.config.count_padding:
            first = past - keep.int().argmax(dim=1)  # (B,)
        x = placed(self.config, self.embedding, tokens, self.positions, first)
        return self.dropout(self.norm(x))

    def start(self, keep: Tensor | None = None, *, capacity: int = 0) -> State:
        """Return the state before anything is read; `keep` (B, S) is False at left padding."""
        return State(
            cache=StackCache(len(self.stack.blocks), capacity),
            keep=keep,
            positions=self.config.positions,
            quick=QuickStack.of(self.stack),
            owner=ref(self),
        )

    def decode(self, tokens: Tensor, state: State) -> Tensor:
        """Read tokens (B, T) after what `state` holds -> logits (B, V) of what follows them."""
        check_tokens(tokens, self.config.vocabulary)
        state.check_owner(self)
        keep = state.keep_with(tokens)  # (B, past + T), or None
        x, mask = self.embed(tokens, keep, state.length), padding_mask(keep)
        if state.quick is not None and tokens.shape[1] == 1:
            x = state.quick(x, state.cache, mask=mask)  # (B, 1, D)
        else:
            x = self.stack(x, mask=mask, causal=True, cache=state.cache)  # (B, T, D)
        return self.embedding.scores(x[:, -1])  # (B, V)
