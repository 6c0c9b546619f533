"""The few ids of a vocabulary that are not text: padding, start, separator, mask.

The book adds them in "Tokenization" and "BERT".
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from coursekit._base.checks import check_int


@dataclass(frozen=True, kw_only=True)
class SpecialTokens:
    """Ids with a meaning of their own; `others` are further ids that are not text, such as [UNK].

    `cls` opens every input, `sep` closes each of its parts, `mask` hides a token, `pad` fills up.
    """

    pad: int
    cls: int
    sep: int
    mask: int
    others: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_int(0, pad=self.pad, cls=self.cls, sep=self.sep, mask=self.mask)
        if len(set(self.ids)) < len(self.ids) or min(self.ids) < 0:
            raise ValueError(f"special tokens need different ids from 0 up, found {self.ids}")

    @classmethod
    def bert(cls) -> SpecialTokens:
        """Return the ids of BERT's published vocabularies; the fifth is [UNK]."""
        return cls(pad=0, cls=101, sep=102, mask=103, others=(100,))

    @classmethod
    def roberta(cls) -> SpecialTokens:
        """Return the ids of RoBERTa and BART, <s> = cls and </s> = sep; the fifth is <unk>."""
        return cls(pad=1, cls=0, sep=2, mask=50264, others=(3,))

    @property
    def ids(self) -> tuple[int, ...]:
        """All of them."""
        return (self.pad, self.cls, self.sep, self.mask, *self.others)

    def find(self, tokens: Tensor) -> Tensor:
        """Tokens (...) -> boolean (...), True where a token is special."""
        return torch.isin(tokens, torch.tensor(self.ids, device=tokens.device))

    def ordinary(self, vocabulary: int, device: torch.device | str | None = None) -> Tensor:
        """Return the ids below `vocabulary` that are text, in order: (V − specials,)."""
        if max(self.ids) >= vocabulary:
            raise ValueError(
                f"special tokens must lie within the vocabulary of {vocabulary}, found {self.ids}"
            )
        ids = torch.arange(vocabulary, device=device)  # (V,)
        return ids[~self.find(ids)]
