"""Fashion-MNIST: pictures of clothes, 28 by 28, ten kinds (Xiao, Rasul and Vollgraf, 2017).

The embedded subset has 1,000 training and 200 test pictures of each kind. The published test
set stays the test set, so that a result can be compared with published ones; training and
validation are told apart by a hash of the picture. The whole set comes from the Debian package
where that is installed, and from the hub elsewhere: the same pictures.
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

import numpy as np
import torch

from coursekit._base.errors import CourseError
from coursekit.data import hub
from coursekit.data.cards import FILES, REINSTALL, Card, check_source, checked
from coursekit.data.images import Images
from coursekit.data.splits import BEFORE_TEST, check_split, split_of

NAMES = (
    "T-shirt", "trousers", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip
REPOSITORY = "zalando-datasets/fashion_mnist"
REVISION = "531be5e2ccc9dba0c201ad3ae567a4f3d16ecdd2"
FULL = {"train": 60_000, "test": 10_000}
PACKAGE = "dataset-fashion-mnist"  # of Debian and Ubuntu
FOLDER = Path("/usr/share/datasets/fashion-mnist")  # where that package puts its files

CARD = Card(
    name="Fashion-MNIST",
    what="grey pictures of clothes, 28 × 28, ten kinds",
    licence="MIT, © 2017 Zalando SE",
    source="Debian package dataset-fashion-mnist; fashion.npz holds a subset",
    sha256="b9f4f3fc2c929ceaad19afef5d7dbbca1f6e3eba26b3b4bd9581e427a7ba3ba5",
    splits="the published test set; of the rest a tenth, by hash of the picture, is validation",
    wrong="Shirts, T-shirts, pullovers and coats are hard to tell apart even for people, and some "
    "labels are simply wrong. All pictures are centred, on black, from one shop.",
    full=f"70,000 pictures, `{REPOSITORY}` on the hub or the Debian package",
)


def fashion(
    split: str = "train", *, source: str = "embedded", folder: Path | str | None = None
) -> Images:
    """Return one split: images (N, 28, 28) uint8 and labels (N,).

    With `source="full"` the files of the Debian package are read from `folder`, or from where the
    package puts them; without them the hub is asked.
    """
    check_split(split)
    check_source(source)
    if folder is not None and source != "full":
        raise ValueError(f'a folder is read with source="full" only, found source={source!r}')
    part = "test" if split == "test" else "train"
    images, labels = _embedded(part) if source == "embedded" else _full(part, folder)
    every = Images(torch.from_numpy(images), torch.from_numpy(labels), NAMES)
    if part == "test":
        return every
    return every.take(
        [i for i, image in enumerate(images) if split_of(image.tobytes(), BEFORE_TEST) == split]
    )


def _embedded(part: str) -> tuple[np.ndarray, np.ndarray]:
    content = checked(FILES / "fashion.npz", CARD.sha256, REINSTALL)
    with np.load(io.BytesIO(content)) as arrays:
        return arrays[f"{part}_images"], arrays[f"{part}_labels"].astype(np.int64)


def _full(part: str, folder: Path | str | None) -> tuple[np.ndarray, np.ndarray]:
    if folder is not None or FOLDER.is_dir():
        where: Path | str = Path(folder or FOLDER)
        images, labels = _idx(Path(where), part)
    else:
        where = REPOSITORY
        try:
            rows = list(hub.rows(REPOSITORY, part, REVISION))
        except CourseError as error:
            raise CourseError(
                f"{error}; on Debian and Ubuntu `apt install {PACKAGE}` brings the same pictures"
            ) from error
        images = np.array([np.asarray(row["image"], dtype=np.uint8) for row in rows])
        labels = np.array([row["label"] for row in rows], dtype=np.int64)
    if not len(images) == len(labels) == FULL[part]:
        count, what = (
            (len(images), "rows") if len(images) != FULL[part] else (len(labels), "labels")
        )
        raise CourseError(f"{where} has {count} {what} in {part}, expected {FULL[part]}")
    return images, labels


def _idx(folder: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures (N, 28, 28) and labels (N,) of the zipped IDX files in a folder."""
    stem = "t10k" if part == "test" else part
    arrays = []
    for name, axes in (("images-idx3", (28, 28)), ("labels-idx1", ())):
        path = folder / f"{stem}-{name}-ubyte.gz"
        if not path.is_file():
            raise CourseError(
                f"{path} is missing; on Debian and Ubuntu `apt install {PACKAGE}` puts it in "
                f"{FOLDER}, and without a folder the hub is asked"
            )
        try:
            content = gzip.decompress(path.read_bytes())
        except (OSError, EOFError, zlib.error) as error:  # what gzip says of a torn file
            raise CourseError(f"{path} is not a gzip file: {error}") from error
        sides = len(axes) + 1
        start = 4 * (sides + 1)  # the magic number and the sides, each of 4 bytes
        header = np.frombuffer(content[:start].ljust(start, b"\0"), ">u4").tolist()
        count, body = header[1], len(content) - start
        whole = count * (axes[0] * axes[1] if axes else 1)
        if header != [0x800 + sides, count, *axes] or body != whole:
            raise CourseError(
                f"{path} is not an IDX file of {'pictures of 28 × 28' if axes else 'labels'}: its "
                f"header is {header}, and {body} bytes follow"
            )
        flat = np.frombuffer(content, np.uint8, offset=start)
        arrays.append(flat.reshape(count, *axes).copy())  # a tensor needs what may be written to
    images, labels = arrays
    return images, labels.astype(np.int64)
