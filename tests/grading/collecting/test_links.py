"""Back to names: Canvas's anonymous zip is graded, and the zip with names says whose it was."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest
from helpers import grade, zipped

from coursetools.cli import main
from coursetools.grading.collecting.layouts import canvas_name
from coursetools.grading.collecting.origins import from_zip
from coursetools.grading.records.attempts import attempts_of
from coursetools.grading.records.ledger import Ledger
from coursetools.grading.results.class_count import count_class
from coursetools.grading.results.export import read_table
from coursetools.grading.results.term import read_term

# Late work has LATE in front, as today's Canvas writes it, with a name and without one.
HIDDEN = ["anon_aB3xZ_9001_homework.ipynb", "LATE_anon_Q9w2e_9002_my_work_1_2.ipynb",
          "anon_77777_9003_ps1.ipynb"]  # fmt: skip
NAMED = ["lovelaceada_501_9001_homework.ipynb", "bobo_LATE_502_9002_my_work_1_2.ipynb",
         "tcy_503_9003_ps1.ipynb"]  # fmt: skip
PEOPLE = {"ada": ("Lovelace, Ada", "501"), "bob": ("Bo, Bob", "502"), "cy": ("T, Cy", "503")}
POINTS = [("ada", "5"), ("bob", "2"), ("cy", "5")]


class Desk:
    """A class of three in Canvas, and the commands that are typed."""

    def __init__(self, classroom, folder: Path, capsys) -> None:
        self.classroom, self.course, self.folder = classroom, classroom.course, folder
        self.capsys = capsys
        self.books = [json.dumps(self.book(at)) for at in range(3)]

    def book(self, at: int, **answers: str) -> dict:
        notebook = self.classroom.answered(**answers or ({"cube": "0"} if at == 1 else {}))
        notebook["metadata"]["at"] = at
        return notebook

    def zip(self, name: str, names: list[str], books: list[str] | None = None, day: int = 1) -> str:
        path = self.folder / name
        zipped(path, dict(zip(names, books or self.books)), (2026, 12, day, 12, 0, 0))
        return str(path)

    def gradebook(self, cell: str = "") -> str:
        path = self.folder / "gradebook.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "P (77)"])
            table.writerow(["    Points Possible", "", "", "", "", "10"])
            for who, (name, number) in PEOPLE.items():
                table.writerow([name, number, who, who, "Monday", cell])
        return str(path)

    def type(self, *words: str, code: int = 0) -> str:
        self.capsys.readouterr()
        assert main([*words, "--root", str(self.course)]) == code
        return "".join(self.capsys.readouterr())

    def filled(self, cell: str = "") -> tuple[list[tuple[str, str]], str]:
        words = (self.gradebook(cell), "--to", "canvas", "--title", "P")
        said = self.type("return", "ps1", *words)
        path = self.course / "autograder" / "export" / "ps1-canvas.csv"
        rows = list(csv.reader(path.open(encoding="utf-8-sig", newline="")))
        return [(row[2], row[-1]) for row in rows[2:]], said

    def returned(self) -> list[str]:
        self.type("return", "ps1", "--to", "canvas")
        path = self.course / "autograder" / "feedback" / "ps1-canvas.zip"
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()


@pytest.fixture
def desk(classroom, tmp_path, quick_gradebook, capsys) -> Desk:
    (tmp_path / "desk").mkdir()
    return Desk(classroom, tmp_path / "desk", capsys)


def graded_anonymously(desk: Desk, listed: bool = True) -> None:
    roster = (desk.gradebook(),) if listed else ()
    desk.type("collect", "ps1", *roster, desk.zip("anonymous.zip", HIDDEN))
    grade(desk.course)


@pytest.mark.parametrize("listed", [True, False])
def test_the_walk_from_the_anonymous_zip_to_the_gradebook(desk, folders, listed) -> None:
    graded_anonymously(desk, listed)
    assert sorted(folders.students()) == ["77777", "Q9w2e", "aB3xZ"]
    assert set(desk.returned()) == set(HIDDEN)
    rows, said = desk.filled("N/A")
    assert [value for _, value in rows] == ["N/A"] * 3
    assert "3 lines unchanged: these students' anonymous submissions are not linked" in said
    assert "not on the class list" not in said and "without a line" not in said
    assert "export the gradebook again" in said  # Canvas takes no scores as long as it says N/A
    roster = (desk.gradebook(),) if not listed else ()
    said = desk.type("collect", "ps1", *roster, desk.zip("named.zip", NAMED, day=9))
    assert "ps1: 0 new, 3 known already" in said and "aB3xZ is ada" in said
    assert grade(desk.course).graded == 0  # nobody's work is run again
    rows, said = desk.filled()
    assert rows == POINTS and "unchanged" not in said and "N/A" not in said
    assert [row.student.id for row in read_table(desk.course, "ps1").rows] == ["ada", "bob", "cy"]
    assert [student.id for student in read_term(desk.course).students] == ["ada", "bob", "cy"]
    assert count_class(desk.course, "ps1").students == 3
    assert set(desk.returned()) == set(NAMED)  # what Canvas calls the files now
    assert "submitted" in desk.type("why", "ps1", "bob")


def test_unlinked_submissions_do_not_enter_the_term(desk, classroom) -> None:
    source = desk.course.source("ps2")
    source.mkdir()
    (source / "ps2.ipynb").write_text((desk.course.source("ps1") / "ps1.ipynb").read_text())
    graded_anonymously(desk)
    said = desk.type("export", "--all", code=1)
    assert "3 anonymous submissions are not linked" in said
    desk.type("collect", "ps2", desk.zip("ps2.zip", NAMED))
    grade(desk.course, "ps2")
    term = read_term(desk.course)
    assert [table.name for table in term.tables] == ["ps2"]
    assert {student.id: term.sums[student.id].total for student in term.students} == {
        "ada": 50.0, "bob": 20.0, "cy": 50.0,
    }  # fmt: skip
    assert "ps1: 3 anonymous submissions are not linked" in " ".join(term.notes)
    desk.type("collect", "ps1", desk.zip("named.zip", NAMED))
    assert len(read_term(desk.course).tables) == 2


def test_some_are_linked_and_the_rest_wait(desk, folders) -> None:
    graded_anonymously(desk)
    said = desk.type("collect", "ps1", desk.zip("named.zip", NAMED[:2]))
    assert "77777" in said and Ledger.read(folders).nameless() == ["77777"]
    rows, said = desk.filled()
    assert rows == [("ada", "5"), ("bob", "2"), ("cy", "")]
    assert "1 line unchanged: this student's anonymous submission is not linked" in said


def test_a_later_file_of_a_linked_student_joins_the_others(desk, folders) -> None:
    graded_anonymously(desk)
    newer = [json.dumps(desk.book(7)), *desk.books]
    names = ["bobo_502_9009_my_work.ipynb", *NAMED]
    said = desk.type("collect", "ps1", desk.zip("named.zip", names, newer, day=9))
    assert "1 new, 3 known already" in said
    assert sorted(folders.students()) == ["77777", "Q9w2e", "aB3xZ"]
    assert len(attempts_of(folders, "Q9w2e")) == 2
    grade(desk.course)
    assert desk.filled()[0] == [("ada", "5"), ("bob", "5"), ("cy", "5")]


def test_the_zip_with_names_may_come_first(desk, folders) -> None:
    desk.type("collect", "ps1", desk.gradebook(), desk.zip("n.zip", NAMED))
    said = desk.type("collect", "ps1", desk.zip("a.zip", HIDDEN, day=9))
    assert "0 new, 3 known already" in said
    assert sorted(folders.students()) == ["ada", "bob", "cy"] and not Ledger.read(folders).anonymous


def test_files_that_contradict_each_other_are_refused(desk, folders) -> None:
    graded_anonymously(desk)
    desk.type("collect", "ps1", desk.zip("named.zip", NAMED[:1]))
    other = [json.dumps(desk.book(8)), *desk.books[1:]]
    for names, books in (
        (["lovelaceada_501_9001_homework.ipynb"], other),  # the same file with other content
        (["tcy_503_9001_homework.ipynb"], None),  # and another person's
        (["lovelaceada_501_9003_ps1.ipynb"], desk.books[2:]),  # two ids for one person
    ):
        said = desk.type("collect", "ps1", desk.zip("x.zip", names, books, day=9))
        assert "1 refused" in said
        assert Ledger.read(folders).anonymous["aB3xZ"] == "ada"
        assert Ledger.read(folders).anonymous["77777"] == ""


def test_the_same_files_in_a_zip_of_another_day_are_known(desk, folders) -> None:
    names = ["lovelaceada_501_9001_a.ipynb", "lovelaceada_501_9005_a-1.ipynb"]
    given = ("collect", "ps1", desk.gradebook())
    desk.type(*given, desk.zip("1.zip", names))
    first = (folders.submitted("ada") / "ps1.ipynb").read_text()
    assert "0 new, 2 known already" in desk.type(*given, desk.zip("2.zip", names, day=9))
    assert (folders.submitted("ada") / "ps1.ipynb").read_text() == first == desk.books[1]


def test_the_anonymous_zip_may_be_given_again(desk, folders) -> None:
    graded_anonymously(desk, listed=False)
    said = desk.type("collect", "ps1", desk.zip("again.zip", HIDDEN, day=9))
    assert "0 new, 3 known already, 0 refused" in said


@pytest.mark.parametrize("name", ["LATE_anon_aB3_9_x.ipynb", "anon_LATE_aB3_9_x.ipynb",
                                  "anon_aB3_LATE_9_x.ipynb"])  # fmt: skip
def test_late_anonymous_work_is_recognised_wherever_canvas_says_so(tmp_path, name) -> None:
    assert canvas_name(name)["user"] == "aB3"
    names = {name: "{}", "anon_cD4_10_y.ipynb": "{}"}
    late, other = sorted(
        from_zip(zipped(tmp_path / "c.zip", names), "ps1"), key=lambda one: one.who
    )
    assert (late.who, late.late, other.late) == ("aB3", True, False)
