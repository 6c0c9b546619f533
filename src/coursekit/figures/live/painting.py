"""A masked autoencoder paints the patches that the reader hides, running in the page.

The autoencoder of the training `mae` reads what is visible of a test picture. It competes with
three painters without a network: the best linear guess, the visible pixels nearby, and the mean of
all training pictures. The book has it in "DeiT and MAE".
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from coursekit.analysis.inpainting import fill_hidden, hidden_pixels, painting_error
from coursekit.data.fashion import NAMES
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import trained_model
from coursekit.figures.live.patch_grid import PATCH, first_pictures, image_tag
from coursekit.figures.live.still import svg
from coursekit.models.mae import Masking
from coursekit.models.patches import unpatchify
from coursekit.training.pictures import as_input
from coursekit.training.records import result, trained

ROOM = (673, 1090)  # pixels from top to bottom, on a wide screen and on a telephone
LINKED = ("picture", "hidden", "painter")
PATCHES = 49
SHOWN = 9  # of the ten pictures: the ankle boot
SHARES = (0.25, 0.75, 0.9)  # hidden in the still picture
SIDE = 180


def painting() -> Live:
    """Return the autoencoder at a picture of which as much is hidden as in its training."""
    hidden = PATCHES - int(PATCHES * (1 - result("mae")["settings"]["ratio"]))
    state = {
        "order": order(),
        "picture": SHOWN + 1,
        "hidden": sorted(order()[:hidden]),
        "painter": "mae",
    }
    return Live("painting", state, _still(), LINKED, trained_model("mae"), ROOM)


def order() -> list[int]:
    """Return the patches in the order in which they are hidden, drawn once."""
    return torch.randperm(PATCHES, generator=torch.Generator().manual_seed(1)).tolist()


@torch.no_grad()
def painted(picture: Tensor, hidden: list[int]) -> Tensor:
    """A picture (1, 1, 28, 28) and the numbers of hidden patches -> what the autoencoder paints.

    Visible patches are the true ones. Unlike in training any number may be hidden, even all.
    """
    model: Any = trained("mae")
    masked = torch.zeros(1, PATCHES, dtype=torch.bool)
    masked[0, hidden] = True
    keep = (~masked).nonzero()[:, 1][None]  # (1, K)
    latent = model.encoder.features(picture, visible=keep)  # (1, 1 + K, D)
    patches = model.decode(latent, Masking(keep, masked, restore=masked.long()))  # (1, N, P·P)
    return fill_hidden(picture, unpatchify(patches, PATCH, (28, 28)), masked, PATCH)


def _still() -> str:
    """Return one picture with more and more of it hidden and what is painted, as one drawing."""
    picture = as_input(first_pictures().images[SHOWN : SHOWN + 1])  # (1, 1, 28, 28)
    parts, told = [], []
    for column, share in enumerate(SHARES):
        hidden = order()[: PATCHES - int(PATCHES * (1 - share))]
        masked = torch.zeros(1, PATCHES, dtype=torch.bool)
        masked[0, hidden] = True
        shown = picture.masked_fill(hidden_pixels(masked, PATCH, picture.shape), float("nan"))
        done = painted(picture, hidden)
        off = 127.5 * painting_error(done, picture, masked, PATCH)
        x = column * (SIDE + 12)
        parts += [image_tag(shown[0, 0], x, 24, SIDE), image_tag(done[0, 0], x, 32 + SIDE, SIDE)]
        parts.append(f'<text x="{x}" y="12">{len(hidden)} hidden</text>')
        parts.append(f'<text x="{x}" y="{46 + 2 * SIDE}">{off:.0f} grey levels off</text>')
        told.append(f"with {len(hidden)} of {PATCHES} patches hidden by {off:.0f}")
    alt = (
        f"Test picture of an {NAMES[SHOWN]}, with more and more patches hidden, and what the "
        "autoencoder paints. In the hidden pixels it is off by so many grey levels of 255: "
        f"{', '.join(told)}."
    )
    width, height = len(SHARES) * (SIDE + 12) - 12, 58 + 2 * SIDE
    return svg(width, height, alt, "".join(parts), size=15, widest="36rem", central=True)
