"""DeiT: equal to transformers, the two heads, exact sizes, and the distillation losses by hand."""

import math

import pytest
import torch
import torch.nn.functional as F
import transformers

from coursekit.analysis import capture
from coursekit.models import weights
from coursekit.models.deit import DeiT, DeiTConfig
from coursekit.models.vit import ViT, ViTConfig
from coursekit.models.weights.rules import export_state
from coursekit.objectives.distillation import distillation, hard_distillation, soft_distillation

from .conftest import randomised


def small(**changes) -> DeiT:
    sizes = {"image": 8, "patch": 4, "classes": 5, "width": 8, "depth": 2, "heads": 2, "hidden": 12}
    return randomised(DeiT(DeiTConfig(**(sizes | changes)))).double().eval()


def images(*shape: int, dtype: torch.dtype = torch.double) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=dtype)


# Parity with transformers

THEIRS = {
    "image_size": 8,
    "patch_size": 4,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "num_labels": 7,
}
CONFIGS = {
    "small": {},
    "rectangular": {"image_size": (4, 10), "patch_size": 2, "num_channels": 1},
    "eps": {"num_hidden_layers": 3, "num_attention_heads": 4, "layer_norm_eps": 1e-3},
}


def pair(dtype: torch.dtype, **changes):
    theirs = transformers.DeiTForImageClassificationWithTeacher(
        transformers.DeiTConfig(**(THEIRS | changes))
    )
    theirs = randomised(theirs).to(dtype).eval()
    config = weights.read_config(DeiTConfig, theirs.config.to_dict())
    return theirs, weights.build(DeiT, theirs.state_dict(), config).to(dtype).eval()


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_equal_to_transformers_forward_and_backward(changes, dtype, atol):
    theirs, ours = pair(dtype, **changes)
    x = images(2, ours.config.channels, *ours.config.size, dtype=dtype)
    expected, both = theirs(x), ours.both(ours.features(x))
    torch.testing.assert_close(both.label, expected.cls_logits, atol=atol, rtol=atol)
    torch.testing.assert_close(both.teacher, expected.distillation_logits, atol=atol, rtol=atol)
    found = ours(x)
    torch.testing.assert_close(found, expected.logits, atol=atol, rtol=atol)
    torch.testing.assert_close(
        ours.features(x), theirs.deit(x).last_hidden_state, atol=atol, rtol=atol
    )
    expected.logits.sin().sum().backward()
    found.sin().sum().backward()
    exported = export_state(weights.rules_of(ours), {n: p.grad for n, p in ours.named_parameters()})
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(
            exported.pop(name), parameter.grad, atol=10 * atol, rtol=10 * atol, msg=name
        )
    assert not exported


@pytest.mark.parametrize("size", [(12, 12), (20, 4)])
def test_another_resolution_as_in_transformers(size):
    theirs, ours = pair(torch.float64)
    x = images(2, 3, *size)
    expected = theirs(x, interpolate_pos_encoding=True).logits
    torch.testing.assert_close(ours(x, interpolate=True), expected, atol=1e-10, rtol=0)
    torch.testing.assert_close(ours.resized(size)(x), expected, atol=1e-10, rtol=0)


def test_round_trip_and_left_overs():
    theirs, ours = pair(torch.float32)
    state, back = theirs.state_dict(), weights.export(ours)
    assert back.keys() == state.keys()
    assert all(torch.equal(back[name], state[name]) for name in state)
    with pytest.raises(ValueError, match="'extra'"):
        weights.build(DeiT, state | {"extra": torch.zeros(1)}, ours.config)
    del state["deit.embeddings.distillation_token"]
    with pytest.raises(ValueError, match=r"lack 'deit.embeddings.distillation_token'"):
        weights.build(DeiT, state, ours.config)


# The two tokens


@pytest.mark.parametrize("positions", ["1d", "2d", "relative", "none"])
def test_two_tokens_two_heads_and_their_mean(positions):
    net = small(positions=positions)
    x = images(3, 3, 8, 8)
    features = net.features(x)
    assert features.shape == (3, 6, 8)  # 2 tokens, 4 patches
    both, recording = net.both(features), capture(net, x)
    torch.testing.assert_close(both.label, net.head(features[:, 0]))
    torch.testing.assert_close(both.teacher, net.distillation_head(features[:, 1]))
    torch.testing.assert_close(net(x), (both.label + both.teacher) / 2)
    torch.testing.assert_close(net(x[1:2])[0], net(x)[1])
    assert len(recording.states["stack"]) == 3
    assert recording.weights["stack.self_attention"][1].shape == (3, 2, 6, 6)


def test_the_distillation_loss_reaches_every_parameter():
    net = small()
    both = net.both(net.features(images(3, 3, 8, 8)))
    labels = torch.tensor([0, 1, 4])
    distillation(both.label, both.teacher, images(3, 5), labels).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name
    net.zero_grad()
    both = net.both(net.features(images(3, 3, 8, 8)))
    distillation(both.label.detach(), both.teacher, images(3, 5), labels).backward()
    assert net.head.weight.grad is None  # the teacher speaks to its own head only


def test_the_paper_s_sizes():
    """With the distillation token; without it the paper's table 1 has 22M and 86M."""

    def count(model, config):
        with torch.device("meta"):
            return sum(p.numel() for p in model(config).parameters())

    assert count(DeiT, DeiTConfig.tiny()) == 5_910_800
    assert count(DeiT, DeiTConfig.small()) == 22_436_432
    assert count(DeiT, DeiTConfig.base()) == 87_338_192
    assert count(ViT, ViTConfig(width=384, heads=6, hidden=1536)) == 22_050_664
    assert count(ViT, ViTConfig.base()) == 86_567_656
    assert DeiTConfig.small().width // DeiTConfig.small().heads == 64


def test_it_starts_as_one_normal_of_0_02():
    net = DeiT(DeiTConfig(image=32, patch=4, width=96, heads=2, depth=2, hidden=96, classes=64))
    for module in (
        net.head,
        net.distillation_head,
        net.embedding,
        net.stack.blocks[0].self_attention.qkv,
    ):
        assert module.weight.std().item() == pytest.approx(0.02, rel=0.1)
        assert module.bias.eq(0).all()
    assert net.distillation_token.std().item() == pytest.approx(0.02, rel=0.3)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pool": "mean"}, "pool must be 'class'"),
        ({"representation": 4}, "representation 0, found 'class' and 4"),
        ({"image": 9}, "patches of 4 must divide the image"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(**changes)


# The losses

STUDENT = torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], dtype=torch.double)
TEACHER = torch.tensor([[0.0, 4.0, 1.0], [2.0, 1.0, 0.0]], dtype=torch.double)
LABELS = torch.tensor([0, 2])


def softmax(row, temperature=1.0):
    parts = [math.exp(x / temperature) for x in row]
    return [part / sum(parts) for part in parts]


def test_hard_is_cross_entropy_with_the_teacher_s_choice():
    rows = [softmax(row) for row in STUDENT.tolist()]
    expected = -(math.log(rows[0][1]) + math.log(rows[1][0])) / 2
    assert hard_distillation(STUDENT, TEACHER).item() == pytest.approx(expected)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_soft_is_the_divergence_written_out(temperature):
    total = 0.0
    for s, t in zip(STUDENT.tolist(), TEACHER.tolist()):
        student, teacher = softmax(s, temperature), softmax(t, temperature)
        total += sum(q * (math.log(q) - math.log(p)) for p, q in zip(student, teacher))
    expected = temperature**2 * total / 2
    found = soft_distillation(STUDENT, TEACHER, temperature=temperature)
    assert found.item() == pytest.approx(expected)
    assert soft_distillation(TEACHER, TEACHER).item() == pytest.approx(0, abs=1e-12)


def test_the_temperature_does_not_change_the_gradient_s_size():
    """For a high τ the gradient is (student − teacher) / K, the mean of each taken off (Hinton)."""
    student = STUDENT.clone().requires_grad_()
    soft_distillation(student, TEACHER, temperature=1e4).backward()
    expected = (STUDENT - STUDENT.mean(-1, keepdim=True)) - (
        TEACHER - TEACHER.mean(-1, keepdim=True)
    )
    torch.testing.assert_close(student.grad, expected / 3 / 2, atol=1e-3, rtol=0)


def test_the_teacher_gets_no_gradient():
    teacher = TEACHER.clone().requires_grad_()
    student = STUDENT.clone().requires_grad_()
    (soft_distillation(student, teacher) + hard_distillation(student, teacher)).backward()
    assert teacher.grad is None and student.grad.abs().sum() > 0


def test_the_two_parts_are_mixed_as_in_the_paper():
    truth = F.cross_entropy(STUDENT, LABELS)
    other = STUDENT.flip(0)
    hard, soft = hard_distillation(other, TEACHER), soft_distillation(other, TEACHER)
    given = (STUDENT, other, TEACHER, LABELS)
    torch.testing.assert_close(distillation(*given), truth / 2 + hard / 2)
    torch.testing.assert_close(distillation(*given, kind="soft"), 0.9 * truth + 0.1 * soft)
    torch.testing.assert_close(
        distillation(*given, kind="soft", weight=0.3, temperature=1.0),
        0.7 * truth + 0.3 * soft_distillation(other, TEACHER, temperature=1.0),
    )


def test_bad_losses_get_a_sentence():
    with pytest.raises(ValueError, match="not empty"):
        soft_distillation(STUDENT[:0], TEACHER[:0])
