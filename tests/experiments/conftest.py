"""Training notebooks of a second or two; torch is not loaded in any of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

PARAMETERS = 'profile = "cpu"\nseed = 1\nsteps = lr = None\ncheckpoints = None'
CHOOSE = """\
from coursekit.training.records import choose, record
settings = choose(
    profile,
    smoke={"minutes": 1, "steps": 2, "lr": 0.5},
    cpu={"minutes": 1, "steps": 5, "lr": 0.5},
    gpu={"minutes": 1, "steps": 9, "lr": 0.5},
    changes={"steps": steps, "lr": lr},
)"""
RECORD = 'record(metrics={"loss": settings.lr + seed, "steps": settings.steps})'


class Lab:
    """A course with trainings in it."""

    def __init__(self, course) -> None:
        self.course, self.root = course, course.root

    def training(self, name: str, *cells: str, parameters: str = PARAMETERS) -> Path:
        """Write a training; `cells` follow those that choose."""
        path = self.course.notebook(name, parameters, CHOOSE, *cells, folder="notebooks/training")
        content = json.loads(path.read_text())
        content["cells"][2]["metadata"]["tags"] = ["parameters"]
        content["metadata"]["accelerator"] = "GPU"
        path.write_text(json.dumps(content))
        return path

    def start(self, *arguments: str) -> subprocess.Popen:
        """Start the command line in a session of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "coursetools.cli", *arguments],
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Where the tests run in the background Ctrl-C is ignored, and by what they start too.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def files(self) -> set[str]:
        """Return what was made, from the root, without locks."""
        made = [*self.root.glob("_build/**/*"), *self.root.glob("results/**/*")]
        return {
            path.relative_to(self.root).as_posix()
            for path in made
            if path.is_file() and path.name != ".lock"
        }


@pytest.fixture
def lab(course, monkeypatch) -> Iterator[Lab]:
    """Return an empty course for trainings, with the working directory in it."""
    monkeypatch.chdir(course.root)
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        monkeypatch.setenv("TMPDIR", folder)  # short, as sockets ask
        yield Lab(course)
        left = [name for name in os.listdir(folder) if not name.startswith("torchinductor")]
        assert left == []  # whatever happened


@pytest.fixture
def until(processes) -> Callable[..., None]:
    """Return a function that waits for a condition."""

    return processes.wait_for


@pytest.fixture
def family(processes) -> Iterator[Callable[[int], list[psutil.Process]]]:
    """Return a function that lists what a process started; what is left of it is killed."""
    seen: list[psutil.Process] = []

    def below(pid: int) -> list[psutil.Process]:
        seen.extend([psutil.Process(pid), *processes.below(pid)])
        return [process for process in seen if process.pid != pid]

    yield below
    processes.end(seen)


@pytest.fixture
def alive(processes) -> Callable[[list[psutil.Process]], list[psutil.Process]]:
    """Return a function that keeps those of some processes that still run."""
    return processes.living
