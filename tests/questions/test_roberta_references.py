"""What assignment 11 calls right is what the course, SQuAD's script and a walk by hand give.

`test_parts.py` holds its answers beside the course's parts on their own cases; here they meet
texts of all kinds.
"""

from __future__ import annotations

import re
import string
from collections import Counter

import ours
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.objectives.input_formats import full_sentences
from coursekit.objectives.special_tokens import SpecialTokens
from coursetools.questions import catalogue

RIGHT = catalogue.references(ours.load("a11_roberta"))
IDS = st.integers(4, 99)
DOCUMENTS = st.lists(st.lists(st.lists(IDS, min_size=1, max_size=12), max_size=5), max_size=6)
WORDS = st.lists(st.sampled_from(["The", "a", "an.", "b", "B", "(b)", "be", "the-b", "_", "é"]))
ANSWERS = st.one_of(WORDS.map(" ".join), st.text("aAnNtThHeE bB'-.,_é\t", max_size=20))


@settings(deadline=None, max_examples=200)
@given(DOCUMENTS, st.integers(3, 12))
def test_inputs_are_those_of_the_course_and_lose_nothing(documents, length):
    inputs = RIGHT.fill_inputs(documents, length)
    special = SpecialTokens(pad=1, cls=0, sep=2, mask=3)
    assert inputs == full_sentences(documents, special, max_length=length)
    text = [token for one in inputs for token in one if token not in (0, 2)]
    assert text == [token for document in documents for s in document for token in s]
    assert all(len(one) <= length and one[:1] == [0] and one[-1:] == [2] for one in inputs)


def test_static_masks_leave_most_of_a_text_alone_and_dynamic_ones_hardly_any():
    text = torch.arange(10, 20_010).reshape(100, 200)
    for copies, share in ((1, 0.15), (10, 1 - 0.85**10), (None, 1 - 0.85**40)):
        asked = torch.zeros_like(text, dtype=torch.bool)
        for epoch in range(40):
            asked |= RIGHT.fresh_masks(text, [0, 1, 2], 4, epoch, 0, copies)[1] != -100
        assert asked.float().mean().item() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("batch", [1, 3, 8, 20])
def test_a_plan_is_what_a_run_reads_that_stops_before_its_budget(batch):
    """Every row as long as the mean: the run takes them in turn, and counts."""
    keep = torch.arange(9) < torch.full((7, 1), 6)
    lengths = keep.sum(dim=1).tolist()
    steps = rows = tokens = 0
    while tokens + (cost := sum(lengths[(rows + n) % 7] for n in range(batch))) <= 1000:
        steps, rows, tokens = steps + 1, rows + batch, tokens + cost
    assert RIGHT.equal_tokens(keep, 1000, [batch]) == [(steps, rows / 7, 1e-4 * batch / 256)]


def test_roberta_planned_its_table_3_at_equal_cost():
    keep = torch.ones(8, 512, dtype=torch.bool)
    plan = RIGHT.equal_tokens(keep, 10**6 * 256 * 512, [256, 2048, 8192])
    assert [steps for steps, _, _ in plan] == [1_000_000, 125_000, 31_250]


def squad(given: str, right: str) -> tuple[float, float]:
    """Exact match and F1 as the evaluation of SQuAD 2.0 computes them."""
    ours, theirs = (
        re.sub(
            r"\b(a|an|the)\b", " ", "".join(c for c in text.lower() if c not in string.punctuation)
        ).split()
        for text in (given, right)
    )
    exact = float(ours == theirs)
    if not ours or not theirs:
        return exact, exact
    same = sum((Counter(ours) & Counter(theirs)).values())
    if same == 0:
        return exact, 0.0
    precision, recall = same / len(ours), same / len(theirs)
    return exact, 2 * precision * recall / (precision + recall)


@settings(deadline=None, max_examples=300)
@given(ANSWERS, ANSWERS)
def test_an_answer_is_scored_as_by_squad(given, right):
    """Without marks such as «, at which SQuAD's pattern ends a word and white space does not."""
    assert RIGHT.answer_f1(given, right) == pytest.approx(squad(given, right))
    assert RIGHT.answer_f1(given, right) == RIGHT.answer_f1(right, given)
