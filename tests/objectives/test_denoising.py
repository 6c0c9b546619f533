"""BART's five noises: for each, what stays of a document, what goes, and how often."""

import math
from collections import Counter
from functools import partial
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.denoising import (
    bart_noise,
    denoising_batch,
    document_rotation,
    sentence_permutation,
    split_sentences,
    text_infilling,
    token_deletion,
    token_masking,
)
from coursekit.objectives.special_tokens import SpecialTokens

MASK, STOP = 3, 4
SPECIAL = SpecialTokens(pad=0, cls=1, sep=2, mask=MASK)
lengths, seeds, shares = st.integers(0, 40), st.integers(0, 999), st.floats(0, 1)

NOISES = {
    "masking": partial(token_masking, mask=MASK),
    "deletion": token_deletion,
    "infilling": partial(text_infilling, mask=MASK),
    "permutation": partial(sentence_permutation, full_stops=STOP),
    "rotation": document_rotation,
    "bart": partial(bart_noise, mask=MASK, full_stops=STOP),
}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def different(length):
    """A document in which no token comes twice."""
    return torch.arange(10, 10 + length)


def is_subsequence(short, long):
    rest = iter(long)
    return all(token in rest for token in short)


@given(lengths, seeds, shares)
def test_token_masking(length, seed, share):
    tokens = different(length)
    found = token_masking(tokens, mask=MASK, share=share, generator=generator(seed))
    assert len(found) == length and (found == MASK).sum() == round(share * length)
    assert torch.equal(found[found != MASK], tokens[found != MASK])


@given(lengths, seeds, shares)
def test_token_deletion(length, seed, share):
    tokens = different(length)
    found = token_deletion(tokens, share=share, generator=generator(seed))
    assert len(found) == length - round(share * length)
    assert is_subsequence(found.tolist(), tokens.tolist()) and MASK not in found


@given(lengths, seeds, shares, st.floats(0.3, 6))
def test_text_infilling(length, seed, share, mean_span):
    tokens = different(length)
    found = text_infilling(
        tokens, mask=MASK, share=share, mean_span=mean_span, generator=generator(seed)
    ).tolist()
    kept = [token for token in found if token != MASK]
    assert is_subsequence(kept, tokens.tolist())
    assert length - len(kept) == round(share * length)  # exactly this many are hidden
    # Wherever tokens are missing, at least one mask stands: nothing vanishes without a trace.
    line = [9, *found, 10 + length]
    places = [i for i, token in enumerate(line) if token != MASK]
    for left, right in pairwise(places):
        gap = line[right] - line[left] - 1
        assert gap == 0 or right - left > 1


def test_the_spans_of_text_infilling_are_poisson():
    """Of one long document: how often a mask stands for 0, 1, 2, … tokens."""
    length = 60_000
    found = text_infilling(different(length), mask=MASK, share=0.05, generator=generator())
    line = torch.cat([torch.tensor([9]), found, torch.tensor([10 + length])])
    alone = (line[1:-1] == MASK) & (line[:-2] != MASK) & (line[2:] != MASK)
    gaps = Counter((line[2:] - line[:-2] - 1)[alone].tolist())
    masks = sum(gaps.values())
    assert masks > 900 and gaps[0] > 10
    for k in range(9):
        share = math.exp(-3) * 3**k / math.factorial(k)
        assert abs(gaps[k] - masks * share) < 5 * math.sqrt(masks * share)
    assert (found == MASK).sum().item() == pytest.approx(0.05 * length / 3, rel=0.1)


def test_the_masks_of_text_infilling_stand_anywhere():
    places = Counter()
    for seed in range(2500):
        found = text_infilling(
            different(10), mask=MASK, share=0.1, mean_span=1.0, generator=generator(seed)
        )
        if (found == MASK).sum() == 1:
            places[(found == MASK).nonzero().item()] += 1
    total = sum(places.values())
    assert sorted(places) == list(range(10)) and total > 800
    for count in places.values():
        assert abs(count - total / 10) < 5 * math.sqrt(total / 10)


@given(st.lists(st.integers(4, 7), max_size=30), seeds)
def test_sentence_permutation(document, seed):
    tokens = torch.tensor(document, dtype=torch.long)
    sentences = [part.tolist() for part in split_sentences(tokens, STOP)]
    assert [token for sentence in sentences for token in sentence] == document
    for sentence in sentences[:-1]:
        assert sentence[-1] == STOP  # a full stop ends it
    for sentence in sentences:
        body = "".join("." if token == STOP else "x" for token in sentence).rstrip(".")
        assert "." not in body or body == ""  # and there is none inside
    found = sentence_permutation(tokens, full_stops=STOP, generator=generator(seed)).tolist()
    assert Counter(found) == Counter(document)
    # Some order of the sentences gives the result.
    order = torch.randperm(len(sentences), generator=generator(seed)).tolist()
    assert found == [token for i in order for token in sentences[i]]


def test_every_order_of_the_sentences_is_as_likely():
    tokens = torch.tensor([10, STOP, 11, STOP, 12])
    orders = Counter(
        tuple(sentence_permutation(tokens, full_stops=[STOP], generator=generator(seed)).tolist())
        for seed in range(3000)
    )
    assert len(orders) == 6
    assert all(abs(count - 500) < 5 * math.sqrt(500) for count in orders.values())
    assert (11, STOP, 12, 10, STOP) in orders


def test_a_run_of_full_stops_belongs_to_its_sentence():
    found = split_sentences(torch.tensor([10, 4, 5, 11, 12, 4, 4, 4, 13]), [4, 5])
    assert [part.tolist() for part in found] == [[10, 4, 5], [11, 12, 4, 4, 4], [13]]


@given(st.integers(1, 20), seeds)
def test_document_rotation(length, seed):
    tokens = different(length)
    found = document_rotation(tokens, generator=generator(seed)).tolist()
    start = found[0] - 10
    assert found == [*tokens[start:].tolist(), *tokens[:start].tolist()]


def test_a_document_is_rotated_to_every_place():
    starts = Counter(
        document_rotation(different(5), generator=generator(seed))[0].item() for seed in range(2000)
    )
    assert len(starts) == 5 and all(abs(n - 400) < 5 * 20 for n in starts.values())


@given(st.lists(st.integers(4, 30), max_size=40), seeds)
def test_bart_permutes_all_sentences_and_then_infills(document, seed):
    tokens, stream = torch.tensor(document, dtype=torch.long), generator(seed)
    step = sentence_permutation(tokens, full_stops=STOP, generator=stream)
    want = text_infilling(step, mask=MASK, share=0.3, mean_span=3.0, generator=stream)
    found = bart_noise(tokens, mask=MASK, full_stops=STOP, generator=generator(seed))
    assert torch.equal(found, want)
    assert len(document) - (found != MASK).sum() == round(0.3 * len(document))


@pytest.mark.parametrize("name", NOISES)
def test_a_noise_is_reproducible_leaves_its_input_alone_and_takes_short_documents(name):
    noise = NOISES[name]
    tokens = different(40)
    tokens[9::10] = STOP
    before = tokens.clone()
    first, second = noise(tokens, generator=generator()), noise(tokens, generator=generator())
    assert torch.equal(first, second) and torch.equal(tokens, before)
    assert not torch.equal(first, tokens) and first.dtype == torch.int64
    for length in (0, 1, 2):
        assert noise(different(length), generator=generator()).ndim == 1
    with pytest.raises(ValueError, match=r"shape \(length,\), found \(2, 3\)"):
        noise(torch.ones(2, 3, dtype=torch.long), generator=generator())


@pytest.mark.parametrize("name", NOISES)
def test_a_batch_frames_and_pads_source_and_target(name):
    documents = [different(length) for length in (12, 0, 5)]
    found = denoising_batch(documents, SPECIAL, NOISES[name], generator=generator())
    stream = generator()
    for row, document in enumerate(documents):
        noised = NOISES[name](document, generator=stream)
        for batch, text in ((found.source, noised), (found.target, document)):
            size = len(text) + 2
            assert batch[row, :size].tolist() == [SPECIAL.cls, *text.tolist(), SPECIAL.sep]
            assert batch[row, size:].eq(SPECIAL.pad).all()
    assert found.target.shape == (3, 14)
