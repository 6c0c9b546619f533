"""One submission at work: its cells run in a forked process, again in a fresh one if that dies.

A cell that takes the process with it (endless, out of memory, too much printed, crashed) is left
out of the next one, but for its definitions; if these do it again, altogether. The cells have their
time, and the questions have theirs: what one of them uses up is not missing from another's. Each
question is asked with the names that there were at its check.
"""

from __future__ import annotations

import base64
import contextlib
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from coursekit.submission.resource_limits import Limits
from coursekit.submission.stand_ins import SILENT
from coursetools.grading.judging.fork_client import ForkServer
from coursetools.grading.judging.process import Stopped, StudentProcess
from coursetools.grading.judging.proxy import StudentError, student_error
from coursetools.grading.judging.reference_answers import ReferenceAnswers
from coursetools.grading.records.verdict import Status
from coursetools.text import clean

PNG = b"\x89PNG\r\n\x1a\n"
IMPORT = re.compile(r"(import|from)\s+\w[\w. ,]*.*$")
PROCESSES = 200
AGAIN = 5  # times the time of the cells that may be spent on running them in fresh processes
ALWAYS_AGAIN = ("TIMEOUT", "MEM", "OUTPUT", "CRASH")  # after these the process is no good


@dataclass(frozen=True)
class Cell:
    """A code cell of the rebuilt notebook."""

    number: int  # its place among all cells, from 1
    id: str
    grade_id: str
    source: str
    graded: bool = False  # a locked cell of tests, run for notebooks that are judged in the process


@dataclass
class Trouble:
    """How a cell ended that did not end well."""

    status: Status
    kind: str  # "NameError", or "" where the process ended
    message: str
    cell: int = 0
    line: int = 0
    here: int = 0  # the line of this very cell that led to it

    def sentence(self) -> str:
        """Say it to the student."""
        where = f" in line {self.line}" if self.line else ""
        if not self.kind:
            return self.message
        return f"{self.kind}{where}: {self.message}" if self.message else f"{self.kind}{where}"


@dataclass
class Ran:
    """What was seen of a cell the first time it ran."""

    trouble: Trouble | None = None
    outputs: list[dict[str, Any]] = field(default_factory=list)
    number: float | None = None  # the value of its last expression


class Attempt:
    """The cells of one submission, and the process in which they have run."""

    def __init__(
        self,
        server: ForkServer,
        cells: Sequence[Cell],
        wanted: Sequence[str] = (),
        carried: ReferenceAnswers | None = None,
    ) -> None:
        self.limits: Limits = server.limits
        self.carried = carried  # our answers, in the place of some of theirs
        self.ran: dict[int, Ran] = {}
        self.defined: dict[str, str] = {}  # wanted names that there are, and their types
        self.moved: dict[str, list[str]] = {}  # of these, which a check did not find as graded
        self.layers: dict[str, str] = {}
        self.peak = 0
        self._spent = 0.0  # seconds of the processes that have ended
        self._lent = 0.0  # of these, in calls of our answers
        self._on_cells = 0.0  # of all seconds
        self._server, self._cells = server, list(cells)
        self._wanted = list(wanted)
        self._left_out: dict[int, str] = {}
        self._process: StudentProcess | None = None
        self._room = 3 * self.limits.notebook_output  # for outputs, as they are kept
        self._processes = 0

    @cached_property
    def imports(self) -> str:
        """The lines of the notebook that import something, but for `check`."""
        lines = (line for cell in self._cells for line in cell.source.split("\n"))
        return "\n".join(line for line in lines if IMPORT.match(line) and not _silent(line))

    @property
    def spent(self) -> float:
        """Seconds that all processes together have used of their time."""
        return self._spent + (self._process.spent if self._process is not None else 0.0)

    @property
    def lent(self) -> float:
        """Seconds of these in which answers of ours were computed."""
        return self._lent + (self._process.lent if self._process is not None else 0.0)

    def process(self) -> StudentProcess:
        """Return a process in which the cells have run; a fresh one if the last has ended."""
        while self._process is None or self._process.ended:
            self.restart()
            most = AGAIN * self.limits.notebook_seconds
            if self._processes >= PROCESSES or self._on_cells > most:
                raise Stopped("CRASH", "its processes have crashed too often")
            self._processes += 1
            self._process = self._server.fork()
            self.layers = self._process.layers
            with contextlib.suppress(Stopped):
                self._run_all(self._process)
            self._on_cells += self._process.spent
        return self._process

    def carry(self, carried: ReferenceAnswers) -> None:
        """Put some answers of ours into the process, and into those to come."""
        self.carried = carried
        if self._process is not None and not self._process.ended:
            with contextlib.suppress(Stopped):
                self._put_ours_in(self._process)

    def _put_ours_in(self, process: StudentProcess) -> None:
        if self.carried is not None:
            request = {"op": "carry", "kinds": self.carried.kinds, "graded": self.carried.graded}
            process.ask(request, [], process.until(10))

    def again(self, carried: ReferenceAnswers) -> Attempt:
        """Return the same submission, to be run once more with some of our answers in it."""
        return Attempt(self._server, self._cells, self._wanted, carried)

    def restart(self) -> None:
        """End the process; the next one that is asked for is fresh."""
        if self._process is not None:
            self._process.end()
            self.peak = max(self.peak, self._process.peak)
            self._spent += self._process.spent
            self._lent += self._process.lent
            self._process = None

    def trouble(self, grade_id: str, answer: str | None) -> Trouble | None:
        """Return how the cell with this answer failed, or else that with this name."""
        for cell in self._cells:
            if (answer or grade_id) in (cell.source, cell.grade_id) and cell.number in self.ran:
                return self.ran[cell.number].trouble
        return None

    def _run_all(self, process: StudentProcess) -> None:
        self._on_own = 0.0  # seconds of the cells that are no tests
        checked: list[str] = []  # questions whose check is here
        for cell in self._cells:
            left_out = self._left_out.get(cell.number, "")
            if cell.graded and self._wanted:
                checked.append(cell.grade_id.removeprefix("test_"))
            elif left_out != "all":
                self._run(process, cell, left_out == "definitions", checked)
                checked = []
        names = {"op": "names", "names": self._wanted, "checked": checked}
        answer, _ = process.ask(names, [], process.until(10))
        kinds = answer.get("names")
        kinds = kinds if isinstance(kinds, dict) else {}
        self.defined = {
            name: clean(str(kinds[name]))[:100] for name in self._wanted if name in kinds
        }
        moved = answer.get("moved")
        moved = moved if isinstance(moved, dict) else {}
        self.moved = {
            name: [one for one in self._wanted if one in moved[name]]
            for name in self._wanted
            if isinstance(moved.get(name), list)
        }
        self._put_ours_in(process)

    def _run(
        self, process: StudentProcess, cell: Cell, definitions: bool, checked: list[str]
    ) -> None:
        """Run one cell; what is seen the first time is what counts."""
        seconds, began = self.limits.cell_seconds, process.spent
        if not cell.graded:
            seconds = min(seconds, self.limits.notebook_seconds - self._on_own)
        request = {
            "op": "cell",
            "number": cell.number,
            "source": cell.source,
            "definitions": definitions,
            "checked": checked,
        }
        process.clear()
        try:
            answer, figures = process.ask(request, [], process.until(seconds))
        except Stopped as stop:
            sentence = stop.sentence or _too_long(seconds, self.limits)
            self._note(cell, Ran(Trouble(stop.status, "", sentence), _streams(process)))
            worse = cell.graded or definitions
            self._left_out[cell.number] = "all" if worse else "definitions"
            raise
        self._on_own += 0.0 if cell.graded else process.spent - began
        ran = Ran(outputs=_streams(process) + _figures(figures))
        number = answer.get("number")
        ran.number = float(number) if type(number) is int or type(number) is float else None
        if "error" in answer:
            error = student_error(answer["error"])
            place = (error.cell, error.line, error.here)
            ran.trouble = Trouble(error.status, error.type, error.message, *place)
            ran.outputs.append(_error_output(error))
        elif isinstance(answer.get("text"), str):
            data = {"text/plain": clean(answer["text"])[:10_000]}
            ran.outputs.append(
                {
                    "output_type": "execute_result",
                    "data": data,
                    "metadata": {},
                    "execution_count": None,
                }
            )
        self._note(cell, ran)
        if ran.trouble is not None and ran.trouble.status in ALWAYS_AGAIN:
            # What filled the memory may still be held by a name: begin again without it.
            worse = cell.graded or definitions
            self._left_out[cell.number] = "all" if worse else "definitions"
            process.end()
            raise Stopped(ran.trouble.status, ran.trouble.message)

    def _note(self, cell: Cell, ran: Ran) -> None:
        if cell.number not in self.ran:
            size = len(str(ran.outputs))
            if size > self._room:  # several processes, each with as much as one may print
                ran.outputs, size = [], 0
            self._room -= size
            self.ran[cell.number] = ran


def _too_long(seconds: float, limits: Limits) -> str:
    if seconds < limits.cell_seconds:
        return f"the {limits.notebook_seconds:g} seconds for the notebook were used up"
    return f"it ran longer than {seconds:.3g} seconds"


def _streams(process: StudentProcess) -> list[dict[str, Any]]:
    return [
        {"output_type": "stream", "name": name, "text": clean(printed.text())}
        for name, printed in process.printed.items()
        if printed.data
    ]


def _figures(buffers: list[memoryview]) -> list[dict[str, Any]]:
    """Return display outputs for what really begins as a PNG of a sensible size."""
    outputs = []
    for buffer in buffers:
        data = bytes(buffer)
        if data.startswith(PNG) and data[12:16] == b"IHDR" and len(data) > 33:
            width, height = struct.unpack("!II", data[16:24])
            if 0 < width <= 4000 and 0 < height <= 4000:
                image = base64.b64encode(data).decode()
                outputs.append(
                    {
                        "output_type": "display_data",
                        "data": {"image/png": image, "text/plain": "<Figure>"},
                        "metadata": {},
                    }
                )
    return outputs


def _error_output(error: StudentError) -> dict[str, Any]:
    where = f"cell {error.cell}, line {error.line}: " if error.line else ""
    message = f"{where}{error.type}: {error.message}"
    return {
        "output_type": "error",
        "ename": error.type,
        "evalue": error.message,
        "traceback": [message],
    }


def _silent(line: str) -> bool:
    return any(name in line for name in SILENT)
