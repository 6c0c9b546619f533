"""`coursekit gradescope NAME FILE.zip`: an autograder for Gradescope, which needs nothing else.

Gradescope unpacks the zip, runs `setup.sh` once, and for each submission `run_autograder`, which
comes back to `grade` here: the same engine, in Gradescope's container. The questions with their
hidden cases are in the zip: it goes to the instructor's account and to nobody else.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit.submission.resource_limits import Limits
from coursetools.course import new_zip
from coursetools.grading.gradebook.autograded import report_of
from coursetools.grading.judging.engine import Engine
from coursetools.grading.judging.master import Master
from coursetools.grading.records import log
from coursetools.grading.records.folders import Folders, read_plain
from coursetools.grading.records.verdict import Verdict
from coursetools.grading.results.outline import outlines
from coursetools.grading.running.keys import masters_of
from coursetools.grading.running.submitted import NOTHING, no_file

NEEDS = ("torch", "numpy", "scipy", "matplotlib", "ipython", "safetensors", "accelerate", "tqdm")
SETUP = """#!/usr/bin/env bash
set -euo pipefail
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11: take a newer base")'
apt-get update && apt-get install -y python3-venv
python3 -m venv /opt/grader
/opt/grader/bin/pip install --no-cache-dir {packages}
"""
RUN = """#!/usr/bin/env bash
set -euo pipefail
autograder="${AUTOGRADER:-/autograder}"
python="${PYTHON:-/opt/grader/bin/python}"
export PYTHONPATH="$autograder/source/src" OMP_NUM_THREADS=1
exec "$python" -m coursetools.grading.gradescope "$autograder"
"""
WHEN = (2000, 1, 1, 0, 0, 0)  # the same course makes the same file


def run(arguments: argparse.Namespace) -> int:
    """The command: `name`, `file`, `course`, `quiet`."""
    course, name, path = arguments.course, arguments.name, arguments.file
    written = write_autograder(Folders(course, name), path)
    log.record(course, "gradescope", assignment=name, file=str(path))
    if not arguments.quiet:
        size = path.stat().st_size / 1e6
        print(f"{path}, {size:.1f} MB; it has the hidden cases: give it to Gradescope alone")
        if written:
            print(f"to be marked there by hand, as questions of their own: {', '.join(written)}")
    return 0


def write_autograder(folders: Folders, path: Path) -> list[str]:
    """Write the zip; return the titles of the questions that no program marks."""
    asked, packages = outlines(folders), folders.course.packages
    assignment = {
        "masters": {name: asdict(master) for name, master in masters_of(folders).items()},
        "limits": asdict(folders.limits),
        "titles": {part.cell: part.title for one in asked.values() for part in one.parts},
    }
    members = {
        "setup.sh": SETUP.format(
            packages=" ".join(f"{one}=={_version(one)}" for one in NEEDS)
        ).encode(),
        "run_autograder": RUN.encode(),
        "assignment.json": json.dumps(assignment).encode(),
    }
    for file in sorted((*packages.glob("coursekit/**/*"), *packages.glob("coursetools/**/*"))):
        if file.is_file() and "__pycache__" not in file.parts:
            members[f"src/{file.relative_to(packages).as_posix()}"] = file.read_bytes()
    with new_zip(path) as out:
        for name, data in members.items():
            out.writestr(zipfile.ZipInfo(name, WHEN), data, zipfile.ZIP_DEFLATED)
    return [part.title for one in asked.values() for part in one.parts if part.written]


def grade(autograder: Path) -> dict[str, Any]:
    """Grade what lies in `submission/`; return what goes into `results/results.json`."""
    private = autograder / "source" / "assignment.json"
    private.chmod(0o600)  # the student's code runs as another user, where it can
    about = json.loads(private.read_text(encoding="utf-8"))
    limits, verdicts = Limits(**about["limits"]), []
    for name, fields in about["masters"].items():
        path = _submitted(autograder / "submission", name, len(about["masters"]))
        if path is None:
            verdicts.append(no_file(name, NOTHING))
            continue
        with Engine(Master(**fields), limits) as engine:
            verdicts.append(engine.grade(read_plain(path, limits.submission_bytes)))
    if any(verdict.status == "INTERNAL" for verdict in verdicts):
        raise CourseError("the grader itself failed, which is not a zero: rerun the autograder")
    return results(verdicts, about["titles"])


def results(verdicts: list[Verdict], titles: dict[str, str]) -> dict[str, Any]:
    """Return verdicts as Gradescope takes them; of a hidden case a student reads its name alone."""
    tests = [
        {
            "name": titles.get(one.cell, one.name),
            "score": one.points,
            "max_score": one.max_points,
            "output": report_of(one),
            "visibility": "visible",
        }
        for verdict in verdicts
        for one in verdict.questions
    ]
    flags = []
    for verdict in verdicts:
        flags += [*verdict.flags, *(flag for one in verdict.questions for flag in one.flags)]
    held = sorted(set.intersection(*(set(one.layers) for one in verdicts)))
    told = [*flags, f"layers of the sandbox that held: {', '.join(held) or 'none'}"]
    tests.append({"name": "To look at", "output": "\n".join(told), "visibility": "hidden"})
    return {
        "score": sum(verdict.points for verdict in verdicts),
        "output": "\n".join(f"{one.status}: {one.reason}" for one in verdicts),
        "tests": tests,
    }


def _submitted(folder: Path, notebook: str, of: int) -> Path | None:
    notebooks = sorted(folder.rglob("*.ipynb"))
    same = [path for path in notebooks if path.stem == notebook]
    return next(iter(same or (notebooks if of == 1 and len(notebooks) == 1 else [])), None)


def _version(package: str) -> str:
    return metadata.version(package).partition("+")[0]  # and not that it is for processors


def main(autograder: Path) -> int:
    """Write the results; where there is no grade, none, and Gradescope says that it failed."""
    try:
        results = grade(autograder)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    path = autograder / "results" / "results.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
