"""Handwritten digits, 8 by 8: the smallest real pictures there are (Alpaydin and Kaynak, 1998)."""

from __future__ import annotations

import gzip

import numpy as np
import torch

from coursekit._base.packages import package_folder
from coursekit.data.cards import Card, checked
from coursekit.data.images import Images
from coursekit.data.splits import check_split, split_of

REQUIREMENT = "scikit-learn==1.9.1"

CARD = Card(
    name="Digits",
    what="grey pictures of handwritten digits, 8 × 8, values from 0 to 16",
    licence="CC BY 4.0 (UCI repository); scikit-learn is BSD",
    source=f"installed package {REQUIREMENT}, the file digits.csv.gz",
    sha256="09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22",
    splits="80, 10 and 10%, by hash of the picture",
    wrong="Thirteen people wrote them all, and nothing says who wrote which, so the same hand is "
    "in all splits. This is the test part of a set of 5,620; scikit-learn has no more.",
)


def digits(split: str = "train") -> Images:
    """Return one split: images (N, 8, 8) uint8 with values from 0 to 16, and labels (N,)."""
    check_split(split)
    path = package_folder("sklearn", REQUIREMENT) / "datasets" / "data" / "digits.csv.gz"
    content = checked(path, CARD.sha256, f"pip install --no-deps {REQUIREMENT}")
    table = np.loadtxt(gzip.decompress(content).decode().splitlines(), delimiter=",")
    images = table[:, :-1].astype(np.uint8).reshape(-1, 8, 8)
    labels = table[:, -1].astype(np.int64)
    every = Images(torch.from_numpy(images), torch.from_numpy(labels), tuple(map(str, range(10))))
    return every.take([i for i, image in enumerate(images) if split_of(image.tobytes()) == split])
