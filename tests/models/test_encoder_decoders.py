"""What BART, T5 and the Transformer of 2017 have in common, as parity and as laws.

Equal to transformers down to the strings, and exported to it; causal, blind to padding, and the
same whether a text is read at once or token by token. Each model's own file has the rest.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from encoder_decoders import (
    BART,
    KINDS,
    MARIAN,
    PRECISIONS,
    SEQ2SEQS,
    T5_,
    Kind,
    batch,
    mixed,
    run,
    run_theirs,
    seq2seq,
)
from torch import Tensor, nn

from coursekit.analysis import capture
from coursekit.decoding.generation import beam_search, generate, power_penalty
from coursekit.models import T5, Bart, BartConfig, T5Config, weights
from coursekit.models.weights.rules import export_state, read_safetensors, write_safetensors

EVERY = [
    pytest.param(kind, name, id=f"{label}, {name}")
    for label, kind in KINDS.items()
    for name in kind.configs
]
BEAMED = [case for case in EVERY if case.values[1] in [*case.values[0].configs][:3]]
FIRST = [pytest.param(kind, next(iter(kind.configs)), id=label) for label, kind in KINDS.items()]
MODELS = {
    "BART": lambda: BART.ours(BART.theirs(), count_padding=False),
    "T5": lambda: T5_.ours(T5_.theirs()),
    **{f"seq2seq, {name}": partial(seq2seq, **changes) for name, changes in SEQ2SEQS.items()},
}
COUNTING = {"BART, padding counted": lambda: BART.ours(BART.theirs(), count_padding=True)}

pytestmark = pytest.mark.usefixtures("norm_in_one_precision")


def texts(tokens: Tensor, config: object) -> list[list[int]]:
    """Cut each text behind its end if padding is 0: for `generate` that is none, it repeats end."""
    rows, end = tokens.tolist(), config.end
    cut = [row[: row.index(end) + 1] if end in row else row for row in rows]
    return rows if config.pad else cut


def without_padding(b: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the batch with a word wherever the target is padded."""
    keep = torch.ones_like(b["target_keep"])
    return {**b, "target": b["target"].masked_fill(~b["target_keep"], 5), "target_keep": keep}


# Parity


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_logits_and_gradients_are_theirs(kind: Kind, name, dtype, tolerance):
    hf = kind.theirs(name, dtype)
    model = kind.ours(hf)
    b = batch(model.config, left=kind.left)
    real = b["target_keep"]
    found, expected = run(model, b)[real], run_theirs(hf, b).logits[real]
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)
    mixed(found).backward()
    mixed(expected).backward()
    gradients = {name: torch.zeros_like(held) for name, held in model.state_dict().items()}
    gradients |= {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    exported = export_state(weights.rules_of(model), gradients)
    for name, parameter in hf.named_parameters():
        if parameter.requires_grad:
            torch.testing.assert_close(
                exported[name], parameter.grad, atol=tolerance, rtol=tolerance,
                msg=lambda m, name=name: f"{name}: {m}",
            )  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), FIRST)
def test_weights_of_attention_are_theirs(kind: Kind, name):
    hf = kind.theirs(name)
    model = kind.ours(hf)
    b = batch(model.config, left=kind.left)
    everything = torch.ones(4, 6, dtype=torch.bool)
    recording = capture(model, b["source"], b["target"], target_keep=everything)
    out = hf(
        input_ids=b["source"], attention_mask=b["source_keep"].long(),
        decoder_input_ids=b["target"], output_attentions=True,
    )  # fmt: skip
    torch.testing.assert_close(recording.output, out.logits, atol=1e-10, rtol=1e-10)
    for layer in range(2):
        for path, expected in (
            ("encoder.self_attention", out.encoder_attentions),
            ("decoder.self_attention", out.decoder_attentions),
            ("decoder.cross_attention", out.cross_attentions),
        ):
            torch.testing.assert_close(recording.weights[path][layer], expected[layer])


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_greedy_text_is_that_of_generate(kind: Kind, name):
    hf = kind.theirs(name, std=1.0)
    model = kind.ours(hf)
    config, b = model.config, batch(model.config, left=kind.left)
    expected = hf.generate(
        b["source"], attention_mask=b["source_keep"].long(), max_new_tokens=12, do_sample=False
    )[:, 1:]
    prompt = torch.full((4, 1), config.start)
    state = model.start(b["source"])
    found = generate(model, prompt, state, longest=12, end=config.end, pad=config.pad)
    assert texts(found, config) == texts(expected, config)


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize(("kind", "name"), BEAMED)
def test_beam_texts_are_those_of_generate(kind: Kind, name, alpha):
    hf = kind.theirs(name, std=1.0)
    model = kind.ours(hf)
    config, b = model.config, batch(model.config, left=kind.left)
    expected = hf.generate(
        b["source"], attention_mask=b["source_keep"].long(), max_new_tokens=8, do_sample=False,
        num_beams=3, num_return_sequences=3, length_penalty=alpha,
        return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    found = beam_search(
        model, torch.full((4, 1), config.start), model.start(b["source"]), beams=3, longest=8,
        end=config.end, pad=config.pad, alpha=alpha, penalty=power_penalty,
    )  # fmt: skip
    written = expected.sequences[:, 1:]
    ours = found.tokens.flatten(0, 1)[:, : written.shape[1]]
    assert texts(ours, config) == texts(written, config)
    torch.testing.assert_close(
        found.scores.flatten(), expected.sequences_scores, check_dtype=False, atol=1e-5, rtol=1e-5
    )


# Names and sizes


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_name_goes_there_and_back(kind: Kind, name, tmp_path):
    hf = kind.theirs(name)
    model = kind.ours(hf)
    expected = hf.state_dict()
    write_safetensors(tmp_path / "theirs.safetensors", weights.export(model))
    back = read_safetensors(tmp_path / "theirs.safetensors")
    assert back.keys() == expected.keys()
    assert all(torch.equal(back[name], expected[name]) for name in back)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(BART, "uneven stacks, scaled"), (T5_, "uneven stacks, one head"), (MARIAN, "relu")],
    ids=KINDS,
)
def test_each_name_must_be_there_and_no_other(kind: Kind, name):
    hf = kind.theirs(name)
    expected, config = hf.state_dict(), kind.ours(hf).config
    with pytest.raises(ValueError, match=r"'model\.version', which this model has no place for"):
        weights.build(kind.model, {**expected, "model.version": torch.zeros(1)}, config)
    for name in expected:
        if "embed_tokens" not in name and name != "lm_head.weight":
            less = {key: value for key, value in expected.items() if key != name}
            with pytest.raises(ValueError, match=f"lack '{name}'"):
                weights.build(kind.model, less, config)


@pytest.mark.parametrize(
    ("kind", "words"), [(BART, r"model\.shared"), (T5_, "shared")], ids=["BART", "T5"]
)
def test_tied_words_are_one_matrix(kind: Kind, words):
    hf = kind.theirs()
    other = {**hf.state_dict(), "lm_head.weight": torch.zeros(19, 12)}
    with pytest.raises(ValueError, match=f"should be a copy of {words}"):
        weights.build(kind.model, other, kind.ours(hf).config)


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (BartConfig.base(), 139_420_416),
        (BartConfig.large(), 406_291_456),
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
        model = (Bart if isinstance(config, BartConfig) else T5)(config)
    assert sum(p.numel() for p in model.parameters()) == count


# Laws


@pytest.fixture(params=MODELS)
def model(request) -> nn.Module:
    return MODELS[request.param]()


def test_logits_do_not_know_the_tokens_that_follow(model):
    b = without_padding(batch(model.config))
    before = model(b["source"], b["target"])
    for t in range(1, 6):
        changed = b["target"].clone()
        changed[:, t:] = torch.where(changed[:, t:] == 5, 6, 5)
        after = model(b["source"], changed)
        torch.testing.assert_close(before[:, :t], after[:, :t])
        assert (before[:, t] - after[:, t]).abs().amax(-1).min() > 1e-6


def test_a_padded_batch_equals_its_items(model):
    b = batch(model.config)
    together = [run(model, b)]
    if model.config.start != model.config.pad:  # then padding says itself what is real
        together.append(model(b["source"], b["target"]))
    for row in range(4):
        source = b["source"][row][b["source_keep"][row]][None]
        target = b["target"][row][b["target_keep"][row]][None]
        alone = model(source, target)[0]
        for logits in together:
            torch.testing.assert_close(alone, logits[row][b["target_keep"][row]])


@pytest.mark.parametrize("chunks", [(1, 1, 1, 1, 1, 1), (3, 1, 2), (6,)])
@pytest.mark.parametrize("name", MODELS | COUNTING)
def test_cached_equals_uncached(name, chunks):
    model = (MODELS | COUNTING)[name]()
    b, t = batch(model.config), 0
    expected = run(model, b)
    state = model.start(b["source"], b["source_keep"], prompt_keep=b["target_keep"])
    state.in_pieces = True
    for size in chunks:
        found = model.decode(b["target"][:, t : t + size], state)
        t += size
        assert state.length == t
        real = b["target_keep"][:, t - 1]
        torch.testing.assert_close(found[real], expected[:, t - 1][real])


def test_cached_equals_uncached_after_beams_are_reordered(model):
    b = without_padding(batch(model.config))
    source, target = b["source"], b["target"][:, :2]
    state = model.start(source, capacity=2)
    model.decode(target, state)
    index = torch.tensor([3, 3, 0, 1, 2, 2])
    state.reorder(index)
    new = torch.randint(5, 19, (6, 2))
    model.decode(new[:, :1], state)
    found = model.decode(new[:, 1:], state)
    expected = model(source[index], torch.cat([target[index], new], dim=1))[:, -1]
    torch.testing.assert_close(found, expected)


def test_keys_of_the_source_are_computed_once(model):
    b = without_padding(batch(model.config))
    state, expected = model.start(b["source"]), model(b["source"], b["target"])
    model.decode(b["target"][:, :1], state)
    state.memory = torch.full_like(state.memory, torch.nan)  # nothing reads it any more
    torch.testing.assert_close(model.decode(b["target"][:, 1:2], state), expected[:, 1])


def test_logits_of_chosen_positions_are_those_of_all(model):
    b = batch(model.config)
    chosen = model.hidden(b["source"], b["target"])[b["target_keep"]]
    assert chosen.shape == (int(b["target_keep"].sum()), 12)
    expected = model(b["source"], b["target"])[b["target_keep"]]
    torch.testing.assert_close(model.logits(chosen), expected)


def test_a_source_of_padding_alone_is_not_nan(model):
    b = batch(model.config)
    logits = model(torch.full_like(b["source"], model.config.pad), b["target"])
    logits.sum().backward()
    assert logits.isfinite().all() and model.embedding.weight.grad.isfinite().all()
