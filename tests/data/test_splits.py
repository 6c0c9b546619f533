"""Splits by hash: stable, in the right shares, blind to spaces and capitals. Twins: none missed."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit.data.near_duplicates import jaccard, leaders, near_pairs, shingles
from coursekit.data.splits import SHARES, normal, split_of


def test_the_split_of_a_text_never_changes():
    words = ["attention", "is", "all", "you", "need", "and", "some", "data"]
    assert [split_of(word) for word in words] == FROZEN
    assert split_of("need") == split_of(b"need")


FROZEN = ["valid", "test", "train", "train", "train", "train", "train", "train"]


def test_the_shares_are_kept():
    found = Counter(split_of(str(number)) for number in range(20_000))
    for name, share in SHARES.items():
        assert found[name] / 20_000 == pytest.approx(share, abs=0.01)
    assert {split_of(str(n), {"a": 0.0, "b": 1.0}) for n in range(100)} == {"b"}


def test_shares_that_are_no_shares_get_a_sentence():
    with pytest.raises(ValueError, match=r"sum to 1, found \{'a': 0\.5\}"):
        split_of("x", {"a": 0.5})
    with pytest.raises(ValueError, match="0 or more"):
        split_of("x", {"a": -0.5, "b": 1.5})


def test_normal_keeps_letters_and_digits_only():
    assert normal(" Qu'est-ce  que\tC'ÉTAIT, en 1910 ?_") == "questcequecetaiten1910"
    assert normal("... !") == ""
    assert normal("Ωmega") != normal("mega")


@given(st.text())
def test_normal_is_the_same_with_and_without_the_short_way(text):
    assert normal(text + "é") == normal(text) + "e"
    assert normal(normal(text)) == normal(text)
    assert normal(f" {text}. ") == normal(text)


def test_jaccard_by_hand():
    assert shingles("The cat, the") == {"the", "cat", "the cat", "cat the"}
    assert jaccard({1, 2, 3}, {2, 3, 4}) == 0.5
    assert jaccard(set(), set()) == 1.0 and jaccard(set(), {1}) == 0.0


@pytest.mark.parametrize("at_least", [0.3, 0.5, 0.8, 0.9, 1.0])
def test_near_pairs_are_those_of_the_comparison_of_all_with_all(at_least):
    rng = random.Random(7)
    base = [" ".join(rng.choices("abcdefghijkl", k=rng.randint(1, 20))) for _ in range(60)]
    changed = [" ".join(rng.choice([w, w, w, w, w, "z"]) for w in t.split()) for t in base]
    texts = [*base, *changed]
    sets = [shingles(text) for text in texts]
    slow = {
        (i, j)
        for i, j in combinations(range(len(texts)), 2)
        if jaccard(sets[i], sets[j]) >= at_least
    }
    fast = list(near_pairs(texts, at_least))
    assert len(fast) == len(set(fast))
    assert set(fast) == slow
    assert slow


def test_near_pairs_of_nothing_and_of_bad_input():
    assert list(near_pairs([])) == []
    assert list(near_pairs(["one text"])) == []
    with pytest.raises(ValueError, match="found 0"):
        list(near_pairs(["a"], 0))


def test_leaders_follow_chains_to_the_first():
    assert leaders(6, [(4, 5), (1, 4), (3, 2)]) == [0, 1, 2, 2, 1, 1]
    assert leaders(3, []) == [0, 1, 2]
