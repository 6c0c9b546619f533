"""Span corruption: replace spans by sentinels, and ask for the spans (T5, Raffel et al., 2020).

    text     Thank you for inviting me to your party last week
    input    Thank you <X> me to your party <Y> week
    target   <X> for inviting <Y> last <Z>

Sentinels are ids that the text does not use: the first span gets `first_sentinel`, the second the
id below it, and so on. Input and target are both shorter than the text, and together they hold all
of it: `restore` puts it together again.

T5 cuts its corpus into texts of one length; then every row loses equally many tokens in equally
many spans, and a batch stays a rectangle. A single text of any length is a batch of one.
Shapes: B batch, T length of the text, S length of the input, U length of the target, n spans.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from coursekit._base.checks import check_int, check_number, check_positive, check_shape


@dataclass(frozen=True, kw_only=True)
class SpanCorruption:
    """How much is hidden, in spans of which mean length, and which ids mark the spans."""

    density: float = 0.15  # share of the tokens that are hidden
    mean_span: float = 3.0
    first_sentinel: int = 32_099
    sentinels: int = 100
    end: int | None = 1  # closes input and target; None for no end
    final_sentinel: bool = False  # <Z> of the paper's Figure 2; T5's code leaves it out
    shared_sentinels: bool = False  # sentinels are ordinary ids too, so a text may hold them

    def __post_init__(self) -> None:
        check_positive(mean_span=self.mean_span)
        check_number(density=self.density)
        check_int(0, first_sentinel=self.first_sentinel)
        if self.end is not None:
            check_int(0, end=self.end)
        check_int(sentinels=self.sentinels)
        if not 0 < self.density < 1:
            raise ValueError(f"density must lie between 0 and 1, found {self.density}")
        if self.first_sentinel < self.sentinels - 1:
            raise ValueError(
                f"{self.sentinels} sentinels count down from first_sentinel, "
                f"found first_sentinel={self.first_sentinel}"
            )

    @classmethod
    def t5(cls) -> SpanCorruption:
        """Return T5's setting: 15% in spans of 3, 100 sentinels at the end of the vocabulary."""
        return cls()

    @classmethod
    def byt5(cls) -> SpanCorruption:
        """Return ByT5's (Xue et al., 2022): spans of 20 bytes, the last byte ids as sentinels."""
        return cls(mean_span=20.0, first_sentinel=258, shared_sentinels=True)

    def counts(self, length: int) -> tuple[int, int]:
        """Return how many of `length` tokens are hidden, and in how many spans.

        At least one token is hidden and one is left, and text is between any two spans.
        """
        check_int(2, length=length)  # one to hide and one to show
        hidden = min(max(round(length * self.density), 1), length - 1)
        spans = min(max(round(hidden / self.mean_span), 1), hidden, length - hidden)
        if spans + self.final_sentinel > self.sentinels:
            raise ValueError(
                f"a text of {length} tokens gets {spans} spans, "
                f"but there are {self.sentinels} sentinels; cut the text"
            )
        return hidden, spans

    def lengths(self, length: int) -> tuple[int, int]:
        """Return the lengths S and U of input and target for a text of `length` tokens."""
        hidden, spans = self.counts(length)
        end = self.end is not None
        return length - hidden + spans + end, hidden + spans + self.final_sentinel + end

    def text_length(self, longest: int) -> int:
        """Return the longest text whose input has at most `longest` tokens; 568 for T5's 512."""
        length = 2
        if self.lengths(length)[0] > longest:
            raise ValueError(f"no text fits into an input of {longest} tokens")
        while self.lengths(length + 1)[0] <= longest:
            length += 1
        return length


@dataclass(frozen=True)
class Corrupted:
    """What the encoder reads and what the decoder must write."""

    inputs: Tensor  # (B, S)
    targets: Tensor  # (B, U)
    hidden: Tensor  # (B, T), boolean: which tokens of the text were hidden


def corrupt_spans(
    tokens: Tensor, setting: SpanCorruption, *, generator: torch.Generator | None = None
) -> Corrupted:
    """Hide random spans of texts of one length: tokens (B, T) -> `Corrupted`."""
    check_shape(tokens, "tokens", "batch, length")
    device = tokens.device if generator is None else generator.device
    rows, length = tokens.shape
    hidden = random_spans(rows, length, setting, generator=generator, device=device)
    return replace_spans(tokens, hidden.to(tokens.device), setting)


def random_spans(
    rows: int,
    length: int,
    setting: SpanCorruption,
    *,
    generator: torch.Generator | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return which tokens to hide: (B, T), boolean, the same number of tokens and spans a row.

    As in T5's code, the text and the hidden tokens are each cut into n parts at random, and the
    parts take turns, text first: a text begins with what it shows and ends with what it hides.
    """
    check_int(rows=rows)
    count, spans = setting.counts(length)
    visible = _random_parts(rows, length - count, spans, generator, device)  # (B, n)
    hidden = _random_parts(rows, count, spans, generator, device)  # (B, n)
    ends = torch.stack([visible, hidden], dim=-1).flatten(1).cumsum(dim=1)  # (B, 2n)
    places = torch.arange(length, device=device).expand(rows, -1).contiguous()  # (B, T)
    part = torch.searchsorted(ends, places, right=True)  # (B, T): which part a place lies in
    return part % 2 == 1  # (B, T)


def replace_spans(tokens: Tensor, hidden: Tensor, setting: SpanCorruption) -> Corrupted:
    """Write inputs and targets for tokens (B, T) of which `hidden` (B, T) are True.

    Each row must hide equally many tokens in equally many spans.
    """
    check_shape(tokens, "tokens", "batch, length")
    check_shape(hidden, "hidden", tokens.shape, torch.bool)
    _check_sentinels(tokens, setting)
    before = torch.zeros_like(hidden[:, :1])  # (B, 1)
    opens = hidden & ~torch.cat([before, hidden[:, :-1]], dim=1)  # (B, T): a span begins here
    if len({*hidden.sum(dim=1).tolist()}) > 1 or len({*opens.sum(dim=1).tolist()}) > 1:
        raise ValueError("each row must hide equally many tokens in equally many spans")
    spans = int(opens[0].sum())
    if spans + setting.final_sentinel > setting.sentinels:
        raise ValueError(f"found {spans} spans, but there are {setting.sentinels} sentinels")
    sentinel = setting.first_sentinel + 1 - opens.cumsum(dim=1)  # (B, T): the id of the last span

    rows = len(tokens)
    inputs = torch.where(opens, sentinel, tokens)[opens | ~hidden].view(rows, -1)
    # In the target every place may give two tokens: a sentinel if a span opens, a hidden token.
    pairs = torch.stack([sentinel, tokens], dim=-1)  # (B, T, 2)
    targets = pairs[torch.stack([opens, hidden], dim=-1)].view(rows, -1)
    if setting.final_sentinel:
        targets = _append(targets, setting.first_sentinel - spans)
    if setting.end is not None:
        inputs, targets = _append(inputs, setting.end), _append(targets, setting.end)
    return Corrupted(inputs, targets, hidden)


def restore(inputs: Tensor, targets: Tensor, setting: SpanCorruption) -> Tensor:
    """Put one text (T,) together again from its input (S,) and its target (U,)."""
    check_shape(inputs, "inputs", "length")
    check_shape(targets, "targets", "length")
    if setting.shared_sentinels:
        raise ValueError("sentinels that are ordinary ids too cannot be told from the text")
    spans: dict[int, list[int]] = {}
    key = None
    for token in _without_end(targets, setting):
        if _is_sentinel(token, setting):
            key = token
            spans[key] = []
        elif key is None:
            raise ValueError(f"a target begins with a sentinel, found {token}")
        else:
            spans[key].append(token)
    text: list[int] = []
    for token in _without_end(inputs, setting):
        if not _is_sentinel(token, setting):
            text.append(token)
        elif token in spans:
            text.extend(spans[token])
        else:
            raise ValueError(f"the input has sentinel {token}, but the target does not")
    return torch.tensor(text, dtype=inputs.dtype)


def _random_parts(
    rows: int,
    total: int,
    parts: int,
    generator: torch.Generator | None,
    device: torch.device | str | None,
) -> Tensor:
    """Cut `total` into `parts` lengths of at least 1, every way equally likely: (B, parts)."""
    order = torch.rand(rows, total - 1, generator=generator, device=device).argsort(dim=1)
    cuts = order[:, : parts - 1].sort(dim=1).values + 1  # (B, parts − 1), from 1 to total − 1
    first, last = cuts.new_zeros(rows, 1), cuts.new_full((rows, 1), total)
    return torch.cat([first, cuts, last], dim=1).diff(dim=1)  # (B, parts)


def _append(tokens: Tensor, token: int) -> Tensor:
    return torch.cat([tokens, tokens.new_full((len(tokens), 1), token)], dim=1)


def _without_end(tokens: Tensor, setting: SpanCorruption) -> list[int]:
    ids = tokens.tolist()
    return ids[:-1] if setting.end is not None and ids and ids[-1] == setting.end else ids


def _is_sentinel(token: int, setting: SpanCorruption) -> bool:
    return 0 <= setting.first_sentinel - token < setting.sentinels


def _check_sentinels(tokens: Tensor, setting: SpanCorruption) -> None:
    lowest = setting.first_sentinel - setting.sentinels + 1
    clash = (tokens >= lowest) & (tokens <= setting.first_sentinel)
    if not setting.shared_sentinels and clash.any():
        raise ValueError(
            f"the text holds id {int(tokens[clash][0])}, which is a sentinel "
            f"({lowest} to {setting.first_sentinel})"
        )
