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
OF_ONE = ("set", "sweep", "keep", "cluster", "rehearse")  # options of one training notebook


def add(
    commands: Any,
    adder: Callable[..., Callable[..., Any]],
    course: FindCourse,
    kinds: dict[str, Callable],
) -> None:
    """Add the commands; `kinds` are the readers of a `count` and of `minutes`."""

    def inside(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
        def command(arguments: argparse.Namespace) -> int:
            arguments.course = course(arguments)
            return run(arguments)

        return command

    count, minutes = kinds["count"], kinds["minutes"]
    option = adder(commands, inside(train), "train", "list, run or sweep training notebooks")
    text = "notebooks/training/NAME.ipynb (default: list all: what is done and what is to do)"
    option("name", nargs="?", metavar="NAME", help=text)
    text = "run everything that has no result of the profile, the most valuable first"
    option("--all", action="store_true", help=text)
    text = "stop after this time and save; with --all, start only what fits (a sweep: each run)"
    option("--budget", type=minutes, metavar="MINUTES", help=text)
    profiles = ("smoke", "cpu", "gpu")
    option("--profile", choices=profiles, help="training budget (default: as in the notebook, cpu)")
    text = "a parameter of the notebook, or precision, micro_batches, compile, tf32; several times"
    option("--set", action="append", default=[], metavar="NAME=VALUE", dest="changes", help=text)
    text = "continue from the checkpoints of the same values; with DIR, they are kept there"
    option("--resume", nargs="?", type=Path, const=True, metavar="DIR", help=text)
    text = "another tracker to log the curve to, if it is installed"
    option("--log", choices=("tensorboard", "wandb", "trackio"), help=text)
    option("--processes", type=count, metavar="N", help="processes of one training, one per GPU")
    text = "one run for each value in a TOML file: [grid], [[run]], [fixed], seeds"
    option("--sweep", type=Path, metavar="FILE", help=text)
    text = "keep the models of a sweep's runs too, beside the runs in _build"
    option("--keep", action="store_true", help=text)
    option("--cluster", metavar="ADDRESS", help="run a sweep on this Dask scheduler")
    text = "run two steps and estimate the profile's (gpu) hours on common GPUs, from T4 to H200"
    option("--rehearse", action="store_true", help=text)

    option = adder(commands, inside(results), "results", "show the results of trainings")
    option("name", nargs="?", metavar="NAME", help="of one training only")
    text = "two results, translation/cpu or a path, or NAME alone for its cpu and gpu"
    option("--compare", nargs="*", metavar="RESULT", help=text)


def train(arguments: argparse.Namespace) -> int:
    """List what there is, or run a training or a sweep; print the metrics and where they are."""
    from coursekit.training.records import in_short
    from coursetools.experiments.train import find
    from coursetools.experiments.train import train as run
    from coursetools.notebooks.parameters_cell import parse_settings

    if arguments.all:
        return _all(arguments)
    if arguments.name is None:
        return _list(arguments)
    if arguments.rehearse:
        return _rehearse(arguments)
    if arguments.sweep is not None:
        return _sweep(arguments)
    if arguments.cluster is not None:
        raise CourseError("--cluster is for the runs of a --sweep")
    if arguments.keep:
        raise CourseError("--keep is for the runs of a --sweep; a single training keeps its model")
    trained = run(
        find(arguments.course, arguments.name),
        changes=parse_settings(arguments.changes),
        resume=arguments.resume is not None,
        timeout=_seconds(arguments),
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


def _list(arguments: argparse.Namespace) -> int:
    """Print every training: what it is, its minutes, and whether the profile has its result."""
    from coursetools.experiments.all_trainings import agenda, as_text

    for option in (*OF_ONE, "budget", "resume", "log", "processes"):
        if _given(arguments, option):
            raise CourseError(
                f"--{option} needs to know what to run: coursekit train NAME --{option}"
            )
    profile = arguments.profile or "cpu"
    print(as_text(agenda(arguments.course, profile), profile))
    return 0


def _given(arguments: argparse.Namespace, option: str) -> bool:
    value = getattr(arguments, "changes" if option == "set" else option)
    return value not in (None, False, [])


def _seconds(arguments: argparse.Namespace) -> float | None:
    return None if arguments.budget is None else 60 * arguments.budget


def _common(arguments: argparse.Namespace, shared: bool = True) -> dict[str, Any]:
    """Return the options that one training has, and each of all of them, with the shared loop."""
    names = ("profile", "quiet", *("processes", "log") * shared)
    place = None if arguments.resume is True else arguments.resume  # True: where they always are
    return {"checkpoints": place, **{name: getattr(arguments, name) for name in names}}


def _all(arguments: argparse.Namespace) -> int:
    """Run every training that has no result of the profile, and print which are left."""
    from coursetools.experiments.all_trainings import LeftOut, Started, agenda, as_text, run_all
    from coursetools.experiments.estimate import estimate
    from coursetools.experiments.train import train as run

    if arguments.name:
        raise CourseError("--all runs every training; name one, or say --all")
    for option in OF_ONE:
        if _given(arguments, option):
            raise CourseError(
                f"--all runs every training as its profile has it; --{option} is for one of them"
            )
    arguments.profile = arguments.profile or "cpu"
    items = agenda(arguments.course, arguments.profile)
    common = _common(arguments, shared=False)
    failed, left_out = 0, []
    for training, end in run_all(
        items,
        lambda training, left: run(
            training,
            resume="checkpoints" in training.known,
            timeout=left,
            **_common(arguments, training.shared),
        ),
        seconds=_seconds(arguments),
        estimate=lambda item: estimate(
            item.training, arguments.profile, item.minutes, common["checkpoints"]
        ),
    ):
        if isinstance(end, Started):
            needs = f"{training.name}: about {end.needed / 60:.1f} minutes ({end.estimate.basis})"
            skipped = isinstance(end, LeftOut)
            left_out += [training.name] * skipped
            fits = "left out" if skipped else "starts"
            print(f"{needs}, {end.left / 60:.1f} are left: {fits}", flush=True)
            continue
        failed += isinstance(end, CourseError)
        stopped = f"{training.name}: stopped, the budget is used up; the same command continues it"
        done = stopped if end is None else f"{training.name}: done"
        print(end if isinstance(end, CourseError) else done, flush=True)
    left = agenda(arguments.course, arguments.profile)
    print(as_text(left, arguments.profile))
    if left_out:
        print(f"left out, since the budget is too small: {', '.join(left_out)}")
    return 1 if failed else 0


def _rehearse(arguments: argparse.Namespace) -> int:
    from coursekit._base.progress import track
    from coursetools.experiments.train import find
    from coursetools.notebooks.parameters_cell import parse_settings

    for option in ("sweep", "cluster", "resume", "processes", "keep", "budget", "log"):
        if _given(arguments, option):
            raise CourseError(f"--rehearse is of one training here and now, without --{option}")
    training = find(arguments.course, arguments.name)
    changes = parse_settings(arguments.changes)
    values = training.values(arguments.profile or "gpu", changes, None, "--set")

    from coursetools.experiments.rehearsal import cells_of, rehearse

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

    if isinstance(arguments.resume, Path) or arguments.log:
        option = "log" if arguments.log else "resume DIR"
        raise CourseError(f"--{option} is for a single training, not for a --sweep")
    if arguments.changes:
        raise CourseError("--set does not go with --sweep; put the values into its table [fixed]")
    swept = sweep(
        find(arguments.course, arguments.name),
        arguments.sweep,
        profile=arguments.profile,
        processes=arguments.processes,
        cluster=arguments.cluster,
        timeout=_seconds(arguments),
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
    from coursetools.experiments.results import comparison, read, side_by_side, table

    if arguments.compare is not None:
        names = [*filter(None, [arguments.name]), *arguments.compare]
        pair = [f"{names[0]}/cpu", f"{names[0]}/gpu"] if len(names) == 1 else names
        if len(pair) != 2:
            raise CourseError(f"--compare takes two results, or a NAME, found {len(names)}")
        print(side_by_side(comparison(arguments.course, *pair)))
        return 0
    print(table(read(arguments.course, arguments.name)))
    return 0
