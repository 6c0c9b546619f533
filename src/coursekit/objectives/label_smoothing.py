"""Label smoothing: the target is 1 − ε on the right token, and ε spread over the vocabulary.

A cross-entropy against one certain token is never satisfied: it asks for logits that grow without
end. Against a smoothed target there is a best answer at finite logits (Szegedy et al., 2016).
Vaswani et al. (2017) use ε = 0.1 and note that it "hurts perplexity, as the model learns to be more
unsure, but improves accuracy and BLEU score".

As in torch, the share ε/V goes to every token, the right one and the padding token included.
Padding positions have no target and no loss; the mean is over the real tokens. A target of −100,
torch's own mark of a position without a target, counts as padding too.
Shapes: B batch, T target length, D width, V vocabulary.
"""

from __future__ import annotations

import math

import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import check_fraction, check_int, check_shape, check_tensor, readable

IGNORED = -100


def smoothed_targets(targets: Tensor, vocabulary: int, smoothing: float) -> Tensor:
    """Targets (...) -> the distribution (..., V) that the model should predict."""
    check_int(vocabulary=vocabulary)
    check_fraction(smoothing=smoothing)
    certain = F.one_hot(targets, vocabulary)  # (..., V)
    return (1 - smoothing) * certain + smoothing / vocabulary  # (..., V): each row sums to 1


def smoothed_cross_entropy(
    logits: Tensor, targets: Tensor, *, smoothing: float = 0.1, pad: int | None = None
) -> Tensor:
    """logits (..., V), targets (...) -> mean over real tokens of −Σ_v q(v) log p(v).

    With q = `smoothed_targets` the sum has two parts: the usual loss of the right token, and the
    mean of the losses of all tokens. It equals KL(q ‖ p) up to a constant, `lowest_loss`.
    """
    _check(logits, targets, smoothing)
    real = _real(targets, pad)  # (...)
    logits, targets = logits[real], targets[real]  # (N, V), (N,)
    log_p = logits.log_softmax(dim=-1)  # (N, V)
    right = -log_p.gather(-1, targets[:, None])[:, 0]  # (N,)
    if not smoothing:
        return right.mean()  # 0 · ∞ would be NaN where a word is impossible
    every = -log_p.mean(dim=-1)  # (N,)
    return ((1 - smoothing) * right + smoothing * every).mean()


def fused_cross_entropy(
    logits: Tensor, targets: Tensor, *, smoothing: float = 0.1, pad: int | None = None
) -> Tensor:
    """Return what `smoothed_cross_entropy` returns, in torch's single fused call."""
    _check(logits, targets, smoothing)
    real = _real(targets, pad)  # (...)
    if pad is not None:
        targets = targets.masked_fill(~real, IGNORED)
    return F.cross_entropy(
        logits.flatten(0, -2),  # (N, V)
        targets.flatten(),  # (N,)
        ignore_index=IGNORED,
        label_smoothing=smoothing,
    )


def lowest_loss(vocabulary: int, smoothing: float) -> float:
    """Return the entropy of a smoothed target: the loss of the best possible prediction.

    It is 0 without smoothing. With ε = 0.1 and 37,000 tokens no model gets below 1.38.
    """
    check_int(vocabulary=vocabulary)
    check_fraction(smoothing=smoothing)
    rest = smoothing / vocabulary
    right = 1 - smoothing + rest
    return -right * math.log(right) - (vocabulary - 1) * (rest and rest * math.log(rest))


def _real(targets: Tensor, pad: int | None) -> Tensor:
    real = targets != IGNORED  # (...)
    if pad is not None:
        check_int(-math.inf, pad=pad)
        real &= targets != pad
    if readable(real) and not real.any():
        raise ValueError(
            f"a mean over no tokens: every target is padding ({IGNORED if pad is None else pad})"
        )
    return real


def _check(logits: Tensor, targets: Tensor, smoothing: float) -> None:
    check_fraction(smoothing=smoothing)
    check_tensor(logits, "logits")
    check_shape(targets, "targets", logits.shape[:-1])
