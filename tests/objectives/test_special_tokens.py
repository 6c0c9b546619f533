"""The ids that are not text, padding of rows, and batches of about one size."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.rows import batches_of_tokens, pad_rows
from coursekit.objectives.special_tokens import SpecialTokens


def test_special_and_ordinary_ids_make_up_the_vocabulary():
    special = SpecialTokens(pad=4, cls=0, sep=2, mask=7, others=(3,))
    assert special.find(torch.arange(9)).nonzero()[:, 0].tolist() == [0, 2, 3, 4, 7]
    assert special.ordinary(9).tolist() == [1, 5, 6, 8]
    assert special.find(torch.tensor([[4, 5], [8, 7]])).tolist() == [[True, False], [False, True]]


def test_the_published_vocabularies():
    transformers = pytest.importorskip("transformers")
    assert SpecialTokens.bert().ids == (0, 101, 102, 103, 100)
    roberta = SpecialTokens.roberta()
    for config in (transformers.RobertaConfig(), transformers.BartConfig()):
        assert (config.bos_token_id, config.pad_token_id, config.eos_token_id) == (
            roberta.cls,
            roberta.pad,
            roberta.sep,
        )


def test_ids_that_cannot_be_get_a_sentence():
    with pytest.raises(ValueError, match=r"different ids from 0 up, found \(0, 0, 2, 3\)"):
        SpecialTokens(pad=0, cls=0, sep=2, mask=3)
    special = SpecialTokens(pad=0, cls=1, sep=2, mask=9)
    with pytest.raises(ValueError, match=r"within the vocabulary of 9, found \(0, 1, 2, 9\)"):
        special.ordinary(9)


@given(st.lists(st.lists(st.integers(1, 9), max_size=6), min_size=1, max_size=5))
def test_padded_rows_begin_with_the_rows(rows):
    batch = pad_rows(rows, pad=0)
    assert batch.shape == (len(rows), max(map(len, rows))) and batch.dtype == torch.int64
    for row, padded in zip(rows, batch.tolist()):
        assert padded[: len(row)] == row and not any(padded[len(row) :])
    as_tensors = pad_rows([torch.tensor(row, dtype=torch.long) for row in rows], pad=0)
    assert torch.equal(as_tensors, batch)


@given(st.lists(st.integers(1, 12), max_size=20), st.integers(1, 20))
def test_batches_hold_every_row_once_and_are_as_large_as_allowed(lengths, limit):
    batches = batches_of_tokens(lengths, limit)
    assert [index for batch in batches for index in batch] == list(range(len(lengths)))
    held = [sum(lengths[index] for index in batch) for batch in batches]
    for batch, size in zip(batches, held):
        assert size <= limit or len(batch) == 1
    for batch, size in zip(batches[1:], held):
        assert size + lengths[batch[0]] > limit


def test_no_rows():
    with pytest.raises(ValueError, match="at least one row"):
        pad_rows([], pad=0)
