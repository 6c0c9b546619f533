"""What assignment 14 calls right is what the course's objectives and ByT5's own tokenizer give.

`test_parts.py` holds two of its answers beside the course's parts on their own cases; here all of
them meet texts of all kinds.
"""

from __future__ import annotations

import ours
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.denoising import sentence_permutation, text_infilling
from coursekit.objectives.span_corruption import SpanCorruption, corrupt_spans, restore
from coursetools.questions import catalogue

RIGHT = catalogue.references(ours.load("a14_t5"))
SEEDS = st.integers(0, 10_000)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=30)


def ours(row):
    return row[0].tolist()


@given(st.integers(2, 200), st.sampled_from([0.15, 0.5, 0.8]), SEEDS)
def test_a_corrupted_text_is_the_courses_and_can_be_put_together_again(length, density, seed):
    chance = torch.Generator().manual_seed(seed)
    setting = SpanCorruption(density=density, final_sentinel=True)
    tokens = torch.randint(10, 32_000, (1, length), generator=chance)
    made = corrupt_spans(tokens, setting, generator=chance)
    # each hidden token as a span of its own: those that touch are joined
    spans = [(place, place + 1) for place in made.hidden[0].nonzero()[:, 0].tolist()]
    read, written = RIGHT.corrupt(ours(tokens), spans)
    assert (read, written) == (ours(made.inputs), ours(made.targets))
    together = restore(made.inputs[0], made.targets[0], setting).tolist()
    assert RIGHT.put_back(read, written) == together == ours(tokens)


@given(st.integers(2, 60), SEEDS)
def test_answers_in_any_order_without_a_last_sentinel_fill_the_same_holes(length, seed):
    chance = torch.Generator().manual_seed(seed)
    setting = SpanCorruption(density=0.5, mean_span=1.5, end=None)
    tokens = torch.randint(10, 32_000, (1, length), generator=chance)
    made = corrupt_spans(tokens, setting, generator=chance)
    answers = []
    for token in ours(made.targets):
        answers += [[token]] if token >= 32_000 else []
        answers[-1] += [] if token >= 32_000 else [token]
    order = torch.randperm(len(answers), generator=chance).tolist()
    written = [token for number in order for token in answers[number]]
    assert RIGHT.put_back(ours(made.inputs), written) == ours(tokens)
    assert RIGHT.put_back([*ours(made.inputs), 1, 0], [*written, 1, 7]) == ours(tokens)


@given(st.integers(1, 80), st.sampled_from([0.1, 0.3, 0.9]), SEEDS)
def test_whatever_barts_noise_hides_is_an_infilling_of_some_spans(length, share, seed):
    chance, mask = torch.Generator().manual_seed(seed), 50_264
    tokens = torch.arange(100, 100 + length)  # each id another, so that one sees what is gone
    noised = text_infilling(tokens, mask=mask, share=share, generator=chance).tolist()
    spans, place = [], 0
    for number, token in enumerate(noised):
        if token != mask:
            place = token - 100 + 1
        else:  # the first of several masks in a row may stand for all that is missing there
            following = next((one - 100 for one in noised[number:] if one != mask), length)
            spans.append((place, following - place))
            place = following
    read, found = RIGHT.infill(tokens.tolist(), spans[::-1])
    assert read == noised
    assert found == pytest.approx(round(length * share) / length)


@given(st.lists(st.sampled_from([4, 5, 11, 12, 13]), max_size=25), SEEDS)
def test_shuffled_sentences_are_a_permutation_of_the_course(tokens, seed):
    document = torch.tensor(tokens, dtype=torch.long)
    starts = [n for n, token in enumerate(tokens) if not n or (tokens[n - 1] < 10 and token >= 10)]
    chance = torch.Generator().manual_seed(seed)
    noised = sentence_permutation(document, full_stops=[4, 5], generator=chance)
    order = torch.randperm(len(starts), generator=torch.Generator().manual_seed(seed)).tolist()
    assert RIGHT.shuffle_sentences(tokens, order, [4, 5]) == noised.tolist()
    back = RIGHT.shuffle_sentences(tokens, sorted(order), [4, 5])
    assert back == tokens


def test_bytes_have_the_ids_of_byt5s_own_tokenizer():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    theirs = transformers.ByT5Tokenizer(extra_ids=0)

    @given(TEXTS)
    def agree(text):
        ids = RIGHT.byte_ids(text)
        assert ids == theirs(text).input_ids
        assert RIGHT.byte_ids(ids) == text

    agree()


@given(st.lists(st.integers(0, 300), max_size=20))
def test_any_ids_spell_something_and_what_they_spell_has_the_bytes_that_are_whole(ids):
    text = RIGHT.byte_ids(ids)
    first = ids[: ids.index(1)] if 1 in ids else ids
    whole = bytes(one - 3 for one in first if 3 <= one <= 258)
    assert text.replace("�", "") == whole.decode(errors="ignore").replace("�", "")
    assert RIGHT.byte_ids(RIGHT.byte_ids(text)) == text
