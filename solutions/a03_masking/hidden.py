"""The hidden cases of assignment 3: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- causal_mask


@hidden("causal_mask", says="one query, one key")
def causal_one(student):
    return student.causal_mask(1, 1)


@hidden("causal_mask", says="a long sequence")
def causal_long(student):
    return student.causal_mask(70, 70)


@hidden("causal_mask", says="the mask for the newest queries is the end of the mask for all")
def causal_end(student):
    return student.causal_mask(4, 9), student.causal_mask(9, 9)[5:]


@hidden("causal_mask", says="one query fewer than keys")
def causal_one_fewer(student):
    return student.causal_mask(6, 7)


# --- padding_mask


@hidden("padding_mask", says="a sentence of padding alone")
def padding_alone(student):
    return student.padding_mask(torch.tensor([[7, 7, 7], [1, 7, 2]]), 7)


@hidden("padding_mask", says="as many sentences as tokens in each")
def padding_square(student):
    tokens = torch.tensor([[1, 0, 0], [2, 3, 0], [4, 5, 6]])
    return student.padding_mask(tokens, 0)


@hidden("padding_mask", says="a padding token below 0")
def padding_negative(student):
    return student.padding_mask(torch.tensor([[3, -100, 0, -1], [0, 5, -100, -100]]), -100)


@hidden("padding_mask", says="a padding token in the middle")
def padding_middle(student):
    return student.padding_mask(torch.tensor([[3, 2, 4, 2, 6, 1]]), 2)


@hidden("padding_mask", says="the tokens are left as they were")
def padding_keeps(student):
    return after(student.padding_mask, torch.tensor([[3, 0], [0, 0]]), 0)


# --- masked_shares


def some_mask(*shape, seed=0):
    """Return a random mask with an empty row here and there."""
    return randn(*shape, seed=70 + seed) > 0.4


@hidden("masked_shares", says="axes in front that broadcast")
def shares_broadcast(student):
    return student.masked_shares(randn(2, 3, 4, 5), some_mask(2, 1, 4, 5))


@hidden("masked_shares", says="one mask for a whole batch")
def shares_one_mask(student):
    return student.masked_shares(randn(3, 2, 6, 4, seed=1), some_mask(6, 4, seed=1))


@hidden("masked_shares", says="a forbidden key far in front", weight=2)
def shares_far(student):
    scores = torch.tensor([[300.0, 1.0, 0.0, -1.0], [-5.0, 4000.0, -5.0, 4000.0]])
    mask = torch.tensor([[False, True, True, True], [True, False, True, False]])
    return student.masked_shares(scores, mask)


@hidden("masked_shares", says="double precision", tolerance=1e-12)
def shares_double(student):
    return student.masked_shares(randn(5, 6, dtype=torch.float64), some_mask(5, 6, seed=2))


@hidden("masked_shares", says="gradients in a batch with empty rows", weight=2)
def shares_gradients(student):
    mask = some_mask(2, 1, 1, 5, seed=3).clone()
    mask[1] = False
    return gradients(student.masked_shares, randn(2, 2, 3, 5, seed=3), mask)


@hidden("masked_shares", says="a forbidden key is not felt at all")
def shares_not_felt(student):
    mask = torch.tensor([[True, False, True]])
    one = student.masked_shares(torch.tensor([[0.3, 5.0, -0.2]]), mask)
    other = student.masked_shares(torch.tensor([[0.3, -7.0, -0.2]]), mask)
    assert torch.equal(one, other)
    return one


@hidden("masked_shares", says="scores and mask are left as they were")
def shares_keep(student):
    return after(student.masked_shares, randn(3, 4, seed=4), some_mask(3, 4, seed=4))


# --- decoder_mask


@hidden("decoder_mask", says="a sentence of one token")
def decoder_one(student):
    return student.decoder_mask(torch.tensor([[4], [0]]), 0)


@hidden("decoder_mask", says="no padding at all")
def decoder_plain(student):
    return student.decoder_mask(torch.tensor([[4, 5, 6, 7, 8], [8, 7, 6, 5, 4]]), 0)


@hidden("decoder_mask", says="padding on both sides, in as many sentences as tokens", weight=2)
def decoder_sides(student):
    tokens = torch.tensor([[1, 2, 3, 1], [1, 1, 2, 3], [2, 3, 1, 1], [2, 2, 2, 2]])
    return student.decoder_mask(tokens, 1)


@hidden("decoder_mask", says="each sentence as it would be alone")
def decoder_batch(student):
    tokens = torch.tensor([[5, 6, 0, 0, 0], [0, 0, 0, 7, 8]])
    return student.decoder_mask(tokens, 0)[1], student.decoder_mask(tokens[1:], 0)[0]


@hidden("decoder_mask", says="the tokens are left as they were")
def decoder_keeps(student):
    return after(student.decoder_mask, torch.tensor([[3, 2, 0], [0, 4, 4]]), 0)


# --- window_attention


def sequence(*front, width=4, out=3, dtype=torch.float32):
    return [
        randn(*front, size, seed=81 + n, dtype=dtype) for n, size in enumerate((width, width, out))
    ]


@hidden("window_attention", says="radius 0")
def window_itself(student):
    return student.window_attention(*sequence(5), 0)


@hidden("window_attention", says="one place only")
def window_one(student):
    return student.window_attention(*sequence(2, 1), 3)


@hidden("window_attention", says="a change outside the window is not felt")
def window_edge(student):
    q, k, v = sequence(9)
    one = student.window_attention(q, k, v, 2)
    k, v = k.clone(), v.clone()
    k[6], v[6] = 5 - k[6], 5 - v[6]
    other = student.window_attention(q, k, v, 2)
    moved = (one - other).abs().amax(dim=-1) > 1e-4
    assert moved.tolist() == [False] * 4 + [True] * 5
    return other


@hidden("window_attention", says="a very long sequence, without its square", weight=5)
def window_long(student):
    return student.window_attention(*sequence(60_000, width=2, out=2), 2)


@hidden("window_attention", says="low scores at the ends")
def window_low(student):
    q, k, v = sequence(6)
    return student.window_attention(100 * q.abs(), -k.abs(), v, 2)


@hidden("window_attention", says="double precision and several axes in front", tolerance=1e-12)
def window_double(student):
    return student.window_attention(*sequence(2, 3, 2, 7, dtype=torch.float64), 2)


@hidden("window_attention", says="gradients")
def window_gradients(student):
    return gradients(student.window_attention, *sequence(6), 1)
