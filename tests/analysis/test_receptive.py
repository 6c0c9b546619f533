"""Receptive fields: counted and asked, and the two agree."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from coursekit.analysis.receptive import Convolution, depends_on, receptive_field

layers = st.builds(Convolution, st.integers(1, 4), st.integers(1, 3), st.integers(1, 2))


def stack(shapes):
    torch.manual_seed(0)
    return nn.Sequential(
        *[nn.Conv2d(1, 1, kernel_size=k, stride=s, dilation=d).double() for k, s, d in shapes]
    )


def test_the_numbers_of_the_page():
    assert receptive_field([(3,)] * 4) == (9, 1)
    assert receptive_field([(3, 2), (3, 1)]) == (7, 2)
    assert receptive_field([(3, 1, 1), (3, 1, 2), (3, 1, 4)]) == (15, 1)
    assert receptive_field([(2, 2), (3, 1)]) == (6, 2)  # pooling, then 3: 2 + 2 · 2
    assert receptive_field([]) == (1, 1)


@settings(max_examples=30)
@given(st.lists(layers, min_size=1, max_size=3))
def test_counting_is_what_the_gradient_says(shapes):
    size, jump = receptive_field(shapes)
    x = torch.randn(1, 1, size + jump, size + jump, dtype=torch.double)
    model = stack(shapes)
    first, second = depends_on(model, x, (0, 0)), depends_on(model, x, (0, 1))
    for seen, start in ((first, 0), (second, jump)):
        columns = seen.any(dim=0).nonzero()[:, 0]
        assert columns.min() == start and columns.max() == start + size - 1


def test_zeros_around_the_edge_do_not_count_and_all_channels_do():
    torch.manual_seed(0)
    model = nn.Conv2d(2, 3, 3, padding=1)
    seen = depends_on(model, torch.randn(2, 2, 5, 6), (0, 5))
    assert seen.shape == (5, 6) and seen.sum() == 4 and seen[:2, 4:].all()
    assert torch.equal(seen, depends_on(model, torch.randn(1, 2, 5, 6), (-5, -1)))


def test_a_channel_that_cancels_another_one_is_found_out():
    class Opposed(nn.Module):
        def forward(self, x):
            return torch.cat([x, -x], dim=1)

    assert depends_on(Opposed(), torch.randn(1, 1, 2, 2), (1, 0)).tolist() == [
        [False, False],
        [True, False],
    ]


def test_what_depends_on_nothing():
    constant = torch.ones(1, 1, 2, 2, requires_grad=True)
    assert not depends_on(lambda x: constant * 2, torch.randn(1, 1, 3, 3), (0, 0)).any()


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match=r"x must be \(batch, channels, rows, columns\), found"):
        depends_on(nn.Identity(), torch.zeros(3, 3), (0, 0))
    with pytest.raises(ValueError, match=r"the place \(0, 3\) is not on the model's map"):
        depends_on(nn.Identity(), torch.zeros(1, 1, 3, 3), (0, 3))
