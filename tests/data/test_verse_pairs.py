"""Does this French verse translate that English one? Half of them do, and the others are near."""

from collections import Counter
from itertools import accumulate

import pytest

from coursekit.data.near_duplicates import jaccard, shingles
from coursekit.data.verses import ALIKE, NEAR, VersePair, verse_pairs, verses

SPLITS = ("train", "valid", "test")


@pytest.fixture(scope="module")
def parts() -> dict[str, list[VersePair]]:
    return {split: verse_pairs(split) for split in SPLITS}


def length(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("split", SPLITS)
def test_each_verse_stands_once_on_each_side_and_half_are_true(split, parts):
    known, found = verses(split), parts[split]
    assert Counter(p.english for p in known) == Counter(p.english for p in found)
    assert Counter(p.french for p in known) == Counter(p.french for p in found)
    assert {p.key for p in known} == {p.key for p in found}
    assert sum(p.same for p in found) / len(found) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("split", SPLITS)
def test_true_pairs_are_true_and_wrong_ones_near(split, parts):
    known = {p.key: p for p in verses(split)}
    homes = {}
    for pair in known.values():
        homes.setdefault(pair.french, []).append(pair)
    for pair in parts[split]:
        own = known[pair.key]
        assert pair.english == own.english
        assert pair.same == (pair.french == own.french)
        if pair.same:
            continue
        book = pair.key.rsplit(" ", 1)[0]
        others = [p for p in homes[pair.french] if p.key.rsplit(" ", 1)[0] == book]
        assert others  # from the same book and split
        assert abs(length(pair.french) - length(own.french)) <= NEAR
        assert jaccard(shingles(pair.french), shingles(own.french)) < ALIKE
        assert any(jaccard(shingles(p.english), shingles(own.english)) < ALIKE for p in others)


def test_two_calls_agree_and_lengths_are_obeyed(parts):
    assert verse_pairs("test") == parts["test"]
    assert max(length(p.english) for p in verse_pairs("test", longest=7)) <= 7
    with pytest.raises(ValueError, match="train, valid, test, found 'dev'"):
        verse_pairs("dev")


def best_threshold(numbers: list[float], right: list[bool]) -> float:
    """Return the best share that "same if the number is at least t" gets right, for any t."""
    gain = Counter()
    for number, same in zip(numbers, right):
        gain[number] += 1 if same else -1
    steps = accumulate((gain[number] for number in sorted(gain, reverse=True)), initial=0)
    return (right.count(False) + max(steps)) / len(right)


def test_no_rule_of_thumb_tells_them_apart(parts):
    """Lengths alone, and words that are spelled alike in both languages (names, mostly)."""
    found = parts["test"]
    right = [pair.same for pair in found]
    rules = {
        "equal length": lambda p: -abs(length(p.english) - length(p.french)),
        "equal letters": lambda p: -abs(len(p.english) / len(p.french) - 0.95),
        "length": lambda p: length(p.english),
        "equal words": lambda p: len(words(p.english) & words(p.french)),
    }
    for rule, number in rules.items():
        share = best_threshold([number(pair) for pair in found], right)
        assert share == pytest.approx(FOUND[rule], abs=0.0005), rule


def words(text: str) -> set[str]:
    return {word.strip(".,;:!?\"'").lower() for word in text.split()}


FOUND = {"equal length": 0.514, "equal letters": 0.5165, "length": 0.5157, "equal words": 0.6063}
