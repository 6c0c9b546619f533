"""SAGAN's attention: every place of a map looks at every other one, and γ fades it in."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def look_around(x, f, g, h, v, gamma):
    """x (B, C, R, L), f and g (K, C), h (M, C), v (C, M), gamma -> y like x, shares (B, N, N)."""
    places = x.flatten(2).mT  # (B, N, C)
    keys, queries, values = places @ f.T, places @ g.T, places @ h.T  # (B, N, K), twice, (B, N, M)
    shares = (queries @ keys.mT).softmax(dim=-1)  # (B, N, N)
    seen = shares @ values @ v.T  # (B, N, C)
    return x + gamma * seen.mT.reshape(x.shape), shares


QUESTION = Question(
    name="look_around",
    title="Every place looks at every other",
    points=5,
    difficulty=3,
    minutes=40,
    page="sagan.html#sec-sagan-module",
    hint="Turn the map into a list of places first, each with its channels, and check on a tiny "
    "map that row 1 really has the channels of one place. Then it is the attention that you "
    "know. Go back to a map the same way, in reverse.",
    reference=look_around,
    forbidden=("coursekit",),
)


def given(
    *shape: int,
    seed: int,
    narrow: int = 2,
    middle: int = 3,
    gamma: float = 0.7,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, ...]:
    """Return a map of this shape, the four matrices, and γ."""
    channels = shape[1]
    x = randn(*shape, seed=seed, dtype=dtype)
    f, g = (0.8 * randn(narrow, channels, seed=seed + n, dtype=dtype) for n in (1, 2))
    h = randn(middle, channels, seed=seed + 3, dtype=dtype)
    v = 0.7 * randn(channels, middle, seed=seed + 4, dtype=dtype)
    return x, f, g, h, v, torch.tensor(gamma, dtype=dtype)


@QUESTION.visible(says="two channels, two places")
def two_places(student):
    x = torch.tensor([[[[1.0, 0.0]], [[0.0, 2.0]]]])
    f, g, one = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), torch.eye(2)
    return student.look_around(x, f, g, one, one, torch.tensor(0.5))


@QUESTION.visible(says="three maps with more rows than columns", weight=2)
def three_maps(student):
    return student.look_around(*given(3, 4, 3, 2, seed=10))


@QUESTION.visible(says="as many rows as columns, channels and places")
def all_equal(student):
    return student.look_around(*given(2, 4, 2, 2, seed=20, narrow=4, middle=4))


@QUESTION.visible(says="γ = 0: the map comes back, and γ has a gradient")
def at_the_start(student):
    return gradients(student.look_around, *given(2, 3, 2, 3, seed=30, gamma=0.0))


@QUESTION.visible(says="gradients for the map, all four matrices and γ")
def with_gradients(student):
    return gradients(student.look_around, *given(2, 3, 1, 4, seed=40, gamma=-1.3))


@QUESTION.visible(says="scores in the hundreds", weight=0.5)
def large_scores(student):
    x, f, g, *more = given(1, 3, 2, 3, seed=50, dtype=torch.float64)
    return student.look_around(x, 20 * f, 20 * g, *more)


@QUESTION.visible(says="what was given stays as it was; double precision", tolerance=1e-10)
def what_was_given_stays(student):
    return after(student.look_around, *given(2, 2, 2, 3, seed=60, dtype=torch.float64))


PLACES = "places = x.flatten(2).mT"
SCORES = "(queries @ keys.mT).softmax(dim=-1)"
BACK = "seen.mT.reshape(x.shape)"
END = "return x + gamma * seen.mT.reshape(x.shape), shares"
LINES = "places @ f.T, places @ g.T, places @ h.T"

for name, old, new, hint in (
    (
        "softmax over queries",
        SCORES,
        "(queries @ keys.mT).softmax(dim=-2)",
        "Your softmax is over the queries: the columns add up to 1. A row belongs to the place "
        "that looks, and its shares of all places are what should add up to 1.",
    ),
    (
        "softmax over all",
        SCORES,
        "(queries @ keys.mT).flatten(1).softmax(dim=-1).reshape(len(x), *[places.shape[1]] * 2)",
        "Your softmax is over all pairs of a map together. Each place that looks has a row of its "
        "own, with sum 1.",
    ),
    (
        "no softmax",
        SCORES,
        "queries @ keys.mT",
        "You use the scores as shares. A softmax makes shares of each row.",
    ),
    (
        "scaled",
        SCORES,
        "(queries @ keys.mT / f.shape[0] ** 0.5).softmax(dim=-1)",
        "You divide the scores by √K. The Transformer does so; this module takes them as they are.",
    ),
    (
        "scaled by the channels of the map",
        SCORES,
        "(queries @ keys.mT / x.shape[1] ** 0.5).softmax(dim=-1)",
        "You divide the scores by √C. This module takes them as they are.",
    ),
    (
        "averaged over the places",
        SCORES,
        "(queries @ keys.mT) / places.shape[1]",
        "You divide the scores by the number of places, as a non-local block may. Here a softmax "
        "makes shares of each row.",
    ),
    (
        "keys and queries exchanged",
        LINES,
        "places @ g.T, places @ f.T, places @ h.T",
        "f and g have changed places: f makes the keys, of the places that are looked at, and g "
        "the queries, of those that look.",
    ),
    (
        "keys for queries too",
        LINES,
        "places @ f.T, places @ f.T, places @ h.T",
        "You use f for keys and queries. The queries come from g.",
    ),
    (
        "queries for keys too",
        LINES,
        "places @ g.T, places @ g.T, places @ h.T",
        "You use g for keys and queries. The keys come from f.",
    ),
    (
        "shares transposed for the values",
        "shares @ values",
        "shares.mT @ values",
        "Your shares are right, but you sum over the wrong axis of them: row j has the shares with "
        "which place j takes the values of all places i.",
    ),
    (
        "shares returned transposed",
        END,
        "return x + gamma * seen.mT.reshape(x.shape), shares.mT",
        "Your map is right, but the shares come out transposed: row j belongs to the place that "
        "looks.",
    ),
    (
        "γ missing",
        "gamma * ",
        "",
        "γ is missing. What a place sees is multiplied by it before it is added to the map.",
    ),
    (
        "γ on the identity",
        "x + gamma * seen.mT.reshape(x.shape)",
        "gamma * x + seen.mT.reshape(x.shape)",
        "You multiply the map by γ, and not what was seen. With γ = 0 the map should come back as "
        "it was.",
    ),
    (
        "γ on both",
        "x + gamma * seen.mT.reshape(x.shape)",
        "gamma * (x + seen.mT.reshape(x.shape))",
        "γ stands before the whole sum. Only what was seen is multiplied by it; with γ = 0 the map "
        "should come back as it was.",
    ),
    (
        "γ mixes map and what is seen",
        "x + gamma * seen.mT.reshape(x.shape)",
        "(1 - gamma) * x + gamma * seen.mT.reshape(x.shape)",
        "You take 1 − γ of the map. All of it stays, whatever γ is.",
    ),
    (
        "γ within a sigmoid",
        "gamma * seen",
        "torch.sigmoid(gamma) * seen",
        "You put γ through a sigmoid. It is a plain factor, of either sign, and at 0 nothing is "
        "added.",
    ),
    (
        "γ before the softmax",
        f"{SCORES}  # (B, N, N)\n    seen = shares @ values @ v.T  # (B, N, C)\n    {END}",
        "(gamma * queries @ keys.mT).softmax(dim=-1)\n"
        "    seen = shares @ values @ v.T\n"
        f"    return x + {BACK}, shares",
        "You multiply the scores by γ. It belongs before what was seen, at the end.",
    ),
    (
        "γ a number",
        "gamma * seen",
        "gamma.item() * seen",
        "The numbers are right, but γ gets no gradient: .item() takes it out of the computation. "
        "At the start it is the only one of the five that learns.",
    ),
    (
        "nothing done where γ is 0",
        "    " + PLACES,
        "    if gamma == 0:\n        gamma = gamma.detach()\n    " + PLACES,
        "γ gets no gradient where it is 0, so that it would stay there for ever. Compute what is "
        "seen all the same.",
    ),
    (
        "the map not added",
        END,
        f"return gamma * {BACK}, shares",
        "You return what was seen alone. It is added to the map.",
    ),
    (
        "a view that mixes channels and places",
        PLACES,
        "places = x.reshape(len(x), -1, x.shape[1])",
        "You reshape (B, C, R, L) to (B, N, C) at once. That only counts on through the memory, so "
        "that a row has numbers of several places. Flatten the places first, then exchange the "
        "axes.",
    ),
    (
        "a view on the way back that mixes channels and places",
        BACK,
        "seen.reshape(x.shape)",
        "Your shares are right, but on the way back to a map you reshape (B, N, C) at once. "
        "Exchange the two axes first, then split the places into rows and columns.",
    ),
    (
        "views that mix channels and places",
        f"{PLACES}  # (B, N, C)\n",
        "places = x.reshape(len(x), -1, x.shape[1])\n    x = x.reshape(places.shape).mT\n",
        "You reshape between (B, C, R, L) and (B, N, C) at once. That only counts on through the "
        "memory, so that a row has numbers of several places; and y should have the shape of x.",
    ),
    (
        "both views mix channels and places",
        f"{PLACES}  # (B, N, C)\n    keys, queries, values = {LINES}  # (B, N, K), twice, (B, N, M)"
        f"\n    shares = {SCORES}  # (B, N, N)\n    seen = shares @ values @ v.T  # (B, N, C)\n"
        f"    {END}",
        "places = x.reshape(len(x), -1, x.shape[1])\n"
        "    shares = (places @ g.T @ (places @ f.T).mT).softmax(dim=-1)\n"
        "    seen = shares @ (places @ h.T) @ v.T\n"
        "    return x + gamma * seen.reshape(x.shape), shares",
        "You reshape (B, C, R, L) to (B, N, C) at once, and back. That only counts on through the "
        "memory, so that a row has numbers of several places. Flatten the places and exchange the "
        "axes, in both directions.",
    ),
    (
        "column by column",
        f"{PLACES}  # (B, N, C)\n",
        "places = x.mT.flatten(2).mT\n    x = x.mT\n",
        "You number the places column by column, and y comes out with rows and columns exchanged. "
        "Row by row is meant.",
    ),
    (
        "shares column by column",
        END,
        f"order = torch.arange(x[0, 0].numel()).reshape(x.shape[2:]).T.flatten()\n"
        f"    return x + gamma * {BACK}, shares[:, order][:, :, order]",
        "Your map is right, but the shares number the places column by column. Place n is in row "
        "n // L and column n % L.",
    ),
    (
        "channels look at channels",
        f"{PLACES}  # (B, N, C)\n    keys, queries, values = {LINES}  # (B, N, K), twice, (B, N, M)"
        f"\n    shares = {SCORES}",
        "places = x.flatten(2).mT\n"
        "    keys, queries, values = places @ f.T, places @ g.T, places @ h.T\n"
        "    shares = (queries.mT @ keys).softmax(dim=-1)",
        "Your scores are between channels, (K, K). The places look at each other: (N, N).",
    ),
    (
        "rows look for themselves",
        SCORES,
        "(queries @ keys.mT).masked_fill(\n"
        "        torch.arange(places.shape[1])[:, None] // x.shape[3]\n"
        "        != torch.arange(places.shape[1]) // x.shape[3],\n"
        "        -torch.inf,\n"
        "    ).softmax(dim=-1)",
        "In yours a place sees its own row of the map only. It looks at all places, in all rows.",
    ),
    (
        "not at itself",
        SCORES,
        "(queries @ keys.mT).masked_fill(torch.eye(places.shape[1]).bool(), -torch.inf)"
        ".softmax(dim=-1)",
        "In yours no place looks at itself. It is one of the places, too.",
    ),
    (
        "only at what came before",
        SCORES,
        "(queries @ keys.mT).masked_fill(\n"
        "        ~torch.ones_like(queries @ keys.mT).tril().bool(), -torch.inf\n"
        "    ).softmax(dim=-1)",
        "In yours a place sees only those before it. A picture has no direction: every place looks "
        "at every place.",
    ),
    (
        "cosines for scores",
        SCORES,
        "((queries / queries.norm(dim=-1, keepdim=True))\n"
        "        @ (keys / keys.norm(dim=-1, keepdim=True)).mT).softmax(dim=-1)",
        "You divide keys and queries by their lengths. The scores are plain dot products.",
    ),
    (
        "the batch as one picture",
        f"{PLACES}  # (B, N, C)\n    keys, queries, values = {LINES}  # (B, N, K), twice, (B, N, M)"
        f"\n    shares = {SCORES}  # (B, N, N)\n    seen = shares @ values @ v.T  # (B, N, C)\n",
        "places = x.flatten(2).mT.flatten(0, 1)\n"
        f"    keys, queries, values = {LINES}\n"
        f"    shares = {SCORES}\n"
        "    seen = (shares @ values @ v.T).reshape(len(x), -1, x.shape[1])\n",
        "Places of one picture look at those of the others. Each picture of the batch is for "
        "itself.",
    ),
    (
        "the first picture's shares for all",
        SCORES,
        f"{SCORES}[:1].expand(len(x), -1, -1)",
        "All pictures have the shares of the first one. Each has its own.",
    ),
    (
        "the mean of the batch's shares",
        SCORES,
        f"{SCORES}.mean(dim=0, keepdim=True).expand(len(x), -1, -1)",
        "You average the shares over the batch. Each picture has its own.",
    ),
    (
        "the exponential by hand",
        SCORES,
        "(queries @ keys.mT).exp()\n    shares = shares / shares.sum(dim=-1, keepdim=True)",
        "You take exponentials of the scores as they are. From 709 on these are infinite, and "
        "infinite by infinite is nan: let softmax do it, or take the largest of each row off.",
    ),
    (
        "map without shares",
        END,
        f"return x + gamma * {BACK}",
        "You return the map alone. The shares belong to it, as a second value.",
    ),
    (
        "what was seen returned, not the sum",
        END,
        f"return {BACK}, shares",
        "You return what was seen. It is multiplied by γ and added to the map.",
    ),
    (
        "shares first",
        END,
        f"return shares, x + gamma * {BACK}",
        "Your two results have changed places: the map comes first, then the shares.",
    ),
    (
        "a list",
        END,
        f"return [x + gamma * {BACK}, shares]",
        "You return a list. A tuple is asked for.",
    ),
    (
        "the scores for the shares",
        END,
        f"return x + gamma * {BACK}, queries @ keys.mT",
        "Your map is right, but the second value has the scores before the softmax. The shares are "
        "asked for.",
    ),
    (
        "places left in a list",
        END,
        "return x.flatten(2).mT + gamma * seen, shares",
        "Your map is still a list of places, (B, N, C). Give it the shape of x.",
    ),
    (
        "shares as maps",
        END,
        f"return x + gamma * {BACK}, shares.unflatten(-1, x.shape[2:])",
        "Your shares have two axes for the places that are looked at. (B, N, N) is asked for.",
    ),
    (
        "shares without gradient",
        SCORES,
        f"{SCORES}.detach()",
        "The numbers are right, but f and g get no gradient: something is detached on the way from "
        "the scores.",
    ),
    (
        "written into the map",
        END,
        f"x.data += gamma.data * {BACK}.data\n    return x + 0 * gamma * {BACK}, shares",
        "You write into `x`: += changes what you were given. Make a new tensor.",
    ),
    (
        "written into the map itself",
        END,
        f"x += gamma * {BACK}\n    return x, shares",
        "You write into `x`: += changes what you were given, and torch cannot go backwards through "
        "a leaf that was changed. Make a new tensor.",
    ),
    (
        "in single precision",
        END,
        f"return (x + gamma * {BACK}).float(), shares.float()",
        "Your results are float32, whatever the dtype of the map.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)
