"""All training runs within a budget: their order, what fits, what is left out, and what continues.

Checkpoints are measured, and continued after a cut, on the smoke profiles of the most valuable.
"""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools import cli
from coursetools.course import Course
from coursetools.experiments.all_trainings import FIRST, Item, LeftOut, Started, agenda, run_all
from coursetools.experiments.estimate import Estimate, estimate
from coursetools.experiments.forecast import AROUND, DEVICES, START, WITHIN, device_of
from coursetools.experiments.train import find
from coursetools.notebooks.parameters_cell import short_hash

from .conftest import RECORD

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
VALUABLE = ("translation", "vit", "writer", "bert", "detector")


# -- The order, and what fits --------------------------------------------------------------------


def test_the_most_valuable_come_first():
    names = [item.training.name for item in agenda(OURS, "gpu") if not item.done]
    wanted = [name for name in FIRST if name in names]
    assert names[: len(wanted)] == wanted and FIRST[: len(VALUABLE)] == VALUABLE


class Clock:
    """A clock that moves when something runs; each run takes what `takes` says."""

    def __init__(self, **takes):
        self.now, self.takes, self.given = 0.0, takes, {}

    def run(self, training, seconds):
        self.given[training] = seconds
        if self.takes[training] > seconds:
            self.now += seconds
            raise CourseError("stopped at the limit")
        self.now += self.takes[training]
        return f"{training} is done"


def ends_of(clock, estimates, seconds, **before):
    """Return what happened to each run, by its name; `estimates` are seconds."""
    items = [Item(name, 1.0) for name in estimates] + [Item("old", 1.0, "done on T4")]

    def guess(item):
        return Estimate(estimates[item.training], "counted", before.get(item.training, 0.0))

    found = run_all(items, clock.run, seconds=seconds, estimate=guess, clock=lambda: clock.now)
    ends = {}
    for training, end in found:
        if not isinstance(end, Started) or isinstance(end, LeftOut):
            ends[training] = end
    return ends


def test_only_what_fits_is_started_and_the_rest_is_named():
    clock = Clock(a=300, c=100)
    ends = ends_of(clock, {"a": 300, "b": 400, "c": 100, "d": 250}, 600)
    assert ends["a"] == "a is done" and ends["c"] == "c is done"
    assert isinstance(ends["b"], LeftOut) and (ends["b"].needed, ends["b"].left) == (400, 300)
    assert isinstance(ends["d"], LeftOut) and ends["d"].left == 200
    assert clock.given == {"a": 600, "c": 300} and "old" not in ends


def test_a_machine_that_turns_out_faster_gets_more():
    clock = Clock(a=150, b=200)
    ends = ends_of(clock, {"a": 300, "b": 500, "c": 700}, 600)
    assert ends["b"] == "b is done" and isinstance(ends["c"], LeftOut)
    assert ends["c"].needed == 700 * 200 / 500


def test_a_run_that_the_budget_ends_has_not_failed():
    clock = Clock(a=900, b=100)
    ends = ends_of(clock, {"a": 500, "b": 100}, 600)
    assert ends["a"] is None and isinstance(ends["b"], LeftOut) and clock.now == 600


def test_nothing_is_estimated_once_the_budget_is_used_up():
    clock, asked = Clock(a=600), []

    def guess(item):
        asked.append(item.training)
        return Estimate(500.0, "counted")

    items = [Item(name, 1.0) for name in "abc"]
    *_, last = run_all(items, clock.run, seconds=600, estimate=guess, clock=lambda: clock.now)
    assert asked == ["a"] and last[0] == "c" and isinstance(last[1], LeftOut)


def test_what_an_earlier_attempt_has_done_is_not_counted_again():
    assert isinstance(ends_of(Clock(a=300), {"a": 900}, 600)["a"], LeftOut)
    assert ends_of(Clock(a=300), {"a": 900}, 600, a=600.0)["a"] == "a is done"


def test_a_run_that_fails_within_the_budget_has_failed():
    def run(training, seconds):
        raise CourseError("1 / 0")

    *_, (_, end) = run_all([Item("a", 1.0)], run, seconds=600, clock=lambda: 0.0)
    assert str(end) == "1 / 0"


def test_the_command_says_what_it_starts_and_what_it_leaves_out(lab, capsys):
    for name in ("alpha", "bert"):
        lab.training(name, RECORD)  # makes no step: the estimate is the minute of its profile
    line = ["train", "--all", "--profile", "gpu", "--quiet", "--budget"]
    assert cli.main([*line, "0.5"]) == 0
    said = capsys.readouterr().out
    needed = r"bert: about 1\.0 minutes \(by its profile\), 0\.\d are left: left out"
    assert re.match(needed, said)
    assert "left out, since the budget is too small: bert, alpha" in said
    assert not lab.files()
    assert cli.main([*line, "9"]) == 0
    starts, done, *_ = capsys.readouterr().out.splitlines()
    assert starts.endswith("are left: starts") and done == "bert: done"
    result = json.loads((lab.root / "results/bert/gpu.json").read_text())
    assert "gpu" in result["hardware"]


STEPS = """\
import torch
from coursekit.training.batches import Batches
from coursekit.training.loop import train
model = torch.nn.Linear(30, 20, bias=False)

def loss(model, x):
    return model(x).sum(), len(x)

train(model, Batches([torch.ones(30)] * 8, torch.stack, size=6), loss,
      torch.optim.AdamW(model.parameters()), steps=settings.steps)"""


def test_an_estimate_is_counted_and_knows_earlier_attempts(lab):
    lab.training("toy", STEPS, RECORD)
    training = find(Course(lab.root), "toy")
    fresh = estimate(training, "gpu", 1.0)
    assert "FLOPs on " in fresh.basis and START < fresh.seconds < 2 * START
    assert f"{9 * 2 * 6 * 600 * 2:.1e}" in fresh.basis  # nine steps of six rows, forward and back
    folder = training.folder / f"gpu-{short_hash({})}"
    folder.mkdir(parents=True)
    (folder / "begun.json").write_text(json.dumps({"key": training.key, "seconds": 40.0}))
    again = estimate(training, "gpu", 1.0)
    assert again.before == 40 and again.needed() == pytest.approx(fresh.seconds - 40)


def test_a_gpu_is_known_by_its_name_and_an_unknown_one_is_slow():
    names = {"NVIDIA A100-SXM4-40GB": "A100", "NVIDIA H100 80GB HBM3": "H100", "Tesla T4": "T4"}
    assert {gpu: device_of(gpu).name for gpu in names} == names
    assert device_of("NVIDIA X1") is DEVICES[0]


# -- The rates of the estimate, against runs that were made --------------------------------------


@pytest.mark.parametrize("name", ["examples", "gpt_heads"])
def test_the_forecast_is_right_within_its_factor_on_an_h100(name):
    from coursetools.experiments.rehearsal import rehearse

    made = json.loads((ROOT / "results/cards/h100" / f"{name}.json").read_text(encoding="utf-8"))
    (curve,) = made["curves"].values()
    forecast = rehearse(find(OURS, name), brief=True)
    device = device_of(made["hardware"]["gpu"])
    assert forecast.runs[0].steps == made["settings"]["steps"]
    for found, taken in (
        (3600 * forecast.hours(device), curve[-1]["seconds"]),
        (forecast.seconds(device), made["seconds"]),
    ):
        assert taken / WITHIN < found < taken * WITHIN


@pytest.mark.parametrize("name", ["cards/h100/examples", "cards/h100/gpt_heads", "writer/cpu"])
def test_a_whole_run_takes_no_longer_than_the_estimate_allows_besides_its_steps(name):
    made = json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))
    steps = sum(curve[-1].get("seconds", 0.0) for curve in made["curves"].values())
    assert made["seconds"] < START + AROUND * steps


# -- Checkpoints: slim, and continued with the same weights --------------------------------------

COPIES = {"transformer": 1, "rnnsearch": 1}  # a mean, and one after equal time


def smoke(training, checkpoints, cut_at=0):
    """Execute the cells of the profile smoke that train; return the weights at each run's end.

    With `cut_at` the first run gets Ctrl-C at this step, as the end of a budget sends it.
    """
    import torch

    from coursekit.training import loop, records
    from coursekit.training.callback_list import CallbackList
    from coursekit.training.callbacks import Callback
    from coursetools.experiments.rehearsal import _cells, _what_trains

    class Cut(Callback):
        def on_step_end(self, run):
            if run.step == cut_at:
                os.kill(os.getpid(), signal.SIGINT)

    train, display, here = loop.train, records._display, os.getcwd()
    ends = {}

    def recorder(model, batches, loss, optimizer, **options):
        callbacks = [*options.pop("callbacks"), *([Cut()] if cut_at else [])]
        history = train(model, batches, loss, optimizer, callbacks=callbacks, **options)
        state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        ends[CallbackList(callbacks).run_name] = state, history, Path(options["checkpoint"])
        return history

    loop.train, records._display = recorder, lambda data: None
    os.chdir(training.path.parent)
    names = {"__name__": "training"}
    try:
        with torch.random.fork_rng():
            for cell, tree, parameters in _what_trains(*_cells(training)):
                exec(compile(tree, cell, "exec"), names)
                if parameters:
                    names |= {"profile": "smoke", "checkpoints": str(checkpoints)}
    finally:
        loop.train, records._display = train, display
        os.chdir(here)
    return ends


def tensors_in(part):
    """Return how many bytes of tensors a checkpoint holds."""
    import torch

    if isinstance(part, torch.Tensor):
        return part.numel() * part.element_size() * (part.ndim > 0)  # Adam counts in scalars
    inner = part.values() if isinstance(part, dict) else part
    return sum(map(tensors_in, inner)) if isinstance(part, (dict, list, tuple)) else 0


@pytest.mark.parametrize("name", VALUABLE)
def test_a_checkpoint_is_slim_and_continues_after_a_cut_with_the_same_weights(name, tmp_path):
    import torch

    training = find(OURS, name)
    whole = smoke(training, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        smoke(training, tmp_path / "cut", cut_at=3)
    (saved,) = (tmp_path / "cut").glob("*.pt")
    assert torch.load(saved, weights_only=True)["history"]["step"] == 3
    again = smoke(training, tmp_path / "cut")
    assert [*again] == [*whole]
    for run, (state, history, file) in whole.items():
        there, other, _ = again[run]
        assert (history.step, history.items) == (other.step, other.items)
        assert all(torch.equal(state[name], there[name]) for name in state), run
        of_model = sum(tensor.numel() * tensor.element_size() for tensor in state.values())
        held = tensors_in(torch.load(file, weights_only=True))
        assert held <= (3 + COPIES.get(run, 0)) * of_model  # Adam has two numbers for each weight
