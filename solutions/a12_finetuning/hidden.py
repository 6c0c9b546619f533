"""The hidden cases of assignment 12: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.a12_finetuning.shared import became, learned
from coursekit.exercises.probe import after, gradients, randn

# --- layer_rates


def named(depth, *tops):
    """Return the names of an encoder's weights, blocks from the last to the first."""
    found = [f"{top}.weight" for top in tops]
    for number in reversed(range(depth)):
        found += [f"blocks.{number}.{part}" for part in ("norm1.weight", "mlp.0.bias", "q.weight")]
    return [*found, "embeddings.positions.weight", "embeddings.tokens.weight"]


@hidden("layer_rates", says="24 blocks, as in BERT large", tolerance=1e-12, weight=2)
def rates_large(student):
    return student.layer_rates(named(24, "pooler", "classifier"), 24, 3e-5, 0.9)


@hidden("layer_rates", says="a decay of 1, and of 0")
def rates_extreme(student):
    names = named(4, "head")
    return [student.layer_rates(names, 4, 0.5, decay) for decay in (1.0, 0.0)]


@hidden("layer_rates", says="the words blocks and embeddings further back in a name")
def rates_further_back(student):
    names = ["head.blocks.0.weight", "head.embeddings.bias", "pooler.blocks.1.weight"]
    return student.layer_rates(names + named(2), 2, 1.0, 0.5)


@hidden("layer_rates", says="only some of the weights, and not the highest block")
def rates_some(student):
    names = ["blocks.3.norm.bias", "blocks.10.q.weight", "embeddings.norm.weight"]
    return student.layer_rates(names, 12, 1.5, 0.5)


@hidden("layer_rates", says="a model without blocks")
def rates_without(student):
    return student.layer_rates(named(0, "head", "tagger"), 0, 2.0, 0.3)


# --- fresh_top


def drawn(depth, layers, *tops, seed, dtype=torch.float32):
    """Return a function that says what an answer makes of such weights."""
    given, before = (learned(depth, *tops, seed=seed, dtype=dtype) for _ in range(2))
    return lambda student: became(before, student.fresh_top(given, depth, layers))


@hidden("fresh_top", says="a top of several sizes", weight=2)
def top_several(student):
    return [drawn(6, layers, "pooler", seed=20 + layers)(student) for layers in (1, 3, 5)]


@hidden("fresh_top", says="all blocks: only the embeddings stay")
def top_all(student):
    return drawn(3, 3, "pooler", seed=30)(student)


@hidden("fresh_top", says="no block and no pooler: nothing is new")
def top_nothing(student):
    return drawn(2, 0, seed=31)(student), drawn(2, 1, seed=32)(student)


@hidden("fresh_top", says="more than ten blocks")
def top_many(student):
    return drawn(24, 6, "pooler", seed=33)(student), drawn(11, 2, seed=34)(student)


@hidden("fresh_top", says="double precision, and half")
def top_double(student):
    return [
        drawn(2, 1, "pooler", seed=35, dtype=dtype)(student)
        for dtype in (torch.float64, torch.float16)
    ]


@hidden("fresh_top", says="matrices that are not square, names in another order")
def top_oblong(student):
    def given():
        return {
            "pooler.bias": 1 + randn(8, seed=40),
            "blocks.1.mlp.2.weight": randn(48, 96, seed=41),
            "blocks.0.mlp.2.weight": randn(48, 96, seed=42),
            "blocks.1.norm2.weight": randn(96, seed=43),
            "blocks.1.mlp.2.bias": randn(48, seed=44),
            "embeddings.tokens.weight": randn(300, 32, seed=45),
            "blocks.1.norm2.bias": randn(96, seed=46),
        }

    return became(given(), student.fresh_top(given(), 2, 1))


@hidden("fresh_top", says="several calls from the same weights, which stay as they are")
def top_again(student):
    def given():
        return learned(3, "pooler", seed=50)

    before, tops = given(), [student.fresh_top(given(), 3, 2) for _ in range(3)]
    found, left = after(student.fresh_top, given(), 3, 2)
    first = tops[0]["blocks.2.attention.weight"]
    alike = [bool(torch.equal(first, top["blocks.2.attention.weight"])) for top in tops[1:]]
    return became(before, found), became(before, left[0]), alike


# --- expected_best


def scored(count, seed, digits=1):
    return [round(float(x), digits) for x in 85 + 3 * randn(count, seed=seed)]


@hidden("expected_best", says="twenty runs, every n", weight=2)
def best_every(student):
    return [student.expected_best(scored(20, seed=60), n) for n in range(1, 21)]


@hidden("expected_best", says="one run, and runs of one score")
def best_one(student):
    return student.expected_best([0.5], 1), student.expected_best([2.0] * 6, 3)


@hidden("expected_best", says="scores below zero")
def best_negative(student):
    return [student.expected_best([x - 90 for x in scored(9, seed=61)], n) for n in (1, 4, 9)]


@hidden("expected_best", says="another order, the same result")
def best_order(student):
    scores = scored(12, seed=62, digits=0)
    return student.expected_best(scores[:], 5), student.expected_best(scores[::-1], 5)


@hidden("expected_best", says="two hundred runs, the best of fifty")
def best_many(student):
    return student.expected_best(scored(200, seed=63, digits=3), 50)


@hidden("expected_best", says="one more than were made", weight=0.5)
def best_too_many(student):
    said = []
    for scores, n in (([1.0], 2), (scored(7, seed=64), 8), (scored(7, seed=64), 70)):
        try:
            student.expected_best(scores, n)
            said.append("no error")
        except ValueError:
            said.append("ValueError")
    return said, student.expected_best(scored(7, seed=64), 7)


@hidden("expected_best", says="the scores stay in their order", weight=0.5)
def best_keeps(student):
    return after(student.expected_best, scored(8, seed=65), 4)


# --- stop_early


def risen(runs, parts, seed):
    """Return curves that cross: what begins well need not end well."""
    grown = torch.arange(1, parts + 1) / parts
    start, goal = 5 * randn(runs, 1, seed=seed), 5 * randn(runs, 1, seed=seed + 1)
    curves = 70 + start * (1 - grown) + (15 + goal) * grown + 2 * randn(runs, parts, seed=seed + 2)
    return [[round(float(x), 2) for x in row] for row in curves]


@hidden("stop_early", says="twenty runs, several plans", weight=2)
def early_twenty(student):
    plans = ([1], [2, 5], [1, 2, 3, 4], [7], [1, 3, 6])
    return [student.stop_early(risen(20, 8, seed=70), list(looks)) for looks in plans]


@hidden("stop_early", says="as many looks as it takes, and more", weight=2)
def early_alone(student):
    return [
        student.stop_early(risen(runs, 7, seed=74 + runs), [1, 2, 3, 4, 5, 6])
        for runs in (1, 2, 3, 5, 11)
    ]


@hidden("stop_early", says="a run that falls apart after the last look")
def early_apart(student):
    curves = ((80.0, 90.0, 40.0), (70.0, 85.0, 86.0), (60.0, 50.0, 95.0), (50.0, 45.0, 99.0))
    late = student.stop_early([[40.0, 80.0, 90.0], [75.0, 78.0, 70.0]], [2])
    return late, [student.stop_early([*map(list, curves)], [look]) for look in (1, 2)]


@hidden("stop_early", says="many equal scores")
def early_equal(student):
    def curves():
        return [[float(round(x / 10)) for x in row] for row in risen(13, 6, seed=90)]

    found = [student.stop_early(curves(), looks) for looks in ([1, 2], [3], [1, 4, 5], [])]
    ends = [[50.0, 60.0], [55.0, 60.0], [10.0, 70.0], [20.0, 5.0]]
    return found, student.stop_early(ends, [1])


@hidden("stop_early", says="scores below zero")
def early_negative(student):
    curves = [[x - 100 for x in row] for row in risen(6, 5, seed=95)]
    return student.stop_early(curves, [1, 2])


@hidden("stop_early", says="one part, and nothing to look at")
def early_one(student):
    return student.stop_early([[3.0], [9.0], [9.0], [5.0]], [])


@hidden("stop_early", says="both lists stay as they were", weight=0.5)
def early_keeps(student):
    return after(student.stop_early, risen(6, 4, seed=99), [1, 2, 3])


# --- span_loss


def marked(begins, ends, firsts, lasts, length, seed, scale=2.0, dtype=torch.float32):
    """Return scores, the right places, and where the passages lie."""
    start, end = (scale * randn(len(begins), length, seed=seed + n, dtype=dtype) for n in (0, 1))
    place = torch.arange(length)
    passage = (place >= torch.tensor(begins)[:, None]) & (place <= torch.tensor(ends)[:, None])
    return start, end, torch.tensor(firsts), torch.tensor(lasts), passage


@hidden("span_loss", says="many passages", weight=2)
def span_many(student):
    begins, ends = [2 + n % 5 for n in range(16)], [20 - n // 2 for n in range(16)]
    firsts = [b + n % 3 for n, b in enumerate(begins)]
    lasts = [e - n % 4 for n, e in enumerate(ends)]
    return student.span_loss(*marked(begins, ends, firsts, lasts, 24, seed=101))


@hidden("span_loss", says="a passage of one token beside a longer one")
def span_one(student):
    return student.span_loss(*marked([3, 1], [3, 6], [3, 2], [3, 6], 8, seed=103))


@hidden("span_loss", says="double precision", tolerance=1e-11)
def span_double(student):
    given = marked([2, 3], [8, 9], [4, 3], [5, 9], 12, seed=105, dtype=torch.float64)
    return student.span_loss(*given)


@hidden("span_loss", says="gradients, and none outside the passage", weight=2)
def span_gradients(student):
    given = marked([2, 4, 3], [7, 9, 5], [2, 6, 4], [5, 9, 4], 11, seed=107)
    return gradients(student.span_loss, *given)


@hidden("span_loss", says="scores of tens of thousands, above and below zero")
def span_huge(student):
    start, end, *rest = marked([2, 3], [8, 9], [4, 3], [5, 9], 12, seed=109, scale=2e4)
    start[:, 0] = 90_000
    return student.span_loss(start, end - 40_000, *rest), student.span_loss(start, end, *rest)


@hidden("span_loss", says="one row at a time, and all of them together")
def span_rows(student):
    given = marked([2, 4, 3], [7, 9, 5], [2, 6, 4], [5, 9, 4], 11, seed=111)
    rows = [student.span_loss(*(x[n : n + 1] for x in given)) for n in range(3)]
    return student.span_loss(*given), rows


@hidden("span_loss", says="all equal: the logarithm of the number of places, scores as they were")
def span_equal(student):
    _, _, first, last, passage = marked([2, 4], [7, 9], [2, 6], [5, 9], 12, seed=113)
    return after(student.span_loss, torch.ones(2, 12), torch.zeros(2, 12), first, last, passage)
