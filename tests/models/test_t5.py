"""T5: equal to transformers down to the strings, exact in size, causal, blind to padding."""

import dataclasses
import os

import pytest
import torch
from torch import nn

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers.models.mt5 import configuration_mt5, modeling_mt5
from transformers.models.t5 import configuration_t5, modeling_t5

from coursekit.analysis import capture
from coursekit.decoding.generation import beam_search, generate, power_penalty
from coursekit.models import weights
from coursekit.models.t5 import T5, T5Config
from coursekit.models.weights.rules import export_state, read_safetensors, write_safetensors

SIZES = {
    "vocab_size": 19,
    "d_model": 12,
    "d_kv": 5,
    "d_ff": 20,
    "num_layers": 2,
    "num_heads": 3,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 7,
    "decoder_start_token_id": 0,
}
CONFIGS = {
    "two blocks": {},
    "uneven stacks, one head": {"num_layers": 3, "num_decoder_layers": 1, "num_heads": 1},
    "other start, eps, buckets": {
        "decoder_start_token_id": 7,
        "pad_token_id": 3,
        "eos_token_id": 2,
        "layer_norm_epsilon": 1e-2,
        "relative_attention_num_buckets": 4,
        "relative_attention_max_distance": 3,
        "d_kv": 4,
    },
    "T5 1.1": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    "tied, gated": {"feed_forward_proj": "gated-silu", "num_decoder_layers": 1},
}
PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-10)]


@pytest.fixture(autouse=True)
def norm_in_one_precision(monkeypatch):
    """Their norm squares in float32 whatever the model's precision; in float64 that costs 1e-8."""

    def forward(self, x):
        x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * x

    monkeypatch.setattr(modeling_t5.T5LayerNorm, "forward", forward)


def theirs(name: str = "two blocks", dtype=torch.float64, std: float = 0.3) -> nn.Module:
    """Return a model of transformers in which every parameter is random, norms too."""
    config = configuration_t5.T5Config(**{**SIZES, **CONFIGS[name]})
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = modeling_t5.T5ForConditionalGeneration(config)
    if not config.scale_decoder_outputs:  # they load untied files so, but tie what is made anew
        model.lm_head.weight = nn.Parameter(torch.empty_like(model.lm_head.weight))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=std)
    return model.to(dtype).eval()


def ours(hf: nn.Module) -> T5:
    config = weights.read_config(T5Config, hf.config.to_dict())
    model = weights.build(T5, hf.state_dict(), config)
    return model.to(hf.dtype).eval()


def batch(config: T5Config) -> dict[str, torch.Tensor]:
    """Source and target: full, padded on the right, on the left, on both sides."""
    torch.manual_seed(1)
    found = {}
    for name, length in (("source", 9), ("target", 6)):
        keep = torch.ones(4, length, dtype=torch.bool)
        keep[1, 4:] = keep[2, :3] = keep[3, :1] = keep[3, 3:] = False
        real = torch.tensor([i for i in range(config.vocabulary) if i != config.pad])
        tokens = real[torch.randint(len(real), keep.shape)].masked_fill(~keep, config.pad)
        found |= {name: tokens, f"{name}_keep": keep}
    return found


def run(model: T5, b: dict) -> torch.Tensor:
    return model(b["source"], b["target"], b["source_keep"], b["target_keep"])


def run_theirs(hf: nn.Module, b: dict):
    return hf(
        input_ids=b["source"],
        attention_mask=b["source_keep"].long(),
        decoder_input_ids=b["target"],
        decoder_attention_mask=b["target_keep"].long(),
    )


def mixed(x: torch.Tensor) -> torch.Tensor:
    """One number that depends on every element, each with a weight of its own."""
    torch.manual_seed(2)
    return (x * torch.randn_like(x.double()).to(x)).mean()


def until_end(texts: torch.Tensor, end: int) -> list[list[int]]:
    """Cut each text behind its end: a padding token of 0 is none for `generate`, it repeats end."""
    return [row[: row.index(end) + 1] if end in row else row for row in texts.tolist()]


# Parity


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("name", CONFIGS)
def test_logits_and_gradients_are_those_of_transformers(name, dtype, tolerance):
    hf = theirs(name, dtype)
    model = ours(hf)
    b = batch(model.config)
    real = b["target_keep"]
    found, expected = run(model, b)[real], run_theirs(hf, b).logits[real]
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)
    mixed(found).backward()
    mixed(expected).backward()
    gradients = {name: p.grad for name, p in model.named_parameters()}
    exported = export_state(weights.rules_of(model), gradients)
    for name, parameter in hf.named_parameters():
        torch.testing.assert_close(
            exported[name], parameter.grad, atol=tolerance, rtol=tolerance,
            msg=lambda m, name=name: f"{name}: {m}",
        )  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
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


def test_weights_of_attention_are_those_of_transformers():
    hf = theirs()
    model = ours(hf)
    b = batch(model.config)
    recording = capture(model, b["source"], b["target"])
    torch.testing.assert_close(recording.output, model(b["source"], b["target"]))
    out = hf(
        input_ids=b["source"], attention_mask=b["source_keep"].long(),
        decoder_input_ids=b["target"], output_attentions=True,
    )  # fmt: skip
    for layer in range(2):
        for name, expected in (
            ("encoder.self_attention", out.encoder_attentions),
            ("decoder.self_attention", out.decoder_attentions),
            ("decoder.cross_attention", out.cross_attentions),
        ):
            torch.testing.assert_close(recording.weights[name][layer], expected[layer])


@pytest.mark.parametrize("name", CONFIGS)
def test_greedy_text_is_that_of_generate(name):
    hf = theirs(name, std=1.0)
    model = ours(hf)
    config, b = model.config, batch(model.config)
    expected = hf.generate(
        b["source"], attention_mask=b["source_keep"].long(), max_new_tokens=12, do_sample=False
    )[:, 1:]
    prompt = torch.full((4, 1), config.start)
    state = model.start(b["source"])
    found = generate(model, prompt, state, longest=12, end=config.end, pad=config.pad)
    assert until_end(found, config.end) == until_end(expected, config.end)


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("name", list(CONFIGS)[:3])
def test_beam_texts_are_those_of_generate(name, alpha):
    hf = theirs(name, std=1.0)
    model = ours(hf)
    config, b = model.config, batch(model.config)
    expected = hf.generate(
        b["source"], attention_mask=b["source_keep"].long(), max_new_tokens=8, do_sample=False,
        num_beams=3, num_return_sequences=3, length_penalty=alpha,
        return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    found = beam_search(
        model, torch.full((4, 1), config.start), model.start(b["source"]), beams=3, longest=8,
        end=config.end, pad=config.pad, alpha=alpha, penalty=power_penalty,
    )  # fmt: skip
    texts = until_end(expected.sequences[:, 1:], config.end)
    assert until_end(found.tokens.flatten(0, 1), config.end) == texts
    assert len(set(map(len, texts))) > 1 or alpha > 0  # lengths differ
    torch.testing.assert_close(
        found.scores.flatten(), expected.sequences_scores, check_dtype=False, atol=1e-5, rtol=1e-5
    )


# Names


def test_every_name_goes_there_and_back(tmp_path):
    hf = theirs("uneven stacks, one head")
    model = ours(hf)
    expected = hf.state_dict()
    write_safetensors(tmp_path / "t5.safetensors", weights.export(model))
    back = read_safetensors(tmp_path / "t5.safetensors")
    assert back.keys() == expected.keys()
    assert all(torch.equal(back[name], expected[name]) for name in back)
    config = model.config
    old = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
    weights.build(T5, {**expected, old: torch.zeros(8, 1)}, config)  # as files of 2020 have it
    with pytest.raises(ValueError, match=r"'shared\.bias', which this model has no place for"):
        weights.build(T5, {**expected, "shared.bias": torch.zeros(1)}, config)
    for name in expected:
        if "embed_tokens" not in name and name != "lm_head.weight":
            less = {key: value for key, value in expected.items() if key != name}
            with pytest.raises(ValueError, match=f"lack '{name}'"):
                weights.build(T5, less, config)
    with pytest.raises(ValueError, match="should be a copy of shared"):
        weights.build(T5, {**expected, "lm_head.weight": torch.zeros(19, 12)}, config)


@pytest.mark.parametrize("name", ["T5 1.1", "uneven stacks, one head"])
def test_the_names_of_a_later_version_go_there_and_back(name):
    hf = theirs(name)
    back, expected = weights.export(ours(hf)), hf.state_dict()
    assert back.keys() == expected.keys()
    assert all(torch.equal(back[name], expected[name]) for name in back)


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
    hf = modeling_mt5.MT5ForConditionalGeneration(configuration_mt5.MT5Config(**SIZES)).double()
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


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (T5Config.small(), 60_506_624),
        (T5Config.base(), 222_903_552),
        (T5Config.t5_1_1_small(), 76_961_152),
        (T5Config.t5_1_1_base(), 247_577_856),
        (T5Config.mt5_small(), 300_176_768),
        (T5Config.byt5_small(), 299_637_760),
    ],
)
def test_exact_sizes(config, count):
    with torch.device("meta"):
        model = T5(config)
    assert sum(p.numel() for p in model.parameters()) == count
    assert not list(model.buffers())


# Laws


def small(**changes) -> tuple[T5, dict]:
    hf = theirs()
    model = ours(hf)
    if changes:
        config = dataclasses.replace(model.config, **changes)
        model = weights.build(T5, hf.state_dict(), config).double()
    return model, batch(model.config)


def test_logits_do_not_know_the_tokens_that_follow():
    model, b = small()
    before = model(b["source"], b["target"])
    for t in range(1, 6):
        changed = b["target"].clone()
        changed[:, t:] = (changed[:, t:] + 1) % 19
        after = model(b["source"], changed)
        torch.testing.assert_close(before[:, :t], after[:, :t])
        assert (before[:, t] - after[:, t]).abs().amax(-1).min() > 1e-6


def test_a_padded_batch_equals_its_items():
    model, b = small()
    together = run(model, b)
    for row in range(4):
        source = b["source"][row][b["source_keep"][row]][None]
        target = b["target"][row][b["target_keep"][row]][None]
        alone = model(source, target)[0]
        torch.testing.assert_close(alone, together[row][b["target_keep"][row]])


@pytest.mark.parametrize("chunks", [(1, 1, 1, 1, 1, 1), (3, 1, 2), (6,)])
def test_cached_equals_uncached(chunks):
    model, b = small()
    expected, t = run(model, b), 0
    state = model.start(b["source"], b["source_keep"], prompt_keep=b["target_keep"])
    state.in_pieces = True
    for size in chunks:
        found = model.decode(b["target"][:, t : t + size], state)
        t += size
        assert state.length == t
        real = b["target_keep"][:, t - 1]
        torch.testing.assert_close(found[real], expected[:, t - 1][real])


def test_cached_equals_uncached_after_beams_are_reordered():
    model, b = small()
    source, target = b["source"], b["target"][:, :4]
    state = model.start(source, capacity=2)
    model.decode(target[:, :2], state)
    index = torch.tensor([3, 3, 0, 1, 2, 2])
    state.reorder(index)
    new = torch.randint(19, (6, 2))
    model.decode(new[:, :1], state)
    found = model.decode(new[:, 1:], state)
    expected = model(source[index], torch.cat([target[index, :2], new], dim=1))[:, -1]
    torch.testing.assert_close(found, expected)


def test_keys_of_the_source_are_computed_once():
    model, b = small()
    state, expected = model.start(b["source"]), model(b["source"], b["target"])
    model.decode(b["target"][:, :1], state)
    state.memory = torch.full_like(state.memory, torch.nan)  # nobody looks at it any more
    found = model.decode(b["target"][:, 1:2], state)
    torch.testing.assert_close(found, expected[:, 1])


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


def test_loss_on_real_positions_alone():
    model, b = small()
    chosen = model.hidden(b["source"], b["target"])[b["target_keep"]]
    assert chosen.shape == (int(b["target_keep"].sum()), 12)
    expected = model(b["source"], b["target"])[b["target_keep"]]
    torch.testing.assert_close(model.logits(chosen), expected)


def test_a_source_of_padding_alone_is_not_nan():
    model, b = small()
    logits = model(torch.zeros_like(b["source"]), b["target"])
    logits.sum().backward()
    assert logits.isfinite().all() and model.embedding.weight.grad.isfinite().all()


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
