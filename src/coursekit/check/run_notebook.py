"""Running a notebook from top to bottom in a fresh process, as the grader does.

This is a rehearsal on the learner's own machine, with no sandbox: the same code runs what the
learner wrote, for a limited time, but `check` is there and says something. `python -m
coursekit.check.run_notebook` is the other end of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.submission.resource_limits import Limits

START = 60.0  # seconds for Python and torch to be there


@dataclass
class Ran:
    """What became of one code cell."""

    number: int  # among all cells, from 0
    error: str = ""  # "NameError: name 'x' is not defined"
    line: int = 0
    passed: int | None = None  # of the cases, where the cell is a check
    cases: int = 0
    hint: str = ""
    said: str = ""  # by the check: "all 4 cases pass"


def rehearse(
    cells: list[dict[str, Any]], folder: Path, advance: Callable[[str], None], limits: Limits
) -> tuple[list[Ran], str]:
    """Run the code of `cells` in a fresh process; return what became of each, and what ended it.

    The second value is "" where the notebook came to its end.
    """
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "coursekit.check.run_notebook",
            f"{limits.notebook_seconds:g}",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
        start_new_session=os.name == "posix",
    )
    lines: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_pump, args=(process, lines), daemon=True).start()
    threading.Thread(target=_feed, args=(process, cells), daemon=True).start()
    ran: list[Ran] = []
    try:
        ended = _follow(lines, cells, ran, advance, limits)
    finally:
        _kill(process)
    return ran, ended


def _follow(
    lines: queue.Queue[bytes | None],
    cells: list[dict[str, Any]],
    ran: list[Ran],
    advance: Callable[[str], None],
    limits: Limits,
) -> str:
    """Read one line a cell until all are there, the process ends, or the time is up."""
    numbers = [n for n, cell in enumerate(cells) if cell["cell_type"] == "code"]
    if _next(lines, START) is None:
        return "Python could not be started in a fresh process"
    end = time.monotonic() + limits.notebook_seconds
    for number in numbers:
        seconds = min(limits.cell_seconds, end - time.monotonic())
        try:
            line = lines.get(timeout=max(0.0, seconds))
        except queue.Empty:
            name = cells[number].get("id", number + 1)
            if seconds < limits.cell_seconds:
                return f"the notebook takes longer than {limits.notebook_seconds:g} seconds"
            return f"the cell {name!r} takes longer than {limits.cell_seconds:g} seconds"
        if line is None:
            return f"the process died in the cell {cells[number].get('id', number + 1)!r}"
        ran.append(Ran(number, **json.loads(line)))
        advance(str(cells[number].get("id", number + 1)))
    return ""


def _next(lines: queue.Queue[bytes | None], seconds: float) -> bytes | None:
    try:
        return lines.get(timeout=seconds)
    except queue.Empty:
        return None


def _pump(process: subprocess.Popen[bytes], lines: queue.Queue[bytes | None]) -> None:
    for line in process.stdout or ():
        lines.put(line)
    lines.put(None)


def _feed(process: subprocess.Popen[bytes], cells: list[dict[str, Any]]) -> None:
    sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    assert process.stdin is not None  # it is a pipe, and so is its stdout
    try:
        process.stdin.write(json.dumps(sources).encode())
        process.stdin.close()
    except OSError:
        pass  # it has died; the reader notices


def _kill(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # whatever the cells have started goes too
    else:
        process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def main() -> None:
    """Run the cells that come in as JSON, and write one line of JSON for each.

    If whoever started it is killed, nobody ends an endless cell: an alarm does.
    """
    if hasattr(signal, "alarm"):
        signal.alarm(int(START + float(sys.argv[1])) + 5)
    sources = json.load(sys.stdin)
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 -- it stays open as long as Python runs
    for line in _cells(sources):
        report.write(json.dumps(line) + "\n")
        report.flush()
    report.close()
    os._exit(0)  # threads of the notebook must not keep it alive


def _cells(sources: list[str]) -> Iterator[dict[str, Any]]:
    import coursekit.check
    from coursekit.check.answer import Answer
    from coursekit.submission.notebook import Notebook

    coursekit.check.submit_check = lambda *_, **__: None  # no rehearsal in a rehearsal
    if any("torch" in source or "coursekit" in source for source in sources):
        coursekit.check.check  # noqa: B018 -- loads torch before the clock runs
    if any("pyplot" in source for source in sources):
        import matplotlib.pyplot  # noqa: F401
    notebook = Notebook(Limits(), graded=False)
    yield {}  # ready
    for number, source in enumerate(sources):
        notebook.names["_"] = None
        result = notebook.run(number, source, False)
        answer = notebook.names["_"]
        if "error" in result:
            error = result["error"]
            short = " ".join(error["message"].split())[:300]
            yield {"error": f"{error['type']}: {short}".rstrip(": "), "line": error["line"]}
        elif isinstance(answer, Answer):
            said = {"hint": answer.hint, "said": answer.headline}
            yield {"passed": answer.passed, "cases": len(answer.cases), **said}
        else:
            yield {}


if __name__ == "__main__":
    main()
