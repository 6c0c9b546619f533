"""A run may be killed, starved or repeated: the table at its end is the same."""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import signal
import sqlite3
import time
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from helpers import FAKE, Notes, daily_penalty, marks

from coursekit._base.errors import CourseError
from coursetools.course import write_whole
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.running.grade_class import EACH, MOST, Options, grade_class, processes_here

pytestmark = pytest.mark.usefixtures("quick_gradebook")


def options(**further) -> Options:
    return Options(**{"workers": 2} | FAKE | further)


def table(root: Path) -> list[tuple]:
    """Return what the gradebook says, without the names that it gives to its rows."""
    grades = "auto_score, manual_score, needs_manual_grade, flagged, late_submission_penalty"
    comments = marks(root, "auto_comment, manual_comment", table="comment")
    return marks(root, f"{grades}, timestamp") + comments


def scores(root: Path) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = {}
    for student, name, score in marks(root, "auto_score"):
        found.setdefault(student, {})[name] = score
    return found


def a_class(classroom) -> None:
    classroom.hand_in("ada")
    classroom.hand_in("ben", classroom.answered(cube=None, why="In words."))
    classroom.hand_in("cy", classroom.answered(square="half", cube="0"))
    classroom.hand_in("dee", b"hello this is not json")


def test_a_class(classroom):
    a_class(classroom)
    notes = Notes()
    summary = grade_class(classroom.course, "ps1", options(), notes)
    assert summary.counts == {"OK": 1, "PARTIAL": 2, "MALFORMED": 1}
    assert summary.exit_code == 0 and summary.graded == 4 and summary.mean == (5 + 2 + 1) / 4
    assert summary.needs_human == 2  # ben's words, dee's file
    assert scores(classroom.root) == {
        "ada": {"test_square": 2, "test_cube": 3, "why": 0},
        "ben": {"test_square": 2, "test_cube": 0, "why": None},
        "cy": {"test_square": 1, "test_cube": 0, "why": 0},
        "dee": {"test_square": 0, "test_cube": 0, "why": 0},
    }
    assert sorted(text.split()[0] for text in notes.done) == ["ada", "ben", "cy", "dee"]
    assert any("dee: MALFORMED, the file is not JSON" in note for note in notes.notes)
    said = {row[:2]: row[2] for row in table(classroom.root) if len(row) == 4}
    assert said["ada", "square"] is None and said["ada", "why"] == "No response."
    assert said["ben", "cube"] == "no answer think of powers"
    assert "not JSON" in said["dee", "square"]


def test_nbgrader_reads_our_points_from_the_notebook(classroom):
    import nbformat
    from nbgrader.utils import determine_grade, is_grade

    a_class(classroom)
    grade_class(classroom.course, "ps1", options())
    for student, expected in scores(classroom.root).items():
        path = classroom.root / f"autograder/autograded/{student}/ps1/ps1.ipynb"
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert "hidden-secret-49" not in path.read_text()
        for cell in notebook.cells:
            if is_grade(cell):
                assert determine_grade(cell)[0] == expected[cell.metadata.nbgrader.grade_id]


def test_again_nothing_is_run_and_manual_grades_stay(classroom, tmp_path):
    a_class(classroom)
    ran = tmp_path / "ran"
    classroom.hand_in("eve", classroom.answered(square=f"x * x  # note {ran}", why="Words."))
    grade_class(classroom.course, "ps1", options())
    base = sqlite3.connect(classroom.root / "autograder" / "gradebook.db")
    base.execute(
        "update grade set manual_score = 4, needs_manual_grade = 0 where cell_id in"
        " (select id from base_cell where name = 'why')"
    )
    base.execute("update comment set manual_comment = 'well said'")
    base.commit()
    before = table(classroom.root)
    notes = Notes()
    summary = grade_class(classroom.course, "ps1", options(), notes)
    assert (summary.graded, summary.unchanged) == (0, 5) and notes.done == []
    assert ran.read_text() == "."
    assert table(classroom.root) == before
    assert grade_class(classroom.course, "ps1", options(force=True)).graded == 5
    assert ran.read_text() == ".."
    assert table(classroom.root) == before
    # another answer in the same place asks a human to look again, and keeps the points
    classroom.hand_in("eve", classroom.answered(square="x * x", why="Other words."))
    assert grade_class(classroom.course, "ps1", options()).graded == 1
    (row,) = [r for r in table(classroom.root) if r[:2] == ("eve", "why") and len(r) > 4]
    assert row[2:5] == (None, 4, 1)


def test_what_a_verdict_depends_on(classroom):
    classroom.hand_in("ada")
    assert grade_class(classroom.course, "ps1", options()).graded == 1
    folder = classroom.private
    (folder / "square.md").write_text("page: kernels\n\nAnother hint.\n")
    assert grade_class(classroom.course, "ps1", options()).graded == 1
    (folder / "assignment.toml").write_text("[limits]\ncell_seconds = 3\n")
    assert grade_class(classroom.course, "ps1", options()).graded == 1
    master = json.loads((classroom.source / "ps1.ipynb").read_text())
    master["cells"][0]["source"] = "# Powers!"
    (classroom.source / "ps1.ipynb").write_text(json.dumps(master))
    assert grade_class(classroom.course, "ps1", options()).graded == 1
    assert grade_class(classroom.course, "ps1", options()).graded == 0
    (folder / "assignment.toml").write_text("[limits]\nfile_size = 3\n")
    with pytest.raises(CourseError, match="unknown file_size"):
        grade_class(classroom.course, "ps1", options())


def test_dry_run_touches_nothing(classroom):
    a_class(classroom)
    summary = grade_class(classroom.course, "ps1", options(dry_run=True))
    assert summary.would_grade == 4 and summary.unchanged == 0
    assert sorted(p.name for p in (classroom.root / "autograder").iterdir()) == ["submitted"]


def test_internal_is_tried_again_each_time(classroom):
    """Also where the engine itself says so, and the file is the same."""
    classroom.hand_in("ada", classroom.answered(square="x * x  # internal"))
    for _ in range(2):
        summary = grade_class(classroom.course, "ps1", options())
        assert (summary.graded, summary.internal) == (1, ["ada"])
    assert scores(classroom.root)["ada"] == {"test_square": None, "test_cube": None, "why": None}


def test_points_by_hand_for_a_test_ask_again_when_the_grader_changes_its_mind(classroom):
    classroom.hand_in("ada", classroom.answered(square="0"))
    grade_class(classroom.course, "ps1", options())
    base = sqlite3.connect(classroom.root / "autograder" / "gradebook.db")
    base.execute("update grade set manual_score = 1 where auto_score = 0 and manual_score is null")
    base.execute("update grade set needs_manual_grade = 0")
    base.commit()
    classroom.hand_in("ada", classroom.answered(square="half"))
    grade_class(classroom.course, "ps1", options())
    rows = {row[1]: row[2:5] for row in table(classroom.root) if len(row) > 4}
    assert rows["test_square"] == (1, 1, 1)  # the grader's, a human's, to be looked at


def test_what_was_taken_out_of_the_gradebook_comes_back(classroom):
    from nbgrader.api import Gradebook

    classroom.hand_in("ada")
    classroom.hand_in("ben")
    grade_class(classroom.course, "ps1", options())
    before = table(classroom.root)
    with Gradebook(Folders(classroom.course, "ps1").database) as book:
        book.remove_submission("ps1", "ada")
    assert {row[0] for row in table(classroom.root)} == {"ben"}
    assert grade_class(classroom.course, "ps1", options()).graded == 0
    assert table(classroom.root) == before


@pytest.mark.parametrize(
    ("cores", "memory", "expected"),
    [(4, 64 * EACH, 4), (64, 64 * EACH, MOST), (64, 3 * EACH + 5, 3), (2, 0, 1)],
)
def test_processes_are_one_a_core_as_far_as_memory_goes(monkeypatch, cores, memory, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)), raising=False)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=memory))
    assert processes_here() == expected


@pytest.mark.parametrize("workers", [1, 3])
def test_a_worker_that_dies(classroom, tmp_path, workers):
    """Its submission is tried again; the second time it is nobody's zero."""
    a_class(classroom)
    classroom.hand_in("bob", classroom.answered(square=f"x * x  # die once {tmp_path / 'died'}"))
    classroom.hand_in("cain", classroom.answered(square="0  # die"))
    classroom.hand_in("dan", classroom.answered(square="0  # raise"))
    summary = grade_class(classroom.course, "ps1", options(workers=workers))
    assert (tmp_path / "died").exists()
    assert summary.internal == ["cain", "dan"] and summary.exit_code == 1
    found = scores(classroom.root)
    assert found["bob"] == found["ada"]
    assert found["cain"] == found["dan"] == {"test_square": None, "test_cube": None, "why": None}
    store = Verdicts(Folders(classroom.course, "ps1").verdicts)
    entry = store.read(store.index()["dan", "ps1"])
    assert "the engine has a fault" in entry.verdict.flags[0]
    # the next run tries them again, and only them
    classroom.hand_in("cain")
    again = grade_class(classroom.course, "ps1", options(workers=workers))
    assert again.graded == 2 and again.internal == ["dan"]
    assert scores(classroom.root)["cain"] == found["ada"]


def test_a_worker_that_hangs(classroom, monkeypatch):
    from coursetools.jobs.pool import Pool

    classroom.hand_in("ada")
    classroom.hand_in("bob", classroom.answered(square="0  # sleep 600"))
    original = Pool.__init__

    def impatient(self, module, workers, *, seconds, **options):
        original(self, module, workers, seconds=1.0, **options)

    monkeypatch.setattr(Pool, "__init__", impatient)
    summary = grade_class(classroom.course, "ps1", options())
    assert summary.internal == ["bob"]
    assert scores(classroom.root)["ada"]["test_cube"] == 3


def test_a_layer_that_does_not_hold(classroom):
    classroom.hand_in("ada")
    with pytest.raises(CourseError, match="moon does not hold"):
        grade_class(classroom.course, "ps1", options(require=frozenset({"moon"})))
    assert Verdicts(Folders(classroom.course, "ps1").verdicts).index() == {}


def test_an_engine_that_does_not_start(classroom):
    classroom.hand_in("ada")
    nowhere = FAKE["engine"].removesuffix("Fake") + "Nowhere"
    with pytest.raises(CourseError, match=r"do not start .*Nowhere"):
        grade_class(classroom.course, "ps1", options(engine=nowhere))


def test_a_link_or_nothing_in_the_folder(classroom):
    classroom.hand_in("ada")
    classroom.hand_in("bob").unlink()
    path = classroom.hand_in("cy")
    path.unlink()
    path.symlink_to(classroom.source / "ps1.ipynb")
    path = classroom.hand_in("dee")
    path.unlink()
    os.mkfifo(path)
    summary = grade_class(classroom.course, "ps1", options())
    assert summary.counts == {"OK": 1, "MALFORMED": 2, "MISSING": 1}
    assert scores(classroom.root)["cy"]["test_square"] == 0
    assert grade_class(classroom.course, "ps1", options()).graded == 0


def test_two_notebooks_in_one_assignment(classroom):
    """As nbgrader's own example course has them."""
    source = classroom.source
    (source / "ps1.ipynb").rename(source / "problem1.ipynb")
    (source / "problem2.ipynb").write_text((source / "problem1.ipynb").read_text())
    first = classroom.hand_in("ada")
    first.rename(first.with_name("problem1.ipynb"))
    summary = grade_class(classroom.course, "ps1", options())
    assert summary.counts == {"PARTIAL": 1} and summary.mean == 5
    points = [row[2] for row in table(classroom.root) if len(row) > 4]
    assert sorted(points) == [0, 0, 0, 0, 2, 3]


def test_late(classroom):
    (classroom.private / "assignment.toml").write_text("due = 2026-10-01T12:00:00+02:00\n")
    config = classroom.root / "autograder" / "nbgrader_config.py"
    config.parent.mkdir()
    config.write_text("c = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    classroom.hand_in("ada", stamp="2026-10-01 09:59:59 UTC")
    classroom.hand_in("bob", stamp="2026-10-01 10:00:01 UTC")
    classroom.hand_in("cy", stamp="long ago")
    notes = Notes()
    grade_class(classroom.course, "ps1", options(), notes)
    lost = {row[0]: row[6] for row in table(classroom.root) if len(row) > 4}
    assert lost == {"ada": None, "bob": 5.0, "cy": None}
    assert any("contains no time" in note for note in notes.notes)
    classroom.hand_in("bob", stamp="2026-10-01 09:00:00 UTC")  # the same file, another time
    assert grade_class(classroom.course, "ps1", options()).graded == 0
    lost = {row[0]: row[6] for row in table(classroom.root) if len(row) > 4}
    assert lost["bob"] is None


def test_a_deadline_that_moves(classroom):
    """By the file the penalties follow at once; by formgrader only where the file has none."""
    from nbgrader.api import Gradebook

    def lost(*said):
        notes = Notes()
        assert grade_class(classroom.course, "ps1", options(), notes).graded == 0
        assert len(notes.notes) == len(said)
        assert all(part in note for part, note in zip(said, notes.notes))
        return sorted({row[6] for row in table(classroom.root) if len(row) > 4})

    def formgrader(day):
        with Gradebook(Folders(classroom.course, "ps1").database) as book:
            book.find_assignment("ps1").duedate = datetime(2026, 10, day)
            book.db.commit()

    config = classroom.root / "autograder" / "nbgrader_config.py"
    config.parent.mkdir()
    config.write_text(daily_penalty(classroom.course))
    classroom.hand_in("ada", stamp="2026-10-04 00:00:00 UTC")
    grade_class(classroom.course, "ps1", options())
    formgrader(3)
    path, rule = classroom.private / "assignment.toml", "[late]\nrate = 0.2\n"
    path.write_text(rule)
    assert lost() == [1.0]
    path.write_text(f"due = 2026-10-02T00:00:00+00:00\n{rule}")
    assert lost("deadline moved to Friday 2 October 2026, 00:00 UTC") == [2.0]
    assert lost() == [2.0]
    formgrader(5)
    assert lost("moved to Friday 2 October 2026, 00:00 UTC") == [2.0]
    path.write_text(f"due = 2026-10-02T00:00:00+00:00\n{rule}most = 0.3\n")
    assert lost() == [1.5]


def test_a_locked_database(classroom):
    classroom.hand_in("ada")
    grade_class(classroom.course, "ps1", options())
    classroom.hand_in("bob")
    base = sqlite3.connect(classroom.root / "autograder" / "gradebook.db", isolation_level=None)
    base.execute("begin immediate")
    notes = Notes()
    with pytest.raises(CourseError, match="locked by another program"):
        grade_class(classroom.course, "ps1", options(wait=0.5), notes)
    assert any("waiting" in note for note in notes.notes)
    base.execute("rollback")
    assert grade_class(classroom.course, "ps1", options()).counts == {"OK": 2}


def test_a_full_disk(classroom, monkeypatch):
    """Half a verdict is written and then there is no room: what came before is kept."""
    for number in range(6):
        classroom.hand_in(f"s{number}")
    room = [2]

    def until_full(path, content):
        if room[0] == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.1.tmp").write_bytes(content[: len(content) // 2])
            raise OSError(28, "No space left on device")
        room[0] -= 1
        write_whole(path, content)

    monkeypatch.setattr("coursetools.grading.records.verdict_files.write_whole", until_full)
    with pytest.raises(CourseError, match=r"No space left.*make room"):
        grade_class(classroom.course, "ps1", options())
    assert len(scores(classroom.root)) == 2
    room[0] = 1000
    notes = Notes()
    assert grade_class(classroom.course, "ps1", options(), notes).counts == {"OK": 6}
    assert len(notes.done) == 4 and notes.notes == []


def test_two_at_once(classroom):
    import fcntl

    classroom.hand_in("ada")
    folders = Folders(classroom.course, "ps1")
    folders.verdicts.parent.mkdir(parents=True)
    with folders.verdicts.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(CourseError, match="ps1 is in use"):
            grade_class(classroom.course, "ps1", options())


def test_a_lock_that_is_let_go_in_a_moment(classroom):
    """That of a killed run is held until what it was just starting has begun."""
    import fcntl
    import threading

    classroom.hand_in("ada")
    folders = Folders(classroom.course, "ps1")
    folders.verdicts.parent.mkdir(parents=True)
    file = folders.verdicts.with_suffix(".lock").open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    threading.Timer(0.5, file.close).start()
    assert grade_class(classroom.course, "ps1", options()).counts == {"OK": 1}


def begin(classroom) -> int:
    """Grade in a fork of this process, which has imported everything; return its pid."""
    pid = os.fork()
    if pid == 0:
        code = 1
        gc.callbacks.clear()  # hypothesis has one, and what is raised in it is not passed on
        # Where the tests run in the background Ctrl-C is ignored, and by a fork too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            grade_class(classroom.course, "ps1", options())
            code = 0
        except KeyboardInterrupt:
            code = 130
        finally:
            os._exit(code)
    return pid


def many(classroom, count: int) -> None:
    for number in range(count):
        body = ("x * x", "half", "0")[number % 3]
        notebook = classroom.answered(square=f"{body}  # sleep 0.01", why="Words." * (number % 2))
        classroom.hand_in(f"s{number:03}", notebook, "2026-10-01 10:00:00 UTC")
    classroom.hand_in("broken", b"{")


def forget(classroom) -> None:
    for name in ("gradebook.db", "gradebook.db-wal", "gradebook.db-shm"):
        (classroom.root / "autograder" / name).unlink(missing_ok=True)
    shutil.rmtree(Folders(classroom.course, "ps1").verdicts, ignore_errors=True)


def on_disk(classroom) -> int:
    return len(Verdicts(Folders(classroom.course, "ps1").verdicts).index())


def in_gradebook(classroom) -> int:
    return len(scores(classroom.root)) if on_disk(classroom) else 0


def test_killed_at_any_moment(classroom, monkeypatch, processes):
    """20 kills, spread over the length of a run; after each resumption the table is the same.

    Half of them by the clock, half by the verdicts: a run is longer on a busy machine.
    """
    monkeypatch.setattr("coursetools.grading.running.grade_class.BATCH", 4)
    many(classroom, 30)
    start = time.monotonic()
    os.waitpid(begin(classroom), 0)
    length = time.monotonic() - start
    expected = table(classroom.root)
    assert len({row[0] for row in expected}) == 31
    spread = random.Random(4)
    found = []
    for attempt in range(20):
        if attempt % 2 == 0:
            forget(classroom)
        process = begin(classroom)
        if attempt % 4 < 2:
            time.sleep(spread.uniform(0.3, 1.1) * length)
        else:
            reached = spread.randint(1, 30)
            processes.wait_for(lambda least=reached: on_disk(classroom) >= least, "a verdict")
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        found.append(on_disk(classroom))
        if attempt % 2:
            summary = grade_class(classroom.course, "ps1", options())
            assert table(classroom.root) == expected
            assert summary.counts == {"OK": 10, "PARTIAL": 20, "MALFORMED": 1}
    # Some kills were in the middle; a run that was always finished, or never begun, shows nothing.
    assert any(0 < count < 31 for count in found)


def test_interrupted(classroom, processes):
    """Ctrl-C: what is finished is in the gradebook at once, and no process is left."""
    many(classroom, 200)
    process = begin(classroom)
    processes.wait_for(lambda: on_disk(classroom) >= 20, "twenty verdicts")
    started = processes.below(process)
    os.kill(process, signal.SIGINT)
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    finished = on_disk(classroom)
    assert 20 <= finished < 201
    assert finished - 1 <= in_gradebook(classroom) <= finished
    assert len(started) >= 2
    processes.wait_for(lambda: not processes.living(started), "the end of the workers")


def test_what_ran_out_of_time_is_judged_once_more_alone(classroom, tmp_path):
    near = tmp_path / "near"
    classroom.hand_in("ada")
    classroom.hand_in("ben", classroom.answered(square=f"x * x  # slow {near}"))
    classroom.hand_in("cy")
    notes = Notes()
    summary = grade_class(classroom.course, "ps1", options(), notes)
    assert summary.counts == {"OK": 3} and summary.graded == 3
    assert "1 ran out of time; running each of them again, alone" in notes.notes
    assert notes.done[-1].startswith("ben")
    assert grade_class(classroom.course, "ps1", options()).unchanged == 3


def test_what_was_not_graded_is_said_and_the_numbers_add_up(classroom):
    """New times recompute; a run that was killed leaves verdicts that the gradebook lacks."""
    a_class(classroom)
    (classroom.private / "assignment.toml").write_text("due = 2026-10-01T12:00:00Z\n")
    assert "4 graded, 0 unchanged" in grade_class(classroom.course, "ps1", options()).as_table()
    folder = classroom.root / "autograder" / "submitted"
    for student in ("ada", "ben"):
        (folder / student / "ps1" / "timestamp.txt").write_text("2026-10-03 12:00:00 UTC")
    with sqlite3.connect(classroom.root / "autograder" / "gradebook.db") as base:
        base.execute("delete from coursekit_written where student = 'cy'")
    classroom.hand_in("dee")
    summary = grade_class(classroom.course, "ps1", options())
    assert summary.done == (
        "1 graded, 1 graded by an interrupted run and now entered, 2 recomputed without a rerun "
        "(times, deadline, late rule or an override changed), 0 unchanged"
    )
    shutil.rmtree(classroom.root / "autograder" / "autograded" / "ada")
    summary = grade_class(classroom.course, "ps1", options())
    assert (summary.graded, summary.rewritten, summary.unchanged) == (0, 1, 3)
