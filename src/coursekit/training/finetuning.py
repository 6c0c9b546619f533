"""Fine-tuning on few labels: rates by layer, a fresh top, and what many starts are worth.

Fine-tune the same weights twice, and only the seed differs: the scores may lie far apart. The first
two functions are recipes against that, the others say what it costs to start often and keep the
best. They take a `Bert`, or a model of `bert_heads` built on one. The book explains all of it
in "Fine-tuning practice".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, TypeVar

from torch import nn

from coursekit._base.checks import check_at_least, check_fraction, check_int, check_number
from coursekit.models.bert import Bert, initialise

Model = TypeVar("Model", bound=nn.Module)


def layer_rates(
    model: nn.Module, lr: float, decay: float, *, weight_decay: float | None = None
) -> list[dict[str, Any]]:
    """Return the groups for an optimiser, the top first: each layer learns at lr · decay^distance.

    distance 0      the head of the task, and the pooler
             1, …   the blocks, from the last down to the first
             L + 1  the embeddings of a Bert of L blocks

    So count Zhang et al. (2021) in their program. What lies low is general and worth keeping, so it
    moves least (Howard and Ruder, 2018); decay 1 treats all alike, decay 0 trains the head alone.
    With `weight_decay` there are two groups for a distance: matrices decay, biases and norms do
    not, as in BERT's program.
    """
    check_at_least(lr=lr)
    check_fraction(decay=decay)
    if weight_decay is not None:
        check_at_least(weight_decay=weight_decay)
    bert = _encoder_of(model)
    depth = len(bert.encoder.blocks)
    distances = dict.fromkeys(model.parameters(), 0)
    for number, block in enumerate(bert.encoder.blocks):
        distances |= dict.fromkeys(block.parameters(), depth - number)
    distances |= dict.fromkeys(bert.embeddings.parameters(), depth + 1)
    groups: dict[tuple[int, bool], list[nn.Parameter]] = {}
    for weight, distance in distances.items():
        free = weight_decay is not None and weight.ndim < 2  # a bias, or a norm
        groups.setdefault((distance, free), []).append(weight)
    all_groups = []
    for distance, free in sorted(groups):
        group = {"params": groups[distance, free], "lr": lr * decay**distance}
        if weight_decay is not None:
            group["weight_decay"] = 0.0 if free else weight_decay
        all_groups.append(group)
    return all_groups


def fresh_top(model: Model, layers: int) -> Model:
    """Draw the last `layers` blocks and the pooler anew, in place; return the model.

    They start as a new `Bert` does: matrices from N(0, 0.02), biases at 0, norms as the identity.
    The top of a pre-trained model has specialised in the task that it will not be asked again
    (Zhang et al., 2021). `layers=0` draws the pooler only. Set torch's seed before.
    """
    bert = _encoder_of(model)
    depth = len(bert.encoder.blocks)
    check_int(least=0, layers=layers)
    if layers > depth:
        raise ValueError(f"layers must be at most {depth}, the blocks of this Bert, found {layers}")
    top = list(bert.encoder.blocks)[depth - layers :]
    for part in [*top, bert.pooler] if bert.pooler is not None else top:
        initialise(part)
        for module in part.modules():
            if isinstance(module, nn.LayerNorm):
                module.reset_parameters()
    return model


def _encoder_of(model: nn.Module) -> Bert:
    """Return the `Bert` that a model is, or is built on."""
    bert = model if isinstance(model, Bert) else getattr(model, "bert", None)
    if not isinstance(bert, Bert):
        kind = type(model).__name__
        raise TypeError(f"the model must be a Bert, or stand on one as `bert`, found {kind}")
    return bert


def expected_best(scores: Sequence[float], n: int, *, replacement: bool = True) -> float:
    """Return the score to expect of the best of `n` runs, from the scores of all runs made.

    Sort them: v₁ ≤ … ≤ v_N. Then the best of n is v_i with the chance

    (i/N)ⁿ − ((i − 1)/N)ⁿ       if the n are drawn with replacement (Dodge et al., 2019)
    C(i − 1, n − 1) / C(N, n)   without: the mean over all choices of n of the N runs

    The first is the one in the papers and errs downwards, for a draw may take a run twice; the
    second is right on average (Tang et al., 2020). More than N runs are refused in both: no
    formula knows of runs better than those that were made.
    """
    check_number(**{f"scores[{run}]": score for run, score in enumerate(scores)})
    check_int(n=n)
    runs = len(scores)
    if n > runs:
        raise ValueError(f"n must be at most the number of runs made, {runs}, found {n}")
    ordered = sorted(float(score) for score in scores)
    if any(map(math.isnan, ordered)):
        raise ValueError(
            "scores must be numbers, found NaN: leave out or score the run that failed"
        )
    best = 0.0
    for place, score in enumerate(ordered, 1):
        if replacement:
            chance = (place / runs) ** n - ((place - 1) / runs) ** n
        else:
            chance = math.comb(place - 1, n - 1) / math.comb(runs, n)
        best += chance * score
    return best


class Survivor(NamedTuple):
    """The run that was not stopped, its score, and what was saved of the training of all runs."""

    run: int
    score: float
    saved: float
    lasted: tuple[int, ...]  # for each run, how many parts of its training it was given


def stop_early(curves: Sequence[Sequence[float]], looks: Collection[int]) -> Survivor:
    """Start all runs, stop the worse half at every look, and keep the best at the end.

    `curves[run]` holds the validation scores of a run after 1, 2, … equal parts of its training,
    higher is better; `looks` says after how many parts one looks: {1, 2} of 8 parts, say. A run is
    judged by its score at the look. Of an odd number the middle one stays, and of equal runs the
    earlier. What `saved` is a share of is the training of all runs to their end (Dodge et al.,
    2020). Measure the test set afterwards, on the survivor alone: it must not choose.
    """
    parts = {len(curve) for curve in curves}
    if len(parts) != 1 or 0 in parts:
        raise ValueError(
            f"every run needs a score after each of the same parts, found {len(curves)} runs "
            f"with {sorted(parts)} scores"
        )
    (length,) = parts
    check_int(**{f"looks[{number}]": look for number, look in enumerate(looks)})
    if any(look >= length for look in looks):
        raise ValueError(
            f"a look comes before the end, after 1 to {length - 1} parts, found {max(looks)}"
        )
    if any(math.isnan(score) for curve in curves for score in curve):
        raise ValueError("curves must hold numbers, found NaN: score the run that failed lowest")
    running, lasted = list(range(len(curves))), [0] * len(curves)
    for part in range(length):
        for run in running:
            lasted[run] += 1
        running.sort(key=lambda run: (-curves[run][part], run))
        if part + 1 in looks:
            running = running[: (len(running) + 1) // 2]
    best = running[0]  # sorted by the last part
    saved = 1 - sum(lasted) / (len(curves) * length)
    return Survivor(best, float(curves[best][-1]), saved, tuple(lasted))
