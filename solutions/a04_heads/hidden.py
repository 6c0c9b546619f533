"""The hidden cases of assignment 4: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, module_gradients, randn

# --- split_heads


@hidden("split_heads", says="one head")
def split_one(student):
    return student.split_heads(randn(2, 3, 5), 1)


@hidden("split_heads", says="heads of width one")
def split_narrow(student):
    return student.split_heads(randn(2, 3, 4, seed=1), 4)


@hidden("split_heads", says="one place only")
def split_one_place(student):
    return student.split_heads(randn(3, 1, 6, seed=2), 2)


@hidden("split_heads", says="an input whose numbers lie apart in memory")
def split_strided(student):
    return student.split_heads(randn(2, 8, 5, seed=3).transpose(1, 2), 2)


@hidden("split_heads", says="gradients, and the input as it was")
def split_gradients(student):
    x = randn(2, 3, 6, seed=4)
    return gradients(student.split_heads, x, 3), after(student.split_heads, x, 3)


# --- merge_heads


@hidden("merge_heads", says="one head")
def merge_one(student):
    return student.merge_heads(randn(2, 1, 3, 5))


@hidden("merge_heads", says="as many places as heads, of the same width")
def merge_cube(student):
    return student.merge_heads(randn(3, 3, 3, 3, seed=1))


@hidden("merge_heads", says="it undoes the split")
def merge_undoes(student):
    x = randn(2, 5, 12, seed=2)
    merged = student.merge_heads(student.split_heads(x, 4))
    assert torch.equal(merged, x)
    assert student.merge_heads(randn(2, 4, 5, 3)).shape == (2, 5, 12)
    return student.merge_heads(randn(2, 4, 5, 3, seed=3))


@hidden("merge_heads", says="gradients, and the input as it was")
def merge_gradients(student):
    x = randn(2, 3, 4, 2, seed=4)
    return gradients(student.merge_heads, x), after(student.merge_heads, x)


# --- MultiHead

NAMES = ("query", "key", "value", "out")


def build(student, width, heads, scale=0.4):
    hidden_layer = student.MultiHead(width=width, heads=heads)
    state = {f"{n}.weight": scale * randn(width, width, seed=41 + i) for i, n in enumerate(NAMES)}
    state |= {f"{n}.bias": randn(width, seed=51 + i) for i, n in enumerate(NAMES)}
    hidden_layer.load_state_dict(state)
    return hidden_layer


def some_mask(*shape, seed=0):
    """Return a random mask in which each query may look at the first key at least."""
    mask = randn(*shape, seed=61 + seed) > 0.2
    mask[..., 0] = True
    return mask


@hidden("MultiHead", says="one word only")
def multi_one_word(student):
    return build(student, 6, 2)(randn(2, 1, 6))


@hidden("MultiHead", says="as many heads as columns")
def multi_narrow(student):
    return build(student, 6, 6)(randn(2, 4, 6, seed=1))


@hidden("MultiHead", says="other sentences and a mask for each", weight=2)
def multi_memory_mask(student):
    x, memory = randn(2, 4, 12, seed=2), randn(2, 7, 12, seed=3)
    return build(student, 12, 4)(x, memory=memory, mask=some_mask(2, 4, 7))


@hidden("MultiHead", says="as many sentences as heads", weight=2)
def multi_square(student):
    return build(student, 8, 2)(randn(2, 5, 8, seed=4), mask=some_mask(2, 5, 5, seed=1))


@hidden("MultiHead", says="no sentence of a batch changes another")
def multi_batch(student):
    layer, x, mask = build(student, 8, 2), randn(3, 4, 8, seed=5), some_mask(3, 4, 4, seed=2)
    return layer(x, mask=mask)[1], layer(x[1:2], mask=mask[1:2])[0]


@hidden("MultiHead", says="large scores")
def multi_large(student):
    return build(student, 8, 2, scale=6.0)(randn(1, 4, 8, seed=6))


@hidden("MultiHead", says="shuffled words give shuffled outputs")
def multi_shuffled(student):
    layer, x, order = build(student, 8, 4), randn(1, 5, 8, seed=7), torch.tensor([3, 0, 4, 1, 2])
    return layer(x)[:, order], layer(x[:, order])


@hidden("MultiHead", says="gradients at inputs and weights", weight=2)
def multi_gradients(student):
    x, memory = randn(2, 3, 8, seed=8), randn(2, 4, 8, seed=9)
    return module_gradients(build(student, 8, 2), x, memory, some_mask(2, 3, 4, seed=3))


# --- head_contributions


@hidden("head_contributions", says="one head")
def contributions_one(student):
    return student.head_contributions(randn(2, 1, 3, 4), randn(5, 4, seed=1))


@hidden("head_contributions", says="they add up to what the layer gives", weight=2)
def contributions_sum(student):
    x, weight = randn(2, 4, 3, 2, seed=2), randn(7, 8, seed=3)
    found = student.head_contributions(x, weight)
    assert found.shape == (2, 4, 3, 7)
    assert (found.sum(dim=1) - x.transpose(1, 2).flatten(-2) @ weight.T).abs().max() < 1e-5
    return found


@hidden("head_contributions", says="a head that is silent adds nothing")
def contributions_silent(student):
    x = randn(1, 3, 2, 4, seed=4)
    x[:, 1] = 0
    return student.head_contributions(x, randn(12, 12, seed=5))


@hidden("head_contributions", says="double precision", tolerance=1e-12)
def contributions_double(student):
    x, weight = randn(2, 3, 4, 2, dtype=torch.float64), randn(5, 6, seed=6, dtype=torch.float64)
    return student.head_contributions(x, weight)


@hidden("head_contributions", says="gradients")
def contributions_gradients(student):
    return gradients(student.head_contributions, randn(1, 2, 3, 3), randn(4, 6, seed=7))


# --- grouped_attention


def groups(heads, shared, out=3, dtype=torch.float32):
    shapes = ((2, heads, 4, 5), (2, shared, 6, 5), (2, shared, 6, out))
    return [randn(*shape, seed=71 + n, dtype=dtype) for n, shape in enumerate(shapes)]


@hidden("grouped_attention", says="eight heads share four", weight=2)
def grouped_eight(student):
    return student.grouped_attention(*groups(8, 4))


@hidden("grouped_attention", says="six heads share three")
def grouped_six(student):
    return student.grouped_attention(*groups(6, 3))


@hidden("grouped_attention", says="large scores")
def grouped_large(student):
    q, k, v = groups(4, 2)
    return student.grouped_attention(100 * q, k, v)


@hidden("grouped_attention", says="double precision", tolerance=1e-12)
def grouped_double(student):
    return student.grouped_attention(*groups(4, 2, dtype=torch.float64))


@hidden("grouped_attention", says="gradients: what is shared hears from all who share it", weight=2)
def grouped_gradients(student):
    return gradients(student.grouped_attention, *groups(6, 2))


# --- cached_attention


def tokens(*front, count, seed=0, dtype=torch.float32):
    return [randn(*front, count, 4, seed=81 + seed + n, dtype=dtype) for n in range(3)]


@hidden("cached_attention", says="the very first token")
def cached_first(student):
    return student.cached_attention(*tokens(2, 3, count=1))


@hidden("cached_attention", says="written in pieces as at once", weight=2)
def cached_pieces(student):
    everything = tokens(2, 2, count=7)
    past, written = None, []
    for start, end in ((0, 3), (3, 4), (4, 7)):
        out, past = student.cached_attention(*(x[:, :, start:end] for x in everything), past)
        written.append(out)
    at_once, kept = student.cached_attention(*everything)
    return torch.cat(written, dim=2), past, at_once, kept


@hidden("cached_attention", says="more new tokens than old ones")
def cached_more_new(student):
    _, k, v = tokens(1, 2, count=2, seed=5)
    return student.cached_attention(*tokens(1, 2, count=5), (k, v))


@hidden("cached_attention", says="double precision", tolerance=1e-12)
def cached_double(student):
    _, k, v = tokens(2, 1, count=3, seed=5, dtype=torch.float64)
    return student.cached_attention(*tokens(2, 1, count=2, dtype=torch.float64), (k, v))


@hidden("cached_attention", says="gradients")
def cached_gradients(student):
    return gradients(student.cached_attention, *tokens(1, 2, count=4))


@hidden("cached_attention", says="the inputs are left as they were")
def cached_keeps(student):
    _, k, v = tokens(1, 2, count=3, seed=5)
    found = student.cached_attention(*tokens(1, 2, count=2), (k, v))
    return found, k, v, after(student.cached_attention, *tokens(1, 2, count=2))
