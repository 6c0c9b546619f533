"""A GPT with the parts of Llama: equal to transformers down to the texts, and the laws."""

import dataclasses
import os

import pytest
import torch
from torch import nn

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers.models.llama import LlamaConfig, LlamaForCausalLM, LlamaModel
from transformers.models.mistral import MistralConfig, MistralForCausalLM

from coursekit.decoding.fast_step import QuickStack
from coursekit.decoding.generation import beam_search, generate
from coursekit.models import weights
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.gpt_heads import add_tokens
from coursekit.models.weights.rules import export_state
from coursekit.norms import RMSNorm

SIZES = {
    "vocab_size": 17, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 20, "max_position_embeddings": 9, "bos_token_id": None,
    "eos_token_id": None,
}  # fmt: skip
LLAMA, MISTRAL = (LlamaConfig, LlamaForCausalLM), (MistralConfig, MistralForCausalLM)
KINDS = {
    "Llama": (*LLAMA, {}),
    "grouped heads, another base": (
        *LLAMA,
        {"num_key_value_heads": 2, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0}},
    ),
    "one head of keys, odd sizes": (
        *LLAMA,
        {"num_key_value_heads": 1, "head_dim": 10, "num_hidden_layers": 3, "rms_norm_eps": 1e-2},
    ),
    "tied": (*LLAMA, {"tie_word_embeddings": True}),
    "biases, another activation": (
        *LLAMA,
        {"attention_bias": True, "mlp_bias": True, "hidden_act": "gelu_pytorch_tanh"},
    ),
    "biases in the attention alone": (*LLAMA, {"attention_bias": True, "num_key_value_heads": 2}),
    "a window": (*MISTRAL, {"num_key_value_heads": 2, "sliding_window": 3}),
}
TOKENS = torch.tensor([[3, 4, 5, 6, 7, 8, 9], [10, 11, 12, 3, 3, 16, 2], [1, 0, 0, 5, 9, 9, 4]])
LEFT = torch.tensor([[1] * 7, [0, 0, 0, 1, 1, 1, 1], [0] + [1] * 6]).bool()
# They turn and normalise in single precision, whatever the model's.
CLOSE = {"atol": 2e-5, "rtol": 2e-5}


def pair(kind: str) -> tuple[nn.Module, GPT]:
    """Return a model of transformers with random weights, norms too, and ours with the same."""
    config, model, changes = KINDS[kind]
    described = config(**{**SIZES, **changes})
    torch.manual_seed(0)
    theirs = model(described).double()
    for name, parameter in theirs.named_parameters():
        nn.init.normal_(parameter, mean=1.0 if "norm" in name else 0.0, std=0.3)
    ours = weights.build(
        GPT, theirs.state_dict(), weights.read_config(GPTConfig, described.to_dict())
    )
    return theirs.eval(), ours.eval()


def small(**changes) -> GPT:
    torch.manual_seed(0)
    sizes = {"vocabulary": 17, "width": 24, "depth": 2, "heads": 4, "kv_heads": 2, "positions": 9}
    net = GPT(GPTConfig.llama(**sizes | changes)).double().eval()
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.3)
    return net


# Parity


@pytest.mark.parametrize("kind", KINDS)
def test_logits_and_gradients_are_those_of_transformers(kind):
    theirs, ours = pair(kind)
    found, expected = ours(TOKENS), theirs(TOKENS).logits
    torch.testing.assert_close(found, expected, **CLOSE)
    direction = torch.randn_like(expected)
    (found * direction).mean().backward()
    (expected * direction).mean().backward()
    exported = export_state(
        weights.rules_of(ours),
        {name: parameter.grad for name, parameter in ours.named_parameters()},
    )
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(exported[name], parameter.grad, **CLOSE)
    assert {name for name, _ in theirs.named_parameters()} <= exported.keys()


@pytest.mark.parametrize("kind", ["Llama", "a window"])
def test_padding_is_not_seen(kind):
    theirs, ours = pair(kind)
    expected = theirs(TOKENS, attention_mask=LEFT.long()).logits
    torch.testing.assert_close(ours(TOKENS, LEFT)[LEFT], expected[LEFT], **CLOSE)
    for row in range(3):
        alone = ours(TOKENS[row][LEFT[row]][None])[0]
        torch.testing.assert_close(ours(TOKENS, LEFT)[row][LEFT[row]], alone)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_texts_are_those_of_generate(kind):
    """Longer than the 9 positions: rotary ones have no end."""
    theirs, ours = pair(kind)
    expected = theirs.generate(
        TOKENS, attention_mask=LEFT.long(), max_new_tokens=8, do_sample=False, pad_token_id=0
    )[:, 7:]
    found = generate(ours, TOKENS, ours.start(LEFT), longest=8)
    assert found.tolist() == expected.tolist()
    assert len(set(found.flatten().tolist())) > 4  # not one token for ever


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_goes_there_and_back(kind):
    theirs, ours = pair(kind)
    expected, back = theirs.state_dict(), weights.export(ours)
    assert back.keys() == expected.keys()
    assert all(torch.equal(back[name], expected[name]) for name in back)
    old = expected | {"model.layers.1.self_attn.rotary_emb.inv_freq": torch.ones(3)}
    weights.build(GPT, old, ours.config)  # as files of 2023 have it
    with pytest.raises(ValueError, match=r"'model\.bias', which this model has no place for"):
        weights.build(GPT, expected | {"model.bias": torch.ones(1)}, ours.config)
    for name in expected.keys() - ({"lm_head.weight"} if ours.config.tied else set()):
        less = {key: value for key, value in expected.items() if key != name}
        with pytest.raises(ValueError, match=f"lack '{name}'"):
            weights.build(GPT, less, ours.config)


def test_a_bare_model_is_read_where_the_output_is_the_embedding():
    _, ours = pair("tied")
    base = LlamaModel(LlamaConfig(**SIZES, tie_word_embeddings=True)).double()
    again = weights.build(GPT, base.state_dict(), ours.config).eval()
    found = again.hidden(TOKENS)
    torch.testing.assert_close(found, base.eval()(TOKENS).last_hidden_state, **CLOSE)
    assert weights.export(again, head=False).keys() == base.state_dict().keys()
    untied = dataclasses.replace(ours.config, tied=False)
    with pytest.raises(ValueError, match=r"lack 'output\.weight'"):
        weights.build(GPT, base.state_dict(), untied)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, "rope_type of a llama must"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "'default', found 'linear'"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor of a llama"),
        ({"hidden_act": "tanh"}, "activation must be one of gelu, gelu_tanh, relu, silu"),
        ({"hidden_size": None}, "the configuration lacks hidden_size"),
    ],
)
def test_what_is_not_covered_is_refused(change, sentence):
    file = {"model_type": "llama", **SIZES, "rms_norm_eps": 1e-6}
    assert weights.read_config(GPTConfig, file).rotary_base == 10_000
    assert weights.read_config(GPTConfig, file | {"rope_theta": 7.0}).rotary_base == 7
    with pytest.raises(ValueError, match=sentence):
        weights.read_config(GPTConfig, file | change)


def test_weights_of_a_mixture_have_no_names_elsewhere():
    for changes, said in (({"rotary": True}, "found rotary alone"), ({"bias": False}, "no biases")):
        net = GPT(GPTConfig(vocabulary=9, width=8, depth=1, heads=2, **changes))
        with pytest.raises(ValueError, match=said):
            weights.export(net)


# Sizes and parts


def test_the_papers_size():
    with torch.device("meta"):
        net = GPT(GPTConfig.llama())
        assert net(torch.zeros(1, 3, dtype=torch.long)).shape == (1, 3, 32_000)
    assert sum(parameter.numel() for parameter in net.parameters()) == 6_738_415_616


def test_it_has_the_parts_that_the_name_promises():
    net = small()
    block = net.stack.blocks[0]
    assert {type(m) for m in net.modules() if "Norm" in type(m).__name__} == {RMSNorm}
    assert not [name for name, _ in net.named_parameters() if name.endswith("bias")]
    assert block.feed_forward.gate.out_features == 64  # two thirds of 4 · 24
    assert block.self_attention.rotary.layout == "halves"
    assert block.self_attention.kv_heads == 2
    assert net.output.weight.shape == (17, 24) and not hasattr(net.positions, "weight")
    assert small(tied=True).output is None
    assert GPTConfig.llama(width=64, hidden=99).hidden == 99
    assert QuickStack.of(net.stack) is not None  # it writes as quickly as GPT does


def test_the_start_is_gpt_2s():
    torch.manual_seed(0)
    net = GPT(GPTConfig.llama(vocabulary=300, width=96, depth=8, heads=4))
    block = net.stack.blocks[3]
    for weight in (net.tokens.weight, net.output.weight, block.feed_forward.gate.weight):
        assert weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert block.feed_forward.contract.weight.std().item() == pytest.approx(0.005, rel=0.05)


# Laws


@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("chunks", [(1,) * 7, (3, 1, 3), (7,)])
def test_cached_equals_uncached(window, chunks):
    net, t = small(window=window), 0
    expected, state = net(TOKENS, LEFT), net.start(LEFT)
    state.in_pieces = True
    for size in chunks:
        found = net.decode(TOKENS[:, t : t + size], state)
        t += size
        real = LEFT[:, t - 1]
        torch.testing.assert_close(found[real], expected[:, t - 1][real])


@pytest.mark.parametrize("window", [None, 4])
def test_greedy_with_and_without_a_cache_write_the_same(window):
    net = small(window=window)
    found, text = generate(net, TOKENS, net.start(), longest=10), TOKENS
    for _ in range(10):
        text = torch.cat([text, net(text)[:, -1:].argmax(-1)], dim=1)
    assert found.tolist() == text[:, 7:].tolist()


def test_a_beam_is_scored_as_the_whole_text():
    net = small(window=4)
    best = beam_search(net, TOKENS[:, :4], net.start(), beams=3, longest=6, alpha=0.0)
    for row in range(3):
        texts = torch.cat([TOKENS[row, :4].expand(3, -1), best.tokens[row]], dim=1)
        shares = net(texts[:, :-1]).log_softmax(-1)[:, 3:]
        shares = shares.gather(-1, best.tokens[row][:, :, None]).sum(dim=(1, 2))
        torch.testing.assert_close(best.scores[row], shares)


def test_a_window_hides_what_stands_before_it_and_nothing_else():
    net = small(window=3, depth=1)
    before = net(TOKENS)
    for t in range(7):
        changed = TOKENS.clone()
        changed[:, t] = (changed[:, t] + 1) % 17
        moved = (net(changed) - before).abs().amax(dim=(0, 2)) > 1e-9
        assert moved.tolist() == [t <= place < t + 3 for place in range(7)]
    torch.testing.assert_close(small(window=7, depth=1)(TOKENS), small(depth=1)(TOKENS))


def test_a_text_moved_along_is_read_as_before():
    """Rotary positions know distances only, so a window's worth of context is all that counts."""
    net = small(depth=1, window=2)
    shifted = torch.cat([TOKENS[:, :1], TOKENS], dim=1)
    torch.testing.assert_close(net(shifted)[:, 2:], net(TOKENS)[:, 1:])


def test_gradients_reach_every_parameter():
    net = small()
    net(TOKENS).log_softmax(-1)[..., 3].sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad.isfinite().all() and parameter.grad.abs().sum() > 0, name


def test_new_tokens_get_vectors_to_be_read_and_to_be_written():
    net = small()
    grown = add_tokens(net, 2)
    assert grown.output.weight.shape == grown.tokens.weight.shape == (19, 24)
    torch.testing.assert_close(grown(TOKENS)[..., :17], net(TOKENS))
    assert grown(torch.tensor([[18]])).shape == (1, 1, 19)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"window": 0}, "window must be above 0, found 0"),
        ({"kv_heads": 3}, "kv_heads must divide heads, found 3 and 4"),
        ({"rotary_base": 0.0}, "rotary_base must be above 0"),
        ({"head_width": 5}, "2 must divide the width, found 5"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(**changes)


@pytest.mark.parametrize("left_out", ["sliding_window", "num_key_value_heads"])
def test_what_a_file_of_mistral_leaves_out_means_what_transformers_takes_it_for(left_out):
    entries = MistralConfig(**SIZES | {"num_attention_heads": 8}).to_dict()
    del entries[left_out]
    theirs, ours = MistralConfig(**entries), weights.read_config(GPTConfig, entries)
    assert (theirs.sliding_window, theirs.num_key_value_heads) == (ours.window, ours.kv_heads)
    assert weights.read_config(GPTConfig, entries | {"sliding_window": None}).window is None


def test_the_first_llama_has_four_of_the_changes():
    """It has neither grouped heads nor a window."""
    config, plain = GPTConfig.llama(), GPTConfig()
    assert (config.rotary, config.rms_norm, config.gated, config.bias) == (True, True, True, False)
    assert (config.kv_heads, config.window) == (plain.kv_heads, plain.window) == (None, None)
