"""One training notebook with its parameters: a job in, an answer out, nothing else written.

A job is a dict: `text` of the notebook, its `name` and `parameters`, the `folder` to work in, the
`source` folder of the packages, `threads`, how many `processes` train it and how steps are
computed (`computing`), `timeout` in seconds, whether to be `aloud`, and whether to `keep` the
model. The answer has the executed notebook's text, what it said with `choose` and `record`, and the
model's weights as base64 if they are to be kept; or the error.
This is what processes of the pool do. papermill puts the parameters into the notebook. Of several
processes for one training each executes the whole notebook; the first is the kernel, and the others
(`rank.py`) are read by nobody.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from papermill.parameterize import parameterize_notebook

from coursekit._base.errors import CourseError
from coursekit.training.computing import FOLDER, SET
from coursekit.training.records import KEEP, RESULT, SETTINGS
from coursetools.course import Course
from coursetools.experiments.live_output import Live
from coursetools.experiments.rank import Ranks
from coursetools.jobs.pool import THREADS
from coursetools.notebooks.imports import cache_key
from coursetools.notebooks.kernel import Execution, at_hand, stop

__all__ = ["stop", "work"]

PATIENCE = 15.0  # seconds for an interrupted training to save itself


def execute(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Execute the notebook of a job in the kernel and the processes beside it, and answer."""
    began = time.perf_counter()
    try:
        cwd = _place(job, folder)
    except CourseError as error:
        return {**_failure(str(error)), "notebook": None}
    content = parameterised(job["text"], job["parameters"])
    ranks = Ranks(job.get("processes") or 1, folder)
    weights = folder / "model.safetensors"
    live = Live(sys.stderr, silent=not job.get("aloud"))
    threads = max(1, (job.get("threads") or 1) // ranks.number)
    execution = Execution(
        content,
        folder,
        cwd=cwd,
        packages=job.get("source") or str(Course(folder).packages),
        environment={
            **dict.fromkeys(THREADS, str(threads)),
            **ranks.environment(0),
            SET: json.dumps(job.get("computing") or {}),
            FOLDER: job.get("log_folder") or str(folder / "log"),
            KEEP: str(weights) if job.get("keep") else "",
        },
        timeout=job.get("timeout"),
        patience=PATIENCE,
        begin=live.cell,
        hear=live.message,
    )
    at_hand[:] = [execution]
    try:
        ranks.start(content, execution.environment, cwd, execution.kill)
        execution.run()
    except CourseError as error:
        reason, line = str(error), getattr(error, "line", "")
        if execution.late:
            resume = "; continue with --resume, or" if "checkpoints" in job["parameters"] else ";"
            reason = f"stopped at the limit of {job['timeout'] / 60:.3g} minutes{resume}"
            reason += " allow more with --budget"
        elif ranks.said():  # by the one that made the kernel wait in vain
            reason, line = ranks.said(), ""
        answer = _failure(reason, execution.cell, line)
    else:
        answer = {**_result(content), "seconds": round(time.perf_counter() - began, 2)}
        if weights.is_file():
            answer["weights"] = base64.b64encode(weights.read_bytes()).decode()
    finally:
        at_hand.clear()
        ranks.end()
    return {**answer, "notebook": nbformat.writes(content) + "\n"}


def parameterised(text: str, parameters: dict[str, Any]) -> nbformat.NotebookNode:
    """Return a notebook with papermill's cell behind the one tagged `parameters`."""
    content = nbformat.reads(text, as_version=4)
    content.metadata["papermill"] = {}
    for cell in content.cells:
        cell.metadata.setdefault("tags", [])
    content = parameterize_notebook(content, parameters)
    del content.metadata["papermill"]  # the parameters stand in the cell
    for cell in content.cells:
        if "injected-parameters" in cell.metadata.tags:
            cell["id"] = "injected-parameters"
    return content


def _place(job: dict[str, Any], folder: Path) -> Path:
    """Return the folder to work in; on another machine it is made, if the package is equal."""
    if job.get("folder"):
        return Path(job["folder"])
    course = Course(folder / "course")
    place = course.notebooks / "training"
    place.mkdir(parents=True)
    notebook = place / f"{job['name']}.ipynb"
    notebook.write_text(job["text"], encoding="utf-8")
    if cache_key(notebook, course) != job["key"]:
        raise CourseError(
            "its worker has another version of coursekit, Python, torch, numpy or matplotlib "
            "than this machine"
        )
    return place


def _result(content: nbformat.NotebookNode) -> dict[str, Any]:
    """Return what the cells have said with `choose` and `record`."""
    messages = {}
    for output in (output for cell in content.cells for output in cell.get("outputs", [])):
        messages.update(output.get("data", {}))
    if RESULT not in messages:
        return _failure("never calls record(metrics=...), so it has no result")
    return {"ok": True, "said": messages[RESULT], "settings": messages.get(SETTINGS, {})}


def _failure(error: str, cell: str = "", line: str = "") -> dict[str, Any]:
    return {"ok": False, "cell": cell, "line": line, "error": error}


def work(_: None, jobs: Iterator[dict[str, Any]]) -> Iterator[Any]:
    """Execute trainings."""
    yield "ready"
    for job in jobs:
        with tempfile.TemporaryDirectory(prefix="coursekit-") as folder:
            answer = execute(job, Path(folder))
        yield answer
