"""RoBERTa's four input formats: what each promises about tokens, documents and lengths."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.input_formats import (
    doc_sentences,
    full_sentences,
    segment_pairs,
    sentence_pairs,
)
from coursekit.objectives.rows import batches_of_tokens
from coursekit.objectives.special_tokens import SpecialTokens

SPECIAL = SpecialTokens(pad=0, cls=1, sep=2, mask=3)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def corpus(shape):
    ids = iter(range(10, 100_000))
    return [[[next(ids) for _ in range(length)] for length in document] for document in shape]


def flat(document):
    return [token for sentence in document for token in sentence]


shapes = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6), max_size=5)


@given(shapes, st.integers(3, 25))
def test_full_sentences(shape, max_length):
    documents = corpus(shape)
    inputs = full_sentences(documents, SPECIAL, max_length=max_length)
    assert all(3 <= len(text) <= max_length for text in inputs)
    assert all(text[0] == SPECIAL.cls and text[-1] == SPECIAL.sep for text in inputs)
    bodies = [text[1:-1] for text in inputs]
    # Every token of the corpus once, in order; separators only between documents.
    words = [token for body in bodies for token in body if token != SPECIAL.sep]
    assert words == flat(flat(documents))
    last = {document[-1][-1] for document in documents}
    for body in bodies:
        assert body[0] != SPECIAL.sep and body[-1] != SPECIAL.sep
        for left, right in pairwise(body):
            assert (left in last) == (right == SPECIAL.sep) or left == SPECIAL.sep
            assert not left == right == SPECIAL.sep
    # A sentence is cut only if no input could hold it, and no input had room for the next one.
    room = max_length - 2
    where = {token: n for n, body in enumerate(bodies) for token in body}
    for sentence in flat(documents):
        if len(sentence) <= room:
            assert len({where[token] for token in sentence}) == 1
    pieces = {s[i]: len(s[i : i + room]) for s in flat(documents) for i in range(0, len(s), room)}
    for body, following in pairwise(bodies):
        between = body[-1] in last
        assert len(body) + between + pieces[following[0]] > room


@given(shapes, st.integers(3, 25))
def test_doc_sentences(shape, max_length):
    documents = corpus(shape)
    home = {token: n for n, document in enumerate(documents) for token in flat(document)}
    inputs = doc_sentences(documents, SPECIAL, max_length=max_length)
    assert all(3 <= len(text) <= max_length for text in inputs)
    assert flat([text[1:-1] for text in inputs]) == flat(flat(documents))
    assert all(len({home[token] for token in text[1:-1]}) == 1 for text in inputs)
    one_by_one = [
        full_sentences([document], SPECIAL, max_length=max_length) for document in documents
    ]
    assert inputs == flat(one_by_one)


def test_an_example_by_hand():
    documents = [[[10, 11], [12, 13, 14]], [[15], [16, 17]], [[18]]]
    assert full_sentences(documents, SPECIAL, max_length=9) == [
        [1, 10, 11, 12, 13, 14, 2, 15, 2],
        [1, 16, 17, 2, 18, 2],
    ]
    assert doc_sentences(documents, SPECIAL, max_length=9) == [
        [1, 10, 11, 12, 13, 14, 2],
        [1, 15, 16, 17, 2],
        [1, 18, 2],
    ]


@pytest.mark.parametrize("pairs", [segment_pairs, sentence_pairs])
@given(
    shapes.filter(lambda shape: len(shape) > 1 and max(map(len, shape)) > 1),
    st.integers(5, 25),
    st.integers(0, 99),
)
def test_pair_formats(pairs, shape, max_length, seed):
    documents = corpus(shape)
    home = {token: n for n, document in enumerate(documents) for token in flat(document)}
    inputs = pairs(documents, SPECIAL, max_length=max_length, generator=generator(seed))
    sentences = flat(documents)
    for pair in inputs:
        assert 5 <= len(pair.tokens) <= max_length
        middle = pair.tokens.index(SPECIAL.sep)
        first, second = pair.tokens[1:middle], pair.tokens[middle + 1 : -1]
        assert (home[first[0]] == home[second[0]]) == pair.is_next
        if pairs is sentence_pairs:
            assert any(first == sentence[: len(first)] for sentence in sentences)
            assert any(second == sentence[: len(second)] for sentence in sentences)


def test_segments_are_long_and_sentences_short():
    documents = corpus([[5] * 40] * 6)
    segments = segment_pairs(documents, SPECIAL, max_length=64, generator=generator())
    sentences = sentence_pairs(documents, SPECIAL, max_length=64, generator=generator())
    assert {len(pair.tokens) for pair in sentences} == {13}
    lengths = [len(pair.tokens) for pair in segments]
    assert sum(lengths) / len(lengths) > 45
    batches = batches_of_tokens([len(pair.tokens) for pair in sentences], 8 * 64)
    assert {len(batch) for batch in batches[:-1]} == {8 * 64 // 13}  # 39 rows in place of 8


@pytest.mark.parametrize("fill", [full_sentences, doc_sentences])
def test_edges(fill):
    assert fill([], SPECIAL) == []
    assert fill([[[7] * 5]], SPECIAL, max_length=4) == [[1, 7, 7, 2], [1, 7, 7, 2], [1, 7, 2]]
