"""What every training that translates needs: pairs as token ids, batches, the loss, BLEU.

Models: `Seq2SeqTransformer` and `RNNSearch`, which both read `model(source, target_in)`. The book
explains teacher forcing, the loss and BLEU in "The Transformer that translates".
Shapes: B batch, S source length, T target length, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from coursekit._base.checks import check_fraction, check_int
from coursekit.data.verses import Pair
from coursekit.decoding import generation as decoding
from coursekit.models.encoder_decoder import EncoderDecoder
from coursekit.models.rnnsearch import RNNSearch
from coursekit.tokenizers.base import Tokenizer

SPECIAL = ("<pad>", "<start>", "<end>")
PAD, START, END = range(3)
BATCH = 64  # sentences that are translated at once
LONGER = 20  # how many tokens a translation may be longer than its source (the paper: 50)


class Encoded(NamedTuple):
    """A pair of sentences as token ids, without start and end."""

    source: list[int]
    target: list[int]


class Batch(NamedTuple):
    """Pairs of one batch: what the encoder reads, what the decoder reads, what it should say."""

    source: Tensor  # (B, S)
    target_in: Tensor  # (B, T): the start symbol, then the target
    target_out: Tensor  # (B, T): the target, then the end symbol


def encode(pairs: Sequence[Pair], tokenizer: Tokenizer) -> list[Encoded]:
    """Cut both sides of all pairs into tokens; the special ones must have the first ids."""
    names = [tokenizer.id_to_token(number) for number in range(len(SPECIAL))]
    if names != list(SPECIAL):
        raise ValueError(f"the first tokens must be {', '.join(SPECIAL)}, found {names}")
    return [Encoded(tokenizer.encode(p.english), tokenizer.encode(p.french)) for p in pairs]


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of token ids -> (B, longest), filled up with padding behind."""
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def collate(pairs: Sequence[Encoded]) -> Batch:
    """Make a batch: the decoder reads the target one place late."""
    return Batch(
        padded([pair.source for pair in pairs]),
        padded([[START, *pair.target] for pair in pairs]),
        padded([[*pair.target, END] for pair in pairs]),
    )


def pair_length(pair: Encoded) -> int:
    """Return how long a pair is, for batches of about one length."""
    return len(pair.source) + len(pair.target)


def translation_loss(smoothing: float = 0.0) -> Callable[[Any, Batch], tuple[Tensor, Tensor]]:
    """Return the loss for `train`: the sum over all real target tokens, and their number."""
    check_fraction(smoothing=smoothing)

    def loss(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        logits = model(batch.source, batch.target_in)  # (B, T, V)
        real = batch.target_out != PAD  # (B, T)
        smooth = smoothing if model.training else 0.0  # what is measured is the plain loss
        total = F.cross_entropy(
            logits[real], batch.target_out[real], reduction="sum", label_smoothing=smooth
        )
        return total, real.sum()

    return loss


@torch.no_grad()
def mean_loss(model: nn.Module, pairs: Sequence[Encoded]) -> float:
    """Return the loss for each token of `pairs`, without smoothing; e to its power: perplexity."""
    check_int(pairs=len(pairs))
    device = next(model.parameters()).device
    measure, total, count = translation_loss(), 0.0, 0
    model.eval()
    for start in range(0, len(pairs), BATCH):
        batch = collate(pairs[start : start + BATCH])
        part, number = measure(model, Batch(*(tensor.to(device) for tensor in batch)))
        total, count = total + part.item(), count + int(number)
    return total / count


@torch.no_grad()
def translate(
    model: EncoderDecoder | RNNSearch,
    pairs: Sequence[Encoded],
    tokenizer: Tokenizer,
    *,
    beams: int = 1,
    alpha: float = 0.6,
) -> list[str]:
    """Translate the sources of `pairs`: greedily, or with a beam search."""
    check_int(beams=beams, pairs=len(pairs))
    device = next(model.parameters()).device
    model.eval()
    order = sorted(range(len(pairs)), key=lambda index: len(pairs[index].source))
    texts = [""] * len(pairs)
    for start in range(0, len(pairs), BATCH):
        chosen = order[start : start + BATCH]
        source = padded([pairs[index].source for index in chosen]).to(device)  # (B, S)
        for index, tokens in zip(chosen, _write(model, source, beams, alpha).tolist()):
            tokens = tokens[: len(pairs[index].source) + LONGER]
            if END in tokens:
                tokens = tokens[: tokens.index(END)]
            texts[index] = tokenizer.decode(tokens, skip_special=True).strip()
    return texts


def _write(model: EncoderDecoder | RNNSearch, source: Tensor, beams: int, alpha: float) -> Tensor:
    """Source (B, S) -> tokens (B, L)."""
    if isinstance(model, RNNSearch):
        if beams > 1:
            raise ValueError(f"RNNSearch decodes greedily here, found beams={beams}")
        return model.greedy(source, longest=source.shape[1] + LONGER)
    first = source.new_full((len(source), 1), START)  # (B, 1)
    longest = (source != PAD).sum(dim=1) + LONGER  # (B,)
    state = model.start(source)
    if beams == 1:
        return decoding.generate(model, first, state, longest=longest, end=END, pad=PAD)
    hypotheses = decoding.beam_search(
        model, first, state, beams=beams, longest=longest, end=END, pad=PAD, alpha=alpha
    )
    return hypotheses.tokens[:, 0]  # (B, L)


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Return sacrebleu's BLEU of a whole corpus, from 0 to 100."""
    from sacrebleu import corpus_bleu

    if len(translations) != len(references) or not len(references):
        raise ValueError(
            "there must be one reference for each translation, at least one, "
            f"found {len(translations)} translations and {len(references)} references"
        )
    return corpus_bleu(list(translations), [list(references)], force=True).score
