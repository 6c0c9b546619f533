"""Denoising: damage a document, and ask for the whole of it again (BART, Lewis et al., 2020).

    the document           A B C . D E .
    token masking          A _ C . _ E .       single tokens become [MASK]
    token deletion         A C . E .           single tokens are gone; where is for the model to say
    text infilling         A _ . D _ E .       spans become one [MASK]; some spans are empty
    sentence permutation   D E . A B C .       the sentences in another order
    document rotation      C . D E . A B       the document begins at a random token

Of these, "we mask 30% of tokens in each document, and permute all sentences": `bart_noise`. A
document is one row of ids (T,) without start and end; `denoising_batch` adds them and pads.
The book explains it in "T5 and BART".
Shapes: B batch, S source length, T length of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from coursekit._base.checks import check_fraction, check_int, check_positive, check_shape
from coursekit.objectives.rows import pad_rows
from coursekit.objectives.special_tokens import SpecialTokens


def token_masking(
    tokens: Tensor, *, mask: int, share: float = 0.15, generator: torch.Generator | None = None
) -> Tensor:
    """Replace `share` of the tokens (T,) by `mask`, each on its own: (T,)."""
    check_int(0, mask=mask)
    chosen = _choose(tokens, share, generator)  # (T,)
    return tokens.masked_fill(chosen, mask)


def token_deletion(
    tokens: Tensor, *, share: float = 0.15, generator: torch.Generator | None = None
) -> Tensor:
    """Remove `share` of the tokens (T,), and leave no trace of where they were: (T − removed,)."""
    return tokens[~_choose(tokens, share, generator)]


def text_infilling(
    tokens: Tensor,
    *,
    mask: int,
    share: float = 0.3,
    mean_span: float = 3.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Replace spans that hold `share` of the tokens (T,) together by one `mask` each.

    The lengths of the spans come from a Poisson distribution with mean 3. A span of length 0
    hides nothing: its mask is inserted between two tokens. So the model must also find out how
    many tokens are missing, if any; a sentinel of T5 always stands for at least one.
    """
    check_shape(tokens, "tokens", "length")
    check_int(0, mask=mask)
    check_positive(mean_span=mean_span)
    hidden = _count(tokens, share)
    spans = _poisson_lengths(hidden, mean_span, generator)  # (n,), sum = hidden
    kept = len(tokens) - hidden
    # The result is a line of `kept` tokens and n masks, and every order of the two is as likely.
    items = torch.randperm(kept + len(spans), generator=generator, device=_home(tokens, generator))
    places = items[: len(spans)].to(tokens.device)  # (n,): where the masks are
    taken = torch.ones(kept + len(spans), dtype=torch.long, device=tokens.device)
    taken[places] = spans.to(tokens.device)  # how many tokens of the document each item stands for
    starts = taken.cumsum(dim=0) - taken  # and where in the document they begin
    out = tokens[starts.clamp(max=max(len(tokens) - 1, 0))]
    out[places] = mask
    return out


def sentence_permutation(
    tokens: Tensor,
    *,
    full_stops: int | Sequence[int],
    generator: torch.Generator | None = None,
) -> Tensor:
    """Put the sentences of the document (T,) into a random order: (T,).

    A sentence ends after a full stop, or after several in a row; what follows the last full stop
    is a sentence too.
    """
    sentences = split_sentences(tokens, full_stops)
    order = torch.randperm(len(sentences), generator=generator, device=_home(tokens, generator))
    return torch.cat([sentences[i] for i in order.tolist()]) if sentences else tokens


def document_rotation(tokens: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """Begin the document (T,) at a random token, and move what came before it to the end: (T,)."""
    check_shape(tokens, "tokens", "length")
    if not len(tokens):
        return tokens
    start = torch.randint(len(tokens), (), generator=generator, device=_home(tokens, generator))
    return tokens.roll(-int(start))


def bart_noise(
    tokens: Tensor,
    *,
    mask: int,
    full_stops: int | Sequence[int],
    share: float = 0.3,
    mean_span: float = 3.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return what BART is trained on: all sentences permuted, then 30% of the tokens infilled.

    In this order, since a full stop that is hidden no longer ends a sentence.
    """
    tokens = sentence_permutation(tokens, full_stops=full_stops, generator=generator)
    return text_infilling(tokens, mask=mask, share=share, mean_span=mean_span, generator=generator)


def split_sentences(tokens: Tensor, full_stops: int | Sequence[int]) -> list[Tensor]:
    """Return the sentences of a document (T,), each with its full stops."""
    check_shape(tokens, "tokens", "length")
    stops = [full_stops] if isinstance(full_stops, int) else list(full_stops)
    stop = torch.isin(tokens, torch.tensor(stops, device=tokens.device))  # (T,)
    ends = (stop[:-1] & ~stop[1:]).nonzero()[:, 0] + 1  # a stop, and none after it
    return [part for part in tokens.tensor_split(ends.tolist()) if len(part)]


@dataclass(frozen=True)
class DenoisingBatch:
    """What the encoder reads and what the decoder must write, start and end included."""

    source: Tensor  # (B, S)
    target: Tensor  # (B, T + 2)


def denoising_batch(
    documents: Sequence[Tensor],
    special: SpecialTokens,
    noise: Callable[..., Tensor],
    *,
    generator: torch.Generator | None = None,
) -> DenoisingBatch:
    """Damage each document (T,) with `noise(document, generator=…)` and pad the batch.

    `functools.partial(bart_noise, mask=50264, full_stops=4)` is such a noise.
    """

    def framed(tokens: Tensor) -> Tensor:
        start, end = tokens.new_tensor([special.cls]), tokens.new_tensor([special.sep])
        return torch.cat([start, tokens, end])

    noised = [noise(document, generator=generator) for document in documents]
    return DenoisingBatch(
        source=pad_rows([framed(document) for document in noised], special.pad),  # (B, S)
        target=pad_rows([framed(document) for document in documents], special.pad),  # (B, T + 2)
    )


def _choose(tokens: Tensor, share: float, generator: torch.Generator | None) -> Tensor:
    """Return a boolean (T,) with exactly `share` of the places True, to the nearest number."""
    check_shape(tokens, "tokens", "length")
    order = torch.randperm(len(tokens), generator=generator, device=_home(tokens, generator))
    return (order < _count(tokens, share)).to(tokens.device)  # (T,)


def _count(tokens: Tensor, share: float) -> int:
    check_fraction(share=share)
    return round(len(tokens) * share)


def _poisson_lengths(total: int, mean: float, generator: torch.Generator | None) -> Tensor:
    """Draw lengths until they sum to `total`, the last one cut so that they do: (n,)."""
    lengths = torch.zeros(0, dtype=torch.long)
    rates = torch.full((total,), mean, device=None if generator is None else generator.device)
    while lengths.sum() < total:
        lengths = torch.cat([lengths, torch.poisson(rates, generator=generator).long().cpu()])
    sums = lengths.cumsum(dim=0)
    count = int((sums < total).sum()) + 1 if total else 0
    lengths = lengths[:count]
    if count:
        lengths[-1] -= sums[count - 1] - total
    return lengths


def _home(tokens: Tensor, generator: torch.Generator | None) -> torch.device:
    return tokens.device if generator is None else generator.device
