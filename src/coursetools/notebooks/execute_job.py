"""What a process of the pool does for `run`: executes one notebook after the other."""

from __future__ import annotations

import json
import platform
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat

from coursekit._base.errors import CourseError
from coursetools.course import write_whole
from coursetools.notebooks.imports import (
    cache_key,
    installed_version,
    keyed_versions,
    read_notebook,
)
from coursetools.notebooks.kernel import Execution, at_hand, stop

__all__ = ["stop", "work"]

ALSO_RECORDED = ("coursekit", "ipykernel", "nbclient")


def execute(job: dict[str, Any]) -> dict[str, Any]:
    """Execute the notebook of a job, write what came of it, and say so."""
    start, copy = time.perf_counter(), job["copy"]
    content, cell = None, ""
    try:
        # The key comes before the cells run: what is edited meanwhile leaves the copy stale.
        key = cache_key(job["notebook"], job["course"])
        content = empty(job["notebook"])
        with tempfile.TemporaryDirectory(prefix="coursekit-") as folder:
            execution = Execution(
                content,
                Path(folder),
                cwd=job["notebook"].parent,
                packages=str(job["course"].packages),
                timeout=job["timeout"],
            )
            at_hand[:] = [execution]
            try:
                execution.run()
            finally:
                at_hand.clear()
                cell = execution.cell
    except CourseError as error:
        answer = {"ok": False, "cell": cell, "error": str(error), "kept": None}
        if content is not None:
            failed = copy.with_suffix(".failed.ipynb")
            write_whole(failed, nbformat.writes(content) + "\n")
            answer["kept"] = str(failed)
        return answer
    seconds = time.perf_counter() - start
    keep(content, copy, key, seconds)
    return {"ok": True, "seconds": seconds}


def empty(notebook: Path) -> nbformat.NotebookNode:
    """Return a notebook without outputs."""
    read_notebook(notebook)  # whose sentence about a broken one is better than nbformat's
    content = nbformat.read(notebook, as_version=4)
    for cell in content.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return content


def keep(content: nbformat.NotebookNode, copy: Path, key: str, seconds: float) -> None:
    """Write copy, then record; between the two there is no record, so never a wrong one."""
    versions = {name: installed_version(name) for name in ALSO_RECORDED}
    record = {
        "key": key,
        "seconds": round(seconds, 2),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "versions": {**keyed_versions(), **{k: v for k, v in versions.items() if v}},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    beside = copy.with_suffix(".json")
    beside.unlink(missing_ok=True)
    write_whole(copy, settled(content, key))
    write_whole(beside, json.dumps(record, indent=1) + "\n")
    copy.with_suffix(".failed.ipynb").unlink(missing_ok=True)


def settled(content: nbformat.NotebookNode, key: str) -> str:
    """Write out a notebook with names of widgets that depend on `key` and their order alone.

    ipywidgets draws them at random; so equal runs give equal bytes.
    """
    text = nbformat.writes(content)
    number = 0
    for kind in content.metadata.get("widgets", {}).values():
        for name in kind.get("state", {}):  # in the order in which the cells made them
            text = text.replace(name, sha256(f"{key}{number}".encode()).hexdigest()[:32])
            number += 1
    return nbformat.writes(nbformat.reads(text, as_version=4)) + "\n"  # their sorted order, again


def work(_: None, jobs: Iterator[dict[str, Any]]) -> Iterator[Any]:
    """Execute notebooks, until one is given up."""
    yield "ready"
    for job in jobs:
        yield execute(job)
