"""Label smoothing: torch's own loss, the paper's formula, padding, and a head on real tokens."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.label_smoothing import (
    fused_cross_entropy,
    lowest_loss,
    smoothed_cross_entropy,
    smoothed_targets,
)

PAD = 0
LOSSES = [smoothed_cross_entropy, fused_cross_entropy]


def example(vocabulary=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(3, 5, vocabulary, generator=generator, dtype=torch.double)
    targets = torch.randint(1, vocabulary, (3, 5), generator=generator)
    targets[0, 3:] = PAD
    targets[2, 1:] = PAD
    return logits.requires_grad_(), targets


@pytest.mark.parametrize("loss", LOSSES)
@given(st.integers(2, 9), st.floats(0, 0.9), st.integers(0, 99), st.sampled_from([None, PAD]))
def test_both_paths_are_torch_s_loss(loss, vocabulary, smoothing, seed, pad):
    logits, targets = example(vocabulary, seed)
    want = F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        label_smoothing=smoothing,
        ignore_index=-100 if pad is None else pad,
    )
    found = loss(logits, targets, smoothing=smoothing, pad=pad)
    torch.testing.assert_close(found, want)
    torch.testing.assert_close(
        torch.autograd.grad(found, logits), torch.autograd.grad(want, logits)
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_the_divergence_from_the_smoothed_target_up_to_a_constant(loss):
    """Szegedy et al.: KL(q ‖ p) with q = (1 − ε)·one-hot + ε/V, token by token, by hand."""
    logits, targets = example()
    terms = []
    for row, target in zip(logits.flatten(0, 1).tolist(), targets.flatten().tolist()):
        if target == PAD:
            continue
        total = math.fsum(math.exp(x) for x in row)
        p = [math.exp(x) / total for x in row]
        q = [0.1 / 7 + (0.9 if v == target else 0.0) for v in range(7)]
        terms.append(math.fsum(b * math.log(b / a) for a, b in zip(p, q)))
    divergence = math.fsum(terms) / len(terms)
    found = loss(logits, targets, smoothing=0.1, pad=PAD).item()
    assert found - divergence == pytest.approx(lowest_loss(7, 0.1), abs=1e-12)


@given(st.integers(2, 50), st.floats(0, 0.95))
def test_the_lowest_loss_is_reached_by_the_smoothed_target_itself(vocabulary, smoothing):
    targets = torch.tensor([1])
    q = smoothed_targets(targets, vocabulary, smoothing)
    torch.testing.assert_close(q.sum(-1), torch.ones(1))
    best = q.double().clamp(min=1e-300).log()
    floor = lowest_loss(vocabulary, smoothing)
    found = smoothed_cross_entropy(best, targets, smoothing=smoothing).item()
    assert found == pytest.approx(floor, abs=1e-5)
    worse = smoothed_cross_entropy(3 * best, targets, smoothing=smoothing).item()
    assert worse >= floor - 1e-5


def test_the_lowest_losses_that_the_docstring_names():
    assert lowest_loss(37_000, 0.1) == pytest.approx(1.38, abs=0.005)
    assert lowest_loss(37_000, 0.0) == 0.0


def test_the_gradient_stops_at_the_smoothed_target_and_vanishes_at_padding():
    logits, targets = example()
    real = (targets != PAD).sum()
    (grad,) = torch.autograd.grad(fused_cross_entropy(logits, targets, pad=PAD), logits)
    want = (logits.softmax(-1) - smoothed_targets(targets, 7, 0.1)) / real
    want = want.masked_fill((targets == PAD)[..., None], 0.0)
    torch.testing.assert_close(grad, want)


def test_a_mean_over_all_tokens_of_the_batch_not_over_rows():
    logits, targets = example()
    sums = [
        fused_cross_entropy(logits[row], targets[row], pad=PAD) * (targets[row] != PAD).sum()
        for row in range(3)
    ]
    torch.testing.assert_close(sum(sums) / 9, fused_cross_entropy(logits, targets, pad=PAD))


@given(st.data())
def test_both_paths_agree_at_impossible_words_and_ignored_targets(data):
    """Words of −∞, targets of −100, a padding token, none of them: also in the gradient."""
    logits, targets = example(seed=data.draw(st.integers(0, 99)))
    smoothing = data.draw(st.sampled_from([0.0, 0.1]))
    pad = data.draw(st.sampled_from([None, PAD, 3, -100, -1]))
    ignored = torch.rand(targets.shape) < data.draw(st.sampled_from([0.0, 0.5]))
    ignored[1, 0] = False
    targets[1, 0] = 2  # one is real, whatever pads
    targets = targets.masked_fill(ignored, -100)
    impossible = torch.rand(logits.shape) < data.draw(st.sampled_from([0.0, 0.3]))
    impossible.scatter_(-1, targets.clamp(min=0)[..., None], False)
    logits = logits.detach().masked_fill(impossible, -torch.inf).requires_grad_()
    found = [loss(logits, targets, smoothing=smoothing, pad=pad) for loss in LOSSES]
    torch.testing.assert_close(*found)
    grads = [torch.autograd.grad(x, logits)[0] for x in found]
    assert grads[0].isfinite().all()
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_word_that_is_impossible_costs_nothing_without_smoothing(loss):
    logits = torch.tensor([[1.0, -torch.inf, 2.0]])
    want = math.log(math.exp(1) + math.exp(2)) - 1
    assert loss(logits, torch.tensor([0]), smoothing=0.0).item() == pytest.approx(want)
    assert loss(logits, torch.tensor([0]), smoothing=0.1).item() == math.inf  # ε asks for it


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("pad", [None, PAD])
@pytest.mark.parametrize("wrong", [7, 99, -1, -99])
def test_a_target_that_is_no_word_is_refused(loss, pad, wrong):
    logits, targets = example()
    targets[1, 2] = wrong
    with pytest.raises((IndexError, RuntimeError), match=f"{wrong} is out of bounds"):
        loss(logits, targets, pad=pad)
    with pytest.raises(RuntimeError, match="Class values must be"):
        smoothed_targets(targets, 7, 0.1)


@pytest.mark.parametrize("loss", LOSSES)
def test_bad_input_gets_a_sentence(loss):
    logits, targets = example()
    with pytest.raises(ValueError, match=r"every target is padding \(-100\)"):
        loss(logits, torch.full_like(targets, -100))
    with pytest.raises(ValueError, match=r"every target is padding \(0\)"):
        loss(logits, torch.zeros_like(targets), pad=PAD)
