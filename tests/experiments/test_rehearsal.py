"""A rehearsal builds what a GPU will train, counts two steps, and foretells time and memory."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from coursekit._base.errors import CourseError
from coursekit.analysis.memory import kept_bytes, measured
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.training import loop, records
from coursekit.training.batches import Batches
from coursekit.training.callbacks import ProgressBar
from coursetools import cli
from coursetools.course import Course
from coursetools.experiments.forecast import (
    DEVICES,
    LAUNCH,
    OWN,
    SHARE,
    STEP,
    Forecast,
    Op,
    Run,
    Step,
    grown,
)
from coursetools.experiments.rehearsal import Meter, _Few, rehearse
from coursetools.experiments.train import find

QUIET = [ProgressBar(quiet=True)]

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "notebooks" / "training").glob("*.ipynb"))
IN_16_BITS = ("commands", "tasks", "vit")  # slow on a processor, and what they call others call too
FROZEN = {"retrieval", "smollm2"}  # they train nothing
VALUABLE = ("translation", "vit", "writer", "bert", "detector")  # FIRST, when a GPU is lent
HUB = {"vit": "zalando-datasets/fashion_mnist"}  # what a profile `gpu` fetches

TOY = """\
import torch
from torch import nn
from coursekit.training.batches import Batches
from coursekit.training.loop import train
print("not shown")
model = nn.Linear(30, 20, bias=False)
rows = [torch.ones(30)] * 8

def loss(model, x):
    return model(x).sum(), len(x)

history = train(model, Batches(rows, torch.stack, size=6), loss,
                torch.optim.AdamW(model.parameters()), steps=settings.steps)"""


@pytest.mark.parametrize("name", sorted({*NAMES} - FROZEN))
def test_every_training_can_be_rehearsed(name):
    here, device = os.getcwd(), torch.get_default_device()
    values = {} if name in (*IN_16_BITS, *VALUABLE) else {"precision": "no"}
    said = rehearse(find(Course(ROOT), name), values=values, brief=True)
    assert said.runs and said.minutes > 0
    for run in said.runs:
        assert run.steps >= 1 and run.flops > 0 and run.typical.kept > 0
        assert 0 < run.gradients <= run.weights  # of what is frozen there are none
    assert all(0 < said.hours(one) < math.inf for one in DEVICES)
    assert said.hours(DEVICES[0]) == max(map(said.hours, DEVICES))  # a T4 is never the faster
    assert bool(said.notes) == (name in HUB)
    assert HUB.get(name, "") in str(said)
    assert (os.getcwd(), torch.get_default_device()) == (here, device)
    assert (loop.train.__name__, records.choose.__name__) == ("train", "choose")
    if name in VALUABLE:  # ten minutes of an A100, with one for the estimate; and a model to keep
        (a100,) = (device for device in DEVICES if device.name == "A100")
        assert said.seconds(a100) < 60 * 9 and said.minutes == 10
        largest = 8_000_000 if name == "translation" else 4_000_000
        assert said.runs[0].weights / 2 < largest and said.verdict(a100) == "fits"


@pytest.mark.parametrize("name", sorted(FROZEN))
def test_what_trains_nothing_is_not_executed(name, monkeypatch):
    monkeypatch.setattr("coursetools.experiments.rehearsal._perform", None)
    with pytest.raises(CourseError, match=f"{name} has made no step"):
        rehearse(find(Course(ROOT), name))


def test_a_toy_in_closed_form(lab):
    lab.training("toy", TOY, "never = 1 / 0")
    said = rehearse(find(Course(lab.root), "toy"))
    (run,) = said.runs
    assert (run.steps, said.profile, run.widest.rows) == (9, "gpu", 6)
    assert run.flops == 2 * 6 * 30 * 20 * 2  # forward, and back for the weights alone
    assert (run.weights, run.gradients, run.state) == (4 * 600, 4 * 600, 2 * 4 * 600)
    assert run.widest.kept == 2 * 6 * 30 and run.precision == "bf16"  # what the product reads
    training = find(Course(lab.root), "toy")
    (plain,) = rehearse(training, values={"precision": "no", "micro_batches": 3}).runs
    assert plain.widest.rows == 2 and plain.widest.kept == 4 * 2 * 30
    assert "in 16 bits (bf16; T4: fp16)" in str(said)
    assert "9 steps" in str(said) and "not shown" not in str(said)


def small_gpt():
    torch.manual_seed(0)
    config = GPTConfig(vocabulary=50, width=32, depth=2, heads=4, positions=16, dropout=0.0,
                       attention_dropout=0.0, embedding_dropout=0.0)  # fmt: skip
    return GPT(config)


def gpt_loss(model, tokens):
    wrong = cross_entropy(model(tokens[:, :-1]).mT, tokens[:, 1:], reduction="sum")
    return wrong, tokens[:, 1:].numel()


@pytest.mark.parametrize("rows", [8, 24])
def test_memory_grown_from_two_and_four_rows_is_that_of_the_real_batch(rows):
    draw = torch.Generator().manual_seed(0)
    tokens = [torch.randint(50, (17,), generator=draw) for _ in range(rows)]
    model, meter = small_gpt(), Meter()
    optimiser = torch.optim.AdamW(model.parameters())
    whole = list(range(rows))
    few = _Few(Batches(tokens, torch.stack, size=rows), [(whole, 2), (whole, 4)])
    with meter.counting():
        loop.train(model, few, gpt_loss, optimiser, steps=2, callbacks=QUIET)
    small, large = (Step(n, ops, kept) for n, (_, ops, kept) in zip((2, 4), meter.steps))
    foretold = grown(small, large, rows)
    other, batch = small_gpt(), torch.stack(tokens)
    found = measured(
        other, lambda: gpt_loss(other, batch)[0], torch.optim.AdamW(other.parameters())
    )
    assert foretold.kept == pytest.approx(found.activations, rel=0.01)
    assert foretold.kept == pytest.approx(
        kept_bytes(lambda: gpt_loss(model, batch), model), rel=0.01
    )
    again = Meter()
    every = _Few(Batches(tokens, torch.stack, size=rows), [(whole, rows)])  # two rows, repeated
    with again.counting():
        loop.train(model, every, gpt_loss, optimiser, steps=1, callbacks=QUIET)
    flops = sum(op.flops for op in again.steps[0][1])
    assert sum(op.flops for op in foretold.ops) == pytest.approx(flops, rel=0.01)


def test_each_operation_is_bound_by_what_is_slowest():
    device = DEVICES[0]
    second = [Op(SHARE * device.flops, 0), Op(0, SHARE * device.bandwidth)]
    step = Step(4, [*second, Op(0, 0)], 0.0)
    run = Run("toy", 10, step, step, 4, 4, 8)
    assert run.seconds(device) == pytest.approx(10 * (2 + LAUNCH + STEP))
    half = Run("toy", 10, step, step, 4, 4, 8, "fp16")  # the memory is no faster with it
    seconds = 1 + device.flops / device.flops_16 + LAUNCH + STEP
    assert half.seconds(device) == pytest.approx(10 * seconds)


def test_what_grows_with_the_batch_and_what_does_not():
    small = Step(2, [Op(100, 50), Op(7, 9)], 1000.0)
    large = Step(4, [Op(200, 100), Op(7, 9)], 1900.0)
    assert grown(small, large, 40) == (40, [Op(2000, 1000), Op(7, 9)], 18_100.0)
    by_chance = Step(4, [Op(200, 100)], 1900.0)
    assert grown(small, by_chance, 40).ops == [Op(2000, 1000)]


def test_a_batch_that_does_not_fit_is_told_with_one_that_does():
    def forecast(rows):
        step = Step(rows, [Op(1e9, 1e6)], rows * 1e8)
        return Forecast("toy", "gpu", 5, [Run("toy", 10, step, step, 10**9, 10**9, 2 * 10**9)])

    t4, a100 = (device for device in DEVICES if device.name in ("T4", "A100"))
    large = forecast(200)
    assert large.verdict(t4) == "does not fit: try batch 110, or --set micro_batches=2 or more"
    assert large.verdict(a100) == "fits"
    assert forecast(110).verdict(t4) == "fits" and forecast(111).verdict(t4) != "fits"
    assert t4.memory - OWN == 4e9 + 110 * 1e8
    heavy = Step(2, [Op(1, 1)], 2e8)
    run = Run("toy", 10, heavy, heavy, 10**10, 10**10, 2 * 10**10)
    assert "weights alone" in Forecast("toy", "gpu", 5, [run]).verdict(t4)


def test_the_command(lab, capsys, monkeypatch):
    lab.training("toy", TOY, "never = 1 / 0")
    monkeypatch.chdir(lab.root)
    assert cli.main(["train", "--profile", "gpu", "--rehearse", "toy"]) == 0
    said = capsys.readouterr()
    assert "toy gpu: 1 training, 9 steps" in said.out and "not shown" not in said.out
    assert all(device.name in said.out for device in DEVICES) and "rehearsal" in said.err
    assert cli.main(["train", "--rehearse", "toy", "--set", "steps=4", "--quiet"]) == 0
    said = capsys.readouterr()
    assert "4 steps" in said.out and not said.err
    assert not [name for name in lab.files() if "results" in name]  # nothing is kept


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], "No training run nobody. Choose from toy"),
        (["toy", "--set", "sleep=4"], "sleep"),
        (["toy", "--resume"], "--rehearse is of one training here and now, without --resume"),
        (["toy", "--processes", "2"], "without --processes"),
    ],
)
def test_what_cannot_be_rehearsed_is_said(lab, capsys, monkeypatch, arguments, sentence):
    lab.training("toy", TOY, "never = 1 / 0")
    monkeypatch.chdir(lab.root)
    assert cli.main(["train", "--rehearse", *arguments]) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (TOY.replace("nn.Linear(30", "nn.Linear(31"), "RuntimeError: mat1 and mat2"),
        (TOY.replace("nn.Linear", "nn.Lineal"), "AttributeError"),
        ("x = 1", "has made no step"),
    ],
)
def test_what_would_fail_on_the_gpu_fails_here(lab, cell, sentence):
    path = lab.training("toy", cell)
    with pytest.raises(CourseError, match=sentence) as caught:
        rehearse(find(Course(lab.root), "toy"))
    assert "no step" in sentence or f"{path.stem}.ipynb, cell " in str(caught.value)
    assert loop.train.__module__ == "coursekit.training.loop"  # nothing stays exchanged


def test_ctrl_c_ends_it_with_one_sentence(lab, capsys, monkeypatch):
    lab.training(
        "toy", TOY.replace("    return model", "    raise KeyboardInterrupt\n    return model")
    )
    monkeypatch.chdir(lab.root)
    assert cli.main(["train", "--rehearse", "toy"]) == 130
    assert "the rehearsal of toy was interrupted" in capsys.readouterr().err
    assert loop.train.__module__ == "coursekit.training.loop"


def test_judging_before_a_step_does_not_count_into_it():
    model = torch.nn.Linear(30, 20, bias=False)
    optimiser, meter, x = torch.optim.SGD(model.parameters()), Meter(), torch.ones(6, 30)
    with meter.counting():
        with torch.no_grad():
            model(torch.ones(1000, 30))
        model(x).sum().backward()
        optimiser.step()
    (step,) = meter.steps
    assert sum(op.flops for op in step[1]) == 2 * 6 * 30 * 20 * 2
