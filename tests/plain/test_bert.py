"""BERT on a page is BERT: the same weights give the same answers and learn the same."""

import pytest
import torch
from torch import Tensor

from coursekit.models.bert import BertConfig, BertForPreTraining
from coursekit.plain.bert import PlainBert

from .twins import part_by_part, shaken

SIZES = {"vocabulary": 11, "width": 16, "heads": 2, "hidden": 24, "positions": 9}
NAMES = {  # what the full model calls a part of a name
    "tokens": "bert.embeddings.tokens",
    "positions": "bert.embeddings.positions",
    "segments": "bert.embeddings.segments",
    "norm": "bert.embeddings.norm",
    "blocks": "bert.encoder.blocks",
    "qkv": "self_attention.qkv",
    "out": "self_attention.out",
    "attention_norm": "self_residual.norm",
    "expand": "feed_forward.expand",
    "contract": "feed_forward.contract",
    "feed_norm": "feed_residual.norm",
    "head": "masked_lm.transform",
    "head_norm": "masked_lm.norm",
    "head_bias": "masked_lm.bias",
}


def random_plain(dtype: torch.dtype, depth: int = 2) -> PlainBert:
    """Return a model whose weights are none of them zero or one."""
    torch.manual_seed(0)
    return shaken(PlainBert(depth=depth, **SIZES).to(dtype).eval(), by=0.2)


def random_input(B: int, T: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return tokens, segments and keep (B, T); row b has T − b real tokens, at least one."""
    tokens = torch.randint(1, SIZES["vocabulary"], (B, T))
    segments = torch.randint(2, (B, T))
    keep = torch.arange(T) < (T - torch.arange(B)[:, None]).clamp_min(1)
    return tokens * keep, segments, keep


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(("B", "T", "depth"), [(3, 7, 2), (1, 9, 3), (2, 1, 1), (1, 1, 2)])
def test_equal_to_the_full_one_forward_and_backward(B, T, depth, dtype, atol):
    plain = random_plain(dtype, depth)
    full = BertForPreTraining(BertConfig(**SIZES, depth=depth), next_sentence=False)
    full = full.to(dtype).eval()
    full.load_state_dict({part_by_part(name, NAMES): w for name, w in plain.state_dict().items()})
    batch = random_input(B, T)
    logits, expected = plain(*batch), full(*batch).masked_lm
    assert logits.shape == (B, T, 11)
    torch.testing.assert_close(logits, expected, atol=atol, rtol=atol)
    logits.sin().sum().backward()
    expected.sin().sum().backward()
    ours = {part_by_part(name, NAMES): p.grad for name, p in plain.named_parameters()}
    theirs = {name: p.grad for name, p in full.named_parameters()}
    assert ours.keys() == theirs.keys()
    for name, grad in theirs.items():
        assert (ours[name] - grad).abs().max() <= 10 * atol * (1 + grad.abs().max()), name


def test_sizes_and_first_weights_are_those_of_the_paper():
    with torch.device("meta"):
        plain, full = PlainBert(), BertForPreTraining(BertConfig.base(), next_sentence=False)
    assert {part_by_part(name, NAMES): w.shape for name, w in plain.state_dict().items()} == {
        name: w.shape for name, w in full.state_dict().items()
    }
    small = PlainBert(vocabulary=500, width=64, depth=1, heads=2, hidden=128, positions=50)
    for name, weight in small.named_parameters():
        if weight.numel() > 1000:
            assert weight.std().item() == pytest.approx(0.02, rel=0.1), name
        if name.endswith("bias"):
            assert not weight.any(), name


def test_nobody_sees_padding_and_everybody_sees_both_sides():
    plain = random_plain(torch.float64)
    tokens, segments, keep = random_input(3, 7)
    logits = plain(tokens, segments, keep)
    others = torch.where(keep, tokens, (tokens + 5) % 11)
    changed = plain(others, segments, keep)
    torch.testing.assert_close(changed[keep], logits[keep], atol=0, rtol=0)
    for place in (0, 6):  # the first word and the last: row 0 is real everywhere
        others = tokens.clone()
        others[0, place] = tokens[0, place] % 10 + 1
        change = (plain(others, segments, keep) - logits)[0].abs().amax(dim=1)  # (T,)
        assert (change > 1e-6).all()
