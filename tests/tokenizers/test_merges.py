"""Merges: the simple and the efficient version learn the same and apply the same."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.tokenizers.merges import (
    WholeTokens,
    apply_merges,
    apply_merges_simple,
    first_tokens,
    learn_merges,
    learn_merges_simple,
    pairs_of,
    ranked,
)
from coursekit.tokenizers.wordpiece import join, symbols

# Few letters and long runs of one letter: overlapping pairs and ties. With "#", which is also the
# mark's sign, tokens are made twice.
WORDS = st.dictionaries(
    st.text(st.sampled_from("aab"), min_size=1, max_size=12)
    | st.text(st.sampled_from("a#"), min_size=1, max_size=12)
    | st.text(st.sampled_from("abcd"), min_size=1, max_size=8),
    st.integers(1, 4),
    max_size=12,
)


def learned(learn, words, size, *, marks, **options):
    tokens = []
    cut, together = (symbols, {"join": join}) if marks else (list, {})
    letters = first_tokens(words, cut, tokens)
    merges = learn(letters, tokens, len(tokens) + size, **together, **options)
    return [(tokens[ord(left)], tokens[ord(right)]) for left, right in merges], tokens


@given(WORDS, st.integers(0, 30), st.booleans(), st.sampled_from(["first", "greatest"]))
def test_both_learn_the_same(words, size, marks, ties):
    simple = learned(learn_merges_simple, words, size, marks=marks, ties=ties)
    assert learned(learn_merges, words, size, marks=marks, ties=ties) == simple
    assert len(set(simple[1])) == len(simple[1])  # a token that is made twice stands there once


def test_both_learn_the_same_from_a_real_amount(corpus):
    words = {}
    for line in corpus[:300]:
        for word in line.split():
            words[word] = words.get(word, 0) + 1
    for ties in ("first", "greatest"):
        simple = learned(learn_merges_simple, words, 150, marks=False, ties=ties)
        assert learned(learn_merges, words, 150, marks=False, ties=ties) == simple


def test_the_example_of_the_paper():
    """Sennrich et al. (2016), algorithm 1: low 5, lower 2, newest 6, widest 3."""
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    tokens = []
    letters = first_tokens(words, lambda word: [*word, "</w>"], tokens)
    merges = learn_merges(letters, tokens, len(tokens) + 4)
    pairs = [(tokens[ord(left)], tokens[ord(right)]) for left, right in merges]
    # The paper goes e·s, es·t, est·</w>; the three are equally frequent, and ours prefers old ids.
    assert pairs == [("e", "s"), ("t", "</w>"), ("es", "t</w>"), ("l", "o")]


@pytest.mark.parametrize(("ties", "pair"), [("first", ("a", "b")), ("greatest", ("c", "d"))])
def test_ties(ties, pair):
    for learn in (learn_merges, learn_merges_simple):
        assert learned(learn, {"abxcd": 1}, 1, marks=False, ties=ties)[0] == [
            pair if ties == "first" else ("x", "c")
        ]
        assert learned(learn, {"ab": 1, "cd": 1}, 1, marks=False, ties=ties)[0] == [pair]


def test_of_a_spelling_and_its_beginning_the_longer_is_greater():
    words = {"aab": 1, "aac": 2}  # after aa: the pairs (aa, b) and (aa, c); "aa" > "a"
    for learn in (learn_merges, learn_merges_simple):
        merges, _ = learned(learn, {"aa": 9, "aax": 1, "ax": 1}, 2, marks=False, ties="greatest")
        assert merges == [("a", "a"), ("aa", "x")]
        assert learned(learn, words, 2, marks=False)[0][1] == ("aa", "c")


def test_unknown_ties():
    with pytest.raises(ValueError, match="ties must be 'first' or 'greatest', found 'last'"):
        learn_merges({}, ["a"], 2, ties="last")


@st.composite
def merge_tables(draw):
    """Any table at all, also ones that no training would make: ranks need not grow with ids."""
    tokens = list(range(2))
    merges = []
    for new in range(2, draw(st.integers(2, 14))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        merges.append((left, right, new))
        tokens.append(new)
    return ranked(draw(st.permutations(merges)))


@given(st.lists(st.integers(0, 1), max_size=150), merge_tables())
def test_both_apply_the_same(numbers, merges):
    word = "".join(map(chr, numbers))
    assert apply_merges(word, merges) == apply_merges_simple(word, merges)


@given(st.lists(st.integers(0, 1), min_size=100, max_size=200), merge_tables())
def test_both_apply_the_same_to_long_words(numbers, merges):
    word = "".join(map(chr, numbers))
    merged = apply_merges(word, merges)
    assert merged == apply_merges_simple(word, merges)
    assert not any(pair in merges for pair in pairs_of(merged))


def spelled(token, whole):
    _, left, right = whole.made.get(token, (0, token, ""))
    return spelled(left, whole) + spelled(right, whole) if right else left


@given(merge_tables())
@settings(max_examples=500)
def test_a_token_that_is_looked_up_is_what_merging_gives(merges):
    whole = WholeTokens(merges)
    for token in filter(whole.__getitem__, [*whole.made]):
        assert apply_merges_simple(spelled(token, whole), merges) == token


@given(merge_tables())
@settings(max_examples=300)
def test_two_tokens_stay_apart_where_merging_leaves_them(merges):
    whole = WholeTokens(merges, map(chr, range(2)))
    tokens = [token for token in [*whole, *whole.made] if whole[token]]
    for left, right in product(tokens, tokens):
        merged = apply_merges_simple(spelled(left, whole) + spelled(right, whole), merges)
        assert (merged == left + right) == whole.apart(left, right)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=12), st.integers(1, 9), max_size=8))
def test_every_token_of_a_learned_vocabulary_can_be_looked_up(words):
    tokens = []
    letters = first_tokens(words, list, tokens)
    pairs = [(tokens[ord(a)], tokens[ord(b)]) for a, b in learn_merges(letters, tokens, 40)]
    number = {token: n for n, token in enumerate(tokens)}
    ids = [(number[a], number[b], number[a + b]) for a, b in pairs]
    whole = WholeTokens(ranked(ids))
    assert len(whole.made) == len({new for *_, new in ids})
    assert all(whole[token] for token in whole.made)
    assert not any(whole[chr(number[letter])] for word in words for letter in word)


def test_a_token_that_never_comes_out_is_not_looked_up():
    a, b, c, bc, ab, abc, ca, caa = range(8)
    whole = WholeTokens(ranked([(b, c, bc), (a, b, ab), (ab, c, abc), (c, a, ca), (ca, a, caa)]))
    assert apply_merges(chr(a) + chr(b) + chr(c), whole.merges) == chr(a) + chr(bc)
    assert not whole[chr(abc)] and all(whole[chr(token)] for token in (ab, bc, ca, caa))


def test_a_merge_that_opens_an_earlier_one_gives_way_to_it():
    """One pair at a time: after a·a, the earlier merge of aa·a goes before the next a·a."""
    merges = ranked([(2, 0, 3), (0, 0, 2)])  # aa·a is ranked before a·a, which makes aa
    for apply in (apply_merges, apply_merges_simple):
        assert apply(chr(0) * 4, merges) == chr(3) + chr(0)


def test_a_very_long_word_is_no_trap():
    merges = ranked((i, i, i + 1) for i in range(14))
    assert apply_merges(chr(0) * 2**15, merges) == chr(14) * 2
