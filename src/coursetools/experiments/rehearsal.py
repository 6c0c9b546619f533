"""A rehearsal: the models of a profile are built and make two steps with a few rows each.

The cells of the training are executed here, up to its last training, and three things are exchanged
from outside: `choose` gives the models and batches of the profile and few steps; the shared loop,
`coursekit.training.loop.train`, takes a few rows of its batches and makes two steps of them; and
pictures that would come from the hub are others of the same shape. A training with a loop of its
own makes its few steps itself; two of those, whose steps would take long, do so twice, with few
rows and with twice as many. What all of them do is counted below Python, so none was rewritten.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress
from coursekit.data.images import Images
from coursekit.submission.cells import parse_cell
from coursekit.training import computing, loop, records, translation
from coursekit.training.batches import POOL, Batches
from coursekit.training.callback_list import CallbackList
from coursekit.training.callbacks import (
    AverageWeights,
    Callback,
    ClipGradients,
    Evaluate,
    KeepWeights,
    ProgressBar,
)
from coursekit.training.computing import Computing
from coursekit.training.detection import Pictures
from coursekit.training.hardware import hardware
from coursekit.training.history import History
from coursetools.experiments.forecast import DEVICES, Device, Forecast, Op, Run, Step, grown
from coursetools.experiments.train import Training
from coursetools.notebooks.hidden_source import TAG
from coursetools.notebooks.imports import read_notebook

FEW = 500  # pictures of a brief rehearsal
ROWS = 2  # of the first step; the second has twice as many
SHORT = 32  # steps that a rehearsed profile asks for: what is prepared for each step is less then
OWN_SHORT = {"scaling": 4, "canvases": 8, "features": 2}  # the steps are really made in these
OWN_ROWS = {"scaling": 1, "canvases": 2}  # and these have large steps
# Settings that say how long something goes on: divided, and what was counted multiplied again.
LENGTHS = {"tokens", "first", "long", "prompts", "dpo_pairs", "warmup"}
# How much is judged between and afterwards: as in `smoke`.
JUDGED = {
    "asked",
    "tests",
    "judged",
    "test",
    "valid",
    "shown",
    "painted",
    "tested",
    "looks",
    "best",
}
JUDGED |= {"scanned", "tagged", "labels", "restored", "translated"}
# How much is read and how often it is trained: in `brief`, as in `smoke`.
BRIEF = {"texts", "speeches", "sentences", "pictures", "scenes", "seeds", "rates", "prompts"}

# `coursekit.data.fashion` is the function; its module has to be asked for.
fashion, cifar = (import_module(f"coursekit.data.{name}") for name in ("fashion", "cifar"))
DEFINES = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
aten = torch.ops.aten
Counter = Callable[..., int]
LOOP, CHOOSE, FASHION, CIFAR = loop.train, records.choose, fashion.fashion, cifar.cifar
MEAN_LOSS = translation.mean_loss


def _attention(q: Any, k: Any, v: Any, *rest: Any, **options: Any) -> int:
    return sdpa_flop_count(q.shape, k.shape, v.shape)


def _attention_backward(grad: Any, q: Any, k: Any, v: Any, *rest: Any, **options: Any) -> int:
    return sdpa_backward_flop_count(grad.shape, q.shape, k.shape, v.shape)


COUNTERS: dict[Any, Counter] = {  # torch counts the fused attention of GPUs, not the processor's
    **flop_registry,
    aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
}


class Meter(TorchDispatchMode):
    """Counts operations, FLOPs, bytes and activations, and cuts where an optimiser has stepped.

    A step begins with the first operation that autograd watches, so that what is judged without
    gradients, before a step, does not count into it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[Optimizer, list[Op], float]] = []
        self._clear()

    def _clear(self) -> None:
        self.ops: list[Op] = []
        self.kept: dict[int, Any] = {}
        self.begun = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        self.begun = self.begun or torch.is_grad_enabled()
        if self.begun and not func.is_view:
            count = COUNTERS.get(func.overloadpacket)
            flops = count(*args, **kwargs, out_val=out) if count else 0
            tensors = _tensors([*args, *kwargs.values(), out])
            self.ops.append(Op(flops, sum(t.numel() * t.element_size() for t in tensors)))
        return out

    def _keep(self, tensor: torch.Tensor) -> torch.Tensor:
        store = tensor.untyped_storage()
        self.kept[store._cdata] = store  # held, so that no other gets its number
        return tensor

    def _cut(self, optimiser: Optimizer, *_: Any) -> None:
        weights = {w.untyped_storage()._cdata for g in optimiser.param_groups for w in g["params"]}
        kept = sum(store.nbytes() for key, store in self.kept.items() if key not in weights)
        self.steps.append((optimiser, self.ops, kept))
        self._clear()

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Count what happens inside."""
        hooks = [register_optimizer_step_pre_hook(_as_on_a_gpu)]
        hooks += [register_optimizer_step_post_hook(self._cut)]
        try:
            with saved_tensors_hooks(self._keep, lambda tensor: tensor), self:
                yield
        finally:
            for hook in hooks:
                hook.remove()


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _as_on_a_gpu(optimiser: Optimizer, *_: Any) -> None:
    """Take all weights of an optimiser at once, which torch does by itself on a GPU only."""
    for group in optimiser.param_groups:
        if "foreach" in group and group["foreach"] is None and not group.get("fused"):
            group["foreach"] = True


class _Few(Batches):
    """A few rows of real batches, padded as the whole batch is; the second step has them twice."""

    def __init__(self, batches: Batches, chosen: list[tuple[list[int], int]]) -> None:
        self.batches, self.chosen, self.seed = batches, chosen, batches.seed

    def from_step(self, first: int = 1) -> Iterator[tuple[int, list[int]]]:
        """Yield (step, numbers of its rows); the loop asks for `collated` before the next."""
        for step, (whole, rows) in enumerate(self.chosen, first):
            self.whole = whole
            yield step, list(range(rows))
        yield first + len(self.chosen), [0]  # which is one too many for the loop

    def collated(self, rows: Sequence[int]) -> Any:
        """Return the first rows of the whole batch, repeated if more are asked for."""
        whole, few = self.batches.collated(self.whole), min(ROWS, len(self.whole))
        times = len(rows) // few
        if isinstance(whole, Pictures):  # whose objects are no rows; and pictures need no padding
            return self.batches.collated(self.whole[:few] * times)

        def cut(part: Any) -> Any:
            if isinstance(part, torch.Tensor) and part.ndim and len(part) == len(self.whole):
                self.cuts += 1
                return torch.cat([part[:few]] * times)
            if is_dataclass(part) and not isinstance(part, type):
                return replace(part, **{f.name: cut(getattr(part, f.name)) for f in fields(part)})
            return part

        if isinstance(whole, list) and len(whole) == len(self.whole):
            return whole[:few] * times
        self.cuts = 0
        batch = tree_map(cut, whole)
        if not self.cuts:
            raise TypeError(f"no rows can be taken of a batch that is a {type(whole).__name__}")
        return batch


class _Number(float):
    """A number that is an empty table as well: a look may return either."""

    def keys(self) -> tuple[()]:
        """Return no names."""
        return ()


class _Row(dict):
    """A look at the model that nobody took."""

    def __missing__(self, name: str) -> _Number:
        return _Number(0.5)


def _history(model: torch.nn.Module, steps: int, callbacks: Sequence[Callback]) -> History:
    """Return what the shared loop would, as far as it is read before the next run."""
    for callback in callbacks:
        if isinstance(callback, KeepWeights):
            callback.weights = [model.state_dict()] * callback.last
        if isinstance(callback, AverageWeights):
            callback.weights = model.state_dict()
    curve: list[dict[str, float]] = [_Row(step=steps, loss=1.0, seconds=1.0) for _ in range(2)]
    return History(step=steps, seconds=1.0, items=steps, curve=curve)


@dataclass
class _Rehearsal:
    """What is exchanged while the cells are executed, and what they said."""

    training: Training
    profile: str
    brief: bool
    rows: int | None  # for a loop of its own
    how: Mapping[str, Any] = field(default_factory=dict)  # what was set of `Computing`
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    factor: float = 1.0  # how many times as many steps will be made
    minutes: float = 0.0
    batch: int = 0
    known: dict[Any, Run] = field(default_factory=dict)  # by what was trained, for a brief one

    def choose(
        self, profile: str, *, changes: Mapping[str, Any] | None = None, **profiles: Any
    ) -> Any:
        """Stand for `records.choose`: the profile's models, few steps, little that is judged."""
        settings = CHOOSE(self.profile, changes=changes, **profiles)
        usual = {"precision": "bf16"} if self.profile == "gpu" else {}
        computing.use(Computing(**{**usual, **self.how, "compile": False, "log": None}))
        values, smoke = dict(settings), profiles["smoke"]
        name = self.training.name
        wanted = values.get("steps") or values.get("tokens", 0) / values.get("batch", 1)
        self.factor = max(1.0, wanted / OWN_SHORT.get(name, SHORT))
        self.minutes, self.batch = values["minutes"], values.get("batch", 0)
        for key, value in values.items():
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if key in JUDGED or (self.brief and key in BRIEF):
                values[key] = _small(value, smoke[key])
                if key == "prompts":  # enough pairs for more than one step
                    values[key] = max(values[key], self.batch)
            elif number and value and ("steps" in key or key in LENGTHS):
                values[key] = type(value)(max(1, round(value / self.factor)))
        if self.rows:
            values["batch"] = self.rows
        return records.Settings(values)

    def train(self, model: Any, batches: Any, loss: Any, optimiser: Any, **options: Any) -> History:
        """Stand for `loop.train`: two steps of a few rows, or three where lengths differ."""
        steps, how = options["steps"], computing.current()
        callbacks = list(options.get("callbacks", ()))
        name = CallbackList(callbacks).run_name
        shapes = tuple(weight.shape for weight in model.parameters())
        same = type(model), shapes, str(batches.size), type(optimiser)
        if self.brief and same in self.known:
            self.runs.append(replace(self.known[same], name=name, steps=steps * self.factor))
            return _history(model, steps, callbacks)
        sizes = {
            batches.size(1 + steps * n // 8) if callable(batches.size) else batches.size
            for n in range(8)
        }
        stream = batches.from_step()
        real = [next(stream)[1] for _ in range(POOL if batches.lengths else 1)]
        if batches.lengths:
            real.sort(key=lambda rows: sum(batches.lengths[row] for row in rows) / len(rows))
        typical, longest = real[len(real) // 2], real[-1]
        few = min(ROWS, len(typical), len(longest))
        chosen = [(typical, few), (typical, 2 * few)] + [(longest, few)] * bool(batches.lengths)
        meter = Meter()
        clips = [callback for callback in callbacks if isinstance(callback, ClipGradients)]
        with meter.counting(), computing.using(micro_batches=1):
            LOOP(
                model, _Few(batches, chosen), loss, optimiser, steps=len(chosen),
                schedule=options.get("schedule"),
                callbacks=[Evaluate(every=10**9), *clips, ProgressBar(name, quiet=True)],
            )  # fmt: skip
        measured = [Step(n, ops, held) for (_, n), (_, ops, held) in zip(chosen, meter.steps)]
        small, large = measured[:2]
        middle = grown(small, large, sum(sizes) / len(sizes))
        most = max(sizes) // how.micro_batches
        wide = grown(small, large, most)
        if batches.lengths:
            wide = wide._replace(
                kept=max(wide.kept, wide.kept * measured[2].kept / measured[0].kept)
            )
        run = Run(name, steps * self.factor, middle, wide, *_bytes(optimiser, model), how.precision)
        self.known[same] = run
        self.runs.append(run)
        return _history(model, steps, callbacks)

    def pictures(self, read: Callable[..., Images], hub: str) -> Callable[..., Images]:
        """Return what stands for `fashion` or `cifar`: the embedded pictures, or noise."""

        def stand_in(split: str = "train", *, source: str = "") -> Images:
            if read is FASHION and source != "full":
                images = read(split)
                return images.take(range(FEW)) if self.brief else images
            note = f"{hub} would be fetched; the rehearsal had other pictures of the same shape."
            self.notes += [] if note in self.notes else [note]
            if read is FASHION:
                return read(split)
            draw = torch.Generator().manual_seed(0)
            shape = (500, 32, 32, 3)
            noise = torch.randint(0, 256, shape, generator=draw, dtype=torch.uint8)
            return Images(noise, torch.arange(500) % 10, cifar.NAMES)

        return stand_in


def rehearse(
    training: Training,
    *,
    values: Mapping[str, Any] | None = None,
    brief: bool = False,
    progress: Progress | None = None,
) -> Forecast:
    """Build the models of a profile, make two steps of each training, and say what it will take.

    `values` are those of parameters, as `Training.values` gives them; without any it is `gpu`.

    A `brief` rehearsal reads as few texts as `smoke` does. That is enough to see that everything
    runs; vocabularies and lengths, and with them hours and memory, are those of these texts then.
    """
    values = {"profile": "gpu", **(values or {})}
    profile = values["profile"]
    rows = OWN_ROWS.get(training.name)
    nothing = f"{training.name} has made no step, so nothing can be said about it"
    if not _what_trains(*_cells(training)):
        raise CourseError(nothing)
    acts = []
    for times in (1, 2) if rows else (1,):
        how = {k: v for k, v in values.items() if k in computing.NAMES}
        act = _Rehearsal(training, profile, brief, rows and times * rows, how)
        meter = _perform(act, training.parameters(values), progress or Progress())
        acts.append((act, meter))
    act = acts[0][0]
    if not act.runs:
        act.runs = _own_runs(acts)
    if not act.runs:
        raise CourseError(nothing)
    devices = DEVICES if profile == "gpu" else (processor(),)
    return Forecast(training.name, profile, act.minutes, act.runs, act.notes, devices)


def processor() -> Device:
    """Measure this processor, with the threads that torch uses: a product of matrices, a copy."""
    side, best = 512, {}
    a, b = torch.ones(side, side), torch.ones(2**22)
    for name, run in {"product": lambda: a @ a, "copy": b.clone}.items():
        times = []
        for _ in range(40):
            began = time.perf_counter()
            run()
            times.append(time.perf_counter() - began)
        best[name] = min(times)
    memory = (hardware()["memory_GB"] or 0) * 2**30
    speed = 2 * side**3 / best["product"]
    width = 2 * b.nbytes / best["copy"]
    return Device("here", memory, speed, speed, width, "measured", launch=10e-6, step=0.0)


def _perform(act: _Rehearsal, values: Mapping[str, Any], progress: Progress) -> Meter:
    """Execute the cells up to the last that trains."""
    training, meter = act.training, Meter()
    cells, shared = _cells(training)
    names: dict[str, Any] = {"__name__": "__main__"}
    folder, device = os.getcwd(), torch.get_default_device()
    exchanged = [
        (loop, "train", act.train),
        (records, "choose", act.choose),
        (fashion, "fashion", act.pictures(FASHION, fashion.REPOSITORY)),
        (cifar, "cifar", act.pictures(CIFAR, cifar.REPOSITORY)),
        (translation, "mean_loss", lambda model, pairs: MEAN_LOSS(model, pairs[:ROWS])),
        (translation, "translate", lambda model, pairs, *_, **options: [""] * len(pairs)),
    ]
    with contextlib.ExitStack() as stack:
        stack.callback(os.chdir, folder)
        stack.callback(computing.use, computing.current())
        stack.callback(torch.set_default_device, None if device.type == "cpu" else device)
        stack.callback(random.setstate, random.getstate())
        stack.enter_context(torch.random.fork_rng(devices=[]))
        for home, name, value in exchanged:
            stack.enter_context(_exchanged(home, name, value))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        if not shared:
            stack.enter_context(meter.counting())
        os.chdir(training.path.parent)
        for cell, tree, parameters in _what_trains(cells, shared):
            try:
                exec(compile(tree, f"{training.name}, cell {cell}", "exec"), names)
            except Exception as error:
                reason = " ".join(str(error).split())[:300]
                where = f"notebooks/training/{training.name}.ipynb, cell {cell}"
                raise CourseError(f"{where}: {type(error).__name__}: {reason}") from error
            if parameters:
                names |= {**values, "profile": "smoke" if act.brief else act.profile}
            progress.advance(cell)
    return meter


def cells_of(training: Training) -> int:
    """Return how many cells a rehearsal executes."""
    times = 2 if training.name in OWN_ROWS else 1
    return times * len(_what_trains(*_cells(training)))


def _cells(training: Training) -> tuple[list[tuple[str, str, bool]], bool]:
    """Return id, source and whether it sets the parameters, of cells that install nothing.

    And whether they train with the shared loop.
    """
    sources = []
    for cell in read_notebook(training.path)["cells"]:
        tags = cell["metadata"].get("tags", [])
        if cell["cell_type"] == "code" and TAG not in tags:
            sources.append((cell.get("id", "?"), cell["source"], "parameters" in tags))
    return sources, any("coursekit.training.loop" in source for _, source, _ in sources)


def _what_trains(
    cells: list[tuple[str, str, bool]], shared: bool
) -> list[tuple[str, ast.Module, bool]]:
    """Return the cells as trees, up to the last that trains.

    What trains is the shared loop, or `.step()` of an optimiser, or a function that calls either.
    Without any there are none.
    """
    trees = [(cell, parse_cell(source), parameters) for cell, source, parameters in cells]
    nodes = [node for _, tree, _ in trees for node in tree.body]
    functions = {node.name: _called(node) for node in nodes if isinstance(node, ast.FunctionDef)}
    trains = {"train"} if shared else {".step"}
    while more := {name for name, called in functions.items() if called & trains} - trains:
        trains |= more
    training = [
        any(not isinstance(node, DEFINES) and _called(node) & trains for node in tree.body)
        for _, tree, _ in trees
    ]
    return trees[: len(training) - training[::-1].index(True)] if True in training else []


def _called(node: ast.AST) -> set[str]:
    """Return the names that are called inside; of methods with a dot in front."""
    calls = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    return names | {f".{call.attr}" for call in calls if isinstance(call, ast.Attribute)}


@contextlib.contextmanager
def _exchanged(home: Any, name: str, value: Any) -> Iterator[None]:
    """Put `value` in the place of `home.name`, and take it away again."""
    before = getattr(home, name)
    setattr(home, name, value)
    try:
        yield
    finally:
        setattr(home, name, before)


def _small(value: Any, smoke: Any) -> Any:
    """Return how much is judged: at most what `smoke` has, in a list for each of its values."""
    if isinstance(value, (list, tuple)):
        most = max(smoke) if isinstance(smoke, (list, tuple)) else smoke
        return type(value)(min(one, most) for one in value)
    numbers = isinstance(value, int) and isinstance(smoke, int)
    return min(value, smoke) if numbers and value else smoke


def _bytes(optimiser: Optimizer, model: Any = None) -> tuple[int, int, int]:
    """Return the bytes of weights, of gradients and of what the optimiser keeps."""
    learned = [  # what was frozen again, after it had been trained, is known by its state
        w for g in optimiser.param_groups for w in g["params"]
        if w.requires_grad or w in optimiser.state
    ]  # fmt: skip
    weights = list(model.parameters()) if model is not None else learned
    state = [
        value
        for one in optimiser.state.values()
        for value in one.values()
        if isinstance(value, torch.Tensor) and value.ndim
    ]

    def size(tensors: Iterable[torch.Tensor]) -> int:
        return sum(t.numel() * t.element_size() for t in tensors)

    return size(weights), size(learned), size(state)


def _flops(step: tuple[Optimizer, list[Op], float]) -> float:
    return sum(op.flops for op in step[1])


def _own_runs(acts: list[tuple[_Rehearsal, Meter]]) -> list[Run]:
    """Return a run for each optimiser of loops of their own; its cheapest step is the usual one."""
    runs = []
    grouped = []
    for act, meter in acts:
        of: dict[int, list[tuple[Optimizer, list[Op], float]]] = {}
        for step in meter.steps:
            of.setdefault(id(step[0]), []).append(step)
        grouped.append((act, list(of.values())))
    (act, groups), (other, more) = grouped[0], grouped[-1]
    for number, (group, twin) in enumerate(zip(groups, more), 1):
        usual = [
            min(steps, key=lambda step: sum(op.flops for op in step[1])) for steps in (group, twin)
        ]
        rows = [one.rows or one.batch or 1 for one in (act, other)]
        small, large = (Step(n, ops, kept) for n, (_, ops, kept) in zip(rows, usual))
        middle = grown(small, large, act.batch or 1)
        name = f"optimiser {number}"
        runs.append(Run(name, len(group) * act.factor, middle, middle, *_bytes(group[0][0])))
    return runs
