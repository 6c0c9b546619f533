"""Fashion-MNIST and the digits: sizes, splits without repetitions, the full set with a stand-in."""

import gzip
import hashlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from coursekit._base.errors import CourseError
from coursekit.data.digits import digits
from coursekit.data.fashion import fashion

fashion_file = sys.modules["coursekit.data.fashion"]  # `coursekit.data.fashion` is the function
SPLITS = ("train", "valid", "test")


def membership(pictures) -> str:
    """Return a short hash of which pictures are in a split, whatever their order."""
    rows = sorted(image.numpy().tobytes() for image in pictures.images)
    return hashlib.sha256(b"".join(rows)).hexdigest()[:12]


@pytest.fixture(scope="module", params=["fashion", "digits"])
def parts(request):
    if request.param == "digits":
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    return request.param, [{"fashion": fashion, "digits": digits}[request.param](s) for s in SPLITS]


def test_sizes_types_and_kinds(parts):
    name, three = parts
    side, most = {"fashion": (28, 255), "digits": (8, 16)}[name]
    assert [len(part) for part in three] == {
        "fashion": [8976, 1024, 2000],
        "digits": [1423, 181, 193],
    }[name]
    for part in three:
        assert part.images.shape == (len(part), side, side)
        assert part.images.dtype == torch.uint8 and part.labels.dtype == torch.int64
        assert part.images.max() == most and part.images.min() == 0
        assert part.labels.unique().tolist() == list(range(10)) and len(part.names) == 10
        assert part.labels[:50].unique().numel() > 5  # not sorted by kind


def test_the_labels_belong_to_the_pictures(parts):
    """The nearest training picture has mostly the same label."""
    name, (train, valid, _) = parts
    distance = torch.cdist(valid.images.flatten(1).float(), train.images.flatten(1).float())
    right = (train.labels[distance.argmin(dim=1)] == valid.labels).float().mean()
    assert right > {"fashion": 0.75, "digits": 0.95}[name]


def test_fashion_is_stratified():
    train, valid, test = (fashion(split).labels.bincount() for split in SPLITS)
    assert test.tolist() == [200] * 10
    assert (train + valid).tolist() == [1000] * 10


def test_the_splits_are_always_the_same(parts):
    name, three = parts
    assert [membership(part) for part in three] == FROZEN[name]


FROZEN = {
    "fashion": ["55a8abf68fbb", "a6804d2af34e", "147d2e79de03"],
    "digits": ["68042def2052", "0a415c2836fd", "071a36cbbf8c"],
}


def test_no_picture_is_in_two_splits(parts):
    _, three = parts
    seen = [{image.numpy().tobytes() for image in part.images} for part in three]
    assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]


def test_no_fashion_picture_is_nearly_in_two_splits():
    train, valid, test = (fashion(s).images.flatten(1).float() / 255 for s in SPLITS)
    for one, other in ((test, train), (valid, train), (test, valid)):
        nearest = min(torch.cdist(rows, other).min().item() for rows in one.split(500))
        assert nearest / 28 >= 0.05 - 1e-4  # root mean square difference


def full_set(monkeypatch, answer):
    """Let `datasets.load_dataset` answer in place of the hub, as where Debian's package is not."""
    monkeypatch.setattr(fashion_file, "FOLDER", Path("/not/there"))
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=answer))


def test_the_full_set_with_a_stand_in_for_the_download(monkeypatch):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (300, 28, 28), dtype=np.uint8)
    asked = []

    def answer(repository, *, split, revision):
        asked.append((repository, split, len(revision)))
        few = pixels[:200] if split == "train" else pixels[200:]
        return [{"image": Image.fromarray(p), "label": i % 10} for i, p in enumerate(few)]

    full_set(monkeypatch, answer)
    monkeypatch.setattr(fashion_file, "FULL", {"train": 200, "test": 100})
    train, valid, test = (fashion(split, source="full") for split in SPLITS)
    assert len(test) == 100 and len(train) + len(valid) == 200 and 5 < len(valid) < 40
    assert np.array_equal(test.images.numpy(), pixels[200:])
    assert test.labels.tolist() == [i % 10 for i in range(100)]
    assert asked[0] == ("zalando-datasets/fashion_mnist", "train", 40)
    monkeypatch.setattr(fashion_file, "FULL", {"train": 60_000, "test": 10_000})
    with pytest.raises(CourseError, match="has 100 rows in test, expected 10000"):
        fashion("test", source="full")


def test_the_embedded_pictures_keep_their_side_in_the_full_set(monkeypatch):
    images = torch.cat([fashion("train").images[:50], fashion("valid").images[:50]])
    rows = [{"image": Image.fromarray(image.numpy()), "label": 0} for image in images]
    full_set(monkeypatch, lambda *_, **__: rows)
    monkeypatch.setattr(fashion_file, "FULL", {"train": 100})
    assert torch.equal(fashion("train", source="full").images, images[:50])
    assert torch.equal(fashion("valid", source="full").images, images[50:])


def test_no_network_gives_one_sentence_with_the_command(monkeypatch):
    def answer(*_, **__):
        raise ConnectionError("no route\nto host")

    full_set(monkeypatch, answer)
    with pytest.raises(CourseError) as caught:
        fashion(source="full")
    said = str(caught.value)
    assert "ConnectionError: no route to host" in said and "\n" not in said
    assert "`hf download --repo-type dataset zalando-datasets/fashion_mnist" in said


def test_without_the_package_for_the_hub(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    monkeypatch.setattr(fashion_file, "FOLDER", Path("/not/there"))
    with pytest.raises(CourseError, match=r"`pip install datasets`; on Debian .*`apt install data"):
        fashion(source="full")


def idx(folder, part, pixels, labels):
    """Write two zipped IDX files, as the Debian package has them."""
    folder.mkdir(exist_ok=True)
    for name, array in (("images-idx3", pixels), ("labels-idx1", labels)):
        header = np.array([0x800 + array.ndim, *array.shape], dtype=">u4").tobytes()
        content = gzip.compress(header + array.astype(np.uint8).tobytes())
        (folder / f"{part}-{name}-ubyte.gz").write_bytes(content)


@pytest.mark.parametrize("given", [True, False])
def test_the_full_set_from_the_folder_of_the_debian_package(monkeypatch, tmp_path, given):
    full_set(monkeypatch, lambda *_, **__: pytest.fail("the hub was asked"))
    pixels = np.random.default_rng(0).integers(0, 256, (120, 28, 28), dtype=np.uint8)
    labels = np.arange(120) % 10
    idx(tmp_path / "files", "train", pixels[:100], labels[:100])
    idx(tmp_path / "files", "t10k", pixels[100:], labels[100:])
    monkeypatch.setattr(fashion_file, "FULL", {"train": 100, "test": 20})
    if not given:
        monkeypatch.setattr(fashion_file, "FOLDER", tmp_path / "files")
    given = {"folder": tmp_path / "files"} if given else {}
    train, valid, test = (fashion(split, source="full", **given) for split in SPLITS)
    assert torch.equal(test.images, torch.from_numpy(pixels[100:]))
    assert test.labels.tolist() == labels[100:].tolist() and test.labels.dtype == torch.int64
    assert len(train) + len(valid) == 100 and len(valid) > 1
    whole = {image.tobytes(): label for image, label in zip(pixels, labels)}
    for image, label in zip(train.images.numpy(), train.labels.tolist()):
        assert whole[image.tobytes()] == label


def test_a_folder_without_the_right_files_gets_a_sentence(monkeypatch, tmp_path):
    ask = {"source": "full", "folder": tmp_path}
    with pytest.raises(CourseError, match=r"train-images.*is missing; .*`apt install dataset-fash"):
        fashion(**ask)
    pixels, labels = np.zeros((4, 28, 28)), np.zeros(4)
    idx(tmp_path, "train", pixels, labels)
    with pytest.raises(CourseError, match=r"has 4 rows in train, expected 60000"):
        fashion(**ask)
    monkeypatch.setattr(fashion_file, "FULL", {"train": 4})
    idx(tmp_path, "train", pixels, labels[:3])
    with pytest.raises(CourseError, match=r"has 3 labels in train, expected 4"):
        fashion(**ask)
    idx(tmp_path, "train", np.zeros((4, 27, 28)), labels)
    with pytest.raises(
        CourseError, match=r"not an IDX file of pictures of 28 × 28: .*\[2051, 4, 27"
    ):
        fashion(**ask)
    file = tmp_path / "train-images-idx3-ubyte.gz"
    idx(tmp_path, "train", pixels, labels)
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes())[:-1]))
    with pytest.raises(CourseError, match=r"and 3135 bytes follow"):
        fashion(**ask)
    file.write_bytes(gzip.compress(b"\0\0\b"))
    with pytest.raises(CourseError, match="not an IDX file of pictures"):
        fashion(**ask)
    file.write_bytes(b"no zip")
    with pytest.raises(CourseError, match="is not a gzip file: Not a gzipped file"):
        fashion(**ask)
    with pytest.raises(ValueError, match="source=\"full\" only, found source='embedded'"):
        fashion(folder=tmp_path)


@pytest.mark.parametrize("function", [fashion, digits])
def test_bad_input_gets_a_sentence(function):
    with pytest.raises(ValueError, match="train, valid, test, found 'dev'"):
        function("dev")


def test_take_keeps_pictures_and_labels_together():
    some = fashion("test").take([5, 2])
    assert torch.equal(some.images[1], fashion("test").images[2])
    assert some.labels.tolist() == fashion("test").labels[[5, 2]].tolist()
