"""Fashion-MNIST: pictures of clothes, 28 by 28, ten kinds (Xiao, Rasul and Vollgraf, 2017).

The embedded subset has 1,000 training and 200 test pictures of each kind. The published test
set stays the test set, so that a result can stand beside published ones; training and validation
are told apart by a hash of the picture.
"""

from __future__ import annotations

import io

import numpy as np
import torch

from coursekit.data import hub
from coursekit.data.cards import FILES, Card, check_source, checked
from coursekit.data.images import Images
from coursekit.data.splits import BEFORE_TEST, check_split, split_of
from coursekit.errors import CourseError

NAMES = (
    "T-shirt", "trousers", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip
REPOSITORY = "zalando-datasets/fashion_mnist"
REVISION = "531be5e2ccc9dba0c201ad3ae567a4f3d16ecdd2"
FULL = {"train": 60_000, "test": 10_000}

CARD = Card(
    name="Fashion-MNIST",
    what="grey pictures of clothes, 28 × 28, ten kinds",
    licence="MIT, © 2017 Zalando SE",
    source="Debian package dataset-fashion-mnist; fashion.npz holds a subset",
    sha256="b9f4f3fc2c929ceaad19afef5d7dbbca1f6e3eba26b3b4bd9581e427a7ba3ba5",
    splits="the published test set; of the rest a tenth, by hash of the picture, is validation",
    wrong="Shirts, T-shirts, pullovers and coats are hard to tell apart even for people, and some "
    "labels are simply wrong. All pictures are centred, on black, from one shop.",
    full=f"70,000 pictures, `{REPOSITORY}` on the hub",
)


def fashion(split: str = "train", *, source: str = "embedded") -> Images:
    """Return one split: images (N, 28, 28) uint8 and labels (N,)."""
    check_split(split)
    check_source(source)
    part = "test" if split == "test" else "train"
    images, labels = _embedded(part) if source == "embedded" else _full(part)
    every = Images(torch.from_numpy(images), torch.from_numpy(labels), NAMES)
    if part == "test":
        return every
    return every.take(
        [i for i, image in enumerate(images) if split_of(image.tobytes(), BEFORE_TEST) == split]
    )


def _embedded(part: str) -> tuple[np.ndarray, np.ndarray]:
    content = checked(FILES / "fashion.npz", CARD.sha256, "python -m coursekit.data.make.fashion")
    with np.load(io.BytesIO(content)) as arrays:
        return arrays[f"{part}_images"], arrays[f"{part}_labels"].astype(np.int64)


def _full(part: str) -> tuple[np.ndarray, np.ndarray]:
    rows = list(hub.rows(REPOSITORY, part, REVISION))
    if len(rows) != FULL[part]:
        raise CourseError(f"{REPOSITORY} has {len(rows)} rows in {part}, expected {FULL[part]}")
    images = np.stack([np.asarray(row["image"], dtype=np.uint8) for row in rows])
    return images, np.array([row["label"] for row in rows], dtype=np.int64)
