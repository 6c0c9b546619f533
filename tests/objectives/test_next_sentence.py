"""Next-sentence pairs: which sentences are paired, how often, and how they become an input."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.next_sentence import (
    PairInput,
    SentencePair,
    encode_pair,
    next_sentence_loss,
    nsp_pairs,
    pad_pairs,
    truncate_pair,
)
from coursekit.objectives.special_tokens import SpecialTokens

SPECIAL = SpecialTokens(pad=0, cls=1, sep=2, mask=3)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def corpus(shape):
    """Documents with sentences of the given lengths; no two tokens of the corpus are the same."""
    ids = iter(range(10, 100_000))
    return [[[next(ids) for _ in range(length)] for length in document] for document in shape]


def flat(document):
    return [token for sentence in document for token in sentence]


shapes = st.lists(st.lists(st.integers(1, 5), max_size=7), min_size=2, max_size=5).filter(
    lambda shape: sum(map(bool, shape)) >= 2 and max(map(len, shape)) >= 2
)


@given(shapes, st.one_of(st.none(), st.integers(2, 25)), st.integers(0, 999))
def test_laws_of_every_corpus(shape, room, seed):
    documents = corpus(shape)
    home = {token: n for n, document in enumerate(documents) for token in flat(document)}
    sentences = [sentence for document in documents for sentence in document]
    pairs = nsp_pairs(documents, room=room, generator=generator(seed))
    assert pairs == nsp_pairs(documents, room=room, generator=generator(seed))

    read = []  # what each document gave as A, or as the true B
    for pair in pairs:
        own = home[pair.first[0]]
        assert {home[token] for token in pair.first} == {own}
        line = flat(documents[own])
        at = line.index(pair.first[0]) + len(pair.first)
        if pair.is_next:
            assert line[at : at + len(pair.second)] == pair.second  # directly behind A
        else:
            assert len({home[token] for token in pair.second}) == 1
            assert home[pair.second[0]] != own
        read += pair.first + (pair.second if pair.is_next else [])
        if room is None:
            assert pair.first in sentences and pair.second in sentences
        else:
            # Sentences stay whole, and B has more than one (or A, of a true pair) only if they fit.
            first, second = (
                [s for s in sentences if s[0] in part] for part in (pair.first, pair.second)
            )
            assert flat(first) == pair.first and flat(second) == pair.second
            alone = len(second) == 1 and (len(first) == 1 or not pair.is_next)
            assert alone or len(pair.first) + len(pair.second) <= room
    # Each sentence is read once in its own document, in order; a last one may be left alone.
    expected = []
    for document in documents:
        mine = [token for token in read if token in set(flat(document))]
        assert mine in ([flat(document)] if len(document) > 1 else []) + [flat(document[:-1])]
        expected += mine
    assert read == expected


@pytest.mark.parametrize("room", [None, 12])
def test_half_of_the_pairs_are_true(room):
    """Also for documents of two sentences, where a walk that keeps left-overs would tip it."""
    documents = corpus([[3, 4]] * 3000 + [[2] * 9] * 800)
    pairs = nsp_pairs(documents, room=room, generator=generator())
    true = sum(pair.is_next for pair in pairs)
    assert len(pairs) > 4500 and abs(true - len(pairs) / 2) < 5 * math.sqrt(len(pairs) / 4)


def test_a_random_sentence_is_any_of_the_other_documents_alike():
    documents = corpus([[1, 1], [1, 1, 1], [1]])
    counts = {}
    for seed in range(3000):
        for pair in nsp_pairs(documents, generator=generator(seed)):
            if pair.first == [10] and not pair.is_next:
                counts[pair.second[0]] = counts.get(pair.second[0], 0) + 1
    assert sorted(counts) == [12, 13, 14, 15]
    total = sum(counts.values())
    for count in counts.values():
        assert abs(count - total / 4) < 5 * math.sqrt(total * 3 / 16)


def test_a_random_sentence_never_reads_like_the_true_next():
    refrain, other = [7, 7], [9]
    documents = [[[5], refrain], [refrain, refrain, other, refrain]]
    seen = set()
    for seed in range(200):
        for pair in nsp_pairs(documents, generator=generator(seed)):
            if pair.first == [5]:
                seen.add((tuple(pair.second), pair.is_next))
    assert seen == {((7, 7), True), ((9,), False)}
    with pytest.raises(ValueError, match="every sentence outside document 0 is the same"):
        for seed in range(50):
            nsp_pairs([[[5], refrain], [refrain]], generator=generator(seed))


@given(st.integers(0, 12), st.integers(0, 12), st.integers(2, 20))
def test_truncation_takes_one_token_after_another_from_the_longer(a, b, room):
    first, second = list(range(a)), list(range(100, 100 + b))
    want = [first[:], second[:]]
    while len(want[0]) + len(want[1]) > room:
        want[0 if len(want[0]) > len(want[1]) else 1].pop()
    assert list(truncate_pair(first, second, room)) == want


@given(st.integers(1, 9), st.integers(1, 9), st.integers(5, 25), st.booleans())
def test_an_input_reads_cls_a_sep_b_sep(a, b, max_length, is_next):
    pair = SentencePair(list(range(10, 10 + a)), list(range(50, 50 + b)), is_next)
    found = encode_pair(pair, SPECIAL, max_length=max_length)
    assert len(found.tokens) == len(found.segments) == min(a + b + 3, max_length)
    middle = found.tokens.index(SPECIAL.sep)
    first, second = found.tokens[1:middle], found.tokens[middle + 1 : -1]
    assert found.tokens[0] == SPECIAL.cls and found.tokens[-1] == SPECIAL.sep
    assert first and second  # no part is lost altogether
    assert pair.first[: len(first)] == first and pair.second[: len(second)] == second
    assert found.segments == [0] * (middle + 1) + [1] * (len(second) + 1)
    assert found.is_next == is_next


def test_a_batch_is_padded_on_the_right():
    batch = pad_pairs(
        [PairInput([1, 5, 2, 6, 2], [0, 0, 0, 1, 1], True), PairInput([1, 2], [0, 1], False)], 0
    )
    assert batch.tokens.tolist() == [[1, 5, 2, 6, 2], [1, 2, 0, 0, 0]]
    assert batch.segments.tolist() == [[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]]
    assert batch.is_next.tolist() == [True, False]


def test_class_0_is_next_as_in_bert():
    torch.manual_seed(0)
    logits = torch.randn(5, 2)
    is_next = torch.tensor([True, False, True, True, False])
    want = F.cross_entropy(logits, torch.tensor([0, 1, 0, 0, 1]))
    torch.testing.assert_close(next_sentence_loss(logits, is_next), want)
    sure = torch.where(is_next[:, None], torch.tensor([9.0, -9.0]), torch.tensor([-9.0, 9.0]))
    assert next_sentence_loss(sure, is_next) < 1e-6


@pytest.mark.parametrize(
    ("documents", "error", "sentence"),
    [
        ([[[5], [6]]], ValueError, "at least two documents with text are needed, found 1"),
        ([[[5], [6]], []], ValueError, "found 1"),
        ([], ValueError, "found 0"),
        ([[[5]], [[6]]], ValueError, "a document with two sentences, found none"),
        ([[5, 6], [7, 8]], TypeError, "document 0 has 5 in the place of a sentence"),
    ],
)
def test_a_corpus_without_pairs_gets_a_sentence(documents, error, sentence):
    with pytest.raises(error, match=sentence):
        nsp_pairs(documents, generator=generator())


@given(
    st.lists(st.lists(st.integers(1, 2), min_size=2, max_size=9), min_size=2, max_size=4),
    st.integers(4, 30),
    st.integers(0, 99),
)
def test_segments_fill_the_room(shape, room, seed):
    """Of a true pair, A and B together could not have taken one more sentence."""
    documents = corpus(shape)
    lines = {d[0][0]: flat(d) for d in documents if d}
    for pair in nsp_pairs(documents, room=room, generator=generator(seed)):
        total = len(pair.first) + len(pair.second)
        if pair.is_next:
            assert total <= room
            line = next(line for line in lines.values() if pair.first[0] in line)
            after = line[line.index(pair.second[-1]) + 1 :]
            following = next((s for d in documents for s in d if after and s[0] == after[0]), None)
            assert following is None or total + len(following) > room
