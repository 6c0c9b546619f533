"""The hidden cases of assignment 1: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, module_gradients, randn

# --- shares


@hidden("shares", says="one key only")
def one_key(student):
    return student.shares(randn(3, 1))


@hidden("shares", says="several axes in front")
def many_axes(student):
    return student.shares(randn(2, 3, 4, 5, seed=3))


@hidden("shares", says="double precision", tolerance=1e-12)
def double(student):
    return student.shares(randn(3, 6, seed=4, dtype=torch.float64))


@hidden("shares", says="rows that lie far apart", weight=2)
def far_apart(student):
    return student.shares(torch.tensor([[300.0, 301.0, 299.0], [-300.0, -301.0, -300.5]]))


@hidden("shares", says="scores of minus infinity")
def minus_infinity(student):
    return student.shares(torch.tensor([[0.0, -torch.inf, 1.0], [-torch.inf, 2.0, -torch.inf]]))


@hidden("shares", says="the input is left as it was")
def shares_keep(student):
    return after(student.shares, randn(2, 3, seed=5))


@hidden("shares", says="gradients where rows lie far apart")
def shares_gradients(student):
    return gradients(student.shares, torch.tensor([[90.0, 91.0, 92.5], [-1.0, 0.0, 0.5]]))


# --- gaussian_scores


@hidden("gaussian_scores", says="axes in front that broadcast")
def gaussian_broadcast(student):
    return student.gaussian_scores(randn(2, 1, 4, 3), randn(3, 5, 3, seed=1), 0.7)


@hidden("gaussian_scores", says="long vectors that lie close together", weight=2, tolerance=1e-3)
def close_together(student):
    start = 1000 + randn(1, 16)
    return student.gaussian_scores(start + 0.1 * randn(3, 16, seed=1), start, 0.5)


@hidden("gaussian_scores", says="a width of one")
def gaussian_narrow(student):
    return student.gaussian_scores(randn(3, 1), randn(2, 1, seed=1), 1.5)


@hidden("gaussian_scores", says="double precision", tolerance=1e-12)
def gaussian_double(student):
    q, k = randn(3, 4, dtype=torch.float64), randn(5, 4, seed=1, dtype=torch.float64)
    return student.gaussian_scores(q, k, 0.3)


@hidden("gaussian_scores", says="gradients")
def gaussian_gradients(student):
    return gradients(student.gaussian_scores, randn(3, 4), randn(5, 4, seed=1), 0.8)


# --- predict


@hidden("predict", says="one sample only")
def one_sample(student):
    return student.predict(randn(4), torch.tensor([0.3]), torch.tensor([2.5]), 0.5)


@hidden("predict", says="a huge bandwidth is the plain mean")
def huge_bandwidth(student):
    return student.predict(randn(3), randn(8, seed=1), randn(8, seed=2), 1e4)


@hidden("predict", says="places far from every sample", weight=2)
def far_from_all(student):
    return student.predict(torch.tensor([-80.0, 90.0]), randn(6, seed=1), randn(6, seed=2), 0.5)


@hidden("predict", says="predictions stay between the samples")
def between(student):
    y = randn(7, seed=2)
    found = student.predict(randn(30), randn(7, seed=1), y, 0.2)
    assert found.shape == (30,)
    assert found.min() >= y.min() - 1e-5 and found.max() <= y.max() + 1e-5


@hidden("predict", says="double precision", tolerance=1e-12)
def predict_double(student):
    numbers = (randn(size, seed=size, dtype=torch.float64) for size in (4, 9, 9))
    return student.predict(*numbers, 0.4)


@hidden("predict", says="gradients")
def predict_gradients(student):
    return gradients(student.predict, randn(3), randn(6, seed=1), randn(6, seed=2), 0.6)


# --- AdditiveScores


def build(student, query_width, key_width, hidden_width):
    module = student.AdditiveScores(
        query_width=query_width, key_width=key_width, hidden=hidden_width
    )
    module.load_state_dict(
        {
            "query.weight": randn(hidden_width, query_width, seed=21),
            "key.weight": randn(hidden_width, key_width, seed=22),
            "score.weight": randn(1, hidden_width, seed=23),
        }
    )
    return module


@hidden("AdditiveScores", says="axes in front that broadcast")
def additive_broadcast(student):
    return build(student, 3, 5, 4)(randn(2, 1, 4, 3), randn(3, 6, 5, seed=1))


@hidden("AdditiveScores", says="gradients at inputs and weights", weight=2)
def additive_gradients(student):
    return module_gradients(build(student, 3, 5, 4), randn(4, 3), randn(6, 5, seed=1))


@hidden("AdditiveScores", says="an odd function of query and key")
def odd(student):
    module = build(student, 3, 3, 6)
    q, k = randn(4, 3), randn(5, 3, seed=1)
    return module(-q, -k), module(q, k)


@hidden("AdditiveScores", says="a hidden width of one")
def additive_narrow(student):
    return build(student, 2, 2, 1)(randn(3, 2), randn(4, 2, seed=1))


@hidden("AdditiveScores", says="no item of a batch changes another")
def additive_batch(student):
    module = build(student, 3, 5, 4)
    q, k = randn(2, 4, 3), randn(2, 6, 5, seed=1)
    return module(q, k)[1], module(q[1:], k[1:])[0]


# --- self_attention


def matrices(width, inner, out, dtype=torch.float32):
    shapes = ((width, inner), (width, inner), (width, out))
    return [randn(*shape, seed=31 + n, dtype=dtype) for n, shape in enumerate(shapes)]


@hidden("self_attention", says="one word only")
def one_word(student):
    return student.self_attention(randn(1, 6), *matrices(6, 3, 4))


@hidden("self_attention", says="large scores", weight=2)
def large_scores(student):
    return student.self_attention(100 * randn(4, 6), *matrices(6, 3, 4))


@hidden("self_attention", says="shuffled words give shuffled outputs")
def shuffled_words(student):
    x, order = randn(5, 6), torch.tensor([3, 0, 4, 1, 2])
    weights = matrices(6, 3, 4)
    return student.self_attention(x, *weights)[order], student.self_attention(x[order], *weights)


@hidden("self_attention", says="double precision and several axes in front", tolerance=1e-12)
def self_double(student):
    x = randn(2, 3, 4, 6, dtype=torch.float64)
    return student.self_attention(x, *matrices(6, 3, 4, torch.float64))


@hidden("self_attention", says="gradients")
def self_gradients(student):
    return gradients(student.self_attention, randn(4, 6), *matrices(6, 3, 4))
