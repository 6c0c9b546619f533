"""How far two sets of pictures are apart, by the Fréchet distance of their features."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def frechet(first, second):
    """first (N, D), second (M, D), features -> the Fréchet distance, squared, one number."""
    a, b = first.double(), second.double()
    shift = a.mean(dim=0) - b.mean(dim=0)  # (D,)
    a, b = a - a.mean(dim=0), b - b.mean(dim=0)
    ca, cb = a.T @ a / (len(a) - 1), b.T @ b / (len(b) - 1)  # (D, D) each
    squares = torch.linalg.eigvals(ca @ cb).real.clamp(min=0)  # (D,)
    shared = squares.sqrt().sum()
    return (shift.square().sum() + ca.trace() + cb.trace() - 2 * shared).item()


QUESTION = Question(
    name="frechet",
    title="Two clouds of features",
    points=4,
    difficulty=2,
    minutes=35,
    page="sagan.html#sec-sagan-frechet",
    hint="Do it for one feature first, with paper: there it is the squared difference of the means "
    "and the squared difference of the spreads. With many features only the root is new. Its trace "
    "needs no root of a matrix: look at what eigenvalues do when a matrix is squared.",
    reference=frechet,
    forbidden=("coursekit",),
)


def clouds(first, second, width, seed, dtype=torch.float32):
    """Return two sets of features with different means, whose axes lie differently."""
    made = []
    for n, count in enumerate((first, second)):
        mix = randn(width, width, seed=seed + n)
        cloud = randn(count, width, seed=seed + 2 + n) @ mix + 1.5 * randn(width, seed=seed + 4 + n)
        made.append(cloud.to(dtype))
    return made


@QUESTION.visible(says="one feature: two numbers and three")
def one_feature(student):
    return student.frechet(torch.tensor([[1.0], [3.0]]), torch.tensor([[4.0], [8.0], [6.0]]))


@QUESTION.visible(says="four features, as many of each", weight=2)
def four_features(student):
    return student.frechet(*clouds(12, 12, 4, seed=1))


@QUESTION.visible(says="more of the one set than of the other")
def unequal_sets(student):
    return [student.frechet(*clouds(*sizes, 3, seed=11)) for sizes in ((40, 7), (6, 25))]


@QUESTION.visible(says="equal means", weight=2)
def equal_means(student):
    a, b = clouds(15, 10, 3, seed=21)
    return student.frechet(a - a.mean(dim=0), b - b.mean(dim=0))


@QUESTION.visible(says="a set that was only moved, and the same set twice")
def moved(student):
    a, _ = clouds(9, 9, 4, seed=31)
    return student.frechet(a, a + torch.tensor([3.0, 0.0, -4.0, 0.5])), student.frechet(a, a)


@QUESTION.visible(says="fewer pictures than features")
def few_pictures(student):
    return [student.frechet(*clouds(*sizes, 7, seed=41)) for sizes in ((4, 5), (2, 30))]


@QUESTION.visible(says="features around ten thousand, in single precision")
def far_from_zero(student):
    a, b = clouds(20, 30, 3, seed=51)
    return student.frechet(a + 10_000, b + 10_000)


@QUESTION.visible(says="what was given stays as it was; double precision", tolerance=1e-7)
def what_was_given_stays(student):
    return after(student.frechet, *clouds(8, 9, 3, seed=61, dtype=torch.float64))


DOUBLE = "a, b = first.double(), second.double()"
COVARIANCES = "ca, cb = a.T @ a / (len(a) - 1), b.T @ b / (len(b) - 1)"
SQUARES = "squares = torch.linalg.eigvals(ca @ cb).real.clamp(min=0)"
SHARED = "shared = squares.sqrt().sum()"
SUM = "shift.square().sum() + ca.trace() + cb.trace() - 2 * shared"
END = f"return ({SUM}).item()"
ROOTS = (
    "def root(matrix):\n"
    "        values, vectors = torch.linalg.eigh(matrix)\n"
    "        return vectors * values.clamp(min=0).sqrt() @ vectors.T\n\n    "
)

for name, old, new, hint in (
    (
        "root of elements",
        SHARED,
        "shared = (ca @ cb).sqrt().trace()",
        "You take the root of each element of the product. The root of a matrix is the matrix that "
        "gives it when multiplied by itself. And an element below 0 has no root: nan.",
    ),
    (
        "root of elements, cut off at zero",
        SHARED,
        "shared = (ca @ cb).clamp(min=0).sqrt().trace()",
        "You take the root of each element of the product. The root of a matrix is the matrix that "
        "gives it when multiplied by itself.",
    ),
    (
        "root of elements, without signs",
        SHARED,
        "shared = (ca @ cb).abs().sqrt().trace()",
        "You take the root of each element of the product, without its sign. The root of a matrix "
        "is the matrix that gives it when multiplied by itself.",
    ),
    (
        "root of the trace",
        SHARED,
        "shared = (ca @ cb).trace().sqrt()",
        "You take the root of the trace. First the root of the matrix, then the trace: the roots "
        "of the eigenvalues are added.",
    ),
    (
        "root of the traces",
        SHARED,
        "shared = (ca.trace() * cb.trace()).sqrt()",
        "You take the root of the product of the two traces. First the product of the matrices, "
        "then its root, then the trace.",
    ),
    (
        "no root",
        SHARED,
        "shared = squares.sum()",
        "The root is missing: you take the trace of the product itself.",
    ),
    (
        "the product of two roots",
        SQUARES + "  # (D,)\n    " + SHARED,
        ROOTS + "shared = (root(ca) @ root(cb)).trace()",
        "You multiply the roots of the two covariances. The root of a product is not the product "
        "of the roots, unless both clouds lie along the same axes.",
    ),
    (
        "the eigenvalues of each for itself",
        SQUARES,
        "squares = torch.linalg.eigvalsh(ca) * torch.linalg.eigvalsh(cb)\n"
        "    squares = squares.clamp(min=0)",
        "You multiply the eigenvalues of the one covariance by those of the other. The clouds lie "
        "along different axes: take the eigenvalues of the product.",
    ),
    (
        "eigenvalues as of a symmetric matrix",
        SQUARES,
        "squares = torch.linalg.eigvalsh(ca @ cb).clamp(min=0)",
        "You use eigvalsh or eigh, which look at half of the matrix. The product of two symmetric "
        "matrices is not symmetric: eigvals.",
    ),
    (
        "singular values of the product",
        SQUARES,
        "squares = torch.linalg.svdvals(ca @ cb)",
        "You take the singular values of the product. It is not symmetric, so they are not its "
        "eigenvalues.",
    ),
    (
        "nan below zero",
        ".real.clamp(min=0)",
        ".real",
        "Rounding brings some eigenvalues a little below 0, and their root is nan. Raise them to 0 "
        "first.",
    ),
    (
        "the means of the roots",
        SHARED,
        "shared = squares.sqrt().mean()",
        "You average the roots. A trace is a sum.",
    ),
    (
        "means forgotten",
        SUM,
        "ca.trace() + cb.trace() - 2 * shared",
        "The means are missing: two clouds of one shape would have the distance 0 wherever they "
        "lie.",
    ),
    (
        "the means only",
        SUM,
        "shift.square().sum()",
        "You compare the means only. Two clouds may have one mean and be quite different.",
    ),
    (
        "means not squared",
        "shift.square().sum()",
        "shift.norm()",
        "You take the distance of the means. Its square is in the formula.",
    ),
    (
        "absolute values of the means",
        "shift.square().sum()",
        "shift.abs().sum()",
        "You add up the absolute differences of the means. Their squares are in the formula.",
    ),
    (
        "the mean of the squared shifts",
        "shift.square().sum()",
        "shift.square().mean()",
        "You average the squared differences of the means over the features. They are added.",
    ),
    (
        "one mean for all features",
        "shift = a.mean(dim=0) - b.mean(dim=0)",
        "shift = a.mean() - b.mean()",
        "Your means are over all features together. Each feature has its own mean.",
    ),
    (
        "not centred",
        "a, b = a - a.mean(dim=0), b - b.mean(dim=0)",
        "",
        "You do not take the means off before you multiply: a covariance is about the mean.",
    ),
    (
        "centred at the common mean",
        "a, b = a - a.mean(dim=0), b - b.mean(dim=0)",
        "both = torch.cat([a, b]).mean(dim=0)\n    a, b = a - both, b - both",
        "You take one mean off both sets. Each covariance is about the mean of its own set.",
    ),
    (
        "std for covariance",
        SQUARES + "  # (D,)\n    " + SHARED,
        "ca, cb = ca.diag().diag(), cb.diag().diag()\n    shared = (ca * cb).sqrt().sum()",
        "You compare the spreads of the features one by one. What two features have in common, the "
        "covariance, belongs to it.",
    ),
    (
        "std in the place of covariance",
        SUM,
        "shift.square().sum() + (ca.diag().sqrt() + cb.diag().sqrt()).sum() - 2 * shared",
        "You add standard deviations where variances are asked for: the trace of a covariance is "
        "the sum of the squares.",
    ),
    (
        "the root of each covariance in the product",
        SQUARES,
        "squares = torch.linalg.eigvals(ca.abs().sqrt() @ cb.abs().sqrt()).real.clamp(min=0)",
        "You take roots of the covariances' elements before you multiply. The product is of the "
        "covariances as they are.",
    ),
    (
        "correlations",
        COVARIANCES,
        "ca, cb = (torch.corrcoef(x.T).nan_to_num().reshape(x.shape[1], -1) for x in (a, b))",
        "You use correlations, in which each feature is divided by its spread. How wide a cloud is "
        "counts: covariances.",
    ),
    (
        "covariance of the pictures",
        COVARIANCES,
        "ca, cb = a @ a.T / (len(a) - 1), b @ b.T / (len(b) - 1)",
        "Your covariances are between pictures, (N, N). They are between features, (D, D); "
        "torch.cov has the features in the rows.",
    ),
    (
        "divided by N",
        COVARIANCES,
        "ca, cb = a.T @ a / len(a), b.T @ b / len(b)",
        "You divide by the number of pictures. One less is asked for.",
    ),
    (
        "not divided at all",
        COVARIANCES,
        "ca, cb = a.T @ a, b.T @ b",
        "Your covariances are sums. Divide by the number of pictures less one.",
    ),
    (
        "the same divisor for both",
        COVARIANCES,
        "ca, cb = a.T @ a / (len(a) - 1), b.T @ b / (len(a) - 1)",
        "You divide both by the number of the first set. Each has its own.",
    ),
    (
        "factor 2",
        "2 * shared",
        "shared",
        "The factor 2 before the root is missing: equal sets would not have the distance 0.",
    ),
    (
        "factor 2 under the root",
        SHARED,
        "shared = (2 * squares).sqrt().sum() / 2",
        "The 2 stands under your root. It belongs before it.",
    ),
    (
        "factor 4",
        "2 * shared",
        "4 * shared",
        "You take the root off four times. It is taken off twice.",
    ),
    (
        "the root added",
        "- 2 * shared",
        "+ 2 * shared",
        "You add what both clouds share. It is taken off: equal sets have the distance 0.",
    ),
    (
        "the first covariance twice",
        "cb.trace()",
        "ca.trace()",
        "You add the trace of the first covariance twice. Each set has its own.",
    ),
    (
        "the difference of the covariances",
        SUM,
        "shift.square().sum() + (ca - cb).square().sum()",
        "You square the difference of the covariances. The formula has the trace of both less "
        "twice the root of their product.",
    ),
    (
        "the difference of the roots",
        END,
        f"{ROOTS}return (shift.square().sum() + (root(ca) - root(cb)).trace().square()).item()",
        "You square the difference of two traces. Neither a trace nor a root can be taken apart "
        "like that.",
    ),
    (
        "the root of all",
        END,
        f"return ({SUM}).clamp(min=0).sqrt().item()",
        "You return the root of it. What is called the Fréchet distance of pictures is the square "
        "of the distance: leave it so.",
    ),
    (
        "divided by the features",
        END,
        f"return (({SUM}) / len(ca)).item()",
        "You divide by the number of features. Nothing is divided.",
    ),
    (
        "nearest neighbours",
        END,
        "return torch.cdist(first.double(), second.double()).min(dim=1).values.mean().item()",
        "You look for the nearest picture. The Fréchet distance compares two Gaussians: the means "
        "and the covariances of the sets.",
    ),
    (
        "pictures in pairs",
        END,
        "n = min(len(first), len(second))\n"
        "    return (first[:n] - second[:n]).double().square().sum(dim=1).mean().item()",
        "You compare the first picture with the first. The sets have no order.",
    ),
    (
        "in single precision",
        DOUBLE,
        "a, b = first.float(), second.float()",
        "You count in single precision. With numbers around ten thousand the small differences are "
        "lost: go over to float64 first, with .double().",
    ),
    (
        "in the precision that was given",
        DOUBLE,
        "a, b = first, second",
        "You count in the precision of the features. In float32 the small differences of large "
        "numbers are lost: go over to float64 first, with .double().",
    ),
    (
        "a tensor",
        ".item()",
        "",
        "You return a tensor. A plain number is asked for: .item() makes one of it.",
    ),
    (
        "rounded",
        END,
        f"return round(({SUM}).item(), 2)",
        "You round the distance. Leave it as it is.",
    ),
    (
        "written into the features",
        "    a, b = a - a.mean(dim=0), b - b.mean(dim=0)",
        "    a -= a.mean(dim=0)\n    b -= b.mean(dim=0)",
        "The number is right, but the features that you were given have lost their means: -= "
        "writes into them, and .double() makes no copy of what is float64 already.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)
