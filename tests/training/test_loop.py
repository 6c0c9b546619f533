"""The loop: the same step in any division of the work, the same weights after any break."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from coursekit._base.errors import CourseError
from coursekit.training.batches import Batches
from coursekit.training.callbacks import (
    ClipGradients,
    DivergedError,
    EarlyStopping,
    Evaluate,
    KeepWeights,
    ProgressBar,
)
from coursekit.training.computing import using
from coursekit.training.loop import train
from coursekit.training.schedules import cosine

from .regression import collate, loss, rows
from .several import launch

STEPS = 40
QUIET = ProgressBar(quiet=True)


def problem(dropout: float = 0.0, seed: int = 0, size: object = 12):
    """A small regression, with what `train` needs of it."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Dropout(dropout), nn.Linear(16, 3))
    batches = Batches(rows(50), collate, size=size, seed=seed)
    return model, batches, loss, torch.optim.AdamW(model.parameters(), lr=1e-2)


def fit(dropout=0.0, *, every=100, validate=None, callbacks=(), micro_batches=1, **options):
    options = {"steps": STEPS, "schedule": cosine(total=STEPS), **options}
    callbacks = [Evaluate(validate, every=every), *callbacks, QUIET]
    model, *others = problem(dropout)
    with using(micro_batches=micro_batches):
        history = train(model, *others, callbacks=callbacks, **options)
    return model.state_dict(), history


def assert_equal(found, expected) -> None:
    assert found.keys() == expected.keys()
    for name in expected:
        assert torch.equal(found[name], expected[name]), name


def test_it_learns():
    _, history = fit(every=10)
    assert [row["step"] for row in history.curve] == [10, 20, 30, 40]
    assert history.last["loss"] < history.curve[0]["loss"] / 2
    assert history.items == STEPS * 12


def test_the_loss_of_a_row_is_the_mean_over_all_targets_since_the_last():
    seen = []
    model, batches, loss, optimiser = problem()

    def noted(model, batch):
        total, count = loss(model, batch)
        seen.append((total.item(), count.item()))
        return total, count

    callbacks = [Evaluate(every=10), QUIET]
    history = train(model, batches, noted, optimiser, steps=20, callbacks=callbacks)
    for row, part in zip(history.curve, (seen[:10], seen[10:])):
        expected = sum(total for total, _ in part) / sum(count for _, count in part)
        assert row["loss"] == pytest.approx(expected, rel=1e-5)


def test_micro_batches_add_up_to_the_whole_batch_though_their_counts_differ():
    whole, _ = fit(steps=3)
    cut, _ = fit(steps=3, micro_batches=4)
    for name in whole:
        torch.testing.assert_close(cut[name], whole[name], rtol=1e-4, atol=1e-6)


def test_what_is_optional_is_a_callback():
    assert len(inspect.signature(train).parameters) <= 8


def test_it_is_plain_torch_underneath():
    found, _ = fit(callbacks=[ClipGradients(0.5)])
    model, batches, loss, optimiser = problem()
    factor = cosine(total=STEPS)
    for step, chosen in batches.from_step():
        if step > STEPS:
            break
        optimiser.param_groups[0]["lr"] = 1e-2 * factor(step)
        total, count = loss(model, batches.collated(chosen))
        optimiser.zero_grad()
        (total / count).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimiser.step()
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(found[name], weight, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("at", [1, 7, 10, 39])
def test_a_run_that_ends_early_and_goes_on_gives_the_same_weights(tmp_path, at):
    kept, again, path = KeepWeights(last=2), KeepWeights(last=2), tmp_path / "run.pt"
    unbroken, _ = fit(dropout=0.3, every=10, callbacks=[kept])
    fit(dropout=0.3, every=10, callbacks=[KeepWeights(last=2)], checkpoint=path, steps=at)
    found, history = fit(dropout=0.3, every=10, callbacks=[again], checkpoint=path)
    assert_equal(found, unbroken)
    assert history.step == STEPS
    if at < 30:  # the end of a run, here of the first one, is an evaluation too
        for weights, expected in zip(again.weights, kept.weights, strict=True):
            assert_equal(weights, expected)


KILLED = """
import sys, time
sys.path.insert(0, {root!r})
from coursekit.training.callbacks import WatchGradients
from tests.training import test_loop
slow = WatchGradients(lambda step, model: time.sleep(0.02))
test_loop.fit(dropout=0.3, every=5, checkpoint={path!r}, callbacks=[slow])
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_loses_at_most_what_came_after_its_last_look(tmp_path, sign):
    path = tmp_path / "run.pt"
    script = KILLED.format(root=str(Path(__file__).parents[2]), path=str(path))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stderr=subprocess.PIPE, text=True
    )
    while not path.exists():
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.01)
    run.send_signal(sign)
    _, said = run.communicate()
    assert run.returncode != 0
    assert sign == signal.SIGKILL or "KeyboardInterrupt" in said
    before = torch.load(path, weights_only=True)["history"]["step"]
    assert 5 <= before < STEPS
    if sign == signal.SIGKILL:
        assert before % 5 == 0
    found, history = fit(dropout=0.3, every=5, checkpoint=path)
    unbroken, expected = fit(dropout=0.3, every=5)
    assert_equal(found, unbroken)
    assert [row["loss"] for row in history.curve] == pytest.approx(
        [row["loss"] for row in expected.curve], rel=1e-6
    )


@pytest.mark.parametrize("number", [1, 2])
def test_two_processes_make_the_steps_of_one(tmp_path, number):
    path = tmp_path / "run.pt"
    launch(lambda: fit(steps=5, micro_batches=number, checkpoint=path), processes=2)
    expected, history = fit(steps=5)
    found = torch.load(path, weights_only=True)
    assert found["history"]["items"] == history.items
    for name, weight in expected.items():
        torch.testing.assert_close(found["model"][name], weight, rtol=1e-4, atol=1e-6)


def test_it_stops_when_nothing_gets_better_and_returns_to_the_best():
    losses = iter([5.0, 3.0, 4.0, 3.5, 3.2, 1.0])
    seen = []

    def validate(model):
        assert not model.training
        seen.append({name: weight.clone() for name, weight in model.state_dict().items()})
        return {"valid": next(losses)}

    weights, history = fit(
        steps=60, every=10, validate=validate, callbacks=[EarlyStopping(patience=3)]
    )
    assert history.step == 50 and "3 evaluations" in history.stopped
    assert_equal(weights, seen[1])


def test_a_loss_that_is_no_number_is_said_with_what_came_before():
    model, batches, loss, optimiser = problem()

    def broken(model, batch):
        total, count = loss(model, batch)
        return (total * float("nan") if optimiser.param_groups[0]["lr"] < 5e-3 else total), count

    with pytest.raises(DivergedError, match="at step 30") as caught:
        train(
            model, batches, broken, optimiser,
            steps=STEPS, schedule=cosine(total=STEPS), callbacks=[Evaluate(every=10), QUIET],
        )  # fmt: skip
    assert [row["step"] for row in caught.value.history.curve] == [10, 20]


def test_what_does_not_fit_is_said(tmp_path):
    path = tmp_path / "run.pt"
    fit(steps=2, checkpoint=path)
    other = nn.Linear(4, 3)
    model, batches, loss, optimiser = problem()
    with pytest.raises(CourseError, match="does not fit this model"):
        train(
            other, batches, loss, torch.optim.AdamW(other.parameters(), lr=1e-2),
            steps=3, schedule=cosine(total=STEPS), checkpoint=path, callbacks=[QUIET],
        )  # fmt: skip
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CourseError, match="not a checkpoint"):
        train(model, batches, loss, optimiser, steps=3, checkpoint=path, callbacks=[QUIET])
    with pytest.raises(ValueError, match="batch of 12 cannot be cut"):
        fit(micro_batches=13)


def test_without_callbacks_it_shows_loss_speed_and_time_left_and_evaluates_each_100(capsys):
    history = train(*problem(), steps=110)
    shown = capsys.readouterr().err
    assert "110/110" in shown and "items/s" in shown and "left" in shown and "loss" in shown
    assert [row["step"] for row in history.curve] == [100, 110]
