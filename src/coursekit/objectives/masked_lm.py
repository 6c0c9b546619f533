"""The masked language model: hide some tokens and ask for them (BERT, Devlin et al., 2019).

"The training data generator chooses 15% of the token positions at random for prediction. If the
i-th token is chosen, we replace the i-th token with (1) the [MASK] token 80% of the time (2) a
random token 10% of the time (3) the unchanged i-th token 10% of the time."

Here each position is chosen by its own coin, so 15% is an expectation. BERT masked its corpus once,
RoBERTa calls this anew in every epoch: that is all of "dynamic masking".
Shapes: B batch, T length, V vocabulary, N chosen positions in the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import (
    check_choice,
    check_fraction,
    check_int,
    check_number,
    check_shape,
    check_tensor,
    check_tokens,
)
from coursekit.objectives.special_tokens import SpecialTokens

IGNORED = -100  # the label of a position that was not chosen, as in torch's cross-entropy


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """What a chosen token becomes: shares of [MASK], of the same token and of a random one."""

    mask: float = 0.8
    same: float = 0.1
    random: float = 0.1

    def __post_init__(self) -> None:
        check_number(mask=self.mask, same=self.same, random=self.random)
        shares = (self.mask, self.same, self.random)
        if min(shares) < 0 or not abs(sum(shares) - 1) <= 1e-6:  # NaN is not
            raise ValueError(f"mask, same and random must be shares that sum to 1, found {shares}")


# The rows of Table 8 of the BERT paper, named as printed there: mask/same/random, in percent.
TABLE_8 = {
    "80/10/10": Replacement(mask=0.8, same=0.1, random=0.1),
    "100/0/0": Replacement(mask=1.0, same=0.0, random=0.0),
    "80/0/20": Replacement(mask=0.8, same=0.0, random=0.2),
    "80/20/0": Replacement(mask=0.8, same=0.2, random=0.0),
    "0/20/80": Replacement(mask=0.0, same=0.2, random=0.8),
    "0/0/100": Replacement(mask=0.0, same=0.0, random=1.0),
}


@dataclass(frozen=True)
class MaskedTokens:
    """A batch with some tokens hidden, and what they were."""

    inputs: Tensor  # (B, T), what the model reads
    labels: Tensor  # (B, T), the original token where chosen, −100 elsewhere
    chosen: Tensor  # (B, T), boolean


def mlm_mask(
    tokens: Tensor,
    special: SpecialTokens,
    vocabulary: int,
    *,
    rate: float = 0.15,
    replacement: Replacement = TABLE_8["80/10/10"],
    words: Tensor | None = None,
    at_least_one: bool = False,
    generator: torch.Generator | None = None,
) -> MaskedTokens:
    """Choose `rate` of the real tokens (B, T) and hide them; special tokens are never touched.

    A random token is drawn from all tokens that are text, so now and then it is the right one.
    `words` (B, T) numbers the word of each token from 0 within its row (any number at special
    tokens) and lets whole words be chosen: their pieces share one coin, and each piece is then
    replaced on its own. With `at_least_one`, each row that has text gets a chosen token.
    """
    check_int(vocabulary=vocabulary)
    check_tokens(tokens, vocabulary)
    check_fraction(rate=rate)
    text = ~special.find(tokens)  # (B, T)
    device = tokens.device if generator is None else generator.device  # of the random numbers

    def uniform() -> Tensor:
        return torch.rand(tokens.shape, generator=generator, device=device).to(tokens.device)

    coins = uniform()  # (B, T) in [0, 1)
    if words is not None:
        _check_words(words, tokens)
        coins = coins.gather(1, words.long().clamp(min=0))  # (B, T): one coin a word
    chosen = text & (coins < rate)  # (B, T)
    if at_least_one:
        coins = coins.masked_fill(~text, 2.0)
        chosen |= text & (coins == coins.amin(dim=1, keepdim=True))  # (B, T): the lowest coin

    fate = uniform()  # (B, T): what becomes of a chosen token
    hidden = chosen & (fate < replacement.mask)
    swapped = chosen & ~hidden & (fate < replacement.mask + replacement.random)
    ordinary = special.ordinary(vocabulary, tokens.device)  # (V − specials,)
    replacements = torch.randint(
        len(ordinary), tokens.shape, generator=generator, device=device
    )  # (B, T)
    random = ordinary[replacements.to(tokens.device)].to(tokens.dtype)  # (B, T)
    inputs = torch.where(swapped, random, tokens).masked_fill(hidden, special.mask)  # (B, T)
    return MaskedTokens(inputs, tokens.long().masked_fill(~chosen, IGNORED), chosen)


def masked_lm_loss(
    logits: Tensor, labels: Tensor, *, reduction: Literal["mean", "sum"] = "mean"
) -> Tensor:
    """Return the mean cross-entropy of the chosen positions; no other position carries loss.

    `labels` (B, T) is −100 where nothing was chosen. `logits` are (B, T, V), or (N, V) from a head
    that was asked for the chosen positions only, in the order of `hidden[chosen]`. `train` takes
    the sum (`reduction`), with the number of chosen positions.
    """
    check_choice(("mean", "sum"), reduction=reduction)
    check_tensor(logits, "logits")
    check_tensor(labels, "labels")
    chosen = labels != IGNORED  # (B, T)
    if reduction == "mean" and not chosen.any():
        raise ValueError(
            "no position was chosen, so there is no loss to take the mean of; "
            "mlm_mask(..., at_least_one=True) chooses at least one in each row"
        )
    if logits.shape[:-1] == labels.shape:
        logits = logits[chosen]  # (N, V)
    answers = labels[chosen]  # (N,)
    if logits.ndim != 2 or len(logits) != len(answers):
        raise ValueError(
            f"logits must have shape {(*labels.shape, 'V')} or, for the chosen positions alone, "
            f"{(len(answers), 'V')}, found {tuple(logits.shape)}"
        )
    return F.cross_entropy(logits, answers, reduction=reduction)


def _check_words(words: Tensor, tokens: Tensor) -> None:
    check_shape(words, "words", tokens.shape)
    if words.max() >= tokens.shape[1]:
        raise ValueError(
            f"words must be numbered from 0 within each row of {tokens.shape[1]} tokens, "
            f"found word {int(words.max())}"
        )
