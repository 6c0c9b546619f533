"""How far is a set of pictures from another one? Two scores, and what they look at.

The Fréchet distance describes each set by the mean and the covariance of its features and knows
nothing else of it. The Inception score does not look at real pictures at all. The book explains
both, and what they hide, in "Attention in images".
Shapes: N pictures, D features of each, V classes.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from coursekit._base.checks import check_numbers, check_tensor


class Gaussian(NamedTuple):
    """All that the Fréchet distance knows of a set: mean (D,) and covariance (D, D)."""

    mean: Tensor
    covariance: Tensor


def gaussian_of(features: Tensor) -> Gaussian:
    """Features (N, D), N above 1 -> their mean and covariance, in double precision."""
    check_tensor(features, "features")
    if features.ndim != 2 or len(features) < 2 or not features.shape[1]:
        raise ValueError(
            "features must be (pictures, features) of two pictures at least, "
            f"found the shape {tuple(features.shape)}"
        )
    check_numbers(features, "features", finite=True)
    features = features.double()
    return Gaussian(features.mean(dim=0), torch.atleast_2d(features.T.cov()))  # (D,), (D, D)


def square_root(matrix: Tensor) -> Tensor:
    """The symmetric square root of a symmetric positive semidefinite matrix (D, D) -> (D, D).

    Eigenvalues that rounding has made negative count as 0.
    """
    check_numbers(matrix, "the matrix", finite=True)
    values, vectors = torch.linalg.eigh(matrix)  # (D,), (D, D)
    return (vectors * values.clamp(min=0).sqrt()) @ vectors.mT


def frechet_distance(one: Gaussian, other: Gaussian) -> float:
    """|m − n|² + tr S + tr T − 2 tr (S T)^½, the squared distance that is called FID.

    S T is not symmetric, and its root is a delicate thing. Its eigenvalues are those of
    S^½ T S^½, which is symmetric, so the trace of the root is the sum of their square roots.
    """
    (m, S), (n, T) = one, other
    if m.shape != n.shape or S.shape != T.shape or S.shape != (*m.shape, *m.shape):
        raise ValueError(
            "both need a mean (D,) and a covariance (D, D) of the same D, found "
            f"{tuple(m.shape)}, {tuple(S.shape)} and {tuple(n.shape)}, {tuple(T.shape)}"
        )
    for name, tensor in (("means", torch.stack([m, n])), ("covariances", torch.stack([S, T]))):
        check_numbers(tensor, f"the {name}", finite=True)
    root = square_root(S)
    between = torch.linalg.eigvalsh(root @ T @ root).clamp(min=0).sqrt().sum()  # tr (S T)^½
    squared = (m - n).square().sum() + S.trace() + T.trace() - 2 * between
    return max(0.0, squared.item())  # equal sets: rounding may leave −1e-13


def inception_score(probabilities: Tensor) -> float:
    """exp of the mean KL(p(y|x) ‖ p(y)), from a classifier's probabilities (N, V).

    p(y) is their mean over the pictures. From 1, where every picture is read alike, to V, where
    each is read with certainty and all classes are equally frequent.
    """
    check_tensor(probabilities, "probabilities")
    if probabilities.ndim != 2 or 0 in probabilities.shape:
        raise ValueError(
            f"probabilities must be (pictures, classes), found {tuple(probabilities.shape)}"
        )
    p = probabilities.double()
    if not ((p >= 0).all() and (p.sum(dim=1) - 1).abs().max() <= 1e-4):  # NaN is not
        raise ValueError("each row of the probabilities must be at least 0 and have the sum 1")
    apart = torch.special.xlogy(p, p) - torch.special.xlogy(p, p.mean(dim=0))  # (N, V); 0 log 0 = 0
    return apart.sum(dim=1).mean().exp().item()
