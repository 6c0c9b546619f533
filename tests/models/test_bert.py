"""BERT and RoBERTa: equal to transformers, exact in size, blind to padding, clear on bad input."""

import dataclasses
import os

import pytest
import torch
from torch import nn

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers.models.bert import configuration_bert, modeling_bert
from transformers.models.roberta import configuration_roberta, modeling_roberta

from coursekit.analysis import capture
from coursekit.models import bert as bert_file
from coursekit.models import weights
from coursekit.models.bert import Bert, BertConfig, BertForPreTraining, MaskedLMHead
from coursekit.models.weights.rules import export_state, read_safetensors, write_safetensors

SIZES = {
    "vocab_size": 23,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 11,
    "type_vocab_size": 2,
}
BERTS = {
    "bert": {},
    "one head, gelu of GPT-2": {"num_attention_heads": 1, "hidden_act": "gelu_new"},
    "three blocks, relu, other pad": {
        "num_hidden_layers": 3,
        "hidden_act": "relu",
        "pad_token_id": 5,
        "layer_norm_eps": 1e-3,
        "type_vocab_size": 3,
    },
}
ROBERTAS = {
    "roberta": {"type_vocab_size": 1, "pad_token_id": 1, "layer_norm_eps": 1e-5},
    "roberta, pad 0": {"type_vocab_size": 2, "pad_token_id": 0, "num_attention_heads": 4},
}
FAMILIES = {
    "bert": (configuration_bert.BertConfig, modeling_bert, "Bert", BERTS),
    "roberta": (configuration_roberta.RobertaConfig, modeling_roberta, "Roberta", ROBERTAS),
}
CASES = [(family, name) for family in FAMILIES for name in FAMILIES[family][3]]
PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-10)]


def theirs(family: str, name: str, what: str, dtype=torch.float64, **options) -> nn.Module:
    """Return a model of transformers in which every parameter is random, biases and norms too."""
    Config, module, prefix, configs = FAMILIES[family]
    config = Config(**{**SIZES, **configs[name]})
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = getattr(module, f"{prefix}{what}")(config, **options)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.to(dtype).eval()


def ours(hf: nn.Module) -> BertConfig:
    return weights.read_config(BertConfig, hf.config.to_dict())


def batch(config: BertConfig) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tokens, segments and keep: full, padded on the right, padded on the left, a single token."""
    torch.manual_seed(1)
    B, T = 4, 8
    keep = torch.ones(B, T, dtype=torch.bool)
    keep[1, 5:] = keep[2, :3] = keep[3, 1:] = False
    real = [i for i in range(config.vocabulary) if i != config.pad]
    tokens = torch.tensor(real)[torch.randint(len(real), (B, T))].masked_fill(~keep, config.pad)
    segments = torch.randint(config.segments, (B, T)).masked_fill(~keep, 0)
    return tokens, segments, keep


def inputs(tokens, segments, keep):
    """The same batch under the names of transformers."""
    return {"input_ids": tokens, "token_type_ids": segments, "attention_mask": keep.long()}


def mixed(*outputs: torch.Tensor) -> torch.Tensor:
    """One number that depends on all of the outputs, each element with a weight of its own."""
    torch.manual_seed(2)
    return sum((x * torch.randn_like(x.double()).to(x)).mean() for x in outputs)


def assert_same_gradients(model, hf, outputs, hf_outputs, tolerance):
    """Compare the gradients of `mixed` by their names."""
    mixed(*outputs).backward()
    mixed(*hf_outputs).backward()
    found = export_state(weights.rules_of(model), {n: p.grad for n, p in model.named_parameters()})
    for name, parameter in hf.named_parameters():
        torch.testing.assert_close(
            found[name], parameter.grad, atol=tolerance, rtol=tolerance, msg=lambda m, n=name: n + m
        )


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize(("family", "name"), CASES)
def test_encoder_equals_transformers(family, name, dtype, tolerance):
    """Pooled vector, every hidden state, every attention weight, every gradient."""
    hf = theirs(family, name, "Model", dtype)
    model = weights.build(Bert, hf.state_dict(), ours(hf)).eval()
    tokens, segments, keep = batch(model.config)
    expected = hf(
        **inputs(tokens, segments, keep), output_hidden_states=True, output_attentions=True
    )
    recording = capture(model, tokens, segments, keep)
    hidden, states = recording.output, recording.states["encoder"]
    attentions = recording.weights["encoder.self_attention"]
    assert hidden.dtype == dtype and len(states) == model.config.depth + 1
    close = {"atol": tolerance, "rtol": tolerance}
    torch.testing.assert_close(hidden, expected.last_hidden_state, **close)
    torch.testing.assert_close(states, list(expected.hidden_states), **close)
    torch.testing.assert_close(attentions, list(expected.attentions), **close)
    pooled = model.pool(model(tokens, segments, keep))
    torch.testing.assert_close(pooled, expected.pooler_output, **close)
    hf_outputs = (expected.last_hidden_state, expected.pooler_output)
    assert_same_gradients(model, hf, (hidden, pooled), hf_outputs, tolerance)


@pytest.mark.parametrize(("family", "name"), CASES)
def test_without_segments_and_padding(family, name):
    hf = theirs(family, name, "Model", add_pooling_layer=False)
    model = weights.build(Bert, hf.state_dict(), ours(hf), pooler=False).eval()
    tokens, _, _ = batch(model.config)
    torch.testing.assert_close(model(tokens), hf(tokens)[0], atol=1e-10, rtol=0)
    torch.testing.assert_close(model(tokens[:1, :1]), hf(tokens[:1, :1])[0], atol=1e-10, rtol=0)
    longest = tokens[:1].repeat(1, 2)[:, : model.config.longest]
    torch.testing.assert_close(model(longest), hf(longest)[0], atol=1e-10, rtol=0)
    with pytest.raises(ValueError, match="pooler=False and cannot pool"):
        model.pool(model(tokens))


QUESTIONS = [
    *(("bert", name, "ForPreTraining", {}) for name in BERTS),
    *(("bert", name, "ForMaskedLM", {"next_sentence": False}) for name in BERTS),
    *(("bert", name, "ForNextSentencePrediction", {"masked_lm": False}) for name in BERTS),
    *(("roberta", name, "ForMaskedLM", {"next_sentence": False}) for name in ROBERTAS),
]


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize(("family", "name", "what", "asked"), QUESTIONS)
def test_pre_training_equals_transformers(family, name, what, asked, dtype, tolerance):
    hf = theirs(family, name, what, dtype)
    model = weights.build(BertForPreTraining, hf.state_dict(), ours(hf), **asked).eval()
    tokens, segments, keep = batch(model.config)
    expected = hf(**inputs(tokens, segments, keep), return_dict=False)
    found = [logits for logits in model(tokens, segments, keep) if logits is not None]
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)
    assert_same_gradients(model, hf, found, expected, tolerance)


@pytest.mark.parametrize(("family", "name", "what", "asked"), QUESTIONS)
def test_weights_go_there_and_back(family, name, what, asked, tmp_path):
    hf = theirs(family, name, what)
    there = weights.build(BertForPreTraining, hf.state_dict(), ours(hf), **asked)
    write_safetensors(tmp_path / "model.safetensors", weights.export(there))
    back = read_safetensors(tmp_path / "model.safetensors")
    assert back.keys() == hf.state_dict().keys()
    assert all(torch.equal(back[name], tensor) for name, tensor in hf.state_dict().items())
    hf.load_state_dict(back)
    again = weights.build(BertForPreTraining, back, ours(hf), **asked)
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), there.parameters()))


def test_a_name_left_over_or_missing_is_an_error():
    hf = theirs("bert", "bert", "ForPreTraining")
    state, config = hf.state_dict(), ours(hf)
    old = {**state, "bert.embeddings.position_ids": torch.arange(11)[None]}
    weights.build(BertForPreTraining, old, config)  # a constant that older files hold
    with pytest.raises(ValueError, match=r"hold 'classifier.bias', which this model has no place"):
        weights.build(BertForPreTraining, {**state, "classifier.bias": torch.ones(2)}, config)
    with pytest.raises(ValueError, match=r"'cls.predictions.* and 4 more"):
        weights.build(BertForPreTraining, state, config, masked_lm=False)
    with pytest.raises(ValueError, match=r"decoder\.weight should be a copy"):
        untied = {**state, "cls.predictions.decoder.weight": torch.ones(23, 12)}
        weights.build(BertForPreTraining, untied, config)
    state.pop("bert.encoder.layer.1.attention.self.key.weight")
    with pytest.raises(ValueError, match=r"lack 'bert.encoder.layer.1.attention.self.key.weight'"):
        weights.build(BertForPreTraining, state, config)
    with pytest.raises(ValueError, match="no RoBERTa with a next-sentence head"):
        weights.export(BertForPreTraining(dataclasses.replace(config, skip_padding=True)))


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("config", "encoder", "pre_training", "masked_lm"),
    [
        (BertConfig.base(), 109_482_240, 110_106_428, 109_514_298),
        (BertConfig.large(), 335_141_888, 336_226_108, 335_174_458),
        (BertConfig.roberta_base(), 124_645_632, 125_289_563, 124_697_433),
        (BertConfig.roberta_large(), 355_359_744, 356_463_707, 355_412_057),
    ],
)
def test_sizes_are_exact(config, encoder, pre_training, masked_lm):
    with torch.device("meta"):
        assert count(Bert(config)) == encoder
        assert count(BertForPreTraining(config)) == pre_training
        assert count(BertForPreTraining(config, next_sentence=False)) == masked_lm
        tokens = torch.zeros(2, 512, dtype=torch.long)
        assert Bert(config)(tokens).shape == (2, 512, config.width)


def test_named_configurations_are_those_of_transformers():
    base = configuration_bert.BertConfig()
    assert weights.read_config(BertConfig, base.to_dict()) == BertConfig.base()
    large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
    large = base.to_dict() | large | {"intermediate_size": 4096}
    assert weights.read_config(BertConfig, large) == BertConfig.large()
    roberta = {"type_vocab_size": 1, "max_position_embeddings": 514, "layer_norm_eps": 1e-5}
    roberta = configuration_roberta.RobertaConfig().to_dict() | roberta
    assert weights.read_config(BertConfig, roberta) == BertConfig.roberta_base()
    assert BertConfig.roberta_base().longest == 512


def small(**changes) -> Bert:
    torch.manual_seed(0)
    config = BertConfig(
        vocabulary=23, width=12, depth=2, heads=3, hidden=20, positions=11, **changes
    )
    model = Bert(config).double()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


@pytest.mark.parametrize("changes", [{}, {"pad": 1, "skip_padding": True}])
def test_a_padded_batch_equals_its_items(changes):
    """Right padding for both; on the left only RoBERTa keeps its places."""
    model = small(**changes)
    tokens, segments, keep = batch(model.config)
    together = model(tokens, segments, keep)
    for row in range(4) if model.config.skip_padding else (0, 1, 3):
        real = keep[row]
        alone = model(tokens[row : row + 1, real], segments[row : row + 1, real])
        torch.testing.assert_close(together[row, real], alone[0])
    changed = tokens.masked_fill(~keep, 7) if not changes else tokens
    torch.testing.assert_close(model(changed, segments, keep)[keep], together[keep])


def test_order_and_sentence_matter_only_through_their_embeddings():
    model = small()
    tokens, segments, _ = batch(model.config)
    with torch.no_grad():
        model.embeddings.positions.weight.zero_()
    order = torch.randperm(8)
    torch.testing.assert_close(model(tokens[:, order], segments[:, order]),
                               model(tokens, segments)[:, order])  # fmt: skip
    assert not torch.allclose(model(tokens, segments), model(tokens, 1 - segments))


def test_every_position_sees_every_other():
    model = small()
    x = model.embeddings(batch(model.config)[0]).detach().requires_grad_()
    seen = torch.stack(
        [torch.autograd.grad(model.encoder(x)[0, t].sum(), x)[0][0].abs().sum(-1) for t in range(8)]
    )
    assert (seen > 0).all()


@pytest.mark.parametrize("dropped", [0, 1])
def test_head_mask_removes_heads_block_by_block(dropped):
    """A head without a result is a head whose columns of the output matrix are zero."""
    model, pruned = small(), small()
    tokens, segments, keep = batch(model.config)
    head_mask = torch.ones(2, 3)
    head_mask[dropped, 1] = 0
    with torch.no_grad():
        pruned.encoder.blocks[dropped].self_attention.out.weight[:, 4:8] = 0
    found = model(tokens, segments, keep, head_mask=head_mask)
    torch.testing.assert_close(found, pruned(tokens, segments, keep))
    assert not torch.allclose(found, model(tokens, segments, keep))
    gate = torch.ones(2, 3, dtype=torch.double, requires_grad=True)
    model(tokens, segments, keep, head_mask=gate).square().mean().backward()
    assert (gate.grad != 0).all()  # how much each head matters, as in the pruning papers


def test_the_masked_lm_head_on_chosen_positions_is_the_head_at_these_positions():
    model = BertForPreTraining(small().config).double().eval()
    tokens, segments, keep = batch(model.config)
    everywhere = model(tokens, segments, keep).masked_lm  # (B, T, V)
    hidden = torch.rand(4, 8) < 0.3
    found = model(tokens, segments, keep, positions=hidden)
    torch.testing.assert_close(found.masked_lm, everywhere[hidden])
    torch.testing.assert_close(found.next_sentence, model(tokens, segments, keep).next_sentence)
    index = torch.tensor([[0, 7], [4, 1], [3, 3], [0, 0]])
    found = model(tokens, segments, keep, positions=index).masked_lm  # (B, 2, V)
    for row in range(4):
        torch.testing.assert_close(found[row], everywhere[row, index[row]])
    nothing = model(tokens, segments, keep, positions=torch.zeros_like(hidden)).masked_lm
    assert nothing.shape == (0, 23)


def test_the_matrix_of_the_masked_lm_head_is_the_embedding():
    model = BertForPreTraining(small().config, next_sentence=False)
    assert not any(p.shape == (23, 12) for p in model.masked_lm.parameters())
    logits = model(torch.tensor([[3, 4]])).masked_lm
    logits[0, 0, 9].backward()  # the score of a word that was not read
    assert model.bert.embeddings.tokens.weight.grad[9].abs().sum() > 0


def test_only_a_recording_pays_for_weights(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the readable path, which stores T×T weights, was taken")

    model = BertForPreTraining(small().config)
    tokens, segments, keep = batch(model.config)
    monkeypatch.setattr("coursekit.heads.attention_weights", refuse)
    model(tokens, segments, keep, head_mask=torch.ones(2, 3))
    model.bert(tokens, segments, keep)
    with pytest.raises(AssertionError, match="T×T"):
        capture(model.bert, tokens, segments, keep)


def test_dropout_stands_where_the_paper_has_it():
    """After the embeddings, on the attention weights, after each sublayer; not inside the FFN."""
    model = Bert(BertConfig(depth=1, width=8, heads=2, hidden=16, attention_dropout=0.3))
    block = model.encoder.blocks[0]
    assert model.embeddings.dropout.p == 0.1 and block.self_attention.dropout == 0.3
    assert block.self_residual.dropout.p == block.feed_residual.dropout.p == 0.1
    assert block.feed_forward.dropout.p == 0.0
    tokens = torch.arange(8)[None]
    assert not torch.equal(model(tokens), model(tokens))
    assert torch.equal(model.eval()(tokens), model(tokens))


def test_weights_start_as_in_the_paper_s_code():
    torch.manual_seed(0)
    config = BertConfig(vocabulary=500, width=96, depth=2, heads=4, hidden=200, positions=300)
    for name, parameter in BertForPreTraining(config).named_parameters():
        if name.endswith("bias"):
            assert parameter.eq(0).all(), name
        elif "norm" in name:
            assert parameter.eq(1).all(), name
        else:
            assert abs(parameter.mean()) < 0.004 and 0.017 < parameter.std() < 0.023, name


def test_roberta_counts_from_behind_padding_and_does_not_count_it():
    position_ids = small(pad=1, skip_padding=True).embeddings.position_ids
    tokens = torch.tensor([[4, 5, 6, 1, 1], [1, 1, 4, 5, 6], [4, 5, 6, 7, 8]])
    assert position_ids(tokens).tolist() == [[2, 3, 4, 1, 1], [1, 1, 2, 3, 4], [2, 3, 4, 5, 6]]
    assert small().embeddings.position_ids(tokens).tolist() == [0, 1, 2, 3, 4]


def test_it_learns_to_fill_in_words():
    """Each sentence counts on from some number; a hidden one is known from those around it."""
    torch.manual_seed(0)
    sizes = {"vocabulary": 23, "width": 32, "depth": 2, "heads": 4, "hidden": 64, "positions": 8}
    config = BertConfig(**sizes, dropout=0.0, attention_dropout=0.0)
    model = BertForPreTraining(config, next_sentence=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(100):
        words = torch.randint(5, 14, (32, 1)) + torch.arange(8)  # (B, T)
        hidden = torch.rand(32, 8) < 0.25
        logits = model(words.masked_fill(hidden, 1), positions=hidden).masked_lm
        losses.append(nn.functional.cross_entropy(logits, words[hidden]))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[0] > 2.8 and losses[-1] < 1.0


WORDS = torch.tensor([[3, 4, 5]])


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda m: m(torch.ones(1, 12, dtype=int)), ValueError, "at most 11 tokens, found 12"),
    ],
)
def test_bad_input_gets_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(small())


def test_too_long_for_roberta_counts_the_places_in_front():
    with pytest.raises(ValueError, match="at most 9 tokens, found 10"):
        small(pad=1, skip_padding=True)(torch.full((1, 10), 4))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model_type": "gpt2"}, "model_type = 'gpt2'"),
        ({"hidden_act": "silu"}, "hidden_act = 'silu'"),
        ({"model_type": "roberta", "hidden_act": "relu"}, "hidden_act = 'relu'"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type = 'relative_key'"),
        ({"is_decoder": True}, "is_decoder = True"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings = False"),
        ({"pad_token_id": None}, "lacks pad_token_id"),
        ({"pad_token_id": 30_522}, "pad .* 30521"),
        ({"max_position_embeddings": 0}, "positions .*0"),
    ],
)
def test_a_foreign_configuration_gets_a_sentence(change, sentence):
    theirs = configuration_bert.BertConfig().to_dict() | change
    with pytest.raises(ValueError, match=sentence):
        weights.read_config(BertConfig, theirs)


def test_a_bad_configuration_gets_a_sentence():
    with pytest.raises(ValueError, match="needs a question"):
        BertForPreTraining(BertConfig.base(), masked_lm=False, next_sentence=False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        BertConfig.base().width = 3
    assert MaskedLMHead and bert_file.ACTIVATIONS["gelu"](torch.ones(())) == pytest.approx(0.841345)


def test_the_config_says_whether_there_is_a_pooler():
    sizes = {"vocabulary": 9, "width": 4, "depth": 1, "heads": 1, "hidden": 4, "positions": 5}
    with_one, without = BertConfig(**sizes), BertConfig(**sizes, pooler=False)
    assert Bert(with_one).pooler is not None and Bert(without).pooler is None
    assert Bert(without, pooler=True).pooler is not None  # what a model needs goes first
    for config in (with_one, without):
        for pooler in (None, True, False):
            model = Bert(config, pooler=pooler)
            again = Bert(model.config)  # and the config of a model makes the model again
            assert again.state_dict().keys() == model.state_dict().keys()
    assert BertForPreTraining(without).bert.pooler is not None  # it asks about the next sentence
