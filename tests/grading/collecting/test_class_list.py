"""The class list: in the words of its platform, nobody twice, and whoever has left is off it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import grade, unpacked

from coursekit._base.errors import CourseError
from coursetools.cli import main
from coursetools.grading.collecting.roster import Person, class_list, read_csv
from coursetools.grading.records.log import read_log
from coursetools.grading.results.class_count import count_class
from coursetools.grading.results.export import read_table
from coursetools.grading.results.term import read_term
from coursetools.grading.results.term_count import count_term

pytestmark = pytest.mark.usefixtures("quick_gradebook")


@pytest.fixture
def told(classroom, capsys, tmp_path, monkeypatch):
    """Return what types `coursekit collect ps1 …` and returns the code and all that is said."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str]:
        code = main(["collect", "ps1", *words, "--root", str(classroom.root)])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def table(name: str, *lines: str) -> str:
    Path(name).write_text("\n".join(lines), encoding="utf-8")
    return name


CLASS = ("id,name,email", "0001207,Ada L,ada@x.de", "0001208,Ben B,ben@x.de", "0042,Cy T,")


@pytest.mark.parametrize(
    "header",
    [
        "Vorname;Nachname;ID-Nummer;E-Mail-Adresse;Gruppe",
        "Vorname;Nachname;Matrikelnummer;E-Mail-Adresse;Gruppe",
        "Prénom;Nom de famille;Numéro d'identification;Adresse de courriel;Groupe",
        "Pre\u0301nom;Nom;Numéro d’identification;Courriel;Groupe",
        "Nombre;Apellido(s);Número de ID;Dirección de correo;Grupo",
    ],
)
def test_the_words_of_other_languages(tmp_path, header):
    path = tmp_path / "list.csv"
    path.write_text(f"{header}\nAda;Lovelace;00017;ada@x.de;red\n", encoding="utf-8")
    assert read_csv(path) == [Person("00017", "Ada", "Lovelace", "ada@x.de", group="red")]


def test_columns_that_are_not_understood_are_named(tmp_path):
    path, notes = tmp_path / "list.csv", []
    path.write_text("Vorname,Nachname,ID-Nummer,Gruppen\nAda,L,17,Tutorium 3\n")
    assert read_csv(path, notes.append) == [Person("17", "Ada", "L")]  # a tutorial is no group
    assert notes == [f"{path}: unused columns: 1 (Gruppen)"]
    path.write_text("Vorname,Kennung\nAda,17\n")
    with pytest.raises(CourseError, match=r"no column called id .*; other columns: 1 \(Kennung\)"):
        read_csv(path)


def test_a_list_that_lost_its_zeros_is_refused_as_a_whole(told, folders):
    told(table("class.csv", *CLASS))
    code, said = told(table("new.csv", "id,name,email", "1207,Ada L,ADA@x.de",
                                        "42,Cy T,", "77,Dee D,dee@x.de"))  # fmt: skip
    assert code == 1 and "1207 (listed as 0001207), 42 (listed as 0042)" in said
    assert "2 (" in said and "Did a spreadsheet drop leading zeros?" in said
    assert [one.id for one in class_list(folders).people] == ["0001207", "0001208", "0042"]
    assert told(table("new.csv", "id,name,lms_id", "0042,Cy T,501"))[0] == 0
    code, said = told(table("new.csv", "id,name,lms_id", "cy,Cy T,501"), "--force")
    assert code == 1 and "cy (listed as 0042)" in said
    # an address that goes from one to another is nobody twice
    lines = ("id,email", "0001207,old@x.de", "77,ada@x.de")
    assert told(table("new.csv", *lines))[0] == 0


def test_who_has_left_is_off_the_list_and_gets_no_0(told, classroom, folders, tmp_path):
    told(table("class.csv", *CLASS))
    right = json.dumps(classroom.answered())
    told(str(unpacked(tmp_path / "in", {"0001207.ipynb": right, "0042.ipynb": right})))
    grade(classroom.course)
    assert [row.student.id for row in read_table(classroom.course, "ps1").rows] == [
        "0001207", "0001208", "0042"]  # fmt: skip
    code, said = told(table("new.csv", CLASS[0], CLASS[1], "99,Dee D,"))
    assert code == 0 and "4 students on the class list" in said
    assert "on the class list, but not in new.csv: 2 (0001208, 0042); if they have left" in said
    assert "coursekit collect ps1 new.csv --force" in said
    code, said = told("new.csv", "--force")
    assert code == 0 and "2 students on the class list" in said
    assert "--force: taken off the class list (their work is kept): 2 (0001208, 0042)" in said
    assert read_log(classroom.course)[-1]["left"] == ["0001208", "0042"]

    def stand() -> None:
        assert [one.id for one in class_list(folders).people] == ["0001207", "99"]
        rows = {row.student.id: row for row in read_table(classroom.course, "ps1").rows}
        assert sorted(rows) == ["0001207", "0042", "99"]  # whoever has worked keeps the points
        assert rows["0042"].student.name == "Cy T" and rows["0042"].score.total == 5
        assert grade(classroom.course).missing == ["99"]
        assert count_class(classroom.course, "ps1").missing == ["99"]

    stand()
    for path in folders.class_folder.glob("gradebook.db*"):
        path.unlink()
    grade(classroom.course)  # puts back who has left, too
    stand()
    told("class.csv")  # and they may come back
    assert [one.id for one in class_list(folders).people] == ["0001207", "0001208", "0042", "99"]


def test_who_has_left_falls_behind_nowhere(told, classroom, tmp_path):
    """What they submitted counts in their term, and nothing that came after."""
    second = classroom.course.source("ps2")
    second.mkdir(parents=True)
    (second / "ps2.ipynb").write_bytes((classroom.source / "ps1.ipynb").read_bytes())
    right = json.dumps(classroom.answered())
    told(table("class.csv", *CLASS))
    told(str(unpacked(tmp_path / "in", {"0001207.ipynb": right, "0042.ipynb": right})))
    told(table("new.csv", *CLASS[:3]), "--force")
    grade(classroom.course)
    words = [str(unpacked(tmp_path / "2", {"0001207.ipynb": right}))]
    assert main(["collect", "ps2", *words, "--root", str(classroom.root)]) == 0
    grade(classroom.course, "ps2")
    totals = {who: own.total for who, own in read_term(classroom.course).sums.items()}
    assert totals == {"0001207": 50, "0001208": 0, "0042": 50}
    count = count_term(classroom.course)
    assert {who: own.total for who, own in count.sums.items()} == totals
    assert [step.state for step in count.ways["0042"]] == ["submitted", "excused"]


def test_who_only_nbgrader_has_named_can_leave(told, folders):
    from nbgrader.api import Gradebook

    table("class.csv", "id,name", "ada,Ada L")
    told("class.csv")
    with Gradebook(folders.database) as book:
        book.add_student("ben", first_name="Ben")
    assert [one.id for one in class_list(folders).people] == ["ada", "ben"]
    told("class.csv", "--force")
    assert [one.id for one in class_list(folders).people] == ["ada"]


def test_only_people_on_the_list_are_counted(told, classroom, tmp_path):
    right = json.dumps(classroom.answered())
    told(str(unpacked(tmp_path / "in", {"anon_a1_7_ps1.ipynb": right})))
    grade(classroom.course)  # enters the anonymous id into the gradebook
    code, said = told(table("class.csv", "id,name,anonymous_id", "ada,Ada L,a1"))
    assert code == 0 and "1 student on the class list" in said
