"""Exact types, dtype, shape, values; and a sentence for each way to differ."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from coursekit.check.compare import same
from coursekit.check.excerpt import excerpt


class Liar:
    """Says that it equals everything, and has no difference from anything."""

    def __eq__(self, other):
        return True

    __hash__ = None

    def __sub__(self, other):
        return torch.zeros(())


class LyingTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return torch.zeros(2)


ONE = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "value",
    [
        ONE,
        nn.Parameter(ONE),
        torch.tensor([math.nan, math.inf, -math.inf]),
        torch.empty(0, 3),
        torch.tensor(True),
        np.array([1, 2]),
        1,
        2.5,
        math.nan,
        -math.inf,
        True,
        None,
        "text",
        [1, (2.0, {"k": ONE})],
        {"a": None},
    ],
)
def test_a_value_is_the_same_as_itself(value):
    assert same(value, value) is None


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        (torch.zeros(2, 3), torch.zeros(3, 2), "the shape is (2, 3), expected (3, 2)"),
        (ONE.double(), ONE, "the dtype is float64, expected float32"),
        (ONE.numpy(), ONE, "the value is a ndarray, expected a Tensor: stay in torch all the way"),
        (1.0, torch.tensor(1.0), ".item() or float() has made a number of it"),
        (torch.tensor(1.0), 1.0, ".item() makes a number of a tensor"),
        (None, ONE, "the value is None, expected a Tensor: is a return missing?"),
        (ONE, (ONE, ONE), "the value is a Tensor, expected a tuple of 2 values"),
        ([ONE], (ONE,), "the value is a list, expected a tuple"),
        (ONE + 0.5, ONE, "2 of 2 values differ, by 0.5 at most, at [0]"),
        (torch.tensor([1.0, math.nan]), ONE, "1 of 2 values is nan (not a number), where"),
        (ONE, torch.tensor([1.0, math.nan]), "1 of 2 values differ, by nan at most"),
        (torch.tensor([math.inf]), torch.tensor([-math.inf]), "by inf"),
        (torch.tensor([1e30]), torch.tensor([math.inf]), "by inf"),
        (torch.tensor([True, False]), torch.tensor([True, True]), "1 of 2 values differ"),
        (True, 1, "the value is a bool, expected an int"),
        (1.0, 1, "the value is a float, expected an int"),
        (0.5, 0.25, "the number is 0.5, expected 0.25"),
        ([1, 2], [1, 2, 3], "the length is 2, expected 3"),
        ({"a": 1}, {"b": 1}, "the keys are ['a'], expected ['b']"),
        ((ONE, [ONE + 1]), (ONE, [ONE]), "in output[1][0] 2 of 2 values differ"),
        ("a", "b", "the value is 'a', expected 'b'"),
        (Liar(), 1.0, "the value is a Liar, expected a float"),
        (Liar(), ONE, "the value is a Liar, expected a Tensor"),
        (LyingTensor([1.0, 2.0]), ONE, "the value is a LyingTensor, expected a Tensor"),
        (ONE.to_sparse(), ONE, "of a special kind"),
        (torch.empty(2, device="meta"), ONE, "of a special kind"),
    ],
)
def test_each_difference_has_its_sentence(actual, expected, said):
    assert said in str(same(actual, expected))


def test_tolerance_is_absolute_and_relative_and_kind_to_half_precision():
    assert same(torch.tensor([1e6 + 5.0]), torch.tensor([1e6]), 1e-5) is None
    assert same(torch.tensor([0.0]), torch.tensor([9e-6]), 1e-5) is None
    assert same(torch.tensor([0.0]), torch.tensor([3e-5]), 1e-5) is not None
    half = torch.tensor([1.0], dtype=torch.bfloat16)
    assert same(half + 0.01, half) is None and same(half + 0.1, half) is not None
    assert same(2, 2.0) is None and same(np.float32(2), 2.0) is None


def test_a_value_that_holds_itself_is_not_followed_for_ever():
    loop = []
    loop.append(loop)
    assert "nested too deeply" in str(same(loop, loop))


@given(st.integers(1, 6), st.integers(1, 12), st.data())
def test_the_index_is_that_of_the_largest_difference(rows, columns, data):
    expected = torch.zeros(rows, columns)
    row = data.draw(st.integers(0, rows - 1))
    column = data.draw(st.integers(0, columns - 1))
    actual = expected + 0.1
    actual[row, column] = 3.0
    found = same(actual, expected)
    assert found.index == (row, column) and found.largest == 3.0
    shown = excerpt(found, 1e-5)
    assert any("3." in cell for line in shown.yours for cell in line)
    assert len(shown.yours) == rows and len(shown.yours[0]) == min(columns, 8)


def test_an_excerpt_marks_what_differs_and_says_where_it_is():
    expected = torch.zeros(2, 6, 9)
    actual = expected.clone()
    actual[1, 4, 7] = math.nan
    text = excerpt(same(actual, expected), 1e-5).text()
    assert text.startswith("in output[1], columns 1 to 8 of 0 to 8")
    assert text.count("*") == 1 and "nan*" in text
    assert excerpt(same(1.0, 2.0), 1e-5) is None


def test_an_excerpt_shows_where_most_of_it_differs_and_counts_the_rest():
    expected = torch.zeros(20, 20)
    actual = expected.clone()
    actual[6:12, 10] = 1.0
    actual[11, 10], actual[0, 0] = 5.0, 1.0
    shown = excerpt(same(actual, expected), 1e-5)
    assert (
        shown.title == "rows 6 to 13 of 0 to 19, columns 6 to 13 of 0 to 19, 1 more differs outside"
    )
    assert sum(map(sum, shown.wrong)) == 6


def test_a_matrix_of_eight_by_eight_is_shown_whole_and_fits_into_the_page():
    expected = torch.randn(8, 8, generator=torch.Generator().manual_seed(0))
    text = excerpt(same(-expected, expected), 1e-5).text()
    lines = text.splitlines()
    assert (lines[0], lines[9], len(lines)) == ("yours", "expected", 18)
    assert max(map(len, lines)) <= 84 and text.count("*") == 64
