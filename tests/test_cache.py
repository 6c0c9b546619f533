"""A cache holds what was put in, in order; that attention behind it is the same: test_heads."""

import pytest
import torch

from coursekit.cache import KeyValueCache, StackCache


def test_an_empty_cache_has_nothing_and_may_be_reordered():
    cache = KeyValueCache()
    cache.reorder(torch.tensor([0]))
    assert cache.length == 0 and cache.keys is None and cache.values is None


def test_cache_refuses_another_batch():
    cache = KeyValueCache()
    cache.append(torch.zeros(2, 4, 1, 4), torch.zeros(2, 4, 1, 4))
    with pytest.raises(ValueError, match=r"\(2, 4\), found new keys for \(3, 4\)"):
        cache.append(torch.zeros(3, 4, 1, 4), torch.zeros(3, 4, 1, 4))


@pytest.mark.parametrize("capacity", [0, 3, 50])
@pytest.mark.parametrize("gradients", [False, True])
def test_cache_holds_what_was_appended_whatever_its_room(capacity, gradients):
    torch.manual_seed(0)
    cache, pieces = KeyValueCache(capacity), []
    for T in (4, 1, 1, 3, 1):
        pieces.append(torch.randn(2, 3, T, 8, requires_grad=gradients))
        keys, values = cache.append(pieces[-1], 2 * pieces[-1])
        assert torch.equal(keys, torch.cat(pieces, dim=-2)) and torch.equal(values, 2 * keys)
    assert cache.length == 10 and cache.keys.shape == (2, 3, 10, 8)
    if gradients:
        keys.sum().backward()
        assert all(torch.equal(piece.grad, torch.ones_like(piece)) for piece in pieces)
    cache.reorder(torch.tensor([1, 1, 0]))
    assert torch.equal(cache.keys, keys[[1, 1, 0]])
    assert torch.equal(cache.values, 2 * keys[[1, 1, 0]])
    keys, _ = cache.append(torch.ones(3, 3, 1, 8), torch.ones(3, 3, 1, 8))
    assert keys.shape == (3, 3, 11, 8) and bool((keys[:, :, -1] == 1).all())


def test_a_stack_keeps_a_cache_for_each_block_and_moves_them_together():
    torch.manual_seed(0)
    stack, x = StackCache(2, capacity=3), torch.randn(2, 1, 4, 3)
    for number, cache in enumerate((*stack.own, *stack.memory)):
        cache.append(x + number, x - number)
    assert stack.length == 4 and len(stack.own) == len(stack.memory) == 2
    stack.reorder(torch.tensor([1, 1]))
    for number, cache in enumerate((*stack.own, *stack.memory)):
        assert torch.equal(cache.keys, x[[1, 1]] + number)
        assert torch.equal(cache.values, x[[1, 1]] - number)
