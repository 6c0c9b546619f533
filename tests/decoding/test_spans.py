"""The best span is that of every pair of positions, and bad input is refused."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.decoding.spans import best_span


def brute_force(start, end, allowed, longest):
    """Every pair of places, one after the other."""
    spans = {}
    for i in range(len(start)):
        for j in range(i, len(start)):
            if allowed[i] and allowed[j] and j - i < longest:
                spans[i, j] = start[i] + end[j]
    return spans


@given(st.integers(1, 3), st.integers(1, 9), st.none() | st.integers(1, 11), st.integers(0, 9999))
def test_the_best_span_is_the_one_of_brute_force(B, T, longest, seed):
    torch.manual_seed(seed)
    start, end = torch.randint(-4, 5, (2, B, T)).float()  # few values, so that there are ties
    allowed = torch.rand(B, T) < 0.6
    allowed[torch.arange(B), torch.randint(T, (B,))] = True
    found = best_span(start, end, allowed, longest=longest)
    for b in range(B):
        spans = brute_force(start[b].tolist(), end[b].tolist(), allowed[b], longest or T)
        assert found.score[b] == max(spans.values())
        assert spans.get((int(found.start[b]), int(found.end[b]))) == found.score[b]


def test_a_long_passage_needs_no_table_of_all_pairs():
    torch.manual_seed(0)
    start, end = torch.randn(2, 1, 50_000)  # all pairs would be 10 GB
    span = best_span(start, end, None, longest=30)
    windows = (start[0, span.end - 29 : span.end + 1] + end[0, span.end]).max()
    assert span.score == windows and 0 <= span.end - span.start < 30


ROW = torch.zeros(1, 3)


def test_a_row_without_an_allowed_place_is_refused():
    with pytest.raises(ValueError, match="row 0 has no place"):
        best_span(ROW, ROW, ROW > 0)
