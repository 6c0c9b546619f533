"""The game of two networks: one paints, the other tells paintings from pictures.

The discriminator gives every picture a number, high for "real". With the hinge loss it wants real
pictures above 1 and painted ones below −1, and does not care how far beyond; the generator wants
its own to be given high numbers. The book explains both in "Attention in images".
Shapes: B pictures of a batch.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import check_shape


def hinge_discriminator(real: Tensor, fake: Tensor) -> Tensor:
    """mean max(0, 1 − D(x)) + mean max(0, 1 + D(G(z))), from numbers (B,) and (B',) -> ().

    `fake` are the numbers that the discriminator gave to what the generator painted; paint it
    under `torch.no_grad()` or hand over `painted.detach()`, for the generator does not learn here.
    """
    check_shape(real, "real", "batch")
    check_shape(fake, "fake", "batch")
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean()


def hinge_generator(fake: Tensor) -> Tensor:
    """−mean D(G(z)), from numbers (B,) -> (): no hinge, so it never has enough."""
    check_shape(fake, "fake", "batch")
    return -fake.mean()
