"""Two people and one class: what "Several instructors" on the page "Teach a term" says."""

from __future__ import annotations

import csv
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import blocks, page_of_book

from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.marking.answers import in_words
from coursetools.grading.records.folders import Folders

pytestmark = pytest.mark.usefixtures("quick_gradebook")

PAGE = page_of_book("teaching").partition("(sec-several-instructors)=")[2].partition("\n## The ")[0]
GROUP, BACKUP, RESTORE = blocks(PAGE.replace("a02_scaling", "ps1"), "bash")
(REFUSED,) = blocks(PAGE.replace("a02_scaling", "ps1"), "text")
IGNORED = "autograder/*\n!autograder/nbgrader_config.py\n__pycache__/\n"
WHY = {
    "ada": "A product of two equal numbers.",
    "ben": "Minus times minus.",
    "cy": "I do not know.",
}
HOLD = """
import sys
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.lock import one_command
with one_command(Folders(Course(sys.argv[1]), "ps1"), "grade"):
    print("held", flush=True)
    sys.stdin.read()
"""


def git(root: Path, *words: str) -> None:
    known = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *known, *words], check=True, capture_output=True)


class Person:
    """Someone with a name, a copy of the course and a terminal in it."""

    def __init__(self, name: str, root: Path, monkeypatch, capsys) -> None:
        self.name, self.root = name, root
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def type(self, line: str, *more: str, code: int = 0) -> str:
        words = line.removeprefix("coursekit ").split()
        with self.monkeypatch.context() as here:
            here.setenv("LOGNAME", self.name)
            here.chdir(self.root)
            assert main([*words, *more]) == code
        said = self.capsys.readouterr()
        return said.out + said.err

    def totals(self) -> list[dict[str, str]]:
        out = self.root.parent / f"totals-{self.name}.csv"
        self.type("export --all --quiet --output", str(out))
        return list(csv.DictReader(out.open(encoding="utf-8-sig", newline="")))

    def marked(self, folders: Folders, students: dict[str, float]) -> str:
        """Write what the marking page saves for this person; return the file's name."""
        (asked,) = in_words(folders)
        page = (folders.marking / "why.html").read_text()
        assert "Because." in page  # the model answer
        path = self.root.parent / f"ps1-why-{self.name}.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["code", "question", "marker", "items", "points", "comment"])
            for student, points in students.items():
                (code,) = (one.code for one in asked.answers if student in one.students)
                assert code in page and not re.search(rf"\b{student}\b", page)
                writer.writerow([code, "why", self.name, "", points, ""])
        return str(path)


@pytest.fixture
def mia(week, monkeypatch, capsys) -> Person:
    """She grades; the course is in git, and its shared repository has all of it."""
    root = week.root
    (root / ".gitignore").write_text(IGNORED)
    (root / "autograder/nbgrader_config.py").write_text("c = get_config()\n")
    (root / "notebooks/keep.txt").write_text("so that git has the folder\n")
    for student, why in WHY.items():
        week.classroom.hand_in(student, week.classroom.answered(why=why))
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "The course")
    git(root.parent, "clone", "-q", "--bare", str(root), "shared.git")
    git(root, "remote", "add", "origin", str(root.parent / "shared.git"))
    git(root, "fetch", "-q")
    git(root, "branch", "-q", "--set-upstream-to", "origin/main")
    return Person("mia", root, monkeypatch, capsys)


@pytest.fixture
def tom(mia) -> Person:
    """He has a clone."""
    git(mia.root.parent, "clone", "-q", "shared.git", "tom")
    return Person("tom", mia.root.parent / "tom", mia.monkeypatch, mia.capsys)


def test_a_term_of_two_people(mia, tom):
    # Git has questions and deadlines. It has nothing of the class, nor its zone.
    (mia.root / "autograder/class.toml").write_text('time_zone = "Europe/Berlin"\n')
    assert "1 October 2026, 12:00 UTC" in tom.type("settings ps1 --due 2026-10-01T12:00")
    git(tom.root, "add", ".")
    git(tom.root, "commit", "-qm", "A deadline")
    git(tom.root, "push", "-q")
    git(mia.root, "pull", "-q", "--no-rebase", "--no-edit")
    assert "1 October 2026, 14:00 UTC+02:00" in mia.type("settings ps1")
    mia.type("settings ps1 --extend 2d --student ada")
    assert mia.type("grade ps1").count("/5") == 3
    (tom.root / "autograder/log.jsonl").unlink()
    assert [path.name for path in (tom.root / "autograder").iterdir()] == ["nbgrader_config.py"]
    assert "no submissions yet" in tom.type("grade ps1")
    assert "no extensions" in tom.type("settings --all")

    # Marking is split; assistants need the page alone.
    assert "why: 3 answers" in mia.type("mark ps1")
    folders = Folders(Course(mia.root), "ps1")
    assert "1 answer marked" in mia.type("collect ps1", mia.marked(folders, {"ada": 4}))
    tables = [mia.marked(folders, {"ben": 3}), tom.marked(folders, {"ben": 2, "cy": 1})]
    said = mia.type("collect ps1", *tables)
    assert "why, mia and tom: 1 answer" in said and "2 answers marked" in said
    points = {row["student_id"]: row["ps1 (10)"] for row in mia.totals()}
    assert points == {"ada": "9", "ben": "7.5", "cy": "6", "mia": "0"}
    assert re.search("  mia, tom  marked  ps1, .*student ben", mia.type("why ps1"))

    # Handed over in mid-term.
    before = mia.totals()
    for line in BACKUP.splitlines():
        mia.type(line)
    typed = RESTORE.splitlines()
    said = tom.type(typed[0])
    assert "no submission will be graded again" in said and "differ" not in said
    assert "0 graded" in tom.type(typed[1])
    assert tom.totals() == before
    assert "ada, ps1: 2 days more" in tom.type("settings --all")
    assert "already has a class" in tom.type(typed[0], code=1)

    # The log says who typed what, before and after.
    tom.type("override ps1 square 1 --student cy --why", "Unclear.")
    done = [line.split("  ")[1:3] for line in tom.type("why").splitlines()]
    assert ["mia", "grade"] in done and ["tom", "restore"] in done and ["tom", "override"] in done
    assert "by mia" in tom.type("why ps1 ada") and "by tom" in tom.type("why ps1 cy")

    # Two copies diverge, and nothing merges them.
    assert tom.totals() != mia.totals()


def test_a_second_command_is_refused(mia, tom):
    mia.type("collect ps1", str(mia.root / "class.csv"))
    mia.type("grade ps1")
    mia.type("mark ps1")
    table = mia.marked(Folders(Course(mia.root), "ps1"), {"ada": 4})
    tom.root = mia.root  # on the same machine, in the same folder
    before, log = mia.totals(), (mia.root / "autograder/log.jsonl").read_text().splitlines()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(mia.root)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, "LOGNAME": "mia"},
    )  # fmt: skip
    try:
        assert holder.stdout.readline() == b"held\n"
        for line in (
            "grade ps1",
            "override ps1 square 1 --why Unclear.",
            f"collect ps1 {table}",
            f"collect ps1 {mia.root / 'class.csv'}",
            "collect ps1 --undo",
        ):
            assert tom.type(line, code=1).splitlines()[-1] == f"coursekit: error: {REFUSED}".strip()
        assert not (mia.root / "autograder/overrides.csv").exists()
        assert mia.totals() == before
        tom.type("grade ps1 --dry-run")  # changes nothing
        tom.type("settings ps1 --extend excused --student mia")
        other = mia.root / "solutions/notebooks/ps2/ps2.ipynb"
        other.parent.mkdir()
        other.write_bytes((mia.root / "solutions/notebooks/ps1/ps1.ipynb").read_bytes())
        tom.type("grade ps2")  # another assignment
    finally:
        holder.communicate()
    assert "1 answer marked" in tom.type(f"collect ps1 {table}")
    new = (mia.root / "autograder/log.jsonl").read_text().splitlines()[len(log) :]
    assert [re.findall(r'"action": "(\w+)"', line) for line in new if '"tom"' in line][-1] == [
        "collect"
    ]


def test_extensions_of_two_people_are_both_kept(mia, tom):
    """Each reads the table, and writes it back."""
    tom.root = mia.root
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "coursetools.cli", "settings", "ps1", "--extend", "excused"]
    running = [subprocess.Popen([*command, "--student", who], cwd=mia.root, env=env) for who in WHY]
    assert [one.wait() for one in running] == [0, 0, 0]
    assert tom.type("settings --all").count("excused") == 3


@pytest.mark.skipif(os.name != "posix", reason="groups of accounts are Unix's")
def test_a_group_may_write_all_that_one_of_it_has_written(mia, tom):
    for line in GROUP.replace("teachers", str(os.getgid())).splitlines():
        subprocess.run(["sh", "-c", line], cwd=mia.root, check=True)
    before = os.umask(0o002)
    try:
        mia.type("collect ps1", str(mia.root / "class.csv"))
        mia.type("settings ps1 --due 2026-10-01T12:00")
        mia.type("settings ps1 --extend 2d --student ada")
        mia.type("grade ps1")
        mia.type("override ps1 square 1 --student cy --why", "Unclear.")
        for line in ("mark ps1", "review ps1", "return ps1 --to plain --force", "term"):
            mia.type(line)
    finally:
        os.umask(before)
    written = [path for path in mia.root.rglob("*") if ".git" not in path.parts]
    assert any(path.name == "gradebook.db" for path in written)
    closed = [
        path.relative_to(mia.root).as_posix()
        for path in written
        if not path.stat().st_mode & stat.S_IWGRP
        or (path.is_dir() and not path.stat().st_mode & stat.S_ISGID)
    ]
    assert closed == []
    assert not mia.root.stat().st_mode & stat.S_IRWXO  # and nobody else gets in
