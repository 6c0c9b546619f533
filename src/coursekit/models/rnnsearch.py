"""RNNSearch: the recurrent translator that brought attention in (Bahdanau et al., 2015).

An encoder reads the source in both directions and leaves one vector, an annotation, at each word. A
decoder writes the target symbol by symbol; before each one its state asks the annotations which of
them matter now. The book explains it in "Attention kernels", section "Bahdanau's translator learns
where to look".

Where it departs from the paper: the readout has a tanh layer and no maxout, and reads the new state
s_t (appendix A.2 of the paper: the old one); torch's GRU applies the reset gate after the matrix
and not before; weights start as torch starts them. `kernel` also offers two relatives: "general"
scores with a bilinear form, "none" does without attention and reads one fixed vector at every step,
the encoder's last states (the paper's RNNencdec; its encoder has the forward direction only).
Shapes: B batch, T target length, S source length, H state width, A width inside the kernel,
V target vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from coursekit import masks
from coursekit._base.checks import check_config, check_int, check_numbers, check_tokens, readable
from coursekit.attention import attention_weights
from coursekit.kernels import Additive, General

Kernel = Literal["additive", "general", "none"]


@dataclass(frozen=True)
class RNNSearchConfig:
    """Sizes and choices of an `RNNSearch`; the special tokens have the same ids on both sides."""

    source_vocabulary: int
    target_vocabulary: int
    embedding: int = 620  # m in the paper
    hidden: int = 1000  # n: the decoder's state, and each direction of the encoder
    alignment: int = 1000  # n': the layer inside the additive kernel
    readout: int = 500  # l: the layer before the output symbols
    dropout: float = 0.0  # on embeddings and readout; the paper uses none
    kernel: Kernel = "additive"
    pad: int = 0
    start: int = 1
    end: int = 2

    def __post_init__(self) -> None:
        check_config(self, zero=("pad", "start", "end"))
        special = (self.pad, self.start, self.end)
        smallest = min(self.source_vocabulary, self.target_vocabulary)
        if len(set(special)) < 3 or min(special) < 0 or max(special) >= smallest:
            raise ValueError(
                "pad, start and end must be three different ids within both vocabularies "
                f"(below {smallest}), found {special}"
            )

    @classmethod
    def paper(cls) -> RNNSearchConfig:
        """Return the sizes of Bahdanau et al. (2015): 30,000 words a side, states of 1,000."""
        return cls(source_vocabulary=30_000, target_vocabulary=30_000)


@dataclass(frozen=True)
class Encoded:
    """What the decoder needs of the source, made once."""

    annotations: Tensor  # (B, S, 2H), the values
    keys: Tensor  # (B, S, A), the annotations with the key's half of the kernel applied
    mask: Tensor  # (B, 1, S), False at padding
    summary: Tensor  # (B, 2H), the last state of either direction


class RNNSearch(nn.Module):
    """Bidirectional GRU encoder, additive attention, GRU decoder."""

    def __init__(self, config: RNNSearchConfig) -> None:
        super().__init__()
        self.config = config
        hidden, width = config.hidden, 2 * config.hidden
        self.source_embedding = nn.Embedding(config.source_vocabulary, config.embedding)
        self.target_embedding = nn.Embedding(config.target_vocabulary, config.embedding)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = nn.GRU(config.embedding, hidden, batch_first=True, bidirectional=True)
        self.first_state = nn.Linear(hidden, hidden)
        self.kernel: Additive | General | None = None
        if config.kernel == "additive":
            self.kernel = Additive(query_width=hidden, key_width=width, hidden=config.alignment)
        elif config.kernel == "general":
            self.kernel = General(query_width=hidden, key_width=width)
        self.decoder = nn.GRUCell(config.embedding + width, hidden)
        self.readout = nn.Linear(hidden + config.embedding + width, config.readout)
        self.output = nn.Linear(config.readout, config.target_vocabulary)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Teacher forcing: source (B, S), target (B, T) -> logits (B, T, V).

        `target` is what the decoder reads: the start symbol, then the true symbols. The logits at t
        are about the symbol that follows target[:, t], and depend on target[:, : t + 1] only.
        `source` may end in padding.
        """
        words, states, contexts, _ = self._read(source, target)
        return self._read_out(states, words, contexts)  # (B, T, V)

    def weights(self, source: Tensor, target: Tensor) -> Tensor:
        """Return how much the decoder takes of each source word at each step, (B, T, S)."""
        weights = self._read(source, target)[-1]
        if weights is None:
            raise ValueError("there are no weights to return: this model has kernel='none'")
        return weights

    def _read(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """-> words (B, T, E), states (B, T, H), contexts (B, T, 2H) and weights (B, T, S)."""
        check_tokens(source, self.config.source_vocabulary, "source")
        check_tokens(target, self.config.target_vocabulary, "target")
        if source.shape[:1] != target.shape[:1]:
            raise ValueError(
                "source and target must have one batch size, "
                f"found {tuple(source.shape)} and {tuple(target.shape)}"
            )
        encoded, state = self._encode(source)
        words = self.dropout(self.target_embedding(target))  # (B, T, E)
        states, contexts, weights = [], [], []
        for word in words.unbind(dim=1):  # one step after the other: each state needs the last one
            state, context, shares = self._advance(word, state, encoded)
            states.append(state)
            contexts.append(context)
            if shares is not None:
                weights.append(shares)
        return (
            words,
            torch.stack(states, dim=1),
            torch.stack(contexts, dim=1),
            torch.stack(weights, dim=1) if weights else None,
        )

    def encode(self, source: Tensor) -> tuple[Encoded, Tensor]:
        """source (B, S) -> what the decoder looks at, and its first state (B, H)."""
        check_tokens(source, self.config.source_vocabulary, "source")
        return self._encode(source)

    def _encode(self, source: Tensor) -> tuple[Encoded, Tensor]:
        words = self.dropout(self.source_embedding(source))  # (B, S, E)
        if source.is_meta:  # shapes without numbers: where the padding begins is unknown
            annotations, last = self.encoder(words)  # (B, S, 2H), (2, B, H)
        else:
            # Packing ends each row at its own last word, so padding never enters a state.
            lengths = self._source_lengths(source)  # (B,)
            packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
            annotations, last = self.encoder(packed)  # last (2, B, H)
            annotations, _ = pad_packed_sequence(
                annotations, batch_first=True, total_length=source.shape[1]
            )  # (B, S, 2H)
        encoded = Encoded(
            annotations=annotations,
            keys=self._project_keys(annotations),
            mask=masks.padding(source, self.config.pad)[:, 0],  # (B, 1, S)
            summary=torch.cat(last.unbind(), dim=-1),  # (B, 2H)
        )
        backward = last[1]  # (B, H): the backward direction ends at the first word
        return encoded, self.first_state(backward).tanh()

    def step(
        self, symbol: Tensor, state: Tensor, encoded: Encoded
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """One step: symbol (B,), state (B, H) -> logits (B, V), new state (B, H), weights (B, S).

        The weights are None without attention.
        """
        word = self.dropout(self.target_embedding(symbol))  # (B, E)
        state, context, weights = self._advance(word, state, encoded)
        return self._read_out(state, word, context), state, weights

    @torch.no_grad()
    def greedy(self, source: Tensor, *, longest: int) -> Tensor:
        """Write the likeliest symbol at each step: source (B, S) -> tokens (B, T ≤ longest).

        A row is finished after the end symbol, which is kept, and holds padding from there on.
        Call `eval()` first if dropout is on.
        """
        check_int(longest=longest)
        encoded, state = self.encode(source)
        symbol = torch.full_like(source[:, 0], self.config.start)  # (B,)
        finished = torch.zeros_like(symbol, dtype=torch.bool)  # (B,)
        symbols: list[Tensor] = []
        while len(symbols) < longest and not finished.all():
            logits, state, _ = self.step(symbol, state, encoded)
            check_numbers(logits, "the model's logits")
            symbol = logits.argmax(dim=-1).masked_fill(finished, self.config.pad)  # (B,)
            finished = finished | (symbol == self.config.end)
            symbols.append(symbol)
        return torch.stack(symbols, dim=1)  # (B, T)

    def _advance(
        self, word: Tensor, state: Tensor, encoded: Encoded
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """word (B, E), state (B, H) -> new state (B, H), context (B, 2H), weights (B, S).

        The query is the state *before* the step, s_{t-1}: the decoder looks, then moves.
        """
        weights = None
        if self.config.kernel == "none":
            context = encoded.summary  # (B, 2H): the same at every step
        else:
            query = state[:, None]  # (B, 1, H)
            shares = attention_weights(query, encoded.keys, encoded.mask, kernel=self._compare)
            context = (shares @ encoded.annotations)[:, 0]  # (B, 2H)
            weights = shares[:, 0]  # (B, S)
        state = self.decoder(torch.cat([word, context], dim=-1), state)  # (B, H)
        return state, context, weights

    # The two halves of the additive kernel(state, annotations). The annotations do not change while
    # the decoder writes, so their half is computed once, as in the paper (A.1.2); a test holds both
    # together equal to the kernel. The bilinear form has one matrix, and the state takes it.

    def _project_keys(self, annotations: Tensor) -> Tensor:
        if isinstance(self.kernel, Additive):
            return self.kernel.key(annotations)  # (B, S, A)
        return annotations

    def _compare(self, q: Tensor, keys: Tensor) -> Tensor:
        if isinstance(self.kernel, General):
            return self.kernel(q, keys)  # (B, 1, S)
        assert self.kernel is not None  # without a kernel nothing is compared
        pairs = self.kernel.query(q)[..., :, None, :] + keys[..., None, :, :]  # (B, 1, S, A)
        return self.kernel.score(pairs.tanh())[..., 0]  # (B, 1, S)

    def _read_out(self, state: Tensor, word: Tensor, context: Tensor) -> Tensor:
        """State (..., H), word (..., E), context (..., 2H) -> logits (..., V)."""
        hidden = self.readout(torch.cat([state, word, context], dim=-1)).tanh()  # (..., readout)
        return self.output(self.dropout(hidden))  # (..., V)

    def _source_lengths(self, source: Tensor) -> Tensor:
        """Return how many words each row has (B,), on the CPU, where packing wants it."""
        words = (source != self.config.pad).cpu()  # (B, S)
        lengths = words.sum(dim=1)  # (B,)
        if not readable(source):
            return lengths
        if (lengths == 0).any():
            row = int((lengths == 0).nonzero()[0])
            raise ValueError(f"every source needs at least one word, but row {row} is only padding")
        if (words != (torch.arange(words.shape[1]) < lengths[:, None])).any():
            raise ValueError("padding in a source must be at the end, but a word follows it")
        return lengths
