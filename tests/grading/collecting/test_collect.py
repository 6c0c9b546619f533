"""Whatever an LMS gives is collected once, under the right name, and nothing lands elsewhere."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from helpers import grade, submitted, unpacked, zipped

from coursekit._base.errors import CourseError
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.origins import from_exchange, from_folder, from_zip
from coursetools.grading.collecting.roster import Person, read_csv
from coursetools.grading.records.attempts import attempts_of

NOTEBOOK = json.dumps({"cells": [], "nbformat": 4})


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


def test_canvas(folders, tmp_path):
    members = {
        "doejane_123_456_ps1.ipynb": "old",
        "doejane_123_458_ps1-2.ipynb": "newest",
        "doejane_123_457_ps1-1.ipynb": "newer",
        "doejane_123_459_data.csv": "1,2",
        "doejane_124_460_ps1.ipynb": "another Jane",
        "wangwei_LATE_125_461_My Homework.ipynb": "late",
        "smithbob_126_462_answers.py": "import torch",
        "__MACOSX/._doejane_123_456_ps1.ipynb": "x",
    }
    result = collect(folders, from_zip(zipped(tmp_path / "c.zip", members), "ps1"))
    assert submitted(folders) == {
        "doejane": "newest",
        "doejane_124": "another Jane",
        "wangwei": "late",
        "smithbob": "import torch",  # the grader says what is wrong with it
    }
    assert [a[1]["again"] for a in attempts_of(folders, "doejane")] == [456, 457, 458]
    assert attempts_of(folders, "wangwei")[0][1]["late"] is True
    assert result.refused == [] and "two people are called doejane" in result.notes[0]


def test_names_and_numbers_from_the_class_list(folders, tmp_path):
    people = [
        Person("jd1", "Jane", "Doe", lms="123"),
        Person("ww9", "Wei", "Wang", "wei@uni.edu"),
        Person("on2", "Seán", "O'Neill"),
    ]
    members = {
        "doejane_123_456_ps1.ipynb": "jane",
        "oneillseán_5_6_ps1.ipynb": "sean",
    }
    collect(folders, from_zip(zipped(tmp_path / "c.zip", members), "ps1"), people)
    moodle = {"Wang Wei_77_assignsubmission_file_/ps1.ipynb": "wei"}
    collect(folders, from_zip(zipped(tmp_path / "m.zip", moodle), "ps1"), people)
    assert submitted(folders) == {"jd1": "jane", "ww9": "wei", "on2": "sean"}


def test_moodle(folders, tmp_path):
    members = {
        "Zoë O'Hara_871_assignsubmission_file_/ps1.ipynb": "zoe",
        "Zoë O'Hara_871_assignsubmission_file_/notes.txt": "beside it",
        "محمد علي_872_assignsubmission_file_/answers.ipynb": "muhammad",
        "Bob B_873_assignsubmission_onlinetext_/onlinetext.html": "typed",
        "Bob B_874_assignsubmission_file_/ps1.ipynb": "another Bob",
        "Bob B_875_assignsubmission_file_/ps1.ipynb": "a third one",
        "علی\u200cرضا کریمی_876_assignsubmission_file_/ps1.ipynb": "a name with a joiner in it",
    }
    result = collect(folders, from_zip(zipped(tmp_path / "m.zip", members), "ps1"))
    found = submitted(folders)
    assert found["Zoë-O-Hara"] == "zoe" and found["محمد-علي"] == "muhammad"
    assert found["علی-رضا-کریمی"] == "a name with a joiner in it"
    assert found["Bob-B"] == "another Bob" and found["Bob-B_875"] == "a third one"
    assert [refused.why for refused in result.refused] == [
        "is a text typed into Moodle, not a file"
    ]


def test_a_hostile_zip(folders, tmp_path):
    link = zipfile.ZipInfo("eve.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = zipped(
        tmp_path / "h.zip",
        {
            "../../escaped.ipynb": "x",
            "/tmp/absolute.ipynb": "x",
            "C:\\windows.ipynb": "x",
            "a/..\\..\\x.ipynb": "x",
            "new\nline.ipynb": "x",
            "$(reboot).ipynb": "x",
            "inner.zip": "PK",
            "bomb.ipynb": "0" * (3 << 20),
            "\u202egpj.ipynb": "x",
            "..ipynb": "x",
            "good.ipynb": NOTEBOOK,
        },
    )
    with zipfile.ZipFile(path, "a") as made:
        made.writestr(link, "/etc/passwd")
    before = files(tmp_path)
    result = collect(folders, from_zip(path, "ps1"))
    assert submitted(folders) == {"good": NOTEBOOK, "reboot": "x"}  # a name, and no command
    assert len(result.refused) == 10
    new = files(tmp_path) - before
    assert {name.split("/")[2] for name in new} == {"attempts", "submitted", "collected"}
    assert not any("\n" in refused.label for refused in result.refused)
    assert not Path("/tmp/absolute.ipynb").exists()


def test_zips_that_are_none(folders, tmp_path, monkeypatch):
    path = tmp_path / "x.zip"
    path.write_bytes(b"PK nothing")
    with pytest.raises(CourseError, match="not a zip"):
        collect(folders, from_zip(path, "ps1"))
    many = zipped(tmp_path / "many.zip", {f"s{n}.ipynb": "x" for n in range(30)})
    monkeypatch.setattr("coursetools.grading.collecting.origins.MEMBERS", 29)
    with pytest.raises(CourseError, match="has 30 files"):
        collect(folders, from_zip(many, "ps1"))
    monkeypatch.setattr("coursetools.grading.collecting.origins.MEMBERS", 99)
    monkeypatch.setattr("coursetools.grading.collecting.origins.TOTAL", 29)
    with pytest.raises(CourseError, match="unpacks to far more"):
        collect(folders, from_zip(many, "ps1"))


def test_a_damaged_member(folders, tmp_path):
    path = zipped(tmp_path / "d.zip", {"ada.ipynb": "a" * 999, "bob.ipynb": NOTEBOOK})
    data = bytearray(path.read_bytes())
    data[45] ^= 255
    path.write_bytes(bytes(data))
    result = collect(folders, from_zip(path, "ps1"))
    assert submitted(folders) == {"bob": NOTEBOOK} and len(result.refused) == 1


def test_a_damaged_time_is_no_time(folders, tmp_path):
    members = {"ada/timestamp.txt": "2026-10-01 12:00:00 UTC" * 5, "ada/ps1.ipynb": NOTEBOOK}
    path = zipped(tmp_path / "d.zip", members)
    data = bytearray(path.read_bytes())
    data[data.index(b"ada/timestamp.txt") + 20] ^= 255
    path.write_bytes(bytes(data))
    collect(folders, from_zip(path, "ps1"))
    assert submitted(folders) == {"ada": NOTEBOOK}


def test_a_folder(folders, tmp_path):
    inbox = tmp_path / "inbox"
    for name, text in {
        "ada.ipynb": "ada",
        "ben_ps1.ipynb": "ben",
        "cy (1).ipynb": "cy again",
        "cy.ipynb": "cy",
        "dee/anything.ipynb": "dee",
        "eve/ps1.ipynb": "eve",
        "eve/data/ps1.ipynb": "a copy, deeper down",
        "eve/.ipynb_checkpoints/ps1-checkpoint.ipynb": "old",
        "ps1.ipynb": "whose?",
        "roster.csv": "id",
    }.items():
        (inbox / name).parent.mkdir(parents=True, exist_ok=True)
        (inbox / name).write_text(text)
        os.utime(inbox / name, (1_790_000_000, 1_790_000_000))
    (inbox / "fay.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(inbox / "gus.ipynb")
    (inbox / "hal").symlink_to("/etc")
    (inbox / "big.ipynb").write_bytes(b"0" * (21 << 20))
    result = collect(folders, from_folder(inbox, "ps1"))
    found = submitted(folders)
    big = found.pop("big")
    assert len(big) == (20 << 20) + 1  # so much of it that the grader can say what is wrong
    assert found == {"ada": "ada", "ben": "ben", "cy": "cy again", "dee": "dee", "eve": "eve"}
    whys = {refused.label: refused.why for refused in result.refused}
    assert set(whys) == {"ps1.ipynb", "roster.csv", "fay.ipynb", "gus.ipynb", "hal"}
    assert result.notes == [
        "big.ipynb is larger than 20 MB and cannot be graded; the feedback says so"
    ]


def test_nbgraders_own_folder(folders, tmp_path):
    inbox = tmp_path / "inbox"
    for name in ("submitted/eve/ps1/ps1.ipynb", "submitted/eve/ps2/ps2.ipynb",
                 "submitted/dan/ps2/ps2.ipynb", "submitted/fay/ps1/data/ps1.ipynb"):  # fmt: skip
        (inbox / name).parent.mkdir(parents=True, exist_ok=True)
        (inbox / name).write_text(name)
    collect(folders, from_folder(inbox, "ps1"))
    both = {"eve": "submitted/eve/ps1/ps1.ipynb", "fay": "submitted/fay/ps1/data/ps1.ipynb"}
    assert submitted(folders) == both
    other = inbox / "submitted"
    for name in ("eve/ps2", "dan"):
        shutil.rmtree(other / name)  # which would be students' further files
    again = collect(folders, from_folder(other, "ps1"))
    assert submitted(folders) == both and again.known == 2


def test_attempts_are_kept_and_the_last_counts(folders, tmp_path):
    path = tmp_path / "in" / "ada.ipynb"
    path.parent.mkdir()
    for hour, text in ((12, "second"), (10, "first"), (14, "third")):
        path.write_text(text)
        when = datetime(2026, 10, 1, hour, tzinfo=UTC).timestamp()
        os.utime(path, (when, when))
        assert collect(folders, from_folder(path.parent, "ps1")).new == ["ada"]
    assert submitted(folders) == {"ada": "third"}
    state = files(folders.class_folder)
    again = collect(folders, from_folder(path.parent, "ps1"))
    assert again.new == [] and again.known == 1 and files(folders.class_folder) == state
    collect(folders, from_folder(path.parent, "ps1"), attempt="first")
    assert submitted(folders) == {"ada": "first"}
    assert len(attempts_of(folders, "ada")) == 3


def test_the_exchange(folders, tmp_path):
    inbound = tmp_path / "inbound"
    for name, text in {
        "ada+ps1+2026-10-01 10:00:00 UTC": "old",
        "ada+ps1+2026-10-01 12:00:00 UTC+aBc123": "new",
        "b+b+ps1+2026-10-01 12:00:00 UTC": "plus",
        "ada+ps2+2026-10-01 12:00:00 UTC": "another assignment",
        "cy+ps1+yesterday": "no time",
    }.items():
        (inbound / name).mkdir(parents=True)
        (inbound / name / "ps1.ipynb").write_text(text)
    (inbound / "eve+ps1+2026-10-01 12:00:00 UTC").symlink_to(tmp_path)
    result = collect(folders, from_exchange(inbound, "ps1", check_owner=False))
    assert submitted(folders) == {"ada": "new", "b+b": "plus"}
    assert len(result.refused) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_class_list(tmp_path, encoding, delimiter):
    rows = [
        ["Student ID", "Name", "E-Mail"],
        ["ada1", '"Lovelace, Ada"' if delimiter == "," else "Lovelace, Ada", "ada@uni.edu"],
        ["zoe2", "Zoë Ann O'Hara", ""],
        ["", "", ""],
    ]
    path = tmp_path / "list.csv"
    path.write_bytes("\r\n".join(delimiter.join(row) for row in rows).encode(encoding))
    assert read_csv(path) == [
        Person("ada1", "Ada", "Lovelace", "ada@uni.edu"),
        Person("zoe2", "Zoë Ann", "O'Hara", ""),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("name,email\nx,y", "line 1: there is no column called id"),
        ("id,name", "no students below"),
        ("id,name\na,A\nb,B\na,C", "line 4: a appears twice"),
        ("id,name\n../x,A", "line 2: the id '../x'"),
        ("id,name\na/b,A", "line 2: the id 'a/b' contains '/'"),
        ('id,name\na,"A\nb,B', "unexpected end"),
        ("id,name\n,A", "line 2: the id '' is empty"),
        (
            "id,name,email\nada,Lovelace, Ada,a@x.de",
            "line 2 has 4 cells, but the table has 3 columns",
        ),
    ],
)
def test_a_class_list_that_is_not_clear(tmp_path, text, said):
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(CourseError, match=said):
        read_csv(path)


def test_further_commas_are_no_cells_and_excel_names_its_separator(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("sep=;\nid;name;email;;\n\nada;Lovelace, Ada;a@x.de;;;\n")
    assert read_csv(path) == [Person("ada", "Ada", "Lovelace", "a@x.de")]
    path.write_text('"sep=,"\nid,name\nada,Lovelace, Ada\n')
    with pytest.raises(
        CourseError, match=r"line 3 has 3 .*; put quotes around a cell that contains ','"
    ):
        read_csv(path)


def test_a_zip_of_a_zip_is_not_opened(folders, tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as made:
        made.writestr("ada.ipynb", NOTEBOOK)
    path = tmp_path / "z.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("doejane_1_2_ps1.zip", inner.getvalue())
    result = collect(folders, from_zip(path, "ps1"))
    assert submitted(folders) == {} and result.refused[0].why == "is an archive inside the archive"


def test_a_large_notebook_that_packs_well_is_no_bomb(folders, tmp_path):
    """Somebody printed the same line a million times: too large, and told so."""
    text = '{"cells": [' + '"the same line", ' * 1_500_000
    path = zipped(tmp_path / "c.zip", {"ada_1_10_ps1.ipynb": text})
    result = collect(folders, from_zip(path, "ps1"))
    assert result.refused == [] and "larger than 20 MB and cannot be graded" in result.notes[0]
    assert list(folders.students()) == ["ada"]


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_a_file_that_is_too_large_is_told_as_that(
    classroom, folders, tmp_path, quick_gradebook, form
):
    """To its student too, who would read "no notebook" otherwise; a smaller one mends it."""
    from coursetools.grading.results.feedback import write_feedback

    (folders.private / "assignment.toml").write_text("[limits]\nsubmission_bytes = 1048576\n")
    good = json.dumps(classroom.answered())
    large = good + os.urandom(1 << 20).hex()
    if form == "zip":
        members = {"ada_1_10_ps1.ipynb": large, "ben_2_11_ps1.ipynb": good}
        found = from_zip(zipped(tmp_path / "c.zip", members), "ps1")
    else:
        members = {"ada.ipynb": large, "ben.ipynb": good}
        found = from_folder(unpacked(tmp_path / "in", members), "ps1")
    result = collect(folders, found)
    assert result.refused == [] and "larger than 1 MB and cannot be graded" in result.notes[0]
    assert grade(classroom.course).counts == {"OK": 1, "MALFORMED": 1}
    write_feedback(classroom.course, "ps1")
    page = (folders.feedback("ada") / "ps1.html").read_text()
    assert "Your file could not be graded." in page and "the file is larger than 1 MB" in page
    again = zipped(tmp_path / "2.zip", {"ada_1_12_ps1.ipynb": good}, (2027, 1, 1, 0, 0, 0))
    assert collect(folders, from_zip(again, "ps1")).new == ["ada"]
    assert grade(classroom.course).counts == {"OK": 2}


def test_an_empty_class_has_a_hint(classroom, folders, quick_gradebook):
    said = grade(classroom.course).as_table()
    assert "no submissions yet" in said
    assert "coursekit collect ps1 FILE" in said


def test_a_source_in_which_nobody_hands_in_says_so(classroom, tmp_path, capsys):
    from coursetools.cli import main

    empty = zipped(tmp_path / "e.zip", {})
    assert main(["collect", "ps1", "--root", str(classroom.root), str(empty)]) == 0
    assert "no submissions found in" in capsys.readouterr().out


def test_means_and_counts_are_of_students(classroom, folders, quick_gradebook):
    """Two notebooks of one student are one student with both points, not two with half."""
    (folders.source / "ps1.ipynb").rename(folders.source / "one.ipynb")
    (folders.source / "two.ipynb").write_text((folders.source / "one.ipynb").read_text())
    for student, cubes in {"ada": ("x ** 3", "x ** 3"), "ben": ("x ** 3", "0")}.items():
        for name, cube in zip(("one", "two"), cubes):
            path = classroom.hand_in(student, classroom.answered(cube=cube))
            path.rename(path.with_name(f"{name}.ipynb"))
    summary = grade(classroom.course)
    assert summary.counts == {"OK": 1, "PARTIAL": 1} and summary.mean == (10 + 7) / 2
    assert "2 graded" not in summary.as_table() and summary.graded == 4


def test_a_broken_exam_is_refused_before_anything_is_written(folders, tmp_path):
    (folders.private / "assignment.toml").write_text("[exam]\nstart = 2026-12-14T09:00:00+01:00\n")
    archive = zipped(tmp_path / "c.zip", {"doejane_123_456_ps1.ipynb": "hers"})
    with pytest.raises(CourseError):
        collect(folders, from_zip(archive, "ps1"))
    assert not folders.attempts("doejane").exists() and not folders.ledger.exists()
