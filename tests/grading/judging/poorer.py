"""Grades a few submissions where the grader has less than root: a script for test_sandbox.py.

    python poorer.py user|no-namespaces|neither ...

Prints a line of JSON for each. It first enters a root of its own in which any user may run this
Python, as on a usual machine.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from coursekit.submission.resource_limits import Limits
from coursetools.grading.judging.engine import Engine
from coursetools.grading.sandbox import namespaces, seccomp
from coursetools.grading.sandbox import sandbox_plan as plans

UID = 54_321
here = Path(__file__).parent


def helpers():
    spec = importlib.util.spec_from_file_location("helpers", here / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def processes() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def grade(kind: str, tools) -> None:
    plan = plans.plan(Limits())
    namespaces.enter([*plan.read, str(here)], [])
    os.chmod("/tmp", 0o1777)
    Path("/tmp/secret").write_text("hidden-secret-49")
    os.chmod("/tmp/secret", 0o644)
    os.environ["HOME"] = "/tmp"
    if kind in ("user", "neither"):
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
    if kind in ("no-namespaces", "neither"):
        seccomp.restrict()  # unshare and mount are refused from here on, as in many containers
    good, nap = tools.GOOD, f"318.{os.getpid()}"  # which no other process has in its command
    first = {
        "good": "",
        "reads": "open('/tmp/secret').read()",
        "reads a reference": (
            "import os, coursekit\n"
            "open(os.path.join(os.path.dirname(coursekit.__file__), 'attention.py')).read()"
        ),
        "imports a reference": (
            "import sys\nsys.meta_path.pop(0)\nimport coursekit.attention\nassert 0, 'FOUND'"
        ),
        "reads the questions": (
            "import os, coursekit\nhome = os.path.dirname(os.path.dirname(coursekit.__file__))\n"
            "open(os.path.join(home, 'coursetools', 'questions', 'wrong.py'))"
        ),
        "reads what check should see": (
            "import os, coursekit\nhome = os.path.dirname(coursekit.__file__)\n"
            "open(os.path.join(home, 'check', 'compiled', 'a01_kernels.zip'))"
        ),
        "imports the questions": (
            "import sys\nsys.meta_path.pop(0)\nimport coursetools.questions\nassert 0, 'FOUND'"
        ),
        "writes": "open('/usr/x', 'w')",
        "writes home": "open('/tmp/mine', 'w')",
        "connects": "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)",
        "signals": f"import os\nos.kill(os.getppid() or {os.getpid() + 1}, 9)",
        "environment": "import os\nopen(f'/proc/{os.getppid()}/environ').read()",
        "traces": "import ctypes\nassert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0",
        "endless": "while True: pass",
        "bomb": "import os\nwhile True: os.fork()",
        "memory": "x = []\nwhile True: x.append(bytearray(1 << 20))",
        "daemon": (
            f"import subprocess\nsubprocess.Popen(['sleep', '{nap}'], start_new_session=True)"
        ),
        "large file": "open('f', 'wb').write(b'0' * (1 << 24))",
    }
    found = {}
    # A cell that is stopped for its time loses its attempt, and the answer below it still counts:
    # so there is plenty of it, but for what never ends.
    plenty = replace(tools.LIMITS, cell_seconds=4.0, notebook_seconds=8.0)
    with Engine(tools.MASTER, plenty, assignment=tools.ASSIGNMENT) as engine:
        for name, source in first.items():
            seconds = 0.5 if name == "endless" else plenty.cell_seconds
            engine._server.limits = replace(plenty, cell_seconds=seconds)
            verdict = engine.grade(tools.submission(f"{source}\n{good}" if source else good))
            found[name] = {
                "statuses": tools.statuses(verdict),
                "flags": verdict.flags,
                "reason": verdict.questions[0].reason if verdict.questions else verdict.flags,
            }
        left = [line for line in processes() if nap in line.split()]
        scratch = [str(path) for path in Path("/tmp").glob("coursekit-student-*")]
        layers = engine.layers
    result = {"layers": layers, "found": found, "left": left, "scratch": scratch}
    print(json.dumps(result), flush=True)


def main(kinds: list[str]) -> None:
    tools = helpers()  # imports torch once for all
    for kind in kinds:
        child = os.fork()
        if child == 0:
            grade(kind, tools)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{kind}: failed")


if __name__ == "__main__":
    main(sys.argv[1:])
