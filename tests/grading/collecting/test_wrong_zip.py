"""A zip of another assignment is refused, and what was taken by mistake can be taken back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers import grade, submitted, unpacked, zipped

from coursetools.cli import main
from coursetools.grading.collecting import strays
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.origins import from_zip
from coursetools.grading.collecting.roster import Person
from coursetools.grading.collecting.undo import undo
from coursetools.grading.records.attempts import attempts_of
from coursetools.grading.records.ledger import Ledger
from coursetools.grading.records.log import read_log
from coursetools.grading.results.export import read_table

pytestmark = pytest.mark.usefixtures("quick_gradebook")
CLASS = ("id,name", "01,Ada L", "02,Ben B", "03,Cy T")
NAMES = ("Ada L", "Ben B", "Cy T")


def renamed(text: str) -> str:
    """Return a notebook with other grade ids, as another assignment's has."""
    return re.sub('("grade_id": ")', r"\1other-", text)


@pytest.fixture
def ours(classroom) -> str:
    """A right notebook of ps1, in a course that has the assignment ps2 as well."""
    folder = classroom.course.source("ps2")
    folder.mkdir(parents=True)
    source = (classroom.source / "ps1.ipynb").read_text()
    (folder / "ps2.ipynb").write_text(renamed(source))
    return json.dumps(classroom.answered())


@pytest.fixture
def told(classroom, capsys, tmp_path, monkeypatch):
    """Return what types `coursekit collect ps1 …` and returns the code and all that is said."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class.csv").write_text("\n".join(CLASS))

    def run(*words: str) -> tuple[int, str]:
        code = main(["collect", "ps1", *words, "--root", str(classroom.root)])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def moodle(path: str, first: int, *texts: str, day: int = 1) -> str:
    """Write a zip as Moodle does, which numbers people anew for each assignment."""
    members = {
        f"{name}_{first + at}_assignsubmission_file_/x.ipynb": text
        for at, (name, text) in enumerate(zip(NAMES, texts))
    }
    return str(zipped(Path(path), members, (2026, 12, day, 0, 0, 0)))


def test_a_zip_of_another_assignment_is_refused_as_a_whole(told, folders, ours):
    wrong = renamed(ours)
    path = moodle("wrong.zip", 501, wrong, wrong, ours)
    code, said = told("class.csv", path)
    assert (
        code == 1
        and "2 of 3 notebooks belong to ps2, not to ps1; nothing was stored" in said
        and "--force" in said
    )
    assert not folders.class_folder.exists()
    code, said = told("class.csv", path, "--force")
    assert code == 0 and "3 new" in said and "taken anyway: 2 (01: ps2, 02: ps2)" in said
    assert "--force: 2 of 3 notebooks belong to ps2, not to ps1" in said


def test_one_notebook_of_another_assignment_is_taken_and_named(told, ours):
    code, said = told(moodle("a.zip", 501, ours, renamed(ours), ours))
    assert code == 0 and "3 new" in said
    assert "of another assignment, taken anyway: 1 (Ben-B: ps2)" in said
    code, said = told(moodle("b.zip", 501, renamed(ours)))  # alone, too
    assert code == 0 and "1 (Ada-L: ps2)" in said


def test_what_is_no_notebook_says_nothing_about_the_assignment(told, ours):
    """A damaged file, however much of it can be seen, and one whose cells have no names."""
    nameless = renamed(ours).replace("grade_id", "id_of_old")
    cut = renamed(ours)[:-9]
    code, said = told(moodle("a.zip", 501, cut, nameless, "<html>"))
    assert code == 0 and "3 new" in said and "another assignment" not in said


def test_of_a_right_zip_nothing_is_parsed(told, ours, monkeypatch):
    monkeypatch.setattr(strays.parsing, "read", lambda *_: pytest.fail("parsed"))
    assert "3 new" in told(moodle("a.zip", 501, ours, ours, ours))[1]


def test_the_right_zip_after_a_wrong_one(told, classroom, folders, ours):
    """Moodle's numbers, and the packing time of the wrong zip, do not outlive it."""
    told("class.csv")
    zero = json.dumps(classroom.answered(square="0", cube="0"))
    told(moodle("wrong.zip", 501, zero, zero, zero, day=20))
    grade(classroom.course)
    right = moodle("right.zip", 701, ours, ours)
    code, said = told(right)
    assert code == 0 and "0 new" in said and "2 set aside" in said and said.count("701 here") == 1
    right = moodle("right.zip", 701, ours, ours, ours)
    code, said = told(right)
    assert "3 of 3 files have other numbers than these students have in ps1 so far" in said
    assert "zip of another assignment?" in said and "here, but" not in said
    code, said = told("--undo")
    assert code == 0 and "took back the latest submission of 3 (01, 02, 03)" in said
    assert "coursekit grade ps1" in said and submitted_names(folders) == {}
    last = read_log(classroom.course)[-1]
    assert (last["action"], last["student"]) == ("taken back", "03")
    assert "Cy T_503" in last["file"]
    assert len(list(folders.class_folder.glob("forgotten/*/ps1/*/ps1.ipynb"))) == 3
    assert grade(classroom.course).counts == {"MISSING": 3}
    assert totals(classroom) == {"01": 0, "02": 0, "03": 0}
    code, said = told(right)
    assert "3 new" in said and "set aside" in said and "0 set aside" in said
    assert grade(classroom.course).counts == {"OK": 3}
    assert totals(classroom) == {"01": 5, "02": 5, "03": 5}
    assert told("--undo", "x.csv")[0] == 1


def test_the_right_zip_with_a_worksheet_after_a_wrong_one_that_was_packed_later(
    told, folders, ours, tmp_path
):
    """The wrong files would count, with the times of the right ones; it is said, and mended."""
    people = ["id,name,email", *(f"{row},{row[:2]}@x.de" for row in CLASS[1:])]
    (tmp_path / "class.csv").write_text("\n".join(people))
    told("class.csv", moodle("wrong.zip", 501, "w", "w", "w", day=20))
    sheet = ["Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
             "Last modified (submission),Last modified (grade),Feedback comments"]  # fmt: skip
    sheet += [
        f"Participant {701 + at},{name},0{at + 1}@x.de,Submitted,,10.00,Yes,"
        '"Thursday, 1 October 2026, 2:14 PM",-,'
        for at, name in enumerate(NAMES)
    ]
    (tmp_path / "sheet.csv").write_text("\n".join(sheet))
    both = (moodle("right.zip", 701, "r", "r", "r", day=4), "sheet.csv")
    code, said = told(*both)
    assert (
        code == 0
        and "not counted" in said
        and "3 (01, 02, 03); if the earlier collection was a" in said
    )
    assert told("--undo")[0] == told("--undo")[0] == 0 and submitted(folders) == {}
    code, said = told(*both)
    assert code == 0 and "not counted" not in said and "unknown" not in said
    assert submitted(folders) == {"01": "r", "02": "r", "03": "r"}
    assert (folders.submitted("03") / "timestamp.txt").read_text() == "2026-10-01 14:14:00 UTC"


def submitted_names(folders) -> dict[str, str]:
    return {
        one: "x" for one in folders.students() if (folders.submitted(one) / "ps1.ipynb").exists()
    }


def totals(classroom) -> dict[str, float]:
    return {row.student.id: row.score.total for row in read_table(classroom.course, "ps1").rows}


def test_only_some_students_and_only_the_last_time(told, folders, tmp_path):
    for day, text in enumerate(("1", "2"), 1):
        told(str(zipped(tmp_path / f"{day}.zip", {"ada.ipynb": text, "bo.ipynb": text},
                                 (2026, 12, day, 0, 0, 0))))  # fmt: skip
    code, said = told("--undo", "--student", "bo")
    assert code == 0 and "an earlier submission counts again: 1 (bo)" in said
    assert submitted(folders) == {"ada": "2", "bo": "1"}
    assert told("--undo")[0] == 0  # the latest that is there
    assert submitted(folders) == {"ada": "1", "bo": "1"}
    told("--undo", "--student", "ada")
    assert not (folders.class_folder / "attempts" / "ada").exists()
    assert list(folders.students()) == ["bo"] and list(Ledger.read(folders).students) == ["bo"]
    code, said = told("--undo", "--student", "ada")
    assert code == 1 and "nothing was collected for ps1 from 1 (ada)" in said
    told("--undo")
    code, said = told("--undo")
    assert code == 1 and "nothing was collected for ps1" in said
    told("2.zip")
    assert submitted(folders) == {"ada": "2", "bo": "2"}


def test_what_an_instructor_has_put_there_stays(told, folders, tmp_path):
    told(str(unpacked(tmp_path / "in", {"ada.ipynb": "1"})))
    told(str(unpacked(tmp_path / "in", {"ada.ipynb": "2"})))
    (folders.submitted("ada") / "ps1.ipynb").write_text("the instructor's")
    for _ in range(2):
        told("--undo")
        assert submitted(folders) == {"ada": "the instructor's"}
    assert attempts_of(folders, "ada") == []


def test_a_group_loses_what_one_of_them_handed_in(folders, tmp_path, monkeypatch):
    people = [Person("ada", group="red"), Person("bo", group="red")]
    (folders.class_folder).mkdir()
    for day, who in ((1, "ada"), (2, "bo")):
        path = zipped(tmp_path / f"{day}.zip", {f"{who}.ipynb": who}, (2026, 12, day, 0, 0, 0))
        collect(folders, from_zip(path, "ps1"), people)
    assert submitted(folders) == {"ada": "bo", "bo": "bo"}
    assert [one[1]["from"] for one in undo(folders)] == ["bo.ipynb"]
    assert submitted(folders) == {"ada": "ada", "bo": "ada"}


def test_what_canvas_named_anonymously_waits_for_no_name(told, folders, tmp_path):
    told(str(zipped(tmp_path / "a.zip", {"anon_a1_7_ps1.ipynb": "1"})))
    assert Ledger.read(folders).nameless() == ["a1"]
    told("--undo")
    assert Ledger.read(folders).nameless() == []


def test_a_new_attempt_that_does_not_count_is_named(told, folders, tmp_path):
    late = zipped(tmp_path / "late.zip", {"ada.ipynb": "1"}, (2026, 12, 9, 0, 0, 0))
    members = {"ada.ipynb": "2", "bo.ipynb": "2"}
    early = zipped(tmp_path / "early.zip", members, (2026, 12, 1, 0, 0, 0))
    assert "not counted" not in told(str(late))[1]
    said = told(str(early))[1]
    assert "new, but not counted" in said and "has a later time: 1 (ada);" in said
    assert "not counted" not in told(str(early))[1]
    assert len(attempts_of(folders, "ada")) == 2 and submitted(folders)["ada"] == "1"
