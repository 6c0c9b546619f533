"""Anonymous marking in Canvas: taken in, graded, sent back, and exported under names at last."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from helpers import grade

from coursekit._base.errors import CourseError
from coursetools.cli import main
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.origins import from_zip
from coursetools.grading.collecting.roster import Person, read_csv
from coursetools.grading.records.attempts import attempts_of
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.ledger import Ledger, unlisted
from coursetools.grading.records.regrade_requests import open_requests
from coursetools.grading.results.export import export, read_table, remarks
from coursetools.grading.results.feedback import write_feedback
from coursetools.grading.results.term import read_term

NAMES = [
    "anon_aB3xZ_456_ps1.ipynb",
    "anon_aB3xZ_459_ps1-1.ipynb",
    "anon_LATE_9Qw2e_457_my_work_1_2.ipynb",
    "anon_77777_LATE_458_x.ipynb",
]


def delivered(classroom, path: Path, names=NAMES) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for at, name in enumerate(names):
            notebook = classroom.answered()
            notebook["metadata"]["at"] = at
            made.writestr(name, json.dumps(notebook))
    return path


def told(classroom, *arguments: str | Path) -> int:
    return main([*map(str, arguments), "--root", str(classroom.root), "--quiet"])


def listed(path: Path, *, named: bool) -> Path:
    lines = ["id,name,lms_id" + ",anonymous_id" * named]
    for row in ("ada,Ada L,1,aB3xZ", "bob,Bob B,2,9Qw2e", "cy,Cy T,3,77777", "dee,Dee D,4,00aaa"):
        lines.append(row if named else row.rpartition(",")[0])
    path.write_text("\n".join(lines))
    return path


def grade_other(classroom) -> None:
    """Grade an assignment in which dee has submitted under her own name."""
    source = classroom.course.source("ps2")
    source.mkdir()
    (source / "ps2.ipynb").write_text((classroom.source / "ps1.ipynb").read_text())
    folder = Folders(classroom.course, "ps2").submitted("dee")
    folder.mkdir(parents=True)
    (folder / "ps2.ipynb").write_text(json.dumps(classroom.answered()))
    grade(classroom.course, "ps2")


def test_the_anonymous_id_is_whose_it_is(folders, classroom, tmp_path) -> None:
    found = from_zip(delivered(classroom, tmp_path / "c.zip"), "ps1")
    people = [Person("ada", "Ada", "L", lms="1")]
    result = collect(folders, found, people)
    assert list(folders.students()) == ["77777", "9Qw2e", "aB3xZ"] and result.refused == []
    attempts = attempts_of(folders, "aB3xZ")
    assert [about["from"] for _, about in attempts] == NAMES[:2]
    assert attempts_of(folders, "9Qw2e")[0][1]["late"] is True
    assert attempts_of(folders, "77777")[0][1]["late"] is True and attempts[0][1]["late"] is False
    assert result.missing == []  # Ada may be any of them
    assert "without a name: 3 (77777, 9Qw2e, aB3xZ)" in " ".join(result.notes)


def test_an_anonymous_id_is_nobody_on_the_class_list(folders, classroom, tmp_path) -> None:
    found = from_zip(delivered(classroom, tmp_path / "c.zip", NAMES[3:]), "ps1")
    result = collect(folders, found, [Person("77777")])
    assert (
        list(folders.students()) == []
        and "77777, which is also an id on the class list" in result.refused[0].why
    )


def test_from_the_zip_to_the_zip(classroom, folders, tmp_path, quick_gradebook, capsys) -> None:
    roster = listed(tmp_path / "class.csv", named=False)
    given = delivered(classroom, tmp_path / "c.zip")
    assert told(classroom, "collect", "ps1", roster, given) == 0
    grade(classroom.course)
    table = read_table(classroom.course, "ps1")
    assert [row.student.id for row in table.rows] == ["77777", "9Qw2e", "aB3xZ"]
    assert "3 anonymous submissions are not linked" in " ".join(remarks(table))
    grade_other(classroom)
    term = read_term(classroom.course)
    assert [one.name for one in term.tables] == ["ps2"]  # one of the three may be hers: no 0 in ps1
    assert any("3 anonymous submissions are not linked" in note for note in term.notes)
    assert write_feedback(classroom.course, "ps1").pages == 3
    assert told(classroom, "return", "ps1", "--to", "canvas") == 0
    with zipfile.ZipFile(folders.class_folder / "feedback" / "ps1-canvas.zip") as back:
        assert set(back.namelist()) == set(NAMES[1:])
    # the names are shown in Canvas, and go into the class list; nothing is graded again
    assert told(classroom, "collect", "ps1", listed(roster, named=True)) == 0
    path, table = export(classroom.course, "ps1", "canvas", title="P (1)")
    rows = [line.split(",") for line in path.read_text().replace('"', "").splitlines()[2:]]
    assert [(row[0], row[2], row[-1]) for row in rows] == [
        ("L", "1", "5"), ("B", "2", "5"), ("T", "3", "5"), ("D", "4", "0"),
    ]  # fmt: skip
    assert "anonymously" not in " ".join(remarks(table))
    assert list(folders.students()) == ["77777", "9Qw2e", "aB3xZ"]


def test_the_list_may_come_first(classroom, folders, tmp_path, quick_gradebook) -> None:
    roster = listed(tmp_path / "class.csv", named=True)
    assert told(classroom, "collect", "ps1", roster) == 0
    given = delivered(classroom, tmp_path / "c.zip")
    assert told(classroom, "collect", "ps1", given) == 0
    assert Ledger.read(folders).nameless() == []
    left_out = unlisted(folders)
    assert [who for who in ("ada", "bob", "cy", "dee") if left_out(who)] == ["ada", "bob", "cy"]
    other = unlisted(Folders(classroom.course, "ps2"))  # no such person submitted nothing there
    assert other("aB3xZ") and not other("ada")


def test_two_people_have_two_ids(tmp_path) -> None:
    path = tmp_path / "class.csv"
    path.write_text("id,anonymous_id\na,xx\nb,xx\n")
    with pytest.raises(CourseError, match="a and b have the same anonymous id"):
        read_csv(path)


def test_times_of_who_is_named(classroom, folders, tmp_path, quick_gradebook) -> None:
    roster = listed(tmp_path / "class.csv", named=True)
    given = delivered(classroom, tmp_path / "c.zip")
    times = tmp_path / "times.csv"
    times.write_text("id,time\nbob,2026-10-01 10:00 UTC\nnobody,2026-10-01 10:00 UTC\n")
    told(classroom, "collect", "ps1", roster, given, times)
    assert (folders.submitted("9Qw2e") / "timestamp.txt").read_text().startswith("2026-10-01 10:00")
    assert not (folders.submitted("77777") / "timestamp.txt").exists()


def test_an_override_of_a_person_reaches_what_came_under_the_anonymous_id(
    classroom, folders, tmp_path, quick_gradebook, capsys
) -> None:
    roster = listed(tmp_path / "class.csv", named=True)
    given = delivered(classroom, tmp_path / "c.zip")
    assert told(classroom, "collect", "ps1", roster, given) == 0
    grade(classroom.course)
    asked = tmp_path / "asked.csv"
    asked.write_text("id,question,text\nbob,cube,why?\n9Qw2e,cube,and this?\nada,cube,and I?\n")
    assert told(classroom, "collect", "ps1", asked) == 0
    why = ["--why", "by heart", "--student", "bob"]
    assert main(["override", "ps1", "cube", "1", *why, "--root", str(classroom.root)]) == 0
    assert "this changes the points of 1 student" in capsys.readouterr().out
    totals = {row.student.id: row.score.total for row in read_table(classroom.course, "ps1").rows}
    assert (totals["bob"], totals["ada"]) == (3.0, 5.0)
    assert [one.student for one in open_requests(classroom.course, "ps1")] == ["ada"]
    assert "is not in the class" not in capsys.readouterr().err
