"""What a sweep is: a TOML file that says which values its runs have.

seeds = [1, 2]              # each run with each of these; without it, the notebook's own

[fixed]                     # for all runs
steps = 1000

[grid]                      # a run for each combination
heads = [1, 4, 8]
dropout = [0.0, 0.1]

[[run]]                     # a run with a name of its own, beside those of the grid
name = "learned positions"
positions = "learned"
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursetools.notebooks.parameters_cell import check_names

PARTS = ("seeds", "fixed", "grid", "run")


@dataclass(frozen=True)
class Planned:
    """One run: its name, the seed if the sweep gives one, and what is set, the seed with it."""

    name: str
    seed: int | None
    values: dict[str, Any]

    @property
    def stem(self) -> str:
        """Return the name as that of a file."""
        words = re.sub(r"[^\w.=,+-]+", "-", self.name).strip("-.") or "run"
        return words if self.seed is None else f"{words}-seed{self.seed}"


def plan(path: Path, known: Mapping[str, Any]) -> list[Planned]:
    """Return the runs of the sweep in `path`; `known` are the parameters of the notebook."""
    content = _read(path)
    for name in content:
        if name not in PARTS:
            raise CourseError(f"{path.name} has {name}; a sweep has {', '.join(PARTS)}")
    fixed = _table(content, "fixed", path)
    check_names(fixed, known, f"[fixed] of {path.name}")
    seeds = content.get("seeds", [None])
    if not isinstance(seeds, list) or not seeds or not all(map(_is_seed, seeds)):
        raise CourseError(f"seeds of {path.name} should be a list of whole numbers, found {seeds}")
    if seeds != [None] and "seed" not in known:
        raise CourseError(f"{path.name} has seeds, and the notebook has no parameter seed")
    runs = []
    try:
        json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise CourseError(f"{path.name} holds what JSON does not: {error}") from error
    for name, values in (*_grid(content, path), *_single(content, path)):
        check_names(values, known, f"the run {name!r} of {path.name}")
        if seeds != [None] and "seed" in {**fixed, **values}:
            raise CourseError(f"the run {name!r} of {path.name} sets seed, and so does seeds")
        for seed in seeds:
            own = {} if seed is None else {"seed": seed}
            runs.append(Planned(name, seed, {**fixed, **values, **own}))
    if not runs:
        raise CourseError(f"{path.name} has no runs; give it a table [grid] or [[run]]")
    first_of: dict[str, Planned] = {}
    for run in runs:
        if run.stem.casefold() in first_of:
            raise CourseError(f"two runs of {path.name} are called {run.name!r}")
        first_of[run.stem.casefold()] = run
    return runs


def _is_seed(seed: object) -> bool:
    return seed is None or (isinstance(seed, int) and not isinstance(seed, bool))


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise CourseError(f"{path} is not TOML: {error}") from error


def _table(content: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise CourseError(f"{name} of {path.name} should be a table, [{name}]")
    return table


def _grid(content: Mapping[str, Any], path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    grid = _table(content, "grid", path)
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise CourseError(f"{name} in [grid] of {path.name} should be a list of values")
    for chosen in itertools.product(*grid.values()) if grid else ():
        values = dict(zip(grid, chosen))
        yield " ".join(f"{name}={value}" for name, value in values.items()), values


def _single(content: Mapping[str, Any], path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    runs = content.get("run", [])
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise CourseError(f"run of {path.name} should be tables, [[run]]")
    for run in runs:
        values = dict(run)
        name = values.pop("name", None)
        if not isinstance(name, str) or not name.strip():
            raise CourseError(f"a [[run]] of {path.name} needs a name, such as name = 'one head'")
        yield name.strip(), values
