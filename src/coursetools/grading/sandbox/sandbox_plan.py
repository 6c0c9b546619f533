"""What a sandbox is to be, as the grader plans it: plain data for the fork server.

The layers are put on where the machine allows it, and reported; `missing` says what `--require`
asks for in vain.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.submission.resource_limits import Limits
from coursekit.submission.stand_ins import OURS
from coursetools.grading.sandbox import hiding

LAYERS = ("rlimits", "uid", "no_new_privs", "landlock", "namespaces", "seccomp", "cgroup")
HELD = "held"
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")
DETAILS = ("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/sys/devices/system/cpu")
PRIVATE = ("solutions", "autograder", "gradebook.db", "nbgrader_config.py", ".git")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the sandbox of one fork server is to be: plain data, sent to it at its start."""

    limits: Limits
    read: list[str]  # all that a student's code may read
    hide: list[str]  # but for these folders
    path: list[str]  # sys.path
    uid: int  # for the students' code, where the grader is root
    questions: int = 0  # each of which may take its own time
    show: list[str] = dataclasses.field(default_factory=list)  # to be read in what is hidden
    modules: list[str] = dataclasses.field(default_factory=list)  # of ours; all, if none is named
    torch: bool = True  # False for a probe that starts at once
    watched: list[str] = dataclasses.field(default_factory=list)  # what questions forbid
    cells: list[tuple[int, str]] = dataclasses.field(default_factory=list)  # of the release

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plan:
        """Make it of the plain data that `dataclasses.asdict` gives."""
        return cls(**{**data, "limits": Limits(**data["limits"])})


def plan(
    limits: Limits,
    watched: Sequence[str] = (),
    cells: Sequence[tuple[int, str]] = (),
    questions: int = 0,
    torch: bool = True,
) -> Plan:
    """Return the plan for a fork server with the Python that runs now."""
    source = Path(__file__).resolve().parents[3]
    folders = [p for p in dict.fromkeys(sys.path) if _is_library(p) and p != str(source)]
    read = [*SYSTEM, *DETAILS, *_prefixes(), *folders, *(str(source / name) for name in OURS)]
    mapped = max((first + count for first, count in _mapped_uids()), default=1 << 16)
    hide, show, modules = hiding.hidden(source, folders, watched, cells)
    first = 100_000_000 if mapped > 200_000_000 else 20_000
    return Plan(
        limits=limits,
        read=list(dict.fromkeys(read)),
        hide=hide,
        show=show,
        modules=modules,
        path=[*folders, str(source)],
        uid=first + os.getpid() % (40_000 if first == 20_000 else 1 << 22),
        questions=questions,
        torch=torch,
        watched=list(watched),
        cells=list(cells),
    )


def missing(report: dict[str, str], require: Sequence[str] | frozenset[str]) -> list[str]:
    """Return one sentence for each layer of `require` that is not held."""
    return [
        f"{name}: {report.get(name, 'there is no such layer')}"
        for name in sorted(require)
        if report.get(name) != HELD
    ]


def _prefixes() -> list[str]:
    """Return the folders in which this Python is installed."""
    paths = (Path(p) for p in dict.fromkeys((sys.prefix, sys.base_prefix, sys.base_exec_prefix)))
    around = (Path("/"), Path.home(), Path.cwd(), *Path.cwd().parents)
    return [str(path) for path in paths if path not in around or path == Path("/usr")]


def _is_library(folder: str) -> bool:
    """Return whether a folder of sys.path may be shown: one of Python's own, or of PYTHONPATH.

    The first entry of sys.path is often the folder of a script, or of a course.
    """
    path = Path(folder)
    if not path.is_absolute() or not path.exists():
        return False
    if any((path / name).exists() for name in PRIVATE):
        return False
    if path.name in ("site-packages", "dist-packages"):
        return True
    if any(path.is_relative_to(prefix) for prefix in _prefixes()):
        return True
    return folder in os.environ.get("PYTHONPATH", "").split(os.pathsep)


def _mapped_uids() -> list[tuple[int, int]]:
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
        return [(int(line.split()[0]), int(line.split()[2])) for line in lines]
    except OSError:
        return []
