"""What `coursekit collect` takes each file for, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import unpacked, zipped

from coursekit._base.errors import CourseError
from coursetools.cli import main, parse
from coursetools.grading.collecting.recognise import Inputs, recognise

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Powers (91)\n"
    "    Points Possible,,,,,9\n"
    '"Lovelace, Ada",4711,00017,ada@uni.edu,A,\n'
    '"Student, Test",9,,abc,A,\n'
)
WORKSHEET = (
    "Identifier,Full name,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    'Participant 501,Ada L,Submitted,,10.00,Yes,"Friday, 20 November 2026, 11:59 AM",-,\n'
    "Participant 502,Ben B,No submission,,10.00,Yes,-,-,\n"
)
BLIND = WORKSHEET.replace("Full name,", "").replace("Ada L,", "").replace("Ben B,", "")
GERMAN = (
    "ID;Vollständiger Name;Status;Bewertung;Bestwertung;Bewertung kann geändert werden;"
    "Zuletzt geändert (Abgabe);Zuletzt geändert (Bewertung);Feedback als Kommentar\n"
    "Teilnehmer/in501;Ada L;Abgegeben;;10,00;Ja;Freitag, 20. November 2026, 11:59;-;\n"
)
FRENCH = (
    "Identifiant,Nom complet,Statut,Note,Note maximale,La note peut être modifiée,"
    "Dernière modification (travail remis),Dernière modification (note),Feedback\n"
    'Participant501,Ada L,Remis,,"10,00",Oui,"vendredi 20 novembre 2026, 11:59",-,\n'
)
SPANISH = (
    "Identificador,Nombre completo,Estado,Calificación,Calificación máxima,"
    "La calificación puede ser cambiada,Última modificación (entrega),"
    "Última modificación (calificación),Comentarios\n"
    'Participante501,Ada L,Enviado,,"10,00",Sí,"viernes, 20 de noviembre de 2026, 11:59",-,\n'
)
TABLES = {
    "class_list": {
        "a class list": ("id,name,email\nada,Ada L,a@x.de\n", "class list (1 student)"),
        "ids alone": ("id\n00124\n00125\n", "class list (2 students)"),
        "long ids in a wide list": (
            "Matrikelnummer;Name;E-Mail;Gruppe;Fach;Semester;Ort\nstudent1;A;a@x;r;M;3;B\n",
            "class list with teams (1 student)",
        ),
        "short ids in a wide list": (
            "id,name,email,subject,term,city,x\ns1,A,a@x,M,3,B,\n",
            "class list (1 student)",
        ),
        "ids like participants": ("id,name\ns1,Ada\ns2,Ben\n", "class list (2 students)"),
        "Canvas": (CANVAS, "class list (1 student)"),
        "Moodle in German": (
            "Vorname;Nachname;ID-Nummer;E-Mail-Adresse;Gruppen\nAda;L;17;a@x.de;Tutorium 3\n",
            "class list (1 student)",
        ),
        "a German university": ("Nachname;Matrikelnummer\nL;17\n", "class list (1 student)"),
        "French": ("Prénom;Nom;Numéro d'identification\nAda;L;17\n", "class list (1 student)"),
        "Spanish": ("Nombre;Apellido(s);Número de ID\nAda;L;17\n", "class list (1 student)"),
        "teams": ("id,name,team\nada,Ada,red\n", "class list with teams (1 student)"),
        "German teams": ("Matrikelnummer;Gruppe\n17;rot\n", "class list with teams (1 student)"),
        "French teams": ("Numéro étudiant,Groupe\n17,r\n", "class list with teams (1 student)"),
        "Spanish teams": ("Matrícula,Grupo\n17,r\n", "class list with teams (1 student)"),
        "UTF-16": ("id\tname\nada\tAda\n", "class list (1 student)"),
    },
    "times": {
        "times": ("id,time\nada,2026-11-20 11:59\n", "times of submission (1 row)"),
        "submitted": ("email,submitted_at\na@x.de,2026-11-20\n", "times of submission (1 row)"),
        "German names": ("Matrikelnummer,time\n17,2026-11-20\n", "times of submission (1 row)"),
        "worksheet": (WORKSHEET, "Moodle's grading worksheet (times of 1 submission)"),
        "blind worksheet": (BLIND, "Moodle's grading worksheet (times of 1 submission)"),
        "German worksheet": (GERMAN, "Moodle's grading worksheet (times of 1 submission)"),
        "French worksheet": (FRENCH, "Moodle's grading worksheet (times of 1 submission)"),
        "Spanish worksheet": (SPANISH, "Moodle's grading worksheet (times of 1 submission)"),
        "unclear German worksheet": (GERMAN.replace(";-;", ";…;"), "Moodle's grading worksheet"),
        "a worksheet's times": (
            "Identifier,Last modified (submission)\nParticipant 501,2026-11-20\n",
            "Moodle's grading worksheet",
        ),
    },
    "marks": {
        "marks": ("code,question,marker,items,points,comment\na,why,m,,3,\n", "marks (1 row)"),
        "no comment": ("question;code;marker;items;points\nwhy;a;m;;3\n", "marks (1 row)"),
    },
    "requests": {
        "commas": ("id,question,text\nada,cube,No, it is right\n", "regrade requests (1 row)"),
        "its own order": ("question;text;id\ncube;No;ada\n", "regrade requests (1 row)"),
    },
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, tables in TABLES.items() for name in tables]
)
def test_a_table_is_known_by_its_columns(tmp_path, kind, name):
    text, words = TABLES[kind][name]
    path = tmp_path / "Grades-marks-times.csv"  # which says nothing
    path.write_text(text, encoding="utf-16" if name == "UTF-16" else "utf-8")
    inputs = recognise([path])
    expected = (path,) if kind == "marks" else path
    assert inputs == Inputs(**{kind: expected}, lines=(f"{path}: {words}",))


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["Ada L_501_assignsubmission_file_/x.ipynb"], "submissions (Moodle)"),
        (["lada_501_9001_x.ipynb", "bob_LATE_5_6_x.ipynb", "notes.txt"], "submissions (Canvas)"),
        (["anon_a1_9001_x.ipynb"], "submissions (Canvas)"),
        (["ada.ipynb", "__MACOSX/a_1_2_x.ipynb"], "submissions"),
        ([], "submissions"),
    ],
)
def test_a_folder_or_zip_is_submissions(tmp_path, form, names, words):
    members = dict.fromkeys(names, "{}")
    (tmp_path / "in").mkdir()
    path = (
        unpacked(tmp_path / "in", members)
        if form == "folder"
        else zipped(tmp_path / "class.csv", members)  # its name says nothing
    )
    inputs = recognise([Path(path)])
    assert (inputs.submissions, inputs.exchange) == (Path(path), False)
    assert inputs.lines == (f"{path}: {words}",) and inputs.has_submissions


def test_the_word_exchange_is_a_file_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exchange = Path("exchange")
    inputs = recognise([exchange])
    assert inputs.exchange and inputs.submissions is None and inputs.has_submissions
    assert inputs.lines == ("exchange: submissions (nbgrader's exchange)",)
    exchange.write_text("id,name\nada,Ada\n")
    inputs = recognise([exchange])
    assert not inputs.exchange and inputs.class_list == exchange
    exchange.unlink()
    exchange.mkdir()
    inputs = recognise([exchange])
    assert not inputs.exchange and inputs.submissions == exchange


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", b"Vorname,Kennung\nAda,17\n", "its columns are Vorname, Kennung; expected a cla"),
        ("x.csv", b"id,question\nada,cube\n", "its columns are id, question; expected a class"),
        ("x.csv", b"code,question,points\na,why,3\n", "its columns are code, question, points;"),
        ("x.csv", b"Kennung;Punkte\ns1;3\ns2;4\n", "its columns are Kennung, Punkte; expected"),
        ("x.csv", b"<!DOCTYPE html>\n<html></html>\n", "its columns are <!DOCTYPE html>; expected"),
        ("x.csv", b"", "x.csv is empty"),
        ("x.csv", b'id,name\nada,"Ada\n', r"x.csv, line 2"),
        ("x.ipynb", b'{"cells": []}', "is a single notebook; put it into a folder"),
        ("x.csv", b"\xd0\xcf\x11\xe0\xa1\xb1", "is a spreadsheet; save it as CSV"),
        ("x.tar.gz", b"\x1f\x8b\x08\x00\x00\x00", "is neither a table nor a zip; expected"),
    ],
)  # fmt: skip
def test_what_is_nothing_of_this_is_refused_with_what_was_found(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CourseError, match=said):
        recognise([path])


def test_a_spreadsheet_is_a_zip_and_not_submissions(tmp_path):
    for members in ({"xl/workbook.xml": ""}, {"mimetype": "", "content.xml": ""}):
        path = zipped(tmp_path / "Grades.xlsx", members)
        with pytest.raises(CourseError, match="is a spreadsheet; save it as CSV"):
            recognise([path])


def test_a_file_that_does_not_exist_is_named_with_the_nearest(tmp_path):
    (tmp_path / "submissions.zip").touch()
    with pytest.raises(CourseError, match=r"there is no file .*submision\.zip; did you mean subm"):
        recognise([tmp_path / "submision.zip"])
    with pytest.raises(CourseError, match=r"there is no file .*nowhere/x\.csv$"):
        recognise([tmp_path / "nowhere" / "x.csv"])


@pytest.mark.parametrize("kind", TABLES)
def test_there_is_one_of_each_kind_but_of_marks_several(tmp_path, kind):
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    for path in (first, second):
        path.write_text(next(iter(TABLES[kind].values()))[0])
    if kind == "marks":
        assert recognise([first, second]).marks == (first, second)
        return
    with pytest.raises(CourseError, match=r"1\.csv and .*2\.csv are both"):
        recognise([first, second])
    with pytest.raises(CourseError, match="were given twice"):
        recognise([first, first])


def test_two_sources_of_submissions_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    zipped(Path("x.zip"), {})
    for both in (["in", "x.zip"], ["in", "exchange"]):
        with pytest.raises(CourseError, match="are both submissions; collect one of them"):
            recognise(map(Path, both))


def test_files_may_come_before_and_after_options():
    for line in ("a.csv b.csv --force", "--force a.csv b.csv", "a.csv --force b.csv"):
        given = parse(["collect", "ps1", *line.split()])
        assert (given.files, given.force) == ([Path("a.csv"), Path("b.csv")], True)


# --- Through the command ---


@pytest.fixture
def typed(classroom, capsys, tmp_path, monkeypatch, quick_gradebook):
    """Return a function that types `coursekit collect ps1 …`; it returns the code, out and err."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, list[str], str]:
        code = main(["collect", "ps1", *words, "--root", str(classroom.root)])
        said = capsys.readouterr()
        return code, said.out.splitlines(), said.err

    return run


def test_the_command_says_first_what_each_file_is_and_takes_all_of_them(typed, tmp_path):
    Path("class.csv").write_text("id,name\nada,Ada L\nben,Ben B\n")
    Path("came.csv").write_text("id,time\nada,2026-11-20T11:59:00+01:00\n")
    zipped(Path("x.zip"), {"ada.ipynb": "1"})
    code, out, _ = typed("came.csv", "x.zip", "class.csv")
    assert code == 0 and out[:3] == [
        "came.csv: times of submission (1 row)",
        "x.zip: submissions",
        "class.csv: class list (2 students)",
    ]
    assert "ps1: 1 new, 0 known already, 0 refused, 0 set aside" in out
    assert "on the class list, but nothing submitted: 1 (ben)" in out
    assert not any("unknown" in line or "--force" in line for line in out)
    assert "--force: there was nothing to override" in typed("x.zip", "--force")[1]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad.csv", "id,time\nada,yesterday\n", "bad.csv, line 2"),
        (
            "bad.csv",
            "code,question,marker,items,points\na,q,m,,3\n",
            "ps1 is not graded yet",
        ),
        ("bad.csv", "what\n1\n", "bad.csv was not recognised"),
        ("nosuch.csv", None, "there is no file nosuch.csv"),
    ],
)
def test_one_bad_file_and_nothing_is_written(typed, folders, name, text, said):
    Path("class.csv").write_text("id,name\nada,Ada L\n")
    zipped(Path("x.zip"), {"ada.ipynb": "1"})
    if text:
        Path(name).write_text(text)
    code, _, err = typed("class.csv", "x.zip", name)
    assert code == 1 and said in err and not folders.class_folder.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no files to collect; expected a class list (id, name, email)"),
        (["--undo", "x.zip"], "--undo takes no files"),
        (["x.zip", "--student", "ada"], "--student needs --undo"),
        (["exchange"], "there is no exchange at"),
    ],
)
def test_words_that_do_not_go_together(typed, words, said):
    zipped(Path("x.zip"), {"ada.ipynb": "1"})
    code, _, err = typed(*words)
    assert code == 1 and said in err
