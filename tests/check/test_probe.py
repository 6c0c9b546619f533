"""Gradients, arguments after a call, and forbidden names in a source."""

from __future__ import annotations

import ours
import pytest
import torch

from coursekit.check.probe import after, gradients, module_gradients, randn
from coursekit.submission.forbidden import ATTENTION, SOFTMAX, used


def test_gradients_are_those_of_a_weighted_sum():
    x, y = torch.tensor([2.0, 3.0]), torch.tensor([1, 2])
    output, found = gradients(lambda x, y: x * x, x, y)
    assert torch.equal(output.detach(), x * x) and len(found) == 1
    weights = torch.arange(2, dtype=torch.float64).cos().float()
    torch.testing.assert_close(found[0], 2 * x * weights)
    assert x.grad is None and not x.requires_grad


def test_a_softmax_has_a_gradient_and_what_is_not_used_has_none():
    _, found = gradients(lambda x, unused: x.softmax(-1), randn(3), randn(2))
    assert found[0].abs().max() > 0.01 and found[1] is None
    _, found = gradients(lambda x: x.detach(), randn(3))
    assert found == [None]


def test_parameters_have_gradients_by_name():
    module = ours.find("AdditiveScores")[1].reference(query_width=2, key_width=3, hidden=4)
    _, at_inputs, named = module_gradients(module, randn(5, 2), randn(6, 3), randn(5, 6))
    assert [grad.shape for grad in at_inputs] == [(5, 2), (6, 3), (5, 6)]
    assert set(named) == {"query.weight", "key.weight", "covered.weight", "score.weight"}
    assert all(grad.abs().sum() > 0 for grad in named.values())


def test_arguments_after_the_call():
    x = randn(2)
    output, left = after(lambda x: x.mul_(2), x)
    assert torch.equal(left[0], 2 * x) and torch.equal(output, left[0])


def test_probes_ask_a_proxy_for_its_own_way():
    class Proxy:
        def _gradients(self, x):
            return "there", (x,)

        def _after(self, x):
            return "after", (x,)

        def _module_gradients(self, x):
            return "module", (x,), {"w": x}

    assert gradients(Proxy(), 1) == ("there", [1])
    assert after(Proxy(), 1) == ("after", [1])
    assert module_gradients(Proxy(), 1) == ("module", [1], {"w": 1})


def test_numbers_depend_on_the_seed_alone():
    torch.manual_seed(5)
    first = randn(3, seed=1)
    torch.manual_seed(6)
    assert torch.equal(first, randn(3, seed=1)) and not torch.equal(first, randn(3, seed=2))
    assert torch.equal(first, randn(3, seed=1, dtype=torch.float64).float())


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("F.softmax(x, -1)", ["torch.nn.functional.softmax"]),
        ("torch.softmax(x, -1)", ["torch.softmax"]),
        ("x.softmax(-1)", ["torch.Tensor.softmax"]),
        ("(x / 2).softmax(-1)", ["torch.Tensor.softmax"]),
        ("from torch import softmax as s\ns(x)", ["torch.softmax"]),
        ("import torch.nn.functional as G\nG.softmax(x)", ["torch.nn.functional.softmax"]),
        ("from torch.nn import functional\nfunctional.softmax(x)", ["torch.nn.functional.softmax"]),
        ("nn.Softmax(-1)(x)", ["torch.nn.Softmax"]),
        ("softmax = x.exp() / x.exp().sum()", []),
        ("def softmax(x): return x", []),
        ("this is not Python", []),
        ("'x.softmax(-1)'  # and F.softmax", []),
    ],
)
def test_forbidden_names_are_found_however_they_are_imported(source, found):
    assert used(source, SOFTMAX) == found


def test_imports_of_other_cells_and_whole_packages_count():
    assert used("sdpa(q, k, v)", ATTENTION) == []
    imports = "from torch.nn.functional import scaled_dot_product_attention as sdpa"
    assert used("sdpa(q, k, v)", ATTENTION, imports) == [ATTENTION[0]]
    assert used("from coursekit.attention import attention", ATTENTION) == ["coursekit"]
    check_only = "from coursekit.check import check"
    assert used("check(f)", ATTENTION, check_only) == used(check_only, ATTENTION) == []
    assert used("from coursekit.check import compiled", ATTENTION) == ["coursekit"]
