"""What stands on BART, equal to transformers: classes, answers, the decoder on its own."""

import dataclasses
import os

import pytest
import torch
from torch import nn

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers.models.bart import configuration_bart, modeling_bart

from coursekit.decoding.generation import generate
from coursekit.models import weights
from coursekit.models.bart import Bart, BartConfig
from coursekit.models.bart_heads import BartCausalLM, BartClassifier, BartSpan
from coursekit.models.weights.rules import export_state

SIZES = {
    "vocab_size": 19, "d_model": 12, "encoder_layers": 2, "decoder_layers": 1,
    "encoder_attention_heads": 3, "decoder_attention_heads": 3, "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20, "max_position_embeddings": 16, "forced_eos_token_id": None,
    "num_labels": 4,
}  # fmt: skip
CLOSE = {"atol": 1e-10, "rtol": 1e-10}
# Ends with a 2, its last token; the second has one in its middle as well, the third is padded.
SOURCE = torch.tensor([[5, 6, 7, 8, 9, 2], [5, 2, 7, 8, 9, 2], [3, 4, 2, 1, 1, 1]])
KEEP = SOURCE != 1


def theirs(kind: str) -> nn.Module:
    config = configuration_bart.BartConfig(**SIZES)
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = getattr(modeling_bart, f"BartFor{kind}")(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.double().eval()


def ours(hf: nn.Module, kind: type) -> nn.Module:
    return weights.build(
        kind, hf.state_dict(), weights.read_config(BartConfig, hf.config.to_dict())
    ).eval()


def assert_gradients(model: nn.Module, hf: nn.Module, found: torch.Tensor, want: torch.Tensor):
    direction = torch.randn_like(want)
    (found * direction).sum().backward()
    (want * direction).sum().backward()
    gradients = {
        name: torch.zeros_like(p) if p.grad is None else p.grad
        for name, p in model.named_parameters()
    }
    if "bart.embedding.weight" in gradients:
        gradients["bart.embedding.bias"] = torch.zeros(19)
    exported = export_state(weights.rules_of(model), gradients)
    compared = 0
    for name, parameter in hf.named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(exported[name], parameter.grad, **CLOSE)
            compared += 1
    assert compared >= 20


def test_the_classifier_is_that_of_transformers():
    hf = theirs("SequenceClassification")
    model = ours(hf, BartClassifier)
    last = torch.tensor([[5, 6, 7, 8, 9, 2], [5, 4, 7, 8, 9, 2], [3, 4, 2, 1, 1, 1]])
    found = model(last)  # keep comes from the padding token
    want = hf(input_ids=last, attention_mask=(last != 1).long()).logits
    torch.testing.assert_close(found, want, **CLOSE)
    torch.testing.assert_close(model(last, last != 1), want, **CLOSE)
    assert_gradients(model, hf, found, want)


def test_of_several_ends_the_last_is_read():
    hf = theirs("SequenceClassification")
    model = ours(hf, BartClassifier)
    torch.testing.assert_close(model(SOURCE[1:2]), hf(input_ids=SOURCE[1:2]).logits, **CLOSE)
    torch.testing.assert_close(model(SOURCE)[1:2], model(SOURCE[1:2]))  # others have fewer
    with pytest.raises(ValueError, match="must have the end token 2, row 1 has none"):
        model(torch.tensor([[4, 2], [4, 4]]))


def test_the_span_is_that_of_transformers():
    hf = theirs("QuestionAnswering")
    model = ours(hf, BartSpan)
    found = model(SOURCE)
    out = hf(input_ids=SOURCE, attention_mask=KEEP.long())
    found = torch.stack([found.start, found.end])[:, KEEP]
    want = torch.stack([out.start_logits, out.end_logits])[:, KEEP]
    torch.testing.assert_close(found, want, **CLOSE)
    assert_gradients(model, hf, found, want)


def test_the_decoder_alone_is_that_of_transformers():
    hf = theirs("CausalLM")
    model = ours(hf, BartCausalLM)
    found, want = model(SOURCE), hf(input_ids=SOURCE).logits
    torch.testing.assert_close(found, want, **CLOSE)
    assert_gradients(model, hf, found, want)
    left = KEEP.flip(1)  # padding on the left takes up places, as they count
    want = hf(input_ids=SOURCE, attention_mask=left.long()).logits
    torch.testing.assert_close(model(SOURCE, left)[left], want[left], **CLOSE)


def test_greedy_texts_of_the_decoder_are_those_of_generate():
    hf = theirs("CausalLM")
    model, prompt = ours(hf, BartCausalLM), SOURCE[:, :3]
    given = {"max_new_tokens": 9, "do_sample": False, "eos_token_id": None, "pad_token_id": 1}
    want = hf.generate(prompt, attention_mask=torch.ones_like(prompt), **given)[:, 3:]
    assert generate(model, prompt, model.start(), longest=9).tolist() == want.tolist()


@pytest.mark.parametrize("chunks", [(1,) * 6, (3, 1, 2)])
@pytest.mark.parametrize("count", [True, False])
def test_cached_equals_uncached(chunks, count):
    model = ours(theirs("CausalLM"), BartCausalLM)
    model.config = dataclasses.replace(model.config, count_padding=count)
    left, t = KEEP.flip(1), 0
    expected, state = model(SOURCE, left), model.start(left)
    state.in_pieces = True
    for size in chunks:
        found = model.decode(SOURCE[:, t : t + size], state)
        t += size
        real = left[:, t - 1]
        torch.testing.assert_close(found[real], expected[:, t - 1][real])


def test_left_padding_that_is_not_counted_changes_nothing():
    model = ours(theirs("CausalLM"), BartCausalLM)
    model.config = dataclasses.replace(model.config, count_padding=False)
    padded = torch.tensor([[1, 1, 5, 6, 7]])
    found = model(padded, padded != 1)
    torch.testing.assert_close(found[:, 2:], model(padded[:, 2:]))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("SequenceClassification", BartClassifier), ("QuestionAnswering", BartSpan),
     ("CausalLM", BartCausalLM)],
)  # fmt: skip
def test_every_name_goes_there_and_back(name, kind):
    hf = theirs(name)
    model, expected = ours(hf, kind), hf.state_dict()
    back = weights.export(model)
    unused = {n for n in expected if kind is BartCausalLM and "encoder_attn" in n}
    assert back.keys() == expected.keys() - unused
    assert all(torch.equal(back[n], expected[n]) for n in back)
    config = weights.read_config(BartConfig, hf.config.to_dict())
    with pytest.raises(ValueError, match="which this model has no place for"):
        weights.build(kind, expected | {"model.more": torch.ones(1)}, config)
    for lacking in back:
        if "embed_tokens" not in lacking and lacking != "lm_head.weight":
            less = {n: tensor for n, tensor in expected.items() if n != lacking}
            with pytest.raises(ValueError, match=f"'{lacking}'"):
                weights.build(kind, less, config)


def test_a_head_on_another_model_gets_a_sentence():
    bart = Bart(BartConfig(vocabulary=9, width=4, depth=1, heads=1, hidden=4, positions=4))
    with pytest.raises(ValueError, match="a sequence of 5 tokens is longer than the 4 positions"):
        BartSpan(bart)(torch.full((1, 5), 3))
    assert BartClassifier(bart, classes=3, dropout=0.5).dropout.p == 0.5
