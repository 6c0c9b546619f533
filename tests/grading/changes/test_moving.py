"""A class moves to another machine: a clone of the course, and the backup."""

from __future__ import annotations

import csv
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from coursetools.cli import main

pytestmark = pytest.mark.usefixtures("quick_gradebook")

IGNORED = "autograder/*\n!autograder/nbgrader_config.py\n__pycache__/\n"
PENALTIES = (
    "from pathlib import Path\n"
    "c = get_config()\n"
    "c.AssignLatePenalties.plugin_class = 'coursetools.grading.late_plugin.DailyPenalty'\n"
    "c.DailyPenalty.solutions = str(Path(__file__).parents[1] / 'solutions')\n"
)
RULE = "[late]\nrate = 0.2\n"


def git(root: Path, *words: str) -> None:
    known = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *known, *words], check=True, capture_output=True)


class Machine:
    """A copy of the course, and a terminal in it."""

    def __init__(self, root: Path, capsys) -> None:
        self.root, self.capsys = root, capsys

    def type(self, *words: str, code: int = 0) -> str:
        self.capsys.readouterr()
        assert main([*words, "--root", str(self.root)]) == code
        said = self.capsys.readouterr()
        return said.out + said.err

    def table(self, *words: str) -> list[dict[str, str]]:
        out = self.root.parent / "table.csv"
        self.type("export", *words, "--quiet", "--output", str(out))
        return list(csv.DictReader(out.open(encoding="utf-8-sig", newline="")))

    @property
    def settings(self) -> Path:
        return self.root / "solutions/ps1/assignment.toml"

    @property
    def source(self) -> Path:
        return self.root / "solutions/notebooks/ps1/ps1.ipynb"


@pytest.fixture
def first(week, capsys) -> Machine:
    """The course is in git; deadline, late rule and a better test are not committed."""
    root = week.root
    (root / ".gitignore").write_text(IGNORED)
    (root / "autograder/nbgrader_config.py").write_text(PENALTIES)
    (root / "notebooks/keep.txt").write_text("so that git has the folder\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "The course")
    machine = Machine(root, capsys)
    (root / "solutions/ps1").mkdir(exist_ok=True)
    machine.settings.write_text(RULE)
    machine.type("settings", "ps1", "--due", "2026-10-01T12:00")
    (root / "autograder/class.toml").write_text("time_zone = 'Europe/Berlin'\n[term]\ndrop = 0\n")
    week.master("cube(2) == 9", "cube(2) == 8")
    for who, stamp in (("ada", "2026-10-02 12:30:00 UTC"), ("cy", "2026-10-01 09:00:00 UTC")):
        (root / f"autograder/submitted/{who}/ps1/timestamp.txt").write_text(stamp)
    machine.type("settings", "ps1", "--extend", "2d", "--student", "ben")
    machine.type("grade", "ps1")
    machine.type("override", "ps1", "square", "1.5", "--student", "cy", "--why", "Unclear.")
    return machine


@pytest.fixture
def second(first, tmp_path, capsys) -> Machine:
    """Another machine, with what git has."""
    git(tmp_path, "clone", "-q", str(first.root), str(tmp_path / "clone"))
    return Machine(tmp_path / "clone", capsys)


def test_deadlines_rules_and_what_is_uncommitted_come_along(first, second, tmp_path):
    kept = tmp_path / "class.zip"
    said = first.type("backup", str(kept))
    assert "the deadlines and late rules of 1 assignment" in said
    assert "solutions/notebooks/ps1/ps1.ipynb" in said
    table, term = first.table("ps1"), first.table("--all")
    assert next(row for row in table if row["student_id"] == "ada")["late_penalty"] == "2"
    said = second.type("restore", str(kept))
    assert "no submission will be graded again" in said and "differ" not in said
    assert second.settings.read_text() == first.settings.read_text()
    assert second.source.read_text() == first.source.read_text()
    assert "0 graded" in second.type("grade", "ps1")
    assert (second.table("ps1"), second.table("--all")) == (table, term)
    assert "1 October 2026, 14:00 UTC+02:00" in second.type("settings", "ps1")


def test_into_the_same_course_nothing_is_said_to_differ(first, tmp_path):
    kept = tmp_path / "class.zip"
    first.type("backup", str(kept))
    table, term = first.table("ps1"), first.table("--all")
    config = (first.root / "autograder/nbgrader_config.py").read_text()
    shutil.rmtree(first.root / "autograder")
    (first.root / "autograder").mkdir()
    (first.root / "autograder/nbgrader_config.py").write_text(config)
    said = first.type("restore", str(kept)).splitlines()
    assert len(said) == 2 and "no submission will be graded again" in said[1]
    assert "0 graded" in first.type("grade", "ps1")
    assert (first.table("ps1"), first.table("--all")) == (table, term)


def test_a_course_with_other_questions_keeps_them_and_says_so(first, second, tmp_path):
    kept = tmp_path / "class.zip"
    first.type("backup", str(kept))
    ours = second.source.read_text().replace("square(3) == 9", "square(4) == 16")
    second.source.write_text(ours)
    second.settings.parent.mkdir(exist_ok=True)
    second.settings.write_text("due = 2026-12-24T12:00:00Z\n")
    git(second.root, "add", "solutions/notebooks")
    git(second.root, "commit", "-qm", "Another question")
    said = second.type("restore", str(kept))
    assert "the course is at commit " in said
    assert "ps1: 3 submissions will be graded again: its questions or its notebook differ" in said
    assert second.source.read_text() == ours
    aside = second.root / "autograder/from_backup"
    copied = aside / "course/solutions/notebooks/ps1/ps1.ipynb"
    assert copied.read_text() == first.source.read_text()
    # the deadline of the class counts, and the one that was here is not lost
    assert second.settings.read_text() == first.settings.read_text()
    assert "12-24" in (aside / "replaced/solutions/ps1/assignment.toml").read_text()
    shutil.copy(copied, second.source)
    assert "0 graded" in second.type("grade", "ps1")
    assert second.table("ps1") == first.table("ps1")


def test_an_assignment_of_ones_own_that_git_does_not_have_comes_along(first, second, tmp_path):
    own = first.root / "solutions/notebooks/ps2/ps2.ipynb"
    own.parent.mkdir()
    shutil.copy(first.source, own)
    kept = tmp_path / "class.zip"
    first.type("backup", str(kept))
    (second.root / "notebooks/later.txt").write_text("")  # the other course has gone on
    git(second.root, "add", ".")
    git(second.root, "commit", "-qm", "Later")
    second.type("restore", str(kept))
    assert (second.root / "solutions/notebooks/ps2/ps2.ipynb").read_text() == own.read_text()


def test_outside_git_all_of_solutions_is_in_it(week, capsys, tmp_path):
    week.type("grade ps1")
    week.type(f"backup {tmp_path / 'class.zip'}")
    names = set(zipfile.ZipFile(tmp_path / "class.zip").namelist())
    assert ".course/solutions/notebooks/ps1/ps1.ipynb" in names


@pytest.mark.parametrize("name", [".course/README.md", ".course/solutions/../../x", ".course"])
def test_a_zip_writes_nowhere_else(week, tmp_path, name):
    from coursetools.grading.changes.class_backup import ABOUT

    shutil.rmtree(week.root / "autograder")
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as zipped:
        zipped.writestr(ABOUT, "{}")
        zipped.writestr(name, "x")
    assert "is not a backup: it contains" in week.type(f"restore {tmp_path / 'bad.zip'}", code=1)


def test_the_log_names_the_command_that_set_a_deadline(first):
    done = first.type("why", "ps1").partition("what was done:\n")[2]
    lines = [line.split("  ") for line in done.splitlines()]
    assert [line[2] for line in lines] == [
        "collect", "settings", "settings", "grade", "override",
    ]  # fmt: skip
    assert all(line[0].endswith(" UTC+01:00") or line[0].endswith(" UTC+02:00") for line in lines)
    first.type("settings", "ps1", "--due", "2026-10-03T12:00")
    said = first.type("grade", "ps1")
    assert "ps1: deadline moved to Saturday 3 October 2026, 12:00 UTC+02:00" in said
    said = first.type("why", "ps1")
    assert "formgrader" not in said and said.count("  settings  ") == 3
    first.type("export", "ps1")
    history = first.type("why", "ps1", "ada").splitlines()
    assert all(" UTC+0" in line[19:30] for line in history)
