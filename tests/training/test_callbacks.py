"""Callbacks: when each hook runs, and what of them a checkpoint keeps."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from coursekit._base.errors import CourseError
from coursekit.training.batches import Batches
from coursekit.training.callback_list import CallbackList
from coursekit.training.callbacks import (
    AverageWeights,
    Callback,
    ClipGradients,
    EarlyStopping,
    Evaluate,
    KeepWeights,
    ProgressBar,
    WatchGradients,
)
from coursekit.training.loop import train

from .regression import collate, loss, rows

QUIET = ProgressBar(quiet=True)


def fit(*callbacks, steps=6, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = Batches(rows(20), collate, size=4)
    callbacks = [*callbacks, QUIET]
    history = train(
        model, batches, loss, optimizer, steps=steps, checkpoint=checkpoint, callbacks=callbacks
    )
    return model, history


class Noted(Callback):
    """Writes down which hook ran at which step, and whether there was a row already."""

    def __init__(self, name, calls):
        self.name, self.calls = name, calls

    def note(self, hook, run):
        self.calls.append((hook, self.name, run.step, len(run.history.curve)))

    def on_train_start(self, run):
        self.note("train start", run)

    def on_before_optimizer_step(self, run):
        self.note("before step", run)

    def on_step_end(self, run):
        self.note("step end", run)

    def on_evaluation_end(self, run):
        self.note("evaluation end", run)

    def on_train_end(self, run):
        self.note("train end", run)

    def teardown(self, run):
        self.note("teardown", run)


def test_hooks_run_in_the_order_of_the_list():
    calls = []
    fit(Noted("a", calls), Evaluate(every=2), Noted("b", calls), steps=2)
    assert calls == [
        ("train start", "a", 0, 0), ("train start", "b", 0, 0),
        ("before step", "a", 1, 0), ("before step", "b", 1, 0),
        ("step end", "a", 1, 0), ("step end", "b", 1, 0),
        ("before step", "a", 2, 0), ("before step", "b", 2, 0),
        ("step end", "a", 2, 0), ("step end", "b", 2, 1),  # before and after Evaluate
        ("evaluation end", "a", 2, 1), ("evaluation end", "b", 2, 1),
        ("teardown", "a", 2, 1), ("teardown", "b", 2, 1),
        ("train end", "a", 2, 1), ("train end", "b", 2, 1),
    ]  # fmt: skip


def test_what_is_missing_is_added_in_front_and_at_the_end():
    clip, evaluate, bar = ClipGradients(1.0), Evaluate(every=7), ProgressBar("toy")
    whole = CallbackList([clip])
    assert [type(each) for each in whole.callbacks] == [Evaluate, ClipGradients, ProgressBar]
    assert whole.callbacks[0].every == 100 and whole.run_name == "training"
    whole = CallbackList([bar, clip, evaluate])
    assert whole.callbacks == [bar, clip, evaluate] and whole.run_name == "toy"


def test_an_error_tears_every_callback_down():
    calls = []

    def fails(step, model):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fit(Noted("a", calls), WatchGradients(fails))
    assert [hook for hook, *_ in calls] == ["train start", "before step", "teardown"]


def test_a_watcher_after_clipping_sees_clipped_gradients():
    def norm(step, model):
        return {"norm": torch.cat([w.grad.flatten() for w in model.parameters()]).norm().item()}

    before, after = WatchGradients(norm), WatchGradients(norm)
    fit(before, ClipGradients(0.01), after, steps=3)
    assert [row["step"] for row in after.rows] == [1, 2, 3]
    assert all(row["norm"] > 0.1 for row in before.rows)
    assert [row["norm"] for row in after.rows] == pytest.approx([0.01] * 3, rel=1e-3)


LOSSES = [5.0, 3.0, 4.0, 3.5, 3.2, 1.0]  # by the evaluation, of which there is one in 10 steps


@pytest.mark.parametrize("at", [20, 30, 40])
def test_a_killed_run_stops_early_at_the_same_step_with_the_same_weights(tmp_path, at):
    ends = []
    for breaks in ([], [at]):
        path = tmp_path / f"{len(breaks)}.pt"
        for steps in (*breaks, 60):
            step = WatchGradients(lambda step, model: {"seen": step})
            validate = Evaluate(lambda model, step=step: {"valid": value_at(step)}, every=10)
            stop = EarlyStopping(patience=3)
            model, history = fit(step, validate, stop, steps=steps, checkpoint=path)
        assert history.step == 50 and "3 evaluations" in history.stopped
        assert [row["step"] for row in step.rows] == list(range(1, 51))
        ends.append(model)
    assert torch.equal(ends[0].weight, ends[1].weight)


def value_at(watcher):
    return LOSSES[watcher.rows[-1]["step"] // 10 - 1]


def test_a_finished_run_gives_its_best_weights_again(tmp_path):
    def run():
        values = iter(LOSSES)
        validate = Evaluate(lambda model: {"valid": next(values)}, every=10)
        return fit(validate, EarlyStopping(3), steps=60, checkpoint=tmp_path / "run.pt")

    assert torch.equal(run()[0].weight, run()[0].weight)


def test_a_callback_forgets_the_run_before():
    kept, watcher = KeepWeights(last=5), WatchGradients(lambda step, model: {"one": 1})
    stop = EarlyStopping(2)
    for first in (1.0, 9.0):
        values = iter([first, first + 1, first + 2])
        validate = Evaluate(lambda model, values=values: {"valid": next(values)}, every=2)
        fit(validate, kept, watcher, stop)
        assert len(kept.weights) == 3 and len(watcher.rows) == 6 and stop.best == first


class Counter(Callback):
    """A callback of a reader's own, with a setting and a state."""

    def __init__(self, by):
        self.by, self.count = by, 0

    def settings(self):
        return {"by": self.by}

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]

    def on_step_end(self, run):
        self.count += self.by


def test_two_of_one_class_keep_their_own_states_and_settings(tmp_path):
    path = tmp_path / "run.pt"
    fit(Counter(1), Counter(10), checkpoint=path)
    one, ten = Counter(1), Counter(10)
    fit(one, ten, steps=8, checkpoint=path)
    assert (one.count, ten.count) == (8, 80)
    with pytest.raises(CourseError, match=r"settings: Counter 2\.by 10 \(now 5\)\. "):
        fit(Counter(1), Counter(5), steps=9, checkpoint=path)


def test_a_callback_ends_the_run_and_the_file_has_the_end(tmp_path):
    class Enough(Callback):
        def on_step_end(self, run):
            if run.step == 4:
                run.stop("enough")

    history = fit(Enough(), checkpoint=tmp_path / "run.pt")[1]
    saved = torch.load(tmp_path / "run.pt", weights_only=True)["history"]
    assert (history.step, history.stopped) == (saved["step"], saved["stopped"]) == (4, "enough")


@pytest.mark.parametrize(
    ("callbacks", "error"),
    [
        ([print], TypeError),
        ([ClipGradients], TypeError),
        (ClipGradients(1.0), TypeError),
        ([Evaluate(), Evaluate()], ValueError),
        ([ProgressBar(), ProgressBar()], ValueError),
    ],
)
def test_what_is_not_a_list_of_callbacks_is_refused(callbacks, error):
    with pytest.raises(error, match="callbacks m"):
        CallbackList(callbacks)


def test_the_mean_of_the_last_evaluations_is_that_of_their_copies(tmp_path):
    from coursekit.objectives.checkpoints import average_checkpoints

    for steps in (12, 13):  # the last evaluation on a multiple of `every`, or after one
        kept, mean = KeepWeights(last=3), AverageWeights(last=3)
        fit(Evaluate(every=2), kept, mean, steps=steps)
        expected = average_checkpoints(kept.weights)
        assert mean.count == 3
        assert all(torch.equal(mean.weights[name], expected[name]) for name in expected)
    path, again = tmp_path / "run.pt", AverageWeights(last=3)
    fit(Evaluate(every=2), AverageWeights(last=3), steps=12, checkpoint=path)
    fit(Evaluate(every=2), again, steps=18, checkpoint=path)  # it grows: 14, 16 and 18 count
    assert again.count == 3


def test_a_copy_after_equal_time_is_the_last_one_within_it():
    class Timed(Callback):
        """A run in which each evaluation takes a second."""

        def on_step_end(self, run):
            if run.evaluated:
                run.history.curve[-1]["seconds"] = float(len(run.history.curve))

    every, kept, first = KeepWeights(last=9), KeepWeights(1, until=2.0), KeepWeights(1, until=0.5)
    fit(Evaluate(every=2), Timed(), every, kept, first, steps=8)
    assert all(torch.equal(kept.weights[0][k], v) for k, v in every.weights[1].items())
    assert all(torch.equal(first.weights[0][k], v) for k, v in every.weights[0].items())
