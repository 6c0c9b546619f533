"""What trainings found, as `results/NAME/PROFILE.json` has it: its text, a table, two compared.

A model that a training keeps is beside its result, as `PROFILE.safetensors`.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursekit.training.records import in_short, unfinished
from coursetools.course import Course, write_whole

METRICS = 4  # of a run, in the table


def read(course: Course, name: str | None = None) -> list[dict[str, Any]]:
    """Return all results of the course, or those of one training."""
    folder = course / "results"
    if name is not None and not (folder / name).is_dir():
        there = sorted(path.name for path in folder.glob("*") if path.is_dir())
        raise CourseError(no_such("result", name, there))
    results = [_load(path) for path in sorted(folder.glob(f"{name or '*'}/*.json"))]
    if not results:
        raise CourseError("there are no results yet; coursekit train NAME makes one")
    return results


def _load(path: Path) -> dict[str, Any]:
    where = f"{path.parent.name}/{path.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CourseError(f"{where} cannot be read: {error}") from error
    if not isinstance(content, dict) or not {"name", "profile", "hardware"} <= set(content):
        raise CourseError(f"{where} is not the result of a training")
    return content


def write_result(file: Path, result: Mapping[str, Any], weights: str | None) -> None:
    """Write a result, and the weights that came as base64: both, or, whatever happens, neither.

    Two files cannot take their places at once. So the weights wait under a name that has their
    checksum, where `trained` finds them too, until the result that names it is there.
    """
    for waiting in file.parent.glob(f".{file.stem}.*.safetensors"):  # of a run that was killed
        if file.is_file() and waiting.suffixes[-2].strip(".") in file.read_text("utf-8"):
            os.replace(waiting, file.with_suffix(".safetensors"))
        waiting.unlink(missing_ok=True)
    if weights is not None:
        write_whole(_waiting(file, result), base64.b64decode(weights))
    write_whole(file, as_text(result))
    if weights is not None:
        os.replace(_waiting(file, result), file.with_suffix(".safetensors"))
    else:
        file.with_suffix(".safetensors").unlink(missing_ok=True)


def _waiting(file: Path, result: Mapping[str, Any]) -> Path:
    return unfinished(file, result.get("model", {}).get("sha256", "none"))


def as_text(value: Any, depth: int = 0) -> str:
    """Return JSON in which what holds only numbers and text is on one line, as a point does."""
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False) + ("\n" if depth == 0 else "")
    inner = list(value.values()) if isinstance(value, dict) else value
    if depth and not any(isinstance(part, (dict, list)) and part for part in inner):
        return json.dumps(value, ensure_ascii=False)
    margin = " " * (depth + 1)
    parts = [as_text(part, depth + 1) for part in inner]
    if isinstance(value, dict):
        names = (json.dumps(name, ensure_ascii=False) for name in value)
        parts = [f"{name}: {part}" for name, part in zip(names, parts)]
    first, last = "{}" if isinstance(value, dict) else "[]"
    text = f"{first}\n{margin}" + f",\n{margin}".join(parts) + f"\n{margin[:-1]}{last}"
    return text + ("\n" if depth == 0 else "")


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return the table that people read."""
    rows = []
    for one in results:
        runs = one.get("runs")
        metrics: Any = one.get("metrics", {})
        if runs is not None:
            count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
            metrics = f"{count}, {len(one['failed'])} failed" if one.get("failed") else count
        seconds = one.get("seconds", sum(run["seconds"] for run in runs or ()))
        profile = one["profile"] + (f", {one['sweep']}" if "sweep" in one else "")
        rows.append([one["name"], profile, one.get("seed"), seconds, metrics, machine(one)])
    return as_rows(["name", "profile", "seed", "seconds", "metrics", "hardware"], rows)


def machine(result: dict[str, Any]) -> str:
    """Return the hardware in a few words: the GPU, or the cores of the processor."""
    about = result["hardware"]
    cores = f"{about['cores']} core{'s' * (about['cores'] != 1)}"
    return about.get("gpu") or f"{about['cpu']}, {cores}"


def as_rows(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return aligned columns, numbers on the right; a dict of metrics becomes a few words."""

    def text(cell: Any, name: str) -> str:
        if isinstance(cell, dict):
            metrics = [f"{key} {in_short(value)}" for key, value in list(cell.items())[:METRICS]]
            return ", ".join(metrics) + (", …" if len(cell) > METRICS else "")
        return in_short(round(cell) if name == "seconds" else cell)

    numbers = [all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(header))]
    lines = [list(header), *([text(c, n) for c, n in zip(row, header)] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numbers)
        ).rstrip()
        for line in lines
    )


def named(course: Course, name: str) -> tuple[str, dict[str, Any]]:
    """Return the result that is called `translation/cpu`, or is in the file of that path."""
    inside = course / "results" / f"{name.removeprefix('results/').removesuffix('.json')}.json"
    for path in (inside, Path(name)):
        if path.is_file():
            result = _load(path)
            if "runs" in result:
                raise CourseError(f"{name} is a sweep; single runs can be compared")
            return name, result
    there = sorted((course / "results").glob("*/*.json"))
    known = [f"{path.parent.name}/{path.stem}" for path in there]
    expected = "Expected NAME/PROFILE or the path of a file"
    raise CourseError(f"{no_such('result', name, known, tell=False)} {expected}")


def comparison(course: Course, first: str, second: str) -> dict[str, Any]:
    """Return what differs in how two results were made, and their metrics side by side."""
    (a_name, a), (b_name, b) = named(course, first), named(course, second)
    how = [
        {**one["settings"], "seed": one["seed"], "seconds": round(one["seconds"])} for one in (a, b)
    ]
    for values, one in zip(how, (a, b)):
        values |= {"hardware": machine(one), "data": one["data"], "key": one["key"][:8]}
    names = list(dict.fromkeys([*how[0], *how[1]]))
    differ = {
        name: [how[0].get(name), how[1].get(name)]
        for name in names
        if how[0].get(name) != how[1].get(name)
    }
    metrics = {}
    for name in dict.fromkeys([*a["metrics"], *b["metrics"]]):
        left, right = a["metrics"].get(name), b["metrics"].get(name)
        both = left is not None and right is not None
        metrics[name] = {"a": left, "b": right, "difference": right - left if both else None}
    return {"a": a_name, "b": b_name, "differ": differ, "metrics": metrics}


def side_by_side(compared: dict[str, Any]) -> str:
    """Return a comparison as people read it; the difference is B minus A."""
    header = ["", compared["a"], compared["b"]]
    differ = [[name, *map(_shown, pair)] for name, pair in compared["differ"].items()]
    rows = []
    for name, row in compared["metrics"].items():
        gap = row["difference"]
        rows.append(
            [name, row["a"], row["b"], "–" if gap is None else f"{'+' * (gap > 0)}{in_short(gap)}"]
        )
    parts = [as_rows(header, differ)] if differ else ["made in the same way"]
    return "\n\n".join([*parts, as_rows(["metric", *header[1:], "difference"], rows)])


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}:{str(part)[:8]}" for name, part in value.items())
    return in_short(value)
