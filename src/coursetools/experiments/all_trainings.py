"""All trainings with one profile, one after the other, as far as a budget of hours goes.

What has a result of the profile is not run again. The training at which the budget ends is
interrupted, saves itself, and is the first to go on when the command is given once more.
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
from coursetools.experiments.results import as_rows
from coursetools.experiments.train import Trained, Training, find
from coursetools.notebooks.imports import read_notebook

FIRST = ("writer", "translation", "detector", "mae", "bert")  # on whose models others are built


@dataclass(frozen=True)
class Item:
    """A training, the minutes of its profile, and on what it was done, if it was."""

    training: Training
    minutes: float
    done: str = ""


def agenda(course: Course, profile: str) -> list[Item]:
    """Return every training, in the order in which they are to be run."""
    names = sorted(path.stem for path in (course.notebooks / "training").glob("*.ipynb"))
    items = []
    for name in sorted(names, key=lambda name: name not in FIRST):
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
    hours: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[Training, Trained | CourseError | None]]:
    """Run what is to do, `run(training, seconds)` being one of them; yield each with its end.

    The end of one that the budget has stopped is None: nothing is wrong with it.
    """
    ends = None if hours is None else clock() + 3600 * hours
    for item in items:
        if item.done:
            continue
        left = None if ends is None else ends - clock()
        if left is not None and left < 1:
            return
        try:
            yield item.training, run(item.training, left)
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
