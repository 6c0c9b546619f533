"""The commands around trainings: their names and options, and what they print.

This file is loaded for every `coursekit --help`; what does the work is imported when it is called.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.course import Course

FindCourse = Callable[[argparse.Namespace], Course]


def add(
    commands: Any,
    adder: Callable[..., Callable[..., Any]],
    course: FindCourse,
    kinds: dict[str, Callable],
) -> None:
    """Add the commands; `kinds` are the readers of a `count`, of `seconds` and of `hours`."""

    def inside(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
        def command(arguments: argparse.Namespace) -> int:
            arguments.course = course(arguments)
            return run(arguments)

        return command

    count, seconds, hours = kinds["count"], kinds["seconds"], kinds["hours"]
    option = adder(commands, inside(train), "train", "run a training notebook, or a sweep of runs")
    option("name", nargs="?", metavar="NAME", help="notebooks/training/NAME.ipynb")
    option("--all", action="store_true", help="every training that has no result of the profile")
    option("--list", action="store_true", help="list all training runs: what each is, its minutes")
    option("--budget", type=hours, metavar="HOURS", help="of --all: after that it stops, and saves")
    option("--plan", action="store_true", help="of --all: print what is done and what is to do")
    profiles = ("smoke", "cpu", "gpu")
    option("--profile", choices=profiles, help="how much is trained (as the notebook has it: cpu)")
    text = "number format of the matrix products (default: what suits the GPU)"
    option("--precision", choices=("no", "fp16", "bf16"), help=text)
    text = "a parameter of the notebook, or micro_batches, compile, tf32; several times"
    option("--set", action="append", default=[], metavar="NAME=VALUE", dest="changes", help=text)
    option("--resume", action="store_true", help="resume from the checkpoints of the same values")
    text = "where checkpoints are, on a drive that stays; goes on from those that are there"
    option("--checkpoints", type=Path, metavar="DIR", help=text)
    text = "another tracker to log the curve to, if it is installed"
    option("--log", choices=("tensorboard", "wandb", "trackio"), help=text)
    option("--processes", type=count, metavar="N", help="processes of one training, one per GPU")
    text = "one run for each value in a TOML file: [grid], [[run]], [fixed], seeds"
    option("--sweep", type=Path, metavar="FILE", help=text)
    option("--workers", type=count, metavar="N", help="runs of a sweep at a time (2)")
    text = "keep the models of a sweep's runs too, beside the runs in _build"
    option("--keep", action="store_true", help=text)
    option("--cluster", metavar="ADDRESS", help="run a sweep on this Dask scheduler")
    option("--threads", type=count, metavar="N", help="threads of one run (all cores, shared out)")
    text = "seconds for one run, which then saves where it is (no limit)"
    option("--timeout", type=seconds, metavar="S", help=text)
    text = "run two steps and estimate the profile's (gpu) hours on common GPUs, from T4 to H200"
    option("--rehearse", action="store_true", help=text)

    option = adder(commands, inside(results), "results", "show the results of trainings")
    option("name", nargs="?", metavar="NAME", help="of one training only")
    text = "two results, translation/cpu or a path, or NAME alone for its cpu and gpu"
    option("--compare", nargs="*", metavar="RESULT", help=text)
    option("--json", action="store_true", help="print as JSON")


def train(arguments: argparse.Namespace) -> int:
    """Run a training or a sweep; print the metrics and where everything is."""
    from coursekit.training.records import in_short
    from coursetools.experiments.train import find
    from coursetools.experiments.train import train as run

    if arguments.list:
        return _list(arguments)
    if arguments.all:
        return _all(arguments)
    for option in ("budget", "plan"):
        if getattr(arguments, option):
            raise CourseError(f"--{option} is for --all trainings")
    if arguments.name is None:
        raise CourseError("a NAME is expected, or --all")
    if arguments.rehearse:
        return _rehearse(arguments)
    if arguments.sweep is not None:
        return _sweep(arguments)
    for option in ("workers", "cluster"):
        if getattr(arguments, option) is not None:
            raise CourseError(f"--{option} is for the runs of a --sweep")
    if arguments.keep:
        raise CourseError("--keep is for the runs of a --sweep; a single training keeps its model")
    trained = run(
        find(arguments.course, arguments.name),
        changes=_changes(arguments),
        resume=arguments.resume,
        timeout=arguments.timeout,
        **_common(arguments),
    )
    result = trained.result
    print(f"{result['name']} {result['profile']}: {result['seconds']:,.0f} s")
    width = max(len(name) for name in result["metrics"])
    for name, value in result["metrics"].items():
        print(f"  {name:{width}}  {in_short(value)}")
    print(f"executed: {arguments.course.relative(trained.executed)}")
    if arguments.log == "tensorboard":
        folder = arguments.course.relative(trained.executed.parent / "log")
        print(f"curves: tensorboard --logdir {folder}")
    print(f"result: {arguments.course.relative(trained.file)}")
    return 0


def _changes(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what `--set` and `--precision` change."""
    from coursetools.notebooks.parameters_cell import parse_settings

    changes = parse_settings(arguments.changes)
    if arguments.precision is None:
        return changes
    if changes.setdefault("precision", arguments.precision) != arguments.precision:
        raise CourseError(
            f"--precision says {arguments.precision}, --set says {changes['precision']}; give one"
        )
    return changes


def _list(arguments: argparse.Namespace) -> int:
    from coursetools.experiments.all_trainings import agenda, as_text

    if arguments.name or arguments.all:
        raise CourseError("--list lists all training runs; it goes without NAME and --all")
    profile = arguments.profile or "cpu"
    print(as_text(agenda(arguments.course, profile), profile))
    return 0


def _common(arguments: argparse.Namespace, shared: bool = True) -> dict[str, Any]:
    """Return the options that one training has, and each of all of them, with the shared loop."""
    names = ("profile", "threads", "checkpoints", "quiet", *("processes", "log") * shared)
    return {name: getattr(arguments, name) for name in names}


def _all(arguments: argparse.Namespace) -> int:
    """Run every training that has no result of the profile, or print which those are."""
    from coursetools.experiments.all_trainings import agenda, as_text, run_all
    from coursetools.experiments.train import train as run

    if arguments.name or _changes(arguments) or arguments.sweep or arguments.rehearse:
        raise CourseError(
            "--all runs every training as its profile has it, without NAME, --set or --precision"
        )
    arguments.profile = arguments.profile or "cpu"
    items = agenda(arguments.course, arguments.profile)
    if arguments.plan:
        print(as_text(items, arguments.profile))
        return 0
    failed = 0
    for training, end in run_all(
        items,
        lambda training, left: run(
            training,
            resume="checkpoints" in training.known,
            timeout=left,
            **_common(arguments, training.shared),
        ),
        hours=arguments.budget,
    ):
        failed += isinstance(end, CourseError)
        stopped = f"{training.name}: stopped, the budget is used up; the same command goes on"
        done = stopped if end is None else f"{training.name}: done"
        print(end if isinstance(end, CourseError) else done, flush=True)
    left = agenda(arguments.course, arguments.profile)
    print(as_text(left, arguments.profile))
    return 1 if failed else 0


def _rehearse(arguments: argparse.Namespace) -> int:
    from coursekit._base.progress import track
    from coursetools.experiments.train import find

    others = ["sweep", "workers", "cluster", "resume", "processes", "keep", "timeout"]
    others += ["log", "checkpoints"]
    conflicts = [option for option in others if getattr(arguments, option)]
    if conflicts:
        raise CourseError(f"--rehearse is of one training here and now, without --{conflicts[0]}")
    training, changes = find(arguments.course, arguments.name), _changes(arguments)
    values = training.values(arguments.profile or "gpu", changes, None, "--set")

    import torch

    from coursetools.experiments.rehearsal import cells_of, rehearse

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    try:
        with track(cells_of(training), "rehearsal", arguments.quiet) as progress:
            print(rehearse(training, values=values, progress=progress))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the rehearsal of {training.name} was interrupted") from None
    return 0


def _sweep(arguments: argparse.Namespace) -> int:
    from coursetools.experiments.results import as_rows
    from coursetools.experiments.sweep import sweep
    from coursetools.experiments.train import find

    for option in ("checkpoints", "log"):
        if getattr(arguments, option):
            raise CourseError(f"--{option} is for a single training, not for a --sweep")
    if _changes(arguments):
        raise CourseError(
            "--set and --precision do not go with --sweep; put the values into its table [fixed]"
        )
    swept = sweep(
        find(arguments.course, arguments.name),
        arguments.sweep,
        profile=arguments.profile,
        processes=arguments.processes,
        workers=arguments.workers,
        cluster=arguments.cluster,
        threads=arguments.threads,
        timeout=arguments.timeout,
        keep=arguments.keep,
        quiet=arguments.quiet,
    )
    rows = [[run["name"], run["seed"], run["seconds"], run["metrics"]] for run in swept.runs]
    if rows:
        print(as_rows(["run", "seed", "seconds", "metrics"], rows))
        print(f"result: {arguments.course.relative(swept.file)}")
    for run in swept.failed:
        seed = "" if run["seed"] is None else f", seed {run['seed']}"
        print(f"{run['name']}{seed}: {run['error']}")
    if swept.failed:
        count = len(swept.runs) + len(swept.failed)
        raise CourseError(
            f"{len(swept.failed)} of {count} runs failed; the same command tries again"
        )
    return 0


def results(arguments: argparse.Namespace) -> int:
    """Print the table of results, or two of them side by side."""
    import json

    from coursetools.experiments.results import comparison, read, side_by_side, table, thin

    if arguments.compare is not None:
        names = [*filter(None, [arguments.name]), *arguments.compare]
        pair = [f"{names[0]}/cpu", f"{names[0]}/gpu"] if len(names) == 1 else names
        if len(pair) != 2:
            raise CourseError(f"--compare takes two results, or a NAME, found {len(names)}")
        compared = comparison(arguments.course, *pair)
        print(json.dumps(compared, indent=1) if arguments.json else side_by_side(compared))
        return 0
    all_results = read(arguments.course, arguments.name)
    print(
        json.dumps([thin(one) for one in all_results], indent=1)
        if arguments.json
        else table(all_results)
    )
    return 0
