"""Micro-batches: each mean is divided by its count in the whole batch, and a step stays the same.

Models are in 64 bits here, so that a difference of rounding is 1e-15 and any other one shows.
"""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from coursekit.boxes.geometry import Objects
from coursekit.models.bert import BertConfig, BertForPreTraining
from coursekit.models.detr import DETR, DETRConfig
from coursekit.objectives.detection import DetectionLoss
from coursekit.objectives.masked_lm import IGNORED, masked_lm_loss
from coursekit.objectives.next_sentence import PairInput, next_sentence_loss, pad_pairs
from coursekit.training.batches import Batches
from coursekit.training.callbacks import ClipGradients, Evaluate, ProgressBar, WatchGradients
from coursekit.training.computing import using
from coursekit.training.detection import Pictures, collate_objects, set_loss
from coursekit.training.loop import train
from coursekit.training.micro_batches import seed_of
from coursekit.training.sliding import window_loss

from .regression import collate, loss, rows
from .several import launch

QUIET = [ProgressBar(quiet=True)]
OFF = {"dropout": 0.0, "attention_dropout": 0.0}


def first_gradient(model, items, collate, loss, number=1):
    """The gradient of the first step, as a callback sees it; the model stays as it was."""
    model, seen = copy.deepcopy(model).double(), []

    def watch(step, model):
        seen.append([None if w.grad is None else w.grad.clone() for w in model.parameters()])

    batches = Batches(items, collate, size=len(items))
    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
    with using(micro_batches=number):
        train(model, batches, loss, optimiser, steps=1, callbacks=[WatchGradients(watch), *QUIET])
    return torch.cat([gradient.flatten() for gradient in seen[0] if gradient is not None])


def assert_same_step(model, items, collate, loss, cuts=(2, 4, 8)):
    whole = first_gradient(model, items, collate, loss)
    for number in cuts:
        gradient = first_gradient(model, items, collate, loss, number)
        assert (gradient - whole).norm() < 1e-12 * whole.norm(), number
    return whole


def detr():
    torch.manual_seed(0)
    model = DETR(DETRConfig(classes=3, queries=5, channels=8, width=8, heads=2, hidden=8,
                            encoder_depth=1, decoder_depth=2, hidden_dropout=0.0,
                            **OFF))  # fmt: skip
    items = []
    for count in (1, 0, 4, 2, 5, 1, 3, 0):
        boxes = torch.cat([0.3 + 0.4 * torch.rand(count, 2), torch.rand(count, 2) * 0.3], dim=1)
        objects = Objects(labels=torch.randint(3, (count,)), boxes=boxes.double())
        items.append((torch.randn(8, 3, 4).double(), objects))
    return model, items


def test_a_detector():
    model, items = detr()
    objective = DetectionLoss()
    whole = assert_same_step(model, items, collate_objects, set_loss(objective))
    model = model.double()
    batch = collate_objects(items)
    total, _ = objective(model(batch.images), batch.targets())
    torch.testing.assert_close(
        torch.cat([g.flatten() for g in torch.autograd.grad(total, list(model.parameters()))]),
        whole, rtol=1e-9, atol=1e-12,
    )  # fmt: skip


def pretraining():
    torch.manual_seed(0)
    model = BertForPreTraining(BertConfig(vocabulary=30, width=8, depth=1, heads=2, hidden=16,
                                          positions=16, pad=0, **OFF))  # fmt: skip
    pairs = []
    for _ in range(8):
        length = random.Random(len(pairs)).randint(6, 12)
        tokens = torch.randint(5, 30, (length,)).tolist()
        pairs.append(PairInput(tokens, [0] * 3 + [1] * (length - 3), len(pairs) % 3 == 0))

    def loss(model, batch):
        chosen = (batch.tokens * 7 + batch.tokens.cumsum(1)) % 5 == 0  # of the row: equal in both
        chosen &= batch.tokens != 0
        labels = batch.tokens.masked_fill(~chosen, IGNORED)
        said = model(batch.tokens.masked_fill(chosen, 4), batch.segments, batch.tokens != 0)
        return [
            (masked_lm_loss(said.masked_lm, labels, reduction="sum"), chosen.sum()),
            (next_sentence_loss(said.next_sentence, batch.is_next, reduction="sum"), len(labels)),
        ]

    return model, pairs, loss


def test_masked_tokens_and_pairs():
    model, pairs, loss = pretraining()
    whole = assert_same_step(model, pairs, lambda rows: pad_pairs(rows, 0), loss)
    assert whole.norm() > 0


def test_of_masked_tokens_alone_the_mean_is_that_of_the_batch():
    model, pairs, loss = pretraining()
    alone = lambda model, batch: loss(model, batch)[0]  # noqa: E731
    whole = assert_same_step(model, pairs, lambda rows: pad_pairs(rows, 0), alone)
    model = model.double()
    total, count = alone(model, pad_pairs(pairs, 0))
    used = [w for w in model.parameters()]
    gradients = torch.autograd.grad(total / count, used, allow_unused=True)
    expected = torch.cat([g.flatten() for g in gradients if g is not None])
    torch.testing.assert_close(whole, expected, rtol=1e-9, atol=1e-12)


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(3 * 24 * 24, 4)

    def forward(self, windows):
        return self.read(windows.flatten(1))


def test_windows(monkeypatch):
    """The windows are made a function of the image here, the same in both."""
    torch.manual_seed(0)
    items = []
    for count in (1, 3, 0, 2):
        boxes = torch.cat([0.3 + 0.4 * torch.rand(count, 2), torch.full((count, 2), 0.2)], dim=1)
        objects = Objects(labels=torch.randint(3, (count,)), boxes=boxes.double())
        items.append((torch.randn(3, 16, 16).double(), objects))

    def windows(batch: Pictures, **options):
        picture = torch.arange(len(batch.counts)).repeat_interleave(batch.counts)
        return picture, batch.boxes, batch.labels

    monkeypatch.setattr("coursekit.training.sliding.draw_windows", windows)
    assert_same_step(Windows(), items, collate_objects, window_loss((0.1, 0.4)), cuts=(2, 4))


def test_a_batch_without_objects_has_no_windows():
    nothing = Objects(labels=torch.zeros(0).long(), boxes=torch.zeros(0, 4))
    batch = collate_objects([(torch.randn(3, 16, 16), nothing)] * 2)
    total, count = window_loss((0.1, 0.4))(Windows(), batch)
    total.backward()
    assert (total.item(), count) == (0.0, 0)


def table():
    """Sixteen rows; with plain gradient descent a factor of the gradient shows."""
    torch.manual_seed(0)
    return [(x.double(), real) for x, real in rows(16)], collate, loss


@pytest.mark.parametrize("number", [1, 3])
def test_plain_gradient_descent_by_hand(number):
    items, collate, loss = table()
    model = nn.Linear(4, 3).double()
    other = copy.deepcopy(model)
    batches = Batches(items, collate, size=7)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    with using(micro_batches=number):
        train(model, batches, loss, optimiser, steps=5, callbacks=QUIET)
    for _, chosen in zip(range(5), batches.from_step()):
        total, count = loss(other, batches.collated(chosen[1]))
        gradients = torch.autograd.grad(total / count, list(other.parameters()))
        with torch.no_grad():
            for weight, gradient in zip(other.parameters(), gradients):
                weight -= 0.1 * gradient
    for weight, expected in zip(model.parameters(), other.parameters()):
        torch.testing.assert_close(weight, expected, rtol=1e-12, atol=1e-14)


def two_means(model, batch):
    """Over the targets, and over the rows: other denominators."""
    inputs, real = batch
    said = model(inputs)
    return [
        ((said - 1).square()[real].sum(), real.sum()),
        (said.sum(-1).square().sum(), len(inputs)),
        ((said * 0).sum(), 0),  # a mean over nothing, as the boxes of images without objects
    ]


@pytest.mark.parametrize("number", [1, 2])
def test_two_processes_and_several_means(tmp_path, number):
    items, collate, _ = table()

    def fit(number=1, **options):
        torch.manual_seed(1)
        model = nn.Linear(4, 3).double()
        with using(micro_batches=number):
            history = train(
                model, Batches(items, collate, size=8), two_means,
                torch.optim.SGD(model.parameters(), lr=0.1), steps=4,
                callbacks=[Evaluate(every=2), *QUIET], **options,
            )  # fmt: skip
        return model, history

    path = tmp_path / "run.pt"
    launch(lambda: fit(number, checkpoint=path), processes=2)
    model, history = fit()
    found = torch.load(path, weights_only=True)
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(found["model"][name], weight, rtol=1e-12, atol=1e-14)
    for row, other in zip(found["history"]["curve"], history.curve, strict=True):
        assert row["loss"] == pytest.approx(other["loss"], rel=1e-6)


def test_the_curve_of_several_means_has_the_mean_of_the_steps_losses():
    items, collate, _ = table()
    model, seen = nn.Linear(4, 3).double(), []

    def noted(model, batch):
        pairs = two_means(model, batch)
        seen.append(sum(total.item() / max(float(count), 1) for total, count in pairs))
        return pairs

    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = Batches(items, collate, size=8)
    history = train(model, batches, noted, optimiser, steps=4, callbacks=QUIET)
    assert history.last["loss"] == pytest.approx(sum(seen) / 4, rel=1e-6)


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.drop, self.read = nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 3)

    def forward(self, x):
        return self.read(self.drop(self.norm(x)))


def test_counting_leaves_no_trace():
    """BatchNorm counts each micro-batch once, and the same is drawn whether counted first."""
    items, collate, loss = table()
    ends = []
    for means in (False, True):
        torch.manual_seed(2)
        model = Normed().double()

        def listed(model, batch, means=means):
            return [loss(model, batch), (0 * model.read.bias.sum(), 1)][: 1 + means]

        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        batches = Batches(items, collate, size=8)
        with using(micro_batches=4):
            train(model, batches, listed, optimiser, steps=3, callbacks=QUIET)
        assert model.norm.num_batches_tracked == 12
        ends.append(model.state_dict())
    for name, value in ends[0].items():
        torch.testing.assert_close(value, ends[1][name], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("number", [1, 2])
def test_micro_batches_draw_what_is_different_and_repeatable(number):
    items, collate, loss = table()
    seen = []

    def drawn(model, batch):
        seen.append((torch.rand(()).item(), np.random.rand(), random.random()))
        return loss(model, batch)

    for _ in range(2):
        model = nn.Linear(4, 3).double()
        optimiser = torch.optim.SGD(model.parameters())
        batches = Batches(items, collate, size=4, seed=3)
        with using(micro_batches=number):
            train(model, batches, drawn, optimiser, steps=3, callbacks=QUIET)
    once = seen[: 3 * number]
    assert seen == once * 2 and len(set(once)) == 3 * number


@pytest.mark.parametrize("seed", [4294, 4295, 10**9, 2**40])
def test_any_seed_will_do(seed):
    items, collate, loss = table()
    model = nn.Linear(4, 3).double()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = Batches(items, collate, size=4, seed=seed)
    with using(micro_batches=2):
        assert train(model, batches, loss, optimiser, steps=2, callbacks=QUIET).step == 2
    assert 0 <= seed_of(seed, 10**7) < 2**32 and seed_of(3, 5, 2) == 3_000_009 + 5045 + 2


def test_a_head_alone_in_the_optimizer_takes_whole_steps():
    """Gradients of the other weights once added up for ever, and were in the clipped norm."""
    items, collate, loss = table()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3)).double()
    body = copy.deepcopy(model[0])
    norms = []

    def watch(step, model):
        norms.append(torch.stack([w.grad.norm() for w in model[1].parameters()]).norm().item())

    history = train(
        model, Batches(items, collate, size=8), loss,
        torch.optim.SGD(model[1].parameters(), lr=1e-9), steps=50,
        callbacks=[ClipGradients(0.01), WatchGradients(watch), *QUIET],
    )  # fmt: skip
    assert history.step == 50
    assert norms == pytest.approx([0.01] * 50, rel=1e-3)  # all of it is the head's own
    assert all(weight.grad is None for weight in model.parameters())
    for weight, before in zip(model[0].parameters(), body.parameters()):
        assert torch.equal(weight, before)


def test_a_gradient_from_before_is_no_part_of_the_first_step():
    items, collate, loss = table()
    ends = []
    for before in (False, True):
        torch.manual_seed(0)
        model = nn.Linear(4, 3).double()
        if before:
            model(items[0][0]).sum().backward()
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        train(model, Batches(items, collate, size=8), loss, optimiser, steps=2, callbacks=QUIET)
        ends.append(model.weight)
    assert torch.equal(*ends)


@pytest.mark.parametrize("number", [1, 2])
def test_a_parameter_of_the_loss_is_divided_too(tmp_path, number):
    items, collate, _ = table()

    def fit(steps=4, number=1, **options):
        torch.manual_seed(0)
        model, scale = nn.Linear(4, 3).double(), nn.Parameter(torch.zeros(()).double())

        def loss(model, batch):
            inputs, real = batch
            wrong = (model(inputs) - 1).square()[real]
            return (wrong * (-scale).exp() + scale).sum(), real.sum()

        optimiser = torch.optim.SGD([*model.parameters(), scale], lr=0.1)
        batches = Batches(items, collate, size=8)
        with using(micro_batches=number):
            train(model, batches, loss, optimiser, steps=steps, callbacks=QUIET, **options)
        return [*model.parameters(), scale], loss, batches

    _, loss, batches = fit(number=number)
    torch.manual_seed(0)
    model = nn.Linear(4, 3).double()
    scale = loss.__closure__[0].cell_contents  # of the run above
    end = scale.detach().clone()
    with torch.no_grad():
        scale.zero_()
    for _, chosen in zip(range(4), batches.from_step()):
        total, count = loss(model, batches.collated(chosen[1]))
        weights = [*model.parameters(), scale]
        gradients = torch.autograd.grad(total / count, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients):
                weight -= 0.1 * gradient
    torch.testing.assert_close(scale, end, rtol=1e-12, atol=1e-14)
    fit(steps=2, checkpoint=tmp_path / "run.pt")
    again, _, _ = fit(steps=4, checkpoint=tmp_path / "run.pt")
    torch.testing.assert_close(again[-1], end, rtol=1e-12, atol=1e-14)  # it is in the checkpoint
    launch(lambda: fit(checkpoint=tmp_path / "two.pt"), processes=2)
    saved = torch.load(tmp_path / "two.pt", weights_only=True)["loss"]
    torch.testing.assert_close(saved["0"], end, rtol=1e-12, atol=1e-14)


class Partly(nn.Module):
    """One weight is frozen and one is not used: neither has a gradient."""

    def __init__(self):
        super().__init__()
        self.read, self.frozen, self.unused = nn.Linear(4, 3), nn.Linear(3, 3), nn.Linear(2, 2)
        self.frozen.requires_grad_(False)

    def forward(self, x):
        return self.frozen(self.read(x))


def test_weight_decay_leaves_unused_weights_alone_in_two_processes_as_in_one(tmp_path):
    items, collate, loss = table()

    def fit(**options):
        torch.manual_seed(0)
        model = Partly().double()
        optimiser = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.5)
        batches = Batches(items, collate, size=8)
        train(model, batches, loss, optimiser, steps=3, callbacks=QUIET, **options)
        return model

    launch(lambda: fit(checkpoint=tmp_path / "run.pt"), processes=2)
    found = torch.load(tmp_path / "run.pt", weights_only=True)["model"]
    for name, weight in fit().state_dict().items():
        torch.testing.assert_close(found[name], weight, rtol=1e-9, atol=1e-12)


def wrong_counts():
    """Means times another number, as they were once in six notebooks; and their sound forms."""
    targets = torch.tensor([0, 2, IGNORED, 1, IGNORED, IGNORED, 2])
    soft, rare = F.smooth_l1_loss, torch.tensor([1.0, 2, 4])
    zero = torch.zeros(5, 3)
    return [
        ("cross-entropy", lambda s: (F.cross_entropy(s, targets) * 7, 7), 4, 7),
        ("smoothed", lambda s: (7 * F.cross_entropy(s, targets, label_smoothing=0.1), 7), 4, 7),
        ("halved", lambda s: (7 * F.cross_entropy(s, targets) / 2 + s.sum(), 7), 4, 7),
        ("weights", lambda s: (F.cross_entropy(s, targets, rare) * 7, 7), 11, 7),
        ("mean", lambda s: (s[:5].square().mean() * 7, 7), 15, 7),
        ("l1", lambda s: (F.l1_loss(s[:5], zero) * 7, 7), 15, 7),
        ("mse", lambda s: (F.mse_loss(s[:5], zero) * 7, 7), 15, 7),
        ("smooth l1", lambda s: (soft(s[:5], zero) * 7, 7), 15, 7),
        ("bce", lambda s: (-F.binary_cross_entropy(s[:5].sigmoid(), zero) * 7, 7), 15, 7),
        ("second", lambda s: [(s.sum(), 21), (F.cross_entropy(s, targets) * 7, 7)], 4, 7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "loss", "size", "count"), wrong_counts(), ids=lambda x: str(x)[:9]
)
def test_a_mean_times_another_number_is_refused(name, loss, size, count):
    with pytest.raises(ValueError, match=rf"{size} losses and counts {count}\b.*reduction=\"sum\""):
        step(loss)


def step(loss, number=1):
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    batches = Batches(list(torch.randn(7, 4)), torch.stack, size=7)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    of = lambda model, batch: loss(model(batch))  # noqa: E731
    with using(micro_batches=number):
        train(model, batches, of, optimiser, steps=1, callbacks=QUIET)


def sound_counts():
    targets = torch.tensor([0, 2, IGNORED, 1, IGNORED, IGNORED, 2])
    real = int((targets != IGNORED).sum())
    norm = lambda s: s.square().mean()  # noqa: E731
    return [
        ("the count of the mean", lambda s: (real * F.cross_entropy(s, targets), real)),
        ("rows of one size", lambda s: (len(s) * norm(s), len(s))),
        ("two of them", lambda s: (len(s) * (norm(s) + F.l1_loss(s, 0 * s.detach())), len(s))),
        ("a mean of each row", lambda s: (s.square().mean(dim=1).sum(), len(s))),
        ("one mean", lambda s: (F.cross_entropy(s, targets), 1)),
        ("weighted by what it learns", lambda s: (s[:5].mean() * s.sum(), 7)),
    ]


@pytest.mark.parametrize(("name", "loss"), sound_counts(), ids=lambda x: str(x)[:9])
def test_a_mean_over_what_is_counted_is_taken(name, loss):
    step(loss)


def test_a_penalty_on_the_weights_is_not_a_mean_over_losses():
    model = nn.Linear(4, 3)
    batches = Batches(list(torch.randn(7, 4)), torch.stack, size=7)

    def loss(model, batch):
        return model(batch).square().sum() + 7 * model.weight.square().mean(), 7

    train(model, batches, loss, torch.optim.SGD(model.parameters()), steps=1, callbacks=QUIET)


def test_one_mean_for_each_micro_batch_is_refused_where_their_sizes_differ():
    """(mean, 1) is right for a whole batch, and for a cut one if each part has as many losses."""
    step(lambda s: (s.square().mean(), 1))
    step(lambda s: (s[:3].square().mean(), 1), number=2)  # of 4 rows and of 3
    with pytest.raises(ValueError, match="in one micro-batch and over 12 in another"):
        step(lambda s: (s.square().mean(), 1), number=2)
    with pytest.raises(Exception, match="in one micro-batch and over 12 in another"):
        launch(lambda: step(lambda s: (s.square().mean(), 1)), processes=2)


@pytest.mark.parametrize(
    "answer",
    [
        lambda s: s.sum(),
        lambda s: (s.sum(), 7, 3),
        lambda s: [(s.sum(), 7), s.sum()],
        lambda s: (s.sum(dim=1), 7),
        lambda s: (1.0, 7),
        lambda s: [],
    ],
)
def test_what_is_not_a_sum_and_a_number_is_refused(answer):
    with pytest.raises(TypeError, match="sum of the losses"):
        step(answer)


def test_nothing_counted_is_refused():
    for nothing in (lambda s: (s.sum(), 0), lambda s: [(s.sum(), 0), (s.sum(), 0)]):
        with pytest.raises(ValueError, match="found none at step 1"):
            step(nothing)
