"""nbgrader's own commands on our settings and on what we write."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bs4
import pytest
from helpers import FAKE, grade, marks, penalties

from coursetools import cli
from coursetools.assignments.release import release_text
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.questions.leaks import leaks, private_lines

pytestmark = pytest.mark.usefixtures("quick_gradebook")

ROOT = Path(__file__).resolve().parents[3]
HOUR = timedelta(hours=1)
LOCAL = f"""
for name in ("Rebuild", "ExecuteByEngine"):
    c[name].engine = {FAKE["engine"]!r}
    c[name].master = {FAKE["master"]!r}
"""


EVIL = """<script>window.PWNED=1</script><img src=x onerror=PWNED()>
[a](javascript:PWNED()) [b](&#106;avascript:PWNED()) [c](javascript\\:PWNED()) [d]

[d]: JavaScript:PWNED()

<svg onload=PWNED()> <!-- $$<img src=x onerror=PWNED()>$$ \\begin{x}<img onerror=1>\\end{x}
`<b onload=1>` [e](data:text/html,<script>PWNED</script>)
"""


def nbgrader(root: Path, *command: str, code: int = 0) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        [sys.executable, "-m", "nbgrader", *command],
        cwd=root / "autograder",
        env={**os.environ, "PATH": path, "JUPYTER_NO_CONFIG": "1", "HOME": str(root)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == code, run.stderr
    return run.stderr


def cells(root: Path) -> list[tuple]:
    with sqlite3.connect(root / "autograder" / "gradebook.db") as base:
        return [
            *base.execute("select name, cell_type, locked, source, checksum from source_cell"),
            *base.execute("select name, type from base_cell"),
            *base.execute("select max_score, cell_type from grade_cells"),
        ]


def settings(root: Path) -> None:
    config = (ROOT / "autograder" / "nbgrader_config.py").read_text()
    (root / "autograder").mkdir(exist_ok=True)
    (root / "autograder" / "nbgrader_config.py").write_text(config + LOCAL)


def a_class(classroom) -> None:
    settings(classroom.root)
    stamp = "2026-10-01 10:00:00 UTC"
    classroom.hand_in("ada", classroom.answered(why="In words."), stamp)
    classroom.hand_in("ben", classroom.answered(square="half", cube="0"), stamp)
    tampered = classroom.answered(square="0")
    classroom.find(tampered, "test_square")["metadata"]["tags"] = ["skip-execution"]
    tampered["cells"].append(tampered["cells"][4])  # which ends a run of plain nbgrader
    classroom.hand_in("cy", tampered, stamp)


def test_plain_autograde_gives_the_same(classroom, tmp_path):
    a_class(classroom)
    theirs = tmp_path / "theirs"
    shutil.copytree(classroom.root, theirs)
    grade(classroom.course)
    nbgrader(theirs, "generate_assignment", "ps1")
    said = nbgrader(theirs, "autograde", "ps1")
    assert "cy: TAMPERED" in said
    ours = marks(classroom.root, "auto_score")
    assert marks(theirs, "auto_score") == ours
    assert ("cy", "test_square", 0.0) in ours and ("ben", "test_square", 1.0) in ours
    assert sorted(cells(theirs), key=str) == sorted(cells(classroom.root), key=str)


def test_an_exam_is_not_given_away(classroom):
    """nbgrader's own commands, which formgrader's buttons call, refuse it until it is over."""
    a_class(classroom)
    root, path = classroom.root, classroom.private / "assignment.toml"
    over, later = (datetime.now(UTC).replace(microsecond=0) + one for one in (-HOUR, HOUR))

    def sit(end: datetime) -> None:
        start = (over - HOUR).isoformat()
        path.write_text(f"due = {end.isoformat()}\n[exam]\nstart = {start}\n")

    sit(later)
    said = nbgrader(root, "generate_assignment", "ps1", code=1)
    assert "let coursekit assignment release ps1 write it" in said
    assert not [*root.glob("notebooks/assignments/ps1/*.ipynb")]
    sit(over)
    nbgrader(root, "generate_assignment", "ps1")
    assert [*root.glob("notebooks/assignments/ps1/*.ipynb")]
    nbgrader(root, "autograde", "ps1")
    sit(later)
    said = nbgrader(root, "generate_feedback", "ps1", code=1)
    assert "ps1 is an exam until" in said and "no feedback is written before" in said
    assert not [*root.glob("autograder/feedback/*/ps1/*.html")]
    sit(over)
    nbgrader(root, "generate_feedback", "ps1")
    assert len([*root.glob("autograder/feedback/*/ps1/*.html")]) == 3


def test_plain_autograde_knows_the_deadline(classroom, tmp_path):
    """It costs there what it costs with us: by `assignment.toml`, whatever formgrader said."""
    a_class(classroom)
    (classroom.private / "assignment.toml").write_text(
        "due = 2026-09-30T09:00:00+02:00\n[late]\nrate = 0.1\n"
    )
    theirs = tmp_path / "theirs"
    shutil.copytree(classroom.root, theirs)
    grade(classroom.course)
    ours = penalties(classroom.root)
    assert ours == {"ada": 1.0, "ben": 0.2, "cy": 0.6}  # two days begun, of 5, 1 and 3
    nbgrader(theirs, "generate_assignment", "ps1")
    assert "the deadline" not in nbgrader(theirs, "autograde", "ps1")
    assert penalties(theirs) == ours
    with sqlite3.connect(theirs / "autograder" / "gradebook.db") as base:
        due = "2026-09-30 07:00:00.000000"
        assert base.execute("select duedate from assignment").fetchall() == [(due,)]
        base.execute("update assignment set duedate = '2026-12-01 00:00:00.000000'")
    said = nbgrader(theirs, "autograde", "ps1", "--force")
    assert said.count("deadline moved to Wednesday 30 September 2026, 09:00 UTC+02:00") == 1
    assert penalties(theirs) == ours


def test_plain_autograde_knows_extensions_and_late_days(classroom, tmp_path):
    """And has them from the table when the row is made by nbgrader itself."""
    a_class(classroom)
    (classroom.private / "assignment.toml").write_text(
        "due = 2026-09-30T09:00:00+02:00\n[late]\nsteps = [{hours = 26, credit = 0.8}, "
        "{hours = 72, credit = 0.5}]\n"
    )
    (classroom.root / "autograder" / "class.toml").write_text("[late_days]\nbudget = 1\n")
    (classroom.root / "autograder" / "extensions.csv").write_text(
        "id,assignment,extension,why\nada,ps1,30h,\nben,ps1,excused,\n"
    )
    theirs = tmp_path / "theirs"
    shutil.copytree(classroom.root, theirs)
    grade(classroom.course)
    ours = penalties(classroom.root)
    assert {who: lost or 0 for who, lost in ours.items()} == {"ada": 0, "ben": 0, "cy": 0.6}
    nbgrader(theirs, "generate_assignment", "ps1")
    nbgrader(theirs, "autograde", "ps1")
    assert {who: lost or 0 for who, lost in penalties(theirs).items()} == {
        "ada": 0, "ben": 0, "cy": 0.6,
    }  # fmt: skip
    with sqlite3.connect(theirs / "autograder" / "gradebook.db") as base:
        (extension,) = base.execute(
            "select extension from submitted_assignment where student_id = 'ada'"
        ).fetchone()
        assert extension.startswith("1970-01-02 06:00")  # as SQLite keeps 30 hours


def test_feedback_by_nbgrader_on_what_we_wrote(classroom):
    a_class(classroom)
    classroom.hand_in("eve", classroom.answered(why=EVIL))
    grade(classroom.course)
    nbgrader(classroom.root, "generate_feedback", "ps1")
    for student in ("ada", "ben", "cy", "eve"):
        path = classroom.root / f"autograder/feedback/{student}/ps1/ps1.html"
        text = path.read_text()
        assert "hidden-secret-49" not in text and "BEGIN HIDDEN" not in text
        page = bs4.BeautifulSoup(text.partition("<body")[2], "html.parser")
        assert not [tag for tag in page.find_all("script") if "PWNED" in tag.text]
        for tag in page.find_all(True):
            assert "onerror" not in tag.attrs and "onload" not in tag.attrs, tag
            assert not re.match(r"\s*(javascript|data:text|vbscript)", tag.get("href", ""))
        assert "think of powers" in text or student in ("ada", "eve")


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_nothing_private_reaches_a_student_by_nbgraders_own_commands(classroom, copied):
    """Assignment, exchange, grading, feedback: every file on the way is looked at."""
    root, name = classroom.root, "a01_kernels"
    copied(name, root)
    folders = Folders(Course(root), name)
    (folders.private / "assignment.toml").write_text("due = 2026-10-01T12:00:00+02:00\n")
    (folders.source / "curve.csv").write_text("x,y\n0,1\n")  # students are to have it
    config = (ROOT / "autograder" / "nbgrader_config.py").read_text()
    (root / "autograder").mkdir()
    (root / "autograder" / "nbgrader_config.py").write_text(
        f"{config}\nc.Exchange.root = {str(root / 'exchange')!r}\n"
    )

    nbgrader(root, "generate_assignment", name)
    assert files(root / "notebooks/assignments") == {f"{name}/{name}.ipynb", f"{name}/curve.csv"}
    nbgrader(root, "release_assignment", name)
    folder = folders.submitted("ada")
    folder.mkdir(parents=True)
    blank = release_text(Course(root), name)
    wrong = blank.replace("raise NotImplementedError()", "return 0")  # gets hints
    assert wrong != blank
    (folder / f"{name}.ipynb").write_text(wrong)
    (folder / "timestamp.txt").write_text("2026-10-01 10:00:00 UTC")
    (folder / "submission_secret.txt").write_text("as nbgrader submit writes it")
    nbgrader(root, "autograde", name)
    for command in ("generate_feedback", "release_feedback"):
        nbgrader(root, command, name)

    private = set().union(*private_lines(Course(root)))
    for place in ("notebooks", "exchange", "autograder/feedback"):
        assert leaks(Course(root), root / place) == []
        seen = files(root / place)
        assert {path.rpartition(".")[2] for path in seen} <= {"ipynb", "csv", "html", "txt"}, seen
        assert any(path.endswith(".html") for path in seen) or place == "notebooks"
        for path in seen:
            text = bs4.BeautifulSoup((root / place / path).read_text(), "html.parser").get_text()
            assert not [line for line in private if line in text.replace('\\"', '"')], path


def test_what_is_private_beside_a_source_notebook_is_refused(classroom, capsys):
    a_class(classroom)
    words = ["--root", str(classroom.root), "ps1"]
    for name in ("square.py", "square.md", "assignment.toml"):
        (classroom.source / name).write_text("# a case, a mistake, a deadline\n")
        for command in (["assignment", "release"], ["grade"], ["collect"]):
            assert cli.main([*command, *words]) == 1
            said = capsys.readouterr().err
            assert f"solutions/notebooks/ps1/{name} stands beside a source notebook" in said
            assert said.strip().endswith("move it to solutions/ps1/")
        if name != "assignment.toml":
            (classroom.source / name).rename(classroom.root / name)
    for name in ("square.py", "square.md"):
        (classroom.root / name).rename(classroom.source / name)
    nbgrader(classroom.root, "generate_assignment", "ps1")
    assert files(classroom.root / "notebooks/assignments") == {"ps1/ps1.ipynb"}
