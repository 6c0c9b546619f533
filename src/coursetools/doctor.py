"""What this machine has, what it lacks, and the command that installs each missing thing.

A learner needs Python, the package's own requirements, torch and some disk. What builds the book,
trains, grades or tests is a group of its own, and is looked at where it was asked for or where a
part of it is installed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import coursekit
from coursekit import __version__
from coursekit._base import address
from coursekit._base.errors import CourseError
from coursetools.book.formats.chromium import find_chromium
from coursetools.course import Course

OLDEST_PYTHON = (3, 11)
NEEDED_DISK = 1.0  # GB: the built book, its executed notebooks and the local copies of MathJax
GROUPS = {
    "book": "builds the book",
    "train": "trains models",
    "grade": "grades assignments",
    "dev": "runs the tests",
}


@dataclass(frozen=True)
class Check:
    """One line of the report; `needed` is True where what was asked for cannot do without it."""

    name: str
    ok: bool
    found: str
    needed: bool = False
    install: str = ""


def examine(course: Course | None = None, groups: Collection[str] = ()) -> list[Check]:
    """Return every check, for a course if there is one; `groups` are needed as well."""
    return list(_checks(course, groups))


def healthy(checks: list[Check]) -> bool:
    """Return whether everything that is needed is there."""
    return all(check.ok for check in checks if check.needed)


def as_table(checks: list[Check]) -> str:
    """Return the report that people read: what was found, then the commands that are missing."""
    width = max((len(check.name) for check in checks), default=0)
    lines = []
    for check in checks:
        mark = "ok" if check.ok else "MISSING" if check.needed else "missing"
        lines.append(f"{check.name:{width}}  {mark:7}  {check.found}".rstrip())
    for title, needed in (("Needed:", True), ("Not needed to run the notebooks:", False)):
        missing = [check for check in checks if not check.ok and check.needed == needed]
        if missing:
            lines += ["", title, *(f"  {check.name}: {check.install}" for check in missing)]
    shown = {check.name for check in checks}
    if others := [name for name in GROUPS if f"group {name}" not in shown]:
        uses = ", ".join(f"{name} ({GROUPS[name]})" for name in others)
        lines += ["", f"Not looked at: {uses}. `coursekit doctor --group NAME` looks."]
    return "\n".join(lines)


def _checks(course: Course | None, groups: Collection[str]) -> Iterator[Check]:
    yield Check("coursekit", True, f"{__version__} in {Path(coursekit.__file__).resolve().parent}")
    new_enough = sys.version_info >= OLDEST_PYTHON
    oldest = ".".join(map(str, OLDEST_PYTHON))
    yield Check(
        "python",
        new_enough,
        f"{platform.python_version()}, {sys.executable}",
        needed=True,
        install=""
        if new_enough
        else f"install Python {oldest} or newer, remove .venv, and run make again",
    )
    requirements = _requirements(course)
    yield _packages("packages", "run the parts", requirements[""], _install(course, ""), True)
    yield _torch(_install(course, ""))
    asked_for = _asked_for()
    shown = []
    for group, use in GROUPS.items():
        own = {_name(line) for line in requirements[group]}
        if group in groups or own & asked_for:
            shown.append(group)
            command = _install(course, group)
            yield _packages(f"group {group}", use, requirements[group], command, group in groups)
    yield _program("git", "git --version", "versions, and installing from GitHub")
    if "book" in shown or "dev" in shown:
        yield _program(
            "npm", "npm --version", "local copies of MathJax; without it the book uses a CDN"
        )
        chromium = find_chromium()
        text = chromium or "not found; without it the page tests are skipped"
        install = "" if chromium else _system_package("chromium")
        yield Check("chromium", chromium is not None, text, install=install)
    yield _sandbox()
    place = course.root if course else Path.cwd()
    free = shutil.disk_usage(place).free / 1e9
    yield Check(
        "disk",
        free >= NEEDED_DISK,
        f"{free:.1f} GB free, {NEEDED_DISK:g} GB needed",
        needed=True,
        install="" if free >= NEEDED_DISK else "make room on the disk that holds the course",
    )


def _torch(install: str) -> Check:
    try:
        import torch
    except Exception as error:  # a broken build raises what it likes: OSError, RuntimeError, ...
        reason = " ".join(str(error).split())[:120]
        return Check("torch", False, f"cannot be imported: {reason}", needed=True, install=install)
    if torch.cuda.is_available():
        device = f"CUDA, {torch.cuda.get_device_name()}"
        if torch.cuda.device_count() > 1:
            device += f" and {torch.cuda.device_count() - 1} more"
    elif torch.backends.mps.is_available():
        device = "MPS"
    else:
        device = "CPU"
    threads = f"{torch.get_num_threads()} of {os.cpu_count()} threads"
    return Check("torch", True, f"{torch.__version__} on {device}, {threads}", needed=True)


def _requirements(course: Course | None) -> dict[str, list[str]]:
    """Return the requirements by group ("" for those of the package itself).

    A checkout's pyproject.toml comes first: what pip remembers of it may be older.
    """
    groups: dict[str, list[str]] = {name: [] for name in ("", *GROUPS)}
    if course is not None and (course / "pyproject.toml").is_file():
        import tomllib

        project = tomllib.loads((course / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        groups[""] = project.get("dependencies", [])
        groups.update(project.get("optional-dependencies", {}))
        return groups
    try:
        lines = metadata.requires("coursekit") or []
    except metadata.PackageNotFoundError:
        lines = []
    for line in lines:
        requirement, _, condition = line.partition(";")
        group = condition.partition("extra ==")[2].strip().strip("\"'")
        groups.setdefault(group, []).append(requirement.strip())
    return groups


def _name(requirement: str) -> str:
    """Return the name of the package that a requirement asks for, as indexes compare names."""
    name = re.match(r"[\w.-]*", requirement.strip())
    return re.sub(r"[-_.]+", "-", name[0] if name else "").lower()


def _asked_for() -> set[str]:
    """Return the installed packages that no other one brings along.

    JupyterLab brings a part of each group, such as nbformat; that says nothing of what its owner
    is after. jupyter-book, nbgrader, papermill or pytest do.
    """
    there, brought = set(), set()
    for package in metadata.distributions():
        name = _name(package.metadata["Name"] or "")
        there.add(name)
        if name != "coursekit":
            brought |= {_name(line) for line in package.requires or () if "extra ==" not in line}
    return there - brought


def _sandbox() -> Check:
    """Which layers of the grader's sandbox hold here; a throwaway process tries them."""
    from coursetools.grading.judging.fork_client import available
    from coursetools.grading.sandbox.sandbox_plan import HELD

    try:
        layers = available()
    except (CourseError, OSError, AttributeError) as error:  # no fork, no such calls
        layers = {"sandbox": " ".join(str(error).split()) or type(error).__name__}
    held = [name for name, state in layers.items() if state == HELD]
    rest = "; ".join(f"{name}: {state}" for name, state in layers.items() if state != HELD)
    safe = "landlock" in held or "namespaces" in held
    names = ", ".join(held) or "no layer holds"
    return Check(
        "sandbox",
        safe,
        f"{names} ({rest})" if rest else names,
        install="" if safe else "grade strangers' work on Linux, where Landlock or namespaces hold",
    )


def _packages(name: str, use: str, wanted: list[str], install: str, needed: bool) -> Check:
    missing = [problem for line in wanted if (problem := _lacks(line))]
    if missing:
        return Check(name, False, "lacks " + ", ".join(missing), needed, install)
    return Check(name, True, f"{use}; {len(wanted)} package{'s' * (len(wanted) != 1)}", needed)


def _lacks(line: str) -> str:
    """Return what is wrong with the installed version of a requirement, nothing if it fits."""
    from packaging.requirements import Requirement

    wanted = Requirement(line)
    if wanted.marker is not None and not wanted.marker.evaluate():
        return ""
    try:
        version = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return wanted.name
    fits = wanted.specifier.contains(version, prereleases=True)
    return "" if fits else f"{wanted.name}{wanted.specifier} (found {version})"


def _program(name: str, command: str, use: str) -> Check:
    path = shutil.which(name)
    if path is None:
        return Check(name, False, f"not found; {use}", install=_system_package(name))
    try:
        output = subprocess.run(
            [path, *command.split()[1:]], capture_output=True, text=True, timeout=20, check=False
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        output = ""
    return Check(name, True, output.removeprefix(f"{name} version ") or path)


def _install(course: Course | None, group: str) -> str:
    """Return the command that installs a group, for this interpreter and for this checkout."""
    python = Path(sys.executable)
    interpreter = (
        str(python.relative_to(Path.cwd())) if python.is_relative_to(Path.cwd()) else python
    )
    extra = f"[{group}]" if group else ""
    if course is not None and (course / "pyproject.toml").is_file():
        place = "." if course.root == Path.cwd() else str(course)
        return f'{interpreter} -m pip install -e "{place}{extra}"'
    if address.is_set(address.HOME):
        return f'{interpreter} -m pip install "coursekit{extra} @ git+{address.HOME}"'
    return f'in the folder of the course: {interpreter} -m pip install ".{extra}"'


def _system_package(name: str) -> str:
    if sys.platform == "darwin":
        package = {"npm": "node", "chromium": "--cask chromium"}.get(name, name)
        return f"brew install {package}"
    if sys.platform == "win32":
        package = {"npm": "OpenJS.NodeJS", "git": "Git.Git", "chromium": "Google.Chrome"}[name]
        return f"winget install {package}"
    if shutil.which("dnf"):
        return f"sudo dnf install {name}"
    return f"sudo apt install {name}"
