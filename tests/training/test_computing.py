"""How steps are computed: chosen by the card, set from outside, and no part of what is trained."""

from __future__ import annotations

import json
from functools import partialmethod

import pytest
import torch
from accelerate.state import AcceleratorState
from torch import nn

from coursekit._base.errors import CourseError
from coursekit.training import computing, loop, records
from coursekit.training.batches import Batches
from coursekit.training.callbacks import Evaluate, ProgressBar, WatchGradients
from coursekit.training.computing import Computing, current, suited, use, using

PROFILES = {name: {"minutes": 1} for name in records.PROFILES}


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Each test begins with what is usual, and nothing is left of it."""
    monkeypatch.delenv(computing.SET, raising=False)
    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    use(Computing())
    AcceleratorState._reset_state(reset_partial_state=True)


def test_what_is_no_computing_is_not_put_in_force():
    """`library_answers` calls every function of the package with the values of a case."""
    with pytest.raises(TypeError, match="use\\(\\) needs a Computing, found Tensor"):
        use(torch.zeros(2))
    assert current() == Computing()


def card(monkeypatch, *capability):
    """Let this machine have a card of that generation, or none."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(capability))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)


@pytest.mark.parametrize(
    ("generation", "expected"),
    [
        ((), Computing()),
        ((6, 1), Computing()),  # P100: nothing to gain
        ((7, 5), Computing(precision="fp16")),  # T4
        ((8, 0), Computing(precision="bf16", tf32=True)),  # A100
        ((9, 0), Computing(precision="bf16", tf32=True)),  # H100
    ],
)
def test_the_profile_gpu_takes_what_the_card_has(monkeypatch, generation, expected):
    card(monkeypatch, *generation)
    assert suited("gpu") == expected
    assert suited("cpu") == suited("smoke") == Computing()
    monkeypatch.setenv(computing.SET, json.dumps({"precision": "no", "micro_batches": 4}))
    assert suited("gpu").precision == "no" and suited("gpu").micro_batches == 4


def test_choose_puts_it_in_force(monkeypatch):
    card(monkeypatch, 7, 5)
    records.choose("gpu", **PROFILES)
    assert current() == Computing(precision="fp16")
    records.choose("cpu", **PROFILES)
    assert current() == Computing()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"precision": "fp8"}, "precision"),
        ({"micro_batches": 0}, "micro_batches"),
        ({"compile": "yes"}, "compile must be true or false, found 'yes'"),
        ({"tf32": 1}, "tf32 must be true or false, found 1"),
        ({"log": "paper"}, "log"),
    ],
)
def test_a_value_that_makes_no_sense_is_one_sentence(values, said):
    with pytest.raises(ValueError, match=said):
        Computing(**values)


def fit(*, validate=None, callbacks=(), **options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 1))
    rows = list(torch.randn(64, 4))
    kinds = set()

    def loss(model, batch):
        said = model(batch)
        kinds.add(said.dtype)
        return (said.float() - batch.sum(-1, keepdim=True)).square().sum(), len(batch)

    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    batches = Batches(rows, torch.stack, size=16, seed=0)
    options = {"steps": 12, **options}
    callbacks = [Evaluate(validate, every=4), *callbacks, ProgressBar(quiet=True)]
    history = loop.train(model, batches, loss, optimiser, callbacks=callbacks, **options)
    return model, history, kinds


def test_train_follows_it_and_using_changes_it_inside_a_block():
    use(Computing(precision="bf16"))
    assert fit()[2] == {torch.bfloat16}
    with using(precision="no"):
        assert fit()[2] == {torch.float32}  # also after another one in this process
    assert fit()[2] == {torch.bfloat16}
    use(Computing(micro_batches=4))
    seen = []
    batches = Batches(list(torch.randn(64, 4)), lambda rows: seen.append(len(rows)), size=16)
    with pytest.raises(TypeError):  # of a batch that is None
        loop.train(
            nn.Linear(4, 1), batches, lambda model, batch: model(batch),
            torch.optim.SGD([torch.zeros(1)]), steps=1, callbacks=[ProgressBar(quiet=True)],
        )  # fmt: skip
    assert seen == [4]


def test_using_ends_with_its_block_also_after_an_error():
    with pytest.raises(KeyError), using(micro_batches=4, precision="bf16"):
        assert current() == Computing(micro_batches=4, precision="bf16")
        raise KeyError
    assert current() == Computing()


def test_a_compiled_model_makes_the_same_steps(monkeypatch):
    compiled = []

    def compile(self, **options):
        compiled.append(type(self))
        self._compiled_call_impl = torch.compile(self._call_impl, backend="eager")

    monkeypatch.setattr(nn.Module, "compile", partialmethod(compile))
    plain, history, _ = fit()
    use(Computing(compile=True))
    model, again, _ = fit()
    assert compiled == [nn.Sequential] and model._compiled_call_impl is None
    assert again.last["loss"] == pytest.approx(history.last["loss"], rel=1e-5)
    for one, other in zip(plain.parameters(), model.parameters()):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def test_a_loss_that_compares_its_batch_is_refused_micro_batches(monkeypatch):
    computing.whole_batches("it compares")
    use(Computing(micro_batches=2))
    with pytest.raises(CourseError, match=r"it compares.*micro_batches=2 and 1 processes"):
        computing.whole_batches("it compares")
    use(Computing())
    monkeypatch.setenv(computing.PROCESSES, "2")
    with pytest.raises(CourseError, match="micro_batches=1 and 2 processes"):
        computing.whole_batches("it compares")


def test_products_are_rounded_inside_a_training_only(monkeypatch):
    seen = set()
    use(Computing(tf32=True))
    fit(callbacks=[WatchGradients(lambda *_: seen.add(torch.get_float32_matmul_precision()))])
    assert seen == {"high"} and torch.get_float32_matmul_precision() == "highest"


def test_killed_on_one_card_and_taken_up_on_another(tmp_path):
    path = tmp_path / "run.pt"
    use(Computing(precision="bf16", micro_batches=2))
    fit(steps=8, checkpoint=path)
    use(Computing(micro_batches=4))
    model, history, kinds = fit(steps=12, checkpoint=path)
    assert history.step == 12 and kinds == {torch.float32}
    unbroken = fit(steps=12)[0]
    for one, other in zip(model.parameters(), unbroken.parameters()):
        assert (one - other).abs().max() < 0.03 * other.abs().max()


def test_the_scale_of_float16_is_taken_where_the_file_has_one(tmp_path):
    from coursekit.training.checkpoint import Checkpoint

    class Scale:
        state = 1.0

        def state_dict(self):
            return {"scale": self.state}

        def load_state_dict(self, state):
            self.state = state["scale"]

    scale, path = Scale(), tmp_path / "run.pt"
    scale.state = 8.0
    Checkpoint(path, {}, {}, {"scaler": scale}).save(loop.History())
    Checkpoint(path, {}, {}).load()  # in 32 bits nobody asks for it
    again = Scale()
    Checkpoint(path, {}, {}, {"scaler": again}).load()
    assert again.state == 8.0
    Checkpoint(path, {}, {}).save(loop.History())
    fresh = Scale()
    Checkpoint(path, {}, {}, {"scaler": fresh}).load()
    assert fresh.state == 1.0


def test_more_processes_than_cards_is_one_sentence(monkeypatch):
    card(monkeypatch, 8, 0)
    monkeypatch.setenv(computing.PROCESSES, "2")
    with pytest.raises(CourseError, match="2 processes need 2 GPUs, found 1"):
        fit()


def test_the_curve_goes_to_tensorboard_too(tmp_path, monkeypatch):
    pytest.importorskip("tensorboard", reason="an offer where tensorboard is installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.setenv(computing.FOLDER, str(tmp_path))
    use(Computing(log="tensorboard"))
    _, history, _ = fit(validate=lambda model: {"valid": 0.5})
    (folder,) = tmp_path.iterdir()
    events = EventAccumulator(str(folder))
    events.Reload()
    for name in ("loss", "valid"):
        told = [(event.step, event.value) for event in events.Scalars(name)]
        steps, values = history.column(name)
        assert [step for step, _ in told] == steps
        assert [value for _, value in told] == pytest.approx(values, rel=1e-6)


def test_who_should_get_the_curve_must_be_there(monkeypatch):
    monkeypatch.setattr(loop, "find_spec", lambda name: None)
    use(Computing(log="wandb"))
    with pytest.raises(CourseError, match="wandb, which should get the curve, is not installed"):
        fit()
