"""GPT on a page is GPT-2: the same weights give the same answers and learn the same."""

import pytest
import torch

from coursekit.models.gpt import GPT, GPTConfig
from coursekit.plain.gpt import PlainGPT

from .twins import shaken, substituted

SIZES = {"vocabulary": 11, "width": 12, "heads": 3, "positions": 9}
RENAMED = {  # the page -> the full model; what is not here has one name in both
    r"blocks\.": "stack.blocks.",
    r"final_norm\.": "stack.final.",
    r"\.attention_norm\.": ".self_residual.norm.",
    r"\.qkv\.": ".self_attention.qkv.",
    r"\.out\.": ".self_attention.out.",
    r"\.feed_norm\.": ".feed_residual.norm.",
    r"\.expand\.": ".feed_forward.expand.",
    r"\.contract\.": ".feed_forward.contract.",
}


def random_plain(dtype: torch.dtype, depth: int = 2, **changes: int) -> PlainGPT:
    """Return the page's model with no weight zero or one."""
    torch.manual_seed(0)
    return shaken(PlainGPT(**{**SIZES, **changes}, depth=depth).to(dtype), by=0.3)


def twins(dtype: torch.dtype, depth: int = 2, **changes: int) -> tuple[PlainGPT, GPT]:
    """Return both models with one set of weights."""
    plain = random_plain(dtype, depth, **changes)
    full = GPT(GPTConfig(**{**SIZES, **changes}, depth=depth)).to(dtype).eval()
    full.load_state_dict(
        {substituted(n, RENAMED): weight for n, weight in plain.state_dict().items()}
    )
    return plain, full


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    ("shape", "depth", "changes"),
    [
        ((2, 9), 2, {}),
        ((1, 1), 3, {}),
        ((3, 1), 1, {}),
        ((1, 5), 1, {"heads": 1, "width": 6}),
        ((4, 7), 2, {"heads": 4, "width": 4, "vocabulary": 2, "positions": 30}),
    ],
)
def test_equal_to_the_full_one_forward_and_backward(shape, depth, changes, dtype, atol):
    plain, full = twins(dtype, depth, **changes)
    size = {**SIZES, **changes}["vocabulary"]
    tokens = torch.randint(size, shape)
    logits, theirs = plain(tokens), full(tokens)
    assert logits.shape == (*shape, size)
    torch.testing.assert_close(logits, theirs, atol=atol, rtol=atol)
    logits.sin().sum().backward()
    theirs.sin().sum().backward()
    gradients = {name: parameter.grad for name, parameter in full.named_parameters()}
    for name, parameter in plain.named_parameters():
        gradient = gradients.pop(substituted(name, RENAMED))
        scale = 1 + gradient.abs().max()
        assert (parameter.grad - gradient).abs().max() <= 10 * atol * scale, name
    assert not gradients


def test_sizes_are_those_of_the_smallest_gpt_2():
    with torch.device("meta"):
        plain, full = PlainGPT(), GPT(GPTConfig.gpt2())
    assert {substituted(n, RENAMED): p.shape for n, p in plain.state_dict().items()} == {
        n: p.shape for n, p in full.state_dict().items()
    }
    assert sum(p.numel() for p in plain.parameters()) == 124_439_808


def test_it_starts_as_the_full_one_does():
    sizes = {"vocabulary": 500, "width": 64, "depth": 3, "heads": 2, "positions": 100}
    torch.manual_seed(0)
    plain = PlainGPT(**sizes)
    full = GPT(GPTConfig(**sizes)).state_dict()
    for name, weight in plain.state_dict().items():
        if weight.ndim == 1:
            assert weight.equal(full[substituted(name, RENAMED)]), name
        else:
            torch.testing.assert_close(
                weight.std(), full[substituted(name, RENAMED)].std(), rtol=0.05, atol=0, msg=name
            )


def test_nothing_leaks_from_the_future_and_the_past_does_reach():
    plain = random_plain(torch.float64)
    tokens = torch.randint(11, (2, 9))
    logits = plain(tokens)
    for t in range(9):
        other = tokens.clone()
        other[:, t] = (other[:, t] + 1) % 11
        changed = (plain(other) - logits).abs().amax(dim=(0, 2))  # (T,)
        assert changed[:t].eq(0).all() and changed[t:].gt(1e-9).all()


def test_it_learns_a_rule_that_needs_the_place_before():
    torch.manual_seed(0)
    plain = PlainGPT(vocabulary=5, width=16, depth=1, heads=2, positions=8)
    optimiser = torch.optim.Adam(plain.parameters(), lr=1e-2)
    for _ in range(300):
        tokens = torch.randint(5, (32, 8))
        for t in range(2, 8):  # each token is the sum of the two before it
            tokens[:, t] = (tokens[:, t - 1] + tokens[:, t - 2]) % 5
        logits = plain(tokens[:, :-1])[:, 1:]  # (B, 6, V)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 2:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 0.2  # chance is ln 5 = 1.61
