"""All training runs with one profile, one after the other, as far as a budget of time goes.

They are in the order of their value. What has a result of the profile is not run again. With a
budget only those are started that should end within what is left of it, by an estimate
(`estimate.py`) that is corrected by the last run that ended. A run that the budget ends all the
same saves a checkpoint, and the same command continues it.
"""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit.submission.cells import parse_cell
from coursetools.course import Course
from coursetools.experiments.estimate import Estimate
from coursetools.experiments.results import as_rows
from coursetools.experiments.train import Trained, Training, find
from coursetools.notebooks.imports import read_notebook

# Those that the book gains most by, then those on whose models others are built.
FIRST = ("translation", "vit", "writer", "bert", "detector", "mae")


@dataclass(frozen=True)
class Item:
    """A training, the minutes of its profile, and on what it was done, if it was."""

    training: Training
    minutes: float
    done: str = ""


@dataclass(frozen=True)
class Started:
    """A run that starts now: its estimate, the seconds that it needs, and those that are left."""

    estimate: Estimate
    needed: float
    left: float


@dataclass(frozen=True)
class LeftOut(Started):
    """A run that is not started, since it would need more than what is left."""


Outcome = Trained | CourseError | Started | None


def agenda(course: Course, profile: str) -> list[Item]:
    """Return every training, in the order in which they are to be run."""
    names = sorted(path.stem for path in (course.notebooks / "training").glob("*.ipynb"))
    items = []
    order = {name: place for place, name in enumerate(FIRST)}
    for name in sorted(names, key=lambda name: order.get(name, len(order))):
        training = find(course, name)
        file = course / "results" / name / f"{profile}.json"
        items.append(Item(training, _minutes(training, profile), _made_on(file)))
    return sorted(items, key=lambda item: bool(item.done))


def as_text(items: list[Item], profile: str) -> str:
    """Return the plan as people read it."""
    rows = [
        [item.training.name, _title(item.training), item.minutes, item.done or "to do"]
        for item in items
    ]
    left = sum(item.minutes for item in items if not item.done) / 60
    count = sum(not item.done for item in items)
    table = as_rows(["training", "what it trains", "minutes", profile], rows)
    return f"{table}\n{count} of {len(items)} to do, about {left:.1f} hours by their profiles"


def run_all(
    items: list[Item],
    run: Callable[[Training, float | None], Trained],
    *,
    seconds: float | None = None,
    estimate: Callable[[Item], Estimate] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[Training, Outcome]]:
    """Run what is to do, `run(training, seconds left)` being one of them; yield what happens.

    With a budget of `seconds` each is `Started` or `LeftOut` first. The end of one that the budget
    has stopped is None: nothing is wrong with it.
    """
    ends = None if seconds is None else clock() + seconds
    pace = 1.0  # the time of the last run that ended, as a multiple of its estimate
    for item in (item for item in items if not item.done):
        guess = Estimate(60 * item.minutes, "by its profile")
        if ends is not None:
            if estimate and clock() < ends - 1:  # an estimate takes seconds itself
                guess = estimate(item)
            needed, left = guess.needed(pace), max(0.0, ends - clock())
            yield item.training, (Started if needed < left else LeftOut)(guess, needed, left)
            if needed >= left:
                continue
        began = clock()
        try:
            yield item.training, run(item.training, None if ends is None else ends - began)
            pace = (guess.before + clock() - began) / guess.seconds
        except CourseError as error:
            spent = ends is not None and clock() >= ends - 1
            yield item.training, None if spent else error


def _title(training: Training) -> str:
    """Return the title of its notebook, which says what is trained."""
    first = read_notebook(training.path)["cells"][0]["source"].partition("\n")[0]
    return first.removeprefix("# ").removeprefix("Training: ")


def _made_on(file: Path) -> str:
    """Return on what the result in `file` was made; nothing if there is none."""
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
        return f"done on {result['hardware'].get('gpu') or result['hardware']['cpu']}"
    except (OSError, ValueError, KeyError):
        return ""


def _minutes(training: Training, profile: str) -> float:
    """Return the budget that the notebook states for the profile."""
    cells = read_notebook(training.path)["cells"]
    sources = (cell["source"] for cell in cells if cell["cell_type"] == "code")
    trees = (parse_cell(source) for source in sources if "choose(" in source)
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.keyword))
    for node in nodes:
        if node.arg == profile and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values):
                if isinstance(key, ast.Constant) and key.value == "minutes":
                    return float(ast.literal_eval(value))
    raise CourseError(f"{training.name} states no minutes for its profile {profile}")
