"""ResNet: equal to transformers, the names of torchvision, frozen norms, dilation, counts."""

import dataclasses
import os

os.environ["HF_HUB_OFFLINE"] = "1"

from functools import partial

import pytest
import torch
from torch import nn

from coursekit.models import weights
from coursekit.models.resnet import FrozenBatchNorm2d, ResidualBlock, ResNet, ResNetConfig
from coursekit.models.weights.rules import export_state

KINDS = ("basic", "bottleneck")


def randomised(model: nn.Module) -> nn.Module:
    """Draw every parameter and statistic, so that no zero and no one can hide a mistake."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if name.endswith("running_var"):
                tensor.uniform_(0.5, 2)
            elif tensor.is_floating_point():
                tensor.normal_(0, 0.3)
    return model


def small(**changes) -> ResNet:
    config = ResNetConfig(depths=(2, 1, 2), width=4, classes=5)
    return randomised(ResNet(dataclasses.replace(config, **changes))).double().eval()


def theirs(block: str, *, stride_first: bool = False, classes: int = 5) -> nn.Module:
    from transformers import ResNetConfig as Config
    from transformers import ResNetForImageClassification, ResNetModel

    expansion = 4 if block == "bottleneck" else 1
    config = Config(
        embedding_size=4,
        hidden_sizes=[4 * expansion * 2**stage for stage in range(3)],
        depths=[2, 1, 2],
        layer_type=block,
        downsample_in_bottleneck=stride_first,
        num_labels=classes,
    )
    return randomised((ResNetForImageClassification if classes else ResNetModel)(config))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize(
    ("block", "stride_first", "size"),
    [("basic", False, (33, 48)), ("bottleneck", False, (47, 32)), ("bottleneck", True, (40, 40))],
)
def test_it_equals_transformers(block, stride_first, size, train, dtype):
    reference = theirs(block, stride_first=stride_first).to(dtype).train(train)
    config = ResNetConfig(
        block=block, depths=(2, 1, 2), width=4, classes=5, stride_first=stride_first
    )
    net = weights.build(ResNet, reference.state_dict(), config).to(dtype).train(train)
    atol = 1e-5 if dtype == torch.float32 else 1e-10
    images = torch.randn(3, 3, *size, dtype=dtype)
    expected = reference(images, output_hidden_states=True)
    logits = net(images)
    torch.testing.assert_close(logits, expected.logits, atol=atol, rtol=atol)
    if not train:  # a second pass would move the statistics
        for found, wanted in zip(net.maps(images), expected.hidden_states[1:], strict=True):
            torch.testing.assert_close(found, wanted, atol=atol, rtol=atol)
    target = torch.randn_like(logits)
    (expected.logits * target).sum().backward()
    (logits * target).sum().backward()
    gradients = {name: tensor.grad for name, tensor in reference.named_parameters()}
    ours = dict(net.named_parameters())
    state = {
        name: t if name not in ours else ours[name].grad for name, t in net.state_dict().items()
    }
    exported = export_state(weights.rules_of(net, "huggingface"), state)
    for name, gradient in gradients.items():
        scale = float(gradient.abs().max()) + 1
        torch.testing.assert_close(exported[name] / scale, gradient / scale, atol=atol, rtol=atol)
    if train:  # the statistics moved alike
        for name, buffer in weights.export(net).items():
            torch.testing.assert_close(buffer, reference.state_dict()[name], atol=atol, rtol=atol)


@pytest.mark.parametrize("block", KINDS)
def test_without_classes_it_is_their_bare_model_and_returns_the_last_map(block):
    reference = theirs(block, classes=0).double().eval()
    config = ResNetConfig(block=block, depths=(2, 1, 2), width=4, classes=0)
    net = weights.build(ResNet, reference.state_dict(), config).double().eval()
    images = torch.randn(2, 3, 40, 56, dtype=torch.double)
    torch.testing.assert_close(net(images), reference(images).last_hidden_state)
    assert net(images).shape == (2, config.widths[-1], 3, 4)  # 1/16 of 40 and 56, rounded up


@pytest.mark.parametrize("block", KINDS)
@pytest.mark.parametrize("classes", [0, 5])
@pytest.mark.parametrize("frozen", [False, True])
def test_names_go_there_and_back(block, classes, frozen):
    net = small(block=block, classes=classes, frozen_norm=frozen)
    for kind in ("huggingface", "torchvision"):
        state = weights.export(net, kind)
        load = partial(weights.build, ResNet, layout=kind)
        again = load(state, net.config).state_dict()
        assert again.keys() == net.state_dict().keys()
        assert all(
            torch.equal(again[name], tensor.float()) for name, tensor in net.state_dict().items()
        )
        with pytest.raises(ValueError, match=r"'something\.weight', which this model has no place"):
            load(state | {"something.weight": torch.zeros(1)}, net.config)
        name = next(iter(state))
        with pytest.raises(ValueError, match=f"'{name}'"):
            load({k: v for k, v in state.items() if k != name}, net.config)


def torchvision_names(block: str, depths: tuple[int, ...]) -> set[str]:
    """The names in torchvision's files, written out from its constructor."""
    norm = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
    names = {"conv1.weight", "fc.weight", "fc.bias"} | {f"bn1.{kind}" for kind in norm}
    for stage, depth in enumerate(depths, 1):
        for i in range(depth):
            for k in (1, 2, 3)[: 2 if block == "basic" else 3]:
                names |= {f"layer{stage}.{i}.conv{k}.weight"}
                names |= {f"layer{stage}.{i}.bn{k}.{kind}" for kind in norm}
            if i == 0 and (stage > 1 or block == "bottleneck"):
                names |= {f"layer{stage}.{i}.downsample.0.weight"}
                names |= {f"layer{stage}.{i}.downsample.1.{kind}" for kind in norm}
    return names


@pytest.mark.parametrize("size", ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152"])
def test_the_names_are_torchvision_s(size):
    config = getattr(ResNetConfig, size)()
    with torch.device("meta"):
        state = weights.export(ResNet(config), "torchvision")
    assert state.keys() == torchvision_names(config.block, config.depths)
    bottleneck = config.block == "bottleneck"
    assert state["layer3.0.conv1.weight"].shape == (
        (256, 512, 1, 1) if bottleneck else (256, 128, 3, 3)
    )
    assert state["layer2.0.downsample.0.weight"].shape[2:] == (1, 1)
    assert state["conv1.weight"].shape == (64, 3, 7, 7)


@pytest.mark.parametrize(
    ("size", "count"),
    [
        ("resnet18", 11_689_512),
        ("resnet34", 21_797_672),
        ("resnet50", 25_557_032),
        ("resnet101", 44_549_160),
        ("resnet152", 60_192_808),
    ],
)
def test_parameters(size, count):
    with torch.device("meta"):
        net = ResNet(getattr(ResNetConfig, size)())
    assert sum(parameter.numel() for parameter in net.parameters()) == count


def test_a_frozen_norm_is_a_batch_norm_at_rest():
    x = torch.randn(4, 6, 5, 3, dtype=torch.double, requires_grad=True)
    norm, frozen = randomised(nn.BatchNorm2d(6)).double(), FrozenBatchNorm2d(6).double()
    state = {name: t for name, t in norm.state_dict().items() if name != "num_batches_tracked"}
    assert frozen.state_dict().keys() == state.keys()  # saved with the model
    frozen.load_state_dict(state)
    shape = (1, -1, 1, 1)
    mean, var, weight, bias = (
        state[name].view(shape) for name in ("running_mean", "running_var", "weight", "bias")
    )
    out = frozen.train()(x)
    torch.testing.assert_close(out, (x - mean) * (var + 1e-5) ** -0.5 * weight + bias)
    torch.testing.assert_close(out, norm.eval()(x))
    out.sum().backward()
    assert x.grad.abs().sum() > 0  # the gradient goes through it and not into it
    assert list(frozen.parameters()) == []
    assert all(torch.equal(state[name], tensor) for name, tensor in frozen.state_dict().items())


def test_frozen_norms_make_training_the_same_as_evaluation():
    frozen, moving = small(frozen_norm=True), small()
    assert not any(isinstance(module, nn.BatchNorm2d) for module in frozen.modules())
    again = weights.build(
        ResNet, weights.export(moving, "torchvision"), frozen.config, "torchvision"
    ).double()  # one drops in
    images = torch.randn(2, 3, 32, 32, dtype=torch.double)
    torch.testing.assert_close(again.train()(images), moving(images))
    together = again(images)
    torch.testing.assert_close(torch.cat([again(image[None]) for image in images]), together)


def test_dilation_keeps_the_map_and_the_weights():
    """DC5: no stride in the last stage; its first block is whole, the others have holes of 2."""
    plain, wide = (
        small(depths=(1, 1, 3), classes=0),
        small(depths=(1, 1, 3), classes=0, dilation=True),
    )
    wide.load_state_dict(plain.state_dict())
    images = torch.randn(1, 3, 64, 64, dtype=torch.double)
    assert [tuple(m.shape[2:]) for m in plain.maps(images)] == [(16, 16), (8, 8), (4, 4)]
    assert [tuple(m.shape[2:]) for m in wide.maps(images)] == [(16, 16), (8, 8), (8, 8)]
    convolutions = [block.branch[1].convolution for block in wide.stages[-1]]
    assert [c.dilation for c in convolutions] == [(1, 1), (2, 2), (2, 2)]
    assert all(c.stride == (1, 1) for c in convolutions)
    # The first block sees at every second place what the one with stride 2 sees.
    before = plain.maps(images)[1]
    torch.testing.assert_close(wide.stages[2][0](before)[..., ::2, ::2], plain.stages[2][0](before))


def test_a_block_that_corrects_nothing_is_the_identity():
    block = ResidualBlock(ResNetConfig(block="basic"), 4, 4).eval()
    nn.init.zeros_(block.branch[-1].norm.weight)
    x = torch.rand(2, 4, 5, 5)
    assert torch.equal(block(x), x)
    assert torch.equal(block(-x), torch.zeros_like(x))  # the sum goes through the ReLU


def test_freeze_stops_the_first_stages():
    net = small(frozen_norm=True)
    net.freeze(1)
    net(torch.randn(1, 3, 32, 32, dtype=torch.double)).sum().backward()
    for name, parameter in net.named_parameters():
        still = name.startswith(("stem.", "stages.0."))
        assert (parameter.grad is None) == still, name
    with pytest.raises(ValueError, match="stages must be 0 to 3, found 4"):
        net.freeze(4)


def test_it_starts_as_the_paper_says():
    """He et al. (2015): the variance of a weight is 2 / fan-out."""
    torch.manual_seed(0)
    net = ResNet(ResNetConfig(depths=(1, 1), width=32, classes=2))
    for name, parameter in net.named_parameters():
        if "convolution" in name:
            fan_out = parameter.shape[0] * parameter.shape[2] * parameter.shape[3]
            assert parameter.std().item() == pytest.approx((2 / fan_out) ** 0.5, rel=0.05)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"block": "basic", "dilation": True}, "dilation is for bottleneck blocks"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(**changes)
