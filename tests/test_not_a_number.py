"""What is not a number gets a sentence where it would give a plausible answer, and so does a
number that another library would take as something else."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from coursekit import analysis as a
from coursekit import models as m
from coursekit import objectives as o
from coursekit import training as t
from coursekit.analysis.frechet import Gaussian, square_root
from coursekit.boxes.average_precision import average_precision
from coursekit.boxes.geometry import Objects, iou, non_maximum_suppression
from coursekit.decoding.spans import best_span
from coursekit.positions import binary

NAN, INF = math.nan, math.inf
BOX = torch.tensor([[0.0, 0.0, 1.0, 1.0]])


def nans(*shape: int) -> torch.Tensor:
    return torch.full(shape, NAN)


class Says(nn.Module):
    """A model that has diverged: it says NaN, once for each of its classes."""

    def __init__(self, classes: int = 3) -> None:
        super().__init__()
        self.weight = nn.Parameter(nans(classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight.expand(len(x), -1)


def probe() -> object:
    features, labels = torch.randn(6, 2), torch.tensor([0, 1, 0, 1, 0, 1])
    return a.linear_probe(features, labels, classes=2).accuracy(nans(6, 2), labels)


def greedy() -> object:
    config = m.RNNSearchConfig(
        source_vocabulary=9, target_vocabulary=9, embedding=4, hidden=4, alignment=4, readout=4
    )
    model = m.RNNSearch(config).eval()
    nn.init.constant_(model.output.weight, NAN)
    return model.greedy(torch.ones(1, 2).long() * 5, longest=3)


def found(scores: torch.Tensor, boxes: torch.Tensor = BOX) -> list[Objects]:
    return [Objects(labels=torch.zeros(1).long(), boxes=boxes, scores=scores)]


def lost() -> object:
    """Heads without which the loss is no number."""
    return a.greedy_order(lambda mask: nans(1), heads=2)


PLAUSIBLE = {  # each gave a number, an index or a set of boxes
    "accuracy": lambda: t.accuracy(Says(), torch.rand(4, 1, 2, 2), torch.zeros(4).long()),
    "a probe": probe,
    "hard distillation": lambda: o.hard_distillation(torch.randn(2, 3), nans(2, 3)),
    "preferences": lambda: o.Preference(nans(), nans(2), torch.zeros(2)).accuracy,
    "the best span": lambda: best_span(nans(1, 4), torch.randn(1, 4), None),
    "the end of a span": lambda: best_span(torch.randn(1, 4), nans(1, 4), None),
    "greedy decoding": greedy,
    "Fréchet, of features": lambda: a.frechet_distance(
        a.gaussian_of(nans(9, 2)), a.gaussian_of(torch.randn(9, 2))
    ),
    "Fréchet, of infinity": lambda: a.gaussian_of(torch.full((9, 3), INF)),
    "Fréchet, of a mean": lambda: a.frechet_distance(
        Gaussian(nans(3), torch.eye(3)), Gaussian(torch.zeros(3), torch.eye(3))
    ),
    "Fréchet, of a covariance": lambda: a.frechet_distance(
        Gaussian(torch.zeros(3), torch.eye(3)), Gaussian(torch.zeros(3), nans(3, 3))
    ),
    "a square root": lambda: square_root(nans(2, 2)),
    "boxes without duplicates": lambda: non_maximum_suppression(BOX, nans(1)),
    "the least scan": lambda: t.scan(Says(), torch.rand(3, 24, 24), BOX / 2),
    "what a DETR found": lambda: m.DETR(m.DETRConfig.small()).eval() and detections().objects(
        [(8, 8)]
    ),
    "a masking": lambda: m.random_masking(nans(1, 4), 0.5),
    "the head that costs least": lambda: lost(),
    "the largest other word": lambda: a.largest_other(nans(1, 1, 3, 3), torch.tensor([0])),
    "the nearest picture": lambda: a.paint_from_nearest(
        torch.rand(1, 1, 4, 4), torch.tensor([[True, False, False, False]]), 2, nans(2, 1, 4, 4)
    ),
    "where similarity falls": lambda: a.falls_until(nans(4)),
    "the rank of NaN": lambda: a.effective_rank(nans(3, 3)),
    "principal filters": lambda: a.principal_filters(nans(4, 1, 2, 2), 1),
    "an assignment": lambda: o.assign(nans(2, 3)),
    "an assignment of infinity": lambda: o.assign(torch.full((2, 3), INF)),
}  # fmt: skip


def detections() -> object:
    from coursekit.models.detr import Detections

    return Detections(logits=nans(1, 2, 3), boxes=torch.rand(1, 2, 4), states=torch.rand(1, 2, 4))


@pytest.mark.parametrize("case", PLAUSIBLE)
def test_what_is_chosen_or_counted_among_nan_is_refused(case):
    with pytest.raises(ValueError, match=r"must be numbers, found (nan|inf)"):
        PLAUSIBLE[case]()


def test_a_row_of_probabilities_that_is_no_number_has_no_sum():
    with pytest.raises(ValueError, match="each row of the probabilities"):
        a.inception_score(nans(2, 3))


def test_an_infinite_box_has_no_overlap():
    with pytest.raises(ValueError, match="must be corners"):
        iou(torch.tensor([0.0, 0.0, INF, INF]), BOX[0])
    with pytest.raises(ValueError, match="must be corners"):
        average_precision(found(torch.ones(1), BOX * INF), found(torch.ones(1)))


def test_a_rank_is_counted_for_what_has_energy():
    with pytest.raises(ValueError, match="has no energy"):
        a.effective_rank(torch.zeros(3, 3))


def test_an_assignment_is_found_whatever_the_costs_came_from():
    costs = torch.tensor([[4.0, 1.0], [2.0, 3.0]], requires_grad=True)
    assert o.assign(costs).tolist() == [1, 0]


@pytest.mark.parametrize(
    "tokens",
    [torch.rand(9) * 5, (torch.rand(9) * 5).tolist(), np.random.rand(9) * 5,
     torch.ones(9).bool(), np.ones(9, bool), [True] * 9],
    ids=["tensor", "list", "array", "boolean", "boolean array", "boolean list"],
)  # fmt: skip
def test_windows_are_cut_from_ids(tokens):
    with pytest.raises(TypeError, match="tokens must be ids, whole numbers, found torch"):
        t.random_windows(tokens, length=3, size=1)


def test_a_bit_pattern_is_that_of_its_own_number():
    with pytest.raises(ValueError, match="3 bits hold 8 positions, found position -1"):
        binary(torch.tensor([-1]), 3)


@pytest.mark.parametrize(
    ("prompts", "lengths", "said"),
    [
        ([2, 1], [3, 9], "room for 4 tokens.*prompt of 1 and 9 together in row 1"),
        ([-1, 1], [3, 3], "prompt of -1 and 3 together in row 0"),
        ([3, 1], [2, 2], "prompt of 3 and 2 together in row 0"),
    ],
)
def test_an_answer_that_does_not_fit_is_not_cut(prompts, lengths, said):
    with pytest.raises(ValueError, match=said):
        o.answer_mask(torch.tensor(prompts), torch.tensor(lengths), 4)


@pytest.mark.parametrize(
    ("said", "references"), [(["a b"], ["a b", "c d"]), (["a b", "c d"], ["a b"]), ([], [])]
)
def test_every_translation_has_its_reference(said, references):
    with pytest.raises(ValueError, match="one reference for each translation"):
        t.bleu(said, references)


def test_gradients_are_clipped_of_one_weight_and_of_no_pairs():
    weight = nn.Parameter(torch.randn(3, 4))
    weight.grad = torch.full((3, 4), 100.0)
    assert t.clip_gradients(weight, 1.0) == pytest.approx(100 * 12**0.5)
    assert weight.grad.norm() == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(TypeError, match="each of the parameters must be a tensor, found tuple"):
        t.clip_gradients(nn.Linear(1, 1).named_parameters(), 1.0)


# --- training ---


def one_step(loss=None, batches=None, **options):
    torch.manual_seed(0)
    model = nn.Linear(1, 3)
    items = [(torch.randn(1), torch.tensor(0)) for _ in range(6)]

    def collate(rows):
        return torch.stack([x for x, _ in rows]), torch.stack([y for _, y in rows])

    def plain(model, batch):
        return nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="sum"), len(
            batch[0]
        )

    made = t.Batches(items, collate, size=4)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    quiet = t.ProgressBar(quiet=True)
    options = {"steps": 2, "callbacks": [t.Evaluate(every=1), quiet]} | options
    return t.train(model, batches or made, loss or plain, optimiser, **options)


def stopping(valid):
    """Callbacks that wait for a lower loss and are shown `valid`."""
    return [t.Evaluate(lambda model: valid, every=1), t.EarlyStopping(patience=3)]


def entropy(model, batch, **reduction):
    return nn.functional.cross_entropy(model(batch[0]), batch[1], **reduction)


TRAINED = {
    r"batches must be Batches\(.*\), found generator": {"batches": (n for n in range(3))},
    "the sum of the losses and their number, found Tensor": {"loss": entropy},
    "found 3 things": {"loss": lambda model, batch: (1, 2, 3)},
    "the sum of 4 losses, found their mean": {"loss": lambda m, b: (entropy(m, b), 4)},
    "found their mean": {"loss": lambda m, b: (m(b[0]).square().mean(), torch.tensor(12))},
    "count an item or more, found none at step 1": {"loss": lambda m, b: (m(b[0]).sum() * 0, 0)},
    "EarlyStopping compares 'valid', found NaN at step 1": {"callbacks": stopping({"valid": NAN})},
    "EarlyStopping needs validate to return 'valid'": {"callbacks": stopping({"right": 0.5})},
}  # fmt: skip


@pytest.mark.parametrize("said", TRAINED)
def test_a_training_is_told_what_it_cannot_use(said):
    with pytest.raises((ValueError, TypeError), match=said):
        one_step(**TRAINED[said])


CALLBACKS = {
    "max_norm must be above 0, found -1": lambda: t.ClipGradients(-1.0),
    "max_norm must be above 0, found 0": lambda: t.ClipGradients(0.0),
    "max_norm must be above 0, found nan": lambda: t.ClipGradients(NAN),
    "every must be above 0": lambda: t.Evaluate(every=0),
    "patience must be above 0": lambda: t.EarlyStopping(0),
    "last must be above 0": lambda: t.KeepWeights(0),
    "precision must be one of": lambda: t.using(precision="half").__enter__(),
}


@pytest.mark.parametrize("said", CALLBACKS)
def test_a_callback_is_told_what_it_cannot_use(said):
    with pytest.raises(ValueError, match=said):
        CALLBACKS[said]()


def test_a_mean_of_one_and_a_mean_times_its_number_are_sums():
    one_step(loss=lambda model, batch: (entropy(model, batch), 1))
    one_step(loss=lambda model, batch: (entropy(model, batch) * 4, 4))


def test_help_says_what_batches_are_and_what_a_loss_returns():
    said = " ".join(t.train.__doc__.split())
    assert "Batches(items, collate, size=…)" in said and "*sum* of the losses" in said
