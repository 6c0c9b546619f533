"""Llama's block on a page is the block of a GPT with Llama's parts."""

import pytest
import torch
from torch import Tensor

from coursekit.blocks import Block
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.plain.llama import LlamaBlock

from .twins import shaken

SIZES = {"width": 24, "heads": 6, "kv_heads": 2, "hidden": 20}
RENAMED = {  # the page -> the full block; query, key and value are one matrix there
    "attention_norm.weight": "self_residual.norm.weight",
    "out.weight": "self_attention.out.weight",
    "feed_norm.weight": "feed_residual.norm.weight",
    "gate.weight": "feed_forward.gate.weight",
    "expand.weight": "feed_forward.expand.weight",
    "contract.weight": "feed_forward.contract.weight",
}
ROWS = [f"{part}.weight" for part in ("query", "key", "value")]


def as_full(ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return weights (or gradients) of the page under the full block's names."""
    theirs = {RENAMED[name]: ours[name] for name in ours if name not in ROWS}
    return theirs | {"self_attention.qkv.weight": torch.cat([ours[name] for name in ROWS])}


def random_plain(dtype: torch.dtype, **changes: int) -> LlamaBlock:
    """Return the page's block with no weight zero or one."""
    torch.manual_seed(0)
    return shaken(LlamaBlock(**{**SIZES, **changes}).to(dtype), by=0.3)


def twins(dtype: torch.dtype, **changes: int) -> tuple[LlamaBlock, Block]:
    """Return both blocks with one set of weights."""
    plain = random_plain(dtype, **changes)
    config = GPTConfig.llama(vocabulary=5, depth=1, **{**SIZES, **changes})
    full = GPT(config).stack.blocks[0].to(dtype)
    full.load_state_dict(as_full(plain.state_dict()))
    return plain, full


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    ("shape", "changes"),
    [
        ((2, 9), {}),
        ((1, 1), {}),
        ((3, 1), {"kv_heads": 1}),
        ((1, 5), {"kv_heads": 6}),
        ((4, 40), {"width": 2, "heads": 1, "kv_heads": 1, "hidden": 1}),
    ],
)
def test_equal_to_the_full_one_forward_and_backward(shape, changes, dtype, atol):
    plain, full = twins(dtype, **changes)
    x = torch.randn(*shape, plain.out.out_features, dtype=dtype, requires_grad=True)
    y, theirs = plain(x), full(x, causal=True)
    assert y.shape == x.shape
    torch.testing.assert_close(y, theirs, atol=atol, rtol=atol)
    (input_gradient,) = torch.autograd.grad(y.sin().sum(), x, retain_graph=True)
    (their_input_gradient,) = torch.autograd.grad(theirs.sin().sum(), x, retain_graph=True)
    y.sin().sum().backward()
    theirs.sin().sum().backward()
    gradients = as_full({name: p.grad for name, p in plain.named_parameters()})
    gradients["x"] = input_gradient
    their_gradients = {name: p.grad for name, p in full.named_parameters()}
    their_gradients["x"] = their_input_gradient
    assert gradients.keys() == their_gradients.keys()
    for name, gradient in gradients.items():
        scale = 1 + their_gradients[name].abs().max()
        assert (gradient - their_gradients[name]).abs().max() <= 10 * atol * scale, name


def test_the_smallest_llama_has_the_sizes_that_the_page_names():
    with torch.device("meta"):
        plain = LlamaBlock(width=4096, heads=32, kv_heads=32, hidden=11_008)
        full = GPT(GPTConfig.llama()).stack.blocks
    assert len(full) == 32
    assert {n: p.shape for n, p in as_full(plain.state_dict()).items()} == {
        n: p.shape for n, p in full[0].state_dict().items()
    }


def test_nothing_leaks_from_the_future_and_the_past_does_reach():
    plain = random_plain(torch.float64)
    x = torch.randn(2, 7, 24, dtype=torch.float64)
    y = plain(x)
    for t in range(7):
        other = x.clone()
        other[:, t] += torch.randn(24, dtype=torch.float64)
        changed = (plain(other) - y).abs().amax(dim=(0, 2))  # (T,)
        assert changed[:t].eq(0).all() and changed[t:].gt(1e-9).all()


def test_the_order_of_the_past_counts():
    plain = random_plain(torch.float64)
    x = torch.randn(1, 5, 24, dtype=torch.float64)
    swapped = x[:, [1, 0, 2, 3, 4]]
    assert (plain(x) - plain(swapped))[:, 2:].abs().amax(dim=-1).gt(1e-6).all()
