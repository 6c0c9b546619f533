import pytest
import torch
from torch import Tensor

from coursekit.analysis.heads import (
    captured_energy,
    effective_rank,
    greedy_order,
    head_importance,
    heads_off,
    prune,
    score_matrices,
    weight_on,
)
from coursekit.heads import MultiHeadAttention


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def test_importance_is_the_mean_of_the_absolute_slopes() -> None:
    slopes = torch.tensor([[1.0, -2.0, 0.0], [-3.0, 2.0, 0.0]])  # cancels where one forgets |·|
    found = head_importance(lambda mask: (mask * slopes).sum(-1), batch=2, heads=3)
    assert found.tolist() == [2.0, 2.0, 0.0]


def test_importance_agrees_with_a_difference_quotient_of_a_real_layer() -> None:
    layer = MultiHeadAttention(width=12, heads=3).double()
    x, target = torch.randn(2, 5, 4, 12, dtype=torch.float64)

    def losses(mask: Tensor) -> Tensor:
        return (layer(x, head_mask=mask) - target).square().mean(dim=(1, 2))

    found = head_importance(losses, batch=5, heads=3)
    for head in range(3):
        step = torch.zeros(5, 3)
        step[:, head] = 1e-4
        up, down = losses(1 + step), losses(1 - step)
        assert found[head].item() == pytest.approx(((up - down) / 2e-4).abs().mean().item(), 1e-2)


def test_importance_wants_one_loss_for_each_example() -> None:
    with pytest.raises(ValueError, match=r"shape \(4,\), found \(\)"):
        head_importance(lambda mask: mask.sum(), batch=4, heads=2)


def test_prune_removes_in_the_order_given_and_keeps_what_it_removed() -> None:
    worth = torch.tensor([1.0, 10.0, 100.0])
    found = prune(lambda mask: 111 - (mask * worth).sum(), [1, 0, 2])
    assert found.tolist() == [0.0, 10.0, 11.0, 111.0]


def test_a_pruned_head_cannot_be_heard() -> None:
    layer = MultiHeadAttention(width=8, heads=2)
    x = torch.randn(3, 4, 8)
    found = prune(lambda mask: layer(x, head_mask=mask).square(), [0, 1])
    assert found[-1] == layer.out.bias.square().mean()
    with torch.no_grad():
        layer.out.weight[:, :4] = 0  # what head 0 says is thrown away
    found = prune(lambda mask: layer(x, head_mask=mask).square(), [0, 1])
    assert torch.allclose(found[0], found[1]) and not torch.allclose(found[1], found[2])


@pytest.mark.parametrize("order", [[0, 0, 1], [1, 2, 3]])
def test_prune_wants_every_head_once(order: list[int]) -> None:
    with pytest.raises(ValueError, match="each of 3 heads once"):
        prune(lambda mask: mask.sum(), order)


def test_greedy_order_sees_two_heads_that_stand_in_for_each_other() -> None:
    def losses(mask: Tensor) -> Tensor:  # heads 0 and 1 hold the same, head 2 a little of its own
        return 11 - 10 * torch.maximum(mask[0], mask[1]) - mask[2]

    assert greedy_order(losses, heads=3) == [0, 2, 1]
    assert prune(losses, greedy_order(losses, heads=3)).tolist() == [0.0, 0.0, 1.0, 11.0]
    assert greedy_order(lambda mask: mask @ torch.tensor([1.0, 3.0, 2.0]), heads=3) == [1, 2, 0]


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_score_matrices_give_the_scores(kv_heads: int) -> None:
    layer = MultiHeadAttention(width=8, heads=4, kv_heads=kv_heads, bias=False, scale=1.0)
    x = torch.randn(1, 5, 8)
    scores = x[:, None] @ score_matrices(layer) @ x[:, None].mT  # (1, H, T, T)
    weights = layer.weights(x)
    assert torch.allclose(scores.softmax(-1), weights, atol=1e-5)
    assert torch.linalg.matrix_rank(score_matrices(layer)).tolist() == [2] * 4


def test_the_sum_over_heads_is_the_product_of_the_concatenation() -> None:
    layer = MultiHeadAttention(width=8, heads=4)
    wq, wk, _ = layer.qkv.weight.split(8)
    assert torch.allclose(score_matrices(layer).sum(0), wq.T @ wk, atol=1e-6)


def test_energy_of_known_singular_values() -> None:
    matrix = torch.diag(torch.tensor([1.0, 3.0, 0.0, 2.0]))
    expected = torch.tensor([9.0, 13.0, 14.0, 14.0]) / 14
    assert torch.allclose(captured_energy(matrix), expected)
    assert torch.allclose(captured_energy(matrix[:, :2]), torch.tensor([0.9, 1.0]))
    assert captured_energy(torch.zeros(2, 2)).isnan().all()


def test_effective_rank_counts_directions() -> None:
    left, right = torch.randn(2, 20, 3)
    pair = torch.stack([torch.eye(20), left @ right.T])  # twenty equal directions, and three
    assert effective_rank(pair, 1.0).tolist() == [20, 3]
    assert effective_rank(pair.double(), 1.0).tolist() == [20, 3]  # rounding holds no direction
    assert effective_rank(torch.eye(20), 0.9) == 18
    assert effective_rank(torch.diag(torch.tensor([3.0, 1.0])), 0.9) == 1
    assert effective_rank(torch.diag(torch.tensor([3.0, 1.0])), 0.91) == 2
    with pytest.raises(ValueError, match="share"):
        effective_rank(pair, 0.0)


def test_heads_of_several_layers_are_turned_down_as_by_a_head_mask_and_come_back() -> None:
    layers = [MultiHeadAttention(width=12, heads=3).requires_grad_(False) for _ in range(2)]
    x, mask = torch.randn(2, 4, 12), torch.tensor([1.0, 0.0, 0.5, 0.0, 1.0, 2.0])
    before = [layer.out.weight.clone() for layer in layers]
    with heads_off(layers, mask):
        for layer, row in zip(layers, mask.split(3), strict=True):
            inside = layer(x)
            layer.out.weight, kept = (
                torch.nn.Parameter(before[layers.index(layer)]),
                layer.out.weight,
            )
            torch.testing.assert_close(inside, layer(x, head_mask=row))
            layer.out.weight = kept
    assert all(torch.equal(a, layer.out.weight) for a, layer in zip(before, layers, strict=True))


def test_heads_come_back_after_an_error_and_a_mask_that_does_not_fit_is_refused() -> None:
    layer = MultiHeadAttention(width=8, heads=2).requires_grad_(False)
    before = layer.out.weight.clone()
    with pytest.raises(KeyError), heads_off([layer], torch.zeros(2)):
        raise KeyError
    assert torch.equal(layer.out.weight, before)
    refused = pytest.raises(ValueError, match=r"shape \(2,\), found \(3,\)")
    with refused, heads_off([layer], torch.ones(3)):
        pass


def test_weight_on_is_a_mean_over_the_queries_that_have_such_a_key() -> None:
    weights = torch.tensor([[[[0.1, 0.9], [0.3, 0.7]], [[0.5, 0.5], [1.0, 0.0]]]])  # (1, 2, 2, 2)
    before = torch.tensor([[[False, False], [True, False]]])  # only the second has one before it
    assert weight_on(weights, before).tolist() == pytest.approx([0.3, 1.0])
    every = torch.ones(1, 2, 2, dtype=torch.bool)
    assert weight_on(weights, every).tolist() == pytest.approx([1.0, 1.0])
    with pytest.raises(ValueError, match="no query has a chosen key"):
        weight_on(weights, ~every)
    with pytest.raises(ValueError, match=r"shape \(1, 2, 2\), found torch.float32"):
        weight_on(weights, every.float())
