"""Two assignments from the extension before the hand-in to the table of the term."""

from __future__ import annotations

import csv
from datetime import timedelta

import pytest

from coursetools.grading.results.class_count import count_class

LATE = "[late]\nrate = 0.2\n"


@pytest.fixture
def term(week):
    """Extensions are given, and only then is anything submitted."""
    for name in ("ps1", "ps2"):
        week.settings(name, LATE + ("end_hours = 96\n" if name == "ps2" else ""))
    week.class_settings(
        'time_zone = "Europe/Berlin"\n[late_days]\nbudget = 2\n[term.weights]\nps1 = 1\nps2 = 3\n'
    )
    assert week.say("settings", "ps1", "--due", "2026-10-01T12:00") == 0
    assert week.say("settings", "ps2", "--due", "2026-10-08T12:00") == 0
    assert week.say("settings", "ps1", "--extend", "48h", "--student", "ada", "--why", "ill") == 0
    assert week.say("settings", "--all", "--extend", "1d", "--student", "bob") == 0
    assert week.say("settings", "ps2", "--extend", "excused", "--student", "dee") == 0
    week.hand_in("ps1", {"ada": 47, "bob": 20, "cy": 20, "dee": -1})
    week.hand_in("ps2", {"ada": -2, "bob": -2, "cy": 44, "eve": -3}, cube="0")
    week.hand_in("ps2", {"eve": 100})
    return week


def test_the_walk(term, capsys):
    capsys.readouterr()
    assert term.grade("ps1") == []
    (said,) = [note for note in term.grade("ps2") if "after the end" in note]
    assert "an earlier one counts (eve)" in said
    assert term.column("ps1", "score") == {"ada": "5", "bob": "5", "cy": "5", "dee": "5",
                                           "eve": "0"}  # fmt: skip
    assert term.column("ps1", "late_days") == {"ada": "0", "bob": "0", "cy": "1", "dee": "0",
                                               "eve": "0"}  # fmt: skip
    # cy has one day left for two: a day costs nothing, the other a fifth of 2; eve's try in time
    # is worth 2, the one after the end nothing
    assert term.column("ps2", "score") == {"ada": "2", "bob": "2", "cy": "1.6", "dee": "",
                                           "eve": "2"}  # fmt: skip
    assert term.column("ps2", "status")["dee"] == "excused"


def test_what_students_read(term):
    term.grade("ps1")
    term.grade("ps2")
    assert (
        "Your deadline was Saturday 3 October 2026, 12:00 UTC+02:00, 2 days later than the class's."
        in term.page("ps1", "ada")
    )
    assert "late" not in term.page("ps1", "ada").replace("later", "")
    assert "1 late day of yours was spent on it: 1 of 2 late days left." in term.page("ps1", "cy")
    page = term.page("ps2", "cy")
    assert "1 late day of yours was spent on it: 0 of 2 late days left." in page
    assert "2 points for your work, less 0.4 because it was late (44 hours)." in page
    page = term.page("ps2", "dee")
    assert "Excused This assignment does not count for you." in page
    assert "We have no notebook" not in page
    page = term.page("ps2", "eve")
    assert "after the end of the assignment, at 2026-10-12 16:00 UTC+02:00" in page
    assert "this page is about the one that does" in page


def test_there_is_one_clock_for_people(term, capsys):
    """That of the class; tables for programs have its offset."""
    for name in ("ps1", "ps2"):
        term.grade(name)
    assert "submitted 2026-10-02 08:00 UTC+02:00" in term.page("ps1", "cy")
    assert term.column("ps1", "submitted")["cy"] == "2026-10-02 08:00:00+02:00"
    capsys.readouterr()
    assert term.say("why", "ps1", "cy") == 0
    assert "2026-10-02 08:00:00 UTC+02:00  submitted" in capsys.readouterr().out
    (late,) = count_class(term.course, "ps2").concerns["too_late"]
    assert late.what == "came at 2026-10-12 16:00 UTC+02:00"


def test_formgrader_shows_it(term):
    """Its pages are made of these rows."""
    term.grade("ps1")
    term.grade("ps2")
    with term.gradebook() as book:
        ada = book.find_submission("ps1", "ada")
        assert ada.extension == timedelta(hours=48) and ada.total_seconds_late == 0
        assert ada.duedate.isoformat() == "2026-10-03T10:00:00"
        assert book.find_submission("ps1", "bob").extension == timedelta(days=1)
        assert book.find_submission("ps2", "bob").extension == timedelta(days=1)
        assert book.find_submission("ps2", "cy").late_submission_penalty == 0.4
        assert not book.find_submission("ps1", "cy").late_submission_penalty
    assert term.say("settings", "ps1", "--extend", "none", "--student", "ada") == 0
    with term.gradebook() as book:
        assert book.find_submission("ps1", "ada").extension is None
    term.grade("ps1")
    with term.gradebook() as book:
        assert book.find_submission("ps1", "ada").late_submission_penalty == 0  # two late days
    assert term.column("ps1", "late_days")["ada"] == "2"


def test_the_term(term):
    term.grade("ps1")
    term.grade("ps2")
    rows = {row["student_id"]: row for row in term.exported("--all")}
    # ps1 has 10 points and weight 1, ps2 weight 3
    assert {who: row["total_percent"] for who, row in rows.items()} == {
        "ada": "27.5", "bob": "27.5", "cy": "24.5", "dee": "50", "eve": "15",
    }  # fmt: skip
    assert (rows["dee"]["ps2 (10)"], rows["eve"]["ps1 (10)"]) == ("EX", "0")
    assert (rows["cy"]["late_days_spent"], rows["cy"]["late_days_left"]) == ("2", "0")
    out = term.folder / "canvas.csv"
    assert term.say("export", "--all", "--format", "canvas", "--output", str(out)) == 0
    lines = {row[2]: row[5:] for row in csv.reader(out.open(encoding="utf-8", newline=""))}
    assert (lines["dee"], lines["eve"]) == (["5", "EX"], ["0", "2"])


def test_the_report_leaves_out_who_is_excused(term):
    from coursetools.grading.results.class_count import count_class

    term.grade("ps2")
    count = count_class(term.course, "ps2")
    assert (count.excused, count.students, count.missing) == (["dee"], 4, [])
    assert count.late_days == 2  # ps1 is not graded yet, so nothing was spent there
    assert "dee" not in str(count.concerns)
    assert term.say("review", "ps2") == 0
    page = (term.course / "autograder" / "report" / "ps2.html").read_text()
    assert "not counted on this page: <bdi>Dee D (dee)</bdi>" in page


def test_an_earlier_assignment_that_is_graded_later_changes_what_is_left(term):
    """Whatever the order in which they are graded, the late days come out the same."""
    term.grade("ps2")
    assert term.column("ps2", "score")["cy"] == "2"
    term.grade("ps1")
    assert term.column("ps2", "score")["cy"] == "1.6"
    term.grade("ps2")
    with term.gradebook() as book:
        assert book.find_submission("ps2", "cy").late_submission_penalty == 0.4
    first = term.exported("ps2")
    term.grade("ps1")
    term.grade("ps2")
    assert term.exported("ps2") == first
    assert term.column("ps1", "late_days")["cy"] == "1"  # whatever a later one has spent


def test_an_extension_moves_the_end_too(term):
    term.grade("ps2")
    assert term.say("settings", "ps2", "--extend", "5d", "--student", "eve") == 0
    assert term.grade("ps2") == []
    assert term.column("ps2", "score")["eve"] == "5"
    assert term.say("settings", "ps2", "--extend", "none", "--student", "eve") == 0
    assert any("(eve)" in note for note in term.grade("ps2"))
    assert term.column("ps2", "score")["eve"] == "2"


def test_what_comes_after_the_end_alone_is_worth_nothing(term):
    term.hand_in("ps2", {"dee": 200})
    term.say("settings", "ps2", "--extend", "none", "--student", "dee")
    term.grade("ps2")
    assert term.column("ps2", "score")["dee"] == "0"
    assert "kept, but does not count." in term.page("ps2", "dee")


def test_a_file_that_the_instructor_has_put_there_stays(term):
    from coursetools.grading.records.folders import Folders

    path = Folders(term.course, "ps2").submitted("eve") / "ps2.ipynb"
    path.write_text(term.text)
    term.grade("ps2")
    assert path.read_text() == term.text


def test_a_line_about_nobody_is_said(term):
    path = term.course / "autograder" / "extensions.csv"
    path.write_text(path.read_text() + "adda,ps1,2d,\nada,ps7,2d,\n")
    said = [note.rpartition("line ")[2] for note in term.grade("ps1")]
    assert said == ["5: adda is not in the class, so this extension has no effect",
                    "6: there is no assignment ps7"]  # fmt: skip


def test_an_extension_from_nbgrader_is_honoured_and_kept(term):
    term.grade("ps1")
    with term.gradebook() as book:
        book.grant_extension("ps1", "cy", days=3)
        book.grant_extension("ps1", "ada", hours=1)  # the table goes first
    term.grade("ps1")
    assert term.column("ps1", "late_days") == {"ada": "0", "bob": "0", "cy": "0", "dee": "0",
                                               "eve": "0"}  # fmt: skip
    assert term.say("settings", "ps1", "--extend", "none", "--student", "ada") == 0
    with term.gradebook() as book:
        assert book.find_submission("ps1", "cy").extension == timedelta(days=3)
        assert book.find_submission("ps1", "ada").extension is None


def test_a_line_taken_out_in_a_spreadsheet_is_gone(term):
    term.grade("ps1")
    path = term.course / "autograder" / "extensions.csv"
    path.write_text("".join(line for line in path.open() if not line.startswith("ada")))
    term.class_settings("")
    assert term.column("ps1", "hours_late")["ada"] == "47"
    term.grade("ps1")
    with term.gradebook() as book:
        assert book.find_submission("ps1", "ada").extension is None
        assert book.find_submission("ps1", "ada").late_submission_penalty == 2
