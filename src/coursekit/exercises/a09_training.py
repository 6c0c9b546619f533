"""Assignment 9, to the page "Training practice": what stands between a gradient and a new weight,
and who says when it is enough.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a09_training.py`.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.exercises.mistakes import a09_training as wrong
from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written
from coursekit.training.schedules import vaswani

READY_RATE = ("torch.optim.lr_scheduler", "coursekit")
READY_CLIP = ("torch.nn.utils", "coursekit")
READY_ADAM = ("torch.optim", "coursekit")

# --- paper_rate


def _paper_rate(step: int, width: int, warmup: int = 4000) -> float:
    return vaswani(width=width, warmup=warmup)(step)


RATE = Question(
    name="paper_rate",
    title="Up along a line, down as a root",
    points=2,
    difficulty=1,
    minutes=10,
    hint="Two curves, step^-0.5 and step · warmup^-1.5. Take the lower one, and multiply it by "
    "width^-0.5. ** is the power, and min takes two numbers.",
    page="training.html#sec-training-warmup",
    reference=_paper_rate,
    cases=(
        Case(
            "width 4 and a warm-up of 4, step by step",
            lambda student: [student.paper_rate(step, 4, 4) for step in range(1, 10)],
        ),
        Case(
            "around the peak of the paper's base model",
            lambda student: [student.paper_rate(step, 512) for step in (3999, 4000, 4001)],
            tolerance=1e-9,
        ),
        Case(
            "the beginning and the end of its training",
            lambda student: [student.paper_rate(step, 512) for step in (1, 100, 100_000)],
            tolerance=1e-9,
        ),
        Case("a warm-up of one step", lambda student: student.paper_rate(1, 9, 1)),
    ),
    misconceptions=(
        Misconception(
            "the larger of the two",
            wrong.rate_larger,
            "You take the larger of the two curves, so the rate is highest at step 1 and grows "
            "without end later. The lower one counts: min.",
        ),
        Misconception(
            "times the root of the width",
            wrong.rate_wider_is_faster,
            "Wider models get larger rates in yours. The factor is width^-0.5, one over the root.",
        ),
        Misconception(
            "width forgotten",
            wrong.rate_no_width,
            "The shape is right, the height is not: multiply by width^-0.5.",
        ),
        Misconception(
            "counted from 0",
            wrong.rate_from_zero,
            "Your first step has a rate of 0, as if steps were counted from 0. The first is number "
            "1: use `step` as it comes.",
        ),
        Misconception(
            "one step ahead",
            wrong.rate_one_ahead,
            "You are one step ahead: you add 1 to a number that counts from 1 already.",
        ),
        Misconception(
            "no warm-up",
            wrong.rate_no_warmup,
            "Yours falls from the first step on. Up to step `warmup` the other curve is the lower "
            "one, the line step · warmup^-1.5.",
        ),
        Misconception(
            "stays at the peak",
            wrong.rate_stays,
            "Your warm-up is right, and then the rate stays where it is. From there it falls, as "
            "step^-0.5.",
        ),
        Misconception(
            "too steep",
            wrong.rate_too_steep,
            "Your line is too steep: it crosses the other curve before step `warmup`. Its slope "
            "is warmup^-1.5, so that the two meet at exactly that step.",
        ),
        Misconception(
            "falls as 1/step",
            wrong.rate_no_root,
            "After the peak you fall as 1/step. The paper's rate falls as 1/√step: at four times "
            "the warm-up it is still half of the peak.",
        ),
    ),
    forbidden=READY_RATE,
)

# --- clip_together


def _clip_together(gradients: dict[str, Tensor], limit: float) -> tuple[dict[str, Tensor], float]:
    norm = float(torch.cat([gradient.flatten() for gradient in gradients.values()]).norm())
    factor = limit / norm if norm > limit else 1.0
    return {name: factor * gradient for name, gradient in gradients.items()}, norm


def three_gradients(seed: int = 0, scale: float = 1.0) -> dict[str, Tensor]:
    """Return gradients of three shapes and of three sizes."""
    return {
        "embed": scale * 3 * randn(4, 3, seed=seed),
        "weight": scale * randn(2, 3, 2, seed=seed + 1),
        "bias": scale * 0.1 * randn(5, seed=seed + 2),
    }


CLIP = Question(
    name="clip_together",
    title="Shorter, and in the same direction",
    points=3,
    difficulty=2,
    minutes=20,
    hint="Add the squares of all numbers of all tensors, take one root: that is the norm. If it is "
    "above the limit, multiply every tensor by the one factor limit / norm, else by 1.",
    page="training.html#sec-training-clipping",
    reference=_clip_together,
    cases=(
        Case(
            "3 and 4 in two tensors, limit 1",
            lambda student: student.clip_together(
                {"a": torch.tensor([3.0]), "b": torch.tensor([4.0])}, 1.0
            ),
        ),
        Case(
            "a norm below the limit",
            lambda student: student.clip_together({"a": torch.tensor([0.3, -0.4])}, 2.0),
        ),
        Case(
            "three tensors, limit 2", lambda student: student.clip_together(three_gradients(), 2.0)
        ),
        Case(
            "what was given stays as it was",
            lambda student: after(student.clip_together, three_gradients(3), 0.5),
        ),
    ),
    misconceptions=(
        Misconception(
            "each tensor by itself",
            wrong.clip_each,
            "You bring each tensor below the limit by itself, so large ones shrink and small ones "
            "do not, and the step points elsewhere. There is one norm, over all tensors, and one "
            "factor.",
        ),
        Misconception(
            "each number by itself",
            wrong.clip_numbers,
            "You cut each number at the limit. That changes the direction; here the whole "
            "gradient is made shorter, by one factor.",
        ),
        Misconception(
            "small ones made larger",
            wrong.clip_always,
            "You bring every gradient to the limit, small ones too: at the end of a training that "
            "would blow noise up. A norm that is not above the limit changes nothing.",
        ),
        Misconception(
            "norms added",
            wrong.clip_norms_added,
            "You add the norms of the tensors. Add their squares and take the root at the end: "
            "3 and 4 make 5, not 7.",
        ),
        Misconception(
            "no root",
            wrong.clip_no_root,
            "You compare the sum of squares with the limit. Its root is the norm.",
        ),
        Misconception(
            "the mean of squares",
            wrong.clip_mean_square,
            "You take the root of the mean of squares, the size of a typical number. The norm is "
            "the root of their sum, and grows with the model.",
        ),
        Misconception(
            "the largest number",
            wrong.clip_largest,
            "You take the largest number for the norm. All numbers count: the root of the sum of "
            "squares.",
        ),
        Misconception(
            "thrown away",
            wrong.clip_dropped,
            "A gradient above the limit is set to zero in yours. It is made shorter, to the limit "
            "exactly, and used.",
        ),
        Misconception(
            "the norm afterwards",
            wrong.clip_says_after,
            "The gradients are right. The norm to return is that before clipping: afterwards it "
            "would hardly ever tell anything but the limit.",
        ),
        Misconception(
            "changed in place",
            wrong.clip_in_place,
            "The values are right, and the tensors that you were given have changed. Make new "
            "ones: g * factor, not g *= factor or g.mul_().",
        ),
    ),
    forbidden=READY_CLIP,
)

# --- adamw_step


def _adamw_step(
    w: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    step: int,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    decay: float = 0.01,
) -> tuple[Tensor, Tensor, Tensor]:
    """As `coursekit.training.optimisers.AdamW` goes, without the seconds that its base needs."""
    m, v = torch.lerp(m, g, 1 - betas[0]), torch.lerp(v, g.square(), 1 - betas[1])
    size = (v / (1 - betas[1] ** step)).sqrt() + eps
    return (1 - lr * decay) * w - lr / (1 - betas[0] ** step) * m / size, m, v


def middle(shape: tuple[int, ...] = (2, 3), seed: int = 0) -> tuple[Tensor, ...]:
    """Return weights, gradients and both means as they may be in the midst of a training."""
    w, g, m, v = (randn(*shape, seed=seed + n) for n in range(4))
    return w, g, 0.5 * m, v.square() + 0.1


def _adam_run(student: object, steps: int) -> list[Tensor]:
    """Return the weights after each of some steps, each with a gradient of its own."""
    w, m, v, seen = randn(3, seed=9), torch.zeros(3), torch.zeros(3), []
    for step in range(1, steps + 1):
        g = torch.tensor([1.0, 0.1, 10.0]) * randn(3, seed=20 + step)
        w, m, v = student.adamw_step(w, g, m, v, step, lr=0.1)
        seen.append(w.clone())
    return seen


ADAM = Question(
    name="adamw_step",
    title="One step of AdamW",
    points=5,
    difficulty=2,
    minutes=30,
    hint="First the new m and v, which you also return. Then, for this step alone, the corrected "
    "ones: m / (1 - β₁ᵗ) and v / (1 - β₂ᵗ) with t = step. Last the weights: shrink w by the factor "
    "1 - lr · decay, and subtract lr times the quotient.",
    page="training.html#sec-training-adam",
    reference=_adamw_step,
    cases=(
        Case(
            "the first step, without decay",
            lambda student: student.adamw_step(
                *(torch.tensor([1.0, -2.0]), torch.tensor([0.5, -8.0])),
                *(torch.zeros(2), torch.zeros(2)),
                *(1, 0.1),
                decay=0.0,
            ),
        ),
        Case(
            "decay alone: no gradient yet",
            lambda student: student.adamw_step(
                torch.tensor([1.0, -2.0, 4.0]), *torch.zeros(3, 3), 1, 0.5, decay=0.25
            ),
        ),
        Case(
            "the seventh step of a matrix",
            lambda student: student.adamw_step(*middle(), 7, 0.1, decay=0.5),
            weight=2,
        ),
        Case(
            "other betas, eps of a half",
            lambda student: student.adamw_step(
                *middle((4,), seed=5), 2, 0.3, betas=(0.5, 0.75), eps=0.5, decay=0.1
            ),
        ),
        Case("four steps in a row", lambda student: _adam_run(student, 4)),
        Case(
            "what was given stays as it was",
            lambda student: after(student.adamw_step, *middle((3,), seed=7), 3, 0.1),
        ),
    ),
    misconceptions=(
        Misconception(
            "not corrected",
            wrong.adam_not_corrected,
            "You divide m by the root of v as they are. Both began at zero and are too small at "
            "first, v more than m: divide by 1 - β₁ᵗ and 1 - β₂ᵗ.",
        ),
        Misconception(
            "only the mean corrected",
            wrong.adam_mean_corrected,
            "You correct m and leave v too small, which at β₂ = 0.999 makes the first step about "
            "thirty times too long. v gets a correction of its own, 1 - β₂ᵗ.",
        ),
        Misconception(
            "corrected for the step before",
            wrong.adam_step_before,
            "Your correction is that of the step before, t - 1, and at the first step it divides "
            "by zero. `step` counts from 1 and includes this one.",
        ),
        Misconception(
            "corrected for the step after",
            wrong.adam_step_after,
            "Your correction is that of the next step, t + 1. `step` counts from 1 already; use it "
            "as it comes.",
        ),
        Misconception(
            "corrected means handed on",
            wrong.adam_keeps_corrected,
            "You return the corrected m and v, and the next step would correct them again. The "
            "correction is for this step's quotient alone; return the running means themselves.",
        ),
        Misconception(
            "eps inside the root",
            wrong.adam_eps_inside,
            "You add eps under the root. It is added to the root, √v̂ + eps: under it, 1e-8 would "
            "count as much as 1e-4.",
        ),
        Misconception(
            "eps before the correction",
            wrong.adam_eps_corrected,
            "You add eps to the root of the uncorrected v and correct the sum, so that eps is "
            "larger in early steps. Correct v first, then take the root, then add eps.",
        ),
        Misconception(
            "no root",
            wrong.adam_no_root,
            "You divide by the mean square. Divide by its root: then a gradient ten times as "
            "large makes the same step.",
        ),
        Misconception(
            "betas changed over",
            wrong.adam_betas_changed_over,
            "The first beta is for the mean m, the second for the mean of squares v. Yours are "
            "changed over.",
        ),
        Misconception(
            "the new one counts most",
            wrong.adam_shares_changed_over,
            "In your means the new gradient has the share β and the past 1 - β. It is the other "
            "way round: β of what was, 1 - β of what is new.",
        ),
        Misconception(
            "uphill",
            wrong.adam_uphill,
            "You walk uphill: the step is subtracted from the weights.",
        ),
        Misconception(
            "decay divided too",
            wrong.adam_decay_divided,
            "You add decay · w to the gradient. Then Adam divides it like the rest, and m and v "
            "remember it. In AdamW the decay stays out of both: w - lr · decay · w.",
        ),
        Misconception(
            "no decay",
            wrong.adam_no_decay,
            "This is Adam. AdamW also takes lr · decay · w off the weights.",
        ),
        Misconception(
            "decay at full rate",
            wrong.adam_decay_at_full_rate,
            "You shrink the weights by the factor 1 - decay at each step. It is 1 - lr · decay, so "
            "that a schedule for the rate steers the decay as well.",
        ),
        Misconception(
            "decay after the move",
            wrong.adam_decay_last,
            "You move first and shrink the weights that have moved, so the step shrinks as well. "
            "The decay is taken of w as it was: lr · decay · w.",
        ),
        Misconception(
            "changed in place",
            wrong.adam_in_place,
            "The values are right, and the tensors that you were given have changed. Make new "
            "ones, without .mul_(), .add_() or +=.",
        ),
    ),
    forbidden=READY_ADAM,
)

# --- trust


def _trust(step: int, beta2: float = 0.999) -> tuple[float, float | None]:
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, None
    early = (known - 4) * (known - 2) / known
    late = (most - 4) * (most - 2) / most
    return known, math.sqrt(early / late)


TRUST = Question(
    name="trust",
    title="How many squares do you know?",
    points=3,
    difficulty=2,
    minutes=20,
    hint="ρ∞ first, then ρₜ, each in a line of its own; β₂ᵗ is beta2**step. Return (ρₜ, None) "
    "where ρₜ is 5 or less. Else three quotients under one root.",
    page="training.html#sec-training-radam",
    reference=_trust,
    cases=(
        Case("beta 0.5, steps 1 and 2", lambda student: [student.trust(t, 0.5) for t in (1, 2)]),
        Case(
            "beta 0.9, step by step", lambda student: [student.trust(t, 0.9) for t in range(1, 9)]
        ),
        Case(
            "beta 0.999, the first ten steps",
            lambda student: [student.trust(t) for t in range(1, 11)],
        ),
        Case(
            "beta 0.98, a hundred and a thousand steps",
            lambda student: [student.trust(t, 0.98) for t in (100, 1000)],
        ),
    ),
    misconceptions=(
        Misconception(
            "from four on",
            wrong.trust_from_four,
            "You begin to divide above 4, where the formula begins to hold: so says the paper. "
            "Here, as in its authors' program, it is above 5.",
        ),
        Misconception(
            "one for None",
            wrong.trust_one_for_none,
            "While ρ is 5 or less you return a factor of 1, which is plain Adam at full length, "
            "just where it knows least. Return None there: no division.",
        ),
        Misconception(
            "zero for None",
            wrong.trust_zero_for_none,
            "While ρ is 5 or less you return a factor of 0: the weights would not move. RAdam "
            "moves, by the mean gradient, and does not divide. None says that.",
        ),
        Misconception(
            "no root",
            wrong.trust_no_root,
            "Your factor is the square of the right one: the root is missing.",
        ),
        Misconception(
            "upside down",
            wrong.trust_upside_down,
            "Your factor is above 1 and falls to it: early steps would be longer than Adam's. It "
            "is upside down; in the first two quotients ρₜ belongs above, ρ∞ below.",
        ),
        Misconception(
            "the last quotient missing",
            wrong.trust_last_quotient_missing,
            "Two of the three quotients are there. The last one, ρ∞ / ρₜ, is missing.",
        ),
        Misconception(
            "not twice",
            wrong.trust_not_twice,
            "Your ρₜ is too large in the beginning: it is 2 t β₂ᵗ / (1 - β₂ᵗ) that is subtracted, "
            "and the 2 is missing. At step 1 ρ is 1.",
        ),
        Misconception(
            "not divided",
            wrong.trust_not_divided,
            "You subtract 2 t β₂ᵗ. It has a denominator, 1 - β₂ᵗ, which is small at first.",
        ),
        Misconception(
            "one step ahead",
            wrong.trust_one_ahead,
            "You are one step ahead: the first step is number 1, and there ρ is 1, for one "
            "square is known.",
        ),
    ),
    forbidden=READY_ADAM,
)

# --- accumulate


def _accumulate(weight: Tensor, batches: list[tuple[Tensor, Tensor]], pad: int = 0) -> Tensor:
    """All tokens in one big batch, which is what small ones have to equal."""
    x = torch.cat([x.flatten(0, 1) for x, _ in batches])  # (tokens, D)
    labels = torch.cat([labels.flatten() for _, labels in batches])
    with torch.enable_grad():
        w = weight.detach().clone().requires_grad_()
        loss = F.cross_entropy(x @ w.T, labels, ignore_index=pad)
        return torch.autograd.grad(loss, w)[0]


def micro_batches(*lengths: list[int], vocabulary: int = 5, width: int = 3, seed: int = 0) -> list:
    """Return (x (B, T, D), labels (B, T)) for each list of lengths of sentences; 0 is padding."""
    made = []
    for number, sentences in enumerate(lengths):
        size = max(sentences)
        x = randn(len(sentences), size, width, seed=seed + 10 * number)
        places = torch.arange(len(sentences) * size).reshape(len(sentences), size)
        labels = 1 + (places * 7 + number + seed) % (vocabulary - 1)
        made.append((x, labels * (torch.arange(size) < torch.tensor(sentences)[:, None])))
    return made


ACCUMULATE = Question(
    name="accumulate",
    title="Four small ones for one big one",
    points=5,
    difficulty=3,
    minutes=35,
    hint="Count the real tokens of all batches first. Then for each batch the sum of its losses "
    '(F.cross_entropy with ignore_index=pad and reduction="sum"), divided by that one count, and '
    ".backward(): gradients add up by themselves. Work on a copy, "
    "weight.detach().clone().requires_grad_().",
    page="training.html#sec-training-batches",
    reference=_accumulate,
    cases=(
        Case(
            "one batch, no padding",
            lambda student: student.accumulate(randn(5, 3, seed=1), micro_batches([4, 4])),
        ),
        Case(
            "two batches of two sentences, nothing but lengths differ",
            lambda student: student.accumulate(randn(5, 3, seed=1), micro_batches([2, 2], [5, 5])),
        ),
        Case(
            "four batches of different sizes, with padding",
            lambda student: student.accumulate(
                randn(6, 4, seed=2),
                micro_batches([3, 1], [7], [2, 5, 4], [1, 1], vocabulary=6, width=4),
            ),
            weight=2,
        ),
        Case(
            "two batches of two sentences, padding in one",
            lambda student: student.accumulate(
                randn(5, 2, seed=3), micro_batches([4, 4], [4, 1], width=2, seed=3)
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "mean of means",
            wrong.accumulate_mean_of_means,
            "You average the means of the batches, so a token of a short batch counts more than "
            "one of a long batch. Divide each sum by the number of tokens of all batches.",
        ),
        Misconception(
            "means added",
            wrong.accumulate_means_added,
            "You add up the means of the batches: with four of them the gradient is about four "
            "times too large. Divide each sum by the number of tokens of all batches.",
        ),
        Misconception(
            "never divided",
            wrong.accumulate_sum,
            "This is the gradient of the sum over all tokens. Divide by how many there are.",
        ),
        Misconception(
            "weighted by sentences",
            wrong.accumulate_by_sentences,
            "You weight the batches by their sentences. The loss is a mean over tokens, so tokens "
            "are what counts, and only real ones.",
        ),
        Misconception(
            "padding in the count",
            wrong.accumulate_by_places,
            "The sums are right, and you divide by all places. Only real tokens count: "
            "(labels != pad).sum().",
        ),
        Misconception(
            "padding scored",
            wrong.accumulate_padding_scored,
            "Padding is scored as if it were a word to learn. ignore_index=pad leaves it out, of "
            "the sum; leave it out of the count as well.",
        ),
        Misconception(
            "emptied in the loop",
            wrong.accumulate_emptied,
            "Only the last batch is left in your gradient: you empty it in the loop. Empty it "
            "once, before the first batch.",
        ),
        Misconception(
            "divided twice",
            wrong.accumulate_divided_twice,
            "You divide by the tokens of all batches and then by the number of batches as well. "
            "The first is enough.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- early_stop


def _early_stop(losses: list[float], patience: int) -> tuple[int, int]:
    kept = 0
    for now, loss in enumerate(losses):
        if loss < losses[kept]:
            kept = now
        elif now - kept >= patience:
            return kept, now
    return kept, len(losses) - 1


STOP = Question(
    name="early_stop",
    title="Enough",
    points=3,
    difficulty=2,
    minutes=20,
    hint="Walk through the losses and remember where the lowest so far stands. A lower one takes "
    "over; else see how far back the lowest lies, and stop where that is `patience`.",
    page="training.html#sec-training-stopping",
    reference=_early_stop,
    cases=(
        Case(
            "it would have become better",
            lambda student: student.early_stop([3.0, 2.0, 2.5, 2.2, 1.0], 2),
        ),
        Case(
            "the end comes before patience runs out",
            lambda student: student.early_stop([3.0, 2.0, 1.0, 1.5, 1.2], 3),
        ),
        Case(
            "up and down",
            lambda student: student.early_stop(
                [5.0, 4.0, 4.5, 3.0, 3.5, 2.5, 2.75, 2.7, 2.6, 2.0], 3
            ),
        ),
        Case(
            "the same loss again and again",
            lambda student: student.early_stop([2.0, 1.0, 1.0, 1.0, 0.5], 2),
        ),
        Case("a patience of one", lambda student: student.early_stop([1.0, 0.5, 0.75, 0.25], 1)),
    ),
    misconceptions=(
        Misconception(
            "looks ahead",
            wrong.stop_looks_ahead,
            "You keep the best of the whole list. Losses behind the stop were never measured: keep "
            "the best of those before it.",
        ),
        Misconception(
            "keeps the last",
            wrong.stop_keeps_last,
            "You stop at the right place and keep the last weights. They are worse: keep those of "
            "the lowest loss so far.",
        ),
        Misconception(
            "goes back by patience",
            wrong.stop_goes_back,
            "You go back by `patience` from the end, which is right only where patience ran out. "
            "Remember the place of the lowest loss.",
        ),
        Misconception(
            "compared with the one before",
            wrong.stop_next_to_last,
            "You compare each loss with the one before. One that creeps down again, and is not "
            "lower than the best, is no progress: compare with the lowest so far.",
        ),
        Misconception(
            "never forgets",
            wrong.stop_never_forgets,
            "You count all bad evaluations of the training. They must be in a row: a new best sets "
            "the count back to 0.",
        ),
        Misconception(
            "equal is better",
            wrong.stop_equal_is_better,
            "An equal loss counts as progress in yours, so a flat line never stops. It must be "
            "lower.",
        ),
        Misconception(
            "one too late",
            wrong.stop_one_later,
            "You stop one evaluation too late: with a patience of 2, the second one in a row "
            "without a new best is the last.",
        ),
        Misconception(
            "at the first rise",
            wrong.stop_at_first_rise,
            "You stop at the first loss that is not lower, however patient you were asked to be.",
        ),
        Misconception(
            "the largest is best",
            wrong.stop_largest,
            "You look for the largest number. These are losses: the lowest is best.",
        ),
        Misconception(
            "numbered from one",
            wrong.stop_numbered_from_one,
            "Both numbers are one too large: places in a list count from 0.",
        ),
    ),
    forbidden=("coursekit",),
)

ASSIGNMENT = Assignment(
    name="a09_training",
    title="Training practice",
    questions=(RATE, CLIP, ADAM, TRUST, ACCUMULATE, STOP),
    written=(
        Written(
            name="first_steps",
            title="The clip that changed nothing",
            points=3,
            minutes=20,
            page="training.html#sec-training-warmup",
        ),
    ),
)
