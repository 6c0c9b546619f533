"""The law by which a loss falls with the compute that was spent well."""

from __future__ import annotations

import math
from typing import Any

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def power_law(runs):
    """Runs (parameters, embeddings, [(tokens, loss), ...]) -> a and b of loss = a · compute^(-b)"""
    points = []
    for parameters, embeddings, curve in runs:
        for tokens, loss in curve:
            points.append((6 * (parameters - embeddings) * tokens, loss))
    lowest, xs, ys = math.inf, [], []
    for compute, loss in sorted(points):
        if loss < lowest:
            lowest = loss
            xs.append(math.log(compute))
            ys.append(math.log(loss))
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
    slope = slope / sum((x - x_mean) ** 2 for x in xs)
    return math.exp(y_mean - slope * x_mean), -slope


QUESTION = Question(
    name="power_law",
    title="A straight line, if you look right",
    points=4,
    difficulty=2,
    minutes=30,
    page="gpt.html#sec-gpt-scaling",
    hint="Three steps. Throw all points of all runs together, each with its compute. Walk through "
    "them from the cheapest to the dearest, and keep those that are better than all before. Then a "
    "straight line: which two quantities does the law make into one?",
    reference=power_law,
    forbidden=("coursekit",),
)


def _run(parameters: int, embeddings: int, start: int, points: int, seed: int) -> tuple[Any, ...]:
    """Return a run whose loss falls to what its size allows, with a little noise."""
    noise = randn(points, seed=seed).tolist()
    curve = []
    for place, extra in enumerate(noise):
        tokens = start * 2**place
        loss = (4e6 / (parameters - embeddings)) ** 0.12 + (9e5 / tokens) ** 0.45
        curve.append((tokens, round(loss * (1 + 0.01 * extra), 4)))
    return parameters, embeddings, curve


def _family(seed: int, points: int = 6) -> list[tuple[Any, ...]]:
    """Four sizes; the smaller a model, the more of it are embeddings."""
    sizes = ((44_000, 34_000), (190_000, 68_000), (950_000, 136_000), (3_700_000, 272_000))
    starts = (120_000, 90_000, 110_000, 100_000)
    return [
        _run(*size, start, points, seed + place)
        for place, (size, start) in enumerate(zip(sizes, starts))
    ]


@QUESTION.visible(says="two points", tolerance=1e-4)
def two_points(student):
    return student.power_law([(1_200, 200, [(1_000, 4.0), (16_000, 2.0)])])


@QUESTION.visible(says="one run", tolerance=1e-4)
def one_run(student):
    return student.power_law([_run(300_000, 120_000, 50_000, 7, seed=1)])


@QUESTION.visible(says="four sizes", weight=2, tolerance=1e-4)
def four_sizes(student):
    return student.power_law(_family(10))


@QUESTION.visible(says="runs in no order, one that gets worse again", tolerance=1e-4)
def no_order(student):
    runs = _family(20, points=5)
    parameters, embeddings, curve = runs[1]
    tokens, loss = curve[-1]
    worse = [*curve, (2 * tokens, round(1.2 * loss, 4)), (4 * tokens, round(1.4 * loss, 4))]
    return student.power_law([runs[2], runs[0], (parameters, embeddings, worse), runs[3]])


@QUESTION.visible(says="equal compute, and equal losses", tolerance=1e-4)
def equal_ones(student):
    first = (3_000, 1_000, [(1_000, 5.0), (2_000, 4.0), (4_000, 3.0), (8_000, 3.0)])
    second = (6_000, 2_000, [(500, 6.0), (1_000, 4.5), (2_000, 3.5), (32_000, 1.5)])
    return [student.power_law(runs) for runs in ([first, second], [second, first])]


@QUESTION.visible(says="the runs stay as they were", weight=0.5, tolerance=1e-4)
def runs_stay(student):
    return after(student.power_law, _family(30, points=3))


COMPUTE = "6 * (parameters - embeddings) * tokens"
WALK = "for compute, loss in sorted(points):\n        if loss < lowest:\n"
KEEP = "if loss < lowest:"
RETURN = "return math.exp(y_mean - slope * x_mean), -slope"
X, Y = "xs.append(math.log(compute))", "ys.append(math.log(loss))"
FIT = """    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
    slope = slope / sum((x - x_mean) ** 2 for x in xs)
"""

QUESTION.mistake(
    "linear axes",
    old=f"{X}\n            {Y}",
    new="xs.append(compute)\n            ys.append(loss)",
    hint="You fit a line to the numbers themselves. A power law is a straight line where both axes "
    "are logarithms.",
)

QUESTION.mistake(
    "linear axes, plain line",
    old=f"{X}\n            {Y}\n{FIT}    {RETURN}",
    new=f"xs.append(compute)\n            ys.append(loss)\n{FIT}"
    "    return y_mean - slope * x_mean, -slope",
    hint="You fit a line to compute and loss themselves, and return its height and slope. A power "
    "law is a straight line where both axes are logarithms.",
)

QUESTION.mistake(
    "the loss on a linear axis",
    old=Y,
    new="ys.append(loss)",
    hint="You take the logarithm of the compute alone. Both axes are logarithms.",
)

QUESTION.mistake(
    "the compute on a linear axis",
    old=X,
    new="xs.append(compute)",
    hint="You take the logarithm of the loss alone. Both axes are logarithms.",
)

QUESTION.mistake(
    "embeddings counted",
    old="(parameters - embeddings)",
    new="parameters",
    hint="You count the embeddings. Looking up a row costs nothing: take them off first.",
)

QUESTION.mistake(
    "embeddings alone",
    old="(parameters - embeddings)",
    new="embeddings",
    hint="You count the embeddings and nothing else. They are what is left out.",
)

QUESTION.mistake(
    "sign",
    old=RETURN,
    new=RETURN.replace("-slope", "slope"),
    hint="Your b is the slope of the line, and below 0. The minus stands in the law already.",
)

QUESTION.mistake(
    "every point",
    old=KEEP,
    new="if loss > 0:",
    hint="You fit all points. Most of them waste compute, on a model that is too small or has "
    "hardly begun: only the frontier counts.",
)

QUESTION.mistake(
    "every point, embeddings counted",
    old=f"points.append(({COMPUTE}, loss))\n"
    f"    lowest, xs, ys = math.inf, [], []\n    {WALK}            lowest = loss\n",
    new="points.append((6 * parameters * tokens, loss))\n"
    "    lowest, xs, ys = math.inf, [], []\n    for compute, loss in sorted(points):\n"
    "        if loss > 0:\n",
    hint="Two things: you fit all points, where only those of the frontier count, and you count "
    "the embeddings.",
)

QUESTION.mistake(
    "the last point of each run",
    old="in curve:",
    new="in curve[-1:] if len(runs) > 1 else curve:",
    hint="You take the last point of each run. The frontier may pass through any point of a curve.",
)

QUESTION.mistake(
    "the lowest point of each run",
    old="in curve:",
    new="in [min(curve, key=lambda pair: pair[1])] if len(runs) > 1 else curve:",
    hint="You take the lowest point of each run. The frontier may pass through any point of a "
    "curve.",
)

QUESTION.mistake(
    "a frontier for each run",
    old=f"points.append(({COMPUTE}, loss))\n    lowest, xs, ys = math.inf, [], []\n    {WALK}"
    "            lowest = loss\n",
    new="if loss < min([y for n, y in curve if n < tokens], default=math.inf):\n"
    f"                points.append(({COMPUTE}, loss))\n"
    "    xs, ys = [], []\n    for compute, loss in sorted(points):\n        if loss > 0:\n",
    hint="You compare the points of each run among themselves. The frontier is that of all runs "
    "together.",
)

QUESTION.mistake(
    "in the order of the list",
    old="sorted(points)",
    new="points",
    hint="You go through the points in the order in which they were given. It is compute that "
    "orders them, whichever run they belong to.",
)

QUESTION.mistake(
    "by tokens",
    old="in sorted(points)",
    new="in [(c, y) for _, c, y in sorted((n, 6 * (p - e) * n, y) for p, e, l in runs for n, y in "
    "l)]",
    hint="You order the points by their tokens. A token costs more in a large model: order by "
    "compute.",
)

QUESTION.mistake(
    "equal losses kept",
    old="loss < lowest",
    new="loss <= lowest",
    hint="You keep a point that costs more than another and is no better. The same loss for more "
    "compute is not on the frontier.",
)

QUESTION.mistake(
    "equal compute kept",
    old="sorted(points)",
    new="sorted(points, key=lambda p: (p[0], -p[1]))",
    hint="Of two points with equal compute you keep both. Only the lower is on the frontier.",
)

QUESTION.mistake(
    "equal compute by chance",
    old="sorted(points)",
    new="sorted(points, key=lambda p: p[0])",
    hint="Of two points with equal compute you keep both, where the worse comes first in the list. "
    "Only the lower is on the frontier, in whatever order the runs are given.",
)

QUESTION.mistake(
    "the upper edge",
    old=f"{WALK}",
    new="for compute, loss in sorted(points, reverse=True):\n        if loss < lowest:\n",
    hint="You walk from the dearest point to the cheapest. From the cheapest on, keep what is "
    "better than all before.",
)

QUESTION.mistake(
    "the six forgotten",
    old="6 * (parameters",
    new="(parameters",
    hint="You multiply parameters and tokens. Each parameter costs six operations for each token, "
    "two forwards and four backwards; a is another without them.",
)

QUESTION.mistake(
    "forwards only",
    old="6 * (parameters",
    new="2 * (parameters",
    hint="You count two operations for each parameter and token, as for reading. Training goes "
    "backwards as well, which costs four more.",
)

QUESTION.mistake(
    "parameters for compute",
    old=COMPUTE,
    new="6 * (parameters - embeddings) * curve[-1][0]",
    hint="You give all points of a run the compute of its end. Each point has what was spent until "
    "then: its own tokens.",
)

QUESTION.mistake(
    "tokens for compute",
    old=COMPUTE,
    new="tokens",
    hint="You fit the loss to the tokens. Compute depends on the size of the model, too.",
)

QUESTION.mistake(
    "the height as it is",
    old="math.exp(y_mean - slope * x_mean)",
    new="y_mean - slope * x_mean",
    hint="Your a is its logarithm, the height of the line. An exponential makes a of it.",
)

QUESTION.mistake(
    "ten for e",
    old="math.exp(y_mean - slope * x_mean)",
    new="10 ** (y_mean - slope * x_mean)",
    hint="You take natural logarithms on the way there and a power of ten on the way back. One of "
    "the two, both times.",
)

QUESTION.mistake(
    "e for ten",
    old="math.exp(y_mean - slope * x_mean)",
    new="math.exp((y_mean - slope * x_mean) / math.log(10))",
    hint="You take decimal logarithms on the way there and a power of e on the way back. One of "
    "the two, both times.",
)

QUESTION.mistake(
    "axes exchanged",
    old=RETURN,
    new="down = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))\n"
    "    slope = sum((y - y_mean) ** 2 for y in ys) / down\n"
    f"    {RETURN}",
    hint="You fit the compute to the loss, and turn the line round. The compute is what one "
    "chooses and the loss is what comes of it: the squares are those of the loss.",
)

QUESTION.mistake(
    "through both ends",
    old=RETURN,
    new="slope = (ys[-1] - ys[0]) / (xs[-1] - xs[0])\n"
    "    return math.exp(ys[0] - slope * xs[0]), -slope",
    hint="You draw the line through the first and the last point of the frontier. All of its "
    "points count: least squares.",
)

QUESTION.mistake(
    "through the origin",
    old=RETURN,
    new="slope = sum(x * y for x, y in zip(xs, ys)) / sum(x * x for x in xs)\n"
    "    return 1.0, -slope",
    hint="Your line goes through the origin, so a is always 1. It has a height as well as a slope.",
)

QUESTION.mistake(
    "b first",
    old=RETURN,
    new="return -slope, math.exp(y_mean - slope * x_mean)",
    hint="Your two numbers have changed places: a comes first.",
)

QUESTION.mistake(
    "the constant inside",
    old=RETURN,
    new="return math.exp((y_mean - slope * x_mean) / -slope), -slope",
    hint="Your a stands inside the power, as C₀ in (C₀ / C)ᵇ. Here it stands before it: a is the "
    "loss at a compute of 1.",
)

QUESTION.mistake(
    "sorted in place",
    old="    points = []",
    new="    runs.reverse()\n    points = []",
    hint="The numbers are right, but the list of runs has another order now: reverse() and sort() "
    "change the caller's own list.",
)
