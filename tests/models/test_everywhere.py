"""Every model, wherever its weights are: offloaded, made without memory, quantized, on meta."""

from __future__ import annotations

import copy
from dataclasses import fields, is_dataclass
from typing import Any

import accelerate
import pytest
import torch
from torch import Tensor, nn

from coursekit.decoding.generation import generate


def tensors(out: Any) -> list[Tensor]:
    """Return every tensor of numbers in what a model returns."""
    if isinstance(out, Tensor):
        return [out] if out.is_floating_point() else []
    if is_dataclass(out):
        out = [getattr(out, field.name) for field in fields(out)]
    return [t for part in out for t in tensors(part)] if isinstance(out, tuple | list) else []


@pytest.fixture
def model(case) -> nn.Module:
    """Return the model with random weights, those too that start as zeros."""
    torch.manual_seed(0)
    net = case.make().eval()
    for parameter in net.parameters():
        if parameter.requires_grad:
            nn.init.normal_(parameter, std=0.3)
    return net


@torch.no_grad()
def same(net: nn.Module, other: nn.Module, given: dict[str, Tensor], **close: float) -> None:
    found, expected = tensors(other(**given)), tensors(net(**given))
    assert len(found) == len(expected) > 0
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b, **close)


@pytest.mark.parametrize("buffers", [False, True])
def test_weights_may_wait_elsewhere_until_they_are_needed(case, model, buffers):
    lazy = accelerate.cpu_offload(
        copy.deepcopy(model), torch.device("cpu"), offload_buffers=buffers
    )
    assert all(parameter.is_meta for parameter in lazy.parameters())
    same(model, lazy, case.inputs(2, 16))


def test_weights_may_wait_on_a_disk(case, model, tmp_path):
    lazy = nn.Sequential(copy.deepcopy(model))  # a map names the parts of a module
    lazy.forward = lambda **given: lazy[0](**given)
    accelerate.dispatch_model(
        lazy, {"0": "disk"}, main_device="cpu", offload_dir=tmp_path, force_hooks=True
    )
    assert all(parameter.is_meta for parameter in lazy.parameters())
    same(model, lazy, case.inputs(2, 16))


WRITERS = ["GPT", "GPT, Llama", "T5", "T5 1.1", "Bart", "BartCausalLM", "Marian"]
WRITERS += ["Seq2SeqTransformer, three matrices"]


@pytest.mark.parametrize("case", WRITERS, indirect=True)
def test_a_text_is_written_while_the_weights_wait(case, model):
    lazy = copy.deepcopy(model)
    accelerate.cpu_offload(lazy, torch.device("cpu"), offload_buffers=True)
    tokens, *more = case.inputs(2, 5).values()
    texts = []
    for net in (model, lazy):
        start = () if hasattr(net, "stack") else (tokens,)
        prompt = tokens if hasattr(net, "stack") else more[0]
        texts.append(generate(net, prompt, net.start(*start), longest=4))
    assert torch.equal(*texts)


@pytest.mark.parametrize("case", ["ViT", "DeiT"], indirect=True)
def test_features_are_found_while_the_weights_wait(case, model):
    lazy = accelerate.cpu_offload(copy.deepcopy(model), torch.device("cpu"))
    images = case.inputs(2, 16)["images"]
    with torch.no_grad():
        assert torch.equal(lazy.features(images), model.features(images))


def test_made_without_memory_and_filled_it_is_the_same(case, model):
    with torch.device("meta"):
        net = case.make()
    net = net.to_empty(device="cpu").eval()
    for tensor in (*net.parameters(), *net.buffers()):
        tensor.data.fill_(7)  # what nobody writes is seen
    net.load_state_dict(model.state_dict(), strict=True)
    same(model, net, case.inputs(2, 16))
    assert net.state_dict().keys() >= dict(net.named_buffers()).keys()  # no other needs filling


def test_shapes_can_be_asked_for_without_numbers(case, model):
    given = case.inputs(2, 16)
    found = model.to("meta")(**{name: tensor.to("meta") for name, tensor in given.items()})
    expected = case.make().eval()(**given)
    assert [t.shape for t in tensors(found)] == [t.shape for t in tensors(expected)]
    assert all(t.is_meta for t in tensors(found))


@pytest.mark.filterwarnings("ignore")
def test_linear_maps_can_be_quantized(case, model):
    quantized = torch.ao.quantization.quantize_dynamic(copy.deepcopy(model))
    same(model, quantized, case.inputs(2, 16), atol=0.2, rtol=0.1)


def test_every_example_has_gradients_of_its_own(case, model, request):
    """`vmap(grad(...))`, as for the clipped gradients of private training, beside a loop."""
    if any(name in request.node.callspec.id for name in ("RNNSearch",)):
        pytest.skip("packed sequences are cut by looking at their numbers")
    given = case.inputs(3, 16)
    weights = {n: w for n, w in model.named_parameters() if w.requires_grad}

    def loss(weights: dict[str, Tensor], one: dict[str, Tensor]) -> Tensor:
        batch = {name: tensor[None] for name, tensor in one.items()}
        out = torch.func.functional_call(model, weights, (), batch)
        return sum(tensor.square().mean() for tensor in tensors(out))

    together = torch.func.vmap(torch.func.grad(loss), (None, 0))(weights, given)
    for row in range(3):
        alone = torch.func.grad(loss)(weights, {name: x[row] for name, x in given.items()})
        for name, gradient in alone.items():
            torch.testing.assert_close(together[name][row], gradient, atol=1e-4, rtol=1e-4)
