"""What programs read: JSON by its schema, LTI's scores, and nbgrader's own export command."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from importlib.resources import files

import jsonschema
import pytest

from coursekit._base.errors import CourseError
from coursetools.grading.records.verdict import Status
from coursetools.grading.results.export import export
from coursetools.grading.results.formats import FORMATS

SCHEMA = json.loads(
    files("coursetools.grading.results").joinpath("scores.schema.json").read_text(encoding="utf-8")
)
EXPORTER = "coursetools.grading.results.nbgrader_exporters"


@pytest.fixture
def everybody(classroom):
    """A class with whoever there may be."""
    classroom.late(rate=0.1)
    classroom.hand_in("ada", classroom.partial(), first="Ada", last='=O"N', manual=3, hours_late=1)
    classroom.hand_in("ben", classroom.partial())
    classroom.hand_in("int", classroom.empty("INTERNAL", "ours"))
    classroom.hand_in("bad", classroom.empty("MALFORMED", "no notebook"))
    classroom.student("never")
    with classroom.gradebook() as book:
        book.update_or_create_student("ada", lms_user_id="4711")
    return classroom


def test_the_json_is_what_its_schema_says(everybody) -> None:
    path, _ = export(everybody.course, everybody.name, "json")
    data = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    check = jsonschema.Draft202012Validator(SCHEMA)
    check.validate(data)
    assert [one["student_id"] for one in data["students"]] == ["ada", "bad", "ben", "int", "never"]
    for wrong in ({"score": "6"}, {"status": "GOOD"}, {"submitted": "yesterday"}, {"extra": 1},
                  {"student_id": ""}):  # fmt: skip
        changed = {**data, "students": [{**data["students"][0], **wrong}]}
        assert not check.is_valid(changed), wrong
    for column in data["students"][0]:
        less = {key: value for key, value in data["students"][0].items() if key != column}
        assert not check.is_valid({**data, "students": [less]}), column


def test_the_schema_knows_every_status() -> None:
    known = SCHEMA["$defs"]["student"]["properties"]["status"]["enum"]
    assert set(known) == {"", "open", "excused", "not graded", *Status.__args__}


def test_scores_as_lti_takes_them(everybody) -> None:
    path, _ = export(everybody.course, everybody.name, "ags")
    assert path.name == "powers-ags.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(one["userId"], one.get("scoreGiven"), one["activityProgress"], one["gradingProgress"])
            for one in lines] == [
        ("4711", 5.4, "Submitted", "FullyGraded"),
        ("bad", 0, "Submitted", "FullyGraded"),
        ("ben", 3, "Submitted", "PendingManual"),
        ("int", None, "Submitted", "Failed"),
        ("never", 0, "Initialized", "FullyGraded"),
    ]  # fmt: skip
    for one in lines:
        assert datetime.fromisoformat(one["timestamp"]).utcoffset().total_seconds() == 0
        assert "." in one["timestamp"]  # sub-seconds, for they must grow
        assert ("scoreMaximum" in one) == ("scoreGiven" in one)
    assert lines[0]["submission"]["submittedAt"] == "2026-11-20T13:00:00.000+00:00"
    assert "lost for lateness" in lines[0]["comment"]


def test_canvas_deletes_nobodys_grade(everybody) -> None:
    """An empty cell is a change to Canvas; so whoever has no number has no line."""
    path, table = export(everybody.course, everybody.name, "canvas", title="Powers (1)")
    rows = list(csv.reader(path.open(encoding="utf-8", newline="")))
    assert [row[2] for row in rows[2:]] == ["ada", "bad", "ben", "never"]
    assert all(row[-1] for row in rows[1:])
    assert table.notes == (
        "1 student without a score is not in the file: an empty cell would delete the score in "
        "Canvas",
        "Canvas sets the assignment's points to 9, as in the line Points Possible",
    )


def exported(classroom, tmp_path, monkeypatch, *arguments: str) -> None:
    from nbgrader.apps import ExportApp

    monkeypatch.chdir(tmp_path)
    ExportApp.clear_instance()
    app = ExportApp.instance()
    try:
        app.initialize([f"--db={classroom.folders.database}", *arguments])
        app.start()
    finally:
        ExportApp.clear_instance()


@pytest.mark.parametrize("stock", [True, False])
def test_nbgraders_export_writes_our_tables(everybody, tmp_path, monkeypatch, stock) -> None:
    """In a stock course from the gradebook alone, in ours what `coursekit export` writes."""
    root = tmp_path if stock else everybody.folders.class_folder
    where = f"--CourseDirectory.root={root}"
    arguments = (where, f"--exporter={EXPORTER}.Canvas", "--to=c.csv", "--Canvas.title=P (7)")
    exported(everybody, tmp_path, monkeypatch, *arguments)
    rows = list(csv.reader((tmp_path / "c.csv").open(encoding="utf-8", newline="")))
    assert rows[0][-1] == "P (7)" and rows[1][-1] == "9"
    scores = {row[2]: row[-1] for row in rows[2:]}
    if stock:  # it knows of no verdict, and of no rule for late work that nbgrader has not applied
        assert scores == {"ada": "6", "bad": "0", "ben": "3", "int": "0", "never": "0"}
    else:
        ours, _ = export(everybody.course, everybody.name, "canvas", title="P (7)")
        assert (tmp_path / "c.csv").read_text() == ours.read_text()


def test_nbgraders_export_fills_in_and_chooses(everybody, tmp_path, monkeypatch) -> None:
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(
        "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,"
        "Bewertung kann geändert werden,Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),"
        'Feedback als Kommentar\nTeilnehmer/in501,"Ada =O""N",,Abgegeben,,"9,00",Ja,-,-,\n'
    )
    arguments = (f"--CourseDirectory.root={tmp_path}", f"--exporter={EXPORTER}.Worksheet",
                 "--to=w.csv", f"--Worksheet.into={sheet}", "--student=['ada']")  # fmt: skip
    exported(everybody, tmp_path, monkeypatch, *arguments)
    (row,) = csv.DictReader((tmp_path / "w.csv").open(encoding="utf-8", newline=""))
    assert row["Bewertung"] == "6" and row["Feedback als Kommentar"] == "6 of 9 points."


def test_each_assignment_has_its_file(everybody, tmp_path, monkeypatch) -> None:
    with everybody.gradebook() as book:
        book.add_assignment("cubes")
    where = f"--CourseDirectory.root={tmp_path}"
    exported(everybody, tmp_path, monkeypatch, where, f"--exporter={EXPORTER}.Json", "--to=a.json")
    both = [json.loads((tmp_path / f"a-{name}.json").read_text()) for name in ("cubes", "powers")]
    for one in both:
        jsonschema.Draft202012Validator(SCHEMA).validate(one)
    assert [one["max_score"] for one in both] == [0, 9]
    exported(everybody, tmp_path, monkeypatch, where, f"--exporter={EXPORTER}.Csv")
    assert (tmp_path / "powers.csv").is_file() and (tmp_path / "cubes.csv").is_file()
    with pytest.raises(CourseError, match="there are 2; say which with --assignment"):
        exported(everybody, tmp_path, monkeypatch, where, f"--exporter={EXPORTER}.Canvas",
                 "--Canvas.title=x")  # fmt: skip


def test_every_format_has_an_exporter() -> None:
    import coursetools.grading.results.nbgrader_exporters as module

    found = {one.form for one in vars(module).values() if hasattr(one, "form")}
    assert found == set(FORMATS)
