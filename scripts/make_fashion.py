"""Make `fashion.npz`: 1,000 training and 200 test pictures of each kind, no two nearly the same.

apt-get download dataset-fashion-mnist && dpkg-deb -x dataset-fashion-mnist_*.deb fashion
python scripts/make_fashion.py fashion/usr/share/datasets/fashion-mnist
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path

import numpy as np

from coursekit.data.cards import FILES

TRAIN, TEST, SPARE = 1000, 200, 50  # of each kind; spare ones replace near repetitions
NEAR = 0.05  # root mean square difference of two pictures, as a share of white


def read(path: Path, header: int) -> np.ndarray:
    """Return the bytes of a zipped IDX file behind its header."""
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)


def place(image: np.ndarray) -> bytes:
    """Return what pictures are sorted by: a hash, but not the one that decides the split."""
    return hashlib.sha256(b"subset" + image.tobytes()).digest()


def first_by_hash(images: np.ndarray, labels: np.ndarray, count: int) -> list[int]:
    """Return the indices of `count` pictures of each kind, those with the smallest hashes."""
    order = sorted(range(len(images)), key=lambda i: place(images[i]))
    return [i for kind in range(10) for i in [i for i in order if labels[i] == kind][:count]]


def repeats(images: np.ndarray) -> np.ndarray:
    """Say of each picture whether an earlier one is nearly the same."""
    rows = images.reshape(len(images), -1).astype(np.float32) / 255
    squares = (rows**2).sum(axis=1)
    found = np.zeros(len(rows), dtype=bool)
    for start in range(0, len(rows), 1000):
        stop = min(start + 1000, len(rows))
        distance = squares[start:stop, None] + squares[:stop] - 2 * rows[start:stop] @ rows[:stop].T
        near = distance < NEAR**2 * rows.shape[1]
        for row in range(stop - start):
            found[start + row] = near[row, : start + row].any()
    return found


def main(folder: Path) -> None:
    """Choose the pictures and write them."""
    images, labels = {}, {}
    for part, stem, count in (("test", "t10k", TEST), ("train", "train", TRAIN + SPARE)):
        every = read(folder / f"{stem}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
        kinds = read(folder / f"{stem}-labels-idx1-ubyte.gz", 8)
        chosen = first_by_hash(every, kinds, count if part == "train" else count + SPARE)
        images[part], labels[part] = every[chosen], kinds[chosen]
    near = repeats(np.concatenate([images["test"], images["train"]]))
    print(f"{near.sum()} of {len(near)} nearly repeat another and are left out")
    arrays = {}
    for part, fresh, count in (
        ("train", ~near[len(labels["test"]) :], TRAIN),
        ("test", ~near[: len(labels["test"])], TEST),
    ):
        keep = [i for k in range(10) for i in np.flatnonzero(fresh & (labels[part] == k))[:count]]
        assert len(keep) == 10 * count, f"SPARE is too small for {part}: {len(keep)}"
        keep = sorted(keep, key=lambda i: place(images[part][i]))
        arrays[f"{part}_images"], arrays[f"{part}_labels"] = images[part][keep], labels[part][keep]
    path = FILES / "fashion.npz"
    np.savez_compressed(path, **arrays)  # numpy writes no time into the file
    print(path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
