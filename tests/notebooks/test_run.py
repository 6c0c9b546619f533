"""Notebooks run once, in parallel, whole or not at all, and no process outlives the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.notebooks import execute_job
from coursetools.notebooks.run import (
    NotebookError,
    executed_copy,
    is_stale,
    read_record,
    run_notebooks,
    stale,
)
from coursekit._base.progress import Progress

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")


@pytest.fixture(autouse=True)
def scratch(monkeypatch):
    """Return the folder of temporary files; its path is short, as sockets ask."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


class Heard(Progress):
    def __init__(self):
        self.lines = []

    def advance(self, text):
        self.lines.append(text)


def outputs(path, cell):
    cells = {cell["id"]: cell for cell in json.loads(path.read_text())["cells"]}
    return cells[cell]["outputs"]


def text(path, cell):
    return "".join("".join(output.get("text", "")) for output in outputs(path, cell))


def left_overs(root):
    return [p.name for p in Course(root).executed.rglob("*") if p.name.endswith(".tmp")]


def test_a_run_keeps_copy_and_record_and_is_not_repeated(course):
    path = course.notebook(
        "one",
        "import os, sys\nprint(sys.executable, os.getcwd(), sep='|')\n"
        "print(os.environ['OMP_NUM_THREADS'], os.environ['MKL_NUM_THREADS'])",
        "import sys\nprint('to stderr', file=sys.stderr)",
        "import ipywidgets\nipywidgets.IntSlider()",
        "print({'a', 'b', 'c', 'd', 'e', 'f'})",
    )
    source = path.read_bytes()
    assert stale(Course(course.root)) == [path]
    heard = Heard()
    (run,) = run_notebooks([path], progress=heard)
    copy = course.root / "_build" / "executed" / "one.ipynb"
    assert (run.notebook, run.executed, run.ran) == (path, copy, True)
    assert len(heard.lines) == 1 and heard.lines[0].startswith("one ran in ")
    assert path.read_bytes() == source

    said = text(copy, "step-1").split("\n")
    assert said[0] == f"{sys.executable}|{path.parent}"
    assert said[1] == "1 1"
    assert outputs(copy, "step-2")[0]["name"] == "stderr"

    record = read_record(copy)
    assert record == run.record
    assert set(record) == {"key", "seconds", "python", "platform", "versions", "finished"}
    assert {"torch", "numpy", "matplotlib"} <= set(record["versions"])
    assert 0 < record["seconds"] < 300
    content = json.loads(copy.read_text())
    assert set(content["metadata"]) == {"kernelspec", "language_info", "widgets"}
    assert all("execution" not in cell["metadata"] for cell in content["cells"])

    assert stale(Course(course.root)) == []
    before = copy.read_bytes(), copy.stat().st_mtime_ns
    (again,) = run_notebooks([path], progress=heard)
    assert not again.ran and again.record == record
    assert (copy.read_bytes(), copy.stat().st_mtime_ns) == before
    assert heard.lines[-1] == "one is unchanged"

    (forced,) = run_notebooks([path], force=True)
    assert forced.ran
    assert copy.stat().st_mtime_ns != before[1]
    assert copy.read_bytes() == before[0]  # equal results, equal bytes
    assert left_overs(course.root) == []


def test_an_edit_of_a_module_runs_its_users_and_nobody_else(course):
    masks = course.module("coursekit/masks", "NAME = 'before'\n")
    course.module("coursekit/positions", "NAME = 'positions'\n")
    user = course.notebook("user", "from coursekit import masks\nprint(masks.NAME)")
    other = course.notebook("other", "from coursekit import positions\nprint(positions.NAME)")
    run_notebooks(Course(course.root).lectures)
    assert text(executed_copy(user), "step-1") == "before\n"  # the course's own source was imported
    assert stale(Course(course.root)) == []
    masks.write_text("NAME = 'after'\n")
    assert stale(Course(course.root)) == [user]
    runs = run_notebooks(Course(course.root).lectures)
    assert {run.notebook: run.ran for run in runs} == {user: True, other: False}
    assert text(executed_copy(user), "step-1") == "after\n"


def test_failures_are_named_together_and_the_others_finish(course):
    wrong = course.notebook("wrong", "print('seen')", "def f():\n    raise KeyError('gone')\nf()")
    dead = course.notebook("dead", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)")
    slow = course.notebook("slow", "print('begun')", "import time\ntime.sleep(600)")
    fine = course.notebook("fine", "print('fine')")
    cruel = course.notebook(
        "cruel", "import os\nos.kill(os.getppid(), 9)\nimport time; time.sleep(9)"
    )
    paths = [wrong, dead, slow, fine] + ([cruel] if sys.platform != "win32" else [])
    for limit in (12, 60, 300):  # what a kernel needs to start is for the machine to say
        with pytest.raises(NotebookError) as caught:
            run_notebooks(paths, timeout=limit)
        late = [part for part in str(caught.value).split("; ") if "stopped at the limit" in part]
        if len(late) == 1 and "slow.ipynb, cell step-2" in late[0]:
            break
    assert "\n" not in str(caught.value)
    said = str(caught.value).split("; ")
    folder = Course(course.root).executed

    found = next(part for part in said if "wrong" in part)
    assert "notebooks/wrong.ipynb, cell step-2: KeyError: 'gone'" in found
    assert "(see _build/executed/wrong.failed.ipynb)" in found
    kept = folder / "wrong.failed.ipynb"
    assert text(kept, "step-1") == "seen\n"
    assert outputs(kept, "step-2")[0]["ename"] == "KeyError"
    assert not (folder / "wrong.ipynb").exists() and not (folder / "wrong.json").exists()

    assert any("dead.ipynb, cell step-1: the kernel died" in part for part in said)
    stopped = f"slow.ipynb, cell step-2: stopped at the limit of {limit} s"
    assert any(stopped in part for part in said)
    assert text(folder / "slow.failed.ipynb", "step-1") == "begun\n"
    if cruel in paths:
        assert any("cruel.ipynb: its worker process ended with code -9" in part for part in said)

    assert {f["notebook"] for f in caught.value.failures} == set(paths) - {fine}
    assert text(folder / "fine.ipynb", "step-1") == "fine\n"
    assert not is_stale(fine)
    assert stale(Course(course.root)) == sorted(set(paths) - {fine})
    assert left_overs(course.root) == []

    course.notebook("wrong", "print('mended')")
    run_notebooks([wrong])
    assert not kept.exists()
    assert text(folder / "wrong.ipynb", "step-1") == "mended\n"


def test_a_failure_after_a_success_leaves_the_old_copy_stale(course):
    path = course.notebook("one", "print('old')")
    run_notebooks([path])
    course.notebook("one", "1 / 0")
    with pytest.raises(NotebookError, match="ZeroDivisionError: division by zero"):
        run_notebooks([path])
    assert is_stale(path)
    assert text(executed_copy(path), "step-1") == "old\n"


def test_the_kernel_is_this_interpreter_whatever_is_installed(course, tmp_path, monkeypatch):
    """A python3 kernel of another Python stands first on Jupyter's path, and no venv on PATH."""
    spec = tmp_path / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    command = ["no-such-python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "Python 3", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    monkeypatch.setenv("PATH", os.defpath)
    path = course.notebook("one", "import sys\nprint(sys.executable)")
    run_notebooks([path])
    assert text(executed_copy(path), "step-1") == sys.executable + "\n"


def test_a_temporary_folder_too_deep_for_sockets_is_no_hindrance(course, tmp_path, monkeypatch):
    deep = tmp_path / ("deep" * 30)
    deep.mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))
    path = course.notebook("one", "print(1)")
    assert run_notebooks([path])[0].ran


def test_notebooks_that_would_hide_each_other_are_refused(course, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "_config.yml").touch()
    (other / "notebooks").mkdir()
    one = course.notebook("one", "x = 1")
    two = other / "notebooks" / "one.ipynb"
    two.write_bytes(one.read_bytes())
    with pytest.raises(CourseError, match="the same name"):
        run_notebooks([one, two], tmp_path / "out")
    training = course.notebook("one", "x = 1", folder="notebooks/training")
    assert executed_copy(training) == Course(course.root).executed / "training" / "one.ipynb"
    assert Course(course.root).lectures == [one]


@pytest.mark.parametrize(
    ("options", "said"), [({"workers": 0}, "at least one worker"), ({}, "No notebook")]
)
def test_what_cannot_be_asked_for(course, options, said):
    path = course.notebook("one", "x = 1") if options else course.root / "notebooks" / "x.ipynb"
    with pytest.raises(CourseError, match=said):
        run_notebooks([path], **options)


@pytest.mark.parametrize("broken", ["one.json", "one.ipynb"])
def test_half_of_a_result_is_no_result(course, broken):
    path = course.notebook("one", "x = 1")
    run_notebooks([path])
    assert not is_stale(path)
    (Course(course.root).executed / broken).unlink()
    assert is_stale(path)


def test_a_record_that_is_not_json_is_no_record(course):
    copy = Course(course.root).executed / "one.ipynb"
    copy.parent.mkdir(parents=True)
    copy.write_text("{}")
    copy.with_suffix(".json").write_text('{"key": ')
    assert read_record(copy) is None


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file.json"
    execute_job.write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        execute_job.write_whole(path, "new" * 100000 + "\ud800")

    def refuse(*_):
        raise OSError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError):
        execute_job.write_whole(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.json"]


def test_the_record_is_gone_before_the_copy_is_replaced(course, monkeypatch):
    """A run killed between its two files must not leave the new copy under the old key."""
    path = course.notebook("one", "x = 1")
    run_notebooks([path])
    content = execute_job.empty(path)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(execute_job, "write_whole", stop)
    with pytest.raises(KeyboardInterrupt):
        execute_job.keep(content, executed_copy(path), "another key", 1.0)
    assert is_stale(path)


# -- Processes ---------------------------------------------------------------------------------


def start(course, *arguments):
    command = [sys.executable, "-m", "coursetools.cli", "notebooks", "run", *arguments]
    return subprocess.Popen(
        command,
        cwd=course.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background Ctrl-C is ignored, and by what they start too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.fixture
def ended(processes):
    """Return a list for processes; those that still live at the end of the test are killed."""
    started = []
    yield started
    processes.end(started)


@pytest.fixture
def wait_for(processes):
    return processes.wait_for


@pytest.fixture
def descendants(processes, ended):
    def found(process):
        ended.extend(processes.below(process.pid))
        return processes.below(process.pid)

    return found


@pytest.fixture
def alive(processes):
    return processes.living


@POSIX
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_run_and_nothing_is_half_written(
    course, ended, descendants, alive, wait_for, how, scratch
):
    course.notebook("a-quick", "print('done')")
    course.notebook(
        "b-slow",
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('begun', 'w').close()\n"
        "time.sleep(600)",
    )
    run = start(course)
    ended.append(psutil.Process(run.pid))
    begun, quick = (course.root / "notebooks" / name for name in ("begun", "a-quick.ipynb"))
    wait_for(
        lambda: (begun.exists() and not is_stale(quick)) or run.poll() is not None,
        "the slow notebook, and the end of the other",
    )
    family = descendants(run)
    assert len(family) >= 3  # worker, kernel, the kernel's child
    if how == signal.SIGINT:
        os.killpg(run.pid, how)  # as a terminal does: to all that belong to the command
    else:
        run.send_signal(how)
    out, err = run.communicate(timeout=300)
    if how == signal.SIGINT:
        assert run.returncode == 130
        assert err.rstrip().endswith("coursekit: interrupted; finished results are kept")
        assert "Traceback" not in err + out
        assert alive(family) == []  # by the time that it has ended
    else:
        assert run.returncode == -how
        wait_for(lambda: not alive(family), "the end of worker and kernel")
    wait_for(lambda: not list(scratch.iterdir()), "the clearing of temporary files")
    folder = Course(course.root).executed
    files = {path.name for path in folder.iterdir() if path.name != ".lock"}
    assert files == {"a-quick.ipynb", "a-quick.json"}


@POSIX
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_what_a_cell_started_ends_with_its_kernel(course, ended, alive, wait_for, end):
    """Whether the notebook runs to its end, or its kernel dies of something like lack of memory."""
    path = course.notebook(
        "one",
        "import os, signal, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open('pid', 'w').write(str(child.pid))\n{end}",
    )
    if end == "pass":
        run_notebooks([path])
    else:
        with pytest.raises(NotebookError, match="the kernel died"):
            run_notebooks([path])
    pid = int((path.parent / "pid").read_text())
    with suppress(psutil.NoSuchProcess):
        child = psutil.Process(pid)
        if "time.sleep(600)" in " ".join(child.cmdline()):  # and not another with its number
            ended.append(child)
    wait_for(lambda: not alive(ended), "the end of the cell's child")


@POSIX
def test_a_kernel_ends_when_its_worker_is_killed(course, ended, descendants, alive, wait_for):
    course.notebook("slow", "open('begun', 'w').close()\nimport time\ntime.sleep(600)")
    run = start(course)
    ended.append(psutil.Process(run.pid))
    begun = course.root / "notebooks" / "begun"
    wait_for(lambda: begun.exists() or run.poll() is not None, "the slow notebook")
    family = descendants(run)
    (process,) = psutil.Process(run.pid).children()
    process.kill()
    _, err = run.communicate(timeout=300)
    assert run.returncode == 1
    assert "slow.ipynb: its worker process ended with code -9" in err
    wait_for(lambda: not alive(family), "the end of the kernel")


def test_two_runs_at_once_take_turns(course, ended):
    course.notebook("one", "import time\ntime.sleep(1.5)\nopen('log', 'a').write('ran ')")
    runs = [start(course), start(course)]
    ended += [psutil.Process(run.pid) for run in runs]
    said = [run.communicate(timeout=300) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert (course.root / "notebooks" / "log").read_text() == "ran "
    assert sorted("unchanged" in out for out, _ in said) == [False, True]
    assert left_overs(course.root) == []


def test_what_a_killed_run_left_is_cleared(course):
    folder = Course(course.root).executed
    folder.mkdir(parents=True)
    (folder / ".one.ipynb.123.tmp").write_text("half")
    run_notebooks([course.notebook("one", "x = 1")])
    assert left_overs(course.root) == []
    assert Path(folder / "one.ipynb").is_file()
