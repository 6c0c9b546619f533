"""Embeddings do not depend on their neighbours; the search is exact; recall@k counts."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.analysis import fresh
from coursekit.analysis.retrieval import bm25, embed, nearest, recall_at_k
from coursekit.models import BertConfig
from coursekit.models.bert_heads import sentence_vectors
from coursekit.tokenizers.wordpiece import BERT_SPECIAL, WordPiece

TOKENIZER = WordPiece([*BERT_SPECIAL, "a", "b", "c"])
MODEL = fresh(BertConfig(vocabulary=8, width=8, depth=2, heads=2, hidden=16, positions=16))
TEXTS = ["a b c a b c", "c", "", "b b", "a b c a", "c a"]


def test_an_embedding_is_the_mean_of_the_text_s_own_states_in_the_order_of_the_texts():
    alone = []
    for text in TEXTS:
        ids = torch.tensor([[2, *TOKENIZER.encode(text), 3]])
        assert TOKENIZER.token_to_id("[CLS]") == 2 and TOKENIZER.token_to_id("[SEP]") == 3
        with torch.no_grad():
            alone.append(sentence_vectors(MODEL(ids), torch.ones_like(ids, dtype=torch.bool))[0])
    for batch in (1, 2, 4, 32):
        found = embed(MODEL, TOKENIZER, TEXTS, batch=batch)
        torch.testing.assert_close(found, torch.stack(alone))
    torch.testing.assert_close(found.norm(dim=1), torch.ones(len(TEXTS)))
    assert not found.requires_grad


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 1000))
def test_the_nearest_are_those_of_a_sort_and_a_row_finds_itself(B, N, seed):
    draw = torch.Generator().manual_seed(seed)
    rows = torch.nn.functional.normalize(torch.randn(B + N, 5, generator=draw), dim=1)
    for k in (1, N):
        found = nearest(rows[:B], rows[B:], k)
        for query, numbers in zip(rows[:B], found.tolist(), strict=True):
            products = [float(query @ row) for row in rows[B:]]
            best = sorted(products, reverse=True)[:k]
            assert [products[n] for n in numbers] == pytest.approx(best)
    assert nearest(rows, rows, 1)[:, 0].tolist() == list(range(B + N))


def test_recall_counts_the_rows_with_the_right_passage_among_the_first():
    found, right = torch.tensor([[3, 1, 2], [0, 3, 1], [2, 0, 3], [1, 2, 0]]), torch.full((4,), 3)
    assert [recall_at_k(found, right, k) for k in (1, 2, 3)] == [0.25, 0.5, 0.75]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((torch.zeros(2, 3), torch.zeros(3), 1), r"found must have shape \(3, at least 1\)"),
        ((torch.zeros(2, 3), torch.zeros(2), 4), r"\(2, 3\) for k = 4"),
    ],
)
def test_lists_that_do_not_fit_are_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        recall_at_k(*arguments)


def test_more_than_there_are_cannot_be_nearest():
    with pytest.raises(ValueError, match="k must be at most 2, the number of passages, found 3"):
        nearest(torch.zeros(1, 4), torch.zeros(2, 4), 3)


def test_bm25_is_its_formula_written_out():
    passages = ["A cat, a cat!", "the dog", "", "the cat and the dog and the bird"]
    queries = ["The cat", "cat cat", "unicorn", ""]
    rows = [
        ["a", "cat", "a", "cat"],
        ["the", "dog"],
        [],
        ["the", "cat", "and", "the", "dog", "and", "the", "bird"],
    ]
    mean = sum(map(len, rows)) / 4

    def score(query, row, k1=1.5, b=0.75):
        total = 0.0
        for word in query.lower().split():
            having, tf = sum(word in other for other in rows), row.count(word)
            rare = math.log(1 + (4 - having + 0.5) / (having + 0.5))
            total += rare * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(row) / mean))
        return total

    expected = torch.tensor([[score(query, row) for row in rows] for query in queries])
    torch.testing.assert_close(bm25(queries, passages).float(), expected)
    assert bm25(["x"], ["", ""]).tolist() == [[0, 0]]
