"""CIFAR-10: colour pictures, 32 by 32, of six animals and four vehicles (Krizhevsky, 2009).

Nothing of it is embedded: it comes from the hub, at a fixed revision. The published test set stays
the test set; training and validation are told apart by a hash of the picture.
"""

from __future__ import annotations

import numpy as np
import torch

from coursekit._base.errors import CourseError
from coursekit.data import hub
from coursekit.data.cards import Card
from coursekit.data.images import Images
from coursekit.data.splits import BEFORE_TEST, check_split, split_of

NAMES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
REPOSITORY = "uoft-cs/cifar10"
REVISION = "0b2714987fa478483af9968de7c934580d0bb9a2"
FULL = {"train": 50_000, "test": 10_000}

CARD = Card(
    name="CIFAR-10",
    what="colour pictures, 32 × 32, of ten kinds of animals and vehicles",
    licence="none was published with it; Krizhevsky (2009) is to be cited",
    source=f"`{REPOSITORY}` on the hub, at the revision {REVISION[:12]}",
    sha256="",  # no file is embedded; which pictures they are, the revision says
    splits="the published test set; of the rest a tenth, by hash of the picture, is validation",
    wrong="The pictures were found on the web by the names of things and sorted by students who "
    "were paid for it. About 3% of the test pictures have a near copy among the training pictures "
    "(Barz and Denzler, 2020).",
    full="60,000 pictures; there is no other way to get them",
)


def cifar(split: str = "train") -> Images:
    """Return one split, from the hub: images (N, 32, 32, 3) uint8 and labels (N,)."""
    check_split(split)
    part = "test" if split == "test" else "train"
    rows = list(hub.rows(REPOSITORY, part, REVISION))
    if len(rows) != FULL[part]:
        raise CourseError(f"{REPOSITORY} has {len(rows)} rows in {part}, expected {FULL[part]}")
    images = np.stack([np.asarray(row["img"], dtype=np.uint8) for row in rows])  # (N, 32, 32, 3)
    if images.shape[1:] != (32, 32, 3):
        raise CourseError(f"pictures of {REPOSITORY} must be (32, 32, 3), found {images.shape[1:]}")
    labels = torch.tensor([row["label"] for row in rows])  # (N,)
    every = Images(torch.from_numpy(images), labels, NAMES)
    if part == "test":
        return every
    return every.take(
        [i for i, image in enumerate(images) if split_of(image.tobytes(), BEFORE_TEST) == split]
    )
