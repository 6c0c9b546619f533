"""Words as vectors and vectors as words: both directions read one matrix."""

import pytest
import torch
from torch import nn

from coursekit.embedding import WordEmbedding

TOKENS = torch.tensor([[3, 1, 4], [1, 0, 3]])


@pytest.fixture
def words() -> WordEmbedding:
    torch.manual_seed(0)
    return WordEmbedding(5, 4, bias=nn.Parameter(torch.randn(5))).double()


def test_a_token_becomes_its_row(words):
    x = words(TOKENS)
    assert x.shape == (2, 3, 4)
    assert all(torch.equal(x[b, t], words.weight[TOKENS[b, t]]) for b in range(2) for t in range(3))


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (1, 1, 4)])
def test_a_score_is_a_dot_product_with_each_word_plus_its_bias(words, shape):
    x = torch.randn(shape, dtype=torch.float64)
    scores = words.scores(x)
    assert scores.shape == (*shape[:-1], 5)
    for word in range(5):
        expected = (x * words.weight[word]).sum(dim=-1) + words.bias[word]
        torch.testing.assert_close(scores[..., word], expected)


def test_a_given_bias_replaces_its_own_and_none_adds_nothing(words):
    x, bias = torch.randn(3, 4, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
    torch.testing.assert_close(words.scores(x, bias), x @ words.weight.T + bias)
    bare = WordEmbedding(5, 4).double()
    torch.testing.assert_close(bare.scores(x), x @ bare.weight.T)


def test_both_directions_train_one_matrix(words):
    matrix = words.weight.detach()
    both = words.scores(words(TOKENS))
    read_only = words(TOKENS) @ matrix.T + words.bias
    scored_only = words.scores(matrix[TOKENS])
    gradients = [
        torch.autograd.grad(scores.sin().sum(), words.weight)[0]
        for scores in (both, read_only, scored_only)
    ]
    torch.testing.assert_close(gradients[0], gradients[1] + gradients[2])
    assert all(gradient.ne(0).any() for gradient in gradients)


def test_padding_starts_as_zero_and_is_not_learned_by_reading():
    words = WordEmbedding(5, 4, padding_idx=0)
    assert words.weight[0].eq(0).all()
    words(TOKENS).sin().sum().backward()
    assert words.weight.grad[0].eq(0).all() and words.weight.grad[3].ne(0).all()


def test_scores_are_a_call_of_the_module(words):
    """Offloading and sharding bring the weights by a hook on the call."""
    calls = []
    words.register_forward_pre_hook(lambda module, args: calls.append(module))
    words.scores(torch.randn(4, dtype=torch.float64))
    assert calls == [words]
