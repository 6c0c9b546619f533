"""T5 alone: its kin, distances, dropout and files. `test_encoder_decoders.py` has the rest."""

import dataclasses

import pytest
import torch
from encoder_decoders import T5_, T5_SIZES, T5S, batch, run, run_theirs
from torch import nn
from transformers.models.mt5 import configuration_mt5, modeling_mt5
from transformers.models.t5 import modeling_t5

from coursekit.models import weights
from coursekit.models.t5 import T5, T5Config

theirs, ours = T5_.theirs, T5_.ours
pytestmark = pytest.mark.usefixtures("norm_in_one_precision")

# Parity


@pytest.mark.parametrize("name", T5S)
def test_encoder_and_decoder_alone_are_those_of_transformers(name):
    hf = theirs(name)
    model = ours(hf)
    b = batch(model.config)
    memory, mask = model.encode(b["source"])  # keep comes from the padding token
    encoder = hf.encoder(input_ids=b["source"], attention_mask=b["source_keep"].long())
    torch.testing.assert_close(memory, encoder.last_hidden_state, atol=1e-10, rtol=1e-10)
    assert torch.equal(mask[:, 0, 0], b["source_keep"])
    base = modeling_t5.T5Model(hf.config).double().eval()
    head = {k: v for k, v in hf.state_dict().items() if k == "lm_head.weight"}
    base.load_state_dict({k: v for k, v in hf.state_dict().items() if k not in head})
    given = base.state_dict() | ({} if model.config.tied else head)
    again = weights.build(T5, given, model.config).double().eval()
    hidden = again.hidden(b["source"], b["target"], b["source_keep"], b["target_keep"])
    real = b["target_keep"]
    expected = run_theirs(base, b).last_hidden_state
    torch.testing.assert_close(hidden[real], expected[real], atol=1e-10, rtol=1e-10)


# Files


def test_a_bias_of_the_files_of_2020_is_left_out():
    hf = theirs("uneven stacks, one head")
    model = ours(hf)
    old = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
    given = {**hf.state_dict(), old: torch.zeros(8, 1)}
    again = weights.build(T5, given, model.config).to(hf.dtype)
    assert all(torch.equal(again.state_dict()[k], v) for k, v in model.state_dict().items())


def test_nothing_is_a_buffer():
    assert not list(ours(theirs()).buffers())


@pytest.mark.parametrize(
    ("file", "gated", "activation", "tied"),
    [
        ({}, False, "relu", True),
        ({"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
         True, "gelu_tanh", False),
        ({"model_type": "mt5", "is_gated_act": True, "dense_act_fn": "gelu_new"},
         True, "gelu_tanh", False),
        ({"feed_forward_proj": "gelu"}, False, "gelu", True),
        ({"feed_forward_proj": "gated-silu"}, True, "silu", True),
    ],
)  # fmt: skip
def test_a_file_says_which_version_it_is(file, gated, activation, tied):
    config = weights.read_config(T5Config, file)
    assert (config.gated, config.activation, config.tied) == (gated, activation, tied)
    assert config.scale_output == tied


def test_mt5_is_read():
    """transformers calls it tied whatever it is; it is never scaled."""
    torch.manual_seed(0)
    hf = modeling_mt5.MT5ForConditionalGeneration(configuration_mt5.MT5Config(**T5_SIZES)).double()
    for parameter in hf.parameters():
        nn.init.normal_(parameter, std=0.3)
    hf.lm_head.weight = nn.Parameter(torch.randn_like(hf.lm_head.weight))
    model = ours(hf.eval())
    b = batch(model.config)
    found, real = run(model, b), b["target_keep"]
    torch.testing.assert_close(found[real], run_theirs(hf, b).logits[real], atol=1e-5, rtol=1e-5)


def test_other_kin_are_refused():
    with pytest.raises(ValueError, match="model_type must be t5 or mt5, found 'umt5'"):
        weights.read_config(T5Config, {"model_type": "umt5"})
    with pytest.raises(ValueError, match=r"one of relu, .*, found 'tanh'"):
        weights.read_config(T5Config, {"feed_forward_proj": "gated-tanh"})


# Laws


def small(**changes) -> tuple[T5, dict]:
    hf = theirs()
    model = ours(hf)
    if changes:
        config = dataclasses.replace(model.config, **changes)
        model = weights.build(T5, hf.state_dict(), config).double()
    return model, batch(model.config)


def test_all_blocks_of_a_stack_share_the_distances_and_only_they_see_order():
    model, b = small()
    with torch.no_grad():
        for bias in (model.encoder_bias, model.decoder_bias):
            bias.weight.zero_()
    row = b["source"][:1]
    turned = row.flip(1)
    memory, _ = model.encode(row)
    torch.testing.assert_close(model.encode(turned)[0].flip(1), memory)
    with torch.no_grad():
        model.encoder_bias.weight.normal_()
    assert (model.encode(turned)[0].flip(1) - model.encode(row)[0]).abs().max() > 1e-3


def test_dropout_is_everywhere_in_training_and_nowhere_else():
    model, b = small(dropout=0.5)
    rates = [m.p for m in model.modules() if isinstance(m, nn.Dropout)]
    rates += [block.self_attention.dropout for block in model.decoder.blocks]
    rates += [block.cross_attention.dropout for block in model.decoder.blocks]
    assert set(rates) == {0.5}
    assert not torch.equal(run(model.train(), b), run(model, b))
    assert torch.equal(run(model.eval(), b), run(model, b))
    # Also on what enters the stacks and on what leaves them: p = 1 drops all of either.
    entered = []
    for stack in (model.train().encoder, model.decoder):
        stack.register_forward_pre_hook(lambda _, given: entered.append(given[0]))
        stack.register_forward_hook(lambda _, given, out: torch.ones_like(out))
    model.dropout.p = 1.0
    assert model.encode(b["source"])[0].eq(0).all()
    assert model.hidden(b["source"], b["target"]).eq(0).all()
    assert len(entered) == 3 and all(x.eq(0).all() for x in entered)


def test_first_weights_keep_the_size_of_what_they_multiply():
    torch.manual_seed(0)
    model = T5(T5Config(vocabulary=300, width=64, depth=1, heads=4, head_width=32, hidden=256))
    q, k, v = model.decoder.blocks[0].cross_attention.qkv.weight.chunk(3)
    pairs = {
        1.0: model.embedding.weight,
        (64 * 32) ** -0.5: q,
        64**-0.5: k,
        64**-0.5 + 1e-9: v,
        128**-0.5: model.decoder.blocks[0].cross_attention.out.weight,
        64**-0.5 + 2e-9: model.encoder.blocks[0].feed_forward.expand.weight,
        256**-0.5: model.encoder.blocks[0].feed_forward.contract.weight,
    }
    gated = dataclasses.replace(model.config, gated=True, tied=False)
    newer = T5(gated)
    pairs[64**-0.5 + 3e-9] = newer.decoder.blocks[0].feed_forward.gate.weight
    pairs[64**-0.5 + 4e-9] = newer.output.weight
    for std, weight in pairs.items():
        assert weight.std().item() == pytest.approx(std, rel=0.04)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda m, x: m(x + 18, x), ValueError, "source has token id 19, expected ids from 0"),
        (lambda m, x: m(x, x - 2), ValueError, "target_in has token id -1"),
        (lambda m, x: m(x[:0], x[:0]), ValueError, "both at least 1, found"),
        (lambda m, x: m(x, x[:1]), ValueError, r"one batch size, found \(2, 3\) and \(1, 3\)"),
        (lambda m, x: m(x.float(), x), TypeError, "source must hold token ids"),
        (lambda m, x: m(x, x, x), TypeError, "source_keep must be boolean"),
        (lambda m, x: m(x, x, None, x[:, 1:] > 0), ValueError, "target_keep must have the shape"),
        (lambda m, x: m.decode(x + 18, m.start(x)), ValueError, "tokens has token id 19"),
        (lambda m, x: T5Config(end=32_128), ValueError, "end must be an id of the vocabulary"),
        (lambda m, x: T5Config(width=0), ValueError, "width must be above 0"),
    ],
)
def test_bad_input_gets_a_sentence(call, error, sentence):
    model, _ = small()
    with pytest.raises(error, match=sentence):
        call(model, torch.ones(2, 3, dtype=torch.long))
