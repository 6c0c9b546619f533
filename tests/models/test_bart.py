"""BART: equal to transformers down to the strings, exact in size, causal, blind to padding."""

import dataclasses
import os

import pytest
import torch
from torch import nn

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers.models.bart import configuration_bart, modeling_bart

from coursekit.analysis import capture
from coursekit.decoding.generation import beam_search, generate, power_penalty
from coursekit.models import weights
from coursekit.models.bart import Bart, BartConfig
from coursekit.models.weights.rules import export_state, read_safetensors, write_safetensors

SIZES = {
    "vocab_size": 19,
    "d_model": 12,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20,
    "max_position_embeddings": 16,
    "forced_eos_token_id": None,
}
CONFIGS = {
    "two blocks": {},
    "uneven stacks, scaled": {
        "encoder_layers": 3,
        "decoder_layers": 1,
        "scale_embedding": True,
        "encoder_attention_heads": 1,
        "decoder_attention_heads": 1,
    },
    "other tokens": {
        "pad_token_id": 4,
        "decoder_start_token_id": 7,
        "eos_token_id": 3,
        "encoder_attention_heads": 6,
        "decoder_attention_heads": 6,
    },
}
PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-10)]


def theirs(name: str = "two blocks", dtype=torch.float64, std: float = 0.3) -> nn.Module:
    """Return a model of transformers in which every number is random, norms and biases too."""
    config = configuration_bart.BartConfig(**{**SIZES, **CONFIGS[name]})
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = modeling_bart.BartForConditionalGeneration(config)
    for tensor in (*model.parameters(), model.final_logits_bias):
        nn.init.normal_(tensor, std=std)
    return model.to(dtype).eval()


def ours(hf: nn.Module, **changes) -> Bart:
    config = weights.read_config(BartConfig, hf.config.to_dict())
    model = weights.build(Bart, hf.state_dict(), dataclasses.replace(config, **changes))
    return model.to(hf.dtype).eval()


def batch(config: BartConfig) -> dict[str, torch.Tensor]:
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


# Parity


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("name", CONFIGS)
def test_logits_and_gradients_are_those_of_transformers(name, dtype, tolerance):
    hf = theirs(name, dtype)
    model = ours(hf)
    b = batch(model.config)
    b["source"][0, 2] = model.config.pad  # read as a word, but its vector does not learn from it
    real = b["target_keep"]
    found = model(b["source"], b["target"], b["source_keep"])[real]
    expected = run_theirs(hf, b).logits[real]
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)
    mixed(found).backward()
    mixed(expected).backward()
    gradients = {name: p.grad for name, p in model.named_parameters()}
    gradients["embedding.bias"] = torch.zeros(19)
    exported = export_state(weights.rules_of(model), gradients)
    for name, parameter in hf.named_parameters():
        torch.testing.assert_close(
            exported[name], parameter.grad, atol=tolerance, rtol=tolerance,
            msg=lambda m, name=name: f"{name}: {m}",
        )  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
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


def test_weights_of_attention_are_those_of_transformers():
    hf = theirs()
    model = ours(hf)
    b = batch(model.config)
    everything = torch.ones(4, 6, dtype=torch.bool)
    recording = capture(model, b["source"], b["target"], target_keep=everything)
    out = hf(
        input_ids=b["source"], attention_mask=b["source_keep"].long(),
        decoder_input_ids=b["target"], output_attentions=True,
    )  # fmt: skip
    torch.testing.assert_close(recording.output, out.logits)
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
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("name", CONFIGS)
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
    texts = expected.sequences[:, 1:]
    assert found.tokens.flatten(0, 1)[:, : texts.shape[1]].tolist() == texts.tolist()
    torch.testing.assert_close(
        found.scores.flatten(), expected.sequences_scores, check_dtype=False, atol=1e-5, rtol=1e-5
    )


# Names


def test_every_name_goes_there_and_back(tmp_path):
    hf = theirs("uneven stacks, scaled")
    model = ours(hf)
    expected, config = hf.state_dict(), model.config
    write_safetensors(tmp_path / "bart.safetensors", weights.export(model))
    back = read_safetensors(tmp_path / "bart.safetensors")
    assert back.keys() == expected.keys()
    assert all(torch.equal(back[name], expected[name]) for name in back)
    with pytest.raises(ValueError, match=r"'model\.version', which this model has no place for"):
        weights.build(Bart, {**expected, "model.version": torch.zeros(1)}, config)
    for name in expected:
        if "embed_tokens" not in name and name != "lm_head.weight":
            less = {key: value for key, value in expected.items() if key != name}
            with pytest.raises(ValueError, match=f"lack '{name}'"):
                weights.build(Bart, less, config)
    with pytest.raises(ValueError, match=r"should be a copy of model\.shared"):
        weights.build(Bart, {**expected, "lm_head.weight": torch.zeros(19, 12)}, config)


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
        weights.read_config(BartConfig, {**SIZES, **changes})


@pytest.mark.parametrize(
    ("config", "count"), [(BartConfig.base(), 139_420_416), (BartConfig.large(), 406_291_456)]
)
def test_exact_sizes(config, count):
    with torch.device("meta"):
        model = Bart(config)
    assert sum(p.numel() for p in model.parameters()) == count


# Laws; here places count real tokens, as in the authors' code.


def small(**changes) -> tuple[Bart, dict]:
    model = ours(theirs(), count_padding=False, **changes)
    return model, batch(model.config)


def test_logits_do_not_know_the_tokens_that_follow():
    model, b = small()
    b["target"][b["target"] == model.config.pad] = 5
    before = model(b["source"], b["target"])
    for t in range(1, 6):
        changed = b["target"].clone()
        changed[:, t:] = torch.where(changed[:, t:] == 5, 6, 5)
        after = model(b["source"], changed)
        torch.testing.assert_close(before[:, :t], after[:, :t])
        assert (before[:, t] - after[:, t]).abs().amax(-1).min() > 1e-6


def test_a_padded_batch_equals_its_items():
    model, b = small()
    together = model(b["source"], b["target"])
    for row in range(4):
        source = b["source"][row][b["source_keep"][row]][None]
        target = b["target"][row][b["target_keep"][row]][None]
        alone = model(source, target)[0]
        torch.testing.assert_close(alone, together[row][b["target_keep"][row]])


def test_padding_takes_up_places_only_when_counted():
    hf = theirs()
    b = batch(weights.read_config(BartConfig, hf.config.to_dict()))
    counting, reading = ours(hf), ours(hf, count_padding=False)
    same = (counting(b["source"], b["target"]) - reading(b["source"], b["target"])).abs()
    right, left = [0, 1], [2, 3]  # rows
    assert same[right].max() < 1e-12 and same[left].amax((1, 2)).min() > 1e-3


@pytest.mark.parametrize("chunks", [(1, 1, 1, 1, 1, 1), (3, 1, 2), (6,)])
@pytest.mark.parametrize("count_padding", [False, True])
def test_cached_equals_uncached(chunks, count_padding):
    model = ours(theirs(), count_padding=count_padding)
    b = batch(model.config)
    expected, t = model(b["source"], b["target"]), 0
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
    source, target = b["source"], b["target"][:, :2].masked_fill(~b["target_keep"][:, :2], 5)
    state = model.start(source, capacity=2)
    model.decode(target, state)
    index = torch.tensor([3, 3, 0, 1, 2, 2])
    state.reorder(index)
    new = torch.randint(5, 19, (6, 2))
    model.decode(new[:, :1], state)
    found = model.decode(new[:, 1:], state)
    expected = model(source[index], torch.cat([target[index], new], dim=1))[:, -1]
    torch.testing.assert_close(found, expected)


def test_keys_of_the_source_are_computed_once():
    model, b = small()
    state = model.start(b["source"])
    expected = model(b["source"][:1], b["target"][:1, :2])[0, 1]
    model.decode(b["target"][:, :1], state)
    state.memory = torch.full_like(state.memory, torch.nan)  # nobody looks at it any more
    torch.testing.assert_close(model.decode(b["target"][:, 1:2], state)[0], expected)


def test_loss_on_real_positions_alone():
    model, b = small()
    chosen = model.hidden(b["source"], b["target"])[b["target_keep"]]
    expected = model(b["source"], b["target"])[b["target_keep"]]
    torch.testing.assert_close(model.logits(chosen), expected)


def test_a_source_of_padding_alone_is_not_nan():
    model, b = small()
    logits = model(torch.full_like(b["source"], model.config.pad), b["target"])
    logits.sum().backward()
    assert logits.isfinite().all() and model.embedding.weight.grad.isfinite().all()


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
