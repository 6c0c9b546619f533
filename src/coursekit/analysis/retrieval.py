"""Dense retrieval: embed texts, and find for each query the passages with the nearest embeddings.

The index is a matrix with an embedding in each row; a search compares the query with all of them,
which is exact. The book explains it in "Retrieval and alignment".
Shapes: B queries, N passages, T length, D width.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from coursekit._base.checks import check_int, check_shape
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
