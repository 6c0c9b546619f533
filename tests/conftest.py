"""What tests share: one thread for torch, a miniature course to work on, a cluster of two.

And a class folder with the assignment `ps1`, which asks for `square` (2 points), `cube` (3 points)
and one answer in words (5 points, by hand).
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from filelock import FileLock
from hypothesis import settings

os.environ["OMP_NUM_THREADS"] = "1"  # before anybody imports torch
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["PYTHONPATH"] = os.pathsep.join(  # of the processes that tests start
    filter(None, [str(Path(__file__).with_name("quick")), os.environ.get("PYTHONPATH")])
)

from coursetools.book.formats.chromium import find_chromium
from coursetools.course import Course, quick_imports
from coursetools.notebooks.header_cells import INSTALLED, colab_door
from coursetools.notebooks.hidden_source import ELSEWHERE, TAG

with quick_imports():  # three seconds for each process of this run
    import jsonschema  # noqa: F401

# No deadline: two cores are shared, and a first call to torch is slow. No database in the tree.
settings.register_profile("course", deadline=None, database=None)
settings.load_profile("course")

# The tests of a file share what they have made, so a process gets files, and the long ones first.
TESTS = Path(__file__).parent
LONGEST = {TESTS / name: n for n, name in enumerate((TESTS / "longest.txt").read_text().split())}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.get(item.path, len(LONGEST)))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fail a test that leaves torch otherwise than it was: tests behind it would fail for it."""
    if "torch" in sys.modules:
        import torch
        from torch.overrides import _get_current_function_mode_stack

        left = (
            _get_current_function_mode_stack(),
            torch.get_default_dtype(),
            torch.is_grad_enabled(),
        )
        assert left == ([], torch.float32, True), f"{item.nodeid} leaves torch with {left}"


REPOSITORY = "somebody/some-course"
CONFIG = f"title: A small course\nrepository:\n  url: https://github.com/{REPOSITORY}\n"


def living(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return those that still run. One may end while it is asked, and is then none of them."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def below(pid: int) -> list[psutil.Process]:
    """Return what a process started, and what that started; nothing if it has ended itself."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def end(processes: Iterable[psutil.Process]) -> None:
    """Kill what still runs."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def wait_for(condition: Callable[[], object], what: str, seconds: float = 300) -> None:
    """Wait for a condition; for long, since a busy machine is slow and the wait ends early."""
    last = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < last, f"{what} did not happen within {seconds} s"
        time.sleep(0.02)


def copy_assignment(name: str, root: Path) -> None:
    """Copy the sources of one of the course's assignments into the course at `root`."""
    ours = TESTS.parent
    for folder in (Course.source, Course.private):
        shutil.copytree(folder(Course(ours), name), folder(Course(root), name))


class SmallCourse:
    """A course in a temporary folder; its notebooks have the form that the lint asks for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "notebooks").mkdir(parents=True)
        (root / "_config.yml").write_text(CONFIG)

    def notebook(self, name: str, *cells: str, folder: str = "notebooks") -> Path:
        """Write a notebook whose code cells `cells` follow the two cells that all have."""
        link = f"https://colab.research.google.com/github/{REPOSITORY}/blob/main/{folder}/{name}"
        setup = (
            "import importlib.util\n"
            'if importlib.util.find_spec("coursekit") is None:  # Colab and other fresh machines\n'
            f'    %pip install -q "coursekit @ git+https://github.com/{REPOSITORY}"\n'
            + INSTALLED.format(names='"coursekit"')
        ).rstrip("\n")
        content = {
            "cells": [
                {
                    "cell_type": "markdown",
                    "id": "title",
                    "metadata": {},
                    "source": f"# About {name}\n\n{colab_door(f'{link}.ipynb')}",
                },
                self.code("setup-colab", setup, tags=[TAG], **ELSEWHERE),
                *(self.code(f"step-{n}", source) for n, source in enumerate(cells, 1)),
            ],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        path = self.root / folder / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1))
        return path

    @staticmethod
    def code(name: str, source: str, **metadata: object) -> dict:
        """Return one code cell without outputs."""
        empty = {"outputs": [], "execution_count": None}
        return {
            "cell_type": "code",
            "id": name,
            "metadata": metadata,
            "source": source,
            **empty,
        }

    def module(self, name: str, source: str) -> Path:
        """Write `src/NAME.py` (slashes for packages), with an empty `__init__.py` in each."""
        path = self.root / "src" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = path.parent
        while folder != self.root / "src":
            (folder / "__init__.py").touch()
            folder = folder.parent
        path.write_text(source)
        return path


@pytest.fixture
def course(tmp_path: Path) -> SmallCourse:
    """Return an empty miniature course."""
    return SmallCourse(tmp_path / "course")


def _dask(*arguments: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1", **environment},
    )


@pytest.fixture(scope="module")
def dask(tmp_path_factory) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """Yield the address of a Dask scheduler and its two worker processes."""
    distributed = pytest.importorskip("distributed", reason="a cluster needs Dask (distributed)")
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    local = ["--host", "127.0.0.1"]
    processes = [
        _dask(
            "dask_scheduler", *local, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
        )
    ]
    try:
        wait_for(file.exists, "the scheduler")
        workers = []
        for number in range(2):
            own = ["--local-directory", str(folder / str(number)), "--no-dashboard", "--no-nanny"]
            options = ["--scheduler-file", str(file), "--nthreads", "1", *own]
            workers.append(_dask("dask_worker", *local, *options))
        processes += workers
        client = distributed.Client(scheduler_file=str(file), set_as_default=False)
        client.wait_for_workers(2, timeout=300)
        yield client.scheduler.address, workers
        client.close()
    finally:
        for process in processes:
            process.kill()
            process.wait()


def cell(kind: str, name: str, source: str, **nbgrader: object) -> dict:
    """Return one cell; keyword arguments are nbgrader's metadata."""
    made = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    if nbgrader:
        about = {"grade": False, "solution": False, "locked": False, "task": False}
        about |= {"grade_id": name, "schema_version": 3, "cell_type": kind} | nbgrader
        made["metadata"]["nbgrader"] = about
    if kind == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def solution(name: str, body: str) -> dict:
    lines = f"def {name}(x):\n    ### BEGIN SOLUTION\n    {body}\n    ### END SOLUTION"
    return cell("code", name, lines, solution=True)


def tests(name: str, points: float, source: str) -> dict:
    return cell("code", f"test_{name}", source, grade=True, locked=True, points=points)


HIDDEN = "### BEGIN HIDDEN TESTS\nassert square(7) == 49, 'hidden-secret-49'\n### END HIDDEN TESTS"

PS1 = {
    "cells": [
        cell("markdown", "title", "# Powers"),
        cell("code", "imports", "import math"),
        cell("markdown", "about-square", "Write `square`."),
        solution("square", "return x * x"),
        tests("square", 2, f"assert square(3) == 9\n{HIDDEN}"),
        solution("cube", "return x**3"),
        tests("cube", 3, "assert cube(2) == 8"),
        cell("markdown", "why", "Because.", grade=True, solution=True, points=5),
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@dataclass(frozen=True)
class Ps1:
    """The master as the grader sees it: only the fields that these tests need."""

    name: str = "ps1"
    notebook: str = json.dumps(PS1)
    files: tuple[tuple[str, str], ...] = ()
    key: str = "master-key"


class Classroom:
    """A course in a temporary folder with the assignment `ps1` and whoever hands in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "notebooks").mkdir(parents=True)
        (root / "_config.yml").write_text("title: A small course\n")
        self.course = Course(root)
        self.source, self.private = self.course.source("ps1"), self.course.private("ps1")
        for folder in (self.source, self.private):
            folder.mkdir(parents=True)
        (self.source / "ps1.ipynb").write_text(json.dumps(PS1))

    @staticmethod
    def release() -> dict:
        """Return what students get, a copy to write into."""
        from coursetools.assignments.rebuild import release_of

        return copy.deepcopy(release_of(Ps1()))

    @classmethod
    def answered(
        cls, square: str | None = "x * x", cube: str | None = "x ** 3", why: str | None = None
    ) -> dict:
        """Return a notebook with answers; None leaves the stub."""
        notebook = cls.release()
        for name, body in (("square", square), ("cube", cube)):
            if body is not None:
                source = f"def {name}(x):\n    return {body}"
                cls.find(notebook, name)["source"] = source
        if why is not None:
            cls.find(notebook, "why")["source"] = why
        return notebook

    @staticmethod
    def find(notebook: dict, name: str) -> dict:
        """Return the cell with this id."""
        return next(c for c in notebook["cells"] if c["id"] == name)

    def hand_in(self, student: str, notebook: dict | bytes | None = None, stamp: str = "") -> Path:
        """Put a file into `submitted/`; by default everything is right."""
        notebook = self.answered() if notebook is None else notebook
        data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
        folder = self.root / "autograder" / "submitted" / student / "ps1"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ps1.ipynb").write_bytes(data)
        if stamp:
            (folder / "timestamp.txt").write_text(stamp)
        return folder / "ps1.ipynb"


@pytest.fixture
def ps1() -> Ps1:
    return Ps1()


@pytest.fixture
def classroom(tmp_path: Path) -> Classroom:
    return Classroom(tmp_path / "course")


@pytest.fixture(scope="session")
def make_classroom() -> Callable[[Path], Classroom]:
    """Return what makes such a course, for files whose tests share one."""
    return Classroom


@pytest.fixture(scope="session")
def make_cell():
    """Return the function that makes a cell, for tests that write their own notebooks."""
    return cell


@pytest.fixture(scope="session")
def copied() -> Callable[[str, Path], None]:
    """Return the function that copies an assignment's sources, by name, into another course."""
    return copy_assignment


@pytest.fixture(scope="session")
def once(tmp_path_factory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Return a function that makes a folder once for all processes of this run.

    `once("name", make)` calls `make` with an empty folder, if nobody did so yet.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made(name: str, make: Callable[[Path], object]) -> Path:
        folder, done = shared / f"once-{name}", shared / f"once-{name}.done"
        with FileLock(shared / f"once-{name}.lock"):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of somebody who did not finish
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for the tests of one file, and no longer: others count processes."""
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("Chromium is missing; `coursekit doctor` says how to install it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def processes() -> SimpleNamespace:
    """Hand out what tests ask about processes that may end at any moment."""
    return SimpleNamespace(living=living, below=below, end=end, wait_for=wait_for)
