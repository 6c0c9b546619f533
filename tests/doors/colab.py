"""Colab's versions of packages, a list of which stands beside this file.

    python tests/doors/colab.py newest            what has changed since the list; writes it anew
    python tests/doors/colab.py requirements      the list as pip installs it, without Python
    python tests/doors/colab.py try PYTHON        every notebook's first cells in that environment

The first asks GitHub and is for the weekly workflow, which makes an issue of what it says. The last
is for an environment that was made from the list; it installs this course as Colab would, from a
wheel, and with `--whole kernels gpt` executes these notebooks to their ends.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, date, datetime
from pathlib import Path
from urllib.request import urlopen

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIST = HERE / "colab.txt"
NEWEST = "https://raw.githubusercontent.com/googlecolab/backend-info/main/"
READ = "# read: "


def listed(text: str) -> dict[str, str]:
    """Return the versions of a list by the names of their packages."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    return {name.strip().lower(): version.partition("+")[0].strip() for name, version in pairs}


def read_on(text: str) -> date:
    """Return when a list was read."""
    (line,) = (line for line in text.splitlines() if line.startswith(READ))
    return date.fromisoformat(line.removeprefix(READ)[:10])


def newest(names: set[str]) -> dict[str, str]:
    """Return Colab's present versions of `names`."""

    def fetch(name: str) -> str:
        with urlopen(NEWEST + name, timeout=60) as answer:
            return answer.read().decode()

    (python,) = (
        line.split()[1] for line in fetch("os-info.txt").splitlines() if line.startswith("Python ")
    )
    found = {}
    for line in fetch("pip-freeze.txt").splitlines():
        name, at, place = line.partition(" @ ")
        if at:  # torch @ https://…/torch-2.11.0%2Bcu128-cp313-…whl
            found[name.lower()] = place.rpartition("/")[2].split("-")[1].split("%2B")[0]
    found |= listed(fetch("pip-freeze.txt"))
    return {"python": python, **{name: found[name] for name in sorted(names) if name in found}}


def changes(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return a line for each package whose version is another one."""
    names = sorted({*before, *now})
    return [
        f"{name}: {before.get(name, 'missing')} -> {now.get(name, 'missing')}"
        for name in names
        if before.get(name) != now.get(name)
    ]


def written(text: str, now: dict[str, str], today: date) -> str:
    """Return the list with the versions of today."""
    about = [line for line in text.splitlines() if line.startswith("#")]
    about = [
        f"{READ}{today}{line[len(READ) + 10 :]}" if line.startswith(READ) else line
        for line in about
    ]
    return "\n".join([*about, *(f"{name}=={version}" for name, version in now.items())]) + "\n"


def try_in(python: str, whole: list[str]) -> int:
    """Install the course into the environment of `python` as Colab does, and run first cells."""
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(ROOT)]
        subprocess.run(build, check=True)
        (wheel,) = Path(folder).glob("coursekit-*.whl")
        before = _freeze(python)
        subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True)
        moved = {
            name: (version, now)
            for name, version in before.items()
            if (now := _freeze(python).get(name)) != version and name != "coursekit"
        }
        if moved:
            print(f"installing coursekit changed packages: {moved}")
            return 1
        failed = 0
        for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
            if "training/" in path.as_posix() or "checkpoints" in path.parts:
                continue
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
            sources = sources if path.stem in whole else sources[:3]
            job = json.dumps({"cells": sources, "folder": str(path.parent)})
            done = subprocess.run(
                [python, str(HERE / "cells.py")], input=job, text=True, capture_output=True,
                cwd=folder, env={**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": ""},
            )  # fmt: skip
            lines = done.stderr.strip().splitlines()
            said = "ok" if done.returncode == 0 else lines[-1] if lines else "it ended"
            failed += done.returncode != 0
            print(
                f"{path.relative_to(ROOT / 'notebooks')}: {len(sources)} cells, {said}", flush=True
            )
        return 1 if failed else 0


def _freeze(python: str) -> dict[str, str]:
    done = subprocess.run(
        [python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    )
    return listed(done.stdout)


def main(arguments: list[str]) -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("newest")
    commands.add_parser("requirements")
    trial = commands.add_parser("try")
    trial.add_argument("python")
    trial.add_argument("--whole", nargs="*", default=[])
    asked = parser.parse_args(arguments)
    text = LIST.read_text(encoding="utf-8")
    before = listed(text)
    if asked.command == "requirements":
        print("\n".join(f"{name}=={v}" for name, v in before.items() if name != "python"))
        return 0
    if asked.command == "try":
        return try_in(asked.python, asked.whole)
    now = newest(set(before) - {"python"})
    found = changes(before, now)
    print("\n".join(found) or f"as on {read_on(text)}")
    LIST.write_text(written(text, now, datetime.now(UTC).date()), encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
