"""BART alone: padding, positions, dropout and files. `test_encoder_decoders.py` has the rest."""

import pytest
import torch
from encoder_decoders import BART, BART_SIZES, BARTS, batch, run_theirs
from transformers.models.bart import modeling_bart

from coursekit.models import weights
from coursekit.models.bart import Bart, BartConfig

theirs, ours = BART.theirs, BART.ours

# Parity


@pytest.mark.parametrize("name", BARTS)
def test_the_model_without_its_head_is_that_of_transformers(name):
    hf = theirs(name)
    b = batch(weights.read_config(BartConfig, hf.config.to_dict()))
    base = modeling_bart.BartModel(hf.config).double().eval()
    base.load_state_dict(hf.model.state_dict())
    model = weights.build(
        Bart, base.state_dict(), weights.read_config(BartConfig, hf.config.to_dict())
    )
    model = model.double().eval()
    assert model.embedding.bias.eq(0).all()
    memory, mask = model.encode(b["source"])
    expected, real = run_theirs(base, b), b["target_keep"]
    torch.testing.assert_close(memory, expected.encoder_last_hidden_state, atol=1e-10, rtol=1e-10)
    assert torch.equal(mask[:, 0, 0], b["source_keep"])
    hidden = model.hidden(b["source"], b["target"])[real]
    torch.testing.assert_close(hidden, expected.last_hidden_state[real], atol=1e-10, rtol=1e-10)


def test_padding_that_is_read_as_a_word_does_not_learn():
    hf = theirs()
    model = ours(hf)
    b = batch(model.config)
    b["source"][0, 2] = model.config.pad
    found = model(b["source"], b["target"], b["source_keep"], b["target_keep"])
    expected = run_theirs(hf, b).logits
    torch.testing.assert_close(found[b["target_keep"]], expected[b["target_keep"]])
    for logits in (found, expected):
        logits[b["target_keep"]].square().sum().backward()
    torch.testing.assert_close(model.embedding.weight.grad, hf.model.shared.weight.grad)


# Files


def test_our_own_file_holds_everything():
    model = ours(theirs())
    again = Bart(model.config).double().eval()
    again.load_state_dict(model.state_dict())
    b = batch(model.config)
    assert torch.equal(again(b["source"], b["target"]), model(b["source"], b["target"]))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"activation_function": "relu"}, "must be 'gelu', found 'relu'"),
        ({"decoder_ffn_dim": 4}, r"ffn_dim must agree, found 20 \(encoder\), 4"),
        ({"decoder_attention_heads": 4}, "attention_heads must agree"),
    ],
)
def test_what_no_bart_has_is_not_read(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        weights.read_config(BartConfig, {**BART_SIZES, **changes})


# Laws; here places count real tokens, as in the authors' code.


def small(**changes) -> tuple[Bart, dict]:
    model = ours(theirs(), count_padding=False, **changes)
    return model, batch(model.config)


def test_padding_takes_up_places_only_when_counted():
    hf = theirs()
    b = batch(weights.read_config(BartConfig, hf.config.to_dict()))
    counting, reading = ours(hf), ours(hf, count_padding=False)
    same = (counting(b["source"], b["target"]) - reading(b["source"], b["target"])).abs()
    right, left = [0, 1], [2, 3]  # rows
    assert same[right].max() < 1e-12 and same[left].amax((1, 2)).min() > 1e-3


def test_dropout_stands_where_the_configuration_says():
    for name in ("dropout", "attention_dropout", "hidden_dropout"):
        rates = {"dropout": 0.0, "attention_dropout": 0.0, "hidden_dropout": 0.0, name: 0.5}
        model, b = small(**rates)
        assert torch.equal(model(b["source"], b["target"]), model(b["source"], b["target"]))
        model.train()
        assert not torch.equal(model(b["source"], b["target"]), model(b["source"], b["target"]))
        block = model.decoder.blocks[0]
        assert block.self_residual.dropout.p == model.dropout.p == rates["dropout"]
        assert block.cross_attention.dropout == rates["attention_dropout"]
        assert block.feed_forward.dropout.p == rates["hidden_dropout"]
    # On what enters the stacks, behind the norm: with all of it dropped nothing arrives.
    model, arrived = small()[0].train(), []
    model.dropout.p = 1.0
    for stack in (model.encoder, model.decoder):
        stack.register_forward_pre_hook(lambda _, given: arrived.append(given[0]))
    model(b["source"], b["target"])
    assert len(arrived) == 2 and all(x.eq(0).all() for x in arrived)


def test_first_weights_are_small_and_padding_starts_at_zero():
    torch.manual_seed(0)
    model = Bart(BartConfig(vocabulary=300, width=64, depth=1, heads=4, hidden=256, positions=99))
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.06), name
        elif name.endswith("bias"):
            assert parameter.eq(0).all()
    assert model.embedding.weight[model.config.pad].eq(0).all()
    assert model.embedding.weight.ne(0).any(dim=1).sum() == 299


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda m, x: m(x + 18, x), ValueError, "source has token id 20, expected ids from 0"),
        (lambda m, x: m(x, x - 3), ValueError, "target_in has token id -1"),
        (lambda m, x: m(x[:0], x[:0]), ValueError, "both at least 1, found"),
        (lambda m, x: m(x, x[:1]), ValueError, r"one batch size, found \(2, 3\) and \(1, 3\)"),
        (lambda m, x: m(x.float(), x), TypeError, "source must hold token ids"),
        (lambda m, x: m(x, x, x), TypeError, "source_keep must be boolean"),
        (lambda m, x: m(x, x, None, x[:, 1:] > 0), ValueError, "target_keep must have the shape"),
        (
            lambda m, x: m(x.repeat(1, 6), x),
            ValueError,
            "a sequence of 18 tokens is longer than the 16 positions that were learned",
        ),
        (lambda m, x: BartConfig(pad=50_265), ValueError, "pad must be an id of the vocabulary"),
        (lambda m, x: BartConfig(pad=2), ValueError, "start and pad must be different ids"),
        (lambda m, x: BartConfig(heads=0), ValueError, "heads must be above 0"),
    ],
)
def test_bad_input_gets_a_sentence(call, error, sentence):
    model, _ = small()
    with pytest.raises(error, match=sentence):
        call(model, torch.full((2, 3), 2))


def test_a_sequence_as_long_as_the_positions_is_read():
    model, _ = small()
    source = torch.full((1, 16), 5)
    assert model(source, source).shape == (1, 16, 19)
    padded = torch.cat([torch.full((1, 7), model.config.pad), source], dim=1)  # takes no places
    torch.testing.assert_close(model(padded, source), model(source, source))
