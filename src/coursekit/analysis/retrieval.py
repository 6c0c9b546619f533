"""Dense retrieval: embed texts, and find for each query the passages with the nearest embeddings.

The index is a matrix with an embedding in each row; a search compares the query with all of them,
which is exact. BM25 compares words instead. The book explains both in "Retrieval and alignment".
Shapes: B queries, N passages, T length, D width.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from coursekit._base.checks import check_fraction, check_int, check_positive, check_shape
from coursekit.models.bert import Bert
from coursekit.models.bert_heads import sentence_vectors
from coursekit.objectives.rows import pad_rows
from coursekit.tokenizers.wordpiece import WordPiece


@torch.no_grad()
def embed(model: Bert, tokenizer: WordPiece, texts: Sequence[str], *, batch: int = 32) -> Tensor:
    """Return an embedding of length 1 for each text, (N, D)."""
    check_int(batch=batch, texts=len(texts))
    first, last, pad = map(tokenizer.token_to_id, ("[CLS]", "[SEP]", "[PAD]"))
    rows = [[first, *tokenizer.encode(text), last] for text in texts]
    order = sorted(range(len(rows)), key=lambda n: len(rows[n]))  # little padding
    embeddings = torch.empty(len(rows), model.config.width)
    for some in (order[n : n + batch] for n in range(0, len(rows), batch)):
        tokens = pad_rows([rows[n] for n in some], pad)  # (B, T)
        keep = tokens != pad
        embeddings[some] = sentence_vectors(model(tokens, keep=keep), keep)  # (B, D)
    return embeddings


def nearest(queries: Tensor, index: Tensor, k: int) -> Tensor:
    """queries (B, D), index (N, D) -> the numbers of the k nearest rows, best first (B, k)."""
    check_shape(queries, "queries", "queries, width")
    check_shape(index, "index", "passages, width")
    check_int(k=k)
    if k > len(index):
        raise ValueError(f"k must be at most {len(index)}, the number of passages, found {k}")
    return (queries @ index.T).topk(k).indices  # cosines (B, N) -> (B, k)


def recall_at_k(found: Tensor, right: Tensor, k: int) -> float:
    """found (B, K), the right passage (B,) -> in how many rows it is among the first k, 0 to 1."""
    check_shape(found, "found", "queries, k")
    check_shape(right, "right", "queries")
    check_int(k=k)
    if len(found) != len(right) or k > found.shape[1]:
        raise ValueError(f"found must have shape ({len(right)}, at least {k}), "
                         f"found {tuple(found.shape)} for k = {k}")  # fmt: skip
    return (found[:, :k] == right[:, None]).any(dim=1).double().mean().item()


def bm25(
    queries: Sequence[str], passages: Sequence[str], *, k1: float = 1.5, b: float = 0.75
) -> Tensor:
    """Return how well each passage fits each query by the words that they share, (B, N).

    A word counts more, the fewer passages have it; more, but less and less, the more often a
    passage has it (`k1`); and less in passages that are longer than the mean (`b`).
    """
    check_int(queries=len(queries), passages=len(passages))
    check_positive(k1=k1)
    check_fraction(b=b)
    columns = {word: n for n, word in enumerate(dict.fromkeys(_words(" ".join(passages))))}
    tf = _counts(passages, columns).tocoo()  # (N, V): how often each word is in each passage
    lengths, having = tf.sum(axis=1), (tf > 0).sum(axis=0)  # (N,), (V,)
    rare = np.log(1 + (len(passages) - having + 0.5) / (having + 0.5))  # (V,)
    longer = 1 - b + b * lengths[tf.row] / max(lengths.mean(), 1)
    weights = rare[tf.col] * tf.data * (k1 + 1) / (tf.data + k1 * longer)
    index = csr_array((weights, (tf.row, tf.col)), shape=tf.shape)  # (N, V)
    return torch.tensor((_counts(queries, columns) @ index.T).toarray())  # (B, N)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _counts(texts: Iterable[str], columns: dict[str, int]) -> csr_array:
    """Return how often each word is in each text; words without a column are left out."""
    rows = [Counter(word for word in _words(text) if word in columns) for text in texts]
    entries = [
        (n, columns[word], count) for n, row in enumerate(rows) for word, count in row.items()
    ]
    n, column, count = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    return csr_array((count.astype(float), (n, column)), shape=(len(rows), len(columns)))
