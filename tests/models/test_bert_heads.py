"""BERT's heads: equal to transformers, the best span equal to brute force, features by layer."""

import os

import pytest
import torch
from torch import nn

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers.models.bert import configuration_bert, modeling_bert
from transformers.models.roberta import configuration_roberta, modeling_roberta

from coursekit.analysis import capture
from coursekit.decoding.spans import best_span
from coursekit.models import weights
from coursekit.models.bert import Bert, BertConfig
from coursekit.models.bert_heads import (
    BertClassifier,
    BertFeatures,
    BertMultipleChoice,
    BertSpan,
    BertTagger,
    RobertaClassifier,
)
from coursekit.models.weights.rules import export_state, read_safetensors, write_safetensors

BERT = (configuration_bert.BertConfig, modeling_bert)
ROBERTA = (configuration_roberta.RobertaConfig, modeling_roberta)
HEADS = {
    "BertForSequenceClassification": (BERT, BertClassifier, 3),
    "BertForTokenClassification": (BERT, BertTagger, 5),
    "BertForQuestionAnswering": (BERT, BertSpan, 2),
    "RobertaForSequenceClassification": (ROBERTA, RobertaClassifier, 1),
    "RobertaForTokenClassification": (ROBERTA, BertTagger, 2),
    "RobertaForQuestionAnswering": (ROBERTA, BertSpan, 2),
}
SHAPES = [
    {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3},
    {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "type_vocab_size": 4},
]
TOKENS = torch.tensor([[2, 9, 8, 7, 6, 3], [2, 4, 4, 3, 1, 1], [2, 1, 1, 1, 1, 1]])
KEEP = TOKENS != 1
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 0, 0], [0] * 6])


def theirs(name, shape, dtype=torch.float64):
    """Return a model of transformers in which every parameter is random, biases and norms too."""
    (Config, module), _, classes = HEADS[name]
    sizes = {"vocab_size": 19, "intermediate_size": 20, "max_position_embeddings": 11}
    config = Config(**sizes, **shape, pad_token_id=1, num_labels=classes)
    torch.manual_seed(0)
    hf = getattr(module, name)(config)
    for parameter in hf.parameters():
        nn.init.normal_(parameter, std=0.3)
    return hf.to(dtype).eval()


def ours(hf, state=None):
    config = weights.read_config(BertConfig, hf.config.to_dict())
    kind = HEADS[type(hf).__name__][1]
    return weights.build(kind, state or hf.state_dict(), config).eval()


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", HEADS)
def test_heads_equal_transformers(name, shape, dtype, tolerance):
    hf = theirs(name, shape, dtype)
    model = ours(hf)
    mask = {"attention_mask": KEEP.long(), "token_type_ids": SEGMENTS}
    expected = hf(TOKENS, **mask, return_dict=False)
    found = model(TOKENS, SEGMENTS, KEEP)
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)
        direction = torch.linspace(-1, 2, one.numel(), dtype=dtype).view_as(one)
        (one * direction).mean().backward(retain_graph=True)
        (other * direction).mean().backward(retain_graph=True)
    gradients = export_state(
        weights.rules_of(model), {n: p.grad for n, p in model.named_parameters()}
    )
    for key, parameter in hf.named_parameters():
        torch.testing.assert_close(
            gradients[key], parameter.grad, atol=tolerance, rtol=tolerance,
            msg=lambda m, key=key: f"{key}: {m}",
        )  # fmt: skip


@pytest.mark.parametrize("name", HEADS)
def test_weights_go_there_and_back(name, tmp_path):
    hf = theirs(name, SHAPES[0])
    model, path = ours(hf), tmp_path / "model.safetensors"
    write_safetensors(path, weights.export(model))
    state = read_safetensors(path)
    assert state.keys() == hf.state_dict().keys()
    assert all(torch.equal(state[key], tensor) for key, tensor in hf.state_dict().items())
    again = ours(hf, state)
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), model.parameters()))
    with pytest.raises(ValueError, match=r"'cls\.extra'"):
        ours(hf, {**state, "cls.extra": torch.ones(1)})
    last = next(key for key in reversed(state) if key.endswith("bias"))
    with pytest.raises(ValueError, match=f"'{last}'"):
        ours(hf, {key: tensor for key, tensor in state.items() if key != last})


def small(depth: int = 2, **options) -> Bert:
    torch.manual_seed(0)
    sizes = {"vocabulary": 19, "width": 12, "heads": 3, "hidden": 20, "positions": 11, "pad": 1}
    return Bert(BertConfig(**sizes, depth=depth), **options).eval()


def test_heads_stand_on_the_encoder_that_they_are_given():
    bert = small()
    bare = small(pooler=False)
    assert BertClassifier(bert, classes=2).bert is bert
    assert BertClassifier(bert, classes=2)(TOKENS, keep=KEEP).shape == (3, 2)
    assert RobertaClassifier(bare, classes=4)(TOKENS, keep=KEEP).shape == (3, 4)
    assert BertTagger(bare, classes=7)(TOKENS, keep=KEEP).shape == (3, 6, 7)
    assert [x.shape for x in BertSpan(bare)(TOKENS, keep=KEEP)] == [(3, 6), (3, 6)]
    for head in (BertClassifier(bert, classes=2), BertTagger(bert, classes=2), BertSpan(bert)):
        head.eval()
        one, none = (head(TOKENS, head_mask=mask) for mask in (torch.ones(2, 3), torch.zeros(2, 3)))
        torch.testing.assert_close(one, head(TOKENS))
        assert not torch.allclose(one[0], none[0])
    for parameter in (head.span.weight, BertClassifier(bert, classes=99).classifier.weight):
        assert parameter.std() < 0.04  # N(0, 0.02), not what nn.Linear would draw


def test_dropout_stands_in_front_of_the_new_layer():
    bert = small()
    for head in (BertClassifier(bert, classes=2), BertTagger(bert, classes=2)):
        head.train()
        bert.eval()
        assert not torch.equal(head(TOKENS, keep=KEEP), head(TOKENS, keep=KEEP))
        head.eval()
        assert torch.equal(head(TOKENS, keep=KEEP), head(TOKENS, keep=KEEP))


def test_padding_and_question_are_never_the_answer():
    start, end = BertSpan(small())(TOKENS, SEGMENTS, KEEP)
    passage = KEEP & (SEGMENTS == 1)
    passage[2, 0] = True
    high = torch.where(passage, 0.0, 100.0)  # what must not be chosen looks best
    span = best_span(start + high, end + high, passage)
    assert passage.gather(1, torch.stack([span.start, span.end], 1)).all()
    assert (span.end >= span.start).all() and span.score.max() < 50
    unrestricted = best_span(start + high, end + high, None)
    assert unrestricted.score.min() > 50


HIDDEN = [torch.full((2, 3, 4), float(i)) for i in range(6)]  # embeddings and five blocks


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ("embeddings", [0]),
        ("second_to_last", [4]),
        ("last", [5]),
        ("weighted_last_four", [3.5]),
        ("concat_last_four", [2, 3, 4, 5]),
        ("weighted_all", [3]),  # the mean of 1 to 5: the embeddings take no part
    ],
)
def test_features_take_the_layers_of_the_paper(layers, expected):
    features = BertFeatures(BertConfig(width=4, heads=2, depth=5), layers)
    found = features(HIDDEN)
    assert found.shape == (2, 3, features.width)
    assert found[0, 0].view(-1, 4)[:, 0].tolist() == pytest.approx(expected)
    parameters = dict(features.named_parameters())
    assert len(parameters) == (2 if layers.startswith("weighted") else 0)
    if parameters:
        with torch.no_grad():
            features.weights[0], features.scale[...] = 100.0, 3.0  # its first layer alone, thrice
        first = {"weighted_last_four": 2.0, "weighted_all": 1.0}[layers]
        assert features(HIDDEN)[0, 0, 0].item() == pytest.approx(3 * first)


def test_features_of_a_real_encoder_train_without_it():
    bert = small(depth=5)
    with torch.no_grad():
        hidden = capture(bert, TOKENS, keep=KEEP).states["encoder"]
    features = BertFeatures(bert.config, "weighted_last_four")
    features(hidden).square().mean().backward()
    assert features.weights.grad.abs().sum() > 0 and features.scale.grad != 0
    assert all(parameter.grad is None for parameter in bert.parameters())


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: BertClassifier(small(pooler=False), classes=2), ValueError, "with its pooler"),
        (lambda: RobertaClassifier(small(), classes=2), ValueError, "make the Bert pooler=False"),
        (lambda: BertFeatures(BertConfig(depth=3), "concat_last_four"), ValueError, "Bert of 3"),
        (lambda: BertFeatures(BertConfig(), "last")(HIDDEN), ValueError, "12 hidden .* found 6"),
    ],
)
def test_bad_input_gets_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


@pytest.mark.parametrize(("kind", "family"), [(BERT, "Bert"), (ROBERTA, "Roberta")])
def test_multiple_choice_is_that_of_transformers(kind, family):
    Config, module = kind
    sizes = {"vocab_size": 19, "intermediate_size": 20, "max_position_embeddings": 11}
    torch.manual_seed(0)
    config = Config(**sizes, **SHAPES[0], pad_token_id=1)
    hf = getattr(module, f"{family}ForMultipleChoice")(config)
    for parameter in hf.parameters():
        nn.init.normal_(parameter, std=0.3)
    hf = hf.double().eval()
    model = weights.build(
        BertMultipleChoice, hf.state_dict(), weights.read_config(BertConfig, config.to_dict())
    ).eval()
    tokens = torch.stack([TOKENS, TOKENS.roll(1, 1).where(KEEP, 1)])  # (2, 3, 6)
    keep = tokens != 1
    found = model(tokens, keep=keep)
    want = hf(input_ids=tokens, attention_mask=keep.long()).logits
    assert found.shape == (2, 3)
    torch.testing.assert_close(found, want, atol=1e-10, rtol=1e-10)
    alone = torch.cat([model(tokens[:, n : n + 1], keep=keep[:, n : n + 1]) for n in range(3)], 1)
    torch.testing.assert_close(found, alone)  # an answer's score does not know the others
    direction = torch.randn_like(want)
    (found * direction).sum().backward()
    (want * direction).sum().backward()
    exported = export_state(
        weights.rules_of(model), {n: p.grad for n, p in model.named_parameters()}
    )
    for name, parameter in hf.named_parameters():
        torch.testing.assert_close(exported[name], parameter.grad, atol=1e-10, rtol=1e-10)
    back = weights.export(model)
    assert back.keys() == hf.state_dict().keys()
    with pytest.raises(ValueError, match=r"\(batch, answers, length\), found \(3, 6\)"):
        model(TOKENS)
    with pytest.raises(ValueError, match="with its pooler"):
        BertMultipleChoice(small(pooler=False))


def test_bert_s_classifier_of_a_roberta_has_no_name_there():
    sizes = {"vocabulary": 19, "width": 12, "heads": 3, "hidden": 20, "positions": 11, "depth": 1}
    bert = Bert(BertConfig(**sizes, pad=1, skip_padding=True))
    with pytest.raises(ValueError, match="as RobertaClassifier does"):
        weights.export(BertClassifier(bert, classes=2))
