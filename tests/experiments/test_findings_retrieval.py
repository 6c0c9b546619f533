"""What the page on alignment says of the committed run on retrieval."""

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.fixture(scope="module")
def run():
    return json.loads((RESULTS / "retrieval" / "cpu.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found(run):
    return run["metrics"]


def error(share, count):
    """The standard error of a share."""
    return (share * (1 - share) / count) ** 0.5


def apart(one, other, count, times=2.0):
    """Whether `one` is ahead by so many standard errors of the difference."""
    return one - other > times * (error(one, count) ** 2 + error(other, count) ** 2) ** 0.5


def test_among_verses_with_shared_words_words_win_and_embeddings_are_near(found):
    for k in (1, 5, 10):
        words, mean, deep = (
            found[f"{name}, recall at {k}"] for name in ("BM25", "word vectors", "MiniLM")
        )
        assert apart(words, deep, found["queries"]) and apart(deep, mean, found["queries"])
    assert found["MiniLM, recall at 10"] > 0.8 and found["random, recall at 10"] < 0.01


def test_among_questions_in_our_own_words_embeddings_are_far_ahead(run, found):
    for k in (5, 10):
        words, mean, deep = (
            found[f"own words, {name}, recall at {k}"]
            for name in ("BM25", "word vectors", "MiniLM")
        )
        assert apart(deep, words, found["own words"]) and apart(deep, mean, found["own words"], 1.5)
    ranks = [(row["MiniLM"]["rank"], row["BM25"]["rank"]) for row in run["tables"]["own words"]]
    assert sum(a < b for a, b in ranks) > 6 * sum(a > b for a, b in ranks)  # pair by pair


def test_the_example_is_found_by_its_meaning(run):
    (row,) = (r for r in run["tables"]["own words"] if r["question"].endswith("for lunch?"))
    assert row["MiniLM"]["rank"] == 1 and row["MiniLM"]["first"].startswith("At meal-time Boaz")
    assert row["BM25"]["rank"] > 40
