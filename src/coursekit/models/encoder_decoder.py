"""Encoder and decoder: one stack reads a source at once, the other writes word after word.

What `Seq2SeqTransformer`, `T5` and `Bart` have in common. The encoder's blocks see the source in
both directions. Each of the decoder's blocks looks back at what is written (causal self-attention),
then at what the encoder made of the source (cross-attention). A model defines the rest: how tokens
become vectors, how vectors become scores of words, and what it adds to the attention scores.
The book explains it in "The Transformer that translates".
Shapes: B batch, S source length, T target length, D width, H heads, V vocabulary.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import check_int, check_keep, check_shape, check_tokens, readable
from coursekit.blocks import Stack
from coursekit.cache import StackCache
from coursekit.decoding.fast_step import QuickStack
from coursekit.decoding.generation import State


class EncoderDecoder(nn.Module):
    """Reads with `encoder`, writes with `decoder`; `config` has a vocabulary, `pad` and `start`."""

    encoder: Stack
    decoder: Stack
    config: Any
    longest: int | None = None  # how many tokens there are positions for

    # What each model defines.

    def embed_source(self, source: Tensor, first: int | Tensor) -> Tensor:
        """source (B, S) -> (B, S, D); `first`, one or (B,), is the position of column 0."""
        raise NotImplementedError

    def embed_target(self, target: Tensor, first: int | Tensor) -> Tensor:
        """target (B, T) -> (B, T, D), as `embed_source`."""
        raise NotImplementedError

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden (..., D) -> logits (..., V)."""
        raise NotImplementedError

    def source_bias(self, S: int) -> Tensor | None:
        """Return what is added to the encoder's scores, (H, S, S), if anything."""
        return None

    def target_bias(self, T: int, past: int) -> Tensor | None:
        """Return what is added to the decoder's own scores, (H, T, past + T), if anything."""
        return None

    def first(self, keep: Tensor | None, past: int = 0) -> int | Tensor:
        """Return the position of column 0, one or (B,): a row's first real token is at 0."""
        if keep is None or (readable(keep) and keep[:, 0].all()):
            return past
        return past - keep.int().argmax(dim=1)  # (B,)

    def finish(self, x: Tensor) -> Tensor:
        """A stack's output (B, T, D) -> what is read of it (B, T, D): T5 applies dropout."""
        return x

    # Training: the whole target is known.

    def forward(
        self,
        source: Tensor,
        target_in: Tensor,
        source_keep: Tensor | None = None,
        target_keep: Tensor | None = None,
    ) -> Tensor:
        """Teacher forcing: source (B, S), target_in (B, T) -> logits (B, T, V).

        `target_in` is the target shifted right (`shift_right`); the logits at t are about the token
        that follows target_in[:, t] and depend on target_in[:, : t + 1] only. `source_keep` (B, S)
        and `target_keep` (B, T) are True at real tokens; without them what is not `config.pad` is
        real, and the whole target is where it starts with the padding token.
        """
        return self.logits(self.hidden(source, target_in, source_keep, target_keep))

    def hidden(
        self,
        source: Tensor,
        target_in: Tensor,
        source_keep: Tensor | None = None,
        target_keep: Tensor | None = None,
    ) -> Tensor:
        """Return the decoder's output (B, T, D); the arguments are those of `forward`.

        The scores of all words are the most expensive part of a small model, and no loss needs them
        at padding: choose first, then `model.logits(hidden[target_out != pad])`.
        """
        check_tokens(target_in, self.config.vocabulary, "target_in")
        memory, memory_mask = self.encode(source, source_keep)
        if source.shape[0] != target_in.shape[0]:
            raise ValueError(
                "source and target_in must have one batch size, "
                f"found {tuple(source.shape)} and {tuple(target_in.shape)}"
            )
        keep = target_keep
        if keep is None and self.config.start != self.config.pad:
            keep = target_in != self.config.pad
        keep = real_tokens(keep, target_in, "target_keep")
        out = self.decoder(
            self.embed_target(target_in, self.first(keep)),
            memory,
            mask=padding_mask(keep, causal=True),
            causal=True,
            bias=self.target_bias(target_in.shape[1], past=0),
            memory_mask=memory_mask,
        )
        return self.finish(out)

    def encode(self, source: Tensor, keep: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """source (B, S) -> memory (B, S, D) and its mask (B, 1, 1, S).

        The mask is None where no source is padded.
        """
        check_tokens(source, self.source_vocabulary, "source")
        keep = source != self.config.pad if keep is None else keep
        keep = real_tokens(keep, source, "source_keep")
        mask = padding_mask(keep)
        out = self.encoder(
            self.embed_source(source, self.first(keep)),
            mask=mask,
            bias=self.source_bias(source.shape[1]),
        )
        return self.finish(out), mask

    # Writing: one token after the other, each past position computed once (`decoding`).

    def start(
        self,
        source: Tensor,
        keep: Tensor | None = None,
        *,
        prompt_keep: Tensor | None = None,
        capacity: int = 0,
    ) -> State:
        """Read the source (B, S) once and return the state in which nothing is written yet.

        `prompt_keep` (B, T) is False at the left padding of prompts, if they have any. The cache
        makes room for `capacity` target tokens at once, and grows when they are not enough.
        """
        memory, mask = self.encode(source, keep)
        return State(
            cache=StackCache(len(self.decoder.blocks), capacity),
            keep=prompt_keep,
            memory=memory,
            memory_mask=mask,
            positions=self.longest,
            quick=QuickStack.of(self.decoder),
            owner=ref(self),
        )

    def decode(self, tokens: Tensor, state: State) -> Tensor:
        """Read the next target tokens (B, T) and return the logits (B, V) of what follows them.

        The past, and the source's keys and values, are in `state.cache`: each is computed once.
        """
        check_tokens(tokens, self.config.vocabulary)
        state.check_owner(self)
        past, T = state.length, tokens.shape[1]
        keep = state.keep_with(tokens)  # (B, past + T)
        x = self.embed_target(tokens, self.first(keep, past))  # (B, T, D)
        shared: dict[str, Any] = {
            "cache": state.cache,
            "mask": padding_mask(keep),
            "memory_mask": state.memory_mask,
            "bias": self.target_bias(T, past),
        }
        if state.quick is not None and past and T == 1:
            x = state.quick(x, memory=state.memory, **shared)  # (B, 1, D)
        else:
            x = self.decoder(x, state.memory, causal=True, **shared)  # (B, T, D)
        return self.logits(self.finish(x[:, -1]))  # (B, V)

    @property
    def source_vocabulary(self) -> int:
        """The size of the encoder's vocabulary."""
        return self.config.vocabulary


def shift_right(tokens: Tensor, start: int) -> Tensor:
    """tokens (B, T) -> what the decoder reads to write them (B, T): `start`, then all but the last.

    The target "I am Sam ⟨end⟩" is read as "⟨start⟩ I am Sam".
    """
    check_shape(tokens, "tokens", "batch, length")
    check_int(0, start=start)
    return F.pad(tokens[:, :-1], (1, 0), value=start)


def real_tokens(keep: Tensor | None, tokens: Tensor, name: str) -> Tensor | None:
    """Return where `tokens` are real (B, T), or None if they are so everywhere."""
    if keep is None:
        return None
    check_keep(keep, tokens, name)
    return None if readable(keep) and keep.all() else keep


def padding_mask(keep: Tensor | None, causal: bool = False) -> Tensor | None:
    """Keep (B, S) -> (B, 1, 1, S): every query may attend to real tokens.

    Under a `causal` mask no real token sees the padding after the last one, so that only padding
    in front of a real token needs a mask.
    """
    if keep is None:
        return None
    if causal and readable(keep) and not (keep[:, 1:] & ~keep[:, :-1]).any():
        return None
    return keep[:, None, None, :]  # (B, 1, 1, S)
