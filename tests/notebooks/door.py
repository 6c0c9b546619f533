"""Runs in a bare environment: the cells of notebooks, each as on a machine that has just started.

Standard input has jobs, JSON: a list of `{"name", "cells", "folder"}`. Each is executed in a
process of its own, forked from one that has loaded torch and other libraries, to save time, and
nothing of the course. A line of JSON is printed for each: its name, its error or "", its seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
import traceback
from pathlib import Path

import accelerate  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import sacrebleu  # noqa: F401
import torch  # noqa: F401
from IPython.core.interactiveshell import InteractiveShell


def execute(job: dict) -> str:
    """Run the cells; return what went wrong."""
    os.makedirs(job["folder"], exist_ok=True)
    os.chdir(job["folder"])
    sys.path.insert(0, "")
    os.environ["PIP_LOG"] = str(Path(job["folder"], "pip.log"))
    shell = InteractiveShell.instance()
    for number, cell in enumerate(job["cells"]):
        result = shell.run_cell(cell)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            return f"cell {number}, {cell[:200]!r}: {type(error).__name__}: {error}"
    if job.get("again") and Path("pip.log").exists():
        return "after the restart pip was called: " + Path("pip.log").read_text()[:2000]
    return ""


def main() -> None:
    """Do the jobs one by one; what a job alone has installed is gone for the next one."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    site = next(Path(sys.prefix).glob("lib/python*/site-packages"))
    kept: set[str] = set()
    for job in json.load(sys.stdin):
        began = time.perf_counter()
        reading, writing = os.pipe()
        if (pid := os.fork()) == 0:
            said = "ended"
            try:
                said = execute(job)
            except BaseException:
                said = traceback.format_exc()
            finally:
                with contextlib.suppress(BaseException):
                    os.write(writing, said.encode()[:4000])
                os._exit(0)
        os.close(writing)
        with open(reading, encoding="utf-8", errors="replace") as file:
            said = file.read()
        os.waitpid(pid, 0)
        there = set(os.listdir(site))
        kept = kept or there  # what the first job installs is there for all
        if job.get("again"):
            for name in there - kept:
                shutil.rmtree(site / name)
        row = {"name": job["name"], "error": said, "installed": sorted(there)}
        print(json.dumps({**row, "seconds": time.perf_counter() - began}), file=answers, flush=True)
        if said:
            return  # the next ones would fail as well, and slowly


if __name__ == "__main__":
    main()
