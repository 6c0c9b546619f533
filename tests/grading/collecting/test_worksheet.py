"""Moodle's worksheet in the language of whoever downloaded it: recognised by what is in it."""

from __future__ import annotations

import csv
import io
import itertools
import json
from datetime import datetime
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.grading.collecting import date_formats, worksheet
from coursetools.grading.collecting.recognise import recognise
from coursetools.grading.collecting.roster import Person
from coursetools.grading.collecting.times import read_times
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.fill_template import Filling, fill_worksheet
from coursetools.grading.results.scores import Score, Student
from coursetools.grading.results.table import Row, ready
from coursetools.settings import csv_tables

# participant, name, address, status, grade, maximum, changeable, submitted, graded, comment
HEADERS = {
    "en": "Identifier|Full name|Email address|Status|Grade|Maximum grade|Grade can be changed|"
    "Last modified (submission)|Last modified (grade)|Feedback comments",
    "de": "ID|Vollständiger Name|E-Mail-Adresse|Status|Bewertung|Bestwertung|"
    "Bewertung kann geändert werden|Zuletzt geändert (Abgabe)|Zuletzt geändert (Bewertung)|"
    "Feedback als Kommentar",
    "fr": "Identifiant|Nom complet|Adresse de courriel|Statut|Note|Note maximale|"
    "La note peut être modifiée|Dernière modification (travail remis)|"
    "Dernière modification (note)|Feedback par commentaires",
    "es": "Identificador|Nombre completo|Dirección de correo|Estado|Calificación|"
    "Calificación máxima|La calificación puede ser cambiada|Última modificación (entrega)|"
    "Última modificación (calificación)|Comentarios de retroalimentación",
    "cs": "Identifikátor|Celé jméno|E-mailová adresa|Stav|Známka|Nejvyšší známka|"
    "Známka může být změněna|Poslední změna (odevzdání)|Poslední změna (hodnocení)|"
    "Komentář k hodnocení",
    "ja": "識別子|フルネーム|メールアドレス|ステータス|評点|最大評点|評点変更可|"
    "最終更新日時 (提出)|最終更新日時 (評点)|フィードバックコメント",
}
WORDS = {  # before the number; of the status; yes and no
    "en": ("Participant ", "Submitted for grading - ", "Yes", "No"),
    "de": ("Teilnehmer/in", "Zur Bewertung abgegeben", "Ja", "Nein"),
    "fr": ("Participant ", "Remis pour évaluation", "Oui", "Non"),
    "es": ("Participante ", "Enviado para calificar", "Sí", "No"),
    "cs": ("Účastník ", "Odevzdáno k hodnocení", "Ano", "Ne"),
    "ja": ("参加者 ", "評定のために提出済み", "Yes", "いいえ"),
}
DATES = {
    "en": ("Thursday, 1 October 2026, 2:14 PM", "Friday, 20 November 2026, 11:59 PM"),
    "de": ("Donnerstag, 1. Oktober 2026, 14:14", "Freitag, 20. November 2026, 23:59"),
    "fr": ("jeudi 1 octobre 2026, 14:14", "vendredi 20 novembre 2026, 23:59"),
    "es": ("jueves, 1 de octubre de 2026, 14:14", "viernes, 20 de noviembre de 2026, 23:59"),
    "cs": ("čtvrtek, 1. říjen 2026, 14.14", "pátek, 20. listopadu 2026, 23.59"),
    "ja": ("2026年 10月 1日(木曜日) 14:14", "2026年 11月 20日(金曜日) 23:59"),
}
LANGUAGES = sorted(HEADERS)
PEOPLE = [("501", "Ada L", "ada@uni.edu"), ("502", "Bo B", "bo@uni.edu"),
          ("503", "Cy T", "cy@uni.edu")]  # fmt: skip


def sheet(
    path: Path,
    language: str,
    *,
    blind: bool = False,
    group: bool = False,
    workflow: bool = False,
    typed: bool = False,
    number: bool = False,
    delimiter: str = ",",
) -> Path:
    """Write a worksheet as Moodle writes it in one of its languages."""
    head = HEADERS[language].split("|")
    before, status, yes, no = WORDS[language]
    first, last = DATES[language]
    comma = "," if language in ("de", "fr", "es", "cs") else "."
    rows = [head]
    for (participant, name, email), time, old, can in zip(
        PEOPLE, (first, last, "-"), ("", f"1{comma}00", f"3{comma}00"), (yes, yes, no)
    ):
        graded = last if old else "-"
        rows.append([f"{before}{participant}", name, email, status, old, f"9{comma}00", can,
                     time, graded, "kept" if can == no else ""])  # fmt: skip
    for at, row in enumerate(rows):
        if typed:
            row.insert(8, ["Text", "<p>2026</p>", "", "-"][at])
        if workflow:
            row.insert(6, ["Ablauf", "Nicht bewertet", "In Arbeit", "Fertig"][at])
        if group:
            row.insert(4, ["Gruppe", "1", "1", "2"][at])
        if number:
            row.insert(3, ["Matrikel", "00017", "00018", "s-19"][at])
        if blind:
            del row[1 : 4 if number else 3]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows(rows)
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_worksheet_is_recognised_in_each_language(tmp_path, language):
    path = sheet(tmp_path / "w.csv", language)
    inputs = recognise([path])
    assert (inputs.times, inputs.class_list) == (path, None)
    assert "Moodle's grading worksheet (times of " in inputs.lines[0]


def fill(tmp_path: Path, path: Path, people: list[Person], handed: dict[str, str]) -> Filling:
    """Fill a worksheet in; `handed` is the student of each number that somebody submitted with."""
    folders = Folders(Course(tmp_path), "powers")
    score = Score(auto=4.5, written=0, penalty=0, points=9, waits=0)
    rows = {
        p.id: Row(Student(p.id, p.first, p.last, p.email), "PARTIAL", score, ()) for p in people
    }
    for number, student in handed.items():
        attempt = folders.attempts(student) / "x"
        attempt.mkdir(parents=True)
        about = {"time": None, "seen": "2026-10-01T00:00:00+00:00", "lms": number}
        (attempt / "attempt.json").write_text(json.dumps(about))
        folders.submitted(student).mkdir(parents=True)
    filling = Filling(folders, rows, path, "Identifier")
    filling.content = fill_worksheet(filling, 9, lambda row: "4.5 of 9 points.", ready)
    return filling


SHAPES = [
    dict(zip(("group", "workflow", "typed", "number"), chosen))
    for chosen in itertools.product((False, True), repeat=4)
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("blind", [False, True])
def test_every_language_and_every_column(tmp_path, language, blind) -> None:
    """Who, when, and nothing but the grade and the comment of who may be graded is changed."""
    people = [Person("a", "Ada", "L", "ada@uni.edu"), Person("b", "Bo", "B", "bo@uni.edu"),
              Person("c", "Cy", "T", "cy@uni.edu")]  # fmt: skip
    for at, shape in enumerate(SHAPES):
        path = sheet(tmp_path / f"{at}.csv", language, blind=blind, **shape)
        times = read_times(path)
        assert [one.number for one in times] == ["501", "502", "503"], shape
        assert [one.time and one.time.replace(tzinfo=None) for one in times] == [
            datetime(2026, 10, 1, 14, 14), datetime(2026, 11, 20, 23, 59), None,
        ], shape  # fmt: skip
        if not blind:
            assert [one.email for one in times] == [email for *_, email in PEOPLE]
            assert [one.name for one in times] == [name for _, name, _ in PEOPLE]
            assert times[0].id == ("00017" if shape["number"] and language != "en" else "")
        handed = {"501": "a", "502": "b", "503": "c"} if blind else {}
        filling = fill(tmp_path / str(at), path, people, handed)
        before = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
        after = list(csv.reader(io.StringIO(filling.content)))
        changed = {
            (line, before[0][column]): new
            for line, (old_row, new_row) in enumerate(zip(before, after, strict=True))
            for column, (old, new) in enumerate(zip(old_row, new_row, strict=True))
            if old != new
        }
        head = HEADERS[language].split("|")
        assert changed == {
            (1, head[4]): "4.5", (1, head[9]): "4.5 of 9 points.",
            (2, head[4]): "4.5", (2, head[9]): "4.5 of 9 points.",
        }, shape  # fmt: skip
        assert any("locked in Moodle" in note for note in filling.notes)


def test_a_semicolon_is_as_good(tmp_path) -> None:
    path = sheet(tmp_path / "x.csv", "de", delimiter=";")
    assert [one.number for one in read_times(path)] == ["501", "502", "503"]


def test_what_is_not_clear_is_refused_with_what_was_found(tmp_path) -> None:
    path = sheet(tmp_path / "x.csv", "de")
    text = path.read_text().replace("-,", "…,")  # no times
    path.write_text(text)
    said = r"one column of numbers.*found 'Bestwertung'; then two columns of times, found none"
    with pytest.raises(CourseError, match=said):
        read_times(path)
    with pytest.raises(CourseError, match=said):
        fill(tmp_path / "1", path, [Person("a")], {})
    other = sheet(tmp_path / "y.csv", "cs", typed=True)
    lines = other.read_text().replace("<p>2026</p>", "-").replace('3.59",,', '3.59",-,')
    other.write_text(lines)  # nobody has typed anything, and it says so as times do
    assert worksheet.find(csv_tables.read(other, "")) is None


def test_other_tables_are_none(tmp_path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,time\ns1,2026-10-01 10:00\ns2,2026-10-01 10:00\n")
    assert [one.id for one in read_times(path)] == ["s1", "s2"]
    assert worksheet.find(csv_tables.read(path, "")) is None


def test_without_a_name_there_is_no_name(tmp_path) -> None:
    """Under blind marking the second column is the status, whatever stands behind it."""
    for group in (False, True):
        path = sheet(tmp_path / f"{group}.csv", "fr", blind=True, group=group)
        found = worksheet.find(csv_tables.read(path, ""))
        assert found.name is None and found.email is None and found.id is None


NOON = datetime(2026, 11, 20, 11, 59)


@pytest.mark.parametrize(
    "text",
    [
        "petak, 20. studenoga 2026., 11:59",
        "piątek, 20 listopada 2026, 11:59",
        "2026年11月20日 星期五 11:59",
        "2026년 11월 20일(금요일), 오전 11:59",
        "الجمعة، ٢٠ نوفمبر ٢٠٢٦، ١١:٥٩",
        "Παρασκευή, 20 Νοέμβριος 2026, 11:59 πμ",
        "perjantaina 20. marraskuuta 2026 klo 11.59",
        "sexta-feira, 20 de novembro de 2026 às 11:59",
        "п'ятниця, 20 листопада 2026, 11:59",
        "пятница, 20 ноября 2026, 11:59",
        "2026. november 20., péntek, 11:59",
        "Thứ Sáu, 20 tháng 11, 2026, 11:59",
        "fredag den 20. november 2026 kl. 11:59",
        "20 Kasım 2026, Cuma, 11:59",
        "viernes, 20 de noviembre de 2026, 11:59 AM",
    ],
)
def test_dates_in_the_words_of_any_language(text) -> None:
    assert date_formats.times_in([("x", text)]) == [NOON]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            ["20 listopad 2026, 11:59"],
            "2026-10-20 11:59 or 2026-11-20 11:59, depending on the language",
        ),
        (["Samstag, 20. November 2026, 11:59"], "is not a time"),  # it was a Friday
        (["Freitag, 20. November 2569, 11:59"], "is not a time"),
        (["Freitag, 20. November 2026"], "is not a time"),
        (["Freitag, 31. November 2026, 11:59"], "is not a time"),
        (["Freitag, 20. November 2026, 11:59 nachts"], "is not a time"),
        (["Freitag, 20. Mai November 2026, 11:59"], "is not a time"),
        (["Freitag, 20. November 2026, 11:59", "jeudi 1 octobre 2026, 14:14"], "is not a time"),
    ],
)
def test_dates_that_are_not_clear_are_refused(texts, said) -> None:
    with pytest.raises(CourseError, match=f"x: .*{said}"):
        date_formats.times_in([("x", text) for text in texts])


def test_a_column_is_read_in_one_language() -> None:
    """Alone `listopad` is two months; beside a day of the week that is Czech, it is one."""
    texts = ["20 listopad 2026, 11:59", "čtvrtek, 1. října 2026, 14:14"]
    assert date_formats.times_in([("x", text) for text in texts]) == [
        NOON, datetime(2026, 10, 1, 14, 14),
    ]  # fmt: skip


def test_a_number_goes_before_a_name(tmp_path) -> None:
    """A number that somebody submitted under counts, whoever the name says it is."""
    people = [Person("a", "Ada", "L"), Person("b", "Bo", "B"), Person("c", "Cy", "T")]
    path = sheet(tmp_path / "x.csv", "de")
    filling = fill(tmp_path / "1", path, people, {"501": "b"})
    assert filling.filled["b"] == 2 and "a" not in filling.filled
