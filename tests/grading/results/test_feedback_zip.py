"""The zip goes back to where it came from: read here as Canvas and Moodle say that they read it."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import nbformat
from helpers import zipped

from coursetools.cli import main
from coursetools.grading.collecting.choose import choose
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.origins import from_zip
from coursetools.grading.collecting.roster import Person
from coursetools.grading.gradebook.autograded import as_file, autograded
from coursetools.grading.records.verdict_files import Entry
from coursetools.grading.results.feedback import write_feedback
from coursetools.grading.running.judge_job import digest

SECRET = "hidden-secret-49"


def answered(classroom, mark: str = "") -> str:
    """Return the notebook of `powers` with answers, `mark` in one of them."""
    notebook = json.loads((classroom.folders.source / "powers.ipynb").read_text())
    for cell in notebook["cells"]:
        if cell["id"] in ("id-square", "id-cube"):
            name = cell["id"].removeprefix("id-")
            cell["source"] = f"def {name}(x):\n    return x  # {mark}"
    return json.dumps(notebook)


def take_in(classroom, path: Path, people=(), **verdicts) -> None:
    """Collect a zip, and write down what the grader would say of each; `partial` of the others."""
    folders = classroom.folders
    collect(folders, from_zip(path, "powers"), list(people))
    for student in folders.students():
        data = (folders.submitted(student) / "powers.ipynb").read_bytes()
        verdict = verdicts.get(student) or classroom.partial()
        classroom.hand_in(student, verdict)
        entry = Entry(student=student, notebook="powers", key="k", submission=digest(data),
                      verdict=verdict)  # fmt: skip
        classroom.store.append(entry)
        master = SimpleNamespace(notebook=(folders.source / "powers.ipynb").read_text())
        graded = as_file(autograded(master, data, verdict, folders.limits))
        folders.autograded(student).mkdir(parents=True)
        (folders.autograded(student) / "powers.ipynb").write_text(graded)


def returned(classroom, *words: str) -> int:
    """Return the work, with what is not marked yet; no test here is about that."""
    return main(["return", "powers", *words, "--root", str(classroom.root), "--quiet", "--force"])


def members(classroom, platform: str) -> dict[str, bytes]:
    path = classroom.folders.class_folder / "feedback" / f"powers-{platform}.zip"
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def as_canvas_reads(name: str) -> tuple[str, str] | None:
    """Return whose comment a file becomes, and of which attachment, as Canvas finds out."""
    parts = [part for part in PurePosixPath(name).name.split("_") if part != "LATE"]
    if name.startswith("._") or parts[-1].startswith("link"):
        return None
    if parts[0] == "anon":
        return parts[1], parts[2]
    digits = [part for part in parts if part.isdigit()]
    return (digits[0], digits[1]) if len(digits) > 1 else None


def as_moodle_reads(name: str, participants: set[str]) -> tuple[str, str] | None:
    """Return whose feedback a file becomes, and its name, as Moodle finds out."""
    path = PurePosixPath(name)
    if any(part.startswith((".", "~")) for part in path.parts):
        return None
    for part in path.parts:
        pieces = part.split("_", 4)
        if len(pieces) >= 4 and pieces[1] in participants and pieces[2:4] == [
            "assignfeedback", "file",
        ]:  # fmt: skip
            return pieces[1], path.name
    return None


def test_canvas_finds_the_file_that_counts(classroom, tmp_path) -> None:
    """Everybody's under their own two numbers, the last of several, LATE or not, links too."""
    given = {
        "doejane_123_456_powers.ipynb": answered(classroom, "old"),
        "doejane_123_458_powers-1.ipynb": answered(classroom, "new"),
        "wangwei_LATE_125_461_My Homework_1_2.ipynb": answered(classroom, "late"),
        "kim_5x_126_462_my_link.ipynb": answered(classroom, "link"),
        "smithbob_127_463_answers.py": "import torch",
    }
    malformed = classroom.empty("MALFORMED", "You submitted Python code.")
    take_in(classroom, zipped(tmp_path / "c.zip", given), smithbob=malformed)
    assert returned(classroom, "--to", "canvas") == 0
    back = members(classroom, "canvas")
    read = {as_canvas_reads(name): content.decode() for name, content in back.items()}
    assert set(read) == {("123", "458"), ("125", "461"), ("126", "462"), ("127", "463")}
    assert {*back} - {*given} == {"kim_5x_126_462_powers.ipynb"}
    for numbers, mark in ((("123", "458"), "new"), (("125", "461"), "late")):
        assert f"# {mark}" in read[numbers] and SECRET not in read[numbers]
        nbformat.validate(nbformat.reads(read[numbers], as_version=4))
    assert "could not be graded" in read["127", "463"] and "{" not in read["127", "463"]


def test_the_notebook_says_what_the_page_says(classroom, tmp_path) -> None:
    take_in(classroom, zipped(tmp_path / "c.zip", {"a_1_2_p.ipynb": answered(classroom)}))
    classroom.hand_in("a", classroom.partial(), manual=2, comment="Why <b>so</b>?", hours_late=2)
    classroom.late(rate=0.1)
    take_in_again(classroom)
    assert returned(classroom, "--to", "canvas") == 0
    cells = json.loads(members(classroom, "canvas")["a_1_2_p.ipynb"])["cells"]
    top, beside = cells[0]["source"], [c for c in cells if c["id"].startswith("feedback-")]
    assert top.startswith("# Feedback: 4.5 of 9 points\n") and "less 0.5 because it was late" in top
    assert "1. Squares, 2 of 3 points: You doubled where you should square." in top
    above = [cells[cells.index(one) - 1]["id"] for one in beside]
    assert above == ["id-test-square", "id-test-cube", "id-words"]
    square, cube, words = (one["source"] for one in beside)
    assert square.startswith("**Feedback on Squares: 2 of 3 points, partly right.**")
    assert "Three factors." in cube and "2 of 3 points" in words
    assert "Comment: Why < b>so< /b>?" in words  # dead, also where Markdown may hold HTML


def test_the_notebook_says_what_an_instructor_has_set(classroom, tmp_path) -> None:
    names = {"a_1_2_p.ipynb": answered(classroom), "b_3_4_p.ipynb": answered(classroom)}
    bad = classroom.empty("MALFORMED", "It is a web page.")
    take_in(classroom, zipped(tmp_path / "c.zip", names), b=bad)
    (classroom.folders.class_folder / "overrides.csv").write_text(
        "assignment,student,question,points,why\n"
        "powers,a,test_square,full,Two ways were right.\npowers,*,test_cube,drop,Nobody could.\n"
    )
    assert returned(classroom, "--to", "canvas") == 0
    found = members(classroom, "canvas")
    cells = json.loads(found["a_1_2_p.ipynb"])["cells"]
    square, cube, _ = (c["source"] for c in cells if c["id"].startswith("feedback-"))
    assert square.startswith("**Feedback on Squares: 3 of 3 points, set by your instructor.**")
    assert "All points were given for you. Why: Two ways were right." in square
    assert "does not count, set by your instructor" in cube and "Why: Nobody could." in cube
    (top,) = (c["source"] for c in json.loads(found["b_3_4_p.ipynb"])["cells"][:1])
    assert "could not be graded" in top and "Why: Nobody could." in top


def take_in_again(classroom) -> None:
    """Write the verdicts down as they were, with the hash of what is there."""
    folders = classroom.folders
    for student in folders.students():
        data = (folders.submitted(student) / "powers.ipynb").read_bytes()
        entry = Entry(student=student, notebook="powers", key="k", submission=digest(data),
                      verdict=classroom.partial())  # fmt: skip
        classroom.store.append(entry)


def test_who_is_not_known_to_canvas_is_named(classroom, tmp_path, capsys) -> None:
    take_in(classroom, zipped(tmp_path / "c.zip", {"a_1_2_p.ipynb": answered(classroom)}))
    classroom.student("never")
    classroom.hand_in("elsewhere", classroom.partial())
    write_feedback(classroom.course, "powers")
    words = ["return", "powers", "--to", "canvas", "--force"]
    assert main([*words, "--root", str(classroom.root)]) == 0
    said = capsys.readouterr().out
    assert "1 student in " in said
    assert "not in the zip: 2 (elsewhere, never); nothing was submitted through Canvas" in said


def test_nothing_is_sent_about_an_earlier_attempt(classroom, tmp_path, capsys) -> None:
    take_in(classroom, zipped(tmp_path / "c.zip", {"a_1_2_p.ipynb": answered(classroom, "old")}))
    newer = zipped(tmp_path / "2.zip", {"a_1_3_p.ipynb": answered(classroom, "new"),
                                        "b_2_4_p.ipynb": answered(classroom)})  # fmt: skip
    collect(classroom.folders, from_zip(newer, "powers"))
    for platform in ("canvas", "plain"):
        assert returned(classroom, "--to", platform) == 1
        said = capsys.readouterr().err
        assert (
            "it would be empty (not in the zip: 2 (a, b); the latest submission is not graded"
            in said
        )
        assert not list((classroom.folders.class_folder / "feedback").glob("*.zip"))
    choose(classroom.folders, "a", "first")
    assert returned(classroom, "--to", "canvas") == 0
    assert list(members(classroom, "canvas")) == ["a_1_2_p.ipynb"]  # its name, not the last's


def test_moodle_finds_everybody_by_the_participants_number(classroom, tmp_path) -> None:
    given = {
        "Jane Doe_501_assignsubmission_file_/powers.ipynb": answered(classroom),
        "Zoë O'Neil_502_assignsubmission_file_powers.ipynb": answered(classroom, "flat"),
    }
    flat = {name: given[name] for name in list(given)[1:]}
    people = [Person("jd", "Jane", "Doe"), Person("zo", "Zoë", "O'Neil")]
    for person in people:
        classroom.student(person.id, person.first, person.last)
    take_in(classroom, zipped(tmp_path / "m.zip", {k: given[k] for k in list(given)[:1]}), people)
    collect(classroom.folders, from_zip(zipped(tmp_path / "f.zip", flat), "powers"), people)
    classroom.hand_in("zo", classroom.partial())
    take_in_again(classroom)
    classroom.student("never", "Un_der", "Score", "never@uni.edu")
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments\n"
        "Participant 503,Un_der Score,never@uni.edu,No submission - ,,9.00,Yes,-,-,\n"
    )
    assert returned(classroom, str(sheet), "--to", "moodle") == 0
    back = members(classroom, "moodle")
    assert list(back)[::2] == [
        "Jane Doe_501_assignfeedback_file/powers.html",
        "Zoë O'Neil_502_assignfeedback_file/powers.html",
    ]
    found = {as_moodle_reads(name, {"501", "502", "503"}): text for name, text in back.items()}
    assert set(found) == {(number, "powers.html") for number in ("501", "502", "503")}
    for number, text in (("501", "jd"), ("502", "zo"), ("503", "We have no notebook")):
        assert text in found[number, "powers.html"].decode()


def test_plain_is_a_page_called_by_the_id(classroom, tmp_path) -> None:
    classroom.hand_in("ada", classroom.partial())
    classroom.student("never")
    folder = tmp_path / "x"
    output = folder / "powers-plain.zip"
    assert returned(classroom, "--to", "plain", "--output", str(folder)) == 0
    with zipfile.ZipFile(output) as archive:
        assert archive.namelist() == ["ada.html", "never.html"]
        page = classroom.folders.feedback("ada") / "powers.html"
        assert archive.read("ada.html") == page.read_bytes()
    assert (folder / "powers.csv").is_file()
    first = output.read_bytes()
    assert returned(classroom, "--to", "plain", "--output", str(folder)) == 0
    assert output.read_bytes() == first  # the same pages make the same file


def test_who_is_not_known_to_moodle_is_named(classroom, tmp_path, capsys) -> None:
    classroom.hand_in("ada", classroom.partial())
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(
        "Identifier,Full name,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade)\nParticipant 503,Bo B,,9.00,Yes,-,-\n"
    )
    assert returned(classroom, str(sheet), "--to", "moodle") == 1
    said = capsys.readouterr().err
    assert re.search("no zip written.*no participant number in the worksheet", said)
