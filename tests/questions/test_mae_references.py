"""What assignment 18 calls right is what the course's MAE and its distillation compute, and what
loops over single patches and pixels give.
"""

from __future__ import annotations

import math

import ours
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.check.probe import randn
from coursekit.models.mae import MAE, MAEConfig, Painting, masked_patch_loss, random_masking
from coursekit.models.patches import patchify, unpatchify
from coursekit.models.vit import ViTConfig
from coursekit.objectives.distillation import distillation
from coursetools.questions import catalogue

RIGHT = catalogue.references(ours.load("a18_mae"))
DOUBLE = torch.float64


def hide_patches(noise, ratio):
    return tuple(random_masking(noise, ratio))


def paint_loss(predicted, patches, hidden, normalised=True):
    """The target by layer norm, whose variance is the biased one; so is the eps that it gets."""
    numbers = patches.shape[-1]
    if normalised:
        smaller = (numbers - 1) / numbers
        patches = smaller**0.5 * torch.nn.functional.layer_norm(
            patches, (numbers,), eps=1e-6 * smaller
        )
    return masked_patch_loss(predicted, patches, hidden)


def distil(class_logits, distil_logits, teacher_logits, labels, temperature=None, weight=0.5):
    kind = {"kind": "hard"} if temperature is None else {"kind": "soft", "temperature": temperature}
    return distillation(class_logits, distil_logits, teacher_logits, labels, weight=weight, **kind)


@pytest.mark.parametrize("part", [hide_patches, paint_loss, distil], ids=lambda f: f.__name__)
def test_our_answer_and_the_part_of_the_course_agree_on_every_case(part):
    ours.agree(part.__name__, part)


@settings(deadline=None)
@given(
    st.integers(1, 4), st.integers(1, 30), st.floats(0, 0.99), st.integers(0, 9)
)  # images, patches, ratio, seed
def test_the_shuffled_list_is_a_permutation_that_restore_undoes(images, patches, ratio, seed):
    noise = randn(images, patches, seed=seed, dtype=DOUBLE)
    K = int(patches * (1 - ratio) + 1e-6)  # a hair below a whole number is that number
    keep, hidden, restore = RIGHT.hide_patches(noise, ratio)
    for b in range(images):
        order = sorted(range(patches), key=lambda n: noise[b, n].item())
        assert keep[b].tolist() == order[:K]
        assert [order[place] for place in restore[b].tolist()] == list(range(patches))
        assert hidden[b].nonzero().flatten().tolist() == sorted(order[K:])


def test_own_scale_is_what_the_course_s_mae_aims_at_and_paints():
    config = MAEConfig(
        encoder=ViTConfig(
            image=8, patch=4, width=8, heads=2, depth=1, hidden=8, classes=0, positions="sine"
        ),
        decoder_width=8,
        decoder_depth=1,
        decoder_heads=2,
        decoder_hidden=8,
    )
    model, images = MAE(config).double(), 3 * randn(2, 3, 8, 8, seed=1, dtype=DOUBLE) + 1
    painted = randn(2, 4, 48, seed=2, dtype=DOUBLE)
    target, pixels = RIGHT.own_scale(patchify(images, 4), painted)
    torch.testing.assert_close(target, model.target(images))
    everything = torch.ones(2, 4, dtype=torch.bool)
    picture = model.paint(images, Painting(painted, everything, torch.zeros(2, 4).long()))
    torch.testing.assert_close(unpatchify(pixels, 4, (8, 8)), picture)


@settings(deadline=None)
@given(st.lists(st.floats(-50, 50), min_size=2, max_size=8), st.floats(1e-6, 2))
def test_a_target_is_scaled_as_on_paper_and_comes_back(numbers, eps):
    mean = sum(numbers) / len(numbers)
    spread = math.sqrt(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1) + eps)
    patch = torch.tensor(numbers, dtype=DOUBLE).reshape(1, 1, -1)
    target, _ = RIGHT.own_scale(patch, patch, eps)
    assert target.flatten().tolist() == pytest.approx(
        [(x - mean) / spread for x in numbers], abs=1e-9
    )
    _, back = RIGHT.own_scale(patch, target, eps)
    torch.testing.assert_close(back, patch)


def test_the_gradient_at_temperature_t_goes_to_that_of_the_squared_distance():
    """Hinton and others, 2015, equation 4: for large T, logits of mean 0, (v - z) / (K T²)."""
    said, teacher = (randn(3, 6, seed=n, dtype=DOUBLE) for n in (3, 4))
    said, teacher = (x - x.mean(dim=1, keepdim=True) for x in (said, teacher))
    z = said.clone().requires_grad_()
    loss = RIGHT.distil(torch.zeros_like(said), z, teacher, torch.zeros(3).long(), 1e4, 1.0)
    (found,) = torch.autograd.grad(loss, z)
    torch.testing.assert_close(found, (said - teacher) / 6 / 3, atol=1e-3, rtol=1e-3)


def test_whoever_says_what_the_teacher_says_pays_for_the_labels_alone():
    said, teacher = randn(4, 5, seed=5, dtype=DOUBLE), randn(4, 5, seed=6, dtype=DOUBLE)
    labels = torch.tensor([0, 4, 2, 2])
    soft = RIGHT.distil(said, teacher + 7, teacher, labels, 2.5, 0.3)
    truth = -said.log_softmax(-1)[torch.arange(4), labels].mean()
    torch.testing.assert_close(soft, 0.7 * truth)


@settings(deadline=None)
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9)),
    st.floats(0, 1),
    st.randoms(use_true_random=False),
)
def test_a_picture_is_mixed_as_pixel_by_pixel(size, share, chance):
    images, H, W = size
    x, labels = randn(images, 2, H, W, seed=7, dtype=DOUBLE), torch.eye(images, dtype=DOUBLE)
    partner = list(range(images))
    chance.shuffle(partner)
    given = x, labels, share, torch.tensor(partner)
    row, column = chance.randrange(H), chance.randrange(W)
    h, w = int(H * (1 - share) ** 0.5 / 2), int(W * (1 - share) ** 0.5 / 2)
    blended, both = RIGHT.mix_pictures(*given)
    boxed, counted = RIGHT.mix_pictures(*given, (row, column))
    for b, p in enumerate(partner):
        theirs = 0
        for i in range(H):
            for j in range(W):
                inside = row - h <= i < row + h and column - w <= j < column + w
                theirs += inside
                assert torch.equal(boxed[b, :, i, j], x[p if inside else b, :, i, j])
                torch.testing.assert_close(
                    blended[b, :, i, j], share * x[b, :, i, j] + (1 - share) * x[p, :, i, j]
                )
        assert both[b, p].item() == pytest.approx(1 if p == b else 1 - share)
        assert counted[b, p].item() == pytest.approx(1 if p == b else theirs / (H * W))
    torch.testing.assert_close(counted.sum(dim=1), torch.ones(images, dtype=DOUBLE))
