"""The best linear guess at hidden pixels, for a page: what `painting.js` needs to paint it.

The book has it in "DeiT and MAE", as the painter that an autoencoder has to beat.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

import torch

from coursekit.analysis.inpainting import LinearPainter
from coursekit.data.fashion import fashion
from coursekit.training.pictures import as_input


@cache
def linear_painter() -> LinearPainter:
    """Return the best linear guess that the training pictures allow, as in the notebook."""
    return LinearPainter(as_input(fashion("train").images))


def linear_state() -> dict[str, Any]:
    """Return its mean and covariance for the state: whole numbers of 16 bits, times `scale`.

    First the mean (M,), then the covariance row by row, each from the diagonal on. Rounding to
    steps of `scale` changes a painted pixel by far less than a grey level.
    """
    painter = linear_painter()
    rows, columns = torch.triu_indices(*painter.covariance.shape)
    numbers = torch.cat([painter.mean, painter.covariance[rows, columns]])
    scale = numbers.abs().max().item() / 32767
    whole = (numbers / scale).round().short().numpy().astype("<i2")
    return {"linear": {"scale": scale, "numbers": base64.b64encode(whole.tobytes()).decode()}}
