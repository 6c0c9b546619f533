"""A convolution divided by the most that it can stretch, found by a few multiplications."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def spectral(weight, u, steps=1):
    """weight (O, I, kh, kw), u (O,), rounds -> weight / its largest singular value, the new u."""
    rows = weight.flatten(1)  # (O, I kh kw)
    with torch.no_grad():
        for _ in range(steps):
            v = rows.T @ u  # (I kh kw,)
            v = v / v.norm()
            u = rows @ v  # (O,)
            u = u / u.norm()
    sigma = u @ rows @ v
    return weight / sigma, u


QUESTION = Question(
    name="spectral",
    title="A layer that cannot stretch",
    points=5,
    difficulty=3,
    minutes=40,
    page="sagan.html#sec-sagan-spectral",
    hint="First make the weight a matrix with a row for each output channel, and do one round by "
    "hand on a matrix with two numbers on its diagonal. Then ask what of it should have a "
    "gradient: the two directions are taken as given, the matrix between them is not.",
    reference=spectral,
    forbidden=(
        "coursekit",
        "torch.nn.utils.spectral_norm",
        "torch.nn.utils.parametrizations.spectral_norm",
    ),
)


@QUESTION.visible(says="a diagonal: one round from (1, 1)")
def a_diagonal(student):
    return student.spectral(torch.tensor([[3.0, 0.0], [0.0, 4.0]])[..., None, None], torch.ones(2))


@QUESTION.visible(says="a convolution, and one round", weight=2)
def one_round(student):
    return student.spectral(randn(4, 3, 3, 3, seed=1), randn(4, seed=2))


@QUESTION.visible(says="as many input channels as output channels, kernels that are no squares")
def square(student):
    return student.spectral(randn(3, 3, 2, 1, seed=3), randn(3, seed=4)), student.spectral(
        randn(2, 2, 1, 3, seed=5), randn(2, seed=6), 2
    )


@QUESTION.visible(says="three rounds, and sixty")
def many_rounds(student):
    return [student.spectral(randn(5, 2, 2, 2, seed=7), randn(5, seed=8), n) for n in (3, 60)]


@QUESTION.visible(says="four calls, each with the u of the one before")
def carried_on(student):
    weight, u = randn(4, 2, 3, 3, seed=9), randn(4, seed=10)
    found = []
    for _ in range(4):
        divided, u = student.spectral(weight, u)
        found.append((divided, u))
    return found


@QUESTION.visible(says="gradients: for the weight, none for u")
def with_gradients(student):
    return gradients(student.spectral, randn(3, 2, 2, 2, seed=11), randn(3, seed=12))


@QUESTION.visible(says="weights of one in a million, and a linear layer")
def small_and_linear(student):
    tiny = student.spectral(1e-6 * randn(3, 2, 3, 3, seed=13), randn(3, seed=14))
    return tiny, student.spectral(randn(4, 6, seed=15), randn(4, seed=16), 5)


@QUESTION.visible(says="what was given stays as it was; double precision", tolerance=1e-10)
def what_was_given_stays(student):
    given = randn(3, 4, 2, 2, seed=17, dtype=torch.float64), randn(3, seed=18, dtype=torch.float64)
    return after(student.spectral, *given)


ROWS = "rows = weight.flatten(1)"
SIGMA, END = "sigma = u @ rows @ v", "return weight / sigma, u"
NORM_V, NORM_U = "v = v / v.norm()", "u = u / u.norm()"
LOOP = "for _ in range(steps):"

for name, old, new, hint in (
    (
        "Frobenius norm",
        SIGMA,
        "sigma = rows.norm()",
        "You divide by the root of the sum of all squares, the Frobenius norm. It is never smaller "
        "than the largest singular value, so your layer shrinks more than it should.",
    ),
    (
        "the exact largest singular value",
        SIGMA,
        "sigma = torch.linalg.svdvals(rows)[0]",
        "You divide by the exact singular value. What so few rounds have found is asked for: that "
        "is cheap, and u carries the work on to the next call.",
    ),
    (
        "the spectral norm of each kernel's place",
        SIGMA,
        "sigma = torch.linalg.matrix_norm(weight.flatten(2).permute(2, 0, 1), 2).max()"
        " if weight.ndim > 2 else u @ rows @ v",
        "You look at each place of the kernel for itself. All of (I, kh, kw) makes one long row "
        "for each output channel.",
    ),
    (
        "the kernel summed up",
        ROWS,
        "rows = weight.flatten(2).sum(dim=2) if weight.ndim > 2 else weight",
        "You add up the places of a kernel. They stay apart: each row has I · kh · kw numbers.",
    ),
    (
        "the kernel averaged",
        ROWS,
        "rows = weight.flatten(2).mean(dim=2) if weight.ndim > 2 else weight",
        "You average over the places of a kernel. They stay apart: each row has I · kh · kw "
        "numbers.",
    ),
    (
        "the first place of the kernel only",
        ROWS,
        "rows = weight[:, :, 0, 0] if weight.ndim > 2 else weight",
        "You use one place of the kernel. Each row has I · kh · kw numbers.",
    ),
    (
        "a row for each input channel",
        ROWS,
        "rows = weight.transpose(0, 1).flatten(1)",
        "Your rows belong to the input channels. u has a number for each *output* channel, the "
        "first axis of the weight, and so have the rows.",
    ),
    (
        "columns for output channels, by a view",
        ROWS,
        "rows = weight.reshape(-1, len(weight)).T",
        "You reshape the weight to (…, O), which only counts on through the memory, so that a "
        "column has numbers of several output channels. Output channels come first: keep that "
        "axis and flatten the others.",
    ),
    (
        "u fresh each call",
        "    " + ROWS,
        "    u = torch.randn(len(weight), dtype=weight.dtype)\n    " + ROWS,
        "You draw a u of your own. Begin with the one that you were given: only so do the rounds "
        "of many calls add up.",
    ),
    (
        "u begins with ones",
        "    " + ROWS,
        "    u = torch.ones_like(u)\n    " + ROWS,
        "You begin with ones. Begin with the u that you were given: only so do the rounds of many "
        "calls add up.",
    ),
    (
        "v returned",
        END,
        "return weight / sigma, v",
        "You return v. The next call begins with u, one number for each output channel.",
    ),
    (
        "the value returned",
        END,
        "return weight / sigma, sigma",
        "You return the singular value. The second value is the new u.",
    ),
    (
        "the gradient through u",
        "with torch.no_grad():",
        "if True:",
        "The numbers are right, but gradients flow through the rounds, to the weight and to the u "
        "that you were given. The two directions count as given: torch.no_grad().",
    ),
    (
        "the gradient through the rounds",
        "    with torch.no_grad():",
        "    u = u.detach()\n    if True:",
        "The numbers are right, but gradients flow through the rounds to the weight. The two "
        "directions count as given: put the loop into torch.no_grad(), or detach both.",
    ),
    (
        "the gradient through the last v",
        SIGMA,
        "v = rows.T @ u\n    v = v / v.norm()\n    sigma = u @ rows @ v",
        "You take v once more from the new u. The value is that of u and v as the last round left "
        "them.",
    ),
    (
        "sigma a constant",
        SIGMA,
        "sigma = (u @ rows @ v).detach()",
        "The numbers are right, but your singular value has no gradient: it is detached, a plain "
        "number, or computed where no gradient is kept. It depends on the weight; only u and v "
        "count as given.",
    ),
    (
        "nothing has a gradient",
        END,
        "return (weight / sigma).detach(), u",
        "The weight gets no gradient. Nothing can be learned.",
    ),
    (
        "one round whatever is asked",
        LOOP,
        "for _ in range(1):",
        "You do one round, whatever `steps` says.",
    ),
    (
        "one round more",
        LOOP,
        "for _ in range(steps + 1):",
        "You do one round more than was asked for.",
    ),
    (
        "a round of its own for each half",
        LOOP,
        "for _ in range((steps + 1) // 2):",
        "You take the step to v for one round and that to u for another. Both together are one.",
    ),
    (
        "always many rounds",
        LOOP,
        "for _ in range(100):",
        "You go on until nothing moves. That is exact and slow: `steps` rounds are asked for, and "
        "the next call goes on from there.",
    ),
    (
        "ten rounds whatever is asked",
        LOOP,
        "for _ in range(10):",
        "You do ten rounds, whatever `steps` says.",
    ),
    (
        "v not divided by its length",
        "            v = v / v.norm()\n",
        "",
        "v keeps its length. Both directions have length 1, or the product is no longer the "
        "stretch alone.",
    ),
    (
        "u not divided by its length",
        "            u = u / u.norm()\n",
        "",
        "u keeps its length. Both directions have length 1, or the product is no longer the "
        "stretch alone.",
    ),
    (
        "divided by the largest entry",
        f"            {NORM_V}\n            u = rows @ v  # (O,)\n            {NORM_U}\n",
        "            v = v / v.abs().max()\n"
        "            u = rows @ v\n"
        "            u = u / u.abs().max()\n",
        "You divide the directions by their largest entry. Divide them by their length, the root "
        "of the sum of their squares.",
    ),
    (
        "divided by the sum",
        f"            {NORM_V}\n            u = rows @ v  # (O,)\n            {NORM_U}\n",
        "            v = v / v.abs().sum()\n"
        "            u = rows @ v\n"
        "            u = u / u.abs().sum()\n",
        "You divide the directions by the sum of their absolute values. Divide them by their "
        "length, the root of the sum of their squares.",
    ),
    (
        "a small number added to the lengths",
        f"            {NORM_V}\n            u = rows @ v  # (O,)\n            {NORM_U}\n",
        "            v = v / (v.norm() + 1e-6)\n"
        "            u = rows @ v\n"
        "            u = u / (u.norm() + 1e-6)\n",
        "You add a small number to the lengths. The weights may be as small as that number: leave "
        "it out, or take 1e-12.",
    ),
    (
        "a small number added to the value",
        "weight / sigma",
        "weight / (sigma + 1e-6)",
        "You add a small number to the singular value. The weights may be as small as that "
        "number: leave it out.",
    ),
    (
        "the value squared",
        SIGMA,
        "sigma = (rows.T @ u).square().sum()",
        "You divide by the square of the singular value. The matrix stands once between u and v; "
        "twice would be its square.",
    ),
    (
        "the root of the value",
        "weight / sigma",
        "weight / sigma.sqrt()",
        "You divide by the root of the value. u and v are directions of the matrix itself, so that "
        "the product between them is the singular value, and no eigenvalue of a square.",
    ),
    (
        "the value by the old u",
        "            u = u / u.norm()\n    " + SIGMA,
        "            old, u = u, u / u.norm()\n    sigma = old @ rows @ v",
        "Your u in the product has not length 1. Divide by its length first.",
    ),
    (
        "only what stretches is divided",
        "weight / sigma",
        "weight / sigma.clamp(min=1)",
        "You divide only where the singular value is above 1. Every weight is divided, a small one "
        "becomes larger.",
    ),
    (
        "multiplied",
        "weight / sigma",
        "weight * sigma",
        "You multiply by the singular value. Divide.",
    ),
    (
        "each output channel for itself",
        f"    {SIGMA}\n    {END}",
        "    lengths = rows.norm(dim=1).reshape(-1, *[1] * (weight.ndim - 1))\n"
        "    return weight / lengths, u",
        "You divide each output channel by its own length. One number divides the whole weight.",
    ),
    (
        "the largest output channel",
        SIGMA,
        "sigma = rows.norm(dim=1).max()",
        "You divide by the length of the longest row. A direction that is spread over several "
        "rows may be stretched more.",
    ),
    (
        "the largest entry",
        SIGMA,
        "sigma = weight.abs().max()",
        "You divide by the largest entry. The most that a matrix stretches is more than that.",
    ),
    (
        "the sum of the singular values",
        SIGMA,
        "sigma = torch.linalg.svdvals(rows).sum()",
        "You divide by the sum of the singular values. The largest is asked for.",
    ),
    (
        "left a matrix",
        END,
        "return rows / sigma, u",
        "You return the matrix. Give the weight its shape back.",
    ),
    (
        "the weight alone",
        END,
        "return weight / sigma",
        "You return the weight alone. The new u belongs to it: the next call begins there.",
    ),
    (
        "u first",
        END,
        "return u, weight / sigma",
        "Your two results have changed places: the weight comes first, then u.",
    ),
    (
        "a list",
        END,
        "return [weight / sigma, u]",
        "You return a list. A tuple is asked for.",
    ),
    (
        "u a column",
        END,
        "return weight / sigma, u[:, None]",
        "Your new u is a column. It has the shape of the old one, (O,).",
    ),
    (
        "written into the weight",
        END,
        "weight.data /= sigma.data\n    return weight / 1.0, u",
        "You divide the weight that you were given in place, so that the next call finds another "
        "one. Return a new tensor.",
    ),
    (
        "in single precision",
        END,
        "return (weight / sigma).float(), u.float()",
        "Your results are float32, whatever the dtype of the weight.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)


@QUESTION.mistake(
    "the old u returned",
    hint="You return the u that you were given. The new one is asked for, or the next call begins "
    "where this one did.",
)
def old_u(weight, u, steps=1):
    rows, new = weight.flatten(1), u.detach()
    for _ in range(steps):
        v = torch.nn.functional.normalize(rows.detach().T @ new, dim=0, eps=1e-30)
        new = torch.nn.functional.normalize(rows.detach() @ v, dim=0, eps=1e-30)
    return weight / (new @ rows @ v), u.detach()


@QUESTION.mistake(
    "written into u",
    hint="The numbers are right, but the u that you were given is written over, as torch's own "
    "layer does with its buffer. Return a new tensor.",
)
def written_into_u(weight, u, steps=1):
    rows = weight.flatten(1)
    for _ in range(steps):
        v = torch.nn.functional.normalize(rows.detach().T @ u.data, dim=0, eps=1e-30)
        u.data.copy_(torch.nn.functional.normalize(rows.detach() @ v, dim=0, eps=1e-30))
    return weight / (u.data @ rows @ v), u.data
