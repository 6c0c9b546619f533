"""The loop: the same step in any division of the work, the same weights after any break."""

from __future__ import annotations

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
from coursekit.training.loop import DivergedError, train
from coursekit.training.schedules import cosine

STEPS = 40


def problem(dropout: float = 0.0, seed: int = 0, size: object = 12):
    """A small regression; the rows of a batch have 1 to 3 targets each, like texts."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Dropout(dropout), nn.Linear(16, 3))
    x = torch.randn(50, 4)  # (N, 4)
    counts = torch.randint(1, 4, (50,))  # (N,)
    items = [(x[i], torch.arange(3) < counts[i]) for i in range(50)]

    def collate(rows):
        return torch.stack([a for a, _ in rows]), torch.stack([b for _, b in rows])

    def loss(model, batch):
        inputs, real = batch  # (B, 4), (B, 3)
        wrong = (model(inputs) - inputs.sum(-1, keepdim=True)).square()  # (B, 3)
        return wrong[real].sum(), real.sum()

    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    return model, Batches(items, collate, size=size, seed=seed), loss, optimiser


def fit(dropout: float = 0.0, **options: object):
    model, batches, loss, optimiser = problem(dropout)
    options = {"steps": STEPS, "schedule": cosine(total=STEPS), "quiet": True, **options}
    history = train(model, batches, loss, optimiser, **options)
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

    history = train(model, batches, noted, optimiser, steps=20, every=10, quiet=True)
    for row, part in zip(history.curve, (seen[:10], seen[10:])):
        expected = sum(total for total, _ in part) / sum(count for _, count in part)
        assert row["loss"] == pytest.approx(expected, rel=1e-5)


def test_pieces_add_up_to_the_whole_batch_though_their_counts_differ():
    whole, _ = fit(steps=3)
    pieces, _ = fit(steps=3, pieces=4)
    for name in whole:
        torch.testing.assert_close(pieces[name], whole[name], rtol=1e-4, atol=1e-6)


def test_it_is_plain_torch_underneath():
    found, _ = fit(clip=0.5)
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
    unbroken, history = fit(dropout=0.3, every=10, keep=2)
    fit(dropout=0.3, every=10, keep=2, checkpoint=tmp_path / "run.pt", steps=at)
    found, again = fit(dropout=0.3, every=10, keep=2, checkpoint=tmp_path / "run.pt")
    assert_equal(found, unbroken)
    assert again.step == STEPS
    if at < 30:  # the end of a run, here of the first one, is a look too
        for kept, expected in zip(again.kept, history.kept, strict=True):
            assert_equal(kept, expected)


KILLED = """
import sys, time
sys.path.insert(0, {tests!r})
import test_loop
def slow(step, model):
    time.sleep(0.02)
    return {{}}
weights, _ = test_loop.fit(dropout=0.3, every=5, checkpoint={path!r}, watch=slow)
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_loses_at_most_what_came_after_its_last_look(tmp_path, sign):
    path = tmp_path / "run.pt"
    script = KILLED.format(tests=str(Path(__file__).parent), path=str(path))
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


@pytest.mark.parametrize("pieces", [1, 2])
def test_two_processes_make_the_steps_of_one(tmp_path, pieces):
    from .several import launch  # others load this file by itself

    path = tmp_path / "run.pt"
    launch(lambda: fit(steps=5, pieces=pieces, checkpoint=path), processes=2)
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

    weights, history = fit(steps=60, every=10, validate=validate, patience=3)
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
            steps=STEPS, schedule=cosine(total=STEPS), every=10, quiet=True,
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
            steps=3, schedule=cosine(total=STEPS), checkpoint=path, quiet=True,
        )  # fmt: skip
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CourseError, match="not a checkpoint"):
        train(model, batches, loss, optimiser, steps=3, checkpoint=path, quiet=True)
    with pytest.raises(ValueError, match="batch of 12 cannot be cut"):
        fit(pieces=13)


def test_the_bar_shows_loss_speed_and_time_left(capsys):
    fit(every=10, quiet=False)
    shown = capsys.readouterr().err
    assert "40/40" in shown and "items/s" in shown and "left" in shown and "loss" in shown
