"""Unigram: brute force on short words, the laws of EM, and the reference's segmentation."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coursekit.tokenizers.unigram import (
    Unigram,
    best_segmentation,
    expected_counts,
    fit,
    prune,
    seed_pieces,
    segmentations,
    spell,
)

WORD = st.text(st.sampled_from("abc"), min_size=1, max_size=7)
PIECES = st.dictionaries(
    st.text(st.sampled_from("abc"), min_size=1, max_size=3),
    st.floats(-9, -0.1),
    min_size=1,
    max_size=14,
)


def total(pieces, scores):
    return sum(scores[piece] for piece in pieces)


@given(WORD, PIECES)
def test_the_best_segmentation_is_the_best_of_all(word, scores):
    ways = list(segmentations(word, scores))
    found = best_segmentation(word, scores, 3)
    if not ways:
        assert found == []
        return
    assert found in ways
    assert total(found, scores) == pytest.approx(max(total(way, scores) for way in ways))


@given(WORD, PIECES)
def test_expected_counts_are_averages_over_all_segmentations(word, scores):
    ways = list(segmentations(word, scores))
    assume(ways)
    weights = [math.exp(total(way, scores)) for way in ways]
    want = Counter()
    for way, weight in zip(ways, weights, strict=True):
        for piece in way:
            want[piece] += weight / sum(weights)
    counts, log_p = expected_counts(word, scores, 3)
    assert log_p == pytest.approx(math.log(sum(weights)))
    assert {piece: count for piece, count in counts.items() if count > 1e-12} == pytest.approx(want)


def test_all_segmentations():
    ways = list(segmentations("abc", ["a", "b", "c", "ab", "bc", "abc"]))
    assert sorted(ways) == [["a", "b", "c"], ["a", "bc"], ["ab", "c"], ["abc"]]


def test_a_long_word_does_not_underflow():
    scores = {"a": math.log(1e-3), "b": math.log(0.5)}
    counts, log_p = expected_counts("a" * 2000, scores, 1)
    assert counts == pytest.approx({"a": 2000.0})
    assert log_p == pytest.approx(2000 * math.log(1e-3))


@pytest.fixture(scope="module")
def words(corpus):
    counts = Counter()
    for line in corpus[:200]:
        counts.update(spell(word) for word in line.split())
    return counts


def test_every_step_of_em_makes_the_text_more_probable(words):
    scores = seed_pieces(words, 500)
    likelihoods = []
    for _ in range(5):
        scores, likelihood = fit(words, scores)
        likelihoods.append(likelihood)
        assert sum(map(math.exp, scores.values())) == pytest.approx(1.0)
    assert likelihoods == sorted(likelihoods)
    assert likelihoods[-1] > likelihoods[0] + 10


def test_a_step_of_em_by_hand():
    """The word ab, seen three times, is ab or a·b with equal weight; b, seen once, is b."""
    scores = {"ab": math.log(0.25), "a": math.log(0.5), "b": math.log(0.5)}
    fitted, likelihood = fit({"ab": 3, "b": 1}, scores)
    uses = {"ab": 1.5, "a": 1.5, "b": 2.5}
    assert {p: math.exp(s) * 5.5 for p, s in fitted.items()} == pytest.approx(uses)
    assert likelihood == pytest.approx(3 * math.log(0.5) + math.log(0.5))


def test_pruning_keeps_characters_and_what_is_needed(words):
    scores = fit(words, seed_pieces(words, 500))[0]
    kept = prune(words, scores, 200)
    assert len(kept) == 200
    assert {piece for piece in scores if len(piece) == 1} <= set(kept)
    cost = fit(words, scores)[1] - fit(words, kept)[1]
    least = sorted((p for p in scores if len(p) > 1), key=scores.__getitem__)
    at_random = {p: s for p, s in scores.items() if p not in least[-(len(scores) - 200) :]}
    assert 0 <= cost < fit(words, scores)[1] - fit(words, at_random)[1]


def test_the_vocabulary_has_the_size_that_was_asked_for(corpus):
    ours = Unigram.train(corpus[:200], vocabulary_size=200, special=["<s>"])
    assert len(ours) == 200
    assert {"▁the", "▁low", "▁new"} <= set(ours.scores)
    assert ours.tokens("the new") == ["▁the", "▁new"]
    ranked = list(ours.scores.values())
    assert ranked == sorted(ranked, reverse=True)


def test_the_reference_encodes_the_same(corpus, nasty):
    """Same vocabulary, same scores: `tokenizers` with SentencePiece's treatment of spaces."""
    hf = pytest.importorskip("tokenizers")
    lines = [*corpus[:150], *(line for line in nasty if "[UNK]" not in line)]
    ours = Unigram.train(lines[:-12], vocabulary_size=520)
    tokens = [ours.id_to_token(i) for i in range(len(ours))]
    model = hf.models.Unigram([(t, ours.scores.get(t, 0.0)) for t in tokens], unk_id=0)
    peer = hf.Tokenizer(model)
    peer.pre_tokenizer = hf.pre_tokenizers.Metaspace()
    peer.decoder = hf.decoders.Metaspace()
    unknown = 0
    for line in lines:
        want = peer.encode(line)
        ids, spans = ours.encode_with_offsets(line)
        assert ids == want.ids, line
        unknown += 0 in ids
        for span, theirs, token in zip(spans, want.offsets, want.tokens, strict=True):
            # the ▁ that is not in the text has the empty span here, the next character's there
            assert span == tuple(theirs) or (token == "▁" and span == (0, 0))
        if 0 not in ids:
            assert ours.decode(ids) == peer.decode(want.ids) == line.removeprefix(" ")
    assert unknown > 3


def test_neighbours_that_are_unknown_are_one_token():
    ours = Unigram(["[UNK]", "▁", "a"], [0, -1, -2], unknown="[UNK]")
    ids, spans = ours.encode_with_offsets("aжжa ж")
    assert ids == [1, 2, 0, 2, 1, 0]
    assert spans == [(0, 0), (0, 1), (1, 3), (3, 4), (4, 5), (5, 6)]


@pytest.mark.parametrize(("score", "pieces"), [(-4.9, ["[UNK]", "b"]), (-5.1, ["ab"])])
def test_an_unknown_character_costs_ten_more_than_the_worst_piece(score, pieces):
    """`a` alone is unknown; a positive score makes up for most of what that costs."""
    scores = [0, -1, score, 20.0 + 2 * score]
    ours = Unigram(["[UNK]", "▁", "ab", "b"], scores, unknown="[UNK]")
    # [UNK] b: (score - 10) + (20 + 2 score) = 10 + 3 score; ab: score; equal at score = -5
    assert ours.tokens("ab")[1:] == pieces


def test_a_piece_is_better_than_an_unknown_character():
    ours = Unigram(["[UNK]", "▁", "b", "ab"], [0, -1, -2, -9], unknown="[UNK]")
    assert ours.tokens("ab b") == ["▁", "ab", "▁", "b"]
    assert ours.tokens("ba") == ["▁", "b", "[UNK]"]


def test_one_score_a_token():
    with pytest.raises(ValueError, match="found 2 tokens but 1 scores"):
        Unigram(["a", "b"], [0.0])
