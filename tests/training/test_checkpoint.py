"""Checkpoints: a run continues with the settings that it was started with, or says what differs."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from coursekit._base.errors import CourseError
from coursekit.training import records
from coursekit.training.batches import Batches
from coursekit.training.callbacks import (
    ClipGradients,
    EarlyStopping,
    Evaluate,
    KeepWeights,
    ProgressBar,
)
from coursekit.training.checkpoint import Checkpoint
from coursekit.training.computing import using
from coursekit.training.history import History
from coursekit.training.loop import train
from coursekit.training.plan import fingerprint
from coursekit.training.schedules import constant, cosine, growth

X = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
ADAMW, SGD = torch.optim.AdamW, torch.optim.SGD


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Each test starts without what an earlier `choose` has left."""
    monkeypatch.setattr(records, "_chosen", {})


def fit(
    path, *, kind=ADAMW, lr=0.01, groups=1, items=None, size=8, seed=0, length=None, every=2,
    callbacks=(), name="training", **options,
):  # fmt: skip
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    weights = [[*model.parameters()]] if groups == 1 else [[w] for w in model.parameters()]
    keys = ("weight_decay", "betas", "momentum", "fused")
    of_it = {name: options.pop(name) for name in keys if name in options}
    optimiser = kind([{"params": some} for some in weights], lr=lr, **of_it)
    rows = list(zip(range(40), X)) if items is None else items

    def collate(some):
        return torch.stack([torch.as_tensor(x) for _, x in some])

    def loss(model, batch):
        return (model(batch) - batch.sum(-1, keepdim=True)).square().sum(), len(batch)

    batches = Batches(rows, collate, size=size, seed=seed, length=length)
    options = {"steps": 6, **options}
    callbacks = [Evaluate(every=every), *callbacks, ProgressBar(name, quiet=True)]
    history = train(
        model, batches, loss, optimiser, checkpoint=path, callbacks=callbacks, **options
    )
    return model, history


MOVED = [(number, x + (number == 0) * 4.0) for number, x in enumerate(X)]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"lr": 0.1}, r"learning rate at step 1 0\.01 \(now 0\.1\)"),
        ({"weight_decay": 0.5}, r"weight_decay 0\.01 \(now 0\.5\)"),
        ({"betas": (0.9, 0.98)}, r"betas \[0\.9, 0\.999\] \(now \[0\.9, 0\.98\]\)"),
        ({"kind": SGD}, r"optimizer AdamW \(now SGD\)"),
        ({"kind": torch.optim.Adam}, r"optimizer AdamW \(now Adam\)"),
        ({"size": 4}, r"batch size at step 1 8 \(now 4\)"),
        ({"size": growth(first=8, last=10, steps=4)}, r"batch size at step 3 8 \(now 9\)"),
        ({"items": list(zip(range(39), X))}, r"number of items 40 \(now 39\)"),
        ({"items": list(zip(range(1, 41), X))}, "items [0-9a-f]{16}"),
        ({"items": MOVED}, "mean of the data"),
        ({"length": lambda row: row[0]}, r"sorted by length False \(now True\)"),
        ({"callbacks": [ClipGradients(1.0)]}, r"ClipGradients\.max_norm None \(now 1\)"),
        ({"callbacks": [EarlyStopping(2)]}, r"EarlyStopping\.patience None \(now 2\)"),
        ({"schedule": constant(warmup=9)}, r"learning rate at step 1 0\.01 \(now 0\.00111"),
        ({"seed": 3}, r"seed 0 \(now 3\)"),
        ({"name": "other"}, r"ProgressBar\.name training \(now other\)"),
    ],
)
@pytest.mark.parametrize("steps", [6, 9], ids=["done", "longer"])
def test_other_settings_are_refused_by_name(tmp_path, change, named, steps):
    path = tmp_path / "run.pt"
    fit(path)
    before = path.read_bytes()
    with pytest.raises(CourseError, match=named) as caught:
        fit(path, steps=steps, **change)
    assert "delete this one" in str(caught.value)
    assert path.read_bytes() == before


def test_each_difference_is_named(tmp_path):
    fit(tmp_path / "run.pt")
    with pytest.raises(CourseError, match=r"learning rate.*batch size.*max_norm") as caught:
        fit(tmp_path / "run.pt", lr=0.2, size=4, callbacks=[ClipGradients(0.5)])
    assert str(caught.value).count("(now") == 3


def test_the_optimizer_of_another_kind_is_named_not_betas(tmp_path):
    fit(tmp_path / "run.pt", kind=SGD)
    with pytest.raises(CourseError, match=r"optimizer SGD \(now AdamW\)"):
        fit(tmp_path / "run.pt", kind=ADAMW)


def test_rates_of_each_group_are_compared(tmp_path):
    fit(tmp_path / "run.pt", groups=2)
    with pytest.raises(CourseError, match="does not fit this model and optimizer"):
        fit(tmp_path / "run.pt", groups=1)


def test_it_may_become_longer_where_the_rates_stay(tmp_path):
    for name, schedule in (("constant", constant(warmup=3)), ("falling", cosine(total=9))):
        path = tmp_path / f"{name}.pt"
        fit(path, schedule=schedule)
        model, history = fit(path, schedule=schedule, steps=9)
        unbroken, _ = fit(None, schedule=schedule, steps=9)
        assert history.step == 9 and torch.equal(model.weight, unbroken.weight)


def test_a_schedule_that_depends_on_the_steps_cannot_become_longer(tmp_path):
    fit(tmp_path / "run.pt", schedule=cosine(total=6))
    with pytest.raises(CourseError, match=r"^run\.pt was saved with other settings: learning rate"):
        fit(tmp_path / "run.pt", steps=9, schedule=cosine(total=9))


def test_a_file_of_more_steps_is_not_the_result_of_fewer(tmp_path):
    fit(tmp_path / "run.pt")
    with pytest.raises(CourseError, match="has made 6 steps, and this run should end after 4"):
        fit(tmp_path / "run.pt", steps=4)


def test_a_finished_run_gives_its_weights_again(tmp_path):
    model, _ = fit(tmp_path / "run.pt")
    again, history = fit(tmp_path / "run.pt")
    assert history.step == 6 and torch.equal(again.weight, model.weight)


def test_a_setting_of_a_callback_that_is_gone_is_named(tmp_path):
    fit(tmp_path / "run.pt", callbacks=[ClipGradients(1.0)])
    with pytest.raises(CourseError, match=r"ClipGradients\.max_norm 1 \(now None\)"):
        fit(tmp_path / "run.pt")


@pytest.mark.parametrize("change", [{"micro_batches": 2}, {"precision": "bf16"}])
def test_how_it_is_computed_may_change(tmp_path, change):
    fit(tmp_path / "run.pt")
    with using(**change):
        assert fit(tmp_path / "run.pt", steps=9)[1].step == 9


@pytest.mark.parametrize(
    "change", [{"every": 3}, {"callbacks": [KeepWeights(last=2)]}, {"fused": True}]
)
def test_what_does_not_change_the_weights_may_change(tmp_path, change):
    fit(tmp_path / "run.pt")
    assert fit(tmp_path / "run.pt", steps=9, **change)[1].step == 9


def test_features_that_are_rounded_otherwise_are_the_same_data(tmp_path):
    fit(tmp_path / "run.pt")
    rounded = [(number, x * (1 + 1e-6)) for number, x in enumerate(X)]
    assert fit(tmp_path / "run.pt", steps=9, items=rounded)[1].step == 9


def test_a_file_without_settings_says_what_to_do(tmp_path):
    path = tmp_path / "run.pt"
    fit(path)
    state = torch.load(path, weights_only=True)
    state["plan"] = {name: state["plan"][name] for name in ("optimizer", "seed")}
    torch.save({name: part for name, part in state.items() if name != "settings"}, path)
    with pytest.raises(CourseError, match=r"earlier version .*learning rate.*delete the file"):
        fit(path)


def choose(**changes):
    profile = {"minutes": 1, "steps": 6, "lr": 0.01, "dropout": 0.1}
    return records.choose("cpu", smoke=profile, cpu=profile, gpu=profile, changes=changes)


def test_a_notebook_records_no_setting_that_its_run_did_not_have(tmp_path):
    """Dropout is seen by nothing else: in a notebook, `record` would write the new one."""
    path = tmp_path / "run.pt"
    choose()
    fit(path)
    choose(dropout=0.2)
    with pytest.raises(CourseError, match=r"dropout 0\.1 \(now 0\.2\)"):
        fit(path, steps=9)
    choose(steps=9)
    assert fit(path, steps=9)[1].step == 9
    records._chosen.clear()  # outside a notebook of the course there are none
    assert fit(path, steps=9)[1].step == 9


def test_a_loop_of_its_own_is_held_to_the_settings_too(tmp_path):
    path, plan = tmp_path / "own.pt", {"seed": 1, "rate": lambda step: 1 / step}
    choose()
    Checkpoint(path, {}, plan).save(History(step=5))
    assert Checkpoint(path, {}, plan).load(5).step == 5
    with pytest.raises(CourseError, match="has made 5 steps"):
        Checkpoint(path, {}, plan).load(4)
    with pytest.raises(CourseError, match=r"rate at step 2 0\.5 \(now 1\)"):
        Checkpoint(path, {}, plan | {"rate": lambda step: 1.0}).load()
    choose(dropout=0.5)
    with pytest.raises(CourseError, match="dropout"):
        Checkpoint(path, {}, plan).load()


Item = namedtuple("Item", "ids text")


@dataclass
class Row:
    ids: list[int]
    label: str | None


def test_a_fingerprint_reads_whatever_holds_numbers():
    kinds = [
        np.arange(5),
        Item([1, 2, 3, 4], "a"),
        Row([1, 2, 3, 4], None),
        {"ids": (1, 2, 3, 4), "real": torch.tensor([True, False])},
        [b"1", 2, "3"],
        torch.zeros(0).to(torch.bfloat16),
        object(),
    ]
    digests = [fingerprint([kind])[0] for kind in kinds]
    assert len(set(digests)) == len(kinds)
    assert digests == [fingerprint([kind])[0] for kind in kinds]
    assert fingerprint([Item([1, 2, 3, 4], "b")])[0] != digests[1]
    assert fingerprint([Item([1, 2, 3, 5], "a")])[0] != digests[1]
    assert fingerprint([torch.arange(5)])[0] == digests[0]
    assert fingerprint(range(10))[0] != fingerprint(range(1, 11))[0]
    assert fingerprint([torch.tensor([-3.0, 1.0])])[1] == pytest.approx(1.0)  # with a zero: 2 / 2
