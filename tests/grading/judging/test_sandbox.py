"""What the sandbox holds as root, as an ordinary user, and where namespaces are refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursekit.submission.resource_limits import Limits
from coursetools.grading.judging import fork_client
from coursetools.grading.judging.engine import Engine
from coursetools.grading.sandbox import descendants, landlock, seccomp
from coursetools.grading.sandbox import sandbox_plan as plans

linux = pytest.mark.skipif(sys.platform != "linux", reason="these layers are Linux's")
root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can become an ordinary user"
)
BASIC = {"rlimits", "no_new_privs", "landlock", "seccomp"}


def held(report: dict[str, str]) -> set[str]:
    return {name for name, said in report.items() if said == plans.HELD}


def test_every_layer_is_reported_held_or_with_a_reason():
    report = fork_client.available()
    assert tuple(report) == plans.LAYERS
    assert all(said and said != "not tried" for said in report.values())
    assert "rlimits" in held(report)


def test_a_layer_that_is_required_and_missing_refuses_to_grade(tools):
    lacking = [name for name in plans.LAYERS if name not in held(fork_client.available())]
    for name in [*lacking[:1], "wishes"]:
        with pytest.raises(CourseError, match=name):
            Engine(tools.MASTER, tools.LIMITS, frozenset({name}), assignment=tools.ASSIGNMENT)


POORER = {"user": {"namespaces"}, "no-namespaces": {"uid"}, "neither": set()}


@pytest.fixture(scope="module")
def poorer() -> dict[str, dict]:
    script = [sys.executable, str(Path(__file__).with_name("poorer.py"))]
    done = subprocess.run([*script, *POORER], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(POORER, map(json.loads, done.stdout.splitlines())))


@root
@pytest.mark.parametrize("kind", POORER)
def test_what_is_left_of_it_still_holds(poorer, kind):
    said, more = poorer[kind], POORER[kind]
    assert held(said["layers"]) - {"cgroup"} == BASIC | more
    found = {name: entry["statuses"][0] for name, entry in said["found"].items()}
    assert all(entry["statuses"][1] == "OK" for entry in said["found"].values())
    assert found["good"] == "OK"
    for name in ("writes", "connects", "bomb", "large file"):
        assert found[name] == "BLOCKED", said["found"][name]
    refused = ("reads", "reads a reference", "imports a reference", "reads the questions")
    refused += ("reads what check should see", "imports the questions", "environment", "traces")
    for name in refused:
        assert found[name] in ("BLOCKED", "FAIL"), said["found"][name]
        assert "FOUND" not in said["found"][name]["reason"]
    if "namespaces" not in more:
        assert found["reads"] == found["writes home"] == found["signals"] == "BLOCKED"
    assert said["left"] == []
    assert said["scratch"] == []


@linux
def test_what_is_killed_is_waited_for_however_late_it_dies(monkeypatch):
    """What is not dead yet would count among the processes that the next submission may have."""
    kill, look, seen = os.kill, descendants._children, []
    monkeypatch.setattr(
        descendants.os, "kill", lambda *told: threading.Timer(0.3, kill, told).start()
    )
    monkeypatch.setattr(descendants, "_children", lambda: seen.append(look()) or seen[-1])
    if (copy := os.fork()) == 0:  # this process has other children
        if (child := os.fork()) == 0:
            time.sleep(600)
        descendants.kill_descendants()
        os._exit(seen != [[child], []])
    assert os.waitpid(copy, 0)[1] == 0


def test_the_folder_of_a_script_and_a_course_are_no_libraries(tmp_path, monkeypatch):
    (tmp_path / "solutions").mkdir()
    library = tmp_path / "library"
    library.mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(library), "", *sys.path])
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{library}")
    plan = plans.plan(Limits())
    assert str(library) in plan.read
    assert str(tmp_path) not in plan.read
    assert str(Path.cwd()) not in plan.read
    assert "" not in plan.path


BELOW_TMP = """
import sys
sys.path.insert(0, {folder!r})
import coursekit
from coursetools.grading.judging.engine import Engine
from poorer import helpers
tools = helpers()
look = "import sys\\nsys.meta_path.pop(0)\\nimport coursekit.attention\\n"
with Engine(tools.MASTER, tools.LIMITS, assignment=tools.ASSIGNMENT) as engine:
    for source in ("", look):
        print(coursekit.__file__, engine.grade(tools.submission(source + tools.GOOD)).points)
"""


@linux
def test_a_course_below_tmp_is_hidden_as_any_other(tmp_path):
    """A student's /tmp is new and empty: what may be read of a course there is put back into it."""
    if not str(tmp_path).startswith("/tmp/"):
        pytest.skip("temporary files are not below /tmp here")
    source = tmp_path / "src"
    away = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(plans.__file__).parents[3], source, ignore=away)
    done = subprocess.run(
        [sys.executable, "-c", BELOW_TMP.format(folder=str(Path(__file__).parent))],
        env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True,
    )  # fmt: skip
    home = source / "coursekit" / "__init__.py"
    assert done.stdout.splitlines() == [f"{home} 5.0", f"{home} 3.0"], done.stderr[-2000:]


@linux
def test_the_filter_refuses_and_allows_what_it_should():
    """The instructions are executed here as the kernel would."""
    for machine, architecture in seccomp.ARCHITECTURES.items():
        code = seccomp.program(machine)
        column = list(seccomp.ARCHITECTURES).index(machine)

        def verdict(number, argument=0, arch=architecture, code=code):
            at, loaded = 0, 0
            data = {seccomp.NUMBER: number, seccomp.ARCHITECTURE: arch}
            data |= {seccomp.ARGUMENT: argument, seccomp.COMMAND: argument}
            while True:
                op, yes, no, value = code[at]
                if op == seccomp.LOAD:
                    loaded, step = data[value], 0
                elif op == seccomp.RETURN:
                    return value
                elif op == seccomp.EQUAL:
                    step = yes if loaded == value else no
                elif op == seccomp.AT_LEAST:
                    step = yes if loaded >= value else no
                else:
                    step = yes if loaded & value else no
                at += 1 + step

        refused = seccomp.REFUSE | 1
        for numbers in seccomp.FORBIDDEN.values():
            if numbers[column] is not None:
                assert verdict(numbers[column]) == refused
        socket, clone = seccomp.SOCKET[column], seccomp.CLONE[column]
        assert verdict(socket, argument=1) == seccomp.ALLOW
        assert verdict(socket, argument=2) == verdict(socket, argument=16) == refused
        assert verdict(clone, argument=17) == seccomp.ALLOW
        assert verdict(clone, argument=17 | 0x10000000) == refused
        fcntl = seccomp.FCNTL[column]
        assert verdict(seccomp.FLOCK[column]) == seccomp.REFUSE  # done, says the kernel
        assert {verdict(fcntl, argument=one) for one in seccomp.LOCK} == {seccomp.REFUSE}
        assert {verdict(fcntl, argument=one) for one in seccomp.ASK} == {refused}
        assert {verdict(fcntl, argument=one) for one in (0, 1, 2, 3, 4, 1030)} == {seccomp.ALLOW}
        assert verdict(seccomp.CLONE3[column]) == seccomp.REFUSE | 38
        assert verdict(0) == seccomp.ALLOW
        assert verdict(0, arch=1) == refused
        if machine == "x86_64":
            assert verdict(0x40000000 + 101) == refused


@linux
def test_landlock_says_its_version():
    try:
        assert landlock.version() >= 1
    except OSError as error:
        pytest.skip(f"this kernel has no Landlock ({error})")
