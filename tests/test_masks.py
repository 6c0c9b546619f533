"""Each mask against its definition, pair by pair."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit import masks

lengths = st.integers(1, 12)


def by_rule(T, S, rule):
    """rule(query place, key place) on one common line; the queries are the last T places."""
    return torch.tensor([[rule(S - T + t, s) for s in range(S)] for t in range(T)])


@given(lengths, st.integers(0, 5))
def test_causal(T, past):
    S = T + past
    want = by_rule(T, S, lambda i, j: j <= i)
    assert torch.equal(masks.causal(T, S), want)
    assert masks.causal(T).dtype == torch.bool and torch.equal(masks.causal(T), masks.causal(T, T))


@given(lengths, st.integers(0, 5), st.integers(0, 4))
def test_local(T, past, radius):
    want = by_rule(T, T + past, lambda i, j: abs(i - j) <= radius)
    assert torch.equal(masks.local(T, T + past, radius=radius), want)


@given(lengths, st.data())
def test_global_and_longformer(T, data):
    tokens = data.draw(st.lists(st.integers(0, T - 1), max_size=3))
    want = by_rule(T, T, lambda i, j: i in tokens or j in tokens)
    assert torch.equal(masks.global_tokens(T, tokens), want)
    both = want | by_rule(T, T, lambda i, j: abs(i - j) <= 2)
    assert torch.equal(masks.longformer(T, radius=2, tokens=tokens), both)


@given(lengths, st.data())
def test_random_keys_and_bigbird(T, data):
    count = data.draw(st.integers(0, T))

    def draw():
        return torch.Generator().manual_seed(3)

    random = masks.random_keys(T, count, generator=draw())
    assert (random.sum(-1) == count).all()  # exactly so many keys, all different
    assert torch.equal(random, masks.random_keys(T, count, generator=draw()))
    big = masks.bigbird(T, radius=1, tokens=[0], random=count, generator=draw())
    assert torch.equal(big, masks.longformer(T, radius=1, tokens=[0]) | random)


def test_random_keys_reach_every_key():
    generator = torch.Generator().manual_seed(0)
    share = torch.stack([masks.random_keys(8, 2, generator=generator) for _ in range(3000)])
    torch.testing.assert_close(share.float().mean(0), torch.full((8, 8), 2 / 8), atol=0.05, rtol=0)


def test_padding_and_lengths_agree():
    tokens = torch.tensor([[5, 6, 0], [7, 0, 0]])
    mask = masks.padding(tokens, pad=0)
    assert mask.shape == (2, 1, 1, 3)
    assert torch.equal(mask, masks.lengths([2, 1], 3))
    left = masks.padding(torch.tensor([[0, 0, 4]]), pad=0)  # padding on the left works too
    assert left.flatten().tolist() == [False, False, True]


def test_masks_combine():
    both = masks.causal(4) & masks.lengths([4, 2], 4)
    assert both.shape == (2, 1, 4, 4)
    assert torch.equal(both[1, 0], by_rule(4, 4, lambda i, j: j <= i and j < 2))
    either = masks.local(4, radius=0) | masks.global_tokens(4, [0])
    assert torch.equal(either, by_rule(4, 4, lambda i, j: i == j or i == 0 or j == 0))


def test_expand_blocks():
    layout = torch.tensor([[True, False], [True, True]])
    want = by_rule(4, 4, lambda i, j: bool(layout[i // 2, j // 2]))
    assert torch.equal(masks.expand_blocks(layout, 2), want)


def test_masks_live_where_they_are_told():
    meta = "meta"
    assert masks.causal(3, device=meta).device.type == meta
    assert masks.local(3, radius=1, device=meta).device.type == meta
    assert masks.bigbird(3, radius=1, tokens=[], random=1, device=meta).device.type == meta


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: masks.causal(5, 3), "T=5, S=3"),
        (lambda: masks.lengths([2, 9], 4), "between 0 and 4, found 2 to 9"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()
