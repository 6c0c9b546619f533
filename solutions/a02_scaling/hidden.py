"""The hidden cases of assignment 2: students may read what a case `says`, and nothing else."""

import math

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- score_factor


@hidden("score_factor", says="a width of one")
def factor_narrow(student):
    return student.score_factor(1, 2.0, 3.0)


@hidden("score_factor", says="a very wide layer", tolerance=1e-9)
def factor_wide(student):
    return student.score_factor(2**20, 1.0, 1.0)


@hidden("score_factor", says="queries and keys play the same part")
def factor_symmetric(student):
    one, other = student.score_factor(48, 0.3, 5.0), student.score_factor(48, 5.0, 0.3)
    assert math.isclose(one, other, rel_tol=1e-9)
    return one


@hidden("score_factor", says="random scores really get variance 1")
def factor_measured(student):
    q, k = 3 * randn(20_000, 32), 0.5 * randn(20_000, 32, seed=1)
    scores = (q * k).sum(dim=-1) * student.score_factor(32, 9.0, 0.25)
    assert abs(scores.var().item() - 1) < 0.05


# --- scaled_attention


@hidden("scaled_attention", says="one key only")
def one_key(student):
    return student.scaled_attention(randn(3, 4), randn(1, 4, seed=1), randn(1, 2, seed=2))


@hidden("scaled_attention", says="axes in front that broadcast")
def attention_broadcast(student):
    return student.scaled_attention(
        randn(2, 1, 4, 6), randn(3, 5, 6, seed=1), randn(2, 3, 5, 2, seed=2)
    )


@hidden("scaled_attention", says="large scores", weight=2)
def attention_large(student):
    return student.scaled_attention(300 * randn(4, 8), randn(5, 8, seed=1), randn(5, 2, seed=2))


@hidden("scaled_attention", says="double precision", tolerance=1e-12)
def attention_double(student):
    shapes = ((4, 6), (5, 6), (5, 3))
    numbers = (randn(*shape, seed=41 + n, dtype=torch.float64) for n, shape in enumerate(shapes))
    return student.scaled_attention(*numbers)


@hidden("scaled_attention", says="gradients", weight=2)
def attention_gradients(student):
    return gradients(student.scaled_attention, randn(3, 4), randn(5, 4, seed=1), randn(5, 2))


@hidden("scaled_attention", says="the inputs are left as they were")
def attention_keeps(student):
    return after(student.scaled_attention, randn(3, 4), randn(5, 4, seed=1), randn(5, 2))


# --- entropy_bits


@hidden("entropy_bits", says="one key only")
def entropy_one_key(student):
    return student.entropy_bits(torch.ones(2, 3, 1))


@hidden("entropy_bits", says="many equal weights")
def entropy_equal(student):
    return student.entropy_bits(torch.full((2, 1024), 1 / 1024))


@hidden("entropy_bits", says="tiny weights", weight=2)
def entropy_tiny(student):
    return student.entropy_bits((40 * randn(3, 12)).softmax(dim=-1))


@hidden("entropy_bits", says="double precision and several axes in front", tolerance=1e-12)
def entropy_double(student):
    return student.entropy_bits(randn(2, 3, 4, 5, dtype=torch.float64).softmax(dim=-1))


@hidden("entropy_bits", says="the input is left as it was")
def entropy_keeps(student):
    return after(student.entropy_bits, torch.tensor([[0.0, 0.75, 0.25]]))


# --- tempered


@hidden("tempered", says="an infinite temperature")
def tempered_infinite(student):
    return student.tempered(randn(2, 3, 5), math.inf)


@hidden("tempered", says="temperature 0 and scores below 0", weight=2)
def tempered_below(student):
    close = torch.tensor([[-3.0, -3.0 - 2**-21, -4.0]])
    return student.tempered(-5 - randn(2, 4, 6).abs(), 0), student.tempered(close, 0)


@hidden("tempered", says="a very low temperature")
def tempered_low(student):
    return student.tempered(torch.tensor([[0.1, 0.2, 0.15], [3.0, -3.0, 2.9]]), 1e-4)


@hidden("tempered", says="double precision at temperature 0", tolerance=1e-12)
def tempered_double(student):
    scores = torch.tensor([[1.0, 1.0, 0.0]], dtype=torch.float64)
    return student.tempered(scores, 0.0), student.tempered(scores, 1.5)


@hidden("tempered", says="the input is left as it was")
def tempered_keeps(student):
    return after(student.tempered, randn(3, 4), 0.5)


# --- softmax_jacobian


@hidden("softmax_jacobian", says="one weight only")
def jacobian_one(student):
    return student.softmax_jacobian(torch.ones(3, 1))


@hidden("softmax_jacobian", says="rows and columns sum to zero")
def jacobian_sums(student):
    found = student.softmax_jacobian(randn(4, 5).softmax(dim=-1))
    assert found.shape == (4, 5, 5)
    assert found.sum(dim=-1).abs().max() < 1e-6 and found.sum(dim=-2).abs().max() < 1e-6


@hidden("softmax_jacobian", says="what autograd finds", weight=2)
def jacobian_autograd(student):
    scores = randn(6, dtype=torch.float64)
    by_autograd = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), scores)
    found = student.softmax_jacobian(scores.softmax(dim=-1))
    assert (found - by_autograd).abs().max() < 1e-12
    return found


@hidden("softmax_jacobian", says="several axes in front")
def jacobian_axes(student):
    return student.softmax_jacobian(randn(2, 3, 4, 5, seed=1).softmax(dim=-1))


# --- query_gradient


def by_autograd(q, k, upstream):
    q = q.clone().requires_grad_()
    weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
    return torch.autograd.grad((weights * upstream).sum(), q)[0]


@hidden("query_gradient", says="what autograd finds", weight=2)
def gradient_autograd(student):
    numbers = [randn(*s, seed=51 + n) for n, s in enumerate(((4, 7), (6, 7), (4, 6)))]
    found = student.query_gradient(*numbers)
    assert found.shape == (4, 7) and (found - by_autograd(*numbers)).abs().max() < 1e-5
    return found


@hidden("query_gradient", says="an upstream that is the same for all keys gives nothing")
def gradient_constant(student):
    return student.query_gradient(randn(3, 4), randn(5, 4, seed=1), torch.full((3, 5), 2.0))


@hidden("query_gradient", says="rows that have decided", weight=2)
def gradient_decided(student):
    return student.query_gradient(200 * randn(3, 8), randn(5, 8, seed=1), randn(3, 5, seed=2))


@hidden("query_gradient", says="axes in front that broadcast")
def gradient_broadcast(student):
    return student.query_gradient(
        randn(2, 1, 3, 4), randn(3, 5, 4, seed=1), randn(2, 3, 3, 5, seed=2)
    )


@hidden("query_gradient", says="double precision", tolerance=1e-12)
def gradient_double(student):
    shapes = ((3, 4), (5, 4), (3, 5))
    numbers = (randn(*shape, seed=61 + n, dtype=torch.float64) for n, shape in enumerate(shapes))
    return student.query_gradient(*numbers)
