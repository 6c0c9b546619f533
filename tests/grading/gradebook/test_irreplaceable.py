"""A gradebook that is lost is said to be lost, and what a human entered is put back."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

import pytest
from helpers import Notes, grade, marks, penalties

from coursekit._base.errors import CourseError
from coursetools.cli import main
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.export import export
from coursetools.grading.results.report import write_report

pytestmark = pytest.mark.usefixtures("quick_gradebook")

ROSTER = "id,first_name,last_name,email\nada,Ada,Lovelace,ada@x.org\nben,,,\nmia,Mia,Missing,\n"


def graded(classroom) -> list[str]:
    notes = Notes()
    grade(classroom.course, notes=notes)
    return [note for note in notes.notes if "gradebook" in note or "could not be restored" in note]


def lose(classroom) -> None:
    for path in (classroom.root / "autograder").glob("gradebook.db*"):
        path.unlink()


def entered(classroom) -> dict[str, object]:
    """Return what a human entered, as the gradebook has it."""
    root = classroom.root
    with sqlite3.connect(root / "autograder" / "gradebook.db") as base:
        found = {
            "people": "select * from student order by id",
            "list": "select * from coursekit_listed order by 1",
            "due": "select duedate from assignment",
            "times": "select student_id, extension from submitted_assignment order by 1",
        }
        found = {name: base.execute(query).fetchall() for name, query in found.items()}
    return found | {
        "lost": penalties(root),
        "marks": marks(root, "auto_score, manual_score, extra_credit, needs_manual_grade"),
        "comments": marks(root, "manual_comment", "comment"),
    }


@pytest.fixture
def marked(classroom, tmp_path):
    """A class that is graded, with points, comments, an extension and a deadline by hand."""
    from nbgrader.api import Gradebook

    (tmp_path / "class.csv").write_text(ROSTER)
    words = ["collect", "ps1", "--root", str(classroom.root)]
    assert main([*words, str(tmp_path / "class.csv")]) == 0
    for student in ("ada", "ben", "cy"):
        notebook = classroom.answered(why="In words.")
        classroom.hand_in(student, notebook, "2026-10-02 10:00:00 UTC")
    config = "c = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"
    (classroom.root / "autograder" / "nbgrader_config.py").write_text(config)
    assert graded(classroom) == []  # the first time nothing is lost
    with Gradebook(Folders(classroom.course, "ps1").database) as book:
        book.find_assignment("ps1").duedate = datetime(2026, 10, 1)
        book.find_submission("ps1", "ada").extension = timedelta(days=3)
        for student, points in (("ada", 4.0), ("cy", 2.5)):
            mark = book.find_grade("why", "ps1", "ps1", student)
            mark.manual_score, mark.needs_manual_grade = points, False
        book.find_grade("test_cube", "ps1", "ps1", "ben").extra_credit = 0.5
        book.find_comment("why", "ps1", "ps1", "ada").manual_comment = "Schön — “kurz”."
        book.db.commit()
    assert graded(classroom) == []
    return classroom


def test_all_that_was_entered_is_put_back_and_said(marked):
    before = entered(marked)
    table = export(marked.course, "ps1")[0].read_text()
    assert before["lost"] == {"ada": None, "ben": 5.5, "cy": 7.5}  # ada had more time
    lose(marked)
    for read in (export, write_report):
        with pytest.raises(CourseError, match=r"1 with comments.*Run coursekit grade ps1 first"):
            read(marked.course, "ps1")
    (said,) = graded(marked)
    assert "the gradebook is new or missing" in said and "autograder/kept/ps1.jsonl" in said
    assert "(4 of the class, 3 with points by hand, 1 with comments, 1 with extensions)" in said
    assert entered(marked) == before
    assert export(marked.course, "ps1")[0].read_text() == table and "Lovelace" in table
    assert graded(marked) == []


def test_what_was_entered_since_the_last_grading_is_kept_by_whatever_reads_it(marked):
    from nbgrader.api import Gradebook

    with Gradebook(Folders(marked.course, "ps1").database) as book:
        book.find_grade("why", "ps1", "ps1", "ada").manual_score = None  # taken away again
        book.find_grade("why", "ps1", "ps1", "ben").manual_score = 1.0
        book.db.commit()
    write_report(marked.course, "ps1")
    kept = Folders(marked.course, "ps1").kept
    with kept.open("a") as file:
        file.write('{"of": ["mark", "ada", "ps1", "w')  # a power cut
    lose(marked)
    assert len(graded(marked)) == 1
    marks = {row[0]: row[3] for row in entered(marked)["marks"] if row[1] == "why"}
    assert marks == {"ada": None, "ben": 1.0, "cy": 2.5}
    lose(marked)
    assert len(graded(marked)) == 1  # what was added behind the cut is read
    assert {row[0]: row[3] for row in entered(marked)["marks"] if row[1] == "why"} == marks


def test_somebody_elses_new_gradebook_is_known_as_new(marked, empty_gradebook):
    """formgrader makes an empty one when it is started, and shows a class that is not there."""
    before = entered(marked)
    lose(marked)
    (marked.root / "autograder" / "gradebook.db").write_bytes(empty_gradebook.read_bytes())
    with pytest.raises(CourseError, match="Run coursekit grade ps1 first"):
        export(marked.course, "ps1")
    marked.hand_in("cy", marked.answered(why="Other words."), "2026-10-02 10:00:00 UTC")
    assert len(graded(marked)) == 1
    after = entered(marked)
    assert after["people"] == before["people"] and after["comments"] == before["comments"]
    waits = {row[0]: row[5] for row in after["marks"] if row[1] == "why"}
    assert waits == {"ada": 0, "ben": 1, "cy": 1}  # cy's answer is another now


def test_what_has_no_place_any_more_is_said(marked):
    import json

    lose(marked)
    path = marked.source / "ps1.ipynb"
    master = json.loads(path.read_text())
    master["cells"] = [cell for cell in master["cells"] if cell["id"] != "why"]
    path.write_text(json.dumps(master))
    said = graded(marked)
    assert len(said) == 4 and "ada: the mark for why could not be restored" in said[1]
    assert "Schön" in said[3]


def test_without_a_kept_file_the_loss_is_said(marked):
    lose(marked)
    Folders(marked.course, "ps1").kept.unlink()
    (said,) = graded(marked)
    assert "although ps1 was graded before" in said and "comments by hand are lost" in said
    assert graded(marked) == []


def test_the_class_list_survives_before_anything_is_graded(classroom, tmp_path, capsys):
    (tmp_path / "class.csv").write_text(ROSTER)
    words = ["collect", "ps1", "--root", str(classroom.root)]
    assert main([*words, str(tmp_path / "class.csv")]) == 0
    lose(classroom)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "nobody.ipynb").write_text("{}")
    assert main([*words, str(tmp_path / "in")]) == 0
    said = capsys.readouterr().err
    assert said.count("the gradebook is new or missing") == 1
    assert "nobody is not on the class list" in said
