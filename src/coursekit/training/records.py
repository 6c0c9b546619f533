"""What a training notebook says: which profile it follows at its start, what came out at its end.

    settings = choose(profile, smoke={...}, cpu={...}, gpu={...}, changes={"lr": lr})
    ...
    record(metrics={"bleu": 21.3}, curves={"transformer": history.curve}, model=transformer)

`coursekit train` reads both from the executed notebook and writes `results/NAME/PROFILE.json`, and
the model's weights beside it. Notebooks of the book read those files: `result("translation")`,
`trained("translation")`. They come with the package, so they are found from anywhere.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from coursekit._base.errors import CourseError
from coursekit.training import computing
from coursekit.training.hardware import hardware, versions

if TYPE_CHECKING:  # training/saved_model.py loads torch, when there is a model
    from torch import nn

RESULT = "application/vnd.coursekit.result+json"
SETTINGS = "application/vnd.coursekit.settings+json"
PROFILES = ("smoke", "cpu", "gpu")
KEEP = "COURSEKIT_KEEP"  # the file for the model's weights, where `coursekit train` wants them
BEST = ("gpu", "cpu")  # a smoke run shows that the code runs, and nothing else


class Settings(Mapping[str, Any]):
    """The values of the chosen profile: `settings.lr` or `settings["lr"]`. They do not change."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_values", dict(values))

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"there is no setting {name!r}; there are {_listed(self)}")
        return self._values[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings do not change; {name} can be set with --set {name}=VALUE")

    def __reduce__(self) -> tuple[Any, ...]:
        return Settings, (self._values,)

    def __repr__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.items())


_chosen: dict[str, Settings] = {}  # in this process


def settings_chosen() -> dict[str, Any]:
    """Return the latest settings that `choose` has returned, as JSON can hold them, or nothing."""
    return plain(dict(_chosen.get("settings", {})), "settings")


def _listed(names: Mapping[str, Any] | Sequence[str]) -> str:
    return ", ".join(map(str, names)) or "none"


def choose(
    profile: str,
    *,
    smoke: Mapping[str, Any],
    cpu: Mapping[str, Any],
    gpu: Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
) -> Settings:
    """Return the values of `profile`, with those of `changes` that are not None in their place.

    Each profile states its budget as `minutes` and gives every other name a value. A change must be
    of the kind of the value that it replaces.
    """
    profiles = {"smoke": smoke, "cpu": cpu, "gpu": gpu}
    if profile not in profiles:
        raise ValueError(f"the profile is {_listed(PROFILES)}, found {profile!r}")
    for name, values in profiles.items():
        minutes = values.get("minutes")
        if not _is_number(minutes) or not minutes > 0:
            raise ValueError(f"the profile {name} needs minutes, its budget, found {minutes!r}")
        if set(values) != set(smoke):
            odd = _listed(sorted(set(values) ^ set(smoke)))
            raise ValueError(f"the profiles smoke and {name} differ in names: {odd}")
    for name in smoke:
        if hasattr(Mapping, name) or not str(name).isidentifier() or name.startswith("_"):
            raise ValueError(f"{name!r} cannot be the name of a setting")
    chosen = dict(profiles[profile])
    for name, value in (changes or {}).items():
        if name == "minutes" or name not in chosen:
            names = _listed([names for names in chosen if names != "minutes"])
            raise ValueError(f"{name} is not a setting of this training; there are {names}")
        if value is not None:
            chosen[name] = _of_kind(name, value, chosen[name])
    settings = Settings(chosen)
    computing.use(computing.suited(profile))
    _chosen.update({"settings": settings})
    # What is no JSON is told here, and not after the training.
    _display({SETTINGS: plain(chosen, "settings"), "text/plain": f"{profile}: {settings!r}"})
    return settings


def _of_kind(name: str, value: Any, model: Any) -> Any:
    """Return `value` if it is of the kind of `model`; a whole number will do for any number."""
    if model is None:
        return value
    if isinstance(model, float) and _is_number(value):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        value = str(value)  # no number that anything could be trained with
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    if type(value) is not type(model) and {type(value), type(model)} != {list, tuple}:
        expected = kinds.get(type(model), f"a {type(model).__name__}")
        raise ValueError(f"{name} is {value!r}; {expected} such as {model!r} is expected")
    return type(model)(value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def record(
    metrics: Mapping[str, Any],
    curves: Mapping[str, Any] | None = None,
    tables: Mapping[str, Any] | None = None,
    data: Mapping[str, str] | None = None,
    model: nn.Module | None = None,
) -> None:
    """Say what came out: displays the metrics, and hands everything to `coursekit train`.

    `metrics` are numbers by name, `curves` lists of points `{"step": 100, "loss": 3.2}`, `tables`
    whatever else the book shows, `data` the checksums of the data sets. Tensors and arrays become
    numbers and lists. A number that is not finite is refused; None stands for what has no value.
    `model`, one of `coursekit.models`, is kept with the result, in half precision, at most 4 MB
    (8 MB for the translator).
    """
    result = {
        "metrics": plain(metrics, "metrics"),
        "curves": plain(curves or {}, "curves"),
        "tables": plain(tables or {}, "tables"),
        "data": plain(data or {}, "data"),
    }
    if not result["metrics"]:
        raise ValueError("record needs at least one metric: record(metrics={'loss': 3.2})")
    for name, value in result["metrics"].items():
        if value is not None and not isinstance(value, (int, float)):
            raise ValueError(f"metrics.{name} is a {type(value).__name__}; a number is expected")
    lines = ["| metric | value |", "| :-- | --: |"]
    lines += [f"| {name} | {in_short(value)} |" for name, value in result["metrics"].items()]
    result |= {"hardware": hardware(), "versions": versions()}
    result["computing"] = asdict(computing.current())
    if model is not None:
        from coursekit.training.saved_model import pack

        content, result["model"] = pack(model)
        if os.environ.get(KEEP):
            Path(os.environ[KEEP]).write_bytes(content)
    table = "\n".join(lines)
    _display({RESULT: result, "text/markdown": table, "text/plain": table})


def plain(value: Any, where: str) -> Any:
    """Return `value` as JSON can hold it; `where` names it in the sentence if JSON cannot."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"{where} has the key {key!r}; keys are text")
        return {key: plain(inner, f"{where}.{key}") for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner, f"{where}[{number}]") for number, inner in enumerate(value)]
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}; a number that is finite is expected, or None")
        return float(value)
    if hasattr(value, "tolist"):  # tensors, arrays, numbers of numpy
        return plain(value.tolist(), where)
    raise TypeError(f"{where} is a {type(value).__name__}; JSON has numbers, text, lists and keys")


def in_short(value: object) -> str:
    """Return a number as a reader wants it: four digits that say something, commas in long ones."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,.0f}" if _is_number(value) else "–" if value is None else str(value)


def _display(data: dict[str, Any]) -> None:
    """Display in a notebook; elsewhere there is nobody to hand anything to."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(data, raw=True)


def unfinished(file: Path, sha256: str) -> Path:
    """Return where the weights of the result in `file` wait until that result is in its place."""
    return file.with_name(f".{file.stem}.{sha256[:16]}.safetensors")


def result(name: str, start: Path | str = ".") -> dict[str, Any]:
    """Return the best result there is of the training `name` in the course around `start`.

    That of `gpu` is better than that of `cpu`; `["profile"]` says which it is, for the page to say.
    Outside a course the results are those that came with the package.
    """
    return _best(name, "", start, f"coursekit train {name} --profile cpu")[1]


def sweep_result(name: str, sweep: str, start: Path | str = ".") -> dict[str, Any]:
    """Return the best result of a sweep, which has a row in `["runs"]` for each run."""
    command = f"coursekit train {name} --profile cpu --sweep notebooks/training/{name}/{sweep}.toml"
    return _best(name, f"-{sweep}", start, command)[1]


def trained(name: str, start: Path | str = ".") -> nn.Module:
    """Return the model that the training `name` has kept, with its weights, in evaluation mode.

    It is of the best profile that keeps one. A file that is not the one of the result is refused.
    """
    from coursekit.training.saved_model import unpack

    return unpack(*_kept(name, start))


def weights_file(name: str, start: Path | str = ".") -> bytes:
    """Return the content of the file in which the training `name` has kept its model."""
    from coursekit.training.saved_model import content_of

    return content_of(*_kept(name, start))


def _kept(name: str, start: Path | str) -> tuple[Path, Path, dict[str, Any]]:
    """Return the best result that keeps a model, where else its weights may be, and its config."""
    command = f"coursekit train {name} --profile cpu"
    file, content = _best(name, "", start, command, needs="model")
    about = content["model"]
    return file, unfinished(file, str(about.get("sha256"))), about


def _best(
    name: str, ending: str, start: Path | str, command: str, needs: str = ""
) -> tuple[Path, dict[str, Any]]:
    """Return the file of the best result that has what it `needs`, and its content."""
    folder = _results(Path(start).resolve()) / name
    lacking = ""
    for profile in BEST:
        path = folder / f"{profile}{ending}.json"
        if path.is_file():
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise CourseError(f"results/{name}/{path.name} is not JSON: {error}") from error
            if not needs or needs in content:
                return path, content
            lacking = f"results/{name}/{path.name} keeps no {needs}"
    missing = lacking or f"there is no results/{name}/cpu{ending}.json yet"
    raise CourseError(f"{missing}; {command} makes it on this machine")


def _results(start: Path) -> Path:
    """Return the folder of results: of the course around `start`, or of this package."""
    package = Path(__file__).resolve().parents[1]
    came = package / "results"  # setup.py puts them there
    for folder in (start, *start.parents, *(() if came.is_dir() else package.parents)):
        if (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir():
            return folder / "results"
    return came
