"""16 bits in the loop: bfloat16 as it is, float16 with the scaling that a GPU would have.

Accelerate scales on GPUs only and computes float16 in 32 bits on a processor. `Scaling` below is
its class with torch's scaler and autocast for processors switched on, so that the loop takes the
path that it takes on a T4.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import nn

from coursekit.training import loop
from coursekit.training.batches import Batches
from coursekit.training.callbacks import ClipGradients, Evaluate, ProgressBar, WatchGradients
from coursekit.training.computing import using

from .several import launch

BIT = {"bf16": 2**-8, "fp16": 2**-11}  # the half of a last place, relative to the number


class Scaling(Accelerator):
    """Accelerate as on a GPU, as far as numbers of 16 bits go."""

    made: ClassVar[list[Scaling]] = []
    first = 2.0**16  # torch's own

    def __init__(self, mixed_precision: str, **options: bool) -> None:
        super().__init__(mixed_precision=mixed_precision, **options)
        if mixed_precision == "fp16":
            self.native_amp = True
            self.scaler = torch.amp.GradScaler("cpu", init_scale=self.first)
        self.made.append(self)


@pytest.fixture(autouse=True)
def scaling(monkeypatch):
    """Each test begins without what Accelerate remembers of the precision before."""
    AcceleratorState._reset_state(reset_partial_state=True)
    monkeypatch.setattr(loop, "Accelerator", Scaling)
    monkeypatch.setattr(Scaling, "made", [])
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


def fit(precision="no", *, loud=1.0, callbacks=(), micro_batches=1, **options):
    """A regression with a wide layer; `loud` multiplies the losses of its first step."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 1))
    x = torch.randn(64, 8)  # (N, 8)
    rows = list(zip(x, x.square().sum(-1, keepdim=True)))
    begun = {name: weight.clone() for name, weight in model.state_dict().items()}
    kinds, steps = set(), iter(range(10**6))

    def loss(model, batch):
        inputs, wanted = (torch.stack(part) for part in zip(*batch))
        said = model(inputs)
        kinds.add(said.dtype)
        factor = loud if next(steps) == 0 else 1.0
        return factor * (said.float() - wanted).square().sum(), len(batch)

    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    options = {"steps": 60, **options}
    batches = Batches(rows, list, size=16, seed=0)
    callbacks = [Evaluate(every=20), *callbacks, ProgressBar(quiet=True)]
    with using(precision=precision, micro_batches=micro_batches):
        history = loop.train(model, batches, loss, optimiser, callbacks=callbacks, **options)
    return model, history, begun, kinds


def apart(one, other):
    """The largest difference of two models, in the largest weight of the second."""
    pairs = list(zip(one.parameters(), other.parameters(), strict=True))
    gap = max((a - b).abs().max() for a, b in pairs)
    return (gap / max(b.abs().max() for _, b in pairs)).item()


@pytest.mark.parametrize(("precision", "kind"), [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_products_have_16_bits_and_weights_32(precision, kind):
    Scaling.first = 2.0**6  # no overflow in this problem
    model, history, _, kinds = fit(precision)
    AcceleratorState._reset_state(reset_partial_state=True)
    plain, full, *_ = fit()
    assert kinds == {kind} and {w.dtype for w in model.parameters()} == {torch.float32}
    assert history.last["loss"] < history.curve[0]["loss"] / 2  # it learns
    assert history.last["loss"] == pytest.approx(full.last["loss"], rel=20 * BIT[precision])
    assert 0 < apart(model, plain) < 20 * BIT[precision]  # after 60 steps, and it is not the same


def gradients(precision):
    """The gradients of the first step, as a callback sees them."""
    seen = {}

    def watch(step, model):
        seen.update({name: weight.grad.clone() for name, weight in model.named_parameters()})

    AcceleratorState._reset_state(reset_partial_state=True)
    fit(precision, steps=1, callbacks=[WatchGradients(watch)])
    return seen


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_gradients_are_those_of_32_bits_within_a_few_last_places(precision):
    Scaling.first = 2.0**6
    found, expected = gradients(precision), gradients("no")
    for name, gradient in expected.items():
        size = gradient.abs().max()
        assert (found[name] - gradient).abs().max() < 8 * BIT[precision] * size, name


def test_a_step_that_overflows_is_left_out_and_the_scale_halved():
    Scaling.first = 2.0**6
    model, history, begun, _ = fit("fp16", steps=1, loud=1e4)
    (accelerator,) = Scaling.made
    assert accelerator.scaler.get_scale() == 2.0**5
    assert all(torch.equal(model.state_dict()[name], begun[name]) for name in begun)
    assert history.step == 1  # it counts as one


def test_after_an_overflow_it_goes_on_and_learns():
    Scaling.first = 2.0**6
    quiet = fit("fp16")[1]
    AcceleratorState._reset_state(reset_partial_state=True)
    model, history, *_ = fit("fp16", loud=1e4)
    assert Scaling.made[-1].scaler.get_scale() == 2.0**5
    assert all(weight.isfinite().all() for weight in model.parameters())
    assert history.last["loss"] == pytest.approx(quiet.last["loss"], rel=0.1)


def test_clipping_sees_the_gradients_without_the_scale():
    """Scaled by 64, all of them would be clipped to the norm, and the step would be another."""
    Scaling.first = 2.0**6
    free = fit("fp16", steps=3)[0]
    AcceleratorState._reset_state(reset_partial_state=True)
    wide = fit("fp16", steps=3, callbacks=[ClipGradients(500.0)])[0]
    assert apart(wide, free) == 0


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_micro_batches_in_16_bits_add_up_to_the_whole_batch(precision):
    Scaling.first = 2.0**6
    whole = fit(precision, steps=5)[0]
    AcceleratorState._reset_state(reset_partial_state=True)
    cut = fit(precision, steps=5, micro_batches=4)[0]
    assert apart(cut, whole) < 8 * BIT[precision]


def test_the_scale_goes_into_the_checkpoint(tmp_path):
    Scaling.first = 2.0**6
    fit("fp16", steps=1, loud=1e4, checkpoint=tmp_path / "run.pt")
    AcceleratorState._reset_state(reset_partial_state=True)
    fit("fp16", steps=2, checkpoint=tmp_path / "run.pt")
    assert Scaling.made[-1].scaler.get_scale() == 2.0**5


def test_two_processes_in_16_bits_make_the_steps_of_one(tmp_path):
    path = tmp_path / "run.pt"
    launch(partial(fit, "bf16", steps=5, checkpoint=path), processes=2)
    model = fit("bf16", steps=5)[0]
    found = torch.load(path, weights_only=True)["model"]
    for name, weight in model.state_dict().items():
        assert (found[name] - weight).abs().max() < 8 * BIT["bf16"] * weight.abs().max(), name
