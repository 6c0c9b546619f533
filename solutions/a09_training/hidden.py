"""The hidden cases of assignment 9: students may read what a case `says`, and nothing else."""

import math

import torch
import torch.nn.functional as F

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, randn

# --- paper_rate


@hidden("paper_rate", says="the two curves meet where the warm-up ends", weight=2)
def rate_meets(student):
    rates = [student.paper_rate(step, 64, 50) for step in range(1, 201)]
    assert rates.index(max(rates)) == 49
    return rates


@hidden("paper_rate", says="four times the width, half the rate")
def rate_width(student):
    narrow, wide = student.paper_rate(700, 256, 900), student.paper_rate(700, 1024, 900)
    assert abs(narrow - 2 * wide) < 1e-9
    return narrow, wide


@hidden("paper_rate", says="four times the warm-up, a lower peak", tolerance=1e-9)
def rate_peaks(student):
    return [student.paper_rate(warmup, 512, warmup) for warmup in (1000, 4000, 16000)]


@hidden("paper_rate", says="a warm-up that is never finished", tolerance=1e-12)
def rate_long(student):
    return [student.paper_rate(step, 100, 1_000_000) for step in (1, 10, 1000)]


# --- clip_together


@hidden("clip_together", says="the direction stays", weight=2)
def clip_direction(student):
    given = {"a": randn(3, 4, seed=51), "b": 30 * randn(7, seed=52), "c": randn(2, seed=53)}
    clipped, norm = student.clip_together(given, 1.5)
    before, behind = (torch.cat([d[name].flatten() for name in "abc"]) for d in (given, clipped))
    assert abs(float(F.cosine_similarity(before, behind, dim=0)) - 1) < 1e-5
    assert abs(float(behind.norm()) - 1.5) < 1e-4
    return clipped, norm


@hidden("clip_together", says="all gradients zero")
def clip_zero(student):
    return student.clip_together({"w": torch.zeros(2, 3), "b": torch.zeros(3)}, 0.7)


@hidden("clip_together", says="each tensor below the limit, all together above", weight=2)
def clip_many(student):
    return student.clip_together({f"layer{n}": torch.full((2,), 0.5) for n in range(20)}, 1.0)


@hidden("clip_together", says="a norm that equals the limit")
def clip_equal(student):
    return student.clip_together({"x": torch.tensor([6.0, 0.0]), "y": torch.tensor([[8.0]])}, 10.0)


@hidden("clip_together", says="a single number, negative")
def clip_scalar(student):
    return student.clip_together({"scale": torch.tensor(-20.0)}, 4.0)


@hidden("clip_together", says="the gradients are left as they were")
def clip_keeps(student):
    return after(student.clip_together, {"w": randn(3, 2, seed=55), "b": randn(4, seed=56)}, 0.9)


@hidden("clip_together", says="double precision stays double")
def clip_double(student):
    given = {"u": randn(5, seed=54, dtype=torch.float64), "v": randn(2, 2, dtype=torch.float64)}
    return student.clip_together(given, 0.1)


# --- adamw_step


def amid(*shape, seed=60, dtype=torch.float32):
    """Return what an optimiser holds after some steps: the second mean is never negative."""
    w, g, m, v = (randn(*shape, seed=seed + n, dtype=dtype) for n in range(4))
    return w, g, m / 3, v * v + 0.05


def run(student, gradients, **settings):
    """Return what each of some steps gives, from zero means on."""
    w = randn(*gradients[0].shape, seed=70, dtype=gradients[0].dtype)
    m, v, seen = torch.zeros_like(w), torch.zeros_like(w), []
    for number, g in enumerate(gradients, 1):
        w, m, v = student.adamw_step(w, g, m, v, number, **settings)
        seen.append((w.clone(), m.clone(), v.clone()))
    return seen


@hidden("adamw_step", says="the first move does not know how large a gradient is", weight=2)
def adam_scale(student):
    def move(scale):
        w, g = randn(6, seed=61), scale * (randn(6, seed=62) + 3)
        return student.adamw_step(w, g, torch.zeros(6), torch.zeros(6), 1, 0.01)[0]

    small, large = move(1.0), move(1000.0)
    assert (small - large).abs().max() < 1e-5
    return small, large


@hidden("adamw_step", says="thirty steps in a row", weight=2)
def adam_long(student):
    gradients = [randn(2, 5, seed=100 + n) * (1 + n % 4) for n in range(30)]
    return run(student, gradients, lr=0.05, decay=0.2)[9::10]


@hidden("adamw_step", says="double precision", tolerance=1e-11)
def adam_double(student):
    gradients = [randn(4, seed=140 + n, dtype=torch.float64) for n in range(3)]
    return run(student, gradients, lr=0.3, eps=1e-3)


@hidden("adamw_step", says="gradients that are gone: the means fade, the weights go on")
def adam_fades(student):
    w, g, m, v = amid(3, 2)
    return student.adamw_step(w, torch.zeros_like(g), m, v, 12, 0.1, decay=0.0)


@hidden("adamw_step", says="decay does not depend on the gradients")
def adam_decay(student):
    bare = student.adamw_step(*amid(2, 3, 2, seed=80), 5, 0.2, decay=0.0)[0]
    with_decay = student.adamw_step(*amid(2, 3, 2, seed=80), 5, 0.2, decay=0.3)[0]
    assert (bare - with_decay - 0.06 * amid(2, 3, 2, seed=80)[0]).abs().max() < 1e-5
    return with_decay


@hidden("adamw_step", says="what it does unless told otherwise")
def adam_defaults(student):
    return student.adamw_step(*amid(5, seed=90), 2, 1.0)


@hidden("adamw_step", says="the eps unless told otherwise, and gradients as small as it")
def adam_default_eps(student):
    w, m, v = randn(4, seed=97), torch.zeros(4), torch.zeros(4)
    return student.adamw_step(w, 1e-8 * randn(4, seed=98), m, v, 1, 1.0)


@hidden("adamw_step", says="no memory at all: both betas zero")
def adam_forgets(student):
    return student.adamw_step(*amid(4, seed=95), 9, 0.1, betas=(0.0, 0.0), eps=0.25)


@hidden("adamw_step", says="what was given is left as it was")
def adam_keeps(student):
    return after(student.adamw_step, *amid(2, 4, seed=99), 4, 0.2)


@hidden("adamw_step", says="after a million steps nothing is left to correct")
def adam_late(student):
    return student.adamw_step(*amid(3, seed=98), 1_000_000, 0.1)


# --- trust


@hidden("trust", says="it never falls, and ends at one", weight=2)
def trust_grows(student):
    seen = [student.trust(step, 0.99)[1] for step in range(6, 900, 40)]
    assert seen == sorted(seen) and abs(seen[-1] - 1) < 1e-3
    return seen


@hidden("trust", says="a memory so short that it never divides")
def trust_short(student):
    return [student.trust(step, 0.6) for step in (1, 3, 50)]


@hidden("trust", says="the step on which it begins to divide, for several betas", weight=2)
def trust_begins(student):
    first = []
    for beta2 in (0.8, 0.9, 0.95, 0.98, 0.9999):
        steps = range(1, 100)
        first.append(next(t for t in steps if student.trust(t, beta2)[1] is not None))
    return first


@hidden("trust", says="a long memory, many steps")
def trust_long(student):
    return [student.trust(10**power, 0.9999) for power in (2, 3, 4, 5)]


@hidden("trust", says="the first step knows one square, whatever the memory")
def trust_first(student):
    known = [student.trust(1, beta2) for beta2 in (0.3, 0.75, 0.97, 0.995)]
    assert all(abs(rho - 1) < 1e-6 and factor is None for rho, factor in known)
    return known


# --- accumulate


def piece(sentences, length, vocabulary, width, seed, real=None, pad=0):
    """Return one batch; in each of its sentences only the first `real` labels are no padding."""
    x = randn(sentences, length, width, seed=seed)
    number = torch.arange(sentences * length).view(sentences, length)
    labels = (pad + 1 + (5 * number + seed) % (vocabulary - 1)) % vocabulary
    labels[:, length if real is None else real :] = pad
    return x, labels


@hidden("accumulate", says="cut in pieces or whole, the same gradient", weight=2)
def accumulate_cut(student):
    weight, (x, labels) = randn(7, 4, seed=201), piece(9, 6, 7, 4, 202, real=4)
    whole = student.accumulate(weight, [(x, labels)])
    parts = [(x[a:b], labels[a:b]) for a, b in ((0, 1), (1, 4), (4, 9))]
    cut = student.accumulate(weight, parts)
    assert (whole - cut).abs().max() < 1e-5
    return cut


@hidden("accumulate", says="a batch of nothing but padding", weight=2)
def accumulate_empty(student):
    batches = [piece(2, 3, 5, 3, 211), piece(2, 4, 5, 3, 212, real=0), piece(1, 5, 5, 3, 213)]
    return student.accumulate(randn(5, 3, seed=210), batches)


@hidden("accumulate", says="padding is another number")
def accumulate_pad(student):
    batches = [piece(3, 4, 6, 2, 221, real=2, pad=5), piece(2, 7, 6, 2, 222, real=6, pad=5)]
    return student.accumulate(randn(6, 2, seed=220), batches, pad=5)


@hidden("accumulate", says="the order of the batches does not matter")
def accumulate_order(student):
    weight = randn(4, 3, seed=230)
    batches = [piece(1, n, 4, 3, 231 + n) for n in (1, 6, 2)]
    there, back = (student.accumulate(weight, given) for given in (batches, batches[::-1]))
    assert (there - back).abs().max() < 1e-5
    return there


@hidden("accumulate", says="one long batch among many short ones, in double precision")
def accumulate_double(student):
    sizes = (1, 1, 30, 2, 1)
    batches = [piece(1, n, 5, 3, 241 + place) for place, n in enumerate(sizes)]
    wide = [(x.double(), labels) for x, labels in batches]
    return student.accumulate(randn(5, 3, seed=240, dtype=torch.float64), wide)


@hidden("accumulate", says="called twice, nothing is left over from the first time")
def accumulate_twice(student):
    weight, batches = randn(5, 3, seed=250), [piece(2, 4, 5, 3, 251), piece(1, 3, 5, 3, 252)]
    first = student.accumulate(weight, batches)
    return first, student.accumulate(weight, batches)


@hidden("accumulate", says="weights and batches are left as they were")
def accumulate_keeps(student):
    return after(student.accumulate, randn(4, 2, seed=260), [piece(2, 3, 4, 2, 261, real=1)])


# --- early_stop


@hidden("early_stop", says="a single evaluation")
def stop_single(student):
    return student.early_stop([4.5], 1)


@hidden("early_stop", says="it gets better all the time")
def stop_falls(student):
    return student.early_stop([1 / (n + 1) for n in range(25)], 2)


@hidden("early_stop", says="it never gets better")
def stop_rises(student):
    return [student.early_stop([1.0 + n / 10 for n in range(12)], patience) for patience in (1, 5)]


@hidden("early_stop", says="more patience than evaluations")
def stop_patient(student):
    return student.early_stop([2.0, 1.5, 1.75, 1.6, 1.9], 100)


@hidden("early_stop", says="patience runs out on the very last evaluation")
def stop_at_end(student):
    return student.early_stop([3.0, 2.0, 2.25, 2.5, 2.125], 3)


@hidden("early_stop", says="a training that falls apart: not a number", weight=2)
def stop_nan(student):
    return student.early_stop([2.0, 1.0, 0.5, math.nan, math.nan, math.nan, 0.1], 3)


@hidden("early_stop", says="many histories, each with several lengths of patience", weight=2)
def stop_many(student):
    found = []
    for seed in range(8):
        losses = [round(float(x), 1) for x in randn(20, seed=300 + seed).abs()]
        found += [student.early_stop(losses, patience) for patience in (1, 2, 4, 7)]
    return found
