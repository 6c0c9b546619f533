"""CIFAR-10 with the download replaced: splits, order, checks. Nothing here needs a network."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from coursekit._base.errors import CourseError
from coursekit.data.cards import Card
from coursekit.data.cifar import CARD, NAMES, REPOSITORY, REVISION, cifar

cifar_file = sys.modules["coursekit.data.cifar"]  # `coursekit.data.cifar` is the function
SPLITS = ("train", "valid", "test")


@pytest.fixture
def hub(monkeypatch):
    """Let `datasets.load_dataset` answer with 150 made pictures; say what it was asked for."""
    pixels = np.random.default_rng(0).integers(0, 256, (150, 32, 32, 3), dtype=np.uint8)
    asked = []

    def answer(repository, *, split, revision):
        asked.append((repository, split, revision))
        some = range(100) if split == "train" else range(100, 150)
        return [{"img": Image.fromarray(pixels[i]), "label": i % 10} for i in some]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=answer))
    monkeypatch.setattr(cifar_file, "FULL", {"train": 100, "test": 50})
    return pixels, asked


def test_splits_of_what_came_from_the_hub(hub):
    pixels, asked = hub
    train, valid, test = map(cifar, SPLITS)
    assert set(asked) == {(REPOSITORY, "train", REVISION), (REPOSITORY, "test", REVISION)}
    assert torch.equal(test.images, torch.from_numpy(pixels[100:]))
    assert test.labels.tolist() == [i % 10 for i in range(100, 150)]
    assert len(train) + len(valid) == 100 and 2 < len(valid) < 25
    number = {image.tobytes(): i for i, image in enumerate(pixels)}
    for part in (train, valid):
        found = [number[image.tobytes()] for image in part.images.numpy()]
        assert part.labels.tolist() == [i % 10 for i in found]
        assert part.names == NAMES and part.images.dtype == torch.uint8


def test_another_number_or_shape_gets_a_sentence(hub, monkeypatch):
    monkeypatch.setattr(cifar_file, "FULL", {"train": 50_000, "test": 10_000})
    with pytest.raises(CourseError, match="uoft-cs/cifar10 has 50 rows in test, expected 10000"):
        cifar("test")
    grey = {"img": Image.fromarray(np.zeros((32, 32), dtype=np.uint8)), "label": 0}
    answer = SimpleNamespace(load_dataset=lambda *_, **__: [grey])
    monkeypatch.setitem(sys.modules, "datasets", answer)
    monkeypatch.setattr(cifar_file, "FULL", {"test": 1})
    with pytest.raises(CourseError, match=r"must be \(32, 32, 3\), found \(32, 32\)"):
        cifar("test")


def test_bad_input_and_no_package(monkeypatch):
    with pytest.raises(ValueError, match="train, valid, test, found 'dev'"):
        cifar("dev")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(CourseError, match="`pip install datasets`"):
        cifar()


def test_the_card_leaves_nothing_open():
    assert isinstance(CARD, Card) and CARD.sha256 == ""
    assert re.fullmatch("[0-9a-f]{40}", REVISION) and REVISION[:12] in CARD.source
    for text in (CARD.name, CARD.what, CARD.licence, CARD.splits, CARD.wrong, CARD.full):
        assert text.strip() == text != ""
