"""What the writer puts into nbgrader's tables, in SQLite and in Postgres."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import grade

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.grading.collecting.roster import Person, class_list, save
from coursetools.grading.gradebook.database import Database
from coursetools.grading.gradebook.structure import GradedCell, NotebookRows
from coursetools.grading.gradebook.submission_rows import decide, remarks_of
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict import QuestionVerdict, Verdict


def find(program: str) -> str | None:
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    return str(beside[-1]) if beside else shutil.which(program)


@pytest.fixture(scope="module")
def postgres(processes):
    """Yield the address of an empty database in a server of our own.

    It listens in a folder and at no port: one that was free a moment ago may be somebody's now.
    """
    initdb, server = find("initdb"), find("postgres")
    if not (initdb and server):
        pytest.skip("Postgres is not installed (no initdb)")
    pytest.importorskip("psycopg", reason="Python's driver for Postgres (psycopg) is not installed")
    somebody = pwd.getpwnam("nobody") if os.getuid() == 0 else None
    as_user = {"user": somebody.pw_uid, "group": somebody.pw_gid} if somebody else {}
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if somebody:  # the server refuses to run as root
        os.chown(folder, somebody.pw_uid, somebody.pw_gid)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder} | as_user
    process = None
    try:
        data = str(folder / "data")
        made = [initdb, "-D", data, "-U", "grader", "--auth=trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(made, check=True, **quiet)
        options = ["-h", "", "-k", str(folder), "-F"]
        process = subprocess.Popen([server, "-D", data, *options], **quiet)
        address = f"postgresql+psycopg://grader@/postgres?host={folder}"
        processes.wait_for(lambda: answers(address), "the start of Postgres")
        yield address
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # ends at once, whoever is still connected
            process.wait(300)
        shutil.rmtree(folder, ignore_errors=True)


def answers(address: str) -> bool:
    import sqlalchemy

    with contextlib.suppress(sqlalchemy.exc.OperationalError):
        engine = sqlalchemy.create_engine(address, poolclass=sqlalchemy.pool.NullPool)
        engine.connect().close()
        return True
    return False


def rows(folders: Folders) -> list[tuple]:
    from nbgrader import api
    from sqlalchemy import select

    database = Database(folders)
    grade, cell = api.Grade.__table__, api.BaseCell.__table__
    notebook, submitted = api.SubmittedNotebook.__table__, api.SubmittedAssignment.__table__
    query = (
        select(submitted.c.student_id, cell.c.name, grade.c.auto_score, grade.c.needs_manual_grade)
        .join(cell, grade.c.cell_id == cell.c.id)
        .join(notebook, grade.c.notebook_id == notebook.c.id)
        .join(submitted, notebook.c.assignment_id == submitted.c.id)
        .order_by(submitted.c.student_id, cell.c.name)
    )
    with database.engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(query)]
    database.close()
    return found


def a_class(classroom) -> None:
    classroom.hand_in("ada", stamp="2026-10-01 10:00:00 UTC")
    classroom.hand_in("ben", classroom.answered(square="half", cube=None, why="Words."))
    classroom.hand_in("Zoë", b"not a notebook")


def test_postgres_gives_the_same_as_sqlite(classroom, postgres, tmp_path, quick_gradebook):
    a_class(classroom)
    other = tmp_path / "other"
    shutil.copytree(classroom.root, other)
    config = other / "autograder" / "nbgrader_config.py"
    config.write_text(f"c = get_config()\nc.CourseDirectory.db_url = {postgres!r}\n")
    here, there = Folders(classroom.course, "ps1"), Folders(Course(other), "ps1")
    for folders in (here, there):
        database = Database(folders)
        save(database, [Person("ada", "Ada", "L"), Person("missing", "Mis", "Sing")])
        database.close()
        summary = grade(folders.course)
        assert summary.missing == ["missing"] and summary.counts["MISSING"] == 1
        assert grade(folders.course).graded == 0
        assert Person("ada", "Ada", "L") in class_list(folders).people
    assert rows(here) == rows(there) and len(rows(here)) == 9
    assert not (other / "autograder" / "gradebook.db").exists()


def test_nbgraders_own_api_reads_it(classroom, quick_gradebook):
    from nbgrader.api import Gradebook

    a_class(classroom)
    grade(classroom.course)
    folders = Folders(classroom.course, "ps1")
    with Gradebook(folders.database) as book:
        assert book.find_assignment("ps1").max_score == 10
        ada = book.find_submission("ps1", "ada")
        assert (ada.score, ada.needs_manual_grade) == (5, False)
        assert ada.timestamp.isoformat() == "2026-10-01T10:00:00"
        ben = book.find_submission("ps1", "ben")
        assert (ben.score, ben.needs_manual_grade) == (1, True)
        entries = {entry["student"]: entry["score"] for entry in book.submission_dicts("ps1")}
        assert entries == {"ada": 5, "ben": 1, "Zoë": 0}
        assert book.find_submission_notebook("ps1", "ps1", "Zoë").needs_manual_grade


def test_the_instructor_changes_the_notebook(classroom, quick_gradebook):
    """Points and cells follow; a cell that a human has graded does not vanish."""
    import json

    from nbgrader.api import Gradebook

    a_class(classroom)
    grade(classroom.course)
    path = classroom.source / "ps1.ipynb"
    master = json.loads(path.read_text())
    classroom.find(master, "test_square")["metadata"]["nbgrader"]["points"] = 4
    master["cells"] = [cell for cell in master["cells"] if cell["id"] != "why"]
    path.write_text(json.dumps(master))
    folders = Folders(classroom.course, "ps1")
    with Gradebook(folders.database) as book:
        book.find_grade("why", "ps1", "ps1", "ben").manual_score = 3
        book.db.commit()
    with pytest.raises(CourseError, match="why is no longer in the notebook"):
        grade(classroom.course)
    with Gradebook(folders.database) as book:
        book.find_grade("why", "ps1", "ps1", "ben").manual_score = None
        book.db.commit()
    grade(classroom.course)
    with Gradebook(folders.database) as book:
        assert book.find_assignment("ps1").max_score == 7
    assert {row[1] for row in rows(folders)} == {"test_square", "test_cube"}


def test_a_database_that_is_none(classroom, quick_gradebook):
    classroom.hand_in("ada")
    (classroom.root / "autograder" / "gradebook.db").write_bytes(b"nothing of the kind" * 100)
    with pytest.raises(CourseError, match=r"gradebook cannot be used .*not a database"):
        grade(classroom.course)


TEST = GradedCell(id="1", name="test_f", points=2, by_hand=False, answer="f")
WORDS = GradedCell("2", "why", 3, by_hand=True, answer="why", stub="YOUR ANSWER HERE")
ROWS = NotebookRows("n", (TEST, WORDS), {"f": "3", "why": "4"})


def verdict(status="PARTIAL", points=1.0, flags=(), answers=None, **question) -> Verdict:
    further = {
        "cell": "test_f",
        "status": status,
        "reason": "half of it",
        "hint": "<script>\ud800\0",
    }
    one = QuestionVerdict(name="f", points=points, max_points=2, **further | question)
    return Verdict(
        assignment="ps1",
        status=status,
        reason="in all",
        points=points,
        max_points=2,
        questions=[one],
        flags=list(flags),
        answers={"f": "def f", "why": "Words."} if answers is None else answers,
    )


def asked(flags: list[str]) -> Verdict:
    """Return a verdict with flags on its question only."""
    given = verdict()
    return replace(given, questions=[replace(given.questions[0], flags=flags)])


@pytest.mark.parametrize(
    ("cell", "given", "expected"),
    [
        (TEST, verdict(), (1.0, False)),
        (TEST, verdict(flags=["TAMPERED"]), (1.0, True)),
        (TEST, asked(flags=["calls nn.MultiheadAttention"]), (1.0, True)),
        (TEST, verdict("INTERNAL", 0.0), (None, True)),
        (TEST, verdict("MALFORMED", 0.0), (0.0, True)),
        (TEST, verdict("MISSING", 0.0), (0.0, False)),
        (TEST, verdict(cell="another"), (None, True)),
        (WORDS, verdict(), (None, True)),
        (WORDS, verdict(answers={"why": ""}), (0.0, False)),
        (WORDS, verdict(answers={"why": " YOUR ANSWER HERE \n"}), (0.0, False)),
        (WORDS, verdict(answers={}), (0.0, False)),
        (WORDS, verdict("INTERNAL", 0.0, answers={}), (None, True)),
    ],
)
def test_points_of_a_cell(cell, given, expected):
    assert decide(cell, given) == expected


def test_remarks():
    said = remarks_of(ROWS, verdict())
    assert said == {"f": "half of it < script>?", "why": None}
    assert remarks_of(ROWS, verdict("OK", 2.0, answers={}))["why"] == "No response."
    assert remarks_of(ROWS, verdict("OK", 2.0))["f"] is None
    assert set(remarks_of(ROWS, verdict("INTERNAL", 0.0)).values()) == {"in all"}
