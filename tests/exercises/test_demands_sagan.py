"""Each demand of assignment 16 has a case; how that is looked at stands in `demands.py`."""

from __future__ import annotations

import torch
from demands import at, becomes, each, edit, every, spoils


def stiff(place):
    """Compute with one of the arguments detached."""

    def made(answer):
        def call(*given, **named):
            given = [one.detach() if n == place else one for n, one in enumerate(given)]
            return answer(*given, **named)

        return call

    return made


def single(answer):
    """Return both results in single precision, whatever was given."""
    return lambda *given, **named: tuple(one.float() for one in answer(*given, **named))


def rough(answer):
    """Compute in single precision and return the dtype that is asked for."""

    def call(*given, **named):
        kept = [x.float() if torch.is_tensor(x) else x for x in given]
        return tuple(one.to(given[0].dtype) for one in answer(*kept, **named))

    return call


LEAVE = "Leave what you were given as it is"
SCORES = "queries @ keys.mT"
WINDOW = "It lies between two places where the window has an even number of them"

DEMANDS = [
    *(
        (name, "Return a tuple", becomes(list))
        for name in ("reach", "look_around", "spectral", "hinge")
    ),
    *(
        (name, LEAVE, spoils(place))
        for name in ("spectral", "hinge", "frechet")
        for place in (0, 1)
    ),
    *(("look_around", LEAVE, spoils(place)) for place in range(6)),
    *(
        (name, words, change)
        for name, words in (
            ("look_around", "in the dtype of `x`"),
            ("spectral", "in its shape and dtype"),
            ("hinge", "in the dtype of the scores"),
        )
        for change in (single, rough)
    ),
    (
        "reach",
        "`(kernel, stride, dilation, padding)`, in this order",
        edit("kernel, stride, dilation, padding in", "kernel, dilation, stride, padding in"),
    ),
    (
        "reach",
        "the first tuple is the layer that reads the picture",
        edit("layers:", "layers[::-1]:"),
    ),
    ("reach", "`size`, an int", at(0, float)),
    ("reach", "`step`, an int", at(1, float)),
    ("reach", "`centre`, a float", at(2, torch.tensor)),
    (
        "reach",
        "the holes of dilation between them counted",
        edit("size += (kernel - 1) * dilation", "size += (kernel - 1)"),
    ),
    ("reach", "when you go one place further behind the layers", edit("step *= s", "step += s")),
    ("reach", "the window of the place with the number `place`", edit(" + place * step", "")),
    ("reach", WINDOW, edit("dilation / 2", "dilation // 2")),
    ("reach", WINDOW, at(2, float.__round__)),
    ("reach", "Places are counted from 0", edit("place * step", "(place - 1) * step")),
    ("reach", "place=0", edit("place=0", "place=1")),
    ("reach", "A window may begin before the picture", at(2, lambda centre: max(centre, 0.0))),
    (
        "reach",
        "it counts as a part of the window",
        edit(
            "size += (kernel - 1) * dilation * step",
            "size += ((kernel - 1) * dilation - padding) * step",
        ),
    ),
    ("reach", "the centre may be below 0", at(2, abs)),
    (
        "reach",
        "Without layers a place sees itself",
        edit("size, step, centre =", "layers[0]\n    size, step, centre ="),
    ),
    ("reach", "Leave the list as it is", spoils(0)),
    (
        "look_around",
        r"There is no $\sqrt{K}$ under the scores",
        edit(SCORES, SCORES + " / len(f) ** 0.5"),
    ),
    (
        "look_around",
        "begins at 0: at first the layer does nothing",
        edit("gamma * seen", "(gamma + 0.01) * seen"),
    ),
    (
        "look_around",
        "The places are counted row by row",
        edit("places = x", "x = x.mT\n    places = x"),
    ),
    (
        "look_around",
        "place $n$ stands in row `n // L` and column `n % L`",
        becomes(lambda found: (found[0], found[1].flip(1, 2))),
    ),
    (
        "look_around",
        "Each map looks at itself only",
        edit(
            ".softmax(dim=-1)", ".softmax(dim=-1).mean(dim=0, keepdim=True).expand(len(x), -1, -1)"
        ),
    ),
    (
        "look_around",
        "row $j$ of a map has the $\\beta_{ji}$, the shares with which place $j$ looks",
        at(1, lambda shares: shares.mT),
    ),
    *(
        ("look_around", "The map, the four matrices and γ get a gradient", stiff(place))
        for place in range(6)
    ),
    (
        "look_around",
        "γ also when it is 0",
        edit("x + gamma", "x + (gamma if gamma != 0 else gamma.detach())"),
    ),
    (
        "look_around",
        "Scores may be in the thousands: nothing may become infinite or nan",
        edit(
            f"({SCORES}).softmax(dim=-1)",
            f"({SCORES}).exp() / ({SCORES}).exp().sum(dim=-1, keepdim=True)",
        ),
    ),
    (
        "look_around",
        "Scores may be in the thousands",
        edit(f"({SCORES})", f"({SCORES}).clamp(-50, 50)"),
    ),
    ("spectral", "or (O, I) for a linear layer", edit("flatten(1)", "flatten(2).flatten(1)")),
    (
        "spectral",
        "the direction to begin with, of any length",
        edit("rows.T @ u", "rows.T @ u.clamp(-9, 9)"),
    ),
    (
        "spectral",
        "the direction to begin with",
        edit("rows = w", "u = torch.ones_like(u)\n    rows = w"),
    ),
    (
        "spectral",
        "how many rounds to do, no more and no fewer",
        edit("range(steps)", "range(steps + 1)"),
    ),
    (
        "spectral",
        "how many rounds to do, no more and no fewer",
        edit("range(steps)", "range(min(steps, 8))"),
    ),
    (
        "spectral",
        "how many rounds to do, no more and no fewer",
        edit("range(steps)", "range(max(steps, 2))"),
    ),
    ("spectral", "steps=1", edit("steps=1", "steps=2")),
    ("spectral", "in its shape and dtype", edit("weight / sigma", "rows / sigma")),
    ("spectral", "in its shape and dtype, with its gradient", at(0, torch.Tensor.detach)),
    ("spectral", "this gradient belongs to it", edit("u @ rows @ v", "(u @ rows @ v).detach()")),
    (
        "spectral",
        "with no gradient through them",
        edit("with torch.no_grad()", "with torch.enable_grad()"),
    ),
    ("spectral", "(O,) and of length 1", at(1, lambda u: 2 * u)),
    ("spectral", "(O,) and of length 1", at(1, lambda u: u[:, None])),
    (
        "spectral",
        "with which the next call begins",
        lambda answer: lambda weight, u, steps=1: (answer(weight, u, steps)[0], u.detach()),
    ),
    (
        "spectral",
        "It has no gradient",
        edit("/ sigma, u", "/ sigma, torch.nn.functional.normalize(rows @ v, dim=0)"),
    ),
    (
        "spectral",
        "none flows to the `u` that you were given",
        lambda answer: (
            lambda weight, u, steps=1: (
                answer(weight, u, steps)[0] + 0 * u.sum(),
                answer(weight, u, steps)[1],
            )
        ),
    ),
    (
        "spectral",
        "Weights may be as small as one in a million",
        edit("/ sigma", "/ (sigma + 1e-9)"),
    ),
    (
        "spectral",
        "Weights may be as small as one in a million",
        edit("v / v.norm()", "v / v.norm().clamp(min=1e-4)"),
    ),
    ("hinge", "whatever is missing counts", edit("(1 - real).relu()", "(1 - real).clamp(0, 20)")),
    (
        "hinge",
        "what is beyond costs nothing and has no gradient",
        edit("(1 + fake).relu()", "torch.nn.functional.leaky_relu(1 + fake, 1e-3)"),
    ),
    ("hinge", 'for it there is no "enough"', edit("-fake.mean()", "-fake.clamp(max=20).mean()")),
    (
        "hinge",
        "of any shape",
        edit("judge =", "real[0].item(), fake[0].item()\n    judge ="),
    ),
    (
        "hinge",
        "one score or more in each",
        edit("judge =", "assert len(real) > 1 and len(fake) > 1\n    judge ="),
    ),
    (
        "hinge",
        "There need not be equally many",
        edit(
            "(1 - real).relu().mean() + (1 + fake).relu().mean()",
            "((1 - real).relu() + (1 + fake).relu()).mean()",
        ),
    ),
    (
        "hinge",
        "then all count alike",
        edit(
            "judge =",
            "real, fake = (x if x.ndim < 2 else x.flatten(1).mean(dim=1) for x in (real, fake))\n"
            "    judge =",
        ),
    ),
    ("hinge", "two tensors without axes", each(lambda loss: loss[None])),
    ("hinge", "two tensors without axes", each(torch.Tensor.item)),
    ("hinge", "Both losses give the scores that stand in them a gradient", stiff(0)),
    ("hinge", "Both losses give the scores that stand in them a gradient", stiff(1)),
    (
        "hinge",
        "Both losses give the scores that stand in them a gradient",
        at(0, torch.Tensor.detach),
    ),
    (
        "hinge",
        "Both losses give the scores that stand in them a gradient",
        at(1, torch.Tensor.detach),
    ),
    ("hinge", "here nothing is detached", edit("1 + fake", "1 + fake.detach()")),
    ("frechet", "not necessarily equally many", edit("len(b)", "len(a)")),
    (
        "frechet",
        "two pictures or more in each",
        edit("ca, cb =", "assert len(a) > 2\n    ca, cb ="),
    ),
    ("frechet", "perhaps fewer than features", edit(".clamp(min=0)", "")),
    (
        "frechet",
        "perhaps fewer than features",
        edit("shared =", "torch.linalg.cholesky(ca), torch.linalg.cholesky(cb)\n    shared ="),
    ),
    ("frechet", "Count these as 0", edit(".clamp(min=0)", "")),
    (
        "frechet",
        "about its own mean",
        edit(
            "a, b = a - a.mean(dim=0), b - b.mean(dim=0)",
            "a, b = a - a.mean(dim=0), b - a.mean(dim=0)",
        ),
    ),
    (
        "frechet",
        "divides by the number of pictures less one",
        edit("(len(a) - 1), b.T @ b / (len(b) - 1)", "len(a), b.T @ b / len(b)"),
    ),
    (
        "frechet",
        "Return the squared Fréchet distance, no root taken",
        becomes(lambda found: max(found, 0) ** 0.5),
    ),
    ("frechet", "a plain number", becomes(torch.tensor)),
    (
        "frechet",
        "Count in float64",
        edit("first.double(), second.double()", "first.float(), second.float()"),
    ),
    (
        "frechet",
        "large numbers with small differences",
        edit("first.double(), second.double()", "first, second"),
    ),
    (
        "frechet",
        "The product is not symmetric",
        edit("torch.linalg.eigvals(ca @ cb).real", "torch.linalg.eigvalsh(ca @ cb)"),
    ),
    (
        "frechet",
        "it is not the root of each element",
        edit("squares.sqrt().sum()", "(ca @ cb).clamp(min=0).sqrt().trace()"),
    ),
]


test_whoever_forgets_a_demand_fails_a_case = every(DEMANDS)
