"""The Transformer on a page is the Transformer: the same answers, and it learns the same."""

import pytest
import torch

from coursekit.models.seq2seq import Seq2SeqConfig, Seq2SeqTransformer
from coursekit.plain.transformer import PlainTransformer

from .twins import part_by_part, random_tokens, shaken

SIZES = {"vocabulary": 11, "width": 16, "heads": 2, "hidden": 24}
NAMES = {  # what the full model calls a part of a name
    "encoder": "encoder.blocks",
    "decoder": "decoder.blocks",
    "self_norm": "self_residual.norm",
    "cross_norm": "cross_residual.norm",
    "feed_norm": "feed_residual.norm",
}


def random_plain(dtype: torch.dtype, depth: int = 2, pad: int = 0) -> PlainTransformer:
    """Return a model whose weights are none of them zero or one."""
    torch.manual_seed(0)
    return shaken(PlainTransformer(depth=depth, pad=pad, **SIZES).to(dtype).eval(), by=0.2)


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    ("B", "S", "T", "depth", "pad"),
    [(3, 7, 5, 2, 0), (3, 4, 6, 1, 3), (1, 9, 4, 3, 0), (2, 1, 3, 1, 0), (1, 5, 1, 2, 0)],
)
def test_equal_to_the_full_one_forward_and_backward(B, S, T, depth, pad, dtype, atol):
    plain = random_plain(dtype, depth, pad)
    full = Seq2SeqTransformer(Seq2SeqConfig(**SIZES, depth=depth, pad=pad)).to(dtype).eval()
    full.load_state_dict({part_by_part(name, NAMES): w for name, w in plain.state_dict().items()})
    source, target = random_tokens(B, S, pad), random_tokens(B, T, pad)
    logits, expected = plain(source, target), full(source, target)
    assert logits.shape == (B, T, 11)
    torch.testing.assert_close(logits, expected, atol=10 * atol, rtol=atol)
    logits.sin().sum().backward()
    expected.sin().sum().backward()
    ours = {part_by_part(name, NAMES): p.grad for name, p in plain.named_parameters()}
    theirs = {name: p.grad for name, p in full.named_parameters()}
    assert ours.keys() == theirs.keys()
    for name, grad in theirs.items():
        assert (ours[name] - grad).abs().max() <= 10 * atol * (1 + grad.abs().max()), name


def test_sizes_and_first_embeddings_are_those_of_the_paper():
    with torch.device("meta"):
        plain, full = PlainTransformer(), Seq2SeqTransformer(Seq2SeqConfig.base())
    assert {part_by_part(name, NAMES): w.shape for name, w in plain.state_dict().items()} == {
        name: w.shape for name, w in full.state_dict().items()
    }
    small = PlainTransformer(vocabulary=500, width=64, depth=1, heads=2, hidden=8)
    assert small.embedding.weight.std().item() == pytest.approx(1 / 8, rel=0.1)


def test_nothing_leaks_from_the_future_and_the_source_is_seen_whole():
    plain = random_plain(torch.float64)
    source, target = random_tokens(2, 6), torch.randint(1, 11, (2, 5))
    logits = plain(source, target)
    for place in range(5):
        others = target.clone()
        others[:, place] = target[:, place] % 10 + 1
        change = (plain(source, others) - logits).abs().amax(dim=2)  # (B, T)
        assert (change[:, :place] == 0).all() and (change[:, place:] > 1e-6).all()
    for place in range(5):  # row 1 has padding at 5
        others = source.clone()
        others[:, place] = source[:, place] % 10 + 1
        change = (plain(others, target) - logits).abs().amax(dim=2)  # (B, T)
        assert (change > 1e-6).all()


def test_padding_changes_nothing():
    plain = random_plain(torch.float64)
    source, target = torch.randint(1, 11, (2, 6)), torch.randint(1, 11, (2, 5))
    nothing = torch.zeros(2, 3, dtype=torch.long)
    padded = plain(torch.cat([source, nothing], dim=1), torch.cat([target, nothing], dim=1))
    torch.testing.assert_close(padded[:, :5], plain(source, target), atol=1e-12, rtol=0)
