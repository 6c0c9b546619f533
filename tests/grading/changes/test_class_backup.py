"""A class is put into one zip, everything is deleted, and it comes back as it was."""

from __future__ import annotations

import shutil
import zipfile

import pytest

from coursetools.course import Course
from coursetools.grading.changes.class_backup import ABOUT, AGAIN
from coursetools.grading.gradebook.database import Database
from coursetools.grading.records.folders import Folders

pytestmark = pytest.mark.usefixtures("quick_gradebook")


def everything(week) -> dict[str, object]:
    return {
        "scores": week.scores(),
        "formgrader": {who: week.formgrader(who) for who in ("ada", "ben", "cy")},
        "history": week.type("why ps1 ben").splitlines()[:6],
        "log": week.type("why").splitlines()[:5],
        "overrides": (week.root / "autograder/overrides.csv").read_text(),
    }


def test_everything_else_is_deleted_and_comes_back(week, tmp_path):
    week.type("grade ps1")
    week.type("return ps1 --to plain --force")
    week.mark("ben", 2.0)
    week.type("override ps1 square 1.5 --student cy --why", "The text was unclear.")
    week.scores()
    week.type("return ps1 --to plain")
    before = everything(week)
    pages = {who: week.page(who) for who in ("ada", "ben", "cy", "mia")}
    kept = tmp_path / "keep" / "class.zip"
    assert f"there is no folder {kept.parent}" in week.type(f"backup {kept}", code=1)
    assert not kept.parent.exists()  # where a stick would be
    kept.parent.mkdir()
    assert "of the class" in week.type(f"backup {kept}")
    with zipfile.ZipFile(kept) as zipped:
        assert not {name.split("/")[0] for name in zipped.namelist()} & AGAIN
    assert "already exists" in week.type(f"backup {kept}", code=1)
    assert "already has a class" in week.type(f"restore {kept}", code=1)

    shutil.rmtree(week.root / "autograder")
    assert "there is no class" in week.type(f"backup {tmp_path / 'none.zip'}", code=1)
    assert "no submissions yet" in week.type("grade ps1")
    assert not (week.root / "autograder/gradebook.db").exists()
    week.type(f"restore {kept}")
    assert everything(week) == before
    said = week.type("grade ps1")
    assert "0 graded" in said and "No student's points differ" in said  # nobody is run again
    assert (week.root / "autograder/autograded/ada/ps1/ps1.ipynb").is_file()
    week.type("return ps1")
    assert {who: week.page(who) for who in pages} == pages
    assert everything(week)["scores"] == before["scores"]


def test_what_is_no_backup_changes_nothing(week, tmp_path):
    shutil.rmtree(week.root / "autograder")
    bad = tmp_path / "bad.zip"
    for content, said in (
        ({"a.txt": "a"}, "is not a backup"),
        ({ABOUT: "{}", "../evil": "a"}, "contains '../evil'"),
        ({ABOUT: "{}", "nbgrader_config.py": "a"}, "contains 'nbgrader_config.py'"),
    ):
        with zipfile.ZipFile(bad, "w") as zipped:
            for name, text in content.items():
                zipped.writestr(name, text)
        assert said in week.type(f"restore {bad}", code=1)
    with zipfile.ZipFile(bad, "w") as zipped:
        zipped.writestr(ABOUT, "{}")
        zipped.writestr("log.jsonl", "a" * 100)
    data = bytearray(bad.read_bytes())
    data[data.index(b"a" * 50) + 20] = 0
    bad.write_bytes(bytes(data))
    assert "is damaged" in week.type(f"restore {bad}", code=1)
    bad.write_bytes(b"no zip")
    assert "is damaged, or not a zip" in week.type(f"restore {bad}", code=1)
    assert "cannot be read" in week.type(f"restore {tmp_path / 'none.zip'}", code=1)
    assert list((week.root / "autograder").iterdir()) == []


def test_what_an_empty_course_has_is_not_in_the_way(week, tmp_path):
    """A command before `restore` leaves a gradebook with nobody in it, the log, and its folders."""
    week.type("grade ps1")
    before, kept = week.scores(), tmp_path / "class.zip"
    week.type(f"backup {kept}")
    shutil.rmtree(week.root / "autograder")
    Database(Folders(Course(week.root), "ps1")).close()
    for place, text in (("log.jsonl", "{}"), ("kept/ps1.jsonl", '{"gradebook": "another"}')):
        (week.root / "autograder" / place).parent.mkdir(exist_ok=True)
        (week.root / "autograder" / place).write_text(f"{text}\n")
    (week.root / "autograder/verdicts").mkdir()
    (week.root / "autograder/verdicts/ps1.lock").touch()
    week.type(f"restore {kept}")
    assert week.scores() == before
    (week.root / "autograder/extensions.csv").write_text("id,assignment,extension,why\n")
    said = week.type(f"restore {kept}", code=1)
    names = said.split("already has a class (")[1].split(")")[0].split(", ")
    assert {"extensions.csv", "gradebook.db", "kept", "submitted", "verdicts"} <= set(names)
    assert "log.jsonl" not in names  # that one may be written over
