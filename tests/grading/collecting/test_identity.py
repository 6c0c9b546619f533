"""Whose a file is says the platform; no name that a student can choose moves anybody else's row."""

from __future__ import annotations

import os
import unicodedata
import zipfile
from dataclasses import replace

import pytest
from helpers import submitted, unpacked, zipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coursekit._base.errors import CourseError
from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.identify import Names
from coursetools.grading.collecting.layouts import File, Refused, sort_out
from coursetools.grading.collecting.origins import from_exchange, from_folder, from_zip
from coursetools.grading.collecting.roster import ClassList, Person, read_csv
from coursetools.grading.collecting.times import HandIn
from coursetools.grading.records.attempts import attempts_of
from coursetools.grading.records.folders import Folders

VIC = Person("00017", "Vic", "Tim", "vic@uni.edu", "501")
EVE = Person("00777", "Eve", "Il", "eve@uni.edu", "777")
CLAIMS = [
    "00017_1_1_ps1.ipynb",
    "501_1_1_ps1.ipynb",
    "timvic_501_9_ps1.ipynb",
    "Vic Tim_501_assignsubmission_file_/ps1.ipynb",
    "Vic Tim_501_assignsubmission_file_ps1.ipynb",
    "submitted/00017/ps1/ps1.ipynb",
    "00017/ps1/ps1.ipynb",
    "00017/ps1.ipynb",
    "00017.ipynb",
    "ps1/2026-01-01T00-00-00Z/ps1.ipynb",
]


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("form", ["zip", "folder"])
def test_a_name_inside_ones_own_moodle_folder(folders, tmp_path, name, listed, form):
    members = {
        "Vic Tim_501_assignsubmission_file_/ps1.ipynb": "vic's",
        f"Eve Il_777_assignsubmission_file_/{name}": "eve's",
    }
    people = [VIC, EVE] if listed else []
    if form == "zip":
        found = from_zip(zipped(tmp_path / "m.zip", members), "ps1")
    else:
        found = from_folder(unpacked(tmp_path / "m", members), "ps1")
    result = collect(folders, found, people)
    vic, eve = ("00017", "00777") if listed else ("Vic-Tim", "Eve-Il")
    assert submitted(folders) == {vic: "vic's", eve: "eve's"}
    assert len(attempts_of(folders, vic)) == 1
    if "_1_" in name or "assignsubmission" in name:
        assert any("Eve Il_777" in n and eve in n for n in result.notes), result.notes


@pytest.mark.parametrize("name", [name.replace("/", "_") for name in CLAIMS])
@pytest.mark.parametrize("listed", [True, False])
def test_a_name_inside_ones_own_canvas_upload(folders, tmp_path, name, listed):
    members = {
        "timvic_501_9001_ps1.ipynb": "vic's",
        f"ileve_777_9002_{name}": "eve's",
    }
    people = [VIC, EVE] if listed else []
    found = from_zip(zipped(tmp_path / "c.zip", members), "ps1")
    collect(folders, found, people)
    vic, eve = ("00017", "00777") if listed else ("timvic", "ileve")
    found = submitted(folders)
    assert found.pop(vic) == "vic's" and set(found.values()) <= {"eve's"} and set(found) <= {eve}
    assert len(attempts_of(folders, vic)) == 1


@pytest.mark.parametrize("name", CLAIMS)
def test_a_name_inside_a_plain_folder(folders, tmp_path, name):
    members = {"00017/ps1.ipynb": "vic's", f"00777/{name}": "eve's"}
    collect(folders, from_folder(unpacked(tmp_path / "p", members), "ps1"), [VIC, EVE])
    assert submitted(folders) == {"00017": "vic's", "00777": "eve's"}


def test_a_name_with_numbers_in_it_is_no_claim(folders, tmp_path):
    """With a class list, two numbers in a file's name mean nobody."""
    members = {"Eve Il_777_assignsubmission_file_/hw_1_2_kernels.ipynb": "eve's"}
    result = collect(folders, from_zip(zipped(tmp_path / "m.zip", members), "ps1"), [VIC, EVE])
    assert result.notes == [] and submitted(folders) == {"00777": "eve's"}
    # nor is one's own work, downloaded from Canvas and submitted to Moodle
    members = {"Eve Il_777_assignsubmission_file_/ileve_12_3_ps1.ipynb": "eve's, again"}
    result = collect(folders, from_zip(zipped(tmp_path / "2.zip", members), "ps1"), [VIC, EVE])
    assert result.notes == [] and result.new == ["00777"]
    members = {"Eve Il_777_assignsubmission_file_/Vic Tim_777_assignsubmission_file_/x.ipynb": "e"}
    result = collect(folders, from_zip(zipped(tmp_path / "3.zip", members), "ps1"), [VIC, EVE])
    assert "Vic Tim (777)" in result.notes[0]


@pytest.mark.parametrize("name", [name.replace("/", "_") for name in CLAIMS])
def test_moodle_without_folders(folders, tmp_path, name):
    members = {
        "Vic Tim_501_assignsubmission_file_ps1.ipynb": "vic's",
        f"Eve Il_777_assignsubmission_file_{name}": "eve's",
    }
    collect(folders, from_zip(zipped(tmp_path / "m.zip", members), "ps1"), [VIC, EVE])
    assert submitted(folders) == {"00017": "vic's", "00777": "eve's"}


# What a student may call a file or a folder, close to what platforms write.
WORDS = """00017 501 777 Vic Tim timvic _ __ - 1 9 / // LATE_ ps1 .ipynb .IPYNB assignsubmission
file_ onlinetext_ submitted/ attempts 2026-01-01T00-00-00Z (1) é e\u0301 ı ａ timestamp.txt"""
PIECES = st.sampled_from(WORDS.split())
NAMES = st.lists(PIECES | st.text(max_size=3), min_size=1, max_size=9).map("".join)
LAYS = st.sampled_from(["moodle", "flat", "canvas", "plain"])
PLACES = {
    "moodle": "{} {}_{}_assignsubmission_file_/{}",
    "flat": "{} {}_{}_assignsubmission_file_{}",
    "canvas": "{1}{0}_{2}_9000_{3}",
    "plain": "{0}{1}/{3}",
}


def deliver(lay: str, *uploads: tuple[str, str, str, str]) -> list:
    from datetime import UTC, datetime
    from pathlib import PurePosixPath

    now = datetime(2026, 10, 1, tzinfo=UTC)
    files = [File(PurePosixPath(PLACES[lay].format(*one)), now, lambda _: b"") for one in uploads]
    return sort_out(files, "ps1")


@given(LAYS, st.lists(NAMES, min_size=1, max_size=3))
@settings(max_examples=300)
def test_no_name_in_an_upload_makes_it_somebody_elses(lay, names):
    """Every candidate bears the name and number that the platform gave, whatever stands behind."""
    names = [name.strip("/") or "x" for name in names]
    if lay in ("flat", "canvas"):  # a platform takes slashes out of a file's name
        names = [name.replace("/", "_") for name in names]
    vic = ("Vic", "Tim", "501", "ps1.ipynb")
    found = deliver(lay, vic, *(("Eve", "Il", "777", name) for name in names))
    people = {(one.who, one.lms) for one in found if not isinstance(one, Refused)}
    own = {"moodle": ("Vic Tim", "501"), "flat": ("Vic Tim", "501"), "canvas": ("TimVic", "501"),
           "plain": ("VicTim", "")}[lay]  # fmt: skip
    eve = {"moodle": ("Eve Il", "777"), "flat": ("Eve Il", "777"), "canvas": ("IlEve", "777"),
           "plain": ("EveIl", "")}[lay]  # fmt: skip
    assert own in people and people <= {own, eve}
    assert sum((one.who, one.lms) == own for one in found if not isinstance(one, Refused)) == 1


@given(names=st.lists(NAMES, min_size=1, max_size=2))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_nobody_elses_row_changes(tmp_path_factory, names):
    """The same through a zip and the folders of a class: Vic's row is what it was without Eve."""
    root = tmp_path_factory.mktemp("class")
    folders = Folders(Course(root), "ps1")
    members = {"Vic Tim_501_assignsubmission_file_/ps1.ipynb": "vic's"}
    for number, name in enumerate(names):
        name = name.strip("/").replace("\0", "") or "x"
        members.setdefault(f"Eve Il_777_assignsubmission_file_/{name}", f"eve's {number}")
    path = root / "m.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name, text in members.items():
            made.writestr(zipfile.ZipInfo(name.encode("utf-8", "replace").decode()), text)
    collect(folders, from_zip(path, "ps1"), [VIC, EVE])
    assert submitted(folders)["00017"] == "vic's" and len(attempts_of(folders, "00017")) == 1
    assert set(folders.students()) <= {"00017", "00777"}
    everything = {p.relative_to(root).parts[0] for p in root.rglob("*")}
    assert everything == {"autograder", "m.zip"}


def test_a_mixture_is_refused_and_its_parts_are_taken(folders, tmp_path):
    members = {"ada.ipynb": "ada", "ben.ipynb": "ben", "00017_1_1_ps1.ipynb": "eve"}
    path = zipped(tmp_path / "x.zip", members)
    with pytest.raises(
        CourseError, match=r"different ways.*2 as STUDENT.*1 as Canvas.*separate folder"
    ):
        from_zip(path, "ps1")
    canvas = unpacked(tmp_path / "canvas", {"00017_1_1_ps1.ipynb": "eve"})
    result = collect(folders, from_folder(canvas, "ps1"), [VIC])
    assert submitted(folders) == {} and "00017 (1) is not on the class list" in result.aside[0].why
    plain = unpacked(tmp_path / "plain", {"ada.ipynb": "ada", "ben.ipynb": "ben"})
    assert collect(folders, from_folder(plain, "ps1"), []).new == ["ada", "ben"]


PLATFORM = {
    "canvas": "jo{0}_{0}_{0}00_ps1.ipynb",
    "moodle": "Jo {0}_{0}_assignsubmission_file_/ps1.ipynb",
    "plain": "jo{0}.ipynb",
}


@pytest.mark.parametrize("layout", PLATFORM)
@pytest.mark.parametrize("students", [3, 40])
def test_a_stray_file_does_not_stop_a_class(folders, tmp_path, layout, students):
    """It is refused with its name, and nobody's row moves."""
    members = {PLATFORM[layout].format(n): f"of {n}" for n in range(100, 100 + students)}
    stray = "notes.ipynb" if layout != "plain" else "eve_777_1_ps1.ipynb"
    more = {"more.ipynb": "x"} if layout == "canvas" and students == 40 else {}
    result = collect(folders, from_zip(zipped(tmp_path / "x.zip", members | more), "ps1"), [])
    assert [one.label for one in result.refused] == list(more)
    assert sorted(submitted(folders).values()) == sorted(members.values())
    found = from_zip(zipped(tmp_path / "y.zip", {stray: "stray", **members, **more}), "ps1")
    result = collect(folders, found, [])
    assert sorted(one.label for one in result.refused) == sorted([stray, *more])
    assert sorted(submitted(folders).values()) == sorted(members.values())


@pytest.mark.parametrize("odd", list(";$<>|`&"))
@pytest.mark.parametrize("form", ["zip", "folder"])
def test_a_name_that_only_a_shell_would_mind_is_taken_in(folders, tmp_path, odd, form):
    """What is kept lies under names of ours, whatever the student has called it."""
    members = {f"victim_501_9_my{odd}work (final).ipynb": "vic", "eveil_777_8_ps1.ipynb": "eve"}
    if form == "zip":
        found = from_zip(zipped(tmp_path / "x.zip", members), "ps1")
    else:
        found = from_folder(unpacked(tmp_path / "x", members), "ps1")
    result = collect(folders, found, [VIC, EVE])
    assert result.refused == [] and submitted(folders) == {"00017": "vic", "00777": "eve"}
    kept = {path.name for path in folders.attempts("00017").rglob("*")}
    assert not any(odd in name for name in kept)
    plain = zipped(tmp_path / "y.zip", {f"ada{odd} byron.ipynb": "ada"})
    result = collect(folders, from_zip(plain, "ps1"), [])
    assert result.refused == [] and submitted(folders)["ada-byron"] == "ada"


def test_who_is_known_by_a_name_alone_is_said(folders, tmp_path):
    """Moodle's numbers are new for each assignment: without a worksheet there is but the name."""
    members = {
        "Vic Tim_31_assignsubmission_file_/ps1.ipynb": "vic",
        "Eve Il_32_assignsubmission_file_/ps1.ipynb": "eve",
    }
    found = from_zip(zipped(tmp_path / "x.zip", members), "ps1")
    people = [Person("00017", "Vic", "Tim"), Person("00777", "Eve", "Il")]
    for _ in range(2):  # the second time its own first guess is no proof
        result = collect(folders, found, people)
        assert result.by_name == ["00017", "00777"]
        (line,) = [line for line in result.as_lines("ps1") if "by name only" in line]
        assert line.startswith("matched to the class list by name only: 2 (00017, 00777); ")
        assert line.endswith("coursekit collect ps1 FILE")
    canvas = {"victim_501_9_ps1.ipynb": "vic", "eveil_777_8_ps1.ipynb": "eve"}
    result = collect(folders, from_zip(zipped(tmp_path / "y.zip", canvas), "ps1"), [VIC, EVE])
    assert result.by_name == [] and "name alone" not in "".join(result.as_lines("ps1"))


def test_a_line_of_a_worksheet_means_by_its_name_only_whom_no_address_can_tell(folders, tmp_path):
    """Moodle's worksheet has addresses; many a class list has none."""
    people = [Person("ada", "Ada", "Byron"), Person("fay", "Fay", "Wong")]
    lines = [
        HandIn("", "", number, False, f"{who}@x.org", name, None)
        for number, who, name in (("31", "ada", "Ada Byron"), ("36", "fay", "Fay Wong"))
    ]
    names = Names(folders, ClassList(people, False), lines)
    assert names.worksheet == {"31": "ada", "36": "fay"} and names.named == {"31", "36"}
    found = from_zip(
        zipped(tmp_path / "x.zip", {"Ada Byron_31_assignsubmission_file_/ps1.ipynb": "ada"}), "ps1"
    )
    (known,) = names.resolve(found)
    assert (known.student, known.by_name) == ("ada", True)
    people[0] = replace(people[0], email="ada@x.org")
    names = Names(folders, ClassList(people, False), lines)
    assert names.worksheet == {"31": "ada"} and not names.named  # her address would be another
    assert names.row(lines[1]) == ("", "fay@x.org is not on the class list; did you mean fay?")


def test_canvas_names_with_underscores_and_numbers(folders, tmp_path):
    members = {
        "o_brienpat_31_9001_ps1.ipynb": "pat",
        "mary_jane_LATE_32_9002_ps1-1.ipynb": "mary",
        "kimlee_33_9003_01_my_02_answers.ipynb": "kim",
    }
    collect(folders, from_zip(zipped(tmp_path / "c.zip", members), "ps1"))
    assert submitted(folders) == {"o_brienpat": "pat", "mary_jane": "mary", "kimlee": "kim"}
    assert attempts_of(folders, "mary_jane")[0][1]["late"] is True
    assert attempts_of(folders, "kimlee")[0][1]["lms"] == "33"


def test_a_canvas_name_that_ends_in_a_number(folders, tmp_path):
    """Somebody called "timvic_501" is not 501, who is somebody else."""
    eve = {"timvic_501_777_9002_ps1.ipynb": "of number 777, whose name ends in another number"}
    path = zipped(tmp_path / "e.zip", eve)
    for people in ([VIC, EVE], [Person("00017", "Vic", "Tim")], []):
        result = collect(folders, from_zip(path, "ps1"), people)
        assert submitted(folders) == {}
        assert "may belong to timvic (501) or timvic_501 (777)" in result.refused[0].why
    both = {"timvic_501_9001_homework.ipynb": "vic's"} | eve
    collect(folders, from_zip(zipped(tmp_path / "c.zip", both), "ps1"), [VIC, EVE])
    assert submitted(folders) == {"00017": "vic's"}


def test_a_canvas_file_that_begins_with_a_date(folders, tmp_path):
    """Its name may be read in two ways; the numbers on a class list say which is right."""
    path = zipped(tmp_path / "c.zip", {"timvic_501_9001_20261001_ps1.ipynb": "vic's"})
    assert len(collect(folders, from_zip(path, "ps1")).refused) == 1
    collect(folders, from_zip(path, "ps1"), [VIC, EVE])
    assert submitted(folders) == {"00017": "vic's"}


@pytest.mark.parametrize("number", ["502", "778"])
def test_two_people_who_have_one_name(folders, tmp_path, number):
    """Some platforms let people change their names: a second number for one name is refused."""
    vic = Person("00017", "Vic", "Tim")
    members = {
        "Vic Tim_501_assignsubmission_file_/ps1.ipynb": "one",
        f"Vic Tim_{number}_assignsubmission_file_/ps1.ipynb": "another",
    }
    result = collect(folders, from_zip(zipped(tmp_path / "m.zip", members), "ps1"), [vic])
    assert submitted(folders) == {} and len(result.aside) == 2
    assert f"2 people (501, {number}) are called Vic Tim" in result.aside[0].why
    # whoever was known by a number before keeps the name
    first = dict(list(members.items())[:1])
    collect(folders, from_zip(zipped(tmp_path / "1.zip", first), "ps1"), [vic])
    result = collect(folders, from_zip(tmp_path / "m.zip", "ps1"), [vic])
    assert submitted(folders) == {"00017": "one"}
    assert f"has the number {number} here, but 00017 had 501 before" in result.aside[0].why


def test_one_number_decides_before_a_name(folders, tmp_path):
    members = {"timvic_501_9001_ps1.ipynb": "vic's", "timvic_777_9002_ps1.ipynb": "eve's"}
    collect(folders, from_zip(zipped(tmp_path / "c.zip", members), "ps1"), [VIC, EVE])
    assert submitted(folders) == {"00017": "vic's", "00777": "eve's"}


def test_two_of_one_name_stay_apart_in_the_next_assignment(classroom, tmp_path):
    """Without a class list: who was doejane in the first assignment is doejane in the second."""
    first, second = Folders(classroom.course, "ps1"), Folders(classroom.course, "ps2")
    both = {"doejane_123_1_ps1.ipynb": "123", "doejane_124_2_ps1.ipynb": "124"}
    collect(first, from_zip(zipped(tmp_path / "1.zip", both), "ps1"))
    alone = {"doejane_124_3_ps2.ipynb": "124"}
    collect(second, from_zip(zipped(tmp_path / "2.zip", alone), "ps2"))
    assert list(second.students()) == ["doejane_124"]
    moodle = {f"Bob B_{n}_assignsubmission_file_/ps1.ipynb": "bob" for n in (874, 875)}
    collect(first, from_zip(zipped(tmp_path / "3.zip", moodle), "ps1"))
    later = {"Bob B_875_assignsubmission_file_/ps1.ipynb": "bob once more"}
    collect(first, from_zip(zipped(tmp_path / "4.zip", later), "ps1"))
    assert submitted(first)["Bob-B"] == "bob" and submitted(first)["Bob-B_875"] == "bob once more"
    anew = {f"Bob B_{n}_assignsubmission_file_/ps2.ipynb": "bob" for n in (12, 13)}
    result = collect(second, from_zip(zipped(tmp_path / "5.zip", anew), "ps2"))
    assert "whom the platform numbers anew" in result.refused[0].why and len(result.refused) == 2


NFD = unicodedata.normalize("NFD", "zoë1")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("124", "00124"),
        ("ZOË1", "zoë1"),
        (NFD, "zoë1"),
        ("Ada", "ada"),
        ("ada ", "ada"),
        ("zoe1", "zoë1"),
        ("nobody", ""),
        ("аda", ""),  # the first letter is Cyrillic
    ],
)
def test_who_is_not_on_the_list_is_set_aside_and_named(folders, tmp_path, name, near):
    people = [Person("00124"), Person("zoë1"), Person("ada")]
    path = zipped(tmp_path / "p.zip", {f"{name}.ipynb": "whose?"})
    result = collect(folders, from_zip(path, "ps1"), people)
    assert submitted(folders) == {} and result.refused == [] and len(result.aside) == 1
    assert "is not on the class list" in result.aside[0].why
    assert result.aside[0].why.endswith(f"did you mean {near}?") == bool(near)
    assert result.missing == ["00124", "ada", "zoë1"]


def test_flat_moodle_names_make_no_phantoms(folders, tmp_path):
    people = [VIC, Person("00124", "Jo", "Li", "jo@uni.edu")]
    members = {
        "Jo Li_9_assignsubmission_file_ps1.ipynb": "jo",
        "Joe Lim_10_assignsubmission_file_ps1.ipynb": "joe",
    }
    result = collect(folders, from_zip(zipped(tmp_path / "m.zip", members), "ps1"), people)
    assert submitted(folders) == {"00124": "jo"} and result.missing == ["00017"]
    assert [one.label for one in result.aside] == ["Joe Lim_10_assignsubmission_file_ps1.ipynb"]


def test_an_id_that_looks_like_a_second_attempt(folders, tmp_path):
    names = {"ada": "ada", "ada-1": "ada-1", "ben_ps1": "ben", "c (1)": "c"}
    members = {f"{name}.ipynb": text for name, text in names.items()}
    people = [Person("ada"), Person("ada-1"), Person("ben"), Person("ben_ps1"), Person("c")]
    collect(folders, from_zip(zipped(tmp_path / "p.zip", members), "ps1"), people)
    assert submitted(folders) == {"ada": "ada", "ada-1": "ada-1", "ben_ps1": "ben", "c": "c"}


def test_names_too_much_alike_without_a_list(folders, tmp_path):
    members = {"bo b.ipynb": "1", "bo-b.ipynb": "2", "zoë.ipynb": "3",
               unicodedata.normalize("NFD", "zoë") + ".ipynb": "4", "cy.ipynb": "5"}  # fmt: skip
    result = collect(folders, from_zip(zipped(tmp_path / "p.zip", members), "ps1"))
    assert submitted(folders) == {"cy": "5"} and len(result.refused) == 4
    assert all("whose names are too similar" in one.why for one in result.refused)


def test_another_students_folder_in_the_exchange(folders, tmp_path):
    """Students make these folders themselves, under any name; the account that did so decides."""
    import pwd

    me = pwd.getpwuid(os.getuid()).pw_name
    for who in ("vic", me):
        folder = tmp_path / "inbound" / f"{who}+ps1+2026-10-01 10:00:00 UTC"
        folder.mkdir(parents=True)
        (folder / "ps1.ipynb").write_text(who)
    result = collect(folders, from_exchange(tmp_path / "inbound", "ps1"))
    assert submitted(folders) == {me: me}
    assert f"belongs to the account {me}, not to the student in its name" in result.refused[0].why


def test_one_line_says_what_is_true_of_many(folders, tmp_path):
    """An exchange whose folders all belong to one account is one mistake in the settings."""
    for number in range(29):
        folder = tmp_path / "inbound" / f"s{number:02}+ps1+2026-10-01 10:00:00 UTC"
        folder.mkdir(parents=True)
        (folder / "ps1.ipynb").write_text("x")
    (tmp_path / "inbound" / "eve+ps1+yesterday").symlink_to(tmp_path)
    said = []
    result = collect(folders, from_exchange(tmp_path / "inbound", "ps1"), note=said.append)
    assert len(result.refused) == 30 and len(said) == 2
    alone, many = said
    assert alone == "refused: eve+ps1+yesterday is not a folder"
    assert many.startswith("refused: each of 29 (s00+ps1+2026-10-01 10:00:00 UTC, s01+")
    assert many.count("belongs to the account") == many.count("check_owner = False") == 1
    assert "s09+" in many and "s10+" not in many and ", …) belongs" in many


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,email\na,x@y.z\nb,X@y.z", "line 3: a and b have the same e-mail"),
        ("id,lms_id\na,5\nb,5", "line 3: a and b have the same number"),
        ("id,name\nAda,A\nada,B", "line 3: Ada and ada have the same id"),
    ],
)
def test_a_class_list_in_which_two_are_one(tmp_path, text, said):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(CourseError, match=said):
        read_csv(tmp_path / "list.csv")


def test_canvas_gradebook_is_a_class_list(tmp_path):
    (tmp_path / "g.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Powers (91)\n"
        "    Points Possible,,,,,9\n"
        '"Lovelace, Ada",4711,00017,ada@uni.edu,A,\n'
        '"Hopper, Grace",4712,,grace,A,3\n'
        '"Student, Test",9,,abc,A,\n'
    )
    assert read_csv(tmp_path / "g.csv") == [
        Person("00017", "Ada", "Lovelace", "", "4711"),
        Person("grace", "Grace", "Hopper", "", "4712"),
    ]


def test_the_command_names_who_is_missing_and_who_is_set_aside(classroom, tmp_path, capsys,
                                                               quick_gradebook):  # fmt: skip
    roster = tmp_path / "class.csv"
    roster.write_text("id\n00124\n00125\n")
    path = zipped(tmp_path / "p.zip", {"124.ipynb": "?", "00125.ipynb": "here"})
    asked = ["collect", "ps1", "--root", str(classroom.root)]
    assert main([*asked, str(roster), str(path)]) == 0
    said = capsys.readouterr()
    assert "124.ipynb is set aside: 124 is not on the class list; did you mean 00124?" in said.err
    assert "1 new, 0 known already, 0 refused, 1 set aside" in said.out
    assert "on the class list, but nothing submitted: 1 (00124)" in said.out
    assert main([*asked, str(path)]) == 0  # the list is in the gradebook now
    said = capsys.readouterr()
    assert "0 new, 1 known already, 0 refused, 1 set aside" in said.out
    assert "on the class list, but nothing submitted: 1 (00124)" in said.out
    (classroom.source / "ps1.ipynb").rename(classroom.source / "one.ipynb")
    (classroom.source / "two.ipynb").write_text("{}")
    assert main([*asked, str(path)]) != 0
    assert "ps1 has 2 notebooks (one, two), but collect takes one" in capsys.readouterr().err
