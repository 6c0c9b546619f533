"""T5 on a page is T5: the same weights give the same answers and learn the same."""

import pytest
import torch
from torch import Tensor

from coursekit.models.t5 import T5, T5Config
from coursekit.plain.t5 import PlainT5

from .twins import random_tokens, shaken

SIZES = {"vocabulary": 11, "width": 16, "heads": 2, "head_width": 6, "hidden": 24}
NAMES = {  # what the full model calls a part of a name
    "encoder": "encoder.blocks",
    "decoder": "decoder.blocks",
    "encoder_norm": "encoder.final",
    "decoder_norm": "decoder.final",
    "self_norm": "self_residual.norm",
    "cross_norm": "cross_residual.norm",
    "feed_norm": "feed_residual.norm",
    "query": "qkv",
    "key": "qkv",
    "value": "qkv",
}


def as_full(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors under the full model's names; it has query, key and value in one."""
    parts = {}
    for name, tensor in tensors.items():
        full_name = ".".join(NAMES.get(part, part) for part in name.split("."))
        parts.setdefault(full_name, []).append(tensor)
    return {name: torch.cat(tensors) for name, tensors in parts.items()}


def random_plain(dtype: torch.dtype, depth: int = 2, pad: int = 0) -> PlainT5:
    """Return a model whose weights are none of them zero or one."""
    torch.manual_seed(0)
    return shaken(PlainT5(depth=depth, pad=pad, **SIZES).to(dtype).eval(), by=0.2)


def written(B: int, T: int, pad: int = 0) -> Tensor:
    """Return what the decoder reads (B, T): padding first, which is how T5 starts."""
    return torch.cat([torch.full((B, 1), pad), random_tokens(B, T, pad)], dim=1)[:, :T]


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    ("B", "S", "T", "depth", "pad"),
    [(3, 7, 5, 2, 0), (3, 4, 6, 1, 3), (1, 150, 140, 2, 0), (2, 1, 3, 1, 0), (1, 5, 1, 3, 0)],
)
def test_equal_to_the_full_one_forward_and_backward(B, S, T, depth, pad, dtype, atol):
    plain = random_plain(dtype, depth, pad)
    full = T5(T5Config(**SIZES, depth=depth, pad=pad, start=pad)).to(dtype).eval()
    full.load_state_dict(as_full(plain.state_dict()))
    source, target = random_tokens(B, S, pad), written(B, T, pad)
    logits, expected = plain(source, target), full(source, target)
    assert logits.shape == (B, T, 11)
    torch.testing.assert_close(logits, expected, atol=10 * atol, rtol=atol)
    logits.sin().sum().backward()
    expected.sin().sum().backward()
    ours = as_full({name: p.grad for name, p in plain.named_parameters()})
    theirs = {name: p.grad for name, p in full.named_parameters()}
    assert ours.keys() == theirs.keys()
    for name, grad in theirs.items():
        assert (ours[name] - grad).abs().max() <= 10 * atol * (1 + grad.abs().max()), name


def test_sizes_are_those_of_t5_small():
    with torch.device("meta"):
        plain, full = PlainT5(), T5(T5Config.small())
    assert {name: w.shape for name, w in as_full(plain.state_dict()).items()} == {
        name: w.shape for name, w in full.state_dict().items()
    }


def test_queries_start_small_in_place_of_the_root():
    query = PlainT5(vocabulary=5, width=64, depth=1, heads=4, head_width=16, hidden=8).decoder[0]
    query = query.cross_attention.query.weight
    assert query.std().item() == pytest.approx((64 * 16) ** -0.5, rel=0.1)


def test_nothing_leaks_from_the_future():
    plain = random_plain(torch.float64)
    source, target = random_tokens(2, 6), written(2, 5)
    logits = plain(source, target)
    for place in range(5):
        others = target.clone()
        others[:, place] = target[:, place] % 10 + 1
        change = (plain(source, others) - logits).abs().amax(dim=2)  # (B, T)
        assert (change[:, :place] == 0).all() and (change[:, place:] > 1e-6).all()


def test_distances_count_and_places_do_not():
    plain = random_plain(torch.float64)
    source, target = torch.randint(1, 11, (2, 6)), written(2, 5)
    logits = plain(source, target)
    nothing = torch.zeros(2, 3, dtype=torch.long)
    for padded in (torch.cat([nothing, source], dim=1), torch.cat([source, nothing], dim=1)):
        torch.testing.assert_close(plain(padded, target), logits, atol=1e-12, rtol=0)
    turned = plain(source.flip(1), target)
    assert (turned - logits).abs().max() > 1e-3
