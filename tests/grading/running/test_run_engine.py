"""The driver with the real engine: a few submissions, a kill, and the same table."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time

import pytest
from helpers import marks

from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.running.grade_class import Options, grade_class

pytestmark = pytest.mark.usefixtures("quick_gradebook")

ONE = Options(workers=1)


def points(root) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = {}
    for student, name, score in marks(root, "auto_score"):
        found.setdefault(student, {})[name.removeprefix("test_")] = score
    return found


def a_class(classroom) -> None:
    classroom.hand_in("ada")
    classroom.hand_in("ben", classroom.answered(cube=None))
    classroom.hand_in("cy", classroom.answered(square="__import__('os')._exit(0)"))
    classroom.hand_in("dee", classroom.answered(square="9 if x == 3 else 0", why="Words."))
    classroom.hand_in("eve", b"hello this is not json")
    stripped = classroom.answered()
    for cell in stripped["cells"]:
        cell["metadata"] = {}
    classroom.hand_in("fay", stripped)


def test_a_class_and_a_kill(classroom, processes):
    a_class(classroom)
    summary = grade_class(classroom.course, "ps1", ONE)
    expected = points(classroom.root)
    assert summary.counts == {"OK": 2, "PARTIAL": 3, "MALFORMED": 1} and summary.exit_code == 0
    right = {"square": 2, "cube": 3, "why": 0}
    assert expected["ada"] == expected["fay"] == right
    assert expected["ben"] == right | {"cube": 0}
    assert expected["cy"] == right | {"square": 0}
    assert expected["dee"] == right | {"square": 0, "why": None}  # the hidden test sees it
    assert expected["eve"] == {"square": 0, "cube": 0, "why": 0}
    shown = classroom.root.rglob("autograded/**/*.ipynb")
    assert not [path for path in shown if "hidden-secret-49" in path.read_text()]
    store = Folders(classroom.course, "ps1").verdicts
    spread = random.Random(2)
    for name in ("gradebook.db", "gradebook.db-wal", "gradebook.db-shm"):
        (classroom.root / "autograder" / name).unlink(missing_ok=True)
    shutil.rmtree(store)
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            grade_class(classroom.course, "ps1", ONE)
            os._exit(0)
        processes.wait_for(Verdicts(store).index, "the first verdict")
        time.sleep(spread.uniform(0, 0.3))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert grade_class(classroom.course, "ps1", ONE).counts == summary.counts
    assert points(classroom.root) == expected


def test_a_question_of_the_course(classroom, copied):
    """The release of the first assignment gets nothing, its own solution everything."""
    import json

    from coursekit.submission.regions import release_source
    from coursetools.assignments.sources import source

    copied("a01_kernels", classroom.root)
    master = json.loads(source(classroom.course, "a01_kernels").read_text())

    for student in ("blank", "right"):
        folder = classroom.root / "autograder" / "submitted" / student / "a01_kernels"
        folder.mkdir(parents=True)
        notebook = json.loads(json.dumps(master))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
            if student == "blank":
                cell["source"] = release_source(cell)
        (folder / "a01_kernels.ipynb").write_text(json.dumps(notebook))
    summary = grade_class(classroom.course, "a01_kernels", ONE)
    assert summary.counts == {"OK": 1, "FAIL": 1}
    found = points(classroom.root)
    assert sum(score or 0 for score in found["blank"].values()) == 0
    store = Verdicts(Folders(classroom.course, "a01_kernels").verdicts)
    entry = store.read(store.index()["right", "a01_kernels"])
    assert entry.verdict.points == entry.verdict.max_points > 0
    assert entry.verdict.guarantee == "judged elsewhere"
