"""Run a training notebook with a profile and other values, and keep what it found.

The executed copy and the checkpoints are in `_build/training/NAME/PROFILE-HASH/`, the hash being
that of the values that were set; the result of a whole profile is in `results/NAME/`, and the
model beside it, if the notebook keeps one. A process of a pool executes the notebook; only this
one writes, and every file whole or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit.training.computing import NAMES, Computing
from coursekit.training.hardware import cores
from coursetools.course import Course, write_whole
from coursetools.experiments.results import as_text, write_result
from coursetools.jobs.pool import Pool
from coursetools.notebooks.imports import cache_key, read_notebook
from coursetools.notebooks.parameters_cell import (
    check_names,
    parameter_cells,
    parameters,
    short_hash,
)

WORKER = "coursetools.experiments.train_job"
GRACE = 20.0  # seconds for an interrupted training to save itself, and for its processes to end
NEEDED = ("papermill", "ipykernel", "filelock")


@dataclass(frozen=True)
class Training:
    """A training notebook, and what its `parameters` cell says."""

    course: Course
    name: str
    path: Path
    text: str
    known: dict[str, Any]
    key: str

    @property
    def folder(self) -> Path:
        """Return where everything that git does not keep belongs."""
        return self.course / "_build" / "training" / self.name

    @property
    def shared(self) -> bool:
        """Whether it trains with the loop of the course."""
        return "coursekit.training.loop" in self.text

    def values(
        self, profile: str | None, changes: Mapping[str, Any], processes: int | None, where: str
    ) -> dict[str, Any]:
        """Return what is set, but for the checkpoints, once it is known to fit."""
        how = {name: value for name, value in changes.items() if self._is_computing(name)}
        check_names({k: v for k, v in changes.items() if k not in how}, self.known, where)
        if not self.shared and (how or processes is not None):
            raise CourseError(
                f"{self.name} has a loop of its own; {next(iter(how), 'processes')} can be set "
                "where a training calls coursekit.training.loop.train"
            )
        try:
            Computing(**how)
        except ValueError as error:
            raise CourseError(f"{where} {error}") from error
        log = how.get("log")
        if log and find_spec(log) is None:  # the run would find out after many cells
            raise CourseError(f"--log {log} needs the package {log}: pip install {log}")
        chosen = profile or str(self.known.get("profile") or "cpu")
        more = {} if processes is None else {"processes": processes}
        return {"profile": chosen, **changes, **more}

    def _is_computing(self, name: str) -> bool:
        return name in NAMES and name not in self.known

    def parameters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of `values` that papermill sets, which say what is trained."""
        others = {name for name in values if name == "processes" or self._is_computing(name)}
        return {name: value for name, value in values.items() if name not in others}

    def job(self, values: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """Return the job that executes the notebook on this machine."""
        return {
            "text": self.text,
            "name": self.name,
            "key": self.key,
            "parameters": self.parameters(values),
            "computing": {k: v for k, v in values.items() if self._is_computing(k)},
            "processes": values.get("processes", 1),
            "folder": str(self.path.parent),
            "source": str(self.course.packages),
            **options,
        }

    def result(self, values: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is kept of a finished run."""
        recorded = answer["said"]
        model = {"model": recorded["model"]} if "weights" in answer else {}
        changes = {k: v for k, v in values.items() if k not in ("profile", "processes")}
        return {
            "name": self.name,
            "profile": values["profile"],
            "seed": values.get("seed", self.known.get("seed")),
            "settings": answer["settings"],
            **{part: recorded[part] for part in ("metrics", "curves", "tables", "data")},
            **model,
            "seconds": answer["seconds"],
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "hardware": recorded["hardware"],
            "processes": values.get("processes", 1),
            "computing": recorded["computing"],
            "versions": recorded["versions"],
            "key": self.key,
            "set": changes,
        }


@dataclass(frozen=True)
class Trained:
    """A finished run: its result, where that is, and the executed copy."""

    result: dict[str, Any]
    file: Path
    executed: Path


def find(course: Course, name: str) -> Training:
    """Return the training of that name; the sentence for one that is not there lists the others."""
    for package in NEEDED:
        if find_spec(package) is None:
            raise CourseError(f'trainings need {package}: pip install "coursekit[train]"')
    folder = course.notebooks / "training"
    names = sorted(path.stem for path in folder.glob("*.ipynb"))
    if name not in names:
        raise CourseError(no_such("training run", name, names))
    path = folder / f"{name}.ipynb"
    notebook = read_notebook(path)
    if not parameter_cells(notebook):
        raise CourseError(f"notebooks/training/{name}.ipynb has no cell tagged parameters")
    text = path.read_text(encoding="utf-8")
    return Training(course, name, path, text, parameters(notebook), cache_key(path, course))


def train(
    training: Training,
    *,
    profile: str | None = None,
    changes: Mapping[str, Any] | None = None,
    processes: int | None = None,
    resume: bool = False,
    threads: int | None = None,
    timeout: float | None = None,
    checkpoints: Path | None = None,
    log: str | None = None,
    quiet: bool = False,
) -> Trained:
    """Execute `training` once, and keep its result.

    The result is the profile's own, in `results/`, unless a parameter was set or it is a smoke run;
    then it is beside the executed copy. How steps are computed makes no other result, and no other
    folder. With a folder for `checkpoints` it goes on from what is there.
    """
    changes = {**(changes or {}), **({"log": log} if log else {})}
    values = training.values(profile, changes, processes, "--set")
    profile = values["profile"]
    others = {k: v for k, v in training.parameters(values).items() if k != "profile"}
    folder = _folder(training, profile, others)
    with only_one(folder, f"another run of {training.name} with these values is running"):
        kept = folder
        if checkpoints is not None:
            kept, resume = _kept(folder, training, checkpoints), True
        state = _prepare(kept, training, others, resume, quiet or checkpoints is not None)
        if state is not None:
            values["checkpoints"] = state
        options = {"threads": threads or cores(), "timeout": timeout, "aloud": not quiet}
        job = training.job(values, **options, keep=True, log_folder=str(folder / "log"))
        with _counted(kept / "begun.json") as before:
            answer = _answer(training, job, profile)
        values.pop("checkpoints", None)
        executed = folder / f"{training.name}.ipynb"
        failed = executed.with_suffix(".failed.ipynb")
        if not answer["ok"]:
            if answer.get("notebook"):
                write_whole(failed, answer["notebook"])
            raise CourseError(failure(training, answer, failed))
        answer["seconds"] = round(before + answer["seconds"], 2)
        result = training.result(values, answer)
        file = folder / f"{training.name}.json"
        if not others and profile != "smoke":
            file = training.course / "results" / training.name / f"{profile}.json"
        write_whole(executed, answer["notebook"])
        write_result(file, result, answer.get("weights"))
        failed.unlink(missing_ok=True)
    return Trained(result, file, executed)


def _folder(training: Training, profile: str, others: Mapping[str, Any]) -> Path:
    return training.folder / f"{profile}-{short_hash(others)}"


def _kept(folder: Path, training: Training, checkpoints: Path) -> Path:
    return checkpoints / training.name / folder.name


def seconds_spent(training: Training, profile: str, checkpoints: Path | None = None) -> float:
    """Return how long earlier attempts took that a run of the whole profile would continue."""
    folder = _folder(training, profile, {})
    place = folder if checkpoints is None else _kept(folder, training, checkpoints)
    try:
        about = json.loads((place / "begun.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0.0
    return float(about["seconds"]) if about["key"] == training.key else 0.0


def failure(training: Training, answer: Mapping[str, Any], kept: Path | None) -> str:
    """Return the sentence about a run that failed."""
    sentence = training.course.relative(training.path)
    if answer.get("cell"):
        sentence += f", cell {answer['cell']}"
    if answer.get("line"):
        sentence += f", {answer['line']}"
    sentence += f": {answer['error']}"
    if kept is not None and answer.get("notebook"):
        sentence += f" (see {training.course.relative(kept)})"
    return sentence


@contextmanager
def only_one(folder: Path, sentence: str) -> Iterator[None]:
    """Hold the lock of a folder, and clear what a killed run left; `sentence` if it is held."""
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise CourseError(sentence) from error
    try:
        for left_over in folder.glob(".*.tmp"):
            left_over.unlink(missing_ok=True)
        yield
    finally:
        lock.release()


def _prepare(
    folder: Path, training: Training, others: Mapping[str, Any], resume: bool, quiet: bool
) -> str | None:
    """Empty the checkpoints, or see that they fit; return their path as the notebook sees it."""
    if "checkpoints" not in training.known:
        if resume:
            raise CourseError(f"{training.name} has no parameter checkpoints, so none can be used")
        return None
    checkpoints, begun = folder / "checkpoints", folder / "begun.json"
    if resume and begun.is_file() and checkpoints.is_dir():
        if json.loads(begun.read_text(encoding="utf-8"))["key"] != training.key:
            raise CourseError(
                f"{training.name} or what it imports has changed since those checkpoints were "
                f"made; remove {folder} to start again"
            )
    else:
        if resume and not quiet:
            print(
                "there are no checkpoints of these values; it starts from scratch", file=sys.stderr
            )
        begun.unlink(missing_ok=True)
        shutil.rmtree(checkpoints, ignore_errors=True)
        try:
            checkpoints.mkdir(parents=True)
        except OSError as error:
            reason = f"no checkpoints can be kept in {folder}: {error.strerror}"
            raise CourseError(reason) from error
        write_whole(begun, as_text({"key": training.key, "set": dict(others), "seconds": 0.0}))
    return Path(os.path.relpath(checkpoints, training.path.parent)).as_posix()


@contextmanager
def _counted(begun: Path) -> Iterator[float]:
    """Yield the seconds that earlier attempts took, and add this one, unless it is killed."""
    about = json.loads(begun.read_text(encoding="utf-8")) if begun.is_file() else None
    before = about["seconds"] if about else 0.0
    began = time.monotonic()
    try:
        yield before
    finally:
        if about:
            seconds = round(before + time.monotonic() - began, 2)
            write_whole(begun, as_text({**about, "seconds": seconds}))


def _answer(training: Training, job: dict[str, Any], profile: str) -> dict[str, Any]:
    try:
        with Pool(WORKER, 1, aloud=job["aloud"], grace=GRACE) as pool:
            return next(pool.run([job]))[1]
    except KeyboardInterrupt:
        goes_on = "checkpoints" in training.known
        hint = "the same command with --resume goes on" if goes_on else "nothing of it is kept"
        raise KeyboardInterrupt(f"{training.name} {profile} was interrupted; {hint}") from None
